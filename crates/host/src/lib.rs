//! Linux end stations: how long software takes at each stage, and what queueing disciplines do with frames.
//!
//! OCORA Fig. 9. Pure state machines: no clock is read, nothing is sent, randomness comes from the caller. A
//! [`Qdisc`] is told what happens and writes what it wants done into the caller's [`Actions`]; its time is the node's
//! own (`CLOCK_TAI`).

mod cbs;
mod distribution;
mod etf;
mod qdisc;
mod taprio;
mod thread;
mod window;

pub use cbs::CreditBasedQdisc;
pub use distribution::Distribution;
pub use etf::Etf;
pub use qdisc::{Actions, Counters, Handed, Packet, Qdisc};
pub use taprio::{Schedule, SoftwareGates};
pub use thread::{Passage, Thread};

use tsn_units::Local;

/// A point on the node's own clock.
pub type HostTime = tsn_units::Instant<Local>;

/// Why a queueing discipline dropped a frame.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum DropCause {
    /// The socket has no transmission time, another clock or another mode (`SO_EE_CODE_TXTIME_INVALID_PARAM`).
    Socket,
    /// Its transmission time had passed when it came, or was before that of a frame already handed on.
    Late,
    /// Its transmission time passed while it waited (`SO_EE_CODE_TXTIME_MISSED`).
    Expired,
    /// No window of its class is long enough, or its transmission time is in none.
    Window,
    /// The queue was full.
    Full,
}

/// What a frame's socket says of transmission times.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct SocketOptions {
    /// `SO_TXTIME` is set.
    pub txtime: bool,
    /// `SOF_TXTIME_DEADLINE_MODE`.
    pub deadline: bool,
    /// Its clock is another than the queueing discipline's.
    pub other_clock: bool,
}
