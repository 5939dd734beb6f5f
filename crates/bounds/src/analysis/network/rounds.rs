//! An analysis that repeats until some flows are as assumed: what they depend on first, and once they hold everything.
//!
//! IEEE 802.1Q-2022, 8.6.8: a class waits for those that are selected before it, and for one frame of any other. What is
//! told of flows alone is only a suggestion: the analysis of everything has to tell the same at the end.

use super::{Last, Network, Told};
use crate::analysis::port::PortResult;
use crate::model::flow_hop::FlowHop;
use crate::reason::Reason;
use crate::report::Bounds;
use crate::service::preemption::is_express;

impl Network<'_> {
    /// Repeats the analysis until it holds. Returns what was found where it fails.
    pub(super) fn rounds(
        &mut self,
        last: Last<'_>,
        report: &dyn Fn(&Self, usize) -> Bounds,
    ) -> Option<Bounds> {
        let mut alone = last.alone;
        let mut begin = if alone { self.hops.clone() } else { Vec::new() };
        if alone {
            self.leave_out(last.from);
        }
        loop {
            self.solve();
            let sums = report(self, last.from);
            match (last.holds)(&sums.flows) {
                Told::Holds if !alone => return None,
                Told::Fails => return Some(sums),
                Told::Holds => {
                    alone = false;
                    self.models.iter_mut().for_each(|model| model.left_out = 0);
                    let later = self.later.values_mut().flatten();
                    later.for_each(|(_, model)| model.left_out = 0);
                }
                Told::Later(jitters) => {
                    for (hop, jitter) in self.first[last.from..].iter().zip(jitters) {
                        begin[*hop].latest = Some(jitter);
                    }
                }
            }
            self.begin_again(&begin);
        }
    }

    /// The state before the analysis, with these arrivals at talkers.
    fn begin_again(&mut self, hops: &[FlowHop]) {
        self.hops = hops.to_vec();
        self.results.fill(PortResult::default());
        self.delays.fill(Err(Reason::TooLarge));
        self.unconverged.fill(false);
    }

    /// Leaves out all classes on which no flow of the streams from one on depends. Frames of these classes still count
    /// where one of them may be on the link.
    fn leave_out(&mut self, from: usize) {
        let mut needed = vec![0_u8; self.models.len()];
        let mut open: Vec<usize> =
            (0..self.hops.len()).filter(|hop| self.hops[*hop].stream >= from).collect();
        while let Some(hop) = open.pop() {
            let (port, class) = (self.hops[hop].port, self.hops[hop].class);
            let rank = |class: u8| (is_express(self.models[port].port.preemption.as_ref(), class), class);
            for (before, flows) in (0..).zip(&self.models[port].flows) {
                if rank(before) < rank(class) || needed[port] >> before & 1 == 1 {
                    continue;
                }
                needed[port] |= 1 << before;
                let parents = flows.iter().flat_map(|flow| &self.hops[*flow].parents);
                open.extend(parents.flat_map(|parent| self.in_classes(*parent)));
            }
        }
        for (port, needed) in needed.into_iter().enumerate() {
            self.models[port].left_out = !needed;
            let later = self.later.get_mut(&port).into_iter().flatten();
            later.for_each(|(_, model)| model.left_out = !needed);
        }
    }
}
