//! Exact statistics: extremes, mean, deviation and quantiles of one quantity, and counters of one path.

pub(crate) mod age;
pub mod distribution;
mod histogram;
pub mod path_statistics;
pub mod scale;
pub mod steps;
pub mod throughput;
