//! FRER whose recovery uses its node's clock, with PTP and links that fail.

use crate::common::*;
use crate::timed::*;
use proptest::prelude::*;
use tsn_plan::{
    Algorithm, ClockFault, Destination, Fault, Identification, LossModel, Merge, Plan, Recovery, Redundancy,
    Route,
};

const MS: u64 = 1_000_000;

/// A talker, two bridges with two links between them, and a listener; a member stream on each link. Ports 2
/// and 4 lead from b1 to b2.
fn frer(reset_ns: u64, period_ns: u64) -> Plan {
    let mut net = Net::new(20 * MS);
    let nodes: Vec<u32> =
        ["talker", "b1", "b2", "listener"].iter().map(|name| net.node(name, 1_000)).collect();
    for (a, b) in [(0, 1), (1, 2), (1, 2), (2, 3)] {
        net.link(nodes[a], nodes[b], GIGABIT, 5_000);
    }
    let route = [(0, None), (2, Some(0)), (4, Some(0)), (6, Some(1))];
    let route = route.map(|(port, parent)| Route { port, parent }).to_vec();
    let listeners = vec![Destination { node: nodes[3], route: 3 }];
    net.tree("s", nodes[0], route, listeners, 3, periodic(period_ns, 0), frame(1_000));
    net.plan.streams[0].redundancy = Some(Box::new(Redundancy {
        copies: vec![0, 1, 2, 0],
        merges: vec![Merge { from: vec![1, 2] }],
        active: Vec::new(),
        recovery: Some(Recovery {
            identification: Identification::Null,
            algorithm: Algorithm::Vector { history: 32 },
            reset_ns,
            individual: false,
            latent: None,
        }),
    }));
    net.plan
}

/// With a correct clock, frames 1 ms apart never let a timer of 1.0005 ms expire. For a recovery function
/// whose clock is 1000 ppm fast, the distance is 1.001 ms, so the function resets every time.
#[test]
fn recovery_timers_go_by_their_nodes_clock() {
    let resets = |ppm: i64| {
        let mut plan = frer(1_000_500, MS);
        plan.drain_ns = 0;
        plan.clocks = Some(clocks(&[0, 0, ppm, 0]));
        let (_, counters) = observed(&plan);
        assert_conserved(&counters);
        counters.recoveries[0].resets
    };
    assert_eq!(resets(0), 0);
    assert_eq!(resets(-1_000), 0);
    assert!(resets(1_000) >= 19, "{}", resets(1_000));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any faults on one of two paths and any clock errors: every frame is delivered once.
    #[test]
    fn one_sound_way_is_enough(
        path in 0..2u32,
        loss_ppm in 0..=1_000_000u32,
        cut in (0..20u64, 1..10u64),
        ppm in prop::collection::vec(-200..200i64, 4),
        step in prop::option::of((0..4u32, 0..20u64, -5_000_000..5_000_000i64)),
    ) {
        let mut plan = frer(2_000 * MS, 100_000);
        let port = 2 + 2 * path;
        let model = LossModel::Bernoulli { loss_ppm };
        plan.faults.push(Fault::Loss { port, from_ns: 0, until_ns: 100 * MS, model });
        plan.faults.push(Fault::LinkDown { port, from_ns: cut.0 * MS, until_ns: (cut.0 + cut.1) * MS });
        let tree = tree(&plan);
        plan.clocks = Some(clocks(&ppm));
        let clocks = plan.clocks.as_mut().expect("clocks");
        clocks.gptp = Some(gptp(tree, 128));
        if let Some((node, at, by_ns)) = step {
            clocks.faults = vec![ClockFault::ClockStep { node, at_ns: at * MS, by_ns }];
        }
        let (_, counters) = observed(&plan);
        assert_conserved(&counters);
        let stream = &counters.streams[0];
        prop_assert_eq!(stream.delivered["listener"] + counters.in_network_at_end, stream.released);
    }
}
