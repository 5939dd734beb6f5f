//! PTP beyond gPTP with fixed roles: both delay mechanisms, kinds of clocks, elections, faults. The oracles
//! are closed forms and a brute-force search.

use crate::common::software::{install, softwares};
use crate::common::*;
use crate::timed::*;
use proptest::prelude::*;
use tsn_plan::{ClockFault, Delay, Fault, Gptp, Ieee1588, LossModel, NodeClock, Pattern, Plan, Servo};

/// Clocks with a resolution of a nanosecond, without drift or jitter.
fn ideal(plan: &mut Plan, gptp: Gptp) {
    plan.clocks = Some(clocks(&vec![0; plan.nodes.len()]));
    let clocks = plan.clocks.as_mut().expect("just set");
    clocks.nodes.iter_mut().for_each(|clock| clock.granularity_ns = 1);
    clocks.gptp = Some(gptp);
}

fn ieee_1588(gptp: Gptp, delay: Delay, transparent: &[u32]) -> Gptp {
    Gptp { ieee_1588: Some(Ieee1588 { delay, transparent: transparent.to_vec() }), ..gptp }
}

/// The port towards the previous node, for every node of a line except the first.
fn slaves(nodes: u32) -> Vec<u32> {
    (0..nodes - 1).map(|link| 2 * link + 1).collect()
}

/// Offsets of one node from `from_s` on, in ps.
fn offsets(plan: &Plan, node: u32, from_s: u64) -> Vec<i64> {
    let (both, counters) = observed(plan);
    assert_conserved(&counters);
    let late = both.errors.iter().filter(|it| it.node == node && it.t_ns as u64 >= from_s * SECOND);
    late.map(|error| error.offset_ps.expect("a grandmaster")).collect()
}

fn near(found: &[i64], expected_ps: i64, most_ps: i64, what: &str) {
    assert!(!found.is_empty());
    for offset in found {
        assert!((offset - expected_ps).abs() <= most_ps, "{what}: {offset} ps, not {expected_ps}");
    }
}

/// Both mechanisms agree on symmetric links; on other links half of the difference is the error of both.
#[test]
fn end_to_end_and_peer_to_peer_make_the_same_error() {
    for (away_ps, towards_ps) in [(500_000, 500_000), (500_000, 900_000), (900_000, 500_000)] {
        for delay in [Delay::EndToEnd, Delay::PeerToPeer] {
            for one_step in [false, true] {
                let mut net = line(2, &[0, 0], 20 * SECOND);
                net.plan.ports[0].propagation_ps = away_ps;
                net.plan.ports[1].propagation_ps = towards_ps;
                let gptp = Gptp { one_step, ..ieee_1588(gptp(vec![1], 8), delay, &[]) };
                ideal(&mut net.plan, gptp);
                let found = offsets(&net.plan, 1, 15);
                let what = format!("{away_ps}/{towards_ps}, {delay:?}, one-step {one_step}");
                near(&found, (towards_ps as i64 - away_ps as i64) / 2, 3_000, &what);
            }
        }
    }
}

/// One-step Syncs have no follow-up; with perfect stamps there is no other difference.
#[test]
fn one_step_and_two_step_agree() {
    for gptp in [gptp(slaves(4), 8), ieee_1588(gptp(slaves(4), 8), Delay::PeerToPeer, &[1])] {
        let errors = |one_step| {
            let mut net = line(4, &[0; 4], 15 * SECOND);
            ideal(&mut net.plan, Gptp { one_step, ..gptp.clone() });
            (offsets(&net.plan, 3, 12), observed(&net.plan).1)
        };
        let ((one, fewer), (two, more)) = (errors(true), errors(false));
        near(&one, 0, 4_000, "one-step");
        near(&two, 0, 4_000, "two-step");
        let frames = |counters: &tsn_sim::RunCounters| counters.frame_hops;
        assert!(frames(&fewer) + 8 * 14 < frames(&more));
    }
}

/// The time of messages in a transparent clock, and their waits there, have no effect.
#[test]
fn transparent_clocks_take_residence_out() {
    for (delay, wakeup_ns, cross) in [
        (Delay::EndToEnd, 1_000, false),
        (Delay::EndToEnd, 5_000_000, false),
        (Delay::EndToEnd, 50_000, true),
        (Delay::PeerToPeer, 5_000_000, false),
        (Delay::PeerToPeer, 50_000, true),
    ] {
        for one_step in [false, true] {
            let mut net = line(4, &[0; 4], 20 * SECOND);
            if cross {
                for (from, to) in [(1, 2), (2, 1)] {
                    let pattern = Pattern::Poisson { mean_interval_ps: 25_000_000 };
                    net.stream(&format!("cross{from}"), &[from, to], 0, pattern, frame(FULL));
                }
            }
            let gptp = ieee_1588(gptp(slaves(4), 8), delay, &[1, 2]);
            ideal(&mut net.plan, Gptp { wakeup_ns, one_step, ..gptp });
            let found = offsets(&net.plan, 3, 16);
            near(&found, 0, 4_000, &format!("{delay:?}, {wakeup_ns} ns, one-step {one_step}"));
        }
    }
}

/// A free oscillator measures the residence: 100 ppm of 5 ms are 500 ns, in one direction only.
#[test]
fn a_transparent_clocks_oscillator_is_the_error_of_its_residence() {
    let mut net = line(3, &[0; 3], 20 * SECOND);
    let gptp = ieee_1588(gptp(slaves(3), 8), Delay::PeerToPeer, &[1]);
    ideal(&mut net.plan, Gptp { wakeup_ns: 5_000_000, ..gptp });
    let clocks = net.plan.clocks.as_mut().expect("clocks");
    clocks.nodes[1].deviation_ppt = 100_000_000;
    let found = offsets(&net.plan, 2, 16);
    let most = found.iter().map(|offset| offset.abs()).max().unwrap_or(0);
    assert!((50_000..500_000).contains(&most), "{most} ps");
}

/// Each boundary clock follows the one before: the errors of quantised stamps grow over hops.
#[test]
fn boundary_clocks_are_a_chain_of_servos() {
    let ppm: Vec<i64> = (0..7).map(|node| (node * 37) % 41 - 20).collect();
    for delay in [Delay::EndToEnd, Delay::PeerToPeer] {
        let mut net = line(7, &ppm, 40 * SECOND);
        net.plan.clocks.as_mut().expect("clocks").gptp = Some(ieee_1588(gptp(slaves(7), 8), delay, &[]));
        let (both, _) = observed(&net.plan);
        let (first, last) = (largest(&both.errors, 1, 30 * SECOND), largest(&both.errors, 6, 30 * SECOND));
        assert!(first < last && last < 500_000, "{delay:?}: {first} ps after one hop, {last} ps after six");
    }
}

/// The servo obeys linuxptp's options: it steps if a step is allowed, and otherwise slews at most at the
/// limit.
#[test]
fn a_servo_does_as_its_options_say() {
    let settled = |change: fn(&mut Servo)| {
        let mut net = line(2, &[0, 0], 10 * SECOND);
        let mut servo = servo();
        change(&mut servo);
        ideal(&mut net.plan, Gptp { servo: Some(servo), ..gptp(vec![1], 8) });
        net.plan.clocks.as_mut().expect("clocks").nodes[1].offset_ns = 1_000_000_000;
        let found = offsets(&net.plan, 1, 0);
        (found.first().copied().unwrap_or(0), found.last().copied().unwrap_or(0))
    };
    let (_, stepped) = settled(|_| ());
    assert!(stepped.abs() < 10_000, "{stepped} ps");
    // The servo never steps: 1 s at 1000 ppb would take 11 days.
    let (from, to) = settled(|servo| {
        servo.first_step_threshold_ns = 0;
        servo.max_frequency_ppb = 1_000;
    });
    // 1000 ppb for less than 10 s.
    assert!(from - to > 0 && from - to <= 10_000_000, "{from} to {to} ps");
    let (_, stepped) = settled(|servo| {
        servo.first_step_threshold_ns = 0;
        servo.step_threshold_ns = 20_000;
    });
    assert!(stepped.abs() < 10_000, "{stepped} ps");
}

/// A step of a clock is measured at once. With a threshold the servo reverts the step; otherwise it slews.
#[test]
fn a_clock_step_is_seen_and_taken_back() {
    let mut net = line(2, &[0, 0], 10 * SECOND);
    let servo = Servo { step_threshold_ns: 20_000, ..servo() };
    ideal(&mut net.plan, Gptp { servo: Some(servo), ..gptp(vec![1], 8) });
    let clocks = net.plan.clocks.as_mut().expect("clocks");
    let (at_ns, by_ns) = (5 * SECOND + 1, 100_000_000);
    clocks.faults = vec![ClockFault::ClockStep { node: 1, at_ns, by_ns }];
    let (both, _) = observed(&net.plan);
    let at = |t: u64| {
        let found = both.errors.iter().find(|error| error.node == 1 && error.t_ns as u64 >= t);
        found.and_then(|error| error.offset_ps).expect("noted")
    };
    assert!(at(5 * SECOND).abs() < 5_000);
    assert!((at(5 * SECOND + 10_000_000) - 100_000_000_000).abs() < 10_000_000);
    assert!(at(7 * SECOND).abs() < 10_000, "{}", at(7 * SECOND));
}

/// Between its begin and its end, a frequency jump adds a constant error per second.
#[test]
fn a_frequency_jump_adds_up_while_it_lasts() {
    let mut net = line(2, &[0, 0], 4 * SECOND);
    let clocks = net.plan.clocks.as_mut().expect("clocks");
    clocks.faults =
        vec![ClockFault::FrequencyJump { node: 1, from_ns: SECOND, until_ns: 3 * SECOND, by_ppt: 7_000_000 }];
    let (both, _) = observed(&net.plan);
    for error in both.errors.iter().filter(|error| error.node == 1) {
        let for_ns = (error.t_ns - 1_000_000_000).clamp(0, 2_000_000_000);
        assert!((error.error_ps - for_ns * 7 / 1_000).abs() <= 1, "{error:?}");
    }
}

/// Without its grandmaster a clock keeps its rate: its error grows with the difference of the oscillators,
/// and no faster. When the grandmaster is back, the error disappears.
#[test]
fn holdover_is_bounded_by_drift_and_ends_with_the_grandmaster() {
    let mut net = line(2, &[5, -12], 60 * SECOND);
    net.plan.clocks.as_mut().expect("clocks").gptp = Some(gptp(vec![1], 8));
    let (from_ns, until_ns) = (20 * SECOND, 40 * SECOND);
    let clocks = net.plan.clocks.as_mut().expect("clocks");
    clocks.faults = vec![
        ClockFault::PtpDown { node: 0, from_ns, until_ns },
        // During the outage the slave's oscillator becomes 1 ppm faster.
        ClockFault::FrequencyJump { node: 1, from_ns, until_ns, by_ppt: 1_000_000 },
    ];
    let (both, _) = observed(&net.plan);
    let of = |from: u64, until: u64| {
        let late = both.errors.iter().filter(move |it| it.node == 1);
        let span = late.filter(move |it| (from..until).contains(&(it.t_ns as u64)));
        span.map(|it| (it.t_ns, it.offset_ps.expect("a grandmaster"))).collect::<Vec<_>>()
    };
    for (t, offset) in of(from_ns, until_ns) {
        // 1 ppm, and 20 ppb for the servo's error with stamps of 8 ns.
        let since = t - from_ns as i64;
        assert!((offset - since / 1_000).abs() <= 20_000 + since / 50_000, "{offset} ps at {t}");
    }
    let back = of(55 * SECOND, 60 * SECOND).into_iter().map(|(_, offset)| offset.abs()).max().unwrap_or(0);
    assert!(back < 14_000, "{back} ps");
}

/// The best clock is lost, the next best clock takes over within the timeouts, and later the best clock
/// returns.
#[test]
fn the_next_best_takes_over() {
    let mut net = ring(&[0; 4]);
    net.plan.duration_ns = 60 * SECOND;
    let ports = (0..net.plan.ports.len() as u32).collect();
    let mut bmca = bmca(4, ports);
    bmca.clocks[2].priority1 = 100;
    bmca.clocks[1].priority1 = 101;
    let election = Gptp { grandmaster: 2, bmca: Some(bmca), ..gptp(Vec::new(), 8) };
    ideal(&mut net.plan, election);
    let clocks = net.plan.clocks.as_mut().expect("clocks");
    let (from_ns, until_ns) = (20 * SECOND, 40 * SECOND);
    clocks.faults = vec![ClockFault::PtpDown { node: 2, from_ns, until_ns }];
    // The clocks have different offsets from true time, so each clock shows which node it follows.
    for (node, clock) in clocks.nodes.iter_mut().enumerate() {
        clock.offset_ns = 1_000_000 * node as i64;
        clock.deviation_ppt = 1_000_000 * node as i64;
    }
    let (both, _) = observed(&net.plan);
    let error = |node: u32, t: u64| {
        let found = both.errors.iter().find(|it| it.node == node && it.t_ns as u64 >= t);
        found.map(|it| it.error_ps).expect("noted")
    };
    let together = |nodes: &[u32], to: u32, t: u64, most: i64| {
        for node in nodes {
            let apart = error(*node, t) - error(to, t);
            assert!(apart.abs() < most, "node {node} is {apart} ps from {to} at {t} ns");
        }
    };
    together(&[0, 1, 3], 2, 19 * SECOND, 10_000);
    // Node 1 keeps its rate, which was that of node 2; the others follow it, and node 2 runs alone.
    together(&[0, 3], 1, 39 * SECOND, 20_000);
    together(&[0, 1, 3], 2, 59 * SECOND, 20_000);
    // During the outage the oscillators of node 2 and of its successor change: the others follow the
    // successor.
    let clocks = net.plan.clocks.as_mut().expect("clocks");
    for (node, by_ppt) in [(1, 3_000_000), (2, -5_000_000)] {
        let from_ns = from_ns + 5 * SECOND;
        clocks.faults.push(ClockFault::FrequencyJump { node, from_ns, until_ns, by_ppt });
    }
    let (both, _) = observed(&net.plan);
    let at = |node: u32| {
        let found = both.errors.iter().find(|it| it.node == node && it.t_ns as u64 >= 39 * SECOND);
        found.map(|it| (it.error_ps, it.offset_ps)).expect("noted")
    };
    for node in [0, 3] {
        assert!((at(node).0 - at(1).0).abs() < 20_000, "{:?} and {:?}", at(node), at(1));
        // Offsets are relative to the clock that a node follows.
        assert_eq!(at(node).1, Some(at(node).0 - at(1).0));
    }
    // 8 ppm for 14 s.
    assert!((at(1).0 - at(2).0 - 112_000_000).abs() < 1_000_000, "{:?} and {:?}", at(1), at(2));
}

/// With lost PTP messages there are fewer samples, and the clocks stay synchronised.
#[test]
fn time_survives_losses() {
    let mut net = line(3, &[4, -9, 15], 40 * SECOND);
    net.plan.clocks.as_mut().expect("clocks").gptp = Some(gptp(slaves(3), 8));
    for port in 0..4 {
        let model = LossModel::Bernoulli { loss_ppm: 100_000 };
        net.plan.faults.push(Fault::Loss { port, from_ns: 0, until_ns: 60 * SECOND, model });
    }
    let (both, counters) = observed(&net.plan);
    assert_conserved(&counters);
    assert!(counters.ports.iter().all(|port| port.dropped_faults > 0));
    let worst = largest(&both.errors, 2, 30 * SECOND);
    assert!((100..40_000).contains(&worst), "{worst} ps");
}

/// For the nodes behind it, a cut link is a lost grandmaster.
#[test]
fn a_cut_link_starves_what_is_behind_it() {
    let mut net = line(3, &[0, 0, 10], 60 * SECOND);
    net.plan.clocks.as_mut().expect("clocks").gptp = Some(gptp(slaves(3), 8));
    let (from_ns, until_ns) = (20 * SECOND, 40 * SECOND);
    net.plan.faults.push(Fault::LinkDown { port: 2, from_ns, until_ns });
    let clocks = net.plan.clocks.as_mut().expect("clocks");
    clocks.faults =
        vec![ClockFault::FrequencyJump { node: 2, from_ns, until_ns: 60 * SECOND, by_ppt: 2_000_000 }];
    let (both, _) = observed(&net.plan);
    let at = |t: u64| {
        let found = both.errors.iter().find(|it| it.node == 2 && it.t_ns as u64 >= t);
        found.and_then(|it| it.offset_ps).expect("noted")
    };
    assert!((at(39 * SECOND) - 38_000_000).abs() < 1_000_000, "{}", at(39 * SECOND));
    assert!(at(55 * SECOND).abs() < 14_000, "{}", at(55 * SECOND));
}

/// PTP messages that express frames cut have the timestamp point of their first part, so the clocks stay
/// synchronised.
#[test]
fn time_survives_being_cut_into_parts() {
    let run = |pcp: u8| {
        let mut net = line(2, &[3, -8], 30 * SECOND);
        net.plan.streams.clear();
        // Frames of 1000 octets delay PTP messages, so that express frames of another stream interrupt them.
        net.stream("express", &[0, 1], 6, periodic(10_000, 0), frame(64));
        net.stream("also", &[0, 1], 0, periodic(40_000, 7_000), frame(1_000));
        net.port_mut(0, 1).preemption = Some(tsn_plan::Preemption { express: 1 << 6, ..Default::default() });
        net.plan.clocks.as_mut().expect("clocks").gptp = Some(Gptp { pcp, ..gptp(vec![1], 32) });
        let (both, counters) = observed(&net.plan);
        assert_conserved(&counters);
        let merged = counters.ports[0].preemption.clone().expect("pre-emption");
        assert!(merged.preemptions > 1_000);
        largest(&both.errors, 1, 20 * SECOND)
    };
    // PTP has a lower or a higher priority than the frames that are cut: it may be preemptable or not.
    for pcp in [7, 6, 5] {
        let worst = run(pcp);
        assert!(worst < 20_000, "priority {pcp}: {worst} ps");
    }
}

/// Taps observe every message if requested, byte by byte, and nothing else changes.
#[test]
fn taps_see_messages_that_are_visible() {
    let run = |visible: bool, one_step: bool, ieee: bool| {
        let mut net = line(3, &[4, -9, 15], 3 * SECOND);
        for port in [0, 1, 2, 3] {
            net.tap(port, tsn_plan::Stage::Tx, tsn_plan::Point::Start);
            net.tap(port, tsn_plan::Stage::Rx, tsn_plan::Point::Start);
        }
        let mut gptp = Gptp { visible, one_step, ..gptp(Vec::new(), 8) };
        gptp.bmca = Some(bmca(3, vec![0, 1, 2, 3]));
        if ieee {
            gptp = ieee_1588(gptp, Delay::EndToEnd, &[1]);
        }
        net.plan.clocks.as_mut().expect("clocks").gptp = Some(gptp);
        observed(&net.plan).0
    };
    let kinds = |both: &Both| {
        let mut kinds: Vec<u32> = both.frames.iter().map(|(it, _)| it.stream - 1).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    };
    for (one_step, ieee, expected) in [
        (false, false, vec![0, 1, 2, 3, 4, 7]),
        (true, false, vec![0, 2, 3, 4, 7]),
        (false, true, vec![0, 1, 5, 6, 7]),
    ] {
        let (seen, unseen) = (run(true, one_step, ieee), run(false, one_step, ieee));
        assert_eq!(seen.sightings, unseen.sightings);
        assert_eq!(seen.errors, unseen.errors);
        assert!(unseen.frames.is_empty());
        assert_eq!(kinds(&seen), expected);
        // Each message that leaves arrives: it is observed twice, 5 ns apart in true time, with equal octets.
        for (sighting, octets) in &seen.frames {
            assert_eq!(octets.len() as u32 + 4, sighting.octets, "{sighting:?}");
            assert_eq!(octets[12..14], [0x88, 0xf7]);
            let same = |other: &&(tsn_observation::Sighting, Vec<u8>)| {
                (other.0.stream, other.0.seq) == (sighting.stream, sighting.seq)
            };
            let both: Vec<_> = seen.frames.iter().filter(same).collect();
            assert!(both.len() == 2 && both[0].1 == both[1].1, "{both:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// In any connected network, all instances follow the clock that is first in the order of all clocks.
    #[test]
    fn the_election_finds_the_best(
        parents in prop::collection::vec(any::<prop::sample::Index>(), 1..8),
        more in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..4),
        qualities in prop::collection::vec((0..3u8, 0..2u8, 0..2u8, 0..2u16, 0..2u8), 9),
        transparent in prop::option::of(any::<prop::sample::Index>()),
        ieee in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let mut net = Net::new(30 * SECOND);
        net.plan.seed = seed;
        net.plan.drain_ns = 0;
        net.node("n0", 1_000);
        for (number, parent) in parents.iter().enumerate() {
            let node = net.node(&format!("n{}", number + 1), 1_000);
            net.link(parent.index(number + 1) as u32, node, GIGABIT, 5_000);
        }
        let nodes = net.plan.nodes.len();
        for (a, b) in more {
            let (a, b) = (a.index(nodes), b.index(nodes));
            if a != b {
                net.link(a as u32, b as u32, GIGABIT, 5_000);
            }
        }
        let mut bmca = bmca(nodes, (0..net.plan.ports.len() as u32).collect());
        for (clock, (priority1, class, accuracy, variance, priority2)) in bmca.clocks.iter_mut().zip(qualities) {
            *clock = tsn_plan::ClockQuality { priority1: priority1 * 100, class, accuracy, variance, priority2 };
        }
        let transparent = transparent.filter(|_| ieee).map(|node| node.index(nodes));
        // Messages around a ring with a single transparent clock end at the other clocks.
        let key = |node: &usize| {
            let it = bmca.clocks[*node];
            (it.priority1, it.class, it.accuracy, it.variance, it.priority2, *node)
        };
        let best = (0..nodes).filter(|node| Some(*node) != transparent).min_by_key(key).expect("a node");
        let mut gptp = Gptp { grandmaster: best as u32, bmca: Some(bmca.clone()), ..gptp(Vec::new(), 8) };
        if ieee {
            let transparent: Vec<u32> = transparent.iter().map(|node| *node as u32).collect();
            gptp = ieee_1588(gptp, Delay::PeerToPeer, &transparent);
        }
        // Samples of one grandmaster and then of another give no frequency: with a threshold the servo starts
        // anew.
        gptp.servo = Some(Servo { step_threshold_ns: 20_000, ..servo() });
        ideal(&mut net.plan, gptp);
        let clocks = net.plan.clocks.as_mut().expect("clocks");
        for (node, clock) in clocks.nodes.iter_mut().enumerate() {
            *clock = NodeClock { offset_ns: 1_000_000_000 * node as i64, ..clock.clone() };
        }
        let (both, _) = observed(&net.plan);
        // Every clock has the time of the clock that it follows: one second per node.
        for error in both.errors.iter().filter(|it| it.t_ns as u64 >= 25 * SECOND) {
            if Some(error.node as usize) != transparent {
                let root = (error.error_ps + 500_000_000_000).div_euclid(1_000_000_000_000);
                prop_assert_eq!(root, best as i64, "{:?}", error);
            }
        }
    }

    /// Clocks with faults of links and clocks, losses, pre-emption and a babbling talker: every loss is
    /// counted, and a second run is equal.
    #[test]
    fn clocks_combine_with_faults(
        mut plan in random::plan(),
        ppm in prop::collection::vec(-200..200i64, 64),
        elected in any::<bool>(),
        end_to_end in prop::option::of(any::<bool>()),
        one_step in any::<bool>(),
        express in prop::option::of(any::<u8>()),
        faulty in prop::collection::vec((any::<prop::sample::Index>(), 0..5_000_000u64, 1..5_000_000u64, 0..3u8), 0..4),
        wrong in prop::collection::vec((any::<prop::sample::Index>(), 0..5_000_000u64, 1..5_000_000u64, 0..3u8), 0..4),
        softwares in prop::option::of(softwares()),
    ) {
        let nodes = plan.nodes.len();
        plan.clocks = Some(clocks(&ppm.iter().cycle().take(nodes).copied().collect::<Vec<_>>()));
        let tree = tree(&plan);
        let ports = tree.iter().flat_map(|port| [*port, plan.ports[*port as usize].peer]).collect();
        let clocks = plan.clocks.as_mut().expect("clocks");
        let mut own = gptp(if elected { Vec::new() } else { tree.clone() }, 128);
        own.bmca = elected.then(|| tsn_plan::Bmca { announce_interval_ns: 1_000_000, ..bmca(nodes, ports) });
        own.one_step = one_step;
        own.pdelay_interval_ns = 1_000_000;
        own.ieee_1588 = end_to_end.map(|end_to_end| Ieee1588 {
            delay: if end_to_end { Delay::EndToEnd } else { Delay::PeerToPeer },
            transparent: (1..nodes as u32).filter(|node| node % 2 == 1).collect(),
        });
        clocks.gptp = Some(own);
        clocks.record_ns = 1_000_000;
        for (node, from_ns, lasts, kind) in wrong {
            let (node, until_ns) = (node.index(nodes) as u32, from_ns + lasts);
            clocks.faults.push(match kind {
                0 => ClockFault::ClockStep { node, at_ns: from_ns, by_ns: lasts as i64 - 2_500_000 },
                1 => ClockFault::FrequencyJump { node, from_ns, until_ns, by_ppt: lasts as i64 * 100 },
                _ => ClockFault::PtpDown { node, from_ns, until_ns },
            });
        }
        if let Some(express) = express {
            // Either pre-emption or faults of links; ports with shapers have no pre-emption.
            for port in plan.ports.iter_mut().filter(|port| port.classes.iter().all(|it| it.cbs.is_none())) {
                let classes = port.classes.len() as u32;
                if classes > 1 {
                    port.preemption = Some(tsn_plan::Preemption { express: express | 1 << (classes - 1), ..Default::default() });
                }
            }
        } else {
            for (port, from_ns, lasts, kind) in faulty {
                let (port, until_ns) = (port.index(plan.ports.len()) as u32, from_ns + lasts);
                let stream = port % plan.streams.len().max(1) as u32;
                let saturates = plan.streams.get(stream as usize)
                    .is_none_or(|it| matches!(it.pattern, Pattern::Saturating { .. }));
                plan.faults.push(match kind {
                    0 => Fault::LinkDown { port, from_ns, until_ns },
                    1 if !saturates => Fault::Babble { stream, from_ns, until_ns, every_ns: 100_000 },
                    _ => {
                        let model = LossModel::BitErrors { per_petabit: 100_000_000_000 };
                        Fault::Loss { port, from_ns, until_ns, model }
                    }
                });
            }
        }
        prop_assume!(plan.check().is_ok());
        if let Some(softwares) = &softwares {
            install(&mut plan, softwares);
        }
        let (first, counters) = observed(&plan);
        let (second, again) = observed(&plan);
        prop_assert_eq!(first.sightings, second.sightings);
        prop_assert_eq!(first.errors, second.errors);
        prop_assert_eq!(&counters, &again);
        assert_conserved(&counters);
    }
}

/// Clocks at the limits of a valid Plan, end to end over a chain: no overflow.
#[test]
fn extreme_clocks_overflow_nothing() {
    const DAY: i64 = 86_400 * 1_000_000_000;
    for (sign, delay) in [(1, Delay::EndToEnd), (-1, Delay::PeerToPeer)] {
        let mut net = line(6, &[1_000, -1_000, 1_000, -1_000, 1_000, -1_000], 8 * SECOND);
        let gptp = ieee_1588(gptp(slaves(6), 8), delay, &[2]);
        let clocks = net.plan.clocks.as_mut().expect("clocks");
        clocks.gptp = Some(Gptp { servo: Some(Servo { step_threshold_ns: 1, ..servo() }), ..gptp });
        for (node, clock) in clocks.nodes.iter_mut().enumerate() {
            clock.offset_ns = if node % 2 == 0 { 10 * DAY * sign } else { -10 * DAY * sign };
        }
        clocks.faults = (0..6)
            .map(|node| ClockFault::ClockStep {
                node,
                at_ns: (3 + u64::from(node) / 3) * SECOND + 77_000_000 * u64::from(node),
                by_ns: if node % 2 == 0 { -DAY / 6 } else { DAY / 6 },
            })
            .collect();
        let (both, counters) = observed(&net.plan);
        assert_conserved(&counters);
        assert!(!both.errors.is_empty());
        clocks_refuse_more(&mut net.plan, DAY);
    }
}

fn clocks_refuse_more(plan: &mut Plan, by_ns: i64) {
    let clocks = plan.clocks.as_mut().expect("clocks");
    clocks.faults.push(ClockFault::ClockStep { node: 0, at_ns: 0, by_ns });
    assert!(plan.check().is_err());
}
