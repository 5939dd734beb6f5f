//! The inputs and outputs of a PTP clock.

use crate::{Correction, Message, Stamp};
use tsn_units::Duration;

/// An event that the driver reports to a PTP clock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Input {
    /// The next Sync is due.
    SyncDue,
    /// The next Announce is due.
    AnnounceDue,
    /// A port's next request is due, for the delay of its link or of its path to the master.
    PdelayDue {
        /// The port.
        port: usize,
    },
    /// The timer of an [`Output::StartTimer`] has expired.
    TimerExpired(Timer),
    /// An event message has left a port.
    Sent {
        /// The port.
        port: usize,
        /// The message.
        message: Message,
        /// When the message passed the timestamp point.
        at: Stamp,
    },
    /// A message has arrived at a port.
    Received {
        /// The port.
        port: usize,
        /// The message.
        message: Message,
        /// When the message passed the timestamp point.
        at: Stamp,
    },
}

/// A command of a PTP clock to its driver.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Output {
    /// Send a message; the driver reports [`Input::Sent`] when an event message has left.
    Send {
        /// The sending port.
        port: usize,
        /// The message.
        message: Message,
    },
    /// Adjust the node's clock.
    Correct(Correction),
    /// Report [`Input::TimerExpired`] after this time.
    StartTimer {
        /// The timer, which the event repeats.
        timer: Timer,
        /// The time until the timer expires.
        after: Duration,
    },
}

/// A receipt timeout of a port: `announceReceiptTimeout` or `syncReceiptTimeout`.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Timer {
    pub(crate) port: usize,
    pub(crate) kind: TimerKind,
    /// Number of messages of this kind that had arrived when the timer was started.
    pub(crate) count: u64,
}

/// The message that a timer waits for.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum TimerKind {
    Announce,
    Sync,
}
