//! Candidate paths of a stream with the times of every hop, for other scheduling engines.

use super::routes::{Routes, WHOLE};
use crate::problem::{Problem, Stream, Tree, TreeEntry};
use serde::{Deserialize, Serialize};
use tsn_units::{Octets, PREAMBLE, START_FRAME_DELIMITER, wire_time};

/// One path that a stream may take, as a tree from its talker to its listeners.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CandidatePath {
    /// The links of the path.
    pub tree: Tree,
    /// The times of each entry of `tree`.
    pub steps: Vec<PathHop>,
}

/// The times of one entry of a path, all in ps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathHop {
    /// Processing in the node that the link leaves; 0 at the talker.
    pub processing_ps: i64,
    /// By frame: from its first bit out to the earliest first bit of the next frame.
    pub wire_ps: Vec<i64>,
    /// By frame: from its first bit out to its last bit in at the next node.
    pub arrives_ps: Vec<i64>,
    /// Whether the link ends at a listener.
    pub listens: bool,
}

/// Up to `most` paths of every stream, the shortest first. Later paths avoid links of the earlier ones.
#[must_use]
pub fn candidate_paths(problem: &Problem, most: u32) -> Vec<Vec<CandidatePath>> {
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
        all.push(found.into_iter().map(|tree| candidate(problem, stream, tree)).collect());
    }
    all
}

fn candidate(problem: &Problem, stream: &Stream, tree: Tree) -> CandidatePath {
    let step = |(place, entry): (usize, &TreeEntry)| {
        let link = &problem.links[entry.link as usize];
        let tag = stream.more_octets.get(place).copied().unwrap_or(0);
        let wire = |octets: &u32| wire_time(Octets(octets + tag), link.rate()).ps();
        let whole = |octets: &u32| Octets(octets + tag + PREAMBLE.0 + START_FRAME_DELIMITER.0);
        let arrives = |octets: &u32| link.rate().time(whole(octets)).ps() + link.propagation_ps;
        PathHop {
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
    CandidatePath { tree, steps }
}
