//! The problem: a network and the streams to schedule.

use crate::periods::gcd;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeSet;
use std::fmt::Formatter;
use thiserror::Error;
use tsn_units::BitRate;

/// The longest period, ns: as long as the cycles of gate control lists in practice, and far from overflow.
const LONGEST_PERIOD_NS: i64 = 1_000_000_000;

/// Limit of distinct periods, and of the repetitions of a period until it has met another one at every phase.
const MOST_PERIODS: usize = 256;
const MOST_TURNS: i64 = 1 << 16;

/// A node.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Smallest time from a frame's last bit in to its first bit out, ps.
    pub processing_ps: i64,
    /// Whether the node forwards frames.
    pub forwards: bool,
}

/// One direction of a link.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// The node where frames leave.
    pub from: u32,
    /// The node where frames arrive.
    pub to: u32,
    /// Rate, bit/s.
    pub rate_bps: u64,
    /// Time from last bit out to last bit in, ps.
    pub propagation_ps: i64,
    /// Time before and after every frame that is kept free, ps: clock error and jitter of the link.
    pub margin_ps: i64,
    /// Number of queues for time-triggered streams at the egress, at most 8; a frame that waits is alone in its queue.
    pub queues: u8,
    /// The limits of the hardware at the egress.
    #[serde(default)]
    pub limits: Limits,
}

/// The limits of a port's hardware. IEEE 802.1Q-2022, 12.29.1.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Longest gate control list (`SupportedListMax`).
    pub entries: u32,
    /// Shortest interval of an entry, ns.
    pub shortest_interval_ns: i64,
    /// Tick: intervals are whole multiples of it, ns (`TickGranularity`).
    pub granularity_ns: i64,
    /// Longest cycle, ns (`SupportedCycleMax`).
    pub longest_cycle_ns: i64,
    /// Longest frame of the port, octets.
    pub longest_frame: u32,
    /// Whether frames may wait for the gate: not where the gate control list is given.
    pub waiting: bool,
}

impl Default for Limits {
    /// Limits that every real port meets.
    fn default() -> Self {
        Self {
            entries: 1 << 16,
            shortest_interval_ns: 1,
            granularity_ns: 1,
            longest_cycle_ns: LONGEST_PERIOD_NS,
            longest_frame: 1 << 16,
            waiting: true,
        }
    }
}

/// One time-triggered stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// The talker's node.
    pub talker: u32,
    /// The nodes of the listeners; several for multicast.
    pub listeners: Vec<u32>,
    /// Period, ns.
    pub period_ns: i64,
    /// The frames of one period, sent back to back: octets from destination address to FCS.
    pub frames: Vec<u32>,
    /// Deadline from the release to the last bit in at the last listener, ns.
    pub deadline_ns: i64,
    /// Earliest release within the period, ns.
    pub earliest_ns: i64,
    /// Latest release, ns; less than one period after the earliest release.
    pub latest_ns: i64,
    /// The path, if it is fixed. In a document, an entry that is a number is this link after the entry before it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "path")]
    pub tree: Option<Tree>,
    /// Number of member streams, each on a disjoint path to the listener (IEEE 802.1CB). If there are several and
    /// `tree` is not given, the stream has one listener only.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub copies: u8,
    /// Octets that the tags of member streams add to a frame, by entry of `tree`; empty if none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more_octets: Vec<u32>,
    /// Limit of the variation of the delay at a listener, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter_ns: Option<i64>,
    /// The queue, if it is fixed.
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

/// A path through the network: parents come before children. After the node where member streams merge, each member
/// stream has entries of its own. A frame comes from the member stream that arrives first, so the schedule reserves
/// time for each.
pub type Tree = Vec<TreeEntry>;

/// One link of a path.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeEntry {
    /// The link.
    pub link: u32,
    /// The preceding entry; none at the talker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<u32>,
}

/// An entry of a path as documents have it.
enum Entry {
    /// A link after the entry before.
    Next(u32),
    Any(TreeEntry),
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = Entry;

            fn expecting(&self, words: &mut Formatter<'_>) -> std::fmt::Result {
                words.write_str("a link, or an entry with its link and parent")
            }

            fn visit_u64<E: de::Error>(self, link: u64) -> Result<Entry, E> {
                u32::try_from(link)
                    .map(Entry::Next)
                    .map_err(|_| E::invalid_value(Unexpected::Unsigned(link), &self))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Entry, A::Error> {
                TreeEntry::deserialize(MapAccessDeserializer::new(map)).map(Entry::Any)
            }
        }

        deserializer.deserialize_any(Either)
    }
}

fn path<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Tree>, D::Error> {
    let written = Option::<Vec<Entry>>::deserialize(deserializer)?;
    Ok(written.map(|entries| {
        (0..)
            .zip(entries)
            .map(|(place, entry)| match entry {
                Entry::Next(link) => TreeEntry { link, parent: u32::checked_sub(place, 1) },
                Entry::Any(entry) => entry,
            })
            .collect()
    }))
}

/// A network and its streams.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Problem {
    /// The nodes; streams and links refer to them by index.
    pub nodes: Vec<Node>,
    /// Every direction of every link.
    pub links: Vec<Link>,
    /// The streams to place.
    pub streams: Vec<Stream>,
    /// Granularity: releases are whole multiples of it, ns.
    pub granularity_ns: i64,
}

/// An error in a problem.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{what} {number}: {problem}")]
pub struct ProblemError {
    /// The kind of the part: `link` or `stream`.
    pub what: &'static str,
    /// The index of the part.
    pub number: usize,
    /// The error, in words.
    pub problem: &'static str,
}

/// Whether the number of repetitions of periods stays within its limit.
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
    /// Checks that every reference is valid and every number is in its range.
    ///
    /// # Errors
    /// The first error.
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
            let Limits {
                entries, shortest_interval_ns, granularity_ns, longest_cycle_ns, longest_frame, ..
            } = link.limits;
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

    /// Checks one stream.
    ///
    /// # Errors
    /// The error, in words.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(written: &str) -> Result<Option<Tree>, String> {
        let stream = format!(
            r#"{{"talker":0,"listeners":[1],"period_ns":1,"frames":[64],"deadline_ns":1,"earliest_ns":0,"latest_ns":0,
            "tree":{written}}}"#
        );
        serde_json::from_str::<Stream>(&stream).map(|stream| stream.tree).map_err(|error| error.to_string())
    }

    #[test]
    fn a_chain_of_links_is_a_path() {
        let entries = |parents: [Option<u32>; 3]| -> Tree {
            [7, 5, 9].into_iter().zip(parents).map(|(link, parent)| TreeEntry { link, parent }).collect()
        };
        let chain = entries([None, Some(0), Some(1)]);
        assert_eq!(tree("[7,5,9]"), Ok(Some(chain.clone())));
        assert_eq!(
            tree(r#"[{"link":7},{"link":5,"parent":0},{"link":9,"parent":1}]"#),
            Ok(Some(chain.clone()))
        );
        assert_eq!(tree(r#"[7,{"link":5,"parent":0},9]"#), Ok(Some(chain)));
        let fork = entries([None, Some(0), Some(0)]);
        assert_eq!(tree(r#"[{"link":7},{"link":5,"parent":0},{"link":9,"parent":0}]"#), Ok(Some(fork)));
        assert_eq!(tree("[]"), Ok(Some(Vec::new())));
        assert_eq!(tree("null"), Ok(None));
    }

    #[test]
    fn what_is_no_entry_of_a_path_is_refused() {
        for wrong in ["[-1]", "[4294967296]", "[1.5]", r#"["7"]"#, "[[7]]", "[null]", r#"[{"port":7}]"#, "7"]
        {
            assert!(tree(wrong).is_err(), "{wrong}");
        }
        let said = tree("[4294967296]").unwrap_err();
        assert!(said.contains("expected a link, or an entry with its link and parent"), "{said}");
    }
}
