//! Checks that flooded branches begin at learning bridges, and lead away from the stream's own path.

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
            || "a flooded stream with several paths is not modelled yet".into(),
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

#[cfg(test)]
mod tests {
    use crate::check::broken::{refuses, with};
    use serde_json::json;

    #[test]
    fn learning_is_checked() {
        let holds = with(&[("/nodes/1/learning", json!({"ageing_ns": 5}))]);
        refuses(
            &holds,
            &[
                ("/nodes/1/learning/ageing_ns", json!(0), "nodes[1].learning: must be more than 0"),
                (
                    "/nodes/1/learning/ageing_ns",
                    json!(864_000_000_000_001_u64),
                    "nodes[1].learning: 864000000000001 ns is more than ten days",
                ),
                ("/nodes/0/learning", json!({"ageing_ns": 5}), "nodes[0].learning: only bridges learn"),
                (
                    "/nodes/1/cut_through_octets",
                    json!(64),
                    "nodes[1].learning: learning beside cut-through is not modelled yet",
                ),
                (
                    "/ports/0/preemption",
                    json!({"express": 128}),
                    "nodes[1].learning: learning beside clocks of nodes or frame pre-emption is not modelled yet",
                ),
                (
                    "/streams/0/flood",
                    json!([{"port": 8, "parent": 0}]),
                    "streams[0].flood[0].port: 8 is not the index of one of 8",
                ),
                (
                    "/streams/0/flood",
                    json!([{"port": 1, "parent": 2}]),
                    "streams[0].flood[0].parent: 2 is not the index of one of 2",
                ),
                (
                    "/streams/0/flood",
                    json!([{"port": 1, "parent": 0}]),
                    "streams[0].flood[0]: its port is not another one of the node where the frame then is",
                ),
                (
                    "/streams/0/flood",
                    json!([{"port": 5, "parent": 1}]),
                    "streams[0].flood[0]: its port is not another one of the node where the frame then is",
                ),
                (
                    "/streams/0/flood",
                    json!([{"port": 7, "parent": 1}]),
                    "streams[0].flood[0]: the node where the frame then is does not learn",
                ),
            ],
        );
    }
}
