//! How frames get from the end of a link to the next queue.
//!
//! IEEE 802.1Q-2022, 8.6 and 8.7.

pub(crate) mod cqf;
pub(crate) mod learning;
pub(crate) mod processing;
pub(crate) mod queueing;
pub(crate) mod transit;
