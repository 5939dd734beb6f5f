//! The Plan: the one document that every backend obeys.
//!
//! Everything before it is for people, everything after it for machines. Nothing is left to decide in a Plan:
//! two Plans with the same hash are the same experiment. Integers only: nanoseconds, octets, bit/s (and
//! picoseconds for propagation, because a cable can be shorter than a nanosecond).
//!
//! References between parts are indices into the Plan's own lists; [`Plan::read`] checks them.

mod check;
mod clocks;
mod fault;
mod node;
mod omitted;
mod plan;
mod read;
mod stream;
mod tap;
mod time;

pub use clocks::{
    Bmca, Change, ClockFault, ClockQuality, Clocks, Delay, Gptp, Ieee1588, NodeClock, Servo, Wander,
};
pub use fault::{Fault, LossModel};
pub use node::{
    AtsGroup, AtsScheduler, Buffer, Cbs, CbsFollows, CbsLinux, ChildQdisc, Class, Distribution, FlowMeter,
    Further, GateChange, GateEntry, GateList, Gates, Host, IdleSlope, InForce, Learning, MacOperation, Node,
    NodeKind, Policing, Port, Preemption, Qdisc, Regeneration, Schedule, Server, Socket, StreamFilter,
    StreamGate, StreamGateEntry, Taprio, TaprioMode, in_force,
};
pub use plan::{FORMAT, MeasureFrom, Plan};
pub use read::{ContentHash, PlanError, content_hash, digest};
pub use stream::{
    Active, Algorithm, Answers, Destination, Identification, Jitter, LatentErrors, Merge, Pattern,
    Percentile, R_TAG_OCTETS, Recovery, Redundancy, Requirements, Rewritten, Route, Scheduled, Size, Span,
    Stream, Survives, TelegramKind, TokenBucket, Trdp,
};
pub use tap::{Point, Stage, Tap};
pub use time::duration;
