//! Time, size and rate as integers: the quantities every other room speaks in.
//!
//! Three words for three time things: an [`Instant`] is a point on a named clock, a [`Duration`] is a signed
//! span, and PTP's log2 pace is an interval. Instants of different clocks do not mix: it does not compile.
//! The unit inside is the picosecond, so one bit at 100 Gbit/s (10 ps) is exact.

mod map;
mod size;
mod time;

pub use map::{ClockMap, Frequency};
pub use size::{
    BitRate, FCS, INTER_FRAME_GAP, Octets, PHY_OVERHEAD, PREAMBLE, START_FRAME_DELIMITER, wire_time,
};
pub use time::{Clock, Duration, Free, Instant, Local, True};
