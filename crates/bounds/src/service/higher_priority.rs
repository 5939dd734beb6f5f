//! The use of a port by classes above one.

use crate::curve::{Curve, Data, Ps, Rate, lesser};
use crate::model::openings::Openings;
use crate::reason::Reason;
use crate::service::cbs::Credit;

/// A class that has been analysed, with the results that lower classes need.
#[derive(Clone, Debug)]
pub(crate) struct Higher {
    pub class: u8,
    /// The smallest and the largest frame of the class.
    pub smallest: u32,
    pub largest: u32,
    /// Whether no class interrupts its frames.
    pub express: bool,
    /// Arrivals at its queue, if they are bounded.
    pub arrivals: Option<Curve>,
    /// Time from a frame's arrival until it has left the link.
    pub until_free: Option<Ps>,
    /// Why arrivals, or that time, have no bound.
    pub unbounded: Option<Reason>,
    /// What is on the link within any span of time, if every window sends all turns that wait for it.
    pub in_turns: Option<Curve>,
    /// The shaper, and the highest credit that it gathers.
    pub shaper: Option<(Credit, Data)>,
    pub openings: Openings,
}

impl Higher {
    /// The reason for no bound of a lower class, if this one has no limit.
    pub fn unlimited(&self) -> Reason {
        Reason::HigherClass { class: self.class, why: self.unbounded.clone().map(Box::new) }
    }

    /// The most data of the class within any span of time, without its gates.
    pub fn any_time(&self, rate: Rate) -> Option<Curve> {
        let shaped = self.shaper.as_ref().and_then(|(credit, most)| credit.sent(rate, *most));
        lesser(lesser(self.queued(), shaped), self.in_turns.clone())
    }

    /// The most data of a shaped class from a moment on at which it could not start.
    pub fn when_idle(&self, rate: Rate) -> Option<Curve> {
        lesser(self.queued(), self.shaper.as_ref().and_then(|(credit, _)| credit.sent(rate, 0)))
    }

    /// Data on the link within a span arrived in the queue within it or at most `until_free` before.
    fn queued(&self) -> Option<Curve> {
        Some(self.arrivals.as_ref()?.ahead(self.until_free?))
    }
}
