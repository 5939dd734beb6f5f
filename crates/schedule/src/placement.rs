//! The placement of one stream in a schedule, or the reason why there is none.

use crate::problem::Tree;
use serde::{Deserialize, Serialize};

/// What was decided for one stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Placed {
    /// When it is released in its period, ns.
    pub offset_ns: i64,
    /// Its path.
    pub tree: Tree,
    /// First bits out, by entry of the path, ps from the release.
    pub starts_ps: Vec<i64>,
    /// Its queue, of those for time-triggered streams.
    pub queue: u8,
    /// Entries of the path at which its frames wait, gate open, for those ahead of them in the queue.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub behind: Vec<u32>,
    /// Release to last bit in at the listener that is reached last, ps. Follows from the rest; needs not be given.
    #[serde(default)]
    pub delay_ps: i64,
}

impl Placed {
    /// Whether both say the same of releases, paths and times.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        (self.offset_ns, self.queue) == (other.offset_ns, other.queue)
            && self.tree == other.tree
            && self.starts_ps == other.starts_ps
            && self.behind == other.behind
    }
}

/// Why a stream was not placed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Refusal {
    /// No path leads to a listener.
    Unreachable,
    /// A frame is longer than a port takes.
    Frame {
        /// The link.
        link: u32,
        /// The frame.
        octets: u32,
        /// What the port takes.
        most: u32,
    },
    /// Even in an empty network it takes longer than it may.
    Deadline {
        /// The smallest delay that was found, ps; the margin of the last link is part of it.
        smallest_ps: i64,
    },
    /// One link needs longer for it than its period is.
    Period {
        /// The link.
        link: u32,
        /// What it takes of it, ps.
        needs_ps: i64,
    },
    /// Its delay varies by more than it may: its paths take times that differ, or clocks do.
    Jitter {
        /// The slowest path's delay without the fastest one's, ps.
        spread_ps: i64,
        /// By how much clocks make it vary, ps.
        margins_ps: i64,
    },
    /// Others are in the way at every point of its release window.
    NoRoom,
    /// What was to be kept is none for this stream any more: path, times or release.
    Changed,
}
