//! The analysis: ports one by one, the network until nothing changes, and additional proofs.

pub(crate) mod aggregate;
pub(crate) mod answers;
pub(crate) mod ats;
pub(crate) mod clocks;
pub(crate) mod cqf;
pub(crate) mod delay_and_backlog;
pub(crate) mod delivery;
pub(crate) mod flows;
pub(crate) mod full_queue;
pub(crate) mod loss;
pub(crate) mod network;
pub(crate) mod port;
pub(crate) mod scheduled_arrivals;
pub(crate) mod survival;

pub use clocks::{bounds, bounds_of, bounds_with, lower_bounds};
pub use network::memory::Memory;
