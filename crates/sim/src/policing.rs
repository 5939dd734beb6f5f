//! Where frames are filtered as they come in, and the hops that they go on by when a queue other than their own was chosen.
//!
//! IEEE 802.1Q-2022, 8.6.5. Which filter a frame meets follows from its stream, port and priority, so it is known before
//! the run; so are the classes that stream gates may choose, and a hop stands ready for each.

use crate::event::Frame;
use crate::network::Network;
use crate::special::Special;
use crate::turns::Turns;
use std::collections::{BTreeSet, HashMap};
use tsn_bridge::psfp::Psfp;
use tsn_plan::{Plan, Policing};
use tsn_units::Instant;

/// The filter at the end of a hop.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Filtered {
    /// Index into the Plan's and our lists of nodes' tables.
    pub table: u32,
    /// Index into that table's filters.
    pub filter: u32,
}

/// What a frame takes along from the filters at the end of its hop.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Passed {
    pub ipv: Option<u8>,
    pub yellow: bool,
    pub eligible: Option<Instant>,
}

/// A frame that an ATS scheduler lets wait.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Held {
    pub frame: Frame,
    pub eligible: Instant,
    /// Whether it has reached its queue.
    pub queued: bool,
}

/// Everything that a Plan's policing needs in a run.
#[derive(Debug, Default)]
pub(crate) struct Police {
    pub tables: Vec<Psfp>,
    pub turns: Turns,
    /// A hop with another class or colour, by the hop and what is different.
    variants: HashMap<(u32, u8), u32>,
    /// Frames on their way to a queue or in it that are not eligible yet.
    held: Vec<Option<Held>>,
    free: Vec<u32>,
    /// How many places wait for the event of a frame that is no more.
    lost: usize,
}

/// What is different, as one number; 8 is the class that the priority chooses.
fn key(ipv: Option<u8>, yellow: bool) -> u8 {
    ipv.map_or(8, |ipv| ipv & 7) | u8::from(yellow) << 4
}

/// The priorities that a filter's stream gate may choose.
fn ipvs(policing: &Policing, filter: usize) -> BTreeSet<Option<u8>> {
    let gate = policing.filters[filter].gate.and_then(|gate| policing.gates.get(gate as usize));
    let entries = gate.into_iter().flat_map(|gate| &gate.entries);
    entries.map(|entry| entry.ipv).chain([None]).collect()
}

impl Police {
    /// The tables; marks hops that end at a filter, and makes those that differ. The Plan's consistency is proved.
    pub fn new(plan: &Plan, network: &mut Network, specials: &mut Vec<Special>) -> Option<Box<Self>> {
        if plan.policing.iter().all(|policing| policing.filters.is_empty()) {
            return None;
        }
        specials.resize(network.hops.len(), Special::default());
        let mut police = Self { tables: plan.policing.iter().map(Psfp::new).collect(), ..Self::default() };
        let colors =
            plan.policing.iter().flat_map(|policing| &policing.meters).any(|meter| meter.color_aware);
        let mut wanted: BTreeSet<(u32, Option<u8>, bool)> = BTreeSet::new();
        let mut first = 0;
        let mut flooded: usize = plan.streams.iter().map(|stream| stream.route.len()).sum();
        for (number, stream) in plan.streams.iter().enumerate() {
            let priorities = plan.priorities(stream);
            let ways = || stream.route.iter().chain(&stream.flood).enumerate();
            let after = |entry: usize| ways().filter(move |(_, hop)| hop.parent == Some(entry as u32));
            let route = stream.route.len();
            let hop_of = |entry: usize| if entry < route { first + entry } else { flooded + entry - route };
            // What follows ways that meet follows the first of them.
            let leads = |entry: usize| {
                let merges = stream.redundancy.iter().flat_map(|redundancy| &redundancy.merges);
                let merge = merges.into_iter().find(|merge| merge.from.contains(&(entry as u32)));
                merge.and_then(|merge| merge.from.first()).map_or(entry, |leader| *leader as usize)
            };
            for (entry, hop) in ways() {
                let port = plan.ports[hop.port as usize].peer;
                let node = plan.ports[port as usize].node;
                let pcp = plan.regenerated(port, priorities[entry]);
                let found = plan.policing.iter().position(|policing| policing.node == node);
                let filter = found.and_then(|table| {
                    Some((table, plan.policing[table].matching(port, number as u32, pcp)?))
                });
                if let Some((table, filter)) = filter {
                    specials[hop_of(entry)].filtered =
                        Some(Filtered { table: table as u32, filter: filter as u32 });
                    network.hops[hop_of(entry)].special = true;
                    for (next, _) in after(leads(entry)) {
                        for ipv in ipvs(&plan.policing[table], filter) {
                            wanted.insert((hop_of(next) as u32, ipv, false));
                            wanted.insert((hop_of(next) as u32, ipv, colors));
                        }
                    }
                }
                if colors && hop.parent.is_some() {
                    wanted.insert((hop_of(entry) as u32, None, true));
                }
            }
            first += route;
            flooded += stream.flood.len();
        }
        for (hop, ipv, yellow) in wanted {
            police.vary(plan, network, specials, hop, ipv, yellow);
            if ipv.is_some() {
                let chosen = police.next(hop, &Passed { ipv, yellow, eligible: None });
                network.hops[chosen as usize].special = true;
            }
        }
        Some(Box::new(police))
    }

    fn vary(
        &mut self,
        plan: &Plan,
        network: &mut Network,
        specials: &mut Vec<Special>,
        hop: u32,
        ipv: Option<u8>,
        yellow: bool,
    ) {
        let mut varied = network.hops[hop as usize];
        if let Some(ipv) = ipv {
            varied.class = plan.ports[varied.port as usize].pcp_to_class[usize::from(ipv & 7)];
        }
        if !yellow && varied.class == network.hops[hop as usize].class {
            return;
        }
        varied.special |= yellow;
        self.variants.insert((hop, key(ipv, yellow)), network.hops.len() as u32);
        network.hops.push(varied);
        specials.push(Special { yellow, ..specials[hop as usize].clone() });
    }

    /// The hop by which a frame goes on.
    pub fn next(&self, hop: u32, passed: &Passed) -> u32 {
        self.variants.get(&(hop, key(passed.ipv, passed.yellow))).copied().unwrap_or(hop)
    }

    /// Keeps a frame that waits; gives the number of its place.
    pub fn hold(&mut self, held: Held) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.held[place as usize] = Some(held);
                place
            }
            None => {
                self.held.push(Some(held));
                self.held.len() as u32 - 1
            }
        }
    }

    /// A frame reaches its queue.
    pub fn reach(&mut self, place: u32) -> Option<Held> {
        let held = self.held.get_mut(place as usize)?.as_mut()?;
        held.queued = true;
        Some(*held)
    }

    /// The last event of a place; gives the frame, unless it was lost.
    pub fn release(&mut self, place: u32) -> Option<Held> {
        let held = self.held.get_mut(place as usize)?.take();
        self.lost -= usize::from(held.is_none());
        self.free.push(place);
        held
    }

    /// Takes out the frames that wait in queues that `here` tells. Their events still come.
    pub fn flush(&mut self, here: impl Fn(&Frame) -> bool) -> Vec<Frame> {
        let mut flushed = Vec::new();
        for held in &mut self.held {
            if let Some(lost) = held.take_if(|held| held.queued && here(&held.frame)) {
                flushed.push(lost.frame);
            }
        }
        self.lost += flushed.len();
        flushed
    }

    /// How many frames wait.
    pub fn waiting(&self) -> usize {
        self.held.len() - self.free.len() - self.lost
    }
}
