//! Linux end stations: how long software takes at each stage, and how queueing disciplines treat frames.
//!
//! OCORA Fig. 9. Pure state machines: no clock is read, nothing is sent, and the caller gives the random numbers. The
//! caller reports events to a [`Qdisc`], and the `Qdisc` writes its commands into the caller's [`Actions`]; its time
//! is the node's own (`CLOCK_TAI`).

mod cbs;
mod distribution;
mod etf;
mod processor;
mod qdisc;
mod taprio;
mod thread;
mod window;

pub use cbs::CreditBasedQdisc;
pub use distribution::Distribution;
pub use etf::Etf;
pub use processor::Processor;
pub use qdisc::{Actions, Counters, Handed, Packet, Qdisc};
pub use taprio::{Schedule, SoftwareGates};
pub use thread::{Passage, Takes, Thread};

use tsn_units::Local;

/// A point on the node's own clock.
pub type HostTime = tsn_units::Instant<Local>;

/// Why a queueing discipline dropped a frame.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum DropCause {
    /// The frame's socket has no transmission time, another clock or another mode
    /// (`SO_EE_CODE_TXTIME_INVALID_PARAM`).
    Socket,
    /// The frame's transmission time had passed when the frame arrived, or was before the transmission time of a
    /// frame already handed on.
    Late,
    /// The frame's transmission time passed while the frame waited (`SO_EE_CODE_TXTIME_MISSED`).
    Expired,
    /// No window of the frame's class is long enough, or the frame's transmission time is in none.
    Window,
    /// The queue was full.
    Full,
}

/// The options of a frame's socket that concern transmission times.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct SocketOptions {
    /// `SO_TXTIME` is set.
    pub txtime: bool,
    /// `SOF_TXTIME_DEADLINE_MODE` is set.
    pub deadline: bool,
    /// The socket's clock is not the queueing discipline's.
    pub other_clock: bool,
}
