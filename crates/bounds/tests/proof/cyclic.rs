//! Cyclic queuing and forwarding for random plans: as the planner makes it, and with lists that do not quite fit.

use crate::common::*;
use proptest::prelude::*;
use tsn_plan::{Plan, Policing, StreamFilter, StreamGate, StreamGateEntry};

/// Cyclic queues at some nodes.
#[derive(Clone, Debug)]
pub struct Cyclic {
    turn_ns: u64,
    /// Classes 6, 5, …
    queues: usize,
    /// A bit per node.
    nodes: u8,
    /// Whether all frames of priorities 4 to 6 take turns, or those of 6 only.
    all: bool,
    /// At the end of each turn, no frame is sent for this long.
    pause_ns: u64,
    /// How much later than planned stream gates change.
    skew_ns: i64,
    octets_max: Option<u64>,
    /// Whether the other classes may send at any time, and whether shapers stay.
    others: bool,
    shaped: bool,
}

pub fn cyclic() -> impl Strategy<Value = Cyclic> {
    let turn = prop::sample::select(&[50_000u64, 100_000, 125_000, 250_000, 500_000, 77_777][..]);
    let nodes = prop_oneof![2 => Just(u8::MAX), 1 => any::<u8>()];
    let pause = prop_oneof![2 => Just(0), 2 => Just(6_000), 1 => 0..30_000u64];
    let skew = prop_oneof![3 => Just(0), 1 => -20_000..20_000i64];
    let octets = prop_oneof![4 => Just(None), 1 => (500..20_000u64).prop_map(Some)];
    let flags = (any::<bool>(), prop::bool::weighted(0.8), prop::bool::weighted(0.3));
    (turn, 2..4usize, nodes, pause, skew, octets, flags).prop_map(
        |(turn_ns, queues, nodes, pause_ns, skew_ns, octets_max, (all, others, shaped))| Cyclic {
            turn_ns,
            queues,
            nodes,
            all,
            pause_ns,
            skew_ns,
            octets_max,
            others,
            shaped,
        },
    )
}

/// Adds cyclic queues to a plan, if that leaves it valid.
pub fn add(plan: &mut Plan, own: &Cyclic) {
    let before = plan.clone();
    let takes = |node: u32| own.nodes >> (node % 8) & 1 == 1;
    let classes: Vec<u8> = (0..own.queues).map(|queue| 6 - queue as u8).collect();
    let others = if own.others { !classes.iter().fold(0, |all, class| all | 1 << class) } else { 0 };
    let mut list = Vec::new();
    for class in &classes {
        list.push((others | 1 << class, own.turn_ns - own.pause_ns));
        list.push((others, own.pause_ns));
    }
    list.retain(|(_, interval_ns)| *interval_ns > 0);
    for node in (0..plan.nodes.len() as u32).filter(|node| takes(*node)) {
        let mut table = Policing { node, ..Policing::default() };
        for ingress in (0..plan.ports.len() as u32).filter(|port| plan.ports[*port as usize].node == node) {
            table.gates.push(gate(plan, ingress, own, &classes, takes));
            for priority in if own.all { &[6, 5, 4][..] } else { &[6] } {
                table.filters.push(StreamFilter {
                    name: format!("turns {ingress} {priority}"),
                    ports: vec![ingress],
                    priority: Some(*priority),
                    gate: Some(table.gates.len() as u32 - 1),
                    ..StreamFilter::default()
                });
            }
        }
        plan.policing.push(table);
        for port in plan.ports.iter_mut().filter(|port| port.node == node) {
            port.gates = gates(0, &list);
            if !own.shaped {
                port.classes.iter_mut().for_each(|class| class.cbs = None);
            }
        }
    }
    if plan.check().is_err() {
        *plan = before;
    }
}

/// The gate of a port: frames of each turn go to the queue that is sent in the next one. From another cyclic node, those
/// that were sent in one turn.
fn gate(plan: &Plan, ingress: u32, own: &Cyclic, classes: &[u8], takes: impl Fn(u32) -> bool) -> StreamGate {
    let before = &plan.ports[plan.ports[ingress as usize].peer as usize];
    let processing = plan.nodes[plan.ports[ingress as usize].node as usize].processing_ns as i64;
    let base = if takes(before.node) { before.propagation_ps.div_ceil(1_000) as i64 } else { -processing };
    let entry = |turn: usize| StreamGateEntry {
        open: true,
        ipv: Some(classes[(turn + 1) % classes.len()]),
        interval_ns: own.turn_ns,
        octets_max: own.octets_max,
    };
    StreamGate {
        base_time_ns: base + own.skew_ns,
        cycle_ns: own.turn_ns * classes.len() as u64,
        entries: (0..classes.len()).map(entry).collect(),
        ..StreamGate::default()
    }
}
