//! The time from the last bit of a frame in until it is in its queue.

use crate::curve::{Ps, ps};
use tsn_plan::{Further, Node};

/// The least and the greatest processing time of a node. Frames from one port to another keep their order.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Processing {
    pub least: Ps,
    pub most: Ps,
}

impl Processing {
    pub fn of(node: &Node) -> Self {
        let (low, high) = node.further.as_ref().map_or((0, 0), Further::range_ns);
        let at = |further| ps(node.processing_ns).saturating_add(ps(further));
        Self { least: at(low), most: at(high) }
    }

    /// How much closer than on the previous link frames may follow each other into a queue.
    pub fn spread(self) -> Ps {
        self.most - self.least
    }
}
