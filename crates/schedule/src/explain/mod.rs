//! Reasons why streams have no place. Certain reasons come first, each with its numbers and a remedy.
//!
//! If no reason is certain, the explanation is a set of streams that did not fit together. QuickXplain (Junker 2004)
//! finds the set with first fit as its test: the set is small, but it may not be the smallest.

mod common_times;
mod messages;

use crate::engine::Engine;
use crate::gates::GateRefusal;
use crate::paths::Routes;
use crate::periods::gcd;
use crate::placement::Refusal;
use crate::problem::{Problem, Stream, Tree, TreeEntry};
use crate::shape::Shape;
use crate::solve::{Effort, place_all};
use common_times::{Need, too_much};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashSet, VecDeque};
use tsn_units::{INTER_FRAME_GAP, Octets, wire_time};

/// A reason why streams have no place. Streams, links and nodes are indices into the problem's lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[allow(missing_docs)]
pub enum Reason {
    /// No path leads from the talker to this listener.
    Unreachable { stream: u32, listener: u32 },
    /// The network has fewer disjoint paths than the stream has member streams.
    NotDisjoint { stream: u32, copies: u8 },
    /// A frame is longer than the longest frame of a port.
    Frame { stream: u32, link: u32, octets: u32, most: u32 },
    /// The frames of one period occupy a link for longer than the period.
    Period { stream: u32, link: u32, needs_ps: i64, period_ns: i64 },
    /// The stream misses its deadline even alone. A rate of `rate_bps` on all its links would be enough.
    Deadline {
        stream: u32,
        deadline_ns: i64,
        smallest_ps: i64,
        margin_ps: i64,
        hops: Vec<Hop>,
        rate_bps: Option<u64>,
    },
    /// The stream exceeds its jitter limit even alone.
    Jitter { stream: u32, limit_ns: i64, spread_ps: i64, margins_ps: i64 },
    /// Two streams that must share a link collide there in some period, whatever their releases.
    Pair { link: u32, streams: [u32; 2], needs_ps: [i64; 2], common_ps: i64 },
    /// More than two streams must share a link, and some of them collide whatever their releases: modulo `common_ps`
    /// no two of them may overlap, and they need `needs_ps` of it.
    Together { link: u32, streams: Vec<u32>, needs_ps: Vec<i64>, common_ps: i64 },
    /// The streams that must take a link need more than its whole time.
    Link { link: u32, ppm: i64, streams: Vec<Share> },
    /// The gate control list of a link exceeds its hardware.
    Gates { refusal: GateRefusal },
    /// First fit found no room for `stream` beside these streams. `minimal`: first fit finds room if any one of them
    /// is left out.
    Conflict { stream: u32, streams: Vec<u32>, minimal: bool },
    /// All other streams have a place without these.
    Without { streams: Vec<u32> },
}

/// The parts of a delay on one hop, ps.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hop {
    /// The link.
    pub link: u32,
    /// Time from the frame's arrival in the preceding node to its last bit out, without processing and propagation.
    pub wire_ps: i64,
    /// Propagation delay of the link.
    pub propagation_ps: i64,
    /// Processing time of the node before the link.
    pub before_ps: i64,
}

/// The share of a link's time that a stream needs.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// The stream.
    pub stream: u32,
    /// Parts per million.
    pub ppm: i64,
}

/// How much effort an explanation may take.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Depth {
    /// Number of streams without a place that are explained one by one.
    pub streams: u32,
    /// Number of sets of streams that first fit may test.
    pub questions: u32,
    /// The largest set that is tested.
    pub largest: u32,
}

impl Default for Depth {
    fn default() -> Self {
        Self { streams: 8, questions: 40, largest: 200 }
    }
}

/// Rates of Ethernet in Mbit/s; an explanation names the slowest one with which a stream would meet its deadline.
const RATES: [u64; 9] = [10, 100, 1_000, 2_500, 5_000, 10_000, 25_000, 40_000, 100_000];

/// Explains refusals; equal reasons appear once. The problem must have passed [`Problem::check`].
#[must_use]
pub fn explain(problem: &Problem, refused: &[(u32, Refusal)], depth: &Depth) -> Vec<Reason> {
    let mut reasons: Vec<Reason> = Vec::new();
    let mut add = |reason: Reason| {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    };
    let mut routes = Routes::new(problem);
    let mut taken: Option<Vec<Vec<(u32, i64)>>> = None;
    let mut without = Vec::new();
    let mut left = depth.streams;
    for (number, refusal) in refused {
        let Some(stream) = problem.streams.get(*number as usize) else { continue };
        match refusal {
            Refusal::NoRoom | Refusal::Changed => {
                without.push(*number);
                if left > 0 {
                    left -= 1;
                    let all = problem.streams.iter();
                    let taken = taken
                        .get_or_insert_with(|| all.map(|own| takes(problem, &mut routes, own)).collect());
                    no_room(problem, &routes, taken, *number, depth).into_iter().for_each(&mut add);
                }
            }
            other => add(alone(problem, &mut routes, *number, stream, other)),
        }
    }
    if !without.is_empty() {
        add(Reason::Without { streams: without });
    }
    reasons
}

/// The reason why a stream has no place even in an empty network.
fn alone(problem: &Problem, routes: &mut Routes, number: u32, stream: &Stream, refusal: &Refusal) -> Reason {
    match *refusal {
        Refusal::Frame { link, octets, most } => Reason::Frame { stream: number, link, octets, most },
        Refusal::Period { link, needs_ps } => {
            Reason::Period { stream: number, link, needs_ps, period_ns: stream.period_ns }
        }
        Refusal::Jitter { spread_ps, margins_ps } => {
            let limit_ns = stream.jitter_ns.unwrap_or(0);
            Reason::Jitter { stream: number, limit_ns, spread_ps, margins_ps }
        }
        Refusal::Deadline { smallest_ps } => {
            let tree = routes.tree(problem, stream, 0).unwrap_or_default();
            deadline(problem, number, stream, &tree, smallest_ps)
        }
        _ => {
            let single = Stream { copies: 1, ..stream.clone() };
            let to = |listener: &&u32| {
                let one = Stream { listeners: vec![**listener], ..single.clone() };
                routes.tree(problem, &one, 0).is_none()
            };
            match stream.listeners.iter().find(to) {
                Some(listener) => Reason::Unreachable { stream: number, listener: *listener },
                None => Reason::NotDisjoint { stream: number, copies: stream.copies },
            }
        }
    }
}

fn deadline(problem: &Problem, number: u32, stream: &Stream, tree: &Tree, smallest_ps: i64) -> Reason {
    let shape = Shape::new(problem, stream, tree, &[], &[]);
    // The hops to the listener that the frames reach last.
    let mut hops = Vec::new();
    let ends = |place: &usize| stream.listeners.contains(&problem.links[tree[*place].link as usize].to);
    // When the last bit of the last frame is at the end of a link.
    let end = |place: usize| {
        let (part, link) = (&shape.uses[place], &problem.links[tree[place].link as usize]);
        part.at + part.len - link.margin_ps - link.rate().time(INTER_FRAME_GAP).ps() + link.propagation_ps
    };
    let mut next = (0..tree.len()).filter(ends).max_by_key(|place| end(*place));
    while let Some(place) = next {
        let link = &problem.links[tree[place].link as usize];
        let before = tree[place].parent.map(|parent| parent as usize);
        let before_ps = before.map_or(0, |parent| {
            let node = problem.links[tree[parent].link as usize].to;
            problem.nodes[node as usize].processing_ps
        });
        let wire_ps = end(place) - before.map_or(0, end) - before_ps - link.propagation_ps;
        hops.push(Hop { link: tree[place].link, wire_ps, propagation_ps: link.propagation_ps, before_ps });
        next = before;
    }
    hops.reverse();
    let in_time = |rate: &u64| {
        let (nodes, links) = (problem.nodes.clone(), problem.links.clone());
        let mut faster =
            Problem { nodes, links, streams: Vec::new(), granularity_ns: problem.granularity_ns };
        tree.iter().for_each(|entry| faster.links[entry.link as usize].rate_bps = *rate);
        let shape = Shape::new(&faster, stream, tree, &[], &[]);
        shape.delay + shape.late <= stream.deadline_ns * 1_000
    };
    let rate_bps = RATES.into_iter().map(|mega| mega * 1_000_000).find(in_time);
    let (deadline_ns, margin_ps) = (stream.deadline_ns, shape.late);
    Reason::Deadline { stream: number, deadline_ns, smallest_ps, margin_ps, hops, rate_bps }
}

/// Certain reasons on links that a stream cannot avoid; without any, a set of streams that did not fit.
fn no_room(
    problem: &Problem,
    routes: &Routes,
    taken: &[Vec<(u32, i64)>],
    number: u32,
    depth: &Depth,
) -> Vec<Reason> {
    let stream = &problem.streams[number as usize];
    let mut reasons = Vec::new();
    let mut near: BTreeSet<u32> = BTreeSet::new();
    // Margins separate frames that do not wait for each other: frames of one talker, and frames of which one is
    // absent in some periods of the other. Frames in one queue may follow each other without a margin.
    let margins = |link: u32, stream: &Stream| {
        let link = &problem.links[link as usize];
        if link.from == stream.talker { 2 * link.margin_ps } else { 0 }
    };
    let must =
        |stream: &Stream, link| stream.tree.is_some() || !reaches_without(problem, routes, stream, link);
    for (link, needs) in &taken[number as usize] {
        let (link, needs) = (*link, *needs + margins(*link, stream));
        let mut all = vec![Need { stream: number, takes: needs, period: stream.period_ns * 1_000 }];
        let mut shares = vec![Share { stream: number, ppm: ppm(needs, stream) }];
        let certain = must(stream, link);
        for (other, own) in problem.streams.iter().enumerate().filter(|(other, _)| *other != number as usize)
        {
            let Some((_, others)) = taken[other].iter().find(|part| part.0 == link) else { continue };
            near.insert(other as u32);
            if !certain || !must(own, link) {
                continue;
            }
            let others = others + margins(link, own);
            shares.push(Share { stream: other as u32, ppm: ppm(others, own) });
            all.push(Need { stream: other as u32, takes: others, period: own.period_ns * 1_000 });
            let common_ps = gcd(stream.period_ns, own.period_ns) * 1_000;
            let divides = common_ps == 1_000 * stream.period_ns.min(own.period_ns);
            let own_margin = problem.links[link as usize].margin_ps;
            let more = if divides || margins(link, stream) > 0 { 0 } else { 2 * own_margin };
            let needs_ps = [needs + more, others + more];
            if needs_ps[0] + needs_ps[1] > common_ps {
                let streams = [number, other as u32];
                reasons.push(Reason::Pair { link, streams, needs_ps, common_ps });
            }
        }
        let known = reasons.len();
        let sum = shares.iter().map(|share| share.ppm).sum();
        if sum > 1_000_000 {
            shares.sort_by_key(|share| (std::cmp::Reverse(share.ppm), share.stream));
            reasons.push(Reason::Link { link, ppm: sum, streams: shares });
        }
        let alike = |reason: &Reason| matches!(reason, Reason::Pair { .. } | Reason::Together { .. });
        if reasons.len() == known
            && !reasons.iter().any(alike)
            && let Some((common_ps, together)) = too_much(&all)
        {
            let (streams, needs_ps) = together.into_iter().unzip();
            reasons.push(Reason::Together { link, streams, needs_ps, common_ps });
        }
    }
    if reasons.is_empty() {
        let near: Vec<u32> = near.into_iter().collect();
        let mut judge = Judge { problem, number, left: depth.questions };
        if near.len() <= depth.largest as usize
            && let Some(streams) = judge.conflict(&near)
        {
            reasons.push(Reason::Conflict { stream: number, streams, minimal: false });
        }
    }
    reasons
}

/// The share of a link's time that a stream needs, in parts per million.
fn ppm(needs: i64, stream: &Stream) -> i64 {
    (i128::from(needs) * 1_000 / i128::from(stream.period_ns)) as i64
}

/// The links of a stream's shortest path, each with the least time (ps) that the frames of one period occupy it: back
/// to back and without margins, as queued frames are sent.
fn takes(problem: &Problem, routes: &mut Routes, stream: &Stream) -> Vec<(u32, i64)> {
    let Some(tree) = routes.tree(problem, stream, 0) else { return Vec::new() };
    let mut seen = HashSet::new();
    let takes = |entry: &TreeEntry| {
        let rate = problem.links[entry.link as usize].rate();
        let frames = stream.frames.iter().map(|octets| wire_time(Octets(*octets), rate).ps());
        (entry.link, frames.sum())
    };
    tree.iter().filter(|entry| seen.insert(entry.link)).map(takes).collect()
}

/// Whether the stream can reach all its listeners without the link `without`.
fn reaches_without(problem: &Problem, routes: &Routes, stream: &Stream, without: u32) -> bool {
    let mut reached = vec![false; problem.nodes.len()];
    reached[stream.talker as usize] = true;
    let mut next = VecDeque::from([stream.talker]);
    while let Some(node) = next.pop_front() {
        for link in routes.out(node).iter().filter(|link| **link != without) {
            let to = problem.links[*link as usize].to;
            if !std::mem::replace(&mut reached[to as usize], true) && problem.nodes[to as usize].forwards {
                next.push_back(to);
            }
        }
    }
    stream.listeners.iter().all(|listener| reached[*listener as usize])
}

/// Tests with first fit whether sets of streams fit beside one stream.
struct Judge<'a> {
    problem: &'a Problem,
    number: u32,
    left: u32,
}

impl Judge<'_> {
    /// A set of other streams beside which the stream did not fit. `None` if the stream fits beside all, or if no test
    /// is left.
    fn conflict(&mut self, others: &[u32]) -> Option<Vec<u32>> {
        if self.fits(&[], others)? {
            return None;
        }
        let mut set = self.reduce(&[], false, others).unwrap_or_else(|| others.to_vec());
        set.sort_unstable();
        Some(set)
    }

    /// QuickXplain: the streams of `from` that cause the conflict; the streams of `with` stay.
    fn reduce(&mut self, with: &[u32], grown: bool, from: &[u32]) -> Option<Vec<u32>> {
        if grown && !self.fits(with, &[])? {
            return Some(Vec::new());
        }
        if from.len() <= 1 {
            return Some(from.to_vec());
        }
        let (one, two) = from.split_at(from.len() / 2);
        let mut beside = [with, one].concat();
        // If no test is left, the half stays as it is: together with the rest it is still a set that did not fit.
        let second = self.reduce(&beside, !one.is_empty(), two).unwrap_or_else(|| two.to_vec());
        beside = [with, &second].concat();
        let first = self.reduce(&beside, !second.is_empty(), one).unwrap_or_else(|| one.to_vec());
        Some([first, second].concat())
    }

    fn fits(&mut self, some: &[u32], more: &[u32]) -> Option<bool> {
        self.left = self.left.checked_sub(1)?;
        let numbers = [self.number].into_iter().chain(some.iter().chain(more).copied());
        let streams = numbers.map(|number| self.problem.streams[number as usize].clone()).collect();
        let Problem { nodes, links, granularity_ns, .. } = self.problem;
        let (nodes, links) = (nodes.clone(), links.clone());
        let part = Problem { nodes, links, streams, granularity_ns: *granularity_ns };
        let mut engine = Engine::new(part);
        Some(place_all(&mut engine, &Effort { steps: 20, ..Effort::default() }).0.is_empty())
    }
}
