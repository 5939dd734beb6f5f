//! What one node is to PTP: a clock that takes part, or one that messages pass through.

use crate::{Input, Instance, Message, Output, Stamp, TransparentClock};

/// A node's part in PTP.
#[derive(Clone, Debug)]
pub enum Machine {
    /// An ordinary or boundary clock, an end station or time-aware bridge of gPTP.
    Instance(Box<Instance>),
    /// A transparent clock.
    Transparent(Box<TransparentClock>),
}

impl Machine {
    /// Takes an input and appends what follows from it.
    pub fn handle(&mut self, input: Input, outputs: &mut Vec<Output>) {
        match self {
            Self::Instance(instance) => instance.handle(input, outputs),
            Self::Transparent(clock) => clock.handle(input, outputs),
        }
    }

    /// A message leaves a port now: what can only be written into it as it does.
    #[must_use]
    pub fn departs(&mut self, message: Message, at: Stamp) -> Message {
        match self {
            Self::Instance(instance) => instance.departs(message, at),
            Self::Transparent(clock) => clock.departs(message, at),
        }
    }

    /// The node whose time this one follows, where that is elected.
    #[must_use]
    pub fn grandmaster(&self) -> Option<u32> {
        match self {
            Self::Instance(instance) => instance.grandmaster(),
            Self::Transparent(_) => None,
        }
    }

    /// Whether a servo of this node steers its clock, or others go by it.
    #[must_use]
    pub fn keeps_time(&self) -> bool {
        matches!(self, Self::Instance(_))
    }
}
