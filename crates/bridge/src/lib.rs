//! How the egress of a TSN port behaves (queues, strict priority, credit-based shapers, gates), and what a node does
//! with frames as they come in (filters, stream gates, meters, ATS schedulers).
//!
//! IEEE 802.1Q-2022, 8.6.5 to 8.6.11. Pure state machines: no clock is read and nothing is sent. An
//! [`EgressPort`] is told what happens ([`Event`]) and writes what it wants done into the caller's [`Actions`];
//! a simulator and a live forwarder drive the same machine.
//!
//! The machines pay per frame, not per slot: no gate edge and no credit crossing is an event. When a frame
//! needs to know, the next opening that fits it and the moment its class has credit are computed.

pub mod ats;
mod credit;
pub mod frer;
mod gates;
mod line;
mod port;
pub mod psfp;
mod queue;
mod shared;

pub use credit::CreditBasedShaper;
pub use gates::list_change::{InForce, Schedule, in_force};
pub use gates::{Gate, GateControlList, Window};
pub use line::Line;
pub use port::{Actions, Drop, EgressPort, Event, MergeCounters, Transmission};
pub use queue::{Counters, Frame, Limits, Queue};
pub use shared::{BufferCounters, SharedBuffer};

/// Why a frame was dropped.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum DropCause {
    /// Its queue was full.
    QueueFull,
    /// Its queue had room, but the memory that the node's ports share had not.
    BufferFull,
    /// No window of its class is long enough for it, so it would wait for ever.
    FitsNoWindow,
    /// It is larger than its class takes (`queueMaxSDU`).
    OverMaxSdu,
}
