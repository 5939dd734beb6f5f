//! Where arriving frames are filtered, and the hops that they continue on if a queue other than their own was chosen.
//!
//! IEEE 802.1Q-2022, 8.6.5. Stream, port and priority of a frame determine its filter, so it is known before the run;
//! the classes that stream gates may choose are also known, and there is a hop for each.

use crate::forwarding::cqf::CyclicQueues;
use crate::ids::HopId;
use crate::kernel::event::Frame;
use crate::network::tables::Network;
use crate::slab::Slab;
use std::collections::{BTreeSet, HashMap};
use tsn_bridge::psfp::Psfp;
use tsn_plan::{Plan, Policing};
use tsn_units::Instant;

/// The filter at the end of a hop.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Filtered {
    /// Index into the lists of nodes' tables of the Plan and of [`PolicingState`].
    pub table: u32,
    /// Index into that table's filters.
    pub filter: u32,
}

/// The changes that policing makes to the hops of a network.
#[derive(Clone, Debug)]
pub(crate) struct PolicedHops {
    /// Hops that end at a filter, with the filter.
    pub filtered: Vec<(HopId, Filtered)>,
    /// The hops that were added after all others, in order.
    pub variants: Vec<Variant>,
}

/// A hop with another class or colour than its original.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Variant {
    pub of: HopId,
    /// Whether a meter has marked the frames of the hop yellow.
    pub yellow: bool,
}

/// The result of the filters at the end of a frame's hop.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct PolicingResult {
    pub ipv: Option<u8>,
    pub yellow: bool,
    pub eligible: Option<Instant>,
}

/// A frame that waits for its eligibility time.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Held {
    pub frame: Frame,
    pub eligible: Instant,
    /// Whether the frame has reached its queue.
    pub queued: bool,
}

/// The policing of a Plan in a run.
#[derive(Debug, Default)]
pub(crate) struct PolicingState {
    pub tables: Vec<Psfp>,
    pub cyclic_queues: CyclicQueues,
    /// The variant of a hop, by hop and the key of the difference.
    variants: HashMap<(HopId, u8), HopId>,
    /// Frames that are not eligible yet, on their way to a queue or in it.
    pub held: Slab<Held>,
}

/// Class and colour as one number; 8 is the class that the priority chooses.
fn key(ipv: Option<u8>, yellow: bool) -> u8 {
    ipv.map_or(8, |ipv| ipv & 7) | u8::from(yellow) << 4
}

/// The priorities that a filter's stream gate may choose.
fn ipvs(policing: &Policing, filter: usize) -> BTreeSet<Option<u8>> {
    let gate = policing.filters[filter].gate.and_then(|gate| policing.gates.get(gate as usize));
    let entries = gate.into_iter().flat_map(|gate| &gate.entries);
    entries.map(|entry| entry.ipv).chain([None]).collect()
}

impl PolicingState {
    /// The tables of a checked Plan; marks hops that end at a filter, and adds variants of hops.
    pub fn new(plan: &Plan, network: &mut Network) -> Option<(Box<Self>, PolicedHops)> {
        if plan.policing.iter().all(|policing| policing.filters.is_empty()) {
            return None;
        }
        let mut hops = PolicedHops { filtered: Vec::new(), variants: Vec::new() };
        let mut policing = Self { tables: plan.policing.iter().map(Psfp::new).collect(), ..Self::default() };
        let colors =
            plan.policing.iter().flat_map(|policing| &policing.meters).any(|meter| meter.color_aware);
        let mut wanted: BTreeSet<(HopId, Option<u8>, bool)> = BTreeSet::new();
        let mut first = 0;
        let mut flooded: usize = plan.streams.iter().map(|stream| stream.route.len()).sum();
        for (number, stream) in plan.streams.iter().enumerate() {
            let priorities = plan.priorities(stream);
            let paths = || stream.route.iter().chain(&stream.flood).enumerate();
            let after = |entry: usize| paths().filter(move |(_, hop)| hop.parent == Some(entry as u32));
            let route = stream.route.len();
            let hop_of = |entry: usize| if entry < route { first + entry } else { flooded + entry - route };
            // The hops after a merge point are those of its first path.
            let leads = |entry: usize| {
                let merges = stream.redundancy.iter().flat_map(|redundancy| &redundancy.merges);
                let merge = merges.into_iter().find(|merge| merge.from.contains(&(entry as u32)));
                merge.and_then(|merge| merge.from.first()).map_or(entry, |leading_hop| *leading_hop as usize)
            };
            for (entry, hop) in paths() {
                let port = plan.ports[hop.port as usize].peer;
                let node = plan.ports[port as usize].node;
                let pcp = plan.regenerated(port, priorities[entry]);
                let found = plan.policing.iter().position(|policing| policing.node == node);
                let filter = found.and_then(|table| {
                    Some((table, plan.policing[table].matching(port, number as u32, pcp)?))
                });
                if let Some((table, filter)) = filter {
                    let place = Filtered { table: table as u32, filter: filter as u32 };
                    hops.filtered.push((HopId::at(hop_of(entry)), place));
                    network.hops[hop_of(entry)].special = true;
                    for (next, _) in after(leads(entry)) {
                        for ipv in ipvs(&plan.policing[table], filter) {
                            wanted.insert((HopId::at(hop_of(next)), ipv, false));
                            wanted.insert((HopId::at(hop_of(next)), ipv, colors));
                        }
                    }
                }
                if colors && hop.parent.is_some() {
                    wanted.insert((HopId::at(hop_of(entry)), None, true));
                }
            }
            first += route;
            flooded += stream.flood.len();
        }
        for (hop, ipv, yellow) in wanted {
            hops.variants.extend(policing.vary(plan, network, (hop, ipv, yellow)));
            if ipv.is_some() {
                let chosen = policing.next(hop, &PolicingResult { ipv, yellow, eligible: None });
                network.hops[chosen].special = true;
            }
        }
        Some((Box::new(policing), hops))
    }

    /// Adds the variant of `hop` that a frame takes, if it differs.
    fn vary(
        &mut self,
        plan: &Plan,
        network: &mut Network,
        (hop, ipv, yellow): (HopId, Option<u8>, bool),
    ) -> Option<Variant> {
        let mut varied = network.hops[hop];
        if let Some(ipv) = ipv {
            varied.class = plan.ports[varied.port].pcp_to_class[usize::from(ipv & 7)];
        }
        if !yellow && varied.class == network.hops[hop].class {
            return None;
        }
        varied.special |= yellow;
        self.variants.insert((hop, key(ipv, yellow)), HopId::at(network.hops.len()));
        network.hops.push(varied);
        Some(Variant { of: hop, yellow })
    }

    /// The hop on which a frame continues.
    pub fn next(&self, hop: HopId, passed: &PolicingResult) -> HopId {
        self.variants.get(&(hop, key(passed.ipv, passed.yellow))).copied().unwrap_or(hop)
    }

    /// A frame reaches its queue; returns it.
    pub fn mark_queued(&mut self, number: u32) -> Option<Held> {
        let held = self.held.get_mut(number)?;
        held.queued = true;
        Some(*held)
    }

    /// Takes out the frames for which `here` is true. Their events stay scheduled.
    pub fn flush(&mut self, here: impl Fn(&Frame) -> bool) -> Vec<Frame> {
        let lost = self.held.withdraw(|held| held.queued && here(&held.frame));
        lost.into_iter().map(|held| held.frame).collect()
    }
}
