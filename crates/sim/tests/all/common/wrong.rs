//! All kinds of faults, and a network with two paths.

use super::*;
use proptest::prelude::*;
use tsn_plan::{Algorithm, Fault, Identification, LossModel, Merge, Recovery, Redundancy, Rewritten};

/// One fault without a place: kind, index of the port, start (us), length (us), share, and a variant of the
/// kind.
pub type Wrong = (u8, prop::sample::Index, u64, u64, u32, bool);

pub fn wrongs(most: usize) -> impl Strategy<Value = Vec<Wrong>> {
    let one =
        (0..9u8, any::<prop::sample::Index>(), 0..2_000u64, 1..1_000u64, 0..1_000_000u32, any::<bool>());
    prop::collection::vec(one, 0..most)
}

/// The fault at one of these ports, or at the node of a port.
pub fn fault(plan: &Plan, ports: &[u32], (kind, place, from, length, share, flag): &Wrong) -> Fault {
    let port = ports[place.index(ports.len())];
    let (from_ns, until_ns) = (from * 1_000, (from + length) * 1_000);
    let loss = |model| Fault::Loss { port, from_ns, until_ns, model };
    match kind {
        0 => Fault::LinkDown { port, from_ns, until_ns },
        1 => loss(LossModel::Bernoulli { loss_ppm: *share }),
        2 => loss(LossModel::BitErrors { per_petabit: u64::from(*share) * 100_000_000 }),
        3 => loss(LossModel::GilbertElliott {
            to_bad_ppm: *share,
            to_good_ppm: 300_000,
            loss_good_ppm: 0,
            loss_bad_ppm: 1_000_000,
        }),
        4 | 5 => Fault::Delay {
            port,
            from_ns,
            until_ns,
            least_ns: length * 50,
            most_ns: length * 100,
            share_ppm: *share,
            keeps_order: *flag,
        },
        6 => Fault::Duplicate { port, from_ns, until_ns, share_ppm: *share, after_ns: length * 100 },
        7 => Fault::Schedule {
            port,
            from_ns,
            until_ns,
            gates: if *flag { None } else { gates(7, &[(0x55, 30_000), (0xff, 20_000)]).map(Box::new) },
        },
        _ => Fault::NodeDown { node: plan.ports[port as usize].node, from_ns, until_ns },
    }
}

/// Adds a fault if the Plan stays valid: a second wrong schedule at the same time and place is not valid.
pub fn add(plan: &mut Plan, fault: Fault) {
    plan.faults.push(fault);
    if plan.check().is_err() {
        plan.faults.pop();
    }
}

/// Two bridges between talker and listener, two paths over one more bridge each, and other streams on the
/// links.
///
/// Ports: 0 t -> s, 2 s -> x, 4 s -> y, 6 x -> m, 8 y -> m, 10 m -> l.
pub fn two_paths(rates: [u64; 2], others: &[(u8, u64, u32)]) -> Plan {
    let mut net = Net::new(3_000_000);
    let nodes: Vec<u32> = ["t", "s", "x", "y", "m", "l"].map(|name| net.node(name, 700)).to_vec();
    for (a, b, rate) in [
        (0, 1, GIGABIT),
        (1, 2, rates[0]),
        (1, 3, rates[1]),
        (2, 4, rates[0]),
        (3, 4, rates[1]),
        (4, 5, GIGABIT),
    ] {
        net.link(nodes[a], nodes[b], rate, 90_000);
    }
    let route = [(0, None), (2, Some(0)), (4, Some(0)), (6, Some(1)), (8, Some(2)), (10, Some(3))];
    let route = route.map(|(port, parent)| Route { port, parent }).to_vec();
    let listeners = vec![Destination { node: nodes[5], route: 5 }];
    let stream = net.tree("s", nodes[0], route, listeners, 3, periodic(100_000, 0), frame(800));
    // Every second plan has another priority on its paths.
    let identification = match others.first() {
        Some((pcp, period, _)) if period % 2 == 0 => Identification::Active(Rewritten {
            destination_mac: "02:cb:00:00:00:01".into(),
            vid: 200,
            pcp: pcp ^ 1,
        }),
        _ => Identification::Null,
    };
    stream.redundancy = Some(Box::new(Redundancy {
        copies: vec![0, 1, 2, 1, 2, 0],
        merges: vec![Merge { from: vec![3, 4] }],
        active: Vec::new(),
        recovery: Some(Recovery {
            identification,
            algorithm: Algorithm::Vector { history: 64 },
            reset_ns: 2_000_000_000,
            individual: false,
            latent: None,
        }),
    }));
    for (number, (pcp, period, octets)) in others.iter().enumerate() {
        let by = nodes[2 + number % 2];
        let path = [nodes[1], by, nodes[4]];
        net.stream(&format!("o{number}"), &path, *pcp, periodic(*period, 0), frame(*octets));
    }
    net.plan
}
