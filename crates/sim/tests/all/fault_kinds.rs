//! Every kind of fault in closed form, and its effect on frames that are cut through or sent in parts.

use crate::common::*;
use tsn_plan::{
    Algorithm, Destination, Fault, Identification, LossModel, Merge, Pattern, Plan, Point, Preemption,
    Recovery, Redundancy, Route, Stage,
};
use tsn_sim::RunCounters;

const AFTER_OCTETS: u32 = 337;
/// The instant at which a cut-through node starts to forward a frame that starts at 0.
const PASSED_ON: i64 = (AFTER_OCTETS as i64 + BEFORE) * 8;

/// A talker, bridges with or without cut-through, and a listener; one full frame at 0, at 1 Gbit/s, without
/// other delays.
fn through(cutting: &[bool]) -> (Net, Vec<u32>) {
    let mut net = Net::new(1_000_000);
    let path = net.line(cutting.len() as u32 + 2, 0, GIGABIT, 0);
    for (node, cuts) in path[1..].iter().zip(cutting) {
        net.plan.nodes[*node as usize].cut_through_octets = cuts.then_some(AFTER_OCTETS);
    }
    net.stream("one", &path, 3, periodic(1_000_000, 0), frame(FULL));
    (net, path)
}

fn down(port: u32, from_ns: u64, until_ns: u64) -> Fault {
    Fault::LinkDown { port, from_ns, until_ns }
}

fn done(plan: &Plan) -> (Vec<tsn_observation::Sighting>, RunCounters) {
    plan.check().unwrap();
    let (sightings, counters) = run(plan);
    let faulted: u64 = counters.ports.iter().map(|port| port.dropped_faults).sum();
    assert_eq!(faulted, counters.streams.iter().map(|stream| stream.lost_to_faults).sum::<u64>());
    (sightings, counters)
}

/// A frame that is cut during cut-through becomes its forwarded part, with a wrong check sequence.
#[test]
fn a_truncated_frame_keeps_the_next_link_busy_for_what_is_left_of_it() {
    // 8 us after the first bit of the preamble, 992 octets have arrived.
    for (cut_ns, busy) in [(8_000, 992 + BEFORE + AFTER), (PASSED_ON as u64, 337 + BEFORE + AFTER)] {
        let (mut net, _) = through(&[true]);
        // A frame of the bridge itself, behind the other one.
        net.stream("own", &[1, 2], 3, periodic(1_000_000, PASSED_ON as u64 + 10), frame(64));
        let tx = net.tap(2, Stage::Tx, Point::Start);
        net.plan.faults = vec![down(0, cut_ns, 500_000)];
        let (sightings, counters) = done(&net.plan);
        assert_eq!(stamps(&sightings, tx, 1), [PASSED_ON + (busy + BEFORE) * 8], "cut at {cut_ns}");
        assert!(stamps(&sightings, tx, 0).is_empty(), "who captures drops it");
        assert_eq!((counters.streams[0].lost_to_faults, counters.ports[2].dropped_faults), (1, 1));
        assert_eq!(counters.faults[0].frames, 1);
    }
    // The frame is cut one octet before the decision to forward, so no part of it is forwarded.
    let (mut net, _) = through(&[true]);
    net.plan.faults = vec![down(0, PASSED_ON as u64 - 8, 500_000)];
    let (_, counters) = done(&net.plan);
    assert_eq!((counters.frame_hops, counters.ports[0].dropped_faults), (1, 1));
}

/// A frame with a bit error travels until the first node that stores it.
#[test]
fn an_errored_frame_is_dropped_by_the_first_who_stores_it() {
    let model = LossModel::BitErrors { per_petabit: 1_000_000_000_000_000 };
    let errors = Fault::Loss { port: 0, from_ns: 0, until_ns: 1_000_000, model };
    for (cutting, hops) in
        [(&[false, true][..], 1), (&[true, false], 2), (&[true, true], 3), (&[true, true, true], 4)]
    {
        let (mut net, _) = through(cutting);
        net.plan.faults = vec![errors.clone()];
        let (_, counters) = done(&net.plan);
        let last = 2 * (hops as usize - 1);
        assert_eq!((counters.frame_hops, counters.ports[last].dropped_faults), (hops, 1), "{cutting:?}");
        assert_eq!(counters.streams[0].delivered.values().sum::<u64>(), 0);
    }
    // A frame that is lost completely is not forwarded by any node; a short frame is stored.
    let (mut net, _) = through(&[true, true]);
    let model = LossModel::Bernoulli { loss_ppm: 1_000_000 };
    net.plan.faults = vec![Fault::Loss { port: 0, from_ns: 0, until_ns: 1_000_000, model }];
    assert_eq!(done(&net.plan).1.frame_hops, 1);
    net.plan.streams[0].size = frame(AFTER_OCTETS);
    net.plan.faults = vec![errors];
    assert_eq!(done(&net.plan).1.frame_hops, 1);
}

/// A full frame is sent from 1 us on, and an express frame cuts it at 5 us: it is off the wire from 5.128 to
/// 5.8 us.
#[test]
fn a_link_that_fails_between_two_parts_loses_the_frame() {
    let build = || {
        let mut net = Net::new(1_000_000);
        net.line(2, 0, GIGABIT, 0);
        net.plan.ports[0].preemption = Some(Preemption { express: 0x80, ..Default::default() });
        net.stream("low", &[0, 1], 0, periodic(1_000_000, 1_000), frame(FULL));
        net.stream("high", &[0, 1], 7, periodic(1_000_000, 5_000), frame(64));
        net
    };
    let end = 1_000 + (BEFORE + i64::from(FULL) + BEFORE + 4 + AFTER + BEFORE + 64 + AFTER) * 8;
    let lost = |from: u64, until: u64| {
        let mut net = build();
        net.plan.faults = vec![down(0, from, until)];
        done(&net.plan).1.streams.iter().map(|stream| stream.lost_to_faults).collect::<Vec<u64>>()
    };
    assert_eq!(lost(5_130, 5_140), [1, 1], "while the express frame is on the wire");
    assert_eq!(lost(5_710, 5_720), [1, 0], "in the gap behind it");
    assert_eq!(lost(900, 1_001), [1, 0]);
    assert_eq!(lost(end as u64, 20_000), [1, 0]);
    assert_eq!(lost(end as u64 + 1, 20_000), [0, 0]);
}

/// Talker -> b1 -> (two links) -> b2 -> listener, and a stream with FRER over both links.
fn kboxes(octets: u32) -> Net {
    let mut net = Net::new(20_000_000);
    let nodes: Vec<u32> = ["talker", "b1", "b2", "listener"].map(|name| net.node(name, 0)).to_vec();
    for pair in [(0, 1), (1, 2), (1, 2), (2, 3)] {
        net.link(nodes[pair.0], nodes[pair.1], GIGABIT, 0);
    }
    let route = [(0, None), (2, Some(0)), (4, Some(0)), (6, Some(1))];
    let route = route.map(|(port, parent)| Route { port, parent }).to_vec();
    let listeners = vec![Destination { node: nodes[3], route: 3 }];
    let stream = net.tree("s", nodes[0], route, listeners, 3, periodic(100_000, 0), frame(octets));
    stream.redundancy = Some(Box::new(Redundancy {
        copies: vec![0, 1, 2, 0],
        merges: vec![Merge { from: vec![1, 2] }],
        active: Vec::new(),
        recovery: Some(Recovery {
            identification: Identification::Null,
            algorithm: Algorithm::Vector { history: 32 },
            reset_ns: 2_000_000_000,
            individual: false,
            latent: None,
        }),
    }));
    net
}

/// The first member stream's frame begins earlier, is interrupted, and is complete after the second one's:
/// the second one goes on.
#[test]
fn elimination_takes_the_first_complete_copy() {
    let mut net = kboxes(1_500);
    net.plan.ports[2].preemption = Some(Preemption { express: 0x80, ..Default::default() });
    net.stream("high", &[1, 2], 7, periodic(100_000, 15_000), frame(64));
    // The second cable takes 200 ns; the interruption takes 864 ns.
    net.plan.ports[4].propagation_ps = 200_000;
    let taps = [3, 5].map(|port| [Point::Start, Point::End].map(|point| net.tap(port, Stage::Rx, point)));
    let out = net.tap(6, Stage::Tx, Point::Start);
    let (sightings, counters) = done(&net.plan);
    assert_eq!(counters.streams[0].delivered["listener"], 200);
    assert_eq!((counters.recoveries[0].passed, counters.recoveries[0].discarded), (200, 200));
    let of = |tap: u16| stamps(&sightings, tap, 0)[0];
    let into_b1 = (BEFORE + 1_500) * 8;
    let plain = into_b1 + (BEFORE + 1_506) * 8;
    let interruption = (BEFORE + 4 + AFTER + BEFORE + 64 + AFTER) * 8;
    assert_eq!(of(taps[0][0]), into_b1 + BEFORE * 8, "the first part's first bit");
    assert_eq!(of(taps[0][1]), plain + interruption);
    assert_eq!((of(taps[1][0]), of(taps[1][1])), (into_b1 + BEFORE * 8 + 200, plain + 200));
    assert_eq!(of(out), plain + 200 + BEFORE * 8);
    let eliminated = sightings.iter().filter(|one| one.copy & tsn_observation::ELIMINATED != 0);
    assert!(eliminated.clone().count() == 400 && eliminated.clone().all(|one| one.copy & 0x7f == 1));
}

/// A node that eliminates frames stores the member streams, even if it cuts other frames through. A node that
/// replicates frames cuts them through, six octets longer.
#[test]
fn copies_are_made_in_passing_and_eliminated_whole() {
    let mut net = kboxes(1_500);
    net.plan.nodes.iter_mut().for_each(|node| node.cut_through_octets = Some(AFTER_OCTETS));
    let out = net.tap(6, Stage::Tx, Point::Start);
    let (sightings, _) = done(&net.plan);
    let expected = PASSED_ON + (BEFORE + 1_506) * 8 + BEFORE * 8;
    assert_eq!(stamps(&sightings, out, 0)[0], expected);
    // A member stream's frame that is cut during cut-through does not prevent the other one from going on.
    net.plan.faults = vec![down(0, 5_000, 6_000)];
    let (_, counters) = done(&net.plan);
    assert_eq!((counters.streams[0].lost_to_faults, counters.streams[0].delivered["listener"]), (2, 199));
    net.plan.faults = vec![down(2, 5_000, 6_000)];
    let (_, counters) = done(&net.plan);
    assert_eq!((counters.streams[0].lost_to_faults, counters.streams[0].delivered["listener"]), (1, 200));
}

/// A station, a bridge with 50 us of processing and a station; 1 250 octets every 100 us for 10 ms.
fn line() -> (Net, (u16, u16)) {
    let mut net = Net::new(10_000_000);
    let nodes = [net.node("a", 0), net.node("b", 50_000), net.node("c", 0)];
    net.link(nodes[0], nodes[1], GIGABIT, 500_000);
    net.link(nodes[1], nodes[2], GIGABIT, 500_000);
    net.stream("s", &nodes, 3, periodic(100_000, 0), frame(1_250));
    let taps = net.tap_ends(&nodes);
    (net, taps)
}

fn received(plan: &Plan, rx: u16) -> (Vec<u64>, RunCounters) {
    let (sightings, counters) = done(plan);
    (sightings.iter().filter(|one| one.tap == rx).map(|one| one.seq).collect(), counters)
}

#[test]
fn a_bridge_that_is_down_loses_what_it_holds_and_what_comes() {
    let (mut net, taps) = line();
    // Frame n reaches the bridge at n * 100 us + 10.564 us, leaves it 50 us later, and takes 10.064 us again.
    net.plan.faults = vec![Fault::NodeDown { node: 1, from_ns: 2_030_000, until_ns: 2_550_000 }];
    let (numbers, counters) = received(&net.plan, taps.1);
    // 20 is in processing; 25 arrives at 2 510.6 us; 26 arrives completely.
    assert_eq!(numbers, (0..20).chain(26..100).collect::<Vec<u64>>());
    assert_eq!(counters.streams[0].lost_to_faults, 6);
    // A shorter outage than the processing of a frame in the node still loses this frame.
    net.plan.faults = vec![Fault::NodeDown { node: 1, from_ns: 2_030_000, until_ns: 2_040_000 }];
    assert_eq!(received(&net.plan, taps.1).0, (0..20).chain(21..100).collect::<Vec<u64>>());
    // Frames that wait for a gate are lost: it is closed from 2.0 to 2.5 ms of every 5 ms.
    net.plan.ports[2].gates = gates(0, &[(0xff, 2_000_000), (0, 500_000), (0xff, 2_500_000)]);
    net.plan.faults = vec![Fault::NodeDown { node: 1, from_ns: 2_290_000, until_ns: 2_295_000 }];
    let (numbers, counters) = received(&net.plan, taps.1);
    assert_eq!(numbers, (0..20).chain(23..100).collect::<Vec<u64>>(), "20 to 22 waited");
    assert_eq!((counters.ports[2].dropped_faults, counters.faults[0].frames), (3, 3));
    assert_eq!(counters.faults[0].kind, "node-down");
}

#[test]
fn a_talker_that_is_down_is_silent() {
    for pattern in [periodic(100_000, 0), Pattern::Saturating { backlog: 3 }] {
        let (mut net, taps) = line();
        net.plan.streams[0].pattern = pattern.clone();
        net.plan.faults = vec![
            Fault::NodeDown { node: 0, from_ns: 2_000_000, until_ns: 2_550_000 },
            Fault::NodeDown { node: 0, from_ns: 2_400_000, until_ns: 3_000_000 },
        ];
        let (sightings, counters) = done(&net.plan);
        let sent = stamps(&sightings, taps.0, 0);
        assert!(sent.iter().all(|at| !(2_000_000..3_000_000).contains(at)));
        if pattern == periodic(100_000, 0) {
            assert_eq!((counters.streams[0].released, counters.streams[0].lost_to_faults), (90, 0));
            // The frame with its start at 3 ms is sent.
            assert!(sent.contains(&3_000_064));
        } else {
            // Frames are back to back at once: one frame was cut, and the three behind it were flushed.
            assert!(sent.contains(&3_000_064), "{:?}", sent.iter().filter(|at| **at > 2_900_000).min());
            assert_eq!(counters.streams[0].lost_to_faults, 4);
        }
    }
}

/// After a restart a recovery function accepts any number, also one that was sent long ago.
#[test]
fn a_recovery_function_begins_anew_when_its_node_does() {
    let mut net = kboxes(500);
    let resets = |net: &Net| done(&net.plan).1.recoveries[0].clone();
    // The frames over the second path arrive 3 ms later.
    net.plan.faults = vec![Fault::Delay {
        port: 4,
        from_ns: 0,
        until_ns: 20_000_000,
        least_ns: 3_000_000,
        most_ns: 3_000_000,
        share_ppm: 1_000_000,
        keeps_order: true,
    }];
    assert_eq!((resets(&net).passed, resets(&net).discarded), (200, 200));
    // The node is down from 10 to 11 ms. The late frames 80 to 99, which arrive from 11 ms on, are as new as
    // the frames from 110 on; of the frames between, both member streams are lost.
    net.plan.faults.push(Fault::NodeDown { node: 2, from_ns: 10_000_000, until_ns: 11_000_000 });
    let found = resets(&net);
    // 100 frames until then; behind 110 and later frames, the 20 late ones are within its history, once each.
    assert_eq!(found.rogue, 0);
    assert_eq!(found.passed, 100 + 90 + 20);
}

#[test]
fn a_delay_shifts_frames_and_holds_back_what_is_behind() {
    let (mut net, taps) = line();
    let plain = delays(&done(&net.plan).0, taps, 0)[0];
    let delay = |least_ns, most_ns, keeps_order| Fault::Delay {
        port: 0,
        from_ns: 1_000_000,
        until_ns: 2_000_000,
        least_ns,
        most_ns,
        share_ppm: 1_000_000,
        keeps_order,
    };
    net.plan.faults = vec![delay(30_000, 30_000, true)];
    let (sightings, counters) = done(&net.plan);
    let late = |n: usize| if (10..20).contains(&n) { 30_000 } else { 0 };
    let found = delays(&sightings, taps, 0);
    assert!(found.iter().enumerate().all(|(n, delay)| *delay == plain + late(n)), "{found:?}");
    assert_eq!((counters.faults[0].frames, counters.faults[0].kind), (10, "delay"));
    // 250 us: frames 20 to 22 stay behind frame 19 (in order), or overtake the frames before.
    net.plan.faults = vec![delay(250_000, 250_000, false)];
    let (numbers, _) = received(&net.plan, taps.1);
    assert_eq!(numbers[17..24], [17, 20, 18, 21, 19, 22, 23].map(|n| n), "{numbers:?}");
    net.plan.faults = vec![delay(250_000, 250_000, true)];
    let (sightings, _) = done(&net.plan);
    let found = delays(&sightings, taps, 0);
    let behind = (1_250 + BEFORE + AFTER) * 8;
    assert_eq!(
        found[18..24].iter().map(|delay| delay - plain).collect::<Vec<i64>>(),
        [250_000, 250_000, 150_000 + behind, 50_000 + 2 * behind, 0, 0]
    );
    net.plan.faults = vec![delay(0, 250_000, false)];
    let (numbers, _) = received(&net.plan, taps.1);
    assert!(numbers.len() == 100 && !numbers.is_sorted());
}

#[test]
fn a_duplicate_arrives_twice_and_frer_takes_it_out() {
    let twice = |port| Fault::Duplicate {
        port,
        from_ns: 0,
        until_ns: 1_000_000,
        share_ppm: 1_000_000,
        after_ns: 20_000,
    };
    let (mut net, taps) = line();
    net.plan.faults = vec![twice(0)];
    let (sightings, counters) = done(&net.plan);
    assert_eq!(counters.streams[0].delivered["c"], 110);
    let at = stamps(&sightings, taps.1, 0);
    assert!(at[..20].chunks(2).all(|pair| pair[1] - pair[0] == 20_000));
    let mut net = kboxes(500);
    net.plan.faults = vec![twice(2), twice(4)];
    let (_, counters) = done(&net.plan);
    assert_eq!((counters.streams[0].delivered["listener"], counters.streams[0].eliminated), (200, 220));
}

#[test]
fn a_wrong_schedule_holds_for_its_time() {
    let (mut net, taps) = line();
    let plain = delays(&done(&net.plan).0, taps, 0)[0];
    // The bridge's port is always open; from 1 to 2 ms it follows a list that opens 90 us after every 200 us.
    let wrong = |entries: &[(u8, u64)]| Fault::Schedule {
        port: 2,
        from_ns: 1_000_000,
        until_ns: 2_000_000,
        gates: gates(0, entries).map(Box::new),
    };
    net.plan.faults = vec![wrong(&[(0, 90_000), (0xff, 110_000)])];
    let (sightings, counters) = done(&net.plan);
    let found = delays(&sightings, taps, 0);
    // Frames reach the queue 60.564 us after their start.
    let waits = |n: usize| if (10..20).contains(&n) && n.is_multiple_of(2) { 90_000 - 60_564 } else { 0 };
    assert!(found.iter().enumerate().all(|(n, delay)| *delay == plain + waits(n)), "{found:?}");
    assert_eq!((counters.faults[0].frames, counters.faults[0].kind), (10, "schedule"));
    // The gate is never open: all frames are sent after the fault, in order.
    net.plan.faults = vec![wrong(&[(0, 100_000)])];
    let (numbers, counters) = received(&net.plan, taps.1);
    assert_eq!(numbers, (0..100).collect::<Vec<u64>>());
    assert_eq!(counters.faults[0].frames, 0);
    assert_eq!(counters.ports[2].classes[3].most_frames, 10);
    // The port's own list, 100 us late, from the middle of an entry on: at the end the list is correct again.
    net.plan.ports[2].gates = gates(0, &[(0xff, 100_000), (0, 100_000)]);
    net.plan.faults = vec![Fault::Schedule {
        port: 2,
        from_ns: 1_030_000,
        until_ns: 2_010_000,
        gates: gates(100_000, &[(0xff, 100_000), (0, 100_000)]).map(Box::new),
    }];
    let (sightings, _) = done(&net.plan);
    let found = delays(&sightings, taps, 0);
    assert_eq!((found[8], found[10], found[12], found[22]), (plain, plain + 39_436, plain + 39_436, plain));
}

/// No valid fault stops a run: times at their limits, ports without streams.
#[test]
fn faults_at_the_limits_are_survived() {
    const DAYS: u64 = 10 * 86_400 * 1_000_000_000;
    let (mut net, _) = line();
    for port in 0..4 {
        for keeps_order in [true, false] {
            net.plan.faults.push(Fault::Delay {
                port,
                from_ns: 0,
                until_ns: DAYS,
                least_ns: DAYS,
                most_ns: DAYS,
                share_ppm: 1_000_000,
                keeps_order,
            });
        }
        let model = LossModel::BitErrors { per_petabit: 0 };
        net.plan.faults.push(Fault::Loss { port, from_ns: 0, until_ns: DAYS, model });
        net.plan.faults.push(Fault::Duplicate {
            port,
            from_ns: 0,
            until_ns: DAYS,
            share_ppm: 1_000_000,
            after_ns: DAYS,
        });
        net.plan.faults.push(Fault::Schedule { port, from_ns: 1, until_ns: DAYS, gates: None });
    }
    net.plan.faults.extend((0..3).map(|node| Fault::NodeDown { node, from_ns: DAYS - 1, until_ns: DAYS }));
    let (_, counters) = done(&net.plan);
    assert_eq!(counters.in_network_at_end, 200);
}

#[test]
fn a_node_that_goes_down_stamps_nothing_of_the_frame_that_is_cut() {
    let mut net = Net::new(1_000_000);
    let path = net.line(2, 0, 100_000_000, 0);
    net.stream("s", &path, 0, periodic(100_000, 0), frame(500));
    // A frame takes 40.64 us, so the second one is cut.
    net.plan.faults.push(Fault::NodeDown { node: 0, from_ns: 120_000, until_ns: 121_000 });
    let (start, end) = (net.tap(0, Stage::Tx, Point::Start), net.tap(0, Stage::Tx, Point::End));
    let (sightings, counters) = run(&net.plan);
    assert_eq!(counters.streams[0].lost_to_faults, 1);
    assert_eq!(stamps(&sightings, start, 0)[..3], [640, 100_640, 200_640]);
    assert_eq!(stamps(&sightings, end, 0)[..3], [40_640, 240_640, 340_640]);
}

#[test]
fn a_talker_that_is_down_does_not_babble() {
    let (mut net, path) = Net::row(1_000_000, 2);
    net.stream("s", &path, 0, periodic(1_000_000, 0), frame(100));
    net.plan.faults = vec![
        Fault::Babble { stream: 0, from_ns: 100_000, until_ns: 600_000, every_ns: 100_000 },
        Fault::NodeDown { node: 0, from_ns: 250_000, until_ns: 450_000 },
    ];
    let (_, counters) = run(&net.plan);
    // Frames at 100, 200 and 500 us by the babble, and one by the stream itself.
    assert_eq!((counters.streams[0].released, counters.faults[0].frames), (4, 3));
}
