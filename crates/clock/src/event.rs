//! What a PTP clock is told, and what it wants done.

use crate::{Correction, Message, Stamp};
use tsn_units::Duration;

/// What happens to a PTP clock: an event that its driver reports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Input {
    /// Time for the next Sync.
    SyncDue,
    /// Time for the next Announce.
    AnnounceDue,
    /// Time for a port's next request for the delay of its link, or of its path to the master.
    PdelayDue {
        /// The port.
        port: usize,
    },
    /// The time of an [`Output::StartTimer`] is over.
    TimerExpired(Timer),
    /// An event message has left a port.
    Sent {
        /// The port.
        port: usize,
        /// The message.
        message: Message,
        /// When it passed the timestamp point.
        at: Stamp,
    },
    /// A message has arrived at a port.
    Received {
        /// The port.
        port: usize,
        /// The message.
        message: Message,
        /// When it passed the timestamp point.
        at: Stamp,
    },
}

/// What a PTP clock wants its driver to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Output {
    /// Send a message; when an event message has left, report [`Input::Sent`].
    Send {
        /// By which port.
        port: usize,
        /// The message.
        message: Message,
    },
    /// Steer the node's clock.
    Correct(Correction),
    /// Report [`Input::TimerExpired`] after this time.
    StartTimer {
        /// The timer, which comes back in the event.
        timer: Timer,
        /// How long the timer runs.
        after: Duration,
    },
}

/// A receipt timeout of a port: `announceReceiptTimeout` or `syncReceiptTimeout`.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Timer {
    pub(crate) port: usize,
    pub(crate) kind: TimerKind,
    /// How many messages of this kind had arrived when the timer was started.
    pub(crate) count: u64,
}

/// The message that a timer waits for.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum TimerKind {
    Announce,
    Sync,
}
