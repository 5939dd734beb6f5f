//! A port whose gate control list changes: each class in the time from its first frame on.
//!
//! IEEE 802.1Q-2022, 8.6.9. Derived in `docs/concepts/bounds.md`.

use super::Network;
use crate::analysis::port::{PortResult, analyse};
use crate::curve::{LONGEST, Ps, ps};
use crate::model::flow_hop::FlowHop;
use crate::service::class::Model;
use tsn_plan::Pattern;

impl Network<'_> {
    /// Analyses a port whose list changes: each class in the time from its first frame on.
    pub(super) fn analyse_later(&self, port: usize, models: &[(Ps, Model<'_>)]) -> PortResult {
        let flows = &self.models[port].flows;
        let here = |class: usize| flows[class].iter().map(|hop| &self.hops[*hop]);
        let longest = (0..flows.len()).flat_map(here).filter_map(|hop| hop.sizes).map(|sizes| sizes.largest);
        let occupied = self.models[port].occupied(longest.max().unwrap_or(0));
        // Before it comes, no frame of another class that began under an earlier list is still on the link.
        let begins = |class: usize| {
            // What a clock shows then is not known.
            if self.models[port].clock.is_some() {
                return 0;
            }
            let first = here(class).map(|hop| self.first(hop)).min().unwrap_or(0).saturating_sub(occupied);
            models.iter().rposition(|(from, _)| *from <= first).unwrap_or(0)
        };
        let begins: Vec<usize> = (0..flows.len()).map(begins).collect();
        let mut result = PortResult { classes: vec![None; flows.len()], ..PortResult::default() };
        for (number, (_, model)) in models.iter().enumerate() {
            if !begins.contains(&number) {
                continue;
            }
            let found = analyse(model, &self.hops, self, &result.classes);
            let own = |hop: &usize| begins[usize::from(self.hops[*hop].class)] == number;
            result.delays.extend(found.delays.into_iter().filter(|(hop, _)| own(hop)));
            result.passing.extend(found.passing.into_iter().filter(|(hop, _)| own(hop)));
            for (class, outcome) in found.classes.into_iter().enumerate() {
                if begins[class] == number {
                    result.classes[class] = outcome;
                }
            }
        }
        result
    }

    /// When the first frame of a flow is in the queue of a hop, at the earliest.
    fn first(&self, hop: &FlowHop) -> Ps {
        let stream = &self.plan.streams[hop.stream];
        match stream.pattern {
            Pattern::Periodic { offset_ns, .. } if hop.babbles.is_empty() && hop.earliest < LONGEST => {
                ps(stream.start_ns).saturating_add(ps(offset_ns)).saturating_add(hop.earliest)
            }
            _ => 0,
        }
    }
}
