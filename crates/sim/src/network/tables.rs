//! The Plan as tables from which a frame's path is read without a search.

use crate::error::SimError;
use crate::ids::{HopId, NodeId, PortId, StreamId};
use crate::kernel::event::MOST_NODES;
use std::ops::Range;
use tsn_bridge::Line;
use tsn_plan::{Gptp, Pattern, Plan, Point, Size, Stage, Stream, duration};
use tsn_units::{BitRate, Duration};

/// A range of indices of one of the network's lists.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct IndexRange {
    from: u32,
    to: u32,
}

impl IndexRange {
    fn new(range: Range<usize>) -> Self {
        Self { from: range.start as u32, to: range.end as u32 }
    }

    #[inline]
    pub fn of<T>(self, list: &[T]) -> &[T] {
        list.get(self.from as usize..self.to as usize).unwrap_or_default()
    }

    #[inline]
    pub fn indices(self) -> Range<u32> {
        self.from..self.to
    }
}

/// One branch of one stream's route.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Hop {
    pub stream: StreamId,
    /// The egress port.
    pub port: PortId,
    /// The traffic class there.
    pub class: u8,
    /// Whether the port is one of the talker.
    pub at_talker: bool,
    /// Whether [`crate::network::hop_extras`] has an entry for the hop, or its link may lose frames.
    pub special: bool,
    pub pcp: u8,
    /// Whether the hop is for the port's PTP messages, not for a stream.
    pub timing: bool,
    /// Whether the hop is used only while a bridge has not learned another port (see
    /// [`crate::forwarding::learning`]).
    pub floods: bool,
    pub vid: u16,
    /// The next hops: part of [`Network::branches`].
    pub branches: IndexRange,
    /// The listeners at the other end: part of [`Network::listeners`].
    pub listeners: IndexRange,
}

/// The data of an egress port that the kernel needs besides its machine.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Link {
    /// The port's node.
    pub node: NodeId,
    /// The node at the other end.
    pub peer: NodeId,
    /// Delay from last bit out to last bit in.
    pub propagation: Duration,
    /// Delay from last bit in to the next queue.
    pub processing: Duration,
    /// The node at the other end forwards longer frames before they are whole; `u32::MAX` if it stores them. 0 if it
    /// has a processing time for each frame, so that every frame is checked (see [`crate::forwarding::processing`]).
    pub cut_through: u32,
    /// Delay from the first bit of the preamble out to the message timestamp point.
    pub until_timestamp_point: Duration,
    /// Taps on frames that talkers hand over at this port.
    pub send: IndexRange,
    /// Taps on frames that leave this port.
    pub tx: IndexRange,
    /// Taps on frames that arrive at the other end.
    pub rx: IndexRange,
}

/// The kernel's data of a tap.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Tap {
    pub number: u16,
    /// The node whose clock makes the timestamps.
    pub node: NodeId,
    pub point: Point,
    pub granularity_ns: i64,
}

/// Number of stages.
pub(crate) const STAGES: usize = Stage::ALL.len();

/// One listener of one stream.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Listener {
    pub stream: StreamId,
    pub node: NodeId,
}

/// The tables.
#[derive(Debug)]
pub(crate) struct Network {
    pub links: Vec<Link>,
    pub hops: Vec<Hop>,
    pub branches: Vec<HopId>,
    pub listeners: Vec<Listener>,
    pub taps: Vec<Tap>,
    /// For every stream, its talker's own hops, as part of [`Self::branches`].
    pub roots: Vec<IndexRange>,
    /// For every port that gPTP uses, the hop of its messages; empty without gPTP.
    pub timing: Vec<Option<HopId>>,
    /// For every port, its taps by stage (see [`Stage::ALL`]); empty if all taps are of `send`, `tx` or `rx`.
    pub stages: Vec<[IndexRange; STAGES]>,
    pub nodes: usize,
}

/// Most frames that one talker may hand over at one instant: a greater number is most likely a mistake, and would
/// fill the memory.
const MOST_FRAMES_AT_ONCE: usize = 1 << 20;

fn frames_at_once(stream: &Stream) -> usize {
    let backlog = if let Pattern::Saturating { backlog } = stream.pattern { backlog } else { 1 };
    let cut = match &stream.size {
        Size::Frame { .. } | Size::List { .. } => 1,
        Size::Units { octets, most_per_frame, .. } => {
            octets.iter().max().map_or(1, |most| most.div_ceil((*most_per_frame).max(1)))
        }
    };
    backlog.max(cut) as usize
}

fn limited(what: &'static str, found: usize, most: usize) -> Result<(), SimError> {
    if found <= most { Ok(()) } else { Err(SimError::TooMany { what, found, most }) }
}

impl Network {
    /// Builds the tables of a checked Plan.
    pub fn new(plan: &Plan) -> Result<Self, SimError> {
        let most = u32::MAX as usize / 2;
        limited("nodes", plan.nodes.len(), MOST_NODES)?;
        limited("ports", plan.ports.len(), most)?;
        limited("streams", plan.streams.len(), most)?;
        limited(
            "route entries",
            plan.streams.iter().map(|stream| stream.route.len() + stream.flood.len()).sum(),
            most,
        )?;
        limited("listeners", plan.streams.iter().map(|stream| stream.listeners.len()).sum(), most)?;
        for stream in &plan.streams {
            limited("frames of one talker at once", frames_at_once(stream), MOST_FRAMES_AT_ONCE)?;
        }
        let mut network = Self {
            links: Vec::with_capacity(plan.ports.len()),
            hops: Vec::new(),
            branches: Vec::new(),
            listeners: Vec::new(),
            taps: Vec::new(),
            roots: Vec::new(),
            timing: Vec::new(),
            stages: Vec::new(),
            nodes: plan.nodes.len(),
        };
        let at_ports = network.add_taps(plan);
        for (number, port) in plan.ports.iter().enumerate() {
            let peer = plan.ports[port.peer as usize].node;
            let processing_ns = plan.nodes[peer as usize].processing_ns;
            network.links.push(Link {
                node: NodeId(port.node),
                peer: NodeId(peer),
                propagation: Duration::from_ps(i64::try_from(port.propagation_ps).unwrap_or(i64::MAX)),
                processing: duration(processing_ns),
                cut_through: match &plan.nodes[peer as usize] {
                    node if node.further.is_some() => 0,
                    node => node.cut_through_octets.unwrap_or(u32::MAX),
                },
                until_timestamp_point: Line::new(BitRate(port.rate_bps)).until_timestamp_point(),
                send: at_ports[number][Stage::Send as usize],
                tx: at_ports[number][Stage::Tx as usize],
                rx: at_ports[port.peer as usize][Stage::Rx as usize],
            });
        }
        if plan.taps.iter().any(|tap| !matches!(tap.stage, Stage::Send | Stage::Tx | Stage::Rx)) {
            network.stages = at_ports;
        }
        for number in 0..plan.streams.len() {
            network.add_stream(plan, number);
        }
        network.add_floods(plan);
        if let Some(clocks) = &plan.clocks {
            network.timing = vec![None; plan.ports.len()];
            if let Some(gptp) = &clocks.gptp {
                network.add_timing(plan, gptp);
            }
        }
        Ok(network)
    }

    /// Sorts the taps by port and stage; returns every port's taps by stage.
    fn add_taps(&mut self, plan: &Plan) -> Vec<[IndexRange; STAGES]> {
        let mut at_ports = vec![[IndexRange::default(); STAGES]; plan.ports.len()];
        let mut order: Vec<usize> = (0..plan.taps.len()).collect();
        order.sort_by_key(|number| (plan.taps[*number].port, plan.taps[*number].stage, *number));
        for number in order {
            let tap = &plan.taps[number];
            let part = &mut at_ports[tap.port as usize][tap.stage as usize];
            let next = self.taps.len();
            let from = if part.from == part.to { next } else { part.from as usize };
            *part = IndexRange::new(from..next + 1);
            self.taps.push(Tap {
                number: number as u16,
                node: NodeId(plan.ports[tap.port as usize].node),
                point: tap.point,
                granularity_ns: i64::from(tap.granularity_ns),
            });
        }
        at_ports
    }

    /// Adds a hop for each port's PTP messages, which cross one link and end there; the hops belong to a stream after
    /// the Plan's own.
    fn add_timing(&mut self, plan: &Plan, gptp: &Gptp) {
        let given = gptp.slaves.iter().flat_map(|slave| [*slave, plan.ports[*slave as usize].peer]);
        let elected = gptp.bmca.iter().flat_map(|bmca| bmca.ports.iter().copied());
        for port in given.chain(elected) {
            self.timing[port as usize] = Some(HopId::at(self.hops.len()));
            self.hops.push(Hop {
                stream: StreamId::at(plan.streams.len()),
                port: PortId(port),
                class: plan.ports[port as usize].pcp_to_class[usize::from(gptp.pcp & 7)],
                at_talker: true,
                special: false,
                pcp: gptp.pcp,
                timing: true,
                floods: false,
                vid: 0,
                branches: IndexRange::default(),
                listeners: IndexRange::default(),
            });
        }
    }

    /// Adds flooded branches after the hops of all streams, each linked to its parent.
    fn add_floods(&mut self, plan: &Plan) {
        let mut first = 0;
        for (number, stream) in plan.streams.iter().enumerate() {
            let route = stream.route.len();
            let begin = self.hops.len();
            let priorities = plan.priorities(stream);
            let hop_of = |place: usize| if place < route { first + place } else { begin + place - route };
            for (hop, pcp) in stream.flood.iter().zip(priorities.iter().skip(route)) {
                self.hops.push(Hop {
                    stream: StreamId::at(number),
                    port: PortId(hop.port),
                    class: plan.ports[hop.port as usize].pcp_to_class[usize::from(*pcp & 7)],
                    at_talker: false,
                    special: true,
                    pcp: *pcp,
                    timing: false,
                    floods: true,
                    vid: stream.vid.unwrap_or(0),
                    branches: IndexRange::default(),
                    listeners: IndexRange::default(),
                });
            }
            for (place, hop) in stream.flood.iter().enumerate() {
                let parent = hop_of(hop.parent.unwrap_or_default() as usize);
                let mut branches = self.hops[parent].branches.of(&self.branches).to_vec();
                branches.push(HopId::at(begin + place));
                let from = self.branches.len();
                self.branches.extend(branches);
                self.hops[parent].branches = IndexRange::new(from..self.branches.len());
            }
            first += route;
        }
    }

    fn add_stream(&mut self, plan: &Plan, number: usize) {
        let stream = &plan.streams[number];
        let first_hop = self.hops.len();
        let priorities = plan.priorities(stream);
        let mut after: Vec<Vec<HopId>> = vec![Vec::new(); stream.route.len() + 1];
        for (place, hop) in stream.route.iter().enumerate() {
            let parent = hop.parent.map_or(stream.route.len(), |parent| parent as usize);
            after[parent].push(HopId::at(first_hop + place));
        }
        let mut listening: Vec<Vec<u32>> = vec![Vec::new(); stream.route.len()];
        for listener in &stream.listeners {
            listening[listener.route as usize].push(listener.node);
        }
        let mut branches = |list: &[HopId]| {
            let from = self.branches.len();
            self.branches.extend_from_slice(list);
            IndexRange::new(from..self.branches.len())
        };
        self.roots.push(branches(&after[stream.route.len()]));
        for (place, hop) in stream.route.iter().enumerate() {
            let from = self.listeners.len();
            let stream_number = StreamId::at(number);
            self.listeners.extend(
                listening[place].iter().map(|node| Listener { stream: stream_number, node: NodeId(*node) }),
            );
            self.hops.push(Hop {
                stream: stream_number,
                port: PortId(hop.port),
                // The Plan also contains the priority of untagged frames; the planner derives it from the ports of
                // the bridges.
                class: plan.ports[hop.port as usize].pcp_to_class[usize::from(priorities[place] & 7)],
                at_talker: hop.parent.is_none(),
                special: false,
                pcp: priorities[place],
                timing: false,
                floods: false,
                vid: stream.vid_on(place).unwrap_or(0),
                branches: branches(&after[place]),
                listeners: IndexRange::new(from..self.listeners.len()),
            });
        }
    }
}
