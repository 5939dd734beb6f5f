//! Flooded branches begin at bridges that learn, and lead away from the stream's own way.

use crate::check::{Check, ensure, index, time};
use crate::{NodeKind, Plan, Stream};

impl Plan {
    pub(crate) fn check_learning(&self) -> Check {
        for (number, node) in self.nodes.iter().enumerate() {
            let Some(learning) = &node.learning else { continue };
            let path = || format!("nodes[{number}].learning");
            time(learning.ageing_ns, path)?;
            ensure(learning.ageing_ns > 0, path, || "must be more than 0".into())?;
            ensure(node.kind == NodeKind::Bridge, path, || "only bridges learn".into())?;
            ensure(node.cut_through_octets.is_none(), path, || {
                "learning beside cut-through is not modelled yet".into()
            })?;
            let beside = self.clocks.is_some() || self.ports.iter().any(|port| port.preemption.is_some());
            ensure(!beside, path, || {
                "learning beside clocks of nodes or frame pre-emption is not modelled yet".into()
            })?;
        }
        for (number, stream) in self.streams.iter().enumerate() {
            self.check_flood(stream, |field| format!("streams[{number}].{field}"))?;
        }
        Ok(())
    }

    fn check_flood(&self, stream: &Stream, path: impl Fn(&str) -> String) -> Check {
        if stream.flood.is_empty() {
            return Ok(());
        }
        ensure(stream.listeners.len() == 1, || path("flood"), || "only unicast is flooded".into())?;
        ensure(
            stream.redundancy.is_none(),
            || path("flood"),
            || "a flooded stream with several ways is not modelled yet".into(),
        )?;
        let all: Vec<_> = stream.route.iter().chain(&stream.flood).collect();
        for (place, hop) in stream.flood.iter().enumerate() {
            let path = |field: &str| path(&format!("flood[{place}]{field}"));
            index(hop.port, self.ports.len(), || path(".port"))?;
            let parent = hop.parent.unwrap_or(u32::MAX);
            index(parent, stream.route.len() + place, || path(".parent"))?;
            let arrival = self.ports[all[parent as usize].port as usize].peer;
            let node = self.ports[arrival as usize].node;
            ensure(
                self.ports[hop.port as usize].node == node && hop.port != arrival,
                || path(""),
                || "its port is not another one of the node where the frame then is".into(),
            )?;
            ensure(
                self.nodes[node as usize].learning.is_some(),
                || path(""),
                || "the node where the frame then is does not learn".into(),
            )?;
        }
        Ok(())
    }
}
