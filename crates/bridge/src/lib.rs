//! The egress of a TSN port (queues, strict priority, credit-based shapers, gates), and the treatment of received
//! frames in a node (filters, stream gates, meters, ATS schedulers).
//!
//! IEEE 802.1Q-2022, 8.6.5 to 8.6.11. Pure state machines: no clock is read and nothing is sent. The caller reports
//! each [`Event`] to an [`EgressPort`], which writes its commands into the caller's [`Actions`]; a simulator and a
//! live forwarder use the same machine.
//!
//! The cost is per frame, not per slot: no gate edge and no credit crossing is an event. The next opening that fits a
//! frame, and the moment at which its class has credit, are computed when a frame needs them.

pub mod ats;
mod cbs;
pub mod frer;
mod gates;
mod line;
mod port;
pub mod psfp;
mod queue;
mod shared;
mod state;

pub use cbs::CreditBasedShaper;
pub use gates::{Gate, GateControlList, Window};
pub use line::Line;
pub use port::{Actions, Drop, EgressPort, Event, MergeCounters, Transmission};
pub use queue::{Counters, Frame, Limits, Queue};
pub use shared::{BufferCounters, SharedBuffer};
pub use state::{State, StateTaker};

/// Why a frame was dropped.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum DropCause {
    /// The frame's queue was full.
    QueueFull,
    /// The frame's queue had room, but the memory that the node's ports share had none.
    BufferFull,
    /// No window of the frame's class is long enough for it, so it would wait for ever.
    FitsNoWindow,
    /// The frame is larger than its class allows (`queueMaxSDU`).
    OverMaxSdu,
    /// The frame has waited for the longest time of its queue.
    DelayExceeded,
}
