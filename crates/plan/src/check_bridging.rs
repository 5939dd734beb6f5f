//! What nodes do between their ports, and what of it is not modelled beside other things.

use crate::check::{Check, ensure, time};
use crate::{Buffer, Further, Node, Pattern, Plan};

/// Most different processing times of one node.
const MOST_VALUES: usize = 1 << 16;

impl Plan {
    pub(crate) fn check_bridging(&self) -> Check {
        for (number, node) in self.nodes.iter().enumerate() {
            let path = |field: &str| format!("nodes[{number}].{field}");
            check_further(node, &path)?;
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
        Some(Further::List { values_ns, counts }) => {
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
