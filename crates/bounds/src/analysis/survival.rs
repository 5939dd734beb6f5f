//! Whether a stream loses no frame if links or nodes fail.
//!
//! A failure takes all frames of the paths through it, from any instant on, and moves none: so all bounds on arrivals
//! still hold, and what remains is that one of the other paths loses nothing.

use crate::analysis::delivery::Delivery;
use crate::reason::Reason;
use crate::report::Survival;
use tsn_plan::{Destination, Survives};

/// Most sets of failures that are examined one by one.
const MOST_SETS: usize = 50_000;

/// A link, by one of its ports, or a node.
#[derive(Copy, Clone)]
enum Part {
    Link(u32),
    Node(u32),
}

/// Whether every frame reaches a listener, whichever of the parts fail.
pub(crate) fn survives(delivery: &Delivery<'_>, listener: &Destination, required: &Survives) -> Survival {
    let links = required.links.iter().map(|port| Part::Link(*port));
    let nodes = required.nodes.iter().filter(|node| ![delivery.stream.talker, listener.node].contains(node));
    let parts: Vec<Part> = links.chain(nodes.map(|node| Part::Node(*node))).collect();
    // Without some of the failures, no more frames are lost.
    let count = parts.len().min(required.failures as usize);
    let mut set: Vec<usize> = (0..count).collect();
    let mut found = None;
    for _ in 0..MOST_SETS {
        let failed: Vec<Part> = set.iter().map(|place| parts[*place]).collect();
        if let Some(why) = loses(delivery, listener, &failed) {
            // Sets without another path are worse than those whose other paths may lose frames.
            if matches!(why, Reason::Carries { .. }) {
                return Survival { failures: required.failures, reason: Some(why), carried: true };
            }
            found.get_or_insert(why);
        }
        if !next(&mut set, parts.len()) {
            return Survival { failures: required.failures, reason: found, carried: false };
        }
    }
    Survival { failures: required.failures, reason: Some(Reason::TooLarge), carried: true }
}

/// The next set of as many places below `all`, in order; false after the last one.
fn next(set: &mut [usize], all: usize) -> bool {
    let count = set.len();
    let Some(moves) = (0..count).rev().find(|place| set[*place] < all - (count - place)) else {
        return false;
    };
    set[moves] += 1;
    for place in moves + 1..count {
        set[place] = set[place - 1] + 1;
    }
    true
}

/// Why frames are lost if these parts fail.
fn loses(delivery: &Delivery<'_>, listener: &Destination, failed: &[Part]) -> Option<Reason> {
    let ports = &delivery.plan.ports;
    let fails = |port: u32, part: &Part| {
        let peer = ports[port as usize].peer;
        match part {
            Part::Link(link) => [port, peer].contains(link),
            Part::Node(node) => [port, peer].iter().any(|port| ports[*port as usize].node == *node),
        }
    };
    let down: Vec<bool> =
        delivery.stream.route.iter().map(|hop| failed.iter().any(|part| fails(hop.port, part))).collect();
    let why = delivery.lost(listener.route, &down)?;
    let name = |part: &Part| match part {
        Part::Link(port) => format!("the link {}", ports[*port as usize].name.replace(" -> ", " -- ")),
        Part::Node(node) => format!("the node {}", delivery.plan.nodes[*node as usize].name),
    };
    let parts: Vec<String> = failed.iter().map(name).collect();
    let (parts, several) = (parts.join(" and "), failed.len() > 1);
    if failed.is_empty() {
        Some(why)
    } else if delivery.leads(listener.route, &down) {
        Some(Reason::Without { parts, why: Box::new(why) })
    } else {
        Some(Reason::Carries { parts, several })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_set_is_examined_once() {
        let mut set = vec![0, 1];
        let mut all = vec![set.clone()];
        while next(&mut set, 4) {
            all.push(set.clone());
        }
        assert_eq!(all, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
        assert!(!next(&mut [], 3) && !next(&mut [0], 1));
    }
}
