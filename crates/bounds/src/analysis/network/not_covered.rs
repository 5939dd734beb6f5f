//! Functions of ports that these bounds do not cover, each with its reason.

use super::Network;
use super::faults::wrong_lists;
use crate::model::flow_hop::FlowHop;
use crate::model::openings::covered;
use crate::model::software;
use crate::reason::Reason;
use crate::service::preemption::is_express;

impl Network<'_> {
    /// A function of a port that these bounds do not cover.
    pub(super) fn not_covered(&self, number: usize) -> Option<Reason> {
        let port = self.models[number].port;
        if let Some(reason) = self.software_not_covered(number) {
            return Some(reason);
        }
        let wrong = !wrong_lists(self.plan, number).is_empty();
        if wrong && !self.later.contains_key(&number) {
            return Some(Reason::Changes);
        }
        if self.disturbed(number) {
            return Some(Reason::Faults);
        }
        let gated = port.gates.is_some() || wrong;
        let express = |class: usize| is_express(port.preemption.as_ref(), class as u8);
        if self.models[number].clock.is_some() && gated {
            // How their windows and the parts of frames that are cut go together is not derived.
            let cut = |(class, own): (usize, &tsn_plan::Class)| own.cbs.is_some() && !express(class);
            if port.classes.iter().enumerate().any(cut) {
                return Some(Reason::Clocks { what: "a shaper on frames that are interrupted" });
            }
            if port.preemption.is_some() && port.gates.as_ref().is_some_and(|gates| gates.unguarded) {
                return Some(Reason::Clocks { what: "a gate without a guard beside pre-emption" });
            }
        }
        let runs = |class: &tsn_plan::Class| class.cbs.as_ref().is_some_and(|cbs| cbs.runs_while_closed);
        if gated && port.classes.iter().any(runs) {
            return Some(Reason::CreditRuns);
        }
        if gated && port.transmit_buffer.is_some() && port.classes.iter().any(|class| class.cbs.is_some()) {
            return Some(Reason::TransmitBuffer);
        }
        self.gates_not_covered(number)
    }

    /// What the software of a host does before a port for longer than these bounds say.
    fn software_not_covered(&self, number: usize) -> Option<Reason> {
        let flows = self.models[number].flows.iter().flatten().map(|hop| &self.hops[*hop]);
        let port = self.models[number].port;
        let why = |hop: &FlowHop| {
            let processor = || software::shared(self.plan, port.node);
            hop.software
                .clone()
                .err()
                .map(|own| *own)
                .or_else(processor)
                .or_else(|| software::not_covered(port, hop.class))
        };
        flows.into_iter().find_map(why)
    }

    /// A function of a port's gates that these bounds do not cover.
    fn gates_not_covered(&self, number: usize) -> Option<Reason> {
        let model = &self.models[number];
        let gates = model.port.gates.as_ref()?;
        let models = || self.later.get(&number).into_iter().flatten().map(|(_, later)| later);
        let slopes = gates.changes.iter().any(|change| !change.idle_slopes.is_empty());
        let shaped = model.port.classes.iter().any(|class| class.cbs.is_some());
        match () {
            () if model.clock.is_some() && slopes && shaped => {
                Some(Reason::Clocks { what: "an idle slope that changes with a list" })
            }
            () if covered(model.port).is_none() && models().next().is_none() => Some(Reason::Changes),
            () if models().chain([model]).any(|model| model.released.is_none()) => Some(Reason::ShortHolds),
            () => None,
        }
    }
}
