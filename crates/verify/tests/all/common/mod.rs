//! Plans of schedules, as the planner makes them.
#![allow(dead_code)]

use tsn_plan::{
    Class, Destination, FORMAT, GateEntry, Gates, Merge, Node, NodeKind, Pattern, Plan, Port, Redundancy,
    Requirements, Route, Scheduled, Size, Stream,
};
use tsn_schedule::{GateList, Placed, Problem};

/// Octets that a frame adds to its application octets.
const OVERHEAD: u32 = 46;

/// The Plan of a placement; links are in pairs. Queue n is class 7 - n.
pub fn plan(problem: &Problem, placed: &[Option<Placed>], lists: &[GateList], duration_ns: u64) -> Plan {
    let mut plan = Plan {
        format: FORMAT.into(),
        name: "test".into(),
        seed: 7,
        duration_ns,
        drain_ns: 1_000_000_000,
        measure_from: None,
        ..Plan::default()
    };
    for (number, node) in problem.nodes.iter().enumerate() {
        plan.nodes.push(Node {
            name: format!("n{number}"),
            kind: if node.forwards { NodeKind::Host } else { NodeKind::Station },
            processing_ns: node.processing_ps as u64 / 1_000,
            ipv4: format!("10.0.{}.{}", number / 250, number % 250 + 1),
            ..Node::default()
        });
    }
    for (number, link) in problem.links.iter().enumerate() {
        let gates = lists.iter().find(|list| list.link as usize == number).map(|list| {
            let queues =
                |bits: u8| (0..8).filter(|q| bits >> q & 1 == 1).fold(0_u8, |all, q| all | 1 << (7 - q));
            let foreign = !queues(((1_u16 << link.queues) - 1) as u8);
            let entry = |entry: &tsn_schedule::GateEntry| GateEntry {
                open: queues(entry.queues) | if entry.others { foreign } else { 0 },
                interval_ns: entry.interval_ns as u64,
                mac: None,
            };
            Gates {
                base_time_ns: list.base_ns,
                cycle_ns: list.cycle_ns as u64,
                entries: list.entries.iter().map(entry).collect(),
                ..Gates::default()
            }
        });
        plan.ports.push(Port {
            name: format!("n{} -> n{}", link.from, link.to),
            node: link.from,
            peer: (number ^ 1) as u32,
            mac: format!("02:00:00:00:{:02x}:{:02x}", number / 256, number % 256),
            rate_bps: link.rate_bps,
            propagation_ps: link.propagation_ps as u64,
            pcp_to_class: [0, 1, 2, 3, 4, 5, 6, 7],
            classes: vec![Class::default(); 8],
            gates,
            ..Port::default()
        });
    }
    for (number, placed) in placed.iter().enumerate() {
        let Some(placed) = placed else { continue };
        let stream = scheduled(problem, number, placed, plan.streams.len(), duration_ns);
        plan.streams.push(stream);
    }
    plan
}

fn scheduled(problem: &Problem, number: usize, placed: &Placed, place: usize, stop_ns: u64) -> Stream {
    let own = &problem.streams[number];
    let (mut route, mut starts, mut at) = (Vec::<Route>::new(), Vec::<Vec<u64>>::new(), Vec::new());
    let mut merges: Vec<Merge> = Vec::new();
    for (entry, start) in placed.tree.iter().zip(&placed.starts_ps) {
        let parent = entry.parent.map(|parent| at[parent as usize]);
        let known = route.iter().position(|hop| hop.port == entry.link);
        if let Some(known) = known {
            starts[known].push(*start as u64);
            at.push(known as u32);
            if route[known].parent != parent {
                let first = route[known].parent.unwrap();
                match merges.iter_mut().find(|merge| merge.from[0] == first) {
                    Some(merge) => merge.from.push(parent.unwrap()),
                    None => merges.push(Merge { from: vec![first, parent.unwrap()] }),
                }
            }
            continue;
        }
        route.push(Route { port: entry.link, parent });
        starts.push(vec![*start as u64]);
        at.push(route.len() as u32 - 1);
    }
    let listeners = own.listeners.iter().map(|node| {
        let last = route.iter().position(|hop| problem.links[hop.port as usize].to == *node).unwrap();
        Destination { node: *node, route: last as u32 }
    });
    let margin = placed.tree.iter().map(|entry| problem.links[entry.link as usize].margin_ps).min();
    let octets: Vec<u32> = own.frames.iter().map(|octets| octets - OVERHEAD).collect();
    Stream {
        name: format!("s{number}"),
        group: format!("s{number}"),
        talker: own.talker,
        pcp: 7 - placed.queue,
        vid: Some(1),
        destination_mac: format!("02:00:00:01:{:02x}:{:02x}", place / 256, place % 256),
        destination_ipv4: "10.0.255.1".into(),
        udp_port: 5_000,
        type_of_service: 0,
        trdp: None,
        pattern: Pattern::Periodic {
            period_ns: own.period_ns as u64,
            offset_ns: placed.offset_ns as u64,
            jitter_ns: 0,
        },
        any_phase: false,
        answers: None,
        size: Size::Units {
            octets: vec![octets.iter().sum()],
            most_per_frame: octets[0],
            overhead: OVERHEAD,
        },
        start_ns: 0,
        stop_ns,
        listeners: listeners.collect(),
        route,
        redundancy: (!merges.is_empty()).then(|| Box::new(Redundancy { merges, ..Redundancy::default() })),
        flood: Vec::new(),
        socket: None,
        requirements: Requirements { delay_ns: Some(own.deadline_ns as u64), ..Requirements::default() },
        scheduled: Some(Box::new(Scheduled {
            starts_ps: starts,
            margin_ps: margin.unwrap_or(0) as u64,
            behind: placed.behind.clone(),
        })),
    }
}

/// Saturating best effort from every node to the next one, so that every port in use is always busy.
pub fn saturate(plan: &mut Plan) {
    for number in 0..plan.ports.len() as u32 {
        let port = &plan.ports[number as usize];
        let (talker, node) = (port.node, plan.ports[port.peer as usize].node);
        plan.streams.push(Stream {
            name: format!("fill{number}"),
            group: "fill".into(),
            talker,
            pcp: 0,
            vid: Some(1),
            destination_mac: format!("02:00:00:02:{:02x}:{:02x}", number / 256, number % 256),
            destination_ipv4: "10.0.255.2".into(),
            udp_port: 5_001,
            type_of_service: 0,
            trdp: None,
            pattern: Pattern::Saturating { backlog: 2 },
            size: Size::Frame { octets: 1_522 },
            start_ns: 0,
            stop_ns: plan.duration_ns,
            route: vec![Route { port: number, parent: None }],
            listeners: vec![Destination { node, route: 0 }],
            redundancy: None,
            flood: Vec::new(),
            socket: None,
            requirements: Requirements::default(),
            scheduled: None,
            any_phase: false,
            answers: None,
        });
    }
}
