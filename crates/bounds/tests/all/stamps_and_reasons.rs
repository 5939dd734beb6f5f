//! The ends of bounds (stamps and releases), several paths to a listener, and the reasons for missing bounds.

use crate::common::*;
use tsn_bounds::{Bounds, FlowBounds, Reason, bounds};
use tsn_plan::{
    Active, Algorithm, Destination, Fault, Identification, Merge, Pattern, Plan, Point, Policing, Preemption,
    Recovery, Redundancy, Route, Size, Span, Stage, Stream,
};

const UNSCHEDULED: Pattern = Pattern::Periodic { period_ns: 1_000_003, offset_ns: 0, jitter_ns: 0 };

fn first(plan: &Plan) -> FlowBounds {
    plan.check().unwrap();
    bounds(plan).flows[0].clone()
}

fn wire(octets: i64) -> i64 {
    (octets + BEFORE + AFTER) * 8_000
}

/// Preamble, delimiter and frame, on a gigabit link.
fn last_bit(octets: i64) -> i64 {
    (octets + BEFORE) * 8_000
}

fn at(port: &str, why: Reason) -> Option<Reason> {
    Some(Reason::At { port: port.into(), why: Box::new(why) })
}

/// 100 octets and 5.5 ns of cable take 805.5 ns: with ticks of 8 ns the greatest, and with ticks of 40 ns the
/// least possible stamp.
#[test]
fn ticks_of_taps_widen_what_they_show() {
    let mut net = Net::new(1_000_000);
    let path = net.line(2, 0, GIGABIT, 5_500);
    net.stream("lone", &path, 6, periodic(100_000, 0), frame(100));
    let shown = |plan: &Plan| (first(plan).upper_ns, first(plan).lower_ns);
    assert_eq!(shown(&net.plan), (Some(806), 805));
    net.tap_ends(&path);
    (net.plan.taps[0].granularity_ns, net.plan.taps[1].granularity_ns) = (8, 40);
    assert_eq!(shown(&net.plan), (Some(813), 766));
    net.plan.taps[1].granularity_ns = 1_000;
    assert_eq!(shown(&net.plan).1, 0);
}

/// Two links, and 2 us in the bridge between them.
#[test]
fn a_release_is_before_the_first_stamp_by_the_preamble() {
    let mut net = Net::new(1_000_000);
    let path = net.line(3, 2_000, GIGABIT, 5_000);
    net.stream("lone", &path, 6, periodic(100_000, 0), frame(1_230));
    let lone = first(&net.plan);
    let exact = 2 * (1_238 * 8_000 + 5_000) + 2_000_000;
    assert_eq!((lone.release_lower_ps, lone.release_upper_ps), (exact, Some(exact)));
    assert_eq!((lone.lower_ps, lone.upper_ps), (exact - 64_000, Some(exact - 64_000)));
    // The bridge cuts through after 64 octets, so it has the frame 1,166 octets earlier.
    net.plan.nodes[1].cut_through_octets = Some(64);
    let cut = first(&net.plan);
    assert_eq!(cut.release_lower_ps, exact - 1_166 * 8_000);
    let stamped = exact - 1_166 * 8_000 - 64_000;
    assert_eq!((cut.lower_ps, cut.upper_ps), (stamped, Some(stamped)));
    // A node whose filters take whole frames stores them; the least delay is that of other nodes.
    net.plan.policing.push(Policing { node: 1, ..Policing::default() });
    assert_eq!((first(&net.plan).lower_ps, first(&net.plan).upper_ps), (stamped, Some(exact - 64_000)));
    // A shorter frame ahead is complete in the queue when the longer one enters it.
    net.plan.policing.clear();
    net.stream("short", &path, 6, periodic(100_000, 0), frame(64));
    let ahead = 84 * 8_000;
    assert_eq!(first(&net.plan).upper_ps, Some(stamped + ahead));
}

/// A fault delays frames on the second link by up to 3 us.
#[test]
fn a_fault_that_delays_frames_adds_its_greatest_delay() {
    let mut net = Net::new(1_000_000);
    let path = net.line(3, 2_000, GIGABIT, 5_000);
    net.stream("lone", &path, 6, periodic(100_000, 0), frame(1_230));
    let before = first(&net.plan);
    net.plan.faults.push(Fault::Delay {
        port: net.port(path[1], path[2]),
        from_ns: 0,
        until_ns: 1_000_000,
        least_ns: 1_000,
        most_ns: 3_000,
        share_ppm: 500_000,
        keeps_order: false,
    });
    let late = first(&net.plan);
    assert_eq!((late.lower_ps, late.upper_ps), (before.lower_ps, Some(before.upper_ps.unwrap() + 3_000_000)));
    assert_eq!(
        (late.loss_reason, late.release_upper_ps),
        (None, Some(before.release_upper_ps.unwrap() + 3_000_000))
    );
}

/// A frame that may be interrupted on its first link, with the stamp at its end: after the stamp only the
/// cable counts.
#[test]
fn behind_the_stamp_of_a_frames_end_nothing_interrupts_it() {
    let mut net = Net::new(1_000_000);
    let path = net.line(2, 0, GIGABIT, 5_000);
    net.stream("low", &path, 0, periodic(1_000_000, 0), frame(FULL));
    net.stream("express", &path, 7, periodic(1_000_000, 0), frame(64));
    net.plan.ports[0].preemption = Some(Preemption { express: 0x80, ..Default::default() });
    net.tap(0, Stage::Tx, Point::End);
    assert_eq!(first(&net.plan).upper_ps, Some(5_000));
    net.plan.taps[0].point = Point::Start;
    assert_eq!(first(&net.plan).upper_ps, Some(last_bit(1_522) - 64_000 + (84 + 24) * 8_000 + 5_000));
}

/// Of several ports, the reason names the one without a bound; a frame that fits nowhere is a reason of the
/// flow.
#[test]
fn reasons_name_the_port() {
    let (mut net, path) = Net::row(1_000_000, 4);
    net.stream("s", &path, 5, periodic(50_000, 0), frame(1_230));
    net.plan.ports[4].rate_bps = 100_000_000;
    let overload = Reason::Overload { coming_bps: 200_000_000, served_bps: 100_000_000 };
    assert_eq!(first(&net.plan).reason, at("n2 -> n3", overload.clone()));
    assert_eq!(first(&net.plan).release_reason, at("n2 -> n3", overload.clone()));
    // Both ports have a reason: between stamps the second port counts, from the release on the first one.
    net.plan.ports[0].rate_bps = 100_000_000;
    assert_eq!(first(&net.plan).release_reason, at("n0 -> n1", overload.clone()));
    net.plan.ports[0].rate_bps = GIGABIT;
    net.plan.streams[0].pattern = periodic(1_000_000, 0);
    net.plan.ports[4].gates = gates(0, &[(0x20, 90_000), (0, 10_000)]);
    assert_eq!((first(&net.plan).upper_ps, first(&net.plan).reason), (None, Some(Reason::Dropped)));
    assert_eq!(first(&net.plan).loss_reason, at("n2 -> n3", Reason::Dropped));
    // With a single port the reason names none.
    let mut lone = Net::new(1_000_000);
    let path = lone.line(2, 0, 100_000_000, 0);
    lone.stream("s", &path, 5, periodic(50_000, 0), frame(1_230));
    assert_eq!(first(&lone.plan).release_reason, Some(overload));
}

/// Windows with room for 980 octets, and frames of 480 and 1,480 octets: 500 octets with their overhead pass
/// in each window. The longer frames are dropped.
#[test]
fn frames_that_fit_no_window_are_not_waited_for() {
    let (mut net, path) = Net::row(1_000_000, 2);
    net.stream("s", &path, 7, UNSCHEDULED, Size::List { octets: vec![480, 1_480] });
    net.plan.ports[0].gates = gates(0, &[(0x80, 7_904), (0, 92_096)]);
    // After 1,000 - 500 octets, the frame leaves in the second window after the one that it just missed.
    assert_eq!(first(&net.plan).hops[0].upper_ps, Some(200_000_000 + last_bit(980)));
    // Without gates, the largest frame is the slowest one.
    net.plan.ports[0].gates = None;
    assert_eq!(first(&net.plan).hops[0].upper_ps, Some(last_bit(1_480)));
}

/// Two equal frames of 10,000 bit per period of 100 us and more: a link of 100 Mbit/s just suffices.
#[test]
fn as_much_as_a_link_carries_may_come_for_ever() {
    let bounded = |period: u64| {
        let mut net = Net::new(1_000_000);
        let [a, b, c] = ["a", "b", "c"].map(|name| net.node(name, 0));
        net.link(a, b, GIGABIT, 0);
        net.link(b, c, 100_000_000, 0);
        net.stream("s", &[a, b, c], 3, periodic(period, 0), frame(1_230));
        net.port_mut(a, b).classes[3].cbs = Some(cbs(200_000_000, GIGABIT as i64, 100_000, -100_000));
        (first(&net.plan).hops[1].upper_ps, net)
    };
    assert_eq!(bounded(100_000).0, Some(1_238 * 80_000));
    assert_eq!(bounded(99_999).0, None);
    let mut without = bounded(100_000).1;
    without.plan.ports[0].classes[3].cbs = None;
    assert_eq!(first(&without.plan).hops[1].upper_ps, Some(1_238 * 80_000));
}

/// 1,500 octets every 4 us are 3 Gbit/s. As a frame's time may be rounded up by a picosecond, 672 bit in 224,000 ps, the
/// guaranteed rate is less, and a frame may wait longer by up to 1 / 224,001 of the run of 1 ms: 4.5 ns.
#[test]
fn times_that_are_rounded_up_end_with_the_run() {
    let (mut net, path) = Net::row(1_000_000, 2);
    net.plan.drain_ns = 0;
    (0..2).for_each(|port| net.plan.ports[port].rate_bps = 3_000_000_000);
    net.stream("s", &path, 3, periodic(4_000, 0), frame(1_480));
    let found = first(&net.plan).hops[0].upper_ps.unwrap() - 1_488 * 8_000 / 3;
    assert!((0..4_500).contains(&found), "{found}");
}

/// A talker that always has frames, behind a shaper of 200 Mbit/s: one frame at once, then frames at this
/// rate.
#[test]
fn a_shaper_limits_what_comes_to_the_next_port() {
    let behind = |flows: u32, idle: i64, rate_bps: u64| {
        let mut net = Net::new(1_000_000);
        let [a, b, c] = ["a", "b", "c"].map(|name| net.node(name, 0));
        net.link(a, b, GIGABIT, 0);
        net.link(b, c, rate_bps, 0);
        for number in 0..flows {
            let saturating = Pattern::Saturating { backlog: 4 };
            net.stream(&format!("s{number}"), &[a, b, c], 3, saturating, frame(1_230));
        }
        net.port_mut(a, b).classes[3].cbs = Some(cbs(idle, GIGABIT as i64, 100_000, -100_000));
        let hop = first(&net.plan).hops[1].clone();
        (hop.upper_ps, hop.reason)
    };
    assert_eq!(behind(1, 200_000_000, 500_000_000), (Some(1_238 * 16_000), None));
    let overload = Reason::Overload { coming_bps: 200_000_000, served_bps: 100_000_000 };
    assert_eq!(behind(1, 200_000_000, 100_000_000), (None, Some(overload)));
    // Two streams share the shaper.
    assert_eq!(behind(2, 300_000_000, 500_000_000), (Some(1_238 * 16_000), None));
}

/// 12,336 bit of a lower frame, during which a tenth of the link's rate gains 1,233.6 bit; and 10,000 bit.
#[test]
fn the_credit_that_a_shaper_gathers_is_reported_in_whole_bits() {
    let gathered = |lower: u32| {
        let (mut net, path) = Net::row(1_000_000, 2);
        net.stream("a", &path, 3, periodic(100_000, 0), frame(1_230));
        net.stream("bulk", &path, 0, Pattern::Saturating { backlog: 2 }, frame(lower));
        net.plan.ports[0].classes[3].cbs = Some(cbs(100_000_000, GIGABIT as i64, 100_000, -100_000));
        bounds(&net.plan).ports[0].classes[1].credit_bits
    };
    assert_eq!((gathered(FULL), gathered(1_230)), (Some(1_234), Some(1_000)));
}

/// Two flows meet behind a port that one of them overloads. Its link brings 100 Mbit/s, the other flow more: the cause is
/// the first port, or a talker that may send any amount.
#[test]
fn a_reason_names_the_first_cause() {
    let reason = |first: Pattern| {
        let (mut net, path) = Net::row(1_000_000, 4);
        (0..6).for_each(|port| net.plan.ports[port].rate_bps = 100_000_000);
        net.stream("first", &path, 3, first, frame(1_232));
        net.stream("second", &path[1..], 3, periodic(1_000_000, 0), frame(100));
        bounds(&net.plan).flows[1].hops[0].reason.clone().unwrap()
    };
    let overload = Reason::Overload { coming_bps: 100_160_000, served_bps: 100_000_000 };
    let why = Reason::At { port: "n0 -> n1".into(), why: Box::new(overload) };
    let behind = Reason::Behind { stream: "first".into(), why: Box::new(why) };
    assert_eq!(reason(periodic(100_000, 0)), behind);
    let poisson = Pattern::Poisson { mean_interval_ps: 1_000_000_000 };
    assert_eq!(reason(poisson), Reason::UnboundedArrivals { stream: "first".into() });
}

/// Behind a shaper whose lowest credit truncates its debt, a class still waits for the lower frame.
#[test]
fn a_shaper_that_does_not_shape_leaves_a_bound() {
    for above in [false, true] {
        let (mut net, path) = Net::row(1_000_000, 2);
        net.stream("a", &path, 3, periodic(1_000_000, 0), frame(1_230));
        net.stream("bulk", &path, 0, Pattern::Saturating { backlog: 2 }, frame(FULL));
        net.plan.ports[0].classes[3].cbs = Some(cbs(200_000_000, GIGABIT as i64, 100_000, -1));
        if above {
            // A higher class whose gate is always open with this one: its windows take no time from this
            // class.
            net.plan.ports[0].gates = gates(0, &[(0x8f, 100_000), (0x0f, 100_000)]);
            net.stream("high", &path, 7, periodic(1_000_000, 0), frame(64));
        }
        let upper = first(&net.plan).hops[0].upper_ps.unwrap();
        let exact = wire(1_522) + last_bit(1_230) + if above { wire(64) } else { 0 };
        assert!((0..20).contains(&(upper - exact)), "{above}: {upper}, not {exact}");
    }
}

/// Two frames of a shaped class in one window: the second one waits for credit, and not only for the first
/// one.
#[test]
fn a_shaper_holds_scheduled_frames_back() {
    let (mut net, path) = Net::row(10_000_000, 2);
    for name in ["a", "b"] {
        net.stream(name, &path, 3, periodic(1_000_000, 0), frame(1_230));
    }
    net.plan.ports[0].gates = gates(0, &[(0x08, 400_000), (0, 100_000)]);
    net.plan.ports[0].classes[3].cbs = Some(cbs(100_000_000, GIGABIT as i64, 100_000, -100_000));
    let taps = (net.tap(0, Stage::Send, Point::End), net.tap(1, Stage::Rx, Point::End));
    let (sightings, _) = run(&net.plan);
    let seen = delays(&sightings, taps, 1)[0] * 1_000;
    assert_eq!(seen, 100_000_000 + last_bit(1_230));
    assert!(
        bounds(&net.plan).flows.iter().all(|flow| flow.hops[0].upper_ps.is_some_and(|upper| upper >= seen))
    );
}

/// A higher class in separate windows takes no time from another class, except the gap before the window.
#[test]
fn classes_in_windows_of_their_own_do_not_disturb_each_other() {
    let (mut net, path) = Net::row(1_000_000, 2);
    net.stream("low", &path, 0, UNSCHEDULED, frame(FULL));
    net.stream("high", &path, 7, Pattern::Saturating { backlog: 2 }, frame(FULL));
    net.plan.ports[0].gates = gates(0, &[(0x80, 20_000), (0x01, 80_000)]);
    // The frame just missed its start, its length before the end of 80 us; then follow 20 us and a gap.
    let upper = last_bit(1_522) + 20_000_000 + 96_000 + last_bit(1_522);
    assert_eq!(first(&net.plan).hops[0].upper_ps, Some(upper));
}

/// A window in which a lower frame can start at one instant only, and in which the higher class may send: no
/// time is guaranteed.
#[test]
fn a_higher_class_may_take_a_window_of_one_moment() {
    let low = |open: u8| {
        let (mut net, path) = Net::row(1_000_000, 2);
        net.stream("low", &path, 0, UNSCHEDULED, frame(FULL));
        net.stream("high", &path, 7, periodic(100_000, 0), frame(64));
        net.plan.ports[0].gates = gates(0, &[(open, 12_240), (0, 47_760), (0x80, 20_000), (0, 20_000)]);
        first(&net.plan).hops[0].upper_ps
    };
    assert_eq!((low(0x01), low(0x81)), (Some(100_000_000 + last_bit(1_522)), None));
}

/// A lower frame that begins within a short window delays others at most until its end: 5 us less 864 ns.
#[test]
fn a_lower_frame_takes_no_more_than_the_window() {
    let (mut net, path) = Net::row(1_000_000, 2);
    net.stream("high", &path, 7, UNSCHEDULED, frame(100));
    net.stream("bulk", &path, 0, Pattern::Saturating { backlog: 2 }, frame(FULL));
    net.plan.ports[0].gates = gates(0, &[(0, 50_000), (0x81, 5_000), (0x01, 45_000)]);
    assert_eq!(first(&net.plan).hops[0].upper_ps, Some(100_000_000 + last_bit(100)));
}

/// Frames of two preemptable classes do not cut each other, so behind their link no frame waits in a queue.
/// If one of the classes is express, two frames may end at once.
#[test]
fn only_express_frames_end_together_with_others() {
    let second_hop = |classes: &[u8], express: u8| {
        let (mut net, path) = Net::row(1_000_000, 3);
        for (number, class) in classes.iter().enumerate() {
            net.stream(&format!("s{number}"), &path, *class, periodic(1_000_000, 0), frame(FULL));
        }
        net.plan.ports[0].preemption = Some(Preemption { express, ..Default::default() });
        net.plan.ports[2].pcp_to_class = [0; 8];
        first(&net.plan).hops[1].upper_ps.unwrap()
    };
    let (alone, together) = (last_bit(1_522), wire(1_522) + last_bit(1_522));
    assert_eq!((second_hop(&[0, 1], 0x80), second_hop(&[6, 7], 0xc0)), (alone, alone));
    assert_eq!((second_hop(&[0, 0, 7], 0x80), second_hop(&[1, 6, 6], 0x40)), (together, together));
}

/// Only the talker that babbles has a higher rate.
#[test]
fn only_the_talker_that_babbles_sends_more() {
    let mut net = Net::new(1_000_000);
    let path = net.line(2, 0, 100_000_000, 0);
    for name in ["s", "t"] {
        net.stream(name, &path, 5, periodic(1_000_000, 0), frame(1_230));
    }
    net.plan.faults.push(Fault::Babble { stream: 1, from_ns: 0, until_ns: 1_000_000, every_ns: 100_000 });
    let overload = Reason::Overload { coming_bps: 120_000_000, served_bps: 100_000_000 };
    assert_eq!(first(&net.plan).release_reason, Some(overload));
}

/// A ring of equal nodes: all flows have the same bound, which at low load is one frame of the other flow at
/// every hop.
#[test]
fn in_a_ring_of_equals_all_have_the_same_bound() {
    let ring_with = |first: u64, nodes: u32, hops: u32, period: u64, octets: u32| -> Vec<FlowBounds> {
        let mut net = Net::new(1_000_000);
        let all: Vec<u32> = (0..nodes).map(|n| net.node(&format!("n{n}"), 0)).collect();
        let next = |n: u32| all[(n % nodes) as usize];
        (0..nodes).for_each(|n| _ = net.link(next(n), next(n + 1), if n == 0 { first } else { SLOW }, 5_000));
        for n in 0..nodes {
            let path: Vec<u32> = (n..=n + hops).map(next).collect();
            net.stream(&format!("s{n}"), &path, 5, periodic(period, 0), frame(octets));
        }
        bounds(&net.plan).flows
    };
    let ring = |nodes, hops, period, octets| ring_with(SLOW, nodes, hops, period, octets);
    // 10 us, its own 9.04 us, and 5 ns of cable.
    for flow in ring(3, 2, 1_000_000, 105) {
        assert!(flow.hops.iter().all(|hop| hop.upper_ps == Some(19_040_000 + 5_000)), "{flow:?}");
    }
    for period in [100_000, 110_000, 130_000, 200_000] {
        let upper: Vec<_> = ring(6, 5, period, 105).iter().map(|flow| flow.release_upper_ps).collect();
        assert!(upper.iter().all(|one| *one == upper[0]), "{period}: {upper:?}");
    }
    // More than the ring can carry: each hop's delay grows in every round.
    for flow in ring(6, 5, 1_000_000, 2_156) {
        assert_eq!(flow.reason, Some(Reason::Circle), "{flow:?}");
    }
    // One link is ten times as fast: the link before still limits the arrivals at its port, to one other
    // frame at once.
    for flow in ring_with(GIGABIT, 6, 5, 1_000_000, 2_228) {
        assert_eq!(flow.reason, Some(Reason::Circle), "{flow:?}");
        for hop in flow.hops.iter().filter(|hop| hop.port == "n0 -> n1") {
            assert_eq!(hop.upper_ps, Some(wire(2_228) + last_bit(2_228) + 5_000));
        }
    }
}

/// From `a` over two paths to `d`: links of these rates, a frame of 994 octets, 1 us in every node after the
/// talker. With `root`, the paths part at the talker; otherwise behind one more link.
fn two_paths(rates: [[u64; 2]; 2], root: bool, alter: impl FnOnce(&mut Stream)) -> (Plan, Bounds) {
    let mut net = Net::new(20_000_000);
    let talker = net.node("t", 1_000);
    let [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map(|name| net.node(name, 1_000));
    net.link(talker, a, GIGABIT, 0);
    let begin = if root { a } else { talker };
    for (from, to, rate) in
        [(a, b, rates[0][0]), (b, d, rates[0][1]), (a, c, rates[1][0]), (c, d, rates[1][1]), (d, e, GIGABIT)]
    {
        net.link(from, to, rate, 0);
    }
    // The path over c comes last, after the entries behind the merge.
    let mut route = vec![(2, None), (4, Some(0)), (10, Some(1)), (6, None), (8, Some(3))];
    let (mut merge, mut listener) = (vec![1, 4], 2);
    if !root {
        for (_, parent) in &mut route {
            *parent = Some(parent.map_or(0, |parent| parent + 1));
        }
        route.insert(0, (0, None));
        merge.iter_mut().for_each(|entry| *entry += 1);
        listener += 1;
    }
    let route = route.into_iter().map(|(port, parent)| Route { port, parent }).collect();
    let listeners = vec![Destination { node: e, route: listener }];
    let stream = net.tree("s", begin, route, listeners, 3, periodic(10_000_000, 0), frame(994));
    let merges = vec![Merge { from: merge }];
    stream.redundancy = Some(Box::new(Redundancy { merges, ..Redundancy::default() }));
    alter(stream);
    let found = bounds(&net.plan);
    (net.plan, found)
}

const SLOW: u64 = 100_000_000;
/// One frame of 994 octets at 1 Gbit/s and at 100 Mbit/s, in ps.
const QUICK: i64 = 1_002 * 8_000;
const LONG: i64 = 1_002 * 80_000;

#[test]
fn the_slowest_and_the_fastest_way_count_from_the_release() {
    // Over b the slow link is the first one, over c the last one, in both orders of the list; three nodes of
    // 1 us.
    for rates in [[[SLOW, GIGABIT], [GIGABIT, 500_000_000]], [[GIGABIT, 500_000_000], [SLOW, GIGABIT]]] {
        for root in [true, false] {
            let (plan, found) = two_paths(rates, root, |_| ());
            plan.check().unwrap();
            let flow = &found.flows[0];
            let common = if root { 0 } else { QUICK + 1_000_000 };
            // All member streams go on. The analysis does not separate their arrivals, so one may wait for
            // the other.
            let upper = common + LONG + QUICK + 2_000_000 + wire(994) + QUICK;
            let lower = common + QUICK + 2 * QUICK + 2_000_000 + QUICK;
            assert_eq!(
                (flow.release_upper_ps, flow.release_lower_ps),
                (Some(upper), lower),
                "{rates:?} {root}"
            );
            // With a stamp at one port only, a member stream may have left by the other port before.
            let stamped = if root { (Some(upper), 0) } else { (Some(upper - 64_000), lower - 64_000) };
            assert_eq!((flow.upper_ps, flow.lower_ps), stamped, "{rates:?} {root}");
            let slow =
                if (rates[0][0] == SLOW) == flow.hops.iter().any(|hop| hop.port == "a -> b") { 1 } else { 0 };
            assert_eq!(slow, 1, "{rates:?} {root}");
            // A listener whose stamps are at the begin of frames.
            let mut plan = plan;
            plan.taps.push(tsn_plan::Tap {
                name: "rx".into(),
                port: 11,
                stage: Stage::Rx,
                point: Point::Start,
                granularity_ns: 1,
            });
            let early = bounds(&plan).flows[0].clone();
            let octets = 994 * 8_000;
            let lower = if root { 0 } else { stamped.1 - octets };
            let stamped = (stamped.0.map(|upper| upper - octets), lower);
            assert_eq!((early.upper_ps, early.lower_ps), stamped, "{rates:?} {root}");
        }
    }
}

/// Of paths with equal delays, or paths without a bound, the first one is shown.
#[test]
fn of_equal_paths_the_first_one_is_shown() {
    let (mut plan, found) = two_paths([[GIGABIT; 2]; 2], false, |_| ());
    let ports = |found: &Bounds| found.flows[0].hops.iter().map(|hop| hop.port.clone()).collect::<Vec<_>>();
    let by_b = ["t -> a", "a -> b", "b -> d", "d -> e"];
    assert_eq!(ports(&found), by_b);
    let leaves =
        |node: u32| plan.streams[0].route.iter().find(|hop| plan.ports[hop.port as usize].node == node);
    for port in [2, 3].map(|node| leaves(node).unwrap().port) {
        plan.faults.push(Fault::Schedule { port, from_ns: 0, until_ns: 1_000_000, gates: None });
        let own = cbs(100_000_000, GIGABIT as i64, 1, -1);
        plan.ports[port as usize].classes[7].cbs = Some(tsn_plan::Cbs { runs_while_closed: true, ..own });
    }
    assert_eq!(ports(&bounds(&plan)), by_b);
    assert_eq!(bounds(&plan).flows[0].reason, at("b -> d", Reason::CreditRuns));
}

/// The two member streams arrive 72,144 ns apart; their numbers must be known for this time and 1 ns more.
#[test]
fn a_recovery_has_to_remember_for_longer_than_copies_are_apart() {
    let backlog = |reset_ns: u64| {
        let recovery = Recovery {
            identification: Identification::Null,
            algorithm: Algorithm::Vector { history: 32 },
            reset_ns,
            individual: false,
            latent: None,
        };
        let rates = [[GIGABIT, GIGABIT], [SLOW, GIGABIT]];
        let (_, found) = two_paths(rates, false, |stream| {
            stream.redundancy.as_mut().unwrap().recovery = Some(recovery);
        });
        let port = found.ports.iter().find(|port| port.port == "d -> e").unwrap();
        port.classes[0].backlog_frames
    };
    assert_eq!((backlog(72_144), backlog(72_145)), (Some(2), Some(1)));
}

/// Only paths that part at one node and forward in turn deliver one frame; other times of forwarding have no
/// meaning.
#[test]
fn paths_in_turn_are_recognised_by_the_entries_behind_one_node() {
    let spans = |from: u64, until: u64| vec![Span { from_ns: from * 1_000, until_ns: until * 1_000 }];
    let twice = |active: &[(u32, (u64, u64))]| {
        let (_, found) = two_paths([[GIGABIT, GIGABIT], [SLOW, GIGABIT]], false, |stream| {
            let active = active
                .iter()
                .map(|(route, (from, until))| Active { route: *route, spans: spans(*from, *until) });
            stream.redundancy.as_mut().unwrap().active = active.collect();
        });
        let port = found.ports.iter().find(|port| port.port == "d -> e").unwrap();
        port.classes[0].backlog_frames == Some(2)
    };
    // Entries: 0 t -> a, 1 a -> b, 4 a -> c.
    assert!(!twice(&[(1, (0, 5_000)), (4, (5_000, 20_000))]));
    assert!(!twice(&[(0, (0, 20_000)), (1, (0, 5_000)), (4, (5_000, 20_000))]));
    assert!(twice(&[(1, (0, 10_000)), (4, (0, 10_000)), (0, (10_000, 20_000))]));
}

/// Two links lead to a third one of the same rate. A stream without a limit is the reason unless the others send more than
/// the class is guaranteed: 4,000 bit in 4 us are just as much.
#[test]
fn a_stream_without_a_limit_is_blamed_unless_the_others_are_too_much() {
    let reason = |period_ns: u64| {
        let mut net = Net::new(1_000_000);
        let nodes = ["a", "d", "e", "b", "c"].map(|name| net.node(name, 0));
        let [.., b, c] = nodes;
        for node in nodes[..3].iter().chain([&c]) {
            net.link(*node, b, GIGABIT, 0);
        }
        for (name, from) in [("one", nodes[0]), ("other", nodes[1])] {
            net.stream(name, &[from, b, c], 5, periodic(period_ns, 0), frame(480));
        }
        let any = Pattern::Poisson { mean_interval_ps: 1_000_000 };
        net.stream("any", &[nodes[2], b, c], 5, any, frame(480));
        net.plan.check().unwrap();
        bounds(&net.plan).flows[0].hops[1].reason.clone()
    };
    assert_eq!(reason(8_000), Some(Reason::UnboundedArrivals { stream: "any".into() }));
    assert_eq!(
        reason(7_999),
        Some(Reason::Overload { coming_bps: 2_000_125_016, served_bps: GIGABIT as i64 })
    );
}

/// A stream of 200 Mbit/s and what a link of 800 Mbit/s lets pass of another one leave nothing to a lower class: the reason
/// is the second one.
#[test]
fn of_a_higher_class_the_stream_without_a_limit_is_blamed() {
    let mut net = Net::new(1_000_000);
    let [a, d, e, b, c] = ["a", "d", "e", "b", "c"].map(|name| net.node(name, 0));
    for (node, rate) in [(a, GIGABIT), (d, GIGABIT), (e, 800_000_000), (c, GIGABIT)] {
        net.link(node, b, rate, 0);
    }
    net.stream("one", &[a, b, c], 6, periodic(20_000, 0), frame(480));
    net.stream("any", &[e, b, c], 6, Pattern::Poisson { mean_interval_ps: 1_000_000 }, frame(480));
    net.stream("low", &[d, b, c], 5, periodic(1_000_000, 0), frame(480));
    net.plan.check().unwrap();
    let why = Reason::UnboundedArrivals { stream: "any".into() };
    let reason = Reason::HigherClass { class: 6, why: Some(Box::new(why)) };
    assert_eq!(bounds(&net.plan).flows[2].hops[1].reason, Some(reason));
}
