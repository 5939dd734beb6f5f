//! Nodes and their ports: forwarding, gates and shapers, policing of received frames, and the software of hosts.

mod bridging;
mod cbs;
mod forwarding;
mod gates;
mod host;
mod in_force;
mod learning;
mod policing;
mod port;

pub use bridging::{Buffer, Further};
pub use cbs::{Cbs, CbsFollows, CbsLinux};
pub use gates::{GateChange, GateEntry, GateList, Gates, IdleSlope, MacOperation};
pub use host::{ChildQdisc, Distribution, Host, Qdisc, Socket, Taprio, TaprioMode};
pub use in_force::{InForce, Schedule, in_force};
pub use learning::Learning;
pub use policing::{
    AtsGroup, AtsScheduler, FlowMeter, Policing, Regeneration, StreamFilter, StreamGate, StreamGateEntry,
};
pub use port::{Class, Node, NodeKind, Port, Preemption, Server};
