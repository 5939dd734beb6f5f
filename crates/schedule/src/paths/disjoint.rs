//! Disjoint paths for member streams: they share only links that every path has to take.
//!
//! IEEE 802.1CB-2017, 6. The paths come from maximum flow with augmenting paths (Edmonds and Karp 1972).

use super::routes::Routes;
use crate::problem::{Problem, Stream, Tree, TreeEntry};
use std::collections::{HashMap, HashSet, VecDeque};

impl Routes {
    /// One path for each member stream. The paths are disjoint between the node where they split and the node where
    /// they merge. `None` if the network has fewer disjoint paths.
    pub(crate) fn disjoint(&self, problem: &Problem, stream: &Stream) -> Option<Tree> {
        let (mut begin, mut end) = (stream.talker, *stream.listeners.first()?);
        let (mut before, mut behind) = (Vec::new(), Vec::new());
        let is_end = |node: u32| node == stream.talker || stream.listeners.contains(&node);
        // An end station usually has one link, which all member streams share.
        while let ([link], true) = (self.out(begin), begin != end && before.len() <= problem.nodes.len()) {
            before.push(*link);
            begin = problem.links[*link as usize].to;
        }
        while let ([link], true) = (self.inward(end), begin != end && behind.len() <= problem.nodes.len()) {
            behind.push(*link);
            end = problem.links[*link as usize].from;
        }
        behind.reverse();
        if begin == end {
            // Only one bridge is between them, so no two disjoint paths exist.
            return None;
        }
        let passes = |node: u32| problem.nodes[node as usize].forwards || is_end(node);
        let mut used: HashSet<u32> = HashSet::new();
        for _ in 0..stream.copies {
            for step in self.augment(problem, begin, end, &used, &passes)? {
                match step {
                    Step::Along(link) => used.insert(link),
                    Step::Against(link) => used.remove(&link),
                };
            }
        }
        let mut tree = Tree::new();
        let mut parent = None;
        let push = |tree: &mut Tree, link: u32, parent: &mut Option<u32>| {
            tree.push(TreeEntry { link, parent: *parent });
            *parent = Some(tree.len() as u32 - 1);
        };
        before.iter().for_each(|link| push(&mut tree, *link, &mut parent));
        let parted = parent;
        for _ in 0..stream.copies {
            let (mut node, mut parent) = (begin, parted);
            while node != end {
                let link = *self.out(node).iter().find(|link| used.contains(link))?;
                used.remove(&link);
                push(&mut tree, link, &mut parent);
                node = problem.links[link as usize].to;
            }
            behind.iter().for_each(|link| push(&mut tree, *link, &mut parent));
        }
        Some(tree)
    }

    /// The shortest path in the residual network: it may cancel links that earlier paths use in the other direction.
    fn augment(
        &self,
        problem: &Problem,
        begin: u32,
        end: u32,
        used: &HashSet<u32>,
        passes: &impl Fn(u32) -> bool,
    ) -> Option<Vec<Step>> {
        let mut by: HashMap<u32, (u32, Step)> = HashMap::new();
        let mut next = VecDeque::from([begin]);
        while let Some(node) = next.pop_front() {
            if node == end {
                let mut steps = Vec::new();
                let mut node = end;
                while node != begin {
                    let (from, step) = by.get(&node)?;
                    steps.push(*step);
                    node = *from;
                }
                return Some(steps);
            }
            let against = self
                .inward(node)
                .iter()
                .filter(|link| used.contains(link))
                .map(|link| (problem.links[*link as usize].from, Step::Against(*link)));
            let along = self
                .out(node)
                .iter()
                .filter(|link| !used.contains(link))
                .map(|link| (problem.links[*link as usize].to, Step::Along(*link)));
            for (to, step) in against.chain(along) {
                // Cancel a link before using its other direction: both are the same cable.
                if to == begin || by.contains_key(&to) || !passes(to) {
                    continue;
                }
                by.insert(to, (node, step));
                next.push_back(to);
            }
        }
        None
    }
}

#[derive(Copy, Clone)]
enum Step {
    Along(u32),
    Against(u32),
}
