//! Bridges that learn: flooding until an address is known, ageing, and the load on other ports.

use crate::common::*;
use proptest::prelude::*;
use tsn_plan::{Fault, Learning, LossModel, NodeKind, Pattern, Plan, Route};

const SECOND: u64 = 1_000_000_000;

/// A bridge that learns.
fn learn(plan: &mut Plan, node: u32, ageing_ns: u64) {
    plan.nodes[node as usize].learning = Some(Learning { ageing_ns });
    plan.nodes[node as usize].kind = NodeKind::Bridge;
}

/// Adds, as the planner does, every other port of every learning bridge on the path of each unicast stream.
fn flood(plan: &mut Plan) {
    for number in 0..plan.streams.len() {
        let stream = &plan.streams[number];
        if stream.listeners.len() > 1 {
            continue;
        }
        let mut all: Vec<Route> = stream.route.clone();
        let mut place = 0;
        while place < all.len() {
            let came = &plan.ports[all[place].port as usize];
            let node = plan.ports[came.peer as usize].node;
            if plan.nodes[node as usize].learning.is_some() && node != stream.listeners[0].node {
                for port in 0..plan.ports.len() as u32 {
                    let own = stream.route.iter().any(|hop| hop.port == port);
                    if plan.ports[port as usize].node == node && port != came.peer && !own {
                        all.push(Route { port, parent: Some(place as u32) });
                    }
                }
            }
            place += 1;
        }
        let flood = all.split_off(stream.route.len());
        plan.streams[number].flood = flood;
    }
}

/// Stations a, b, c, d around bridge 0; one stream a to b every 100 us for 10 ms.
fn star(ageing_ns: u64, more: impl FnOnce(&mut Net)) -> tsn_sim::RunCounters {
    let mut net = Net::new(10_000_000);
    net.node("bridge", 0);
    for name in ["a", "b", "c", "d"] {
        let station = net.node(name, 0);
        net.link(0, station, GIGABIT, 0);
    }
    net.stream("there", &[1, 0, 2], 0, periodic(100_000, 0), frame(64));
    more(&mut net);
    learn(&mut net.plan, 0, ageing_ns);
    flood(&mut net.plan);
    let (_, counters) = run(&net.plan);
    counters
}

/// One frame from b to a that leaves b at `at_ns`.
fn answer(net: &mut Net, at_ns: u64) {
    net.stream("back", &[2, 0, 1], 0, periodic(SECOND, at_ns), frame(64));
}

fn sent(counters: &tsn_sim::RunCounters, port: usize) -> u64 {
    counters.ports[port].classes[0].sent_frames
}

#[test]
fn what_was_never_heard_is_flooded_for_ever() {
    let counters = star(300 * SECOND, |_| {});
    let stream = &counters.streams[0];
    assert_eq!((stream.released, stream.delivered["b"]), (100, 100));
    // Ports 0, 2, 4, 6 lead from the bridge to a, b, c, d.
    assert_eq!([0, 2, 4, 6].map(|port| sent(&counters, port)), [0, 100, 100, 100]);
    assert_eq!((stream.filtered, stream.replicated), (200, 200));
}

/// The bridge has b's frame 576 ns after it left; no later frame is flooded.
#[test]
fn one_frame_teaches() {
    for (at_ns, flooded) in [(1_050_000, 11), (1_000_000 - 1, 10), (1_000_000 + 1, 11), (0, 1)] {
        let counters = star(300 * SECOND, |net| answer(net, at_ns));
        // At 0 both frames arrive at once: a's is processed first.
        assert_eq!(counters.streams[0].filtered, 2 * flooded, "{at_ns}");
        assert_eq!(counters.streams[0].delivered["b"], 100);
        assert_eq!(counters.streams[1].filtered, 0, "a has been heard of before");
        assert_eq!([4, 6].map(|port| sent(&counters, port)), [flooded, flooded]);
    }
}

#[test]
fn what_is_not_heard_again_is_forgotten() {
    // b is learned at 1.050576 ms and forgotten after 2 ms: frames from 1.1 to 3.0 ms are not flooded.
    let counters = star(2_000_000, |net| answer(net, 1_050_000));
    assert_eq!(counters.streams[0].filtered, 2 * (100 - 20));
    // A station that sends more often than the ageing time stays known.
    let often = |net: &mut Net| {
        net.stream("back", &[2, 0, 1], 0, periodic(1_000_000, 50_000), frame(64));
    };
    assert_eq!(star(2_000_000, often).streams[0].filtered, 2);
}

/// Any frame of a station teaches its address, with any stream, priority and destination.
#[test]
fn any_frame_of_a_station_teaches() {
    let counters = star(300 * SECOND, |net| {
        net.stream("other", &[2, 0, 3], 5, periodic(SECOND, 550_000), frame(200));
    });
    assert_eq!(counters.streams[0].filtered, 2 * 6);
    assert_eq!(counters.streams[1].filtered, 2, "c has not been heard of");
}

/// a - s - t - b with c at s and d at t.
fn two_bridges(processing_ns: u64) -> Net {
    let mut net = Net::new(10_000_000);
    for name in ["s", "t", "a", "b", "c", "d"] {
        net.node(name, processing_ns);
    }
    for (one, other) in [(0, 1), (2, 0), (3, 1), (4, 0), (5, 1)] {
        net.link(one, other, GIGABIT, 0);
    }
    net
}

/// Flooded frames also teach the bridges that they reach.
#[test]
fn flooded_frames_teach_too() {
    let mut net = two_bridges(1_000);
    // Talker and listener are both at s; flooded frames reach t and d.
    net.stream("there", &[2, 0, 4], 0, periodic(100_000, 0), frame(64));
    net.stream("to a", &[3, 1, 0, 2], 0, periodic(SECOND, 5_000_000), frame(64));
    for bridge in [0, 1] {
        learn(&mut net.plan, bridge, 300 * SECOND);
    }
    flood(&mut net.plan);
    let (_, counters) = run(&net.plan);
    // c never sends: each frame reaches b and d over t.
    assert_eq!(counters.streams[0].filtered, 2 * 100);
    // t has learned a from flooded frames, and s from a's own link.
    assert_eq!(counters.streams[1].filtered, 0);
    assert_eq!(counters.streams[1].delivered["a"], 1);
}

/// A bridge that receives a flooded frame, and has learned that the listener is where the frame comes from,
/// filters the frame.
#[test]
fn a_bridge_that_knows_better_filters() {
    let mut net = two_bridges(0);
    net.stream("there", &[2, 0, 4], 0, periodic(100_000, 0), frame(64));
    net.stream("to d", &[4, 0, 1, 5], 0, periodic(SECOND, 2_050_000), frame(64));
    for (bridge, ageing) in [(0, 1_000_000), (1, 300 * SECOND)] {
        learn(&mut net.plan, bridge, ageing);
    }
    flood(&mut net.plan);
    let (_, counters) = run(&net.plan);
    // Until 2.05 ms frames reach b and d. Then s knows c for 1 ms; after that, t still knows c.
    let (before, known) = (21, 10);
    assert_eq!(counters.streams[0].filtered, 2 * before + (100 - before - known));
}

#[test]
fn flooding_takes_its_share_of_other_ports() {
    let with = |learning: bool| {
        let mut net = Net::new(10_000_000);
        net.node("bridge", 0);
        for name in ["a", "b", "c"] {
            let station = net.node(name, 0);
            net.link(0, station, GIGABIT, 0);
        }
        net.stream("unknown", &[1, 0, 2], 7, periodic(100_000, 0), frame(FULL));
        net.stream("other", &[2, 0, 3], 0, periodic(100_000, 11_700), frame(64));
        let ends = net.tap_ends(&[2, 0, 3]);
        if learning {
            // The ageing time is too short to remember b from one of its frames to a's next frame.
            learn(&mut net.plan, 0, 1_000);
            flood(&mut net.plan);
        }
        delays(&run(&net.plan).0, ends, 1)[5]
    };
    // b's frame is at the bridge 12.276 us after a's frame left a; a's frame is on its way to c since 12.240
    // us.
    assert_eq!(with(true) - with(false), FULL_NS - 36);
}

#[test]
fn what_is_not_modelled_is_refused() {
    let problem = |change: &dyn Fn(&mut Plan)| {
        let mut net = Net::new(1_000_000);
        net.node("bridge", 0);
        for name in ["a", "b", "c"] {
            let station = net.node(name, 0);
            net.link(0, station, GIGABIT, 0);
        }
        net.stream("s", &[1, 0, 2], 0, periodic(100_000, 0), frame(64));
        learn(&mut net.plan, 0, SECOND);
        flood(&mut net.plan);
        net.plan.check().unwrap();
        change(&mut net.plan);
        net.plan.check().unwrap_err().to_string()
    };
    assert!(problem(&|plan| plan.nodes[0].learning = None).contains("does not learn"));
    assert!(problem(&|plan| plan.nodes[0].kind = NodeKind::Host).contains("only bridges learn"));
    assert!(problem(&|plan| plan.nodes[0].cut_through_octets = Some(64)).contains("cut-through"));
    assert!(problem(&|plan| learn(plan, 0, 0)).contains("more than 0"));
    assert!(problem(&|plan| plan.streams[0].flood[0].parent = None).contains("not the index"));
    assert!(problem(&|plan| plan.streams[0].flood[0].parent = Some(2)).contains("not the index"));
    assert!(problem(&|plan| plan.streams[0].flood[0].port = 1).contains("not another one"));
    assert!(problem(&|plan| plan.streams[0].flood[0].port = 0).contains("not another one"));
    assert!(problem(&|plan| plan.streams[0].flood[0].port = 99).contains("not the index"));
    let express = Some(tsn_plan::Preemption { express: 1, ..Default::default() });
    assert!(problem(&|plan| plan.ports[3].preemption = express.clone()).contains("pre-emption"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// In any tree: frames are conserved; no node gets a frame twice; a listener that all bridges know gets
    /// only its own frames.
    #[test]
    fn learning_is_conserved_everywhere(
        plan in random::plan(),
        ageing in prop::collection::vec(prop::option::of(1_000..3_000_000u64), 7),
        further_ns in prop::option::of(0..10_000u64),
        lossy in prop::option::of((any::<prop::sample::Index>(), 0..1_000_000u32)),
    ) {
        let mut plan = plan;
        for (node, ageing) in ageing.iter().enumerate().take(plan.nodes.len()) {
            if let Some(ageing) = ageing {
                learn(&mut plan, node as u32, *ageing);
            }
            plan.nodes[node].further = further_ns.map(|up_to_ns| tsn_plan::Further::Uniform { up_to_ns });
        }
        flood(&mut plan);
        if let Some((port, loss_ppm)) = lossy {
            let port = port.index(plan.ports.len()) as u32;
            let (from_ns, until_ns, model) = (0, 1_000_000, LossModel::Bernoulli { loss_ppm });
            plan.faults.push(Fault::Loss { port, from_ns, until_ns, model });
            plan.faults.push(Fault::LinkDown { port, from_ns: until_ns, until_ns: until_ns + 300_000 });
        }
        let (sightings, counters) = run(&plan);
        let mut seen = std::collections::HashSet::new();
        for one in sightings.iter().filter(|one| random::Everywhere::place(one.tap).1 == 3) {
            prop_assert!(seen.insert((one.tap, one.stream, one.seq)), "{one:?} again");
        }
        for stream in &counters.streams {
            for delivered in stream.delivered.values() {
                prop_assert!(*delivered <= stream.released);
            }
        }
    }
}

/// The frames of saturating talkers are flooded and learned, too.
#[test]
fn saturating_talkers_are_flooded() {
    let counters = star(300 * SECOND, |net| {
        net.plan.streams[0].pattern = Pattern::Saturating { backlog: 2 };
        answer(net, 5_000_000);
    });
    let stream = &counters.streams[0];
    // 84 octets take 672 ns: 7441 frames have reached the bridge before 5.000576 ms.
    assert!(stream.filtered.abs_diff(2 * 7_440) <= 4, "{}", stream.filtered);
}
