//! What is modelled, but not together with everything else yet.

use crate::Plan;
use crate::check::{Check, ensure};

impl Plan {
    /// Refuses what would be simulated wrongly, rather than simulating it.
    pub(crate) fn check_together(&self) -> Check {
        let beside = |what: &str, other: &str| format!("{what} beside {other} is not modelled yet");
        let several = self.streams.iter().position(|stream| stream.redundancy.is_some());
        let ways = "faults, redundancy or ways that stand by";
        let faulty = !self.faults.is_empty() || several.is_some();
        for (number, node) in self.nodes.iter().enumerate() {
            ensure(
                !faulty || node.cut_through_octets.is_none(),
                || format!("nodes[{number}].cut_through_octets"),
                || beside("cut-through", ways),
            )?;
        }
        for (number, port) in self.ports.iter().enumerate() {
            let path = || format!("ports[{number}].preemption");
            ensure(!faulty || port.preemption.is_none(), path, || beside("frame pre-emption", ways))?;
        }
        Ok(())
    }
}
