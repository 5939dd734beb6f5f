//! What goes wrong with clocks, and with PTP at a node.

use super::setup::Part;
use super::{Due, Timing, Todo};
use crate::fault::instant;
use tsn_plan::ClockFault;
use tsn_units::{Duration, Frequency, Instant};

impl Timing {
    /// Every fault's begin, and its end.
    pub(super) fn expect_faults(&mut self, todo: &mut Vec<Todo>) {
        for (number, fault) in self.faults.clone().into_iter().enumerate() {
            let number = number as u32;
            let (node, from_ns, until_ns) = match fault {
                ClockFault::ClockStep { node, at_ns, .. } => (node, at_ns, None),
                ClockFault::FrequencyJump { node, from_ns, until_ns, .. }
                | ClockFault::PtpDown { node, from_ns, until_ns } => (node, from_ns, Some(until_ns)),
            };
            self.plan_at(instant(from_ns), node, Due::Fault { number, begins: true }, todo);
            if let Some(until_ns) = until_ns {
                self.plan_at(instant(until_ns), node, Due::Fault { number, begins: false }, todo);
            }
        }
    }

    /// A fault begins, or ends.
    pub(super) fn fault(&mut self, number: u32, begins: bool, now: Instant, todo: &mut Vec<Todo>) {
        let Some(fault) = self.faults.get(number as usize).copied() else { return };
        match fault {
            ClockFault::ClockStep { node, by_ns, .. } => {
                self.nodes[node as usize].clock.step(Duration::from_ns(by_ns));
                todo.push(Todo::Changed { node });
            }
            ClockFault::FrequencyJump { node, by_ppt, .. } => {
                let own = &mut self.nodes[node as usize];
                own.jump_ppt += if begins { by_ppt } else { -by_ppt };
                own.clock.set_oscillator(now, own.pace.times(Frequency::from_ppt(own.jump_ppt)));
                todo.push(Todo::Changed { node });
            }
            ClockFault::PtpDown { node, .. } => {
                let own = &mut self.nodes[node as usize];
                own.restarts += 1;
                // One of several that overlap ends: the others go on.
                let down = self.faults.iter().any(|fault| match fault {
                    ClockFault::PtpDown { node: other, from_ns, until_ns } => {
                        *other == node && instant(*from_ns) <= now && now < instant(*until_ns)
                    }
                    _ => false,
                });
                let own = &mut self.nodes[node as usize];
                own.machine = if down { None } else { own.part.as_ref().map(Part::begin) };
            }
        }
    }
}
