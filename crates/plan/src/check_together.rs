//! What is modelled, but not together with everything else yet.

use crate::check::{Check, ensure};
use crate::Plan;

impl Plan {
    /// Refuses what would be simulated wrongly, rather than simulating it.
    pub(crate) fn check_together(&self) -> Check {
        let several_ways = self.streams.iter().any(|stream| stream.redundancy.is_some());
        if self.faults.is_empty() && !several_ways {
            return Ok(());
        }
        let beside = "beside faults, redundancy or ways that stand by is not modelled yet";
        for (number, node) in self.nodes.iter().enumerate() {
            ensure(
                node.cut_through_octets.is_none(),
                || format!("nodes[{number}].cut_through_octets"),
                || format!("cut-through {beside}"),
            )?;
        }
        for (number, port) in self.ports.iter().enumerate() {
            ensure(
                port.preemption.is_none(),
                || format!("ports[{number}].preemption"),
                || format!("frame pre-emption {beside}"),
            )?;
        }
        Ok(())
    }
}
