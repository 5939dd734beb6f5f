//! Faults of clocks, and of PTP at a node.

use crate::clocks::role::PtpRole;
use crate::clocks::state::{Command, Pending, Timing};
use crate::faults::impairment::instant;
use crate::ids::{FaultId, NodeId};
use tsn_plan::ClockFault;
use tsn_units::{Duration, Frequency, Instant};

impl Timing {
    /// Schedules the begin and the end of every fault.
    pub(crate) fn expect_faults(&mut self, commands: &mut Vec<Command>) {
        for (number, fault) in self.faults.clone().into_iter().enumerate() {
            let number = FaultId::at(number);
            let (node, from_ns, until_ns) = match fault {
                ClockFault::ClockStep { node, at_ns, .. } => (node, at_ns, None),
                ClockFault::FrequencyJump { node, from_ns, until_ns, .. }
                | ClockFault::PtpDown { node, from_ns, until_ns } => (node, from_ns, Some(until_ns)),
            };
            self.schedule_at(
                instant(from_ns),
                NodeId(node),
                Pending::Fault { number, begins: true },
                commands,
            );
            if let Some(until_ns) = until_ns {
                self.schedule_at(
                    instant(until_ns),
                    NodeId(node),
                    Pending::Fault { number, begins: false },
                    commands,
                );
            }
        }
    }

    /// Begins or ends a fault.
    pub(crate) fn fault(&mut self, number: FaultId, begins: bool, now: Instant, commands: &mut Vec<Command>) {
        let Some(fault) = self.faults.get(number.index()).copied() else { return };
        match fault {
            ClockFault::ClockStep { node, by_ns, .. } => {
                self.nodes[node as usize].clock.step(Duration::from_ns(by_ns));
                commands.push(Command::Changed { node: NodeId(node) });
            }
            ClockFault::FrequencyJump { node, by_ppt, .. } => {
                let own = &mut self.nodes[node as usize];
                own.jump_ppt += if begins { by_ppt } else { -by_ppt };
                own.clock.set_oscillator(now, own.frequency.times(Frequency::from_ppt(own.jump_ppt)));
                commands.push(Command::Changed { node: NodeId(node) });
            }
            ClockFault::PtpDown { node, .. } => {
                let own = &mut self.nodes[node as usize];
                own.restarts += 1;
                // Faults may overlap: when one of them ends, the others continue.
                let down = self.faults.iter().any(|fault| match fault {
                    ClockFault::PtpDown { node: other, from_ns, until_ns } => {
                        *other == node && instant(*from_ns) <= now && now < instant(*until_ns)
                    }
                    _ => false,
                });
                let own = &mut self.nodes[node as usize];
                own.machine = if down { None } else { own.role.as_ref().map(PtpRole::begin) };
            }
        }
    }
}
