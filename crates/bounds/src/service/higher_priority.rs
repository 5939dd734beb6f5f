//! What classes above one take from a port.

use crate::curve::{Curve, Data, Ps, Rate, lesser};
use crate::model::openings::Openings;
use crate::service::credit::Credit;

/// A class that has been analysed, as those below it see it.
#[derive(Clone, Debug)]
pub(crate) struct Higher {
    pub class: u8,
    /// Its smallest frame.
    pub smallest: u32,
    /// Nothing interrupts it.
    pub express: bool,
    /// Arrivals at its queue, where they are bounded.
    pub arrivals: Option<Curve>,
    /// From arrival until the link is free of the frame again.
    pub until_free: Option<Ps>,
    /// The shaper, and the highest credit that it gathers.
    pub shaper: Option<(Credit, Data)>,
    pub openings: Openings,
}

impl Higher {
    /// What it sends within any span of time, but for gates.
    pub fn any_time(&self, rate: Rate) -> Option<Curve> {
        lesser(self.queued(), self.shaper.as_ref().and_then(|(credit, most)| credit.sent(rate, *most)))
    }

    /// What a shaped class sends from a moment on at which it could not start.
    pub fn when_idle(&self, rate: Rate) -> Option<Curve> {
        lesser(self.queued(), self.shaper.as_ref().and_then(|(credit, _)| credit.sent(rate, 0)))
    }

    /// What is on the link within a span came to the queue within it or at most `until_free` before.
    fn queued(&self) -> Option<Curve> {
        Some(self.arrivals.as_ref()?.ahead(self.until_free?))
    }
}
