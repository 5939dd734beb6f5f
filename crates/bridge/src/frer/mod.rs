//! Frame replication and elimination for reliability: what happens where member streams merge.
//!
//! IEEE 802.1CB-2017, 7.4.

mod base_recovery;
mod latent_error_detection;
mod sequence_recovery;

pub use base_recovery::{BaseRecovery, RecoveryCounters};
pub use latent_error_detection::LatentErrorDetection;
pub use sequence_recovery::{Sequence, SequenceRecovery, Verdict};
