//! Learning bridges: the frames that teach them addresses, and the branches that depend on what a bridge has learned.
//!
//! IEEE 802.1Q-2022, 8.7.

use crate::ids::{HopId, NodeId};
use crate::network::tables::Network;
use std::collections::HashMap;
use tsn_plan::{Plan, duration};
use tsn_units::{Duration, Instant};

/// A bridge, and a station whose address it may learn.
type Entry = (NodeId, NodeId);

/// The forwarding databases of a run's learning bridges.
#[derive(Debug)]
pub(crate) struct Learning {
    /// By hop: the entry that its frames teach the node at its end.
    learned_from: Vec<Option<Entry>>,
    /// By hop: the entry without which its frames are flooded.
    floods: Vec<Option<Entry>>,
    /// By entry: when the bridge received the last frame of the station.
    last_heard: HashMap<Entry, Instant>,
    /// Ageing times by node.
    ageing: Vec<Duration>,
}

impl Learning {
    /// Reads the learning bridges of a Plan and marks their hops in the network's table; none if no bridge learns.
    pub fn new(plan: &Plan, network: &mut Network) -> Option<Box<Self>> {
        if plan.nodes.iter().all(|node| node.learning.is_none()) {
            return None;
        }
        let ageing = plan.nodes.iter().map(|node| {
            node.learning.as_ref().map_or(Duration::ZERO, |learning| duration(learning.ageing_ns))
        });
        let hops = network.hops.len();
        let mut found = Self {
            learned_from: vec![None; hops],
            floods: vec![None; hops],
            last_heard: HashMap::new(),
            ageing: ageing.collect(),
        };
        for (number, hop) in network.hops.iter_mut().enumerate() {
            // PTP messages end at the next node, and their source addresses are not those of stations.
            let Some(stream) = plan.streams.get(hop.stream.index()).filter(|_| !hop.timing) else {
                continue;
            };
            let link = network.links[hop.port];
            if plan.nodes[link.peer].learning.is_some() {
                found.learned_from[number] = Some((link.peer, NodeId(stream.talker)));
                hop.special = true;
            }
            if hop.floods {
                found.floods[number] =
                    stream.listeners.first().map(|listener| (link.node, NodeId(listener.node)));
                hop.special = true;
            }
        }
        Some(Box::new(found))
    }

    /// Whether the bridge at the end of a hop learns from frames that arrive over it.
    pub fn learns_from(&self, hop: HopId) -> bool {
        self.learned_from.get(hop.index()).is_some_and(Option::is_some)
    }

    /// Learns from a frame that has arrived over a hop.
    pub fn learn(&mut self, hop: HopId, now: Instant) {
        if let Some(Some(entry)) = self.learned_from.get(hop.index()) {
            self.last_heard.insert(*entry, now);
        }
    }

    /// Whether a frame does not take a branch, because the bridge has learned that the listener is elsewhere.
    pub fn filters(&self, hop: HopId, now: Instant) -> bool {
        let Some(Some(entry)) = self.floods.get(hop.index()) else { return false };
        let ageing = self.ageing.get(entry.0.index()).copied().unwrap_or(Duration::ZERO);
        self.last_heard.get(entry).is_some_and(|last_heard| now - *last_heard < ageing)
    }
}
