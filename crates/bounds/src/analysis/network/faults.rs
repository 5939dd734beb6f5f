//! What faults do to the frames of a port and of the link behind it, beside losing some.

use super::Network;
use crate::curve::{Ps, ps};
use crate::model::lists::Wrong;
use tsn_plan::{Fault, Plan};

/// How long after a frame a fault lets it arrive again from a port; none if it does not.
pub(super) fn repeats(fault: &Fault, number: usize) -> Option<Ps> {
    match fault {
        Fault::Duplicate { port, after_ns, .. } if *port as usize == number => Some(ps(*after_ns)),
        _ => None,
    }
}

/// The lists that faults give a port.
pub(super) fn wrong_lists(plan: &Plan, number: usize) -> Vec<Wrong<'_>> {
    let at = |fault| match fault {
        &Fault::Schedule { port, from_ns, until_ns, ref gates } if port as usize == number => {
            Some(Wrong { from_ns, until_ns, gates: gates.as_deref() })
        }
        _ => None,
    };
    plan.faults.iter().filter_map(at).collect()
}

/// Whether a fault lets more frames arrive at once from a port than its link carries: it delays or duplicates them.
pub(super) fn moves_frames(fault: &Fault, number: usize) -> bool {
    matches!(fault, Fault::Delay { port, .. } | Fault::Duplicate { port, .. } if *port as usize == number)
}

impl Network<'_> {
    /// Whether a fault on the link behind a port has no bound: a frame that it delays, and that has interrupted another
    /// one, waits for that one; or frames that it delays or repeats wait for an ATS scheduler, which takes no longer
    /// than in the queue before it, but not than on the link.
    pub(super) fn disturbed(&self, number: usize) -> bool {
        let shaped = || self.models[number].flows.iter().flatten().any(|hop| self.arriving.shapes(*hop));
        self.plan.faults.iter().any(|fault| match fault {
            Fault::Delay { port, keeps_order, .. } if *port as usize == number => {
                (*keeps_order && self.models[number].port.preemption.is_some()) || shaped()
            }
            Fault::Duplicate { port, .. } if *port as usize == number => shaped(),
            _ => false,
        })
    }

    /// The greatest time from the last bit out to the last bit in: where faults delay frames, all of them together, and
    /// with the time until a frame arrives again.
    pub(super) fn on_link(&self, port: usize) -> Ps {
        let late = |fault: &Fault| match fault {
            Fault::Delay { port: own, most_ns, .. } if *own as usize == port => ps(*most_ns),
            _ => 0,
        };
        // A frame is repeated once at most.
        let again = self.plan.faults.iter().filter_map(|fault| repeats(fault, port)).max();
        let late = self.plan.faults.iter().map(late).chain(again);
        late.fold(self.propagation(port), Ps::saturating_add)
    }
}
