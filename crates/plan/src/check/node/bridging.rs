//! Checks of processing and shared memory, and of combinations that are not modelled.

use crate::check::{Check, ensure, time};
use crate::{Buffer, Further, Node, Pattern, Plan, R_TAG_OCTETS, Size, Stream};

/// Most different processing times of one node.
const MOST_VALUES: usize = 1 << 16;

impl Plan {
    pub(crate) fn check_bridging(&self) -> Check {
        for (number, node) in self.nodes.iter().enumerate() {
            let path = |field: &str| format!("nodes[{number}].{field}");
            check_further(node, &path)?;
            check_largest(node, &self.streams, &path)?;
            let Some(Buffer { octets, alpha_permille }) = node.buffer else { continue };
            ensure(octets > 0, || path("buffer.octets"), || "must be more than 0".into())?;
            let alpha = || path("buffer.alpha_permille");
            ensure(alpha_permille != Some(0), alpha, || "must be more than 0".into())?;
            let saturates = |stream: &&crate::Stream| {
                stream.talker as usize == number && matches!(stream.pattern, Pattern::Saturating { .. })
            };
            ensure(
                !self.streams.iter().any(|stream| saturates(&stream)),
                || path("buffer"),
                || "a shared buffer at a talker that saturates is not modelled yet".into(),
            )?;
        }
        Ok(())
    }
}

fn check_further(node: &Node, path: &impl Fn(&str) -> String) -> Check {
    match &node.further {
        None => Ok(()),
        Some(Further::Uniform { up_to_ns }) => time(*up_to_ns, || path("further.up_to_ns")),
        Some(Further::List { values_ns, counts } | Further::PerOctet { values_ns, counts, .. }) => {
            let found = values_ns.len();
            ensure(
                (1..=MOST_VALUES).contains(&found),
                || path("further.values_ns"),
                || format!("lists {found}, not 1 to {MOST_VALUES}"),
            )?;
            values_ns.iter().try_for_each(|value| time(*value, || path("further.values_ns")))?;
            let total: u128 = counts.iter().map(|count| u128::from(*count)).sum();
            ensure(
                counts.is_empty() || (counts.len() == found && total > 0 && total <= u128::from(u64::MAX)),
                || path("further.counts"),
                || format!("{} counts of {found} values, {total} in all", counts.len()),
            )
        }
    }
}

/// No frame is larger than the one for which the longest processing time is computed.
fn check_largest(node: &Node, streams: &[Stream], path: &impl Fn(&str) -> String) -> Check {
    let Some(Further::PerOctet { most_octets, .. }) = &node.further else { return Ok(()) };
    let largest = streams.iter().map(largest_frame).max().unwrap_or(0);
    ensure(
        largest <= *most_octets,
        || path("further.most_octets"),
        || format!("{most_octets} octets, and the largest frame has {largest}"),
    )
}

/// The largest frame of a stream, with the tag of its member streams.
fn largest_frame(stream: &Stream) -> u32 {
    let octets = match &stream.size {
        Size::Frame { octets } => *octets,
        Size::Units { most_per_frame, overhead, .. } => most_per_frame.saturating_add(*overhead),
        Size::List { octets } => octets.iter().max().copied().unwrap_or(0),
    };
    octets.saturating_add(if stream.redundancy.is_some() { R_TAG_OCTETS } else { 0 })
}

#[cfg(test)]
mod tests {
    use crate::check::broken::{refuses, with};
    use serde_json::json;

    #[test]
    fn what_nodes_do_between_ports_is_checked() {
        let holds = with(&[
            ("/nodes/1/further", json!({"kind": "list", "values_ns": [1, 2], "counts": [1, 1]})),
            ("/nodes/0/buffer", json!({"octets": 1_000, "alpha_permille": 1})),
        ]);
        refuses(
            &holds,
            &[
                (
                    "/nodes/1/further",
                    json!({"kind": "uniform", "up_to_ns": 864_000_000_000_001_u64}),
                    "nodes[1].further.up_to_ns: 864000000000001 ns is more than ten days",
                ),
                (
                    "/nodes/1/further/values_ns",
                    json!([]),
                    "nodes[1].further.values_ns: lists 0, not 1 to 65536",
                ),
                (
                    "/nodes/1/further/values_ns/1",
                    json!(864_000_000_000_001_u64),
                    "nodes[1].further.values_ns: 864000000000001 ns is more than ten days",
                ),
                (
                    "/nodes/1/further/counts",
                    json!([1]),
                    "nodes[1].further.counts: 1 counts of 2 values, 1 in all",
                ),
                (
                    "/nodes/1/further/counts",
                    json!([0, 0]),
                    "nodes[1].further.counts: 2 counts of 2 values, 0 in all",
                ),
                (
                    "/nodes/1/further",
                    json!({"kind": "per-octet", "per_octet_ps": 800, "most_octets": 63, "values_ns": [0]}),
                    "nodes[1].further.most_octets: 63 octets, and the largest frame has 64",
                ),
                ("/nodes/0/buffer/octets", json!(0), "nodes[0].buffer.octets: must be more than 0"),
                (
                    "/nodes/0/buffer/alpha_permille",
                    json!(0),
                    "nodes[0].buffer.alpha_permille: must be more than 0",
                ),
                (
                    "/streams/0/pattern",
                    json!({"kind": "saturating", "backlog": 1}),
                    "nodes[0].buffer: a shared buffer at a talker that saturates is not modelled yet",
                ),
            ],
        );
    }
}
