//! Sightings to measures: pairs the sightings of each frame and computes delay, jitter and loss exactly.
//!
//! One engine for run folders ([`run`]) and for captures from any source ([`captures`]):
//!
//! * [`pair`]: one path, from a talker's tap to a listener's; sightings in, whole frames out, in order of their numbers;
//! * [`statistics::path_statistics`]: counters and distributions over all frames;
//! * [`statistics::distribution`]: extremes, mean, deviation and quantiles of one quantity.
//!
//! # Definitions
//!
//! * Delay: `t_rx − t_tx`. A missing timestamp is missing, never zero.
//! * `delay-step`: delay minus the delay of the previous frame (by number) that was received; the first has none.
//! * `delay-step-abs`: its magnitude. `deviation`: distance from the mean, which is rounded to a whole ns for that.
//! * `interval`: distance of the gap between arrivals from the period, or from the mean gap where there is no period.
//! * Quantiles: nearest rank, on integers. Mean and standard deviation (of the population): from exact integer sums.
//! * Never sent: a number that is missing at the first tap between two that are there. Lost: sighted at the first tap and
//!   not at the last. Duplicate: a number that arrives again. Reordered: arrives after a higher number.
//! * A frame is given up as lost once a frame 4096 numbers later has arrived, or one 2^18 numbers later was sent.

pub mod captures;
mod error;
mod flow;
pub mod frame;
mod frame_table;
pub mod observe;
pub mod offset;
pub mod pair;
pub mod replications;
pub mod report;
pub mod run;
pub mod stamps;
pub mod statistics;
mod summarise;
pub mod trdp;

pub use error::Error;
