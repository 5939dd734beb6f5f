//! What is to be scheduled.

use thiserror::Error;
use tsn_units::{BitRate, Octets};

/// The longest period, in ns: what a gate control list's cycle can be in the field, and far from overflow.
const LONGEST_PERIOD_NS: i64 = 1_000_000_000;

/// A node.
#[derive(Copy, Clone, Debug, Default)]
pub struct Node {
    /// From a frame's last bit in to its first bit out at the earliest, ps.
    pub processing_ps: i64,
    /// Whether frames can pass through it.
    pub forwards: bool,
}

/// One direction of a link.
#[derive(Copy, Clone, Debug)]
pub struct Link {
    /// Where frames leave.
    pub from: u32,
    /// Where they arrive.
    pub to: u32,
    /// bit/s.
    pub rate: BitRate,
    /// Last bit out to last bit in, ps.
    pub propagation_ps: i64,
    /// Kept free before and behind every frame, ps: clock error and jitter of the link.
    pub margin_ps: i64,
    /// Queues for time-triggered streams at its egress; frames that wait are alone in theirs. At most 8.
    pub queues: u8,
}

/// One time-triggered stream.
#[derive(Clone, Debug)]
pub struct Stream {
    /// Who sends.
    pub talker: u32,
    /// Who receives; more than one for multicast.
    pub listeners: Vec<u32>,
    /// ns.
    pub period_ns: i64,
    /// The frames of one period, sent back to back; destination address to FCS.
    pub frames: Vec<Octets>,
    /// Release to last bit in at the last listener, ns.
    pub deadline_ns: i64,
    /// Earliest release in its period, ns.
    pub earliest_ns: i64,
    /// Latest release, ns; less than a period after the earliest.
    pub latest_ns: i64,
    /// The way, where it is not free.
    pub tree: Option<Tree>,
}

/// A way through the network: parents come before children.
pub type Tree = Vec<TreeEntry>;

/// One link of a way.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TreeEntry {
    /// The link.
    pub link: u32,
    /// The entry that leads here; none at the talker.
    pub parent: Option<u32>,
}

/// A network and its streams.
#[derive(Clone, Debug, Default)]
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
            if link.rate.0 < 1_000_000 || !sane(link.propagation_ps) || !sane(link.margin_ps) {
                return problem("link", number, "rate, propagation or margin are out of range");
            }
        }
        for (number, stream) in self.streams.iter().enumerate() {
            self.check_stream(stream).or_else(|words| problem("stream", number, words))?;
        }
        Ok(())
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
        if stream.frames.iter().any(|octets| octets.0 == 0 || octets.0 > 1 << 16) {
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

    fn check_tree(&self, stream: &Stream, tree: &Tree) -> Result<(), &'static str> {
        for (place, entry) in tree.iter().enumerate() {
            let Some(link) = self.links.get(entry.link as usize) else { return Err("no such link") };
            let from = match entry.parent {
                None => stream.talker,
                Some(parent) if (parent as usize) < place => {
                    self.links[tree[parent as usize].link as usize].to
                }
                Some(_) => return Err("a way's entry comes before its parent"),
            };
            if link.from != from || (entry.parent.is_some() && !self.nodes[from as usize].forwards) {
                return Err("a way does not hang together");
            }
            if tree[..place].iter().any(|other| other.link == entry.link) {
                return Err("a way takes a link twice");
            }
        }
        let reached =
            |listener: &u32| tree.iter().any(|entry| self.links[entry.link as usize].to == *listener);
        if stream.listeners.iter().all(reached) { Ok(()) } else { Err("the way misses a listener") }
    }
}
