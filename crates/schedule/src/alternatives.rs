//! A stream's possible ways with the times of every hop, for engines that search in another way.

use crate::problem::{Problem, Stream, Tree, TreeEntry};
use crate::routes::{Routes, WHOLE};
use serde::{Deserialize, Serialize};
use tsn_units::{Octets, PREAMBLE, START_FRAME_DELIMITER, wire_time};

/// One way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Way {
    /// Its links.
    pub tree: Tree,
    /// By entry.
    pub steps: Vec<Step>,
}

/// What one entry of a way takes; all times in ps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// In the node that the link leaves, from the last bit in; 0 at the talker.
    pub processing_ps: i64,
    /// By frame: first bit out to when the next frame can begin.
    pub wire_ps: Vec<i64>,
    /// By frame: first bit out to last bit in.
    pub arrives_ps: Vec<i64>,
    /// Whether a listener is at its end.
    pub listens: bool,
}

/// Up to `most` ways of every stream, the shortest first; later ones avoid what earlier ones of the same stream took.
#[must_use]
pub fn ways(problem: &Problem, most: u32) -> Vec<Vec<Way>> {
    let mut routes = Routes::new(problem);
    let mut all = Vec::with_capacity(problem.streams.len());
    for stream in &problem.streams {
        let mut found: Vec<Tree> = Vec::new();
        routes.load.fill(0);
        for attempt in 0..most.max(1) {
            let Some(tree) = routes.tree(problem, stream, attempt) else { break };
            tree.iter().for_each(|entry| routes.load[entry.link as usize] += WHOLE / 4);
            if !found.contains(&tree) {
                found.push(tree);
            }
        }
        routes.load.fill(0);
        all.push(found.into_iter().map(|tree| way(problem, stream, tree)).collect());
    }
    all
}

fn way(problem: &Problem, stream: &Stream, tree: Tree) -> Way {
    let step = |(place, entry): (usize, &TreeEntry)| {
        let link = &problem.links[entry.link as usize];
        let tag = stream.more_octets.get(place).copied().unwrap_or(0);
        let wire = |octets: &u32| wire_time(Octets(octets + tag), link.rate()).ps();
        let whole = |octets: &u32| Octets(octets + tag + PREAMBLE.0 + START_FRAME_DELIMITER.0);
        let arrives = |octets: &u32| link.rate().time(whole(octets)).ps() + link.propagation_ps;
        Step {
            processing_ps: entry.parent.map_or(0, |parent| {
                let node = problem.links[tree[parent as usize].link as usize].to;
                problem.nodes[node as usize].processing_ps
            }),
            wire_ps: stream.frames.iter().map(wire).collect(),
            arrives_ps: stream.frames.iter().map(arrives).collect(),
            listens: stream.listeners.contains(&link.to),
        }
    };
    let steps = tree.iter().enumerate().map(step).collect();
    Way { tree, steps }
}
