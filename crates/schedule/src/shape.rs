//! The times at which a stream occupies each link of a path, counted from its release.

use crate::problem::{Problem, Stream, TreeEntry};
use tsn_units::{Octets, PREAMBLE, START_FRAME_DELIMITER, wire_time};

/// One link of a path.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Use {
    pub link: u32,
    /// Start of the interval, with the link's margin; ps from the release.
    pub at: i64,
    /// Length of the interval, with the margins on both sides; ps.
    pub len: i64,
    /// Time before the interval in which the stream has the queue for itself, because its first frame waits for the
    /// gate, ps.
    pub held: i64,
    /// How much earlier the interval may begin, because a frame ahead in the queue may be missing, ps.
    pub early: i64,
    /// Planned arrivals of the first frame and of the last frame in the queue; ps from the release.
    pub comes: [i64; 2],
}

/// A path with its times.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shape {
    /// The use of each link, in the order of the path's entries.
    pub uses: Vec<Use>,
    /// Delay from the release to the last bit in at the last listener, ps.
    pub delay: i64,
    /// How much larger the delay may be because clocks differ: the margin of the last link.
    pub late: i64,
    /// Largest difference between a listener's slowest and fastest path, if the stream limits it, ps.
    pub spread: i64,
    /// How much earlier than planned frames may arrive at a listener, because frames ahead of them may be missing, ps.
    pub early: i64,
    /// Entries at which frames wait for frames ahead of them in the queue.
    pub behind: Vec<u32>,
}

impl Use {
    /// Earliest start of the time on the wire, ps from the release.
    pub fn begins(&self) -> i64 {
        self.at - self.early
    }

    /// Length from the earliest start until the next frame of any stream may start, ps.
    pub fn whole(&self) -> i64 {
        self.len + self.early
    }
}

impl Shape {
    /// Largest variation of the delay at a listener, ps.
    pub fn jitter(&self) -> i64 {
        self.spread + self.early + 2 * self.late
    }

    /// The times of a stream on a path. A node forwards a frame at once unless a frame of the same stream is ahead of
    /// it; the frames of one period stay together. `floors`: by entry, as far as given, the earliest first bit out, ps
    /// from the release. At the entries of `behind`, frames wait for frames ahead of them in the queue; at all others
    /// they wait for their gate.
    pub fn new(
        problem: &Problem,
        stream: &Stream,
        tree: &[TreeEntry],
        floors: &[i64],
        behind: &[u32],
    ) -> Self {
        let mut shape = Self { uses: Vec::with_capacity(tree.len()), ..Self::default() };
        // For every entry and every frame: the arrival of the last bit at the end of the link.
        let frames = stream.frames.len();
        let mut arrivals: Vec<i64> = Vec::with_capacity(tree.len() * frames);
        for (place, entry) in tree.iter().enumerate() {
            let link = &problem.links[entry.link as usize];
            let ready = |number: usize, arrivals: &[i64]| {
                entry.parent.map_or(0, |parent| {
                    let node = problem.links[tree[parent as usize].link as usize].to;
                    arrivals[parent as usize * frames + number] + problem.nodes[node as usize].processing_ps
                })
            };
            let arrived = ready(0, &arrivals);
            let last = ready(frames - 1, &arrivals);
            let first = arrived.max(floors.get(place).copied().unwrap_or(i64::MIN));
            let mut free = first;
            let tag = stream.more_octets.get(place).copied().unwrap_or(0);
            for (number, octets) in stream.frames.iter().enumerate() {
                let octets = octets + tag;
                let start = ready(number, &arrivals).max(free);
                free = start + wire_time(Octets(octets), link.rate()).ps();
                let whole = Octets(octets + PREAMBLE.0 + START_FRAME_DELIMITER.0);
                arrivals.push(start + link.rate().time(whole).ps() + link.propagation_ps);
            }
            let (at, len) = (first - link.margin_ps, free - first + 2 * link.margin_ps);
            // The window of another stream may extend by one tick beyond its frame.
            let tick = link.limits.granularity_ns * 1_000;
            let before = entry.parent.map_or(0, |parent| shape.uses[parent as usize].early);
            let waits = first - arrived;
            let (held, early) = match (waits > 0, behind.contains(&(place as u32))) {
                (true, false) => (waits + before + tick, 0),
                (waits_behind, _) => {
                    shape.behind.extend(waits_behind.then_some(place as u32));
                    (0, waits + before)
                }
            };
            shape.uses.push(Use { link: entry.link, at, len, held, early, comes: [arrived, last] });
            if stream.listeners.contains(&link.to) {
                shape.early = shape.early.max(early);
                shape.delay = shape.delay.max(arrivals.last().copied().unwrap_or(0));
                shape.late = shape.late.max(link.margin_ps);
            }
        }
        if stream.jitter_ns.is_some() && stream.copies > 1 {
            for listener in &stream.listeners {
                let ends = tree
                    .iter()
                    .enumerate()
                    .filter(|(_, entry)| problem.links[entry.link as usize].to == *listener);
                let lasts = ends.map(|(place, _)| arrivals[place * frames + frames - 1]);
                let (most, least) = (lasts.clone().max().unwrap_or(0), lasts.min().unwrap_or(0));
                shape.spread = shape.spread.max(most - least);
            }
        }
        shape
    }
}
