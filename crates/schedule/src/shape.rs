//! What a stream takes of each link of a path, counted from its release.

use crate::problem::{Problem, Stream, TreeEntry};
use tsn_units::{Octets, PREAMBLE, START_FRAME_DELIMITER, wire_time};

/// One link of a path.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Use {
    pub link: u32,
    /// When its interval begins, the link's margin included; ps from the release.
    pub at: i64,
    /// How long it is, the margins on both sides included; ps.
    pub len: i64,
    /// How long the queue is its own before that, because the first frame waits there for its gate, ps.
    pub held: i64,
    /// How much earlier its interval may begin, because a frame that it waits behind may be missing, ps.
    pub early: i64,
    /// When its first and its last frame are in the queue, as planned; ps from the release.
    pub comes: [i64; 2],
}

/// A path with its times.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shape {
    /// As the path's entries.
    pub uses: Vec<Use>,
    /// Release to the last bit in at the listener that is reached last, ps.
    pub delay: i64,
    /// How much later that can be, because clocks differ: the margin of the last link.
    pub late: i64,
    /// By how much more a listener's slowest path takes than its fastest, where the stream limits that, ps.
    pub spread: i64,
    /// How much earlier than planned it may come to a listener, because frames that it waits behind may be missing, ps.
    pub early: i64,
    /// Entries at which frames wait for those ahead of them in the queue.
    pub behind: Vec<u32>,
}

impl Use {
    /// When its time on the wire may begin at the earliest, ps from the release.
    pub fn begins(&self) -> i64 {
        self.at - self.early
    }

    /// From then on, until the next frame of anybody may begin, ps.
    pub fn whole(&self) -> i64 {
        self.len + self.early
    }
}

impl Shape {
    /// By how much the delay at a listener may vary, ps.
    pub fn jitter(&self) -> i64 {
        self.spread + self.early + 2 * self.late
    }

    /// Frames go on at once wherever nothing of their own stream is before them; those of one period stay together.
    /// `floors`, by entry and as far as given: no first bit out before this, ps from the release. At the entries of
    /// `behind` frames wait for those ahead of them in the queue, elsewhere for their gate.
    pub fn new(
        problem: &Problem,
        stream: &Stream,
        tree: &[TreeEntry],
        floors: &[i64],
        behind: &[u32],
    ) -> Self {
        let mut shape = Self { uses: Vec::with_capacity(tree.len()), ..Self::default() };
        // Last bits in at the end of every entry, frame by frame.
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
            // Another's window may reach a tick of the gates beyond its frame.
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
