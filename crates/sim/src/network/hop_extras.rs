//! Hops with more than a wire and a queue: faults, member streams, merge points, standby paths, filters.
//!
//! Other hops are marked as plain (see [`crate::network::tables::Hop::special`]) and cost nothing here.

use crate::faults::impairment::instant;
use crate::ids::{HopId, NodeId, StreamId};
use crate::kernel::event::Frame;
use crate::network::tables::Network;
use crate::policing::state::{Filtered, PolicingState, Variant};
use std::collections::{HashMap, HashSet};
use tsn_bridge::frer::BaseRecovery;
use tsn_plan::{Plan, R_TAG_OCTETS, Redundancy};
use tsn_units::Instant;

/// The extras of a hop.
#[derive(Clone, Debug, Default)]
pub(crate) struct HopExtra {
    /// The number of the member stream on the hop; 0 for the stream itself.
    pub copy: u8,
    /// When a hop of a standby path forwards; none for a hop that always does.
    pub active: Option<Vec<(Instant, Instant)>>,
    /// The merge point at the hop's end.
    pub merge_point: Option<MergePoint>,
    /// The stream filter at the hop's end.
    pub filtered: Option<Filtered>,
    /// Whether the hop is for frames that a meter has marked yellow.
    pub yellow: bool,
}

/// One path into a merge point.
#[derive(Copy, Clone, Debug)]
pub(crate) struct MergePoint {
    /// The first hop into the merge point: its table entries contain the next hops.
    pub leading_hop: HopId,
    /// The recovery function there: index into [`HopExtras::recoveries`].
    pub recovery: Option<u32>,
    /// The index of this path among those that merge.
    pub path: u32,
}

/// One sequence recovery function, and its place.
#[derive(Clone, Debug)]
pub(crate) struct RecoveryPoint {
    pub stream: StreamId,
    pub node: NodeId,
    pub machine: BaseRecovery,
}

/// The extras of all hops of a network.
#[derive(Clone, Debug, Default)]
pub(crate) struct HopExtras {
    /// By hop; empty if the Plan has no extras.
    hops: Vec<HopExtra>,
    pub recoveries: Vec<RecoveryPoint>,
    /// When the first bit of a copy arrives that takes longer to a merge point than its octets do: by hop, sequence
    /// number and arrival of the last bit.
    begun: HashMap<(HopId, u64, Instant), Instant>,
}

impl HopExtra {
    fn is_active(&self, at: Instant) -> bool {
        let within = |spans: &Vec<(Instant, Instant)>| spans.iter().any(|span| span.0 <= at && at < span.1);
        self.active.as_ref().is_none_or(within)
    }
}

impl HopExtras {
    /// Reads the extras of a Plan and marks them in the network's table.
    pub fn new(plan: &Plan, network: &mut Network, impaired: &[bool]) -> (Self, Option<Box<PolicingState>>) {
        let mut found = Self::default();
        let mut first = 0;
        for (number, stream) in plan.streams.iter().enumerate() {
            if let Some(redundancy) = &stream.redundancy {
                found.hops.resize(network.hops.len(), HopExtra::default());
                found.add(plan, number, first, redundancy);
                // All hops are special, because at the end of each hop it is decided whether the next one is active.
                for hop in &mut network.hops[first..first + stream.route.len()] {
                    hop.special = true;
                }
            }
            first += stream.route.len();
        }
        let answered: HashSet<u32> =
            plan.streams.iter().filter_map(|stream| stream.answers.map(|answers| answers.stream)).collect();
        for hop in &mut network.hops {
            hop.special |= answered.contains(&hop.stream.0);
            // The PTP code handles losses of PTP messages itself.
            hop.special |= !hop.timing && impaired.get(hop.port.index()).copied().unwrap_or(false);
        }
        if plan.nodes.iter().any(|node| node.cut_through_octets.is_some()) {
            // A frame that is damaged on one link is forwarded over the others.
            for stream in network.hops.chunk_by_mut(|one, other| one.stream == other.stream) {
                if stream.iter().any(|hop| hop.special) {
                    stream.iter_mut().filter(|hop| !hop.timing).for_each(|hop| hop.special = true);
                }
            }
        }
        let before = network.hops.len();
        let Some((policing, policed)) = PolicingState::new(plan, network) else { return (found, None) };
        found.hops.resize(before, HopExtra::default());
        for (hop, filter) in policed.filtered {
            found.hops[hop].filtered = Some(filter);
        }
        for Variant { of, yellow } in policed.variants {
            found.hops.push(HopExtra { yellow, ..found.hops[of].clone() });
        }
        (found, Some(policing))
    }

    /// Remembers when the first bit of a copy arrives at its merge point.
    pub fn remember_first_bit(&mut self, frame: Frame, arrival: Instant, begun: Instant) {
        self.begun.insert((frame.hop(), frame.seq, arrival), begun);
    }

    /// When the first bit of a copy arrived whose last bit arrives `now`, if that was recorded.
    pub fn take_first_bit(&mut self, frame: Frame, now: Instant) -> Option<Instant> {
        if self.begun.is_empty() { None } else { self.begun.remove(&(frame.hop(), frame.seq, now)) }
    }

    /// The copies whose first bit is remembered: hop, sequence number, and in ps when the last and the first bit arrive.
    pub fn first_bits(&self) -> impl Iterator<Item = (HopId, u64, [i64; 2])> {
        self.begun.iter().map(|((hop, seq, arrival), begun)| (*hop, *seq, [arrival.ps(), begun.ps()]))
    }

    /// Restarts the recovery functions of a node.
    pub fn restart(&mut self, node: NodeId) {
        for recovery in self.recoveries.iter_mut().filter(|recovery| recovery.node == node) {
            recovery.machine.restart();
        }
    }

    fn add(&mut self, plan: &Plan, number: usize, first: usize, redundancy: &Redundancy) {
        let stream = &plan.streams[number];
        for (place, copy) in redundancy.copies.iter().enumerate() {
            self.hops[first + place].copy = *copy;
        }
        for active in &redundancy.active {
            let spans = active.spans.iter().map(|span| (instant(span.from_ns), instant(span.until_ns)));
            self.hops[first + active.route as usize].active = Some(spans.collect());
        }
        for merge in &redundancy.merges {
            let Some(leading_hop) = merge.from.first() else { continue };
            let last = plan.ports[stream.route[*leading_hop as usize].port as usize].peer as usize;
            let recovery = redundancy.recovery.as_ref().map(|parameters| {
                self.recoveries.push(RecoveryPoint {
                    stream: StreamId::at(number),
                    node: NodeId(plan.ports[last].node),
                    machine: BaseRecovery::new(parameters, merge.from.len()),
                });
                self.recoveries.len() as u32 - 1
            });
            for (path, entry) in merge.from.iter().enumerate() {
                self.hops[first + *entry as usize].merge_point = Some(MergePoint {
                    leading_hop: HopId::at(first + *leading_hop as usize),
                    recovery,
                    path: path as u32,
                });
            }
        }
    }

    pub fn copy(&self, hop: HopId) -> u8 {
        self.hops.get(hop.index()).map_or(0, |special| special.copy)
    }

    pub fn merge_point(&self, hop: HopId) -> Option<MergePoint> {
        self.hops.get(hop.index())?.merge_point
    }

    pub fn filtered(&self, hop: HopId) -> Option<Filtered> {
        self.hops.get(hop.index())?.filtered
    }

    pub fn yellow(&self, hop: HopId) -> bool {
        self.hops.get(hop.index()).is_some_and(|special| special.yellow)
    }

    pub fn is_active(&self, hop: HopId, at: Instant) -> bool {
        self.hops.get(hop.index()).is_none_or(|special| special.is_active(at))
    }

    /// The size of a frame that is forwarded from one hop (none: the talker) to another: an R-TAG may be added or removed.
    pub fn octets(&self, octets: u32, from: Option<HopId>, to: HopId) -> u32 {
        let tag = |hop: HopId| if self.copy(hop) > 0 { R_TAG_OCTETS } else { 0 };
        octets.saturating_add(tag(to)).saturating_sub(from.map_or(0, tag))
    }
}
