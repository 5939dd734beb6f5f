//! Plans as Rust values, and runs of them.
#![allow(dead_code)]

pub mod anything;
pub mod mechanisms;
pub mod policing;
pub mod random;
pub mod shaped;
pub mod software;
pub mod wrong;

use tsn_observation::Sighting;
use tsn_plan::{
    Answers, Cbs, Class, Destination, FORMAT, GateChange, Gates, Node, NodeKind, Pattern, Plan, Point, Port,
    Requirements, Route, Servo, Size, Stage, Stream, Tap,
};
use tsn_sim::{RunCounters, Simulation, unwatched};

pub const GIGABIT: u64 = 1_000_000_000;
/// A full frame with a VLAN tag, and its time on a gigabit link, with preamble and gap.
pub const FULL: u32 = 1_522;
pub const FULL_NS: i64 = 12_336;

/// Octets that a frame adds on the wire before its first bit (preamble, delimiter) and after its last (gap).
pub const BEFORE: i64 = 8;
pub const AFTER: i64 = 12;

/// A plan under construction.
pub struct Net {
    pub plan: Plan,
}

impl Net {
    pub fn new(duration_ns: u64) -> Self {
        Self {
            plan: Plan {
                format: FORMAT.into(),
                name: "test".into(),
                seed: 7,
                duration_ns,
                drain_ns: 10_000_000_000,
                measure_from: None,
                ..Plan::default()
            },
        }
    }

    pub fn node(&mut self, name: &str, processing_ns: u64) -> u32 {
        let number = self.plan.nodes.len() as u32;
        self.plan.nodes.push(Node {
            name: name.into(),
            kind: NodeKind::Host,
            processing_ns,
            ipv4: format!("10.0.{}.{}", number / 250, number % 250 + 1),
            ..Node::default()
        });
        number
    }

    /// Links two nodes; the port of `a` has an even number, that of `b` the next one. Priority n has class n.
    pub fn link(&mut self, a: u32, b: u32, rate_bps: u64, propagation_ps: u64) -> u32 {
        let number = self.plan.ports.len() as u32;
        for (node, peer_node, peer) in [(a, b, number + 1), (b, a, number)] {
            let name = |node: u32| self.plan.nodes[node as usize].name.clone();
            let port = Port {
                name: format!("{} -> {}", name(node), name(peer_node)),
                node,
                peer,
                mac: format!("02:00:00:00:{:02x}:{:02x}", peer / 256, peer % 256),
                rate_bps,
                propagation_ps,
                pcp_to_class: [0, 1, 2, 3, 4, 5, 6, 7],
                classes: vec![Class::default(); 8],
                ..Port::default()
            };
            self.plan.ports.push(port);
        }
        number
    }

    /// Nodes n0, n1, … in a row, with equal links.
    pub fn line(&mut self, nodes: u32, processing_ns: u64, rate_bps: u64, propagation_ps: u64) -> Vec<u32> {
        let line: Vec<u32> =
            (0..nodes).map(|number| self.node(&format!("n{number}"), processing_ns)).collect();
        for pair in line.windows(2) {
            self.link(pair[0], pair[1], rate_bps, propagation_ps);
        }
        line
    }

    /// A run of this length over so many nodes in a row, which forward at once over links of 1 Gbit/s.
    pub fn row(duration_ns: u64, nodes: u32) -> (Self, Vec<u32>) {
        let mut net = Self::new(duration_ns);
        let row = net.line(nodes, 0, GIGABIT, 0);
        (net, row)
    }

    /// The first port from one node to another.
    pub fn port(&self, from: u32, to: u32) -> u32 {
        let ports = &self.plan.ports;
        let found = ports.iter().position(|port| port.node == from && ports[port.peer as usize].node == to);
        found.expect("nodes are linked") as u32
    }

    pub fn port_mut(&mut self, from: u32, to: u32) -> &mut Port {
        let number = self.port(from, to);
        &mut self.plan.ports[number as usize]
    }

    /// A unicast stream along `path`.
    pub fn stream(&mut self, name: &str, path: &[u32], pcp: u8, pattern: Pattern, size: Size) -> &mut Stream {
        let place = |from: usize| Route {
            port: self.port(path[from], path[from + 1]),
            parent: from.checked_sub(1).map(|parent| parent as u32),
        };
        let route: Vec<Route> = (0..path.len() - 1).map(place).collect();
        let listener = Destination { node: path[path.len() - 1], route: route.len() as u32 - 1 };
        self.tree(name, path[0], route, vec![listener], pcp, pattern, size)
    }

    /// A stream along any tree.
    #[allow(clippy::too_many_arguments)]
    pub fn tree(
        &mut self,
        name: &str,
        talker: u32,
        route: Vec<Route>,
        listeners: Vec<Destination>,
        pcp: u8,
        pattern: Pattern,
        size: Size,
    ) -> &mut Stream {
        // Each stream has its own addresses, so that every identification can distinguish the streams.
        let number = self.plan.streams.len() + 1;
        self.plan.streams.push(Stream {
            name: name.into(),
            group: name.into(),
            talker,
            pcp,
            vid: Some(1),
            destination_mac: format!("02:00:00:00:{:02x}:{:02x}", 0xff - number / 256, number % 256),
            destination_ipv4: "10.0.255.1".into(),
            udp_port: 5_000,
            type_of_service: 0,
            trdp: None,
            pattern,
            size,
            start_ns: 0,
            stop_ns: self.plan.duration_ns,
            route,
            redundancy: None,
            flood: Vec::new(),
            socket: None,
            scheduled: None,
            any_phase: false,
            answers: None,
            listeners,
            requirements: Requirements::default(),
        });
        self.plan.streams.last_mut().unwrap()
    }

    /// Adds a tap and returns its number.
    pub fn tap(&mut self, port: u32, stage: Stage, point: Point) -> u16 {
        let name = format!("{} {stage:?} {point:?}", self.plan.ports[port as usize].name);
        self.plan.taps.push(Tap { name, port, stage, point, granularity_ns: 1 });
        self.plan.taps.len() as u16 - 1
    }

    /// The default taps of a unicast path: tx start at the talker, rx end at the listener.
    pub fn tap_ends(&mut self, path: &[u32]) -> (u16, u16) {
        let first = self.port(path[0], path[1]);
        let last = self.port(path[path.len() - 1], path[path.len() - 2]);
        (self.tap(first, Stage::Tx, Point::Start), self.tap(last, Stage::Rx, Point::End))
    }
}

/// A stream back along the path of a request, from one of its listeners; it is released when the listener has
/// received the request.
pub fn respond(
    plan: &mut Plan,
    request: usize,
    listener: usize,
    pcp: u8,
    size: Size,
    after_ns: u64,
) -> &mut Stream {
    let mut net = Net { plan: plan.clone() };
    let own = plan.streams[request].clone();
    let Pattern::Periodic { period_ns, .. } = own.pattern else { panic!("{} is not periodic", own.name) };
    let mut at = Some(own.listeners[listener].route);
    let mut route = Vec::new();
    while let Some(hop) = at {
        let hop = own.route[hop as usize];
        let port = plan.ports[hop.port as usize].peer;
        route.push(Route { port, parent: (route.len() as u32).checked_sub(1) });
        at = hop.parent;
    }
    let end = Destination { node: own.talker, route: route.len() as u32 - 1 };
    let name = format!("{} answered by {}", own.name, plan.streams.len());
    let stream =
        net.tree(&name, own.listeners[listener].node, route, vec![end], pcp, periodic(period_ns, 0), size);
    stream.answers = Some(Answers { stream: request as u32, after_ns });
    *plan = net.plan;
    plan.streams.last_mut().unwrap()
}

pub fn periodic(period_ns: u64, offset_ns: u64) -> Pattern {
    Pattern::Periodic { period_ns, offset_ns, jitter_ns: 0 }
}

pub fn frame(octets: u32) -> Size {
    Size::Frame { octets }
}

pub fn cbs(idle_slope_bps: i64, rate_bps: i64, hi_credit_bits: i64, lo_credit_bits: i64) -> Cbs {
    Cbs {
        idle_slope_bps,
        send_slope_bps: idle_slope_bps - rate_bps,
        hi_credit_bits,
        lo_credit_bits,
        ..Cbs::default()
    }
}

pub fn gates(base_time_ns: i64, entries: &[(u8, u64)]) -> Option<Gates> {
    let entry = |(open, interval_ns): &(u8, u64)| tsn_plan::GateEntry {
        open: *open,
        interval_ns: *interval_ns,
        mac: None,
    };
    let entries: Vec<_> = entries.iter().map(entry).collect();
    Some(Gates {
        base_time_ns,
        cycle_ns: entries.iter().map(|entry| entry.interval_ns).sum(),
        entries,
        ..Gates::default()
    })
}

/// A gate control list that is requested at a time.
pub fn change(at_ns: i64, base_time_ns: i64, list: &[(u8, u64)]) -> GateChange {
    let Gates { cycle_ns, entries, .. } = gates(base_time_ns, list).unwrap();
    GateChange { at_ns, base_time_ns, cycle_ns, entries, ..GateChange::default() }
}

/// A run; every frame of it is accounted for.
pub fn run(plan: &Plan) -> (Vec<Sighting>, RunCounters) {
    let mut sightings = Vec::new();
    let counters = Simulation::new(plan).unwrap().run(&mut sightings, &mut unwatched).unwrap();
    assert_conserved(&counters);
    (sightings, counters)
}

/// The stamps of one stream at one tap, in order.
pub fn stamps(sightings: &[Sighting], tap: u16, stream: u32) -> Vec<i64> {
    let here = sightings.iter().filter(|sighting| sighting.tap == tap && sighting.stream == stream);
    here.map(|sighting| sighting.t_ns.unwrap()).collect()
}

/// Delays of one stream between two taps, by sequence number.
pub fn delays(sightings: &[Sighting], (tx, rx): (u16, u16), stream: u32) -> Vec<i64> {
    let of = |tap: u16| sightings.iter().filter(move |one| one.tap == tap && one.stream == stream);
    let received = |seq: u64| of(rx).find(|one| one.seq == seq).unwrap().t_ns.unwrap();
    of(tx).map(|one| received(one.seq) - one.t_ns.unwrap()).collect()
}

/// Every released frame is accounted for.
pub fn assert_conserved(counters: &RunCounters) {
    let mut made = 0;
    let mut gone = counters.in_network_at_end;
    for stream in &counters.streams {
        made += stream.released + stream.replicated;
        gone += stream.dropped_at_talker + stream.dropped_in_network + stream.delivered.values().sum::<u64>();
        gone += stream.lost_to_faults + stream.eliminated + stream.filtered;
    }
    assert_eq!(made, gone, "{counters:#?}");
}

/// linuxptp's defaults of a clock servo.
pub fn servo() -> Servo {
    Servo {
        pi_proportional_scale: 700,
        pi_proportional_exponent: -300,
        pi_proportional_norm_max: 700,
        pi_integral_scale: 300,
        pi_integral_exponent: 400,
        pi_integral_norm_max: 300,
        first_step_threshold_ns: 20_000,
        step_threshold_ns: 0,
        max_frequency_ppb: 62_499_999,
    }
}
