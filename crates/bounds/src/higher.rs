//! What classes above one take from a port.

use crate::credit::Credit;
use crate::curve::{Curve, Data, Ps, Rate};
use crate::windows::Openings;

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

/// The lesser of two limits, where there are any.
pub(crate) fn lesser(a: Option<Curve>, b: Option<Curve>) -> Option<Curve> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(&b)),
        (a, b) => a.or(b),
    }
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

impl Curve {
    /// The token bucket around it: burst and rate.
    pub fn bucket(&self) -> (Data, Rate) {
        let slope = self.tail().slope;
        let above = |at: Ps, value: Data| value - Data::from(slope) * Data::from(at);
        let burst = self
            .spans()
            .flat_map(|(s, end)| [Some(above(s.at, s.value)), end.map(|end| above(end, s.value_at(end)))])
            .flatten()
            .max();
        (burst.unwrap_or(0), slope)
    }
}
