//! What a stream takes of each link of a way, counted from its release.

use crate::problem::{Problem, Stream, TreeEntry};
use tsn_units::{Octets, PREAMBLE, START_FRAME_DELIMITER, wire_time};

/// One link of a way.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Use {
    pub link: u32,
    /// When its interval begins, the link's margin included; ps from the release.
    pub at: i64,
    /// How long it is, the margins on both sides included; ps.
    pub len: i64,
}

/// A way with its times.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shape {
    pub uses: Vec<Use>,
    /// Release to the last bit in at the listener that is reached last, ps.
    pub delay: i64,
}

impl Shape {
    /// Frames go on at once wherever nothing of their own stream is before them; those of one period stay together.
    pub fn new(problem: &Problem, stream: &Stream, tree: &[TreeEntry]) -> Self {
        let mut shape = Self { uses: Vec::with_capacity(tree.len()), delay: 0 };
        // Last bits in at the end of every entry, frame by frame.
        let frames = stream.frames.len();
        let mut arrivals: Vec<i64> = Vec::with_capacity(tree.len() * frames);
        for entry in tree {
            let link = &problem.links[entry.link as usize];
            let mut free = i64::MIN;
            let mut first = 0;
            for (number, octets) in stream.frames.iter().enumerate() {
                let ready = entry.parent.map_or(0, |parent| {
                    let node = problem.links[tree[parent as usize].link as usize].to;
                    arrivals[parent as usize * frames + number] + problem.nodes[node as usize].processing_ps
                });
                let start = ready.max(free);
                if number == 0 {
                    first = start;
                }
                free = start + wire_time(*octets, link.rate).ps();
                let whole = Octets(octets.0 + PREAMBLE.0 + START_FRAME_DELIMITER.0);
                arrivals.push(start + link.rate.time(whole).ps() + link.propagation_ps);
            }
            let (at, len) = (first - link.margin_ps, free - first + 2 * link.margin_ps);
            shape.uses.push(Use { link: entry.link, at, len });
            if stream.listeners.contains(&link.to) {
                shape.delay = shape.delay.max(arrivals.last().copied().unwrap_or(0));
            }
        }
        shape
    }
}
