//! Stream filters, stream gates, flow meters and ATS schedulers of a run.
//!
//! IEEE 802.1Q-2022, 8.6.5 and 8.6.11.

pub(crate) mod run;
pub(crate) mod state;
