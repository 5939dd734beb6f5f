//! The time from the last bit of a frame in until it is in its queue.

use crate::curve::{Ps, ps};
use crate::model::software::forwarding;
use tsn_plan::{Further, Node};

/// The least and the greatest processing time of a node, with the software of a host. Frames from one port to another keep their order.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Processing {
    pub least: Ps,
    pub most: Ps,
}

impl Processing {
    pub fn of(node: &Node) -> Self {
        let (low, high) = node.further.as_ref().map_or((0, 0), Further::range_ns);
        let at = |further| ps(node.processing_ns).saturating_add(ps(further));
        let software = node.host.as_deref().map(forwarding).unwrap_or_default();
        Self { least: at(low).saturating_add(software.least), most: at(high).saturating_add(software.most) }
    }

    /// How much closer than on the previous link frames may follow each other into a queue.
    pub fn spread(self) -> Ps {
        self.most - self.least
    }
}
