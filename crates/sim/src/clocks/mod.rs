//! The nodes' clocks in a run, and PTP among them.

pub(crate) mod apart;
pub(crate) mod faults;
pub(crate) mod ptp_taps;
pub(crate) mod role;
pub(crate) mod run;
pub(crate) mod setup;
pub(crate) mod state;
