//! Streams with more than one path: the destinations of a route's entries, and how often the same frame may arrive.
//!
//! IEEE 802.1CB-2017, 7.4.3.

use crate::curve::{Ps, ps};
use tsn_plan::{Algorithm, Plan, R_TAG_OCTETS, Redundancy, Stream};

/// Why the same frame does not arrive twice where paths merge.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Once {
    /// The same frame may arrive twice.
    No,
    /// Only one of the paths forwards at any time.
    OneWay,
    /// Sequence recovery remembers received numbers for this long, unless numbers repeat within it.
    Recovery { memory: Ps, history: u32 },
}

/// The entries of a stream's route that merge with `entry`, itself included.
pub(crate) fn entries_with(stream: &Stream, entry: u32) -> Vec<u32> {
    let merges = stream.redundancy.iter().flat_map(|redundancy| &redundancy.merges);
    let meets = merges.filter(|merge| merge.from.first() == Some(&entry)).map(|merge| merge.from.clone());
    meets.reduce(|a, b| [a, b].concat()).unwrap_or_else(|| vec![entry])
}

/// Octets that a tag adds to a stream's frames in one entry of its route.
pub(crate) fn tag(stream: &Stream, entry: usize) -> u32 {
    let copies = stream.redundancy.as_ref().map(|redundancy| &redundancy.copies);
    let copy = copies.and_then(|copies| copies.get(entry)).copied().unwrap_or(0);
    if copy > 0 { R_TAG_OCTETS } else { 0 }
}

/// Whether an entry of a stream's route forwards at all times of a run: it is no standby path, or never left.
pub(crate) fn always_forwards(plan: &Plan, stream: &Stream, entry: usize) -> bool {
    // Of several lists of one entry the last one is in force.
    let own = stream
        .redundancy
        .as_ref()
        .and_then(|own| own.active.iter().rfind(|active| active.route as usize == entry));
    let end = plan.duration_ns.saturating_add(plan.drain_ns);
    own.is_none_or(|own| own.spans.iter().any(|span| span.from_ns == 0 && span.until_ns > end))
}

/// Whether a frame that arrives by several entries is forwarded more than once.
pub(crate) fn once(plan: &Plan, stream: &Stream, entries: &[u32]) -> Once {
    let Some(redundancy) = stream.redundancy.as_deref().filter(|_| entries.len() > 1) else {
        return Once::No;
    };
    if let Some(recovery) = &redundancy.recovery {
        return match recovery.algorithm {
            Algorithm::Vector { history } => Once::Recovery { memory: ps(recovery.reset_ns), history },
            // Match recovery remembers the last number only.
            Algorithm::Match => Once::No,
        };
    }
    let apart = |a: u32, b: u32| never_both(plan, stream, redundancy, a, b);
    let all = entries.iter().enumerate().all(|(n, a)| entries[..n].iter().all(|b| apart(*a, *b)));
    if all { Once::OneWay } else { Once::No }
}

/// Whether two entries follow ones that a frame reaches at the same instant, of which at most one then forwards.
fn never_both(plan: &Plan, stream: &Stream, redundancy: &Redundancy, a: u32, b: u32) -> bool {
    let path = |mut entry: u32| {
        let mut path = vec![entry];
        while let Some(parent) = stream.route[entry as usize].parent {
            path.push(parent);
            entry = parent;
        }
        path
    };
    let (a, b) = (path(a), path(b));
    // Of several lists of one entry the last one is in force.
    let spans =
        |entry: u32| redundancy.active.iter().rfind(|active| active.route == entry).map(|own| &own.spans);
    let apart = |(a, b): (u32, u32)| {
        let (Some(a), Some(b)) = (spans(a), spans(b)) else { return false };
        a.iter().all(|a| b.iter().all(|b| a.until_ns <= b.from_ns || b.until_ns <= a.from_ns))
    };
    let siblings = a.iter().flat_map(|a| b.iter().map(|b| (*a, *b)));
    // Other nodes may have a frame ready for one port before the other one.
    let at_once = |entry: u32| {
        let node = &plan.nodes[plan.ports[stream.route[entry as usize].port as usize].node as usize];
        node.cut_through_octets.is_none() && node.further.is_none() && node.host.is_none()
    };
    let mut siblings = siblings.filter(|(a, b)| {
        a != b && stream.route[*a as usize].parent == stream.route[*b as usize].parent && at_once(*a)
    });
    siblings.any(apart)
}
