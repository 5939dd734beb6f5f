//! Bounds of flows that are kept from one analysis to the next one: those that nothing which differs can reach.
//!
//! The bounds of a flow follow from the ports of its path and, because each burst counts once along a path, from ports
//! before these, by way of the flows there. So a flow is reported again if frames go from a port whose analysis differs
//! to a port of its path. What several flows have in common is kept in the same way: the first one of them decides how
//! it is found.

use super::Network;
use super::along::Common;
use crate::curve::Ps;
use crate::report::{Bounds, FlowBounds};
use tsn_plan::{Point, Stage, Stream};

/// The flows of a stream, and the stamps for which they hold.
#[derive(Debug)]
struct Report {
    stamps: Vec<(Point, Ps)>,
    flows: Vec<FlowBounds>,
}

/// What earlier analyses reported.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    /// By stream; none for a stream that nobody asked for, or that is reported again.
    of: Vec<Option<Report>>,
    common: Common,
}

/// Keeps some elements.
pub(super) fn keep<T>(all: &mut Vec<T>, mut stay: impl Iterator<Item = bool>) {
    all.retain(|_| stay.next().unwrap_or(true));
}

impl Reports {
    /// Removes the streams that left.
    pub fn remove(&mut self, left: &[bool]) {
        self.of.resize_with(left.len(), || None);
        keep(&mut self.of, left.iter().map(|left| !left));
    }
}

impl Network<'_> {
    /// The bounds of [`Self::report`] without hops, of which those are kept that are as in the analysis before.
    pub(super) fn report_beside(&mut self, asked: &dyn Fn(usize) -> bool) -> Bounds {
        let mut known = std::mem::take(&mut self.reports);
        known.of.resize_with(self.plan.streams.len(), || None);
        let reached = self.reached();
        known.common.forget(&reached);
        for (own, stream) in known.of.iter_mut().zip(&self.plan.streams) {
            if stream.route.iter().any(|hop| reached[hop.port as usize]) {
                *own = None;
            }
        }
        let ports = self.ports();
        let mut flows = Vec::new();
        for (number, stream) in self.plan.streams.iter().enumerate().filter(|(number, _)| asked(*number)) {
            let (own, stamps) = (&mut known.of[number], self.stamps_of(stream));
            if let Some(own) = own.as_ref().filter(|own| own.stamps == stamps) {
                flows.extend(own.flows.iter().cloned());
                continue;
            }
            let begin = flows.len();
            self.report_stream(number, &ports, false, Some(&mut known.common), &mut flows);
            *own = self.is_kept(stream).then(|| Report { stamps, flows: flows[begin..].to_vec() });
        }
        self.reports = known;
        self.bounds_of(flows, ports)
    }

    /// The ports to which frames go from ports that were analysed again, and these.
    fn reached(&self) -> Vec<bool> {
        let mut found = self.touched.clone();
        let mut left: Vec<usize> = (0..found.len()).filter(|port| found[*port]).collect();
        while let Some(port) = left.pop() {
            for next in self.models[port].flows.iter().flatten().flat_map(|hop| &self.next[*hop]) {
                let to = self.hops[*next].port;
                if !std::mem::replace(&mut found[to], true) {
                    left.push(to);
                }
            }
        }
        found
    }

    /// Whether the bounds of a stream follow from ports alone, and somebody may ask for them again. Those of scheduled
    /// streams are those of their proof.
    fn is_kept(&self, stream: &Stream) -> bool {
        let mut nodes = stream.listeners.iter().map(|own| own.node).chain([stream.talker]);
        stream.scheduled.is_none()
            && stream.redundancy.is_none()
            && nodes.all(|node| self.plan.nodes[node as usize].host.is_none())
            && self.plan.nodes.iter().all(|node| node.buffer.is_none())
    }

    /// The stamps at the ends of a stream.
    fn stamps_of(&self, stream: &Stream) -> Vec<(Point, Ps)> {
        let first =
            stream.route.iter().take(1).map(|hop| self.tap(hop.port as usize, Stage::Tx, Point::Start));
        let last = stream.listeners.iter().map(|own| {
            let port = stream.route[own.route as usize].port as usize;
            self.tap(self.models[port].port.peer as usize, Stage::Rx, Point::End)
        });
        first.chain(last).collect()
    }
}
