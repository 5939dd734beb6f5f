//! Statistics over replications: runs of one Plan that differ in their seed alone.
//!
//! The unit of independence is the replication. Frames of one run wait behind each other, so an interval that counts
//! each frame as independent is far too narrow.
//!
//! * [`interval`]: t intervals around a pooled estimate, distribution-free intervals, paired differences;
//! * [`quantile`]: quantiles pooled over replications, and how many frames a quantile needs;
//! * [`shares`]: lost frames, events that no replication saw, the largest value of the next run;
//! * [`warm_up`]: where a series becomes stationary (MSER-5);
//! * [`stopping`]: when there are enough replications.
//!
//! A float is the right type here: an interval is an estimate, and no decision about a frame depends on it.

pub mod interval;
pub mod quantile;
pub mod shares;
pub mod stopping;
pub mod warm_up;
