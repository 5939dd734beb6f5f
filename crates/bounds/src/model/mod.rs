//! The analysis's model of the Plan: flows at ports, their frames, windows, member streams.

pub(crate) mod clocks;
pub(crate) mod flow_hop;
pub(crate) mod gate_clock;
pub(crate) mod least;
pub(crate) mod lists;
pub(crate) mod member_streams;
pub(crate) mod numbers;
pub(crate) mod openings;
pub(crate) mod processing;
pub(crate) mod ptp;
pub(crate) mod shaped;
pub(crate) mod sizes;
pub(crate) mod software;
pub(crate) mod span;
pub(crate) mod stream_gates;
