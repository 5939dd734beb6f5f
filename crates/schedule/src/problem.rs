//! What is to be scheduled.

use crate::periods::gcd;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use thiserror::Error;
use tsn_units::BitRate;

/// The longest period, in ns: what a gate control list's cycle can be in the field, and far from overflow.
const LONGEST_PERIOD_NS: i64 = 1_000_000_000;

/// Most distinct periods, and how often one may have to be repeated to meet another at every phase there is.
const MOST_PERIODS: usize = 256;
const MOST_TURNS: i64 = 1 << 16;

/// A node.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// From a frame's last bit in to its first bit out at the earliest, ps.
    pub processing_ps: i64,
    /// Whether frames can pass through it.
    pub forwards: bool,
}

/// One direction of a link.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Where frames leave.
    pub from: u32,
    /// Where they arrive.
    pub to: u32,
    /// bit/s.
    pub rate_bps: u64,
    /// Last bit out to last bit in, ps.
    pub propagation_ps: i64,
    /// Kept free before and behind every frame, ps: clock error and jitter of the link.
    pub margin_ps: i64,
    /// Queues for time-triggered streams at its egress; frames that wait are alone in theirs. At most 8.
    pub queues: u8,
    /// What the hardware at its egress can do.
    #[serde(default)]
    pub limits: Limits,
}

/// What the hardware of a port can do. IEEE 802.1Q-2022, 12.29.1.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Longest gate control list (`SupportedListMax`).
    pub entries: u32,
    /// Shortest interval of an entry, ns.
    pub shortest_interval_ns: i64,
    /// Intervals are whole multiples of this, ns (`TickGranularity`).
    pub granularity_ns: i64,
    /// Longest cycle, ns (`SupportedCycleMax`).
    pub longest_cycle_ns: i64,
    /// Longest frame that the port takes, octets.
    pub longest_frame: u32,
}

impl Default for Limits {
    /// Nothing that a real port could not do.
    fn default() -> Self {
        Self {
            entries: 1 << 16,
            shortest_interval_ns: 1,
            granularity_ns: 1,
            longest_cycle_ns: LONGEST_PERIOD_NS,
            longest_frame: 1 << 16,
        }
    }
}

/// One time-triggered stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// Who sends.
    pub talker: u32,
    /// Who receives; more than one for multicast.
    pub listeners: Vec<u32>,
    /// ns.
    pub period_ns: i64,
    /// The frames of one period, sent back to back; destination address to FCS, octets.
    pub frames: Vec<u32>,
    /// Release to last bit in at the last listener, ns.
    pub deadline_ns: i64,
    /// Earliest release in its period, ns.
    pub earliest_ns: i64,
    /// Latest release, ns; less than a period after the earliest.
    pub latest_ns: i64,
    /// The path, where it is not free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<Tree>,
    /// Over how many disjoint paths copies go to the listener (IEEE 802.1CB); one listener only, if more than 1 and
    /// `tree` is not given.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub copies: u8,
    /// What copies' tags add to a frame, octets by entry of `tree`; nothing where it is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more_octets: Vec<u32>,
    /// By how much the delay at a listener may vary, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter_ns: Option<i64>,
    /// Its queue, where that is not free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<u8>,
}

fn one() -> u8 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_one(copies: &u8) -> bool {
    *copies == 1
}

/// A path through the network: parents come before children. Behind the node where copies meet, each copy has entries of
/// its own: a frame comes by whichever arrives first, so the time of each is reserved.
pub type Tree = Vec<TreeEntry>;

/// One link of a path.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeEntry {
    /// The link.
    pub link: u32,
    /// The entry that leads here; none at the talker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<u32>,
}

/// A network and its streams.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Problem {
    /// Streams and links refer to nodes by their place here.
    pub nodes: Vec<Node>,
    /// Every direction of every link.
    pub links: Vec<Link>,
    /// What is to be placed.
    pub streams: Vec<Stream>,
    /// Releases are whole multiples of this, ns.
    pub granularity_ns: i64,
}

/// Why a problem is none.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{what} {number}: {problem}")]
pub struct ProblemError {
    /// `link` or `stream`.
    pub what: &'static str,
    /// Which.
    pub number: usize,
    /// What is wrong with it.
    pub problem: &'static str,
}

/// Whether periods fold onto each other without getting out of hand.
pub(crate) fn check_periods(distinct: &[i64]) -> Result<(), ProblemError> {
    let coarse = |p: &i64| distinct.iter().all(|q| p / gcd(*p, *q) <= MOST_TURNS);
    if distinct.len() <= MOST_PERIODS && distinct.iter().all(coarse) {
        return Ok(());
    }
    let problem = "the periods have too little in common to be folded onto each other";
    Err(ProblemError { what: "problem", number: 0, problem })
}

impl Link {
    pub(crate) fn rate(&self) -> BitRate {
        BitRate(self.rate_bps)
    }
}

impl Problem {
    /// Whether every reference and number is one that can be worked with.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check(&self) -> Result<(), ProblemError> {
        let node = |number: u32| (number as usize) < self.nodes.len();
        let problem = |what, number, problem| Err(ProblemError { what, number, problem });
        if !(1..=LONGEST_PERIOD_NS).contains(&self.granularity_ns) {
            return problem("problem", 0, "the granularity is not between 1 ns and 1 s");
        }
        let sane = |ps: i64| (0..=1_000 * LONGEST_PERIOD_NS).contains(&ps);
        if let Some(number) = self.nodes.iter().position(|node| !sane(node.processing_ps)) {
            return problem("node", number, "processing is not between 0 and 1 s");
        }
        for (number, link) in self.links.iter().enumerate() {
            if !node(link.from) || !node(link.to) || link.from == link.to {
                return problem("link", number, "its ends are not two nodes");
            }
            if !(1..=8).contains(&link.queues) {
                return problem("link", number, "queues are not 1 to 8");
            }
            if link.rate_bps < 1_000_000
                || link.rate_bps > 1_000_000_000_000
                || !sane(link.propagation_ps)
                || !sane(link.margin_ps)
            {
                return problem("link", number, "rate, propagation or margin are out of range");
            }
        }
        for (number, link) in self.links.iter().enumerate() {
            let Limits { entries, shortest_interval_ns, granularity_ns, longest_cycle_ns, longest_frame } =
                link.limits;
            let time = |ns| (1..=LONGEST_PERIOD_NS).contains(&ns);
            let all = [shortest_interval_ns, granularity_ns, longest_cycle_ns];
            if entries == 0 || longest_frame == 0 || !all.into_iter().all(time) {
                return problem("link", number, "limits are not 1 ns to 1 s, or 0");
            }
        }
        for (number, stream) in self.streams.iter().enumerate() {
            self.check_stream(stream).or_else(|words| problem("stream", number, words))?;
        }
        let distinct: BTreeSet<i64> = self.streams.iter().map(|stream| stream.period_ns).collect();
        check_periods(&distinct.into_iter().collect::<Vec<i64>>())
    }

    /// The same for one stream.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn check_stream(&self, stream: &Stream) -> Result<(), &'static str> {
        let node = |number: u32| (number as usize) < self.nodes.len();
        if !node(stream.talker) || stream.listeners.is_empty() || !stream.listeners.iter().all(|n| node(*n)) {
            return Err("talker or listeners are no nodes");
        }
        let several = stream.copies > 1 && stream.listeners.len() > 1 && stream.tree.is_none();
        if stream.copies == 0 || stream.copies > 8 || several {
            return Err("copies are not 1 to 8, or go to several listeners by paths that are free");
        }
        let tags = stream.more_octets.len();
        if tags > 0 && stream.tree.as_ref().is_none_or(|tree| tree.len() != tags) {
            return Err("tags are not as many as entries of the path");
        }
        if stream.more_octets.iter().any(|octets| *octets > 1 << 10) {
            return Err("a tag has more than 1024 octets");
        }
        if stream.jitter_ns.is_some_and(|limit| !(0..=LONGEST_PERIOD_NS).contains(&limit)) {
            return Err("the jitter is not between 0 and 1 s");
        }
        if stream.queue.is_some_and(|queue| queue > 7) {
            return Err("the queue is not 0 to 7");
        }
        if stream.listeners.contains(&stream.talker) {
            return Err("the talker listens to itself");
        }
        if !(1..=LONGEST_PERIOD_NS).contains(&stream.period_ns) {
            return Err("the period is not between 1 ns and 1 s");
        }
        if stream.period_ns % self.granularity_ns != 0 {
            return Err("the period is no multiple of the granularity");
        }
        if stream.frames.is_empty() || stream.frames.len() > 1 << 16 {
            return Err("no frames, or more than 65536");
        }
        if stream.frames.iter().any(|octets| *octets == 0 || *octets > 1 << 16) {
            return Err("a frame has no octets, or more than 65536");
        }
        if !(0..=LONGEST_PERIOD_NS).contains(&stream.deadline_ns) {
            return Err("the deadline is not between 0 and 1 s");
        }
        let latest = stream.earliest_ns + stream.period_ns;
        if !(0..=LONGEST_PERIOD_NS).contains(&stream.earliest_ns)
            || !(stream.earliest_ns..latest).contains(&stream.latest_ns)
        {
            return Err("the release window is empty or longer than a period");
        }
        stream.tree.as_ref().map_or(Ok(()), |tree| self.check_tree(stream, tree))
    }

    pub(crate) fn check_tree(&self, stream: &Stream, tree: &Tree) -> Result<(), &'static str> {
        for (place, entry) in tree.iter().enumerate() {
            let Some(link) = self.links.get(entry.link as usize) else { return Err("no such link") };
            let from = match entry.parent {
                None => stream.talker,
                Some(parent) if (parent as usize) < place => {
                    self.links[tree[parent as usize].link as usize].to
                }
                Some(_) => return Err("a path's entry comes before its parent"),
            };
            if link.from != from || (entry.parent.is_some() && !self.nodes[from as usize].forwards) {
                return Err("a path does not hang together");
            }
            if stream.copies == 1 && tree[..place].iter().any(|other| other.link == entry.link) {
                return Err("a path takes a link twice");
            }
        }
        let reached =
            |listener: &u32| tree.iter().any(|entry| self.links[entry.link as usize].to == *listener);
        if stream.listeners.iter().all(reached) { Ok(()) } else { Err("the path misses a listener") }
    }
}
