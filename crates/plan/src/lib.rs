//! The Plan: the one document that every backend obeys.
//!
//! Everything before it is for people, everything after it for machines. Nothing is left to decide in a Plan:
//! two Plans with the same hash are the same experiment. Integers only: nanoseconds, octets, bit/s (and
//! picoseconds for propagation, because a cable can be shorter than a nanosecond).
//!
//! References between parts are indices into the Plan's own lists; [`Plan::read`] checks them.

mod bridging;
mod check;
mod clocks;
mod fault;
mod forwarding;
mod gates;
mod host;
mod learning;
mod plan;
mod policing;
mod port;
mod priorities;
mod ptp;
mod read;
mod redundancy;
mod rewriting;
mod stream;
mod tap;
mod time;

pub use bridging::{Buffer, Further};
pub use clocks::{Change, Clocks, Gptp, NodeClock, Wander};
pub use fault::{Fault, LossModel};
pub use gates::{GateChange, GateEntry, GateList, Gates, IdleSlope, MacOperation};
pub use host::{ChildQdisc, Distribution, Host, Qdisc, Socket, Taprio, TaprioMode};
pub use learning::Learning;
pub use plan::{FORMAT, Plan};
pub use policing::{
    AtsGroup, AtsScheduler, FlowMeter, Policing, Regeneration, StreamFilter, StreamGate, StreamGateEntry,
};
pub use port::{Cbs, CbsLinux, Class, Node, NodeKind, Port, Preemption};
pub use ptp::{Bmca, ClockFault, ClockQuality, Delay, Ieee1588, Servo};
pub use read::{PlanError, content_hash, digest};
pub use redundancy::{
    Active, Algorithm, Identification, LatentErrors, Merge, R_TAG_OCTETS, Recovery, Redundancy, Rewritten,
    Span,
};
pub use stream::{
    Destination, Jitter, Pattern, Percentile, Requirements, Route, Scheduled, Size, Stream, Trdp,
};
pub use tap::{Point, Stage, Tap};
pub use time::duration;
