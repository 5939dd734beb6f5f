//! Frame replication and elimination for reliability: what happens where copies of a stream meet.
//!
//! IEEE 802.1CB-2017, 7.4.

mod base;
mod latent;
mod recovery;

pub use base::{BaseRecovery, RecoveryCounters};
pub use latent::LatentErrorDetection;
pub use recovery::{Sequence, SequenceRecovery, Verdict};
