//! Paths through the network with the fewest hops; among those, the paths over the links with the least load.

use crate::problem::{Problem, Stream, Tree, TreeEntry};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

/// The load of a link is counted in parts of its time; this is the whole.
pub(crate) const WHOLE: i64 = 1_000_000;

/// Distance of a node that no path leads to.
const FAR: u32 = u32::MAX;
/// No link.
const NONE: u32 = u32::MAX;

/// The network as neighbours of nodes, and the load of its links.
#[derive(Clone, Debug)]
pub(crate) struct Routes {
    /// By node: the place of its first link in `links`.
    first_out: Vec<u32>,
    out: Vec<u32>,
    first_in: Vec<u32>,
    into: Vec<u32>,
    /// By link: the load, in parts of [`WHOLE`].
    pub load: Vec<i64>,
    /// By node: hops from a node in the middle of the network.
    depth: Vec<u32>,
    /// By node that is a destination: hops from every forwarding node.
    hops: HashMap<u32, Vec<u32>>,
    search: Search,
}

/// State of one search for a cheapest path, kept for the next search. An entry of a node is valid if its `round` is
/// the current one.
#[derive(Clone, Debug, Default)]
struct Search {
    round: u32,
    rounds: Vec<u32>,
    cost: Vec<i64>,
    by: Vec<u32>,
    next: BinaryHeap<(Reverse<i64>, u32)>,
}

impl Search {
    fn begin(&mut self, nodes: usize) {
        if self.rounds.len() != nodes || self.round == u32::MAX {
            *self = Self {
                rounds: vec![0; nodes],
                cost: vec![0; nodes],
                by: vec![NONE; nodes],
                ..Self::default()
            };
        }
        self.round += 1;
        self.next.clear();
    }

    /// Enters a cheaper path to a node; false if a path as cheap is known.
    fn relax(&mut self, node: u32, cost: i64, by: u32) -> bool {
        let at = node as usize;
        if self.rounds[at] == self.round && self.cost[at] <= cost {
            return false;
        }
        (self.rounds[at], self.cost[at], self.by[at]) = (self.round, cost, by);
        self.next.push((Reverse(cost), node));
        true
    }

    /// The link by which the search reached a node.
    fn by(&self, node: u32) -> Option<u32> {
        let at = node as usize;
        (self.rounds[at] == self.round && self.by[at] != NONE).then_some(self.by[at])
    }
}

fn lists(nodes: usize, ends: impl Iterator<Item = u32> + Clone) -> (Vec<u32>, Vec<u32>) {
    let mut first = vec![0_u32; nodes + 1];
    for end in ends.clone() {
        first[end as usize + 1] += 1;
    }
    for node in 0..nodes {
        first[node + 1] += first[node];
    }
    let mut next = first.clone();
    let mut list = vec![0; first[nodes] as usize];
    for (link, end) in ends.enumerate() {
        list[next[end as usize] as usize] = link as u32;
        next[end as usize] += 1;
    }
    (first, list)
}

impl Routes {
    pub fn new(problem: &Problem) -> Self {
        let (first_out, out) = lists(problem.nodes.len(), problem.links.iter().map(|link| link.from));
        let (first_in, into) = lists(problem.nodes.len(), problem.links.iter().map(|link| link.to));
        let (load, hops) = (vec![0; problem.links.len()], HashMap::new());
        let mut routes =
            Self { first_out, out, first_in, into, load, depth: Vec::new(), hops, search: Search::default() };
        routes.depth = routes.depths(problem);
        routes
    }

    pub fn out(&self, node: u32) -> &[u32] {
        &self.out[self.first_out[node as usize] as usize..self.first_out[node as usize + 1] as usize]
    }

    pub fn inward(&self, node: u32) -> &[u32] {
        &self.into[self.first_in[node as usize] as usize..self.first_in[node as usize + 1] as usize]
    }

    /// A path for a stream; attempt 0 is the shortest path, later attempts give more weight to load. `None` if no path
    /// exists.
    pub fn tree(&mut self, problem: &Problem, stream: &Stream, attempt: u32) -> Option<Tree> {
        if let Some(tree) = &stream.tree {
            return Some(tree.clone());
        }
        if stream.copies > 1 {
            return self.disjoint(problem, stream);
        }
        let mut tree = Tree::new();
        for listener in &stream.listeners {
            if tree.iter().any(|entry| problem.links[entry.link as usize].to == *listener) {
                continue;
            }
            if tree.is_empty() && attempt == 0 {
                self.walk(problem, stream.talker, *listener, &mut tree)?;
            } else {
                self.extend_to(problem, stream.talker, *listener, attempt, &mut tree)?;
            }
        }
        Some(tree)
    }

    /// Hops from the middle of a longest shortest path, so that as many paths as possible lead straight to the middle
    /// or away from it.
    fn depths(&self, problem: &Problem) -> Vec<u32> {
        let Some(any) = problem.nodes.iter().position(|node| node.forwards) else {
            return vec![0; problem.nodes.len()];
        };
        let farthest = |table: &[u32]| {
            let reached = table.iter().enumerate().filter(|(_, hops)| **hops < FAR);
            reached
                .max_by_key(|(node, hops)| (**hops, std::cmp::Reverse(*node)))
                .map_or(any, |(node, _)| node)
        };
        let end = farthest(&self.table(problem, any as u32));
        let from_end = self.table(problem, end as u32);
        let mut middle = farthest(&from_end) as u32;
        let half = from_end[middle as usize] / 2;
        while from_end[middle as usize] > half {
            let nearer = |link: &&u32| {
                let to = problem.links[**link as usize].to as usize;
                from_end[to] < from_end[middle as usize]
            };
            let Some(link) = self.out(middle).iter().find(nearer) else { break };
            middle = problem.links[*link as usize].to;
        }
        self.table(problem, middle)
    }

    /// The release at which a stream occupies its links as streams do that pass the middle of the network at 0: ps,
    /// modulo the period. Such releases leave no gaps that are too short for other streams.
    pub fn aligned(&self, problem: &Problem, uses: &[crate::shape::Use]) -> i64 {
        let (Some(first), Some(last)) = (uses.first(), uses.last()) else { return 0 };
        let hop = (last.at - first.at) / (uses.len() as i64 - 1).max(1);
        let mut releases: Vec<i64> = uses
            .iter()
            .map(|part| {
                let link = &problem.links[part.link as usize];
                let depth = |node: u32| i64::from(self.depth[node as usize].min(1 << 20));
                let (from, to) = (depth(link.from), depth(link.to));
                let away = if problem.nodes[link.from as usize].forwards { to > from } else { to == 0 };
                (if away { from } else { -(to + 1) }) * hop - part.at
            })
            .collect();
        let middle = releases.len() / 2;
        *releases.select_nth_unstable(middle).1
    }

    /// Follows the hops to the listener, each time over the link with the least load.
    fn walk(&mut self, problem: &Problem, talker: u32, listener: u32, tree: &mut Tree) -> Option<()> {
        // Most stations are connected to one bridge, whose table serves all of them.
        let mut before = self.inward(listener).iter().map(|link| problem.links[*link as usize].from);
        let gate = before.next()?;
        let shared = !problem.nodes[listener as usize].forwards && before.all(|other| other == gate);
        let target = if shared { gate } else { listener };
        if !self.hops.contains_key(&target) {
            let table = self.table(problem, target);
            self.hops.insert(target, table);
        }
        let table = &self.hops[&target];
        let left = |node: u32| {
            if node == listener { 0 } else { table[node as usize].saturating_add(u32::from(shared)) }
        };
        let mut node = talker;
        while node != listener {
            let passable = |to: u32| to == listener || problem.nodes[to as usize].forwards;
            let ahead = |link: &u32| problem.links[*link as usize].to;
            let best = self
                .out(node)
                .iter()
                .copied()
                .filter(|link| passable(ahead(link)) && left(ahead(link)) < FAR)
                .min_by_key(|link| (left(ahead(link)), self.load[*link as usize]))?;
            if tree.len() > problem.nodes.len() {
                return None;
            }
            tree.push(TreeEntry { link: best, parent: tree.len().checked_sub(1).map(|place| place as u32) });
            node = ahead(&best);
        }
        Some(())
    }

    /// Hops to a node from all forwarding nodes.
    fn table(&self, problem: &Problem, target: u32) -> Vec<u32> {
        let mut hops = vec![FAR; problem.nodes.len()];
        hops[target as usize] = 0;
        let mut next = VecDeque::from([target]);
        while let Some(node) = next.pop_front() {
            for link in self.inward(node) {
                let from = problem.links[*link as usize].from;
                if hops[from as usize] == FAR && problem.nodes[from as usize].forwards {
                    hops[from as usize] = hops[node as usize] + 1;
                    next.push_back(from);
                }
            }
        }
        hops
    }

    /// Extends a tree to one more listener by the cheapest path: a hop costs one, and more on loaded links.
    fn extend_to(
        &mut self,
        problem: &Problem,
        talker: u32,
        listener: u32,
        attempt: u32,
        tree: &mut Tree,
    ) -> Option<()> {
        let mut search = std::mem::take(&mut self.search);
        search.begin(problem.nodes.len());
        search.relax(talker, 0, NONE);
        for entry in tree.iter() {
            let node = problem.links[entry.link as usize].to;
            if problem.nodes[node as usize].forwards {
                search.relax(node, 0, NONE);
            }
        }
        while let Some((Reverse(so_far), node)) = search.next.pop() {
            if search.cost[node as usize] < so_far {
                continue;
            }
            if node == listener {
                break;
            }
            for link in self.out(node) {
                let to = problem.links[*link as usize].to;
                if to != listener && !problem.nodes[to as usize].forwards {
                    continue;
                }
                let load = self.load[*link as usize].min(WHOLE) * i64::from(attempt);
                search.relax(to, so_far + WHOLE + load, *link);
            }
        }
        let mut path = Vec::new();
        let mut node = listener;
        while let Some(link) = search.by(node) {
            path.push(link);
            node = problem.links[link as usize].from;
        }
        self.search = search;
        if path.is_empty() {
            return None;
        }
        for link in path.into_iter().rev() {
            let from = problem.links[link as usize].from;
            let leads = |entry: &TreeEntry| problem.links[entry.link as usize].to == from;
            let parent =
                if from == talker { None } else { tree.iter().position(leads).map(|place| place as u32) };
            tree.push(TreeEntry { link, parent });
        }
        Some(())
    }
}
