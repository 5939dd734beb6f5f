//! The placement of one stream in a schedule, or the reason why there is none.

use crate::problem::Tree;
use serde::{Deserialize, Serialize};

/// The place of one stream in a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Placed {
    /// Release within the period, ns.
    pub offset_ns: i64,
    /// The path.
    pub tree: Tree,
    /// First bits out for each entry of the path, ps from the release.
    pub starts_ps: Vec<i64>,
    /// The queue, among those for time-triggered streams.
    pub queue: u8,
    /// Entries of the path at which frames wait at an open gate for frames ahead of them in the queue.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub behind: Vec<u32>,
    /// Delay from the release to the last bit in at the last listener, ps. It follows from the other fields and may be
    /// missing in a document.
    #[serde(default)]
    pub delay_ps: i64,
}

impl Placed {
    /// Whether two places have the same release, path and times.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        (self.offset_ns, self.queue) == (other.offset_ns, other.queue)
            && self.tree == other.tree
            && self.starts_ps == other.starts_ps
            && self.behind == other.behind
    }
}

/// The reason why a stream has no place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Refusal {
    /// No path leads to a listener.
    Unreachable,
    /// A frame is longer than the longest frame of a port.
    Frame {
        /// The link.
        link: u32,
        /// Octets of the frame.
        octets: u32,
        /// Octets of the longest frame of the port.
        most: u32,
    },
    /// The stream misses its deadline even in an empty network.
    Deadline {
        /// The smallest delay that was found, ps, with the margin of the last link.
        smallest_ps: i64,
    },
    /// The frames of one period occupy a link for longer than the period.
    Period {
        /// The link.
        link: u32,
        /// Time of the frames on the link, ps.
        needs_ps: i64,
    },
    /// The delay of the stream varies by more than its limit, because its paths differ or because clocks do.
    Jitter {
        /// Difference between the delays of the slowest and the fastest path, ps.
        spread_ps: i64,
        /// Difference that clocks cause, ps.
        margins_ps: i64,
    },
    /// Other streams occupy the links for the whole release window.
    NoRoom,
    /// The stream cannot keep its earlier place: its path, times or release have changed.
    Changed,
}
