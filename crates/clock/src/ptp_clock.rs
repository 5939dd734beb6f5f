//! The PTP clock of one node: an instance that takes part, or a transparent clock.

use crate::{Input, Instance, Message, Output, Stamp, TransparentClock};

/// The PTP clock of one node.
#[derive(Clone, Debug)]
pub enum PtpClock {
    /// An ordinary or boundary clock, an end station or time-aware bridge of gPTP.
    Instance(Box<Instance>),
    /// A transparent clock.
    Transparent(Box<TransparentClock>),
}

impl PtpClock {
    /// Handles an input and appends the resulting outputs.
    pub fn handle(&mut self, input: Input, outputs: &mut Vec<Output>) {
        match self {
            Self::Instance(instance) => instance.handle(input, outputs),
            Self::Transparent(clock) => clock.handle(input, outputs),
        }
    }

    /// Handles a message that leaves a port now: fills in or corrects the time of a one-step Sync.
    #[must_use]
    pub fn on_departure(&mut self, message: Message, at: Stamp) -> Message {
        match self {
            Self::Instance(instance) => instance.on_departure(message, at),
            Self::Transparent(clock) => clock.on_departure(message, at),
        }
    }

    /// The node whose time this one follows, if it is elected.
    #[must_use]
    pub fn grandmaster(&self) -> Option<u32> {
        match self {
            Self::Instance(instance) => instance.grandmaster(),
            Self::Transparent(_) => None,
        }
    }

    /// Whether a servo adjusts this node's clock, or other nodes follow it.
    #[must_use]
    pub fn keeps_time(&self) -> bool {
        matches!(self, Self::Instance(_))
    }
}
