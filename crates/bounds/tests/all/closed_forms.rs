//! Bounds whose values follow from arithmetic.

use crate::common::*;
use tsn_bounds::{Bounds, FlowBounds, bounds};
use tsn_plan::{Pattern, Plan, Policing, Size, StreamFilter};

pub fn flow<'a>(bounds: &'a Bounds, name: &str) -> &'a FlowBounds {
    bounds.flows.iter().find(|flow| flow.stream == name).unwrap()
}

/// A period that does not divide any schedule's cycle, so that frames arrive at all phases of the windows.
pub const UNSCHEDULED: Pattern = Pattern::Periodic { period_ns: 1_000_003, offset_ns: 0, jitter_ns: 0 };

/// The time of a frame with preamble and gap on a gigabit link, in ps.
pub fn wire(octets: i64) -> i64 {
    (octets + BEFORE + AFTER) * 8_000
}

/// From the `tx` stamp of a lone frame to its last bit, over `hops` gigabit links with nodes of 1 µs between.
fn alone(octets: i64, hops: i64) -> i64 {
    (BEFORE + octets) * 8_000 * hops - BEFORE * 8_000 + 1_000_000 * (hops - 1) + 5_000 * hops
}

#[test]
fn a_lone_flow_is_exact_on_any_number_of_hops() {
    for hops in 1..8 {
        let mut net = Net::new(1_000_000);
        let path = net.line(hops + 1, 1_000, GIGABIT, 5_000);
        net.stream("lone", &path, 6, periodic(100_000, 0), frame(1_230));
        let found = bounds(&net.plan);
        let lone = flow(&found, "lone");
        assert_eq!(lone.upper_ps, Some(alone(1_230, i64::from(hops))), "{hops} hops");
        assert_eq!(lone.lower_ps, alone(1_230, i64::from(hops)));
        assert_eq!(lone.release_upper_ps, Some(lone.lower_ps + BEFORE * 8_000));
        let (_, counters) = run(&net.plan);
        let queue = &found.ports[0].classes[0];
        assert_eq!(queue.backlog_octets, Some(counters.ports[0].classes[6].most_octets));
        assert_eq!(queue.backlog_frames, Some(1));
    }
}

#[test]
fn mixed_rates_and_what_a_stamp_means() {
    let mut net = Net::new(1_000_000);
    let [a, b, c] = ["a", "b", "c"].map(|name| net.node(name, 2_000));
    net.link(a, b, 100_000_000, 7_000);
    net.link(b, c, GIGABIT, 9_000);
    net.stream("lone", &[a, b, c], 6, periodic(1_000_000, 0), frame(100));
    let lone = bounds(&net.plan).flows[0].clone();
    let exact = 100 * 80_000 + 7_000 + 2_000_000 + 108 * 8_000 + 9_000;
    assert_eq!((lone.upper_ps, lone.lower_ps), (Some(exact), exact));
    // Hardware stamps at both ends leave out the frame's octets on the last link.
    let rx = net.port(c, b);
    net.tap(rx, tsn_plan::Stage::Rx, tsn_plan::Point::Start);
    let stamped = bounds(&net.plan).flows[0].clone();
    assert_eq!((stamped.upper_ps, stamped.lower_ps), (Some(exact - 800_000), exact - 800_000));
    assert_eq!(stamped.release_upper_ps, lone.release_upper_ps);
}

/// At the first hop, which the delay does not count, one frame of a lower class may be in transmission. At each further one
/// it has been for as long as the other frame needed to come over the link.
#[test]
fn one_blocking_frame_per_hop() {
    for hops in 1..5_u32 {
        let mut net = Net::new(1_000_000);
        let path = net.line(hops + 1, 1_000, GIGABIT, 5_000);
        net.stream("express", &path, 6, periodic(100_000, 0), frame(100));
        net.stream("bulk", &path, 0, Pattern::Saturating { backlog: 2 }, frame(FULL));
        let found = bounds(&net.plan);
        let express = flow(&found, "express");
        let (blocked, longer) = (wire(i64::from(FULL)), wire(i64::from(FULL)) - wire(100));
        assert_eq!(express.upper_ps, Some(alone(100, i64::from(hops)) + longer * i64::from(hops - 1)));
        assert_eq!(express.release_upper_ps.unwrap() - express.upper_ps.unwrap(), blocked + BEFORE * 8_000);
        assert_eq!(express.lower_ps, alone(100, i64::from(hops)));
        let bulk = flow(&found, "bulk");
        assert_eq!(bulk.release_upper_ps, None);
        assert!(bulk.release_reason.as_ref().unwrap().to_string().contains("has no bounded burst"));
    }
}

/// Flows of one class that meet at a port: the last frame waits for all others.
#[test]
fn simultaneous_frames_wait_for_each_other() {
    let mut net = Net::new(1_000_000);
    let [sink, bridge] = ["sink", "bridge"].map(|name| net.node(name, 0));
    net.link(bridge, sink, GIGABIT, 0);
    for number in 0..4 {
        let talker = net.node(&format!("t{number}"), 0);
        net.link(talker, bridge, GIGABIT, 0);
        let path = [talker, bridge, sink];
        net.stream(&format!("f{number}"), &path, 5, periodic(100_000, 0), frame(480));
        net.tap_ends(&path);
    }
    let found = bounds(&net.plan);
    let exact = 488 * 8_000 * 2 - 64_000 + 3 * wire(480);
    assert!(found.flows.iter().all(|flow| flow.upper_ps == Some(exact)));
    // All four frames are at the bridge at once, so the simulator reaches the bound.
    let (sightings, _) = run(&net.plan);
    let most = (0..4).flat_map(|n| delays(&sightings, (2 * n, 2 * n + 1), u32::from(n))).max();
    assert_eq!(most, Some(exact / 1_000));
}

/// Frames over one link arrive one after another, so they do not wait before a link of the same rate.
#[test]
fn a_link_shapes_what_comes_over_it() {
    let (mut net, path) = Net::row(1_000_000, 4);
    for number in 0..10 {
        net.stream(&format!("f{number}"), &path, 5, periodic(200_000, 0), frame(480));
    }
    let found = bounds(&net.plan);
    for flow in &found.flows {
        assert_eq!(flow.hops[0].upper_ps, Some(9 * wire(480) + 488 * 8_000));
        assert_eq!(flow.hops[1].upper_ps, Some(488 * 8_000), "only its own transmission");
        assert_eq!(flow.hops[2].upper_ps, Some(488 * 8_000));
    }
}

/// Data units of several frames: the last frame waits for the others at the talker, and not after that.
#[test]
fn data_units_are_bursts() {
    let (mut net, path) = Net::row(10_000_000, 3);
    let size = Size::Units { octets: vec![4_000], most_per_frame: 1_000, overhead: 46 };
    net.stream("video", &path, 5, periodic(1_000_000, 0), size);
    let found = bounds(&net.plan);
    let video = flow(&found, "video");
    assert_eq!(video.hops[0].upper_ps, Some(3 * wire(1_046) + 1_054 * 8_000));
    assert_eq!(video.hops[1].upper_ps, Some(1_054 * 8_000));
}

/// A port whose streams need more than its rate has no bound, and the reason has the numbers.
#[test]
fn overload_has_a_reason() {
    let mut net = Net::new(1_000_000);
    let path = net.line(2, 0, 100_000_000, 0);
    net.stream("a", &path, 5, periodic(100_000, 0), frame(1_230));
    net.stream("b", &path, 5, periodic(100_000, 0), frame(1_230));
    let found = bounds(&net.plan);
    let reason = flow(&found, "a").release_reason.as_ref().unwrap().to_string();
    assert_eq!(reason, "200 Mbit/s may arrive, the class is guaranteed 100 Mbit/s");
    assert_eq!(found.ports[0].classes[0].backlog_octets, None);
    // After the first bit has left, no other frame delays the rest.
    assert_eq!(flow(&found, "a").upper_ps, Some(1_238 * 80_000 - 640_000));
}

/// A higher class without a limit guarantees nothing to the classes below.
/// A class with `queueMaxSDU` keeps longer frames out of its queue: the wait of others for a frame in transmission, and
/// for frames in the same class, counts only those that it takes. A filter before the queue does the same.
#[test]
fn frames_that_a_class_does_not_take_delay_nothing() {
    let found = |alter: &dyn Fn(&mut Net, usize)| {
        let mut net = Net::new(1_000_000);
        let [a, c, s, b] = ["a", "c", "s", "b"].map(|name| net.node(name, 1_000));
        for (from, to) in [(a, s), (c, s), (s, b)] {
            net.link(from, to, GIGABIT, 5_000);
        }
        net.stream("express", &[a, s, b], 6, periodic(100_000, 0), frame(100));
        net.stream("long", &[c, s, b], 0, periodic(500_000, 0), frame(FULL));
        net.stream("mixed", &[c, s, b], 0, periodic(500_000, 0), Size::List { octets: vec![200, 700] });
        let port = net.port(s, b);
        alter(&mut net, port as usize);
        net.plan.check().unwrap();
        let found = bounds(&net.plan);
        let reason = flow(&found, "long").reason.as_ref().map(ToString::to_string);
        (["express", "mixed"].map(|name| flow(&found, name).upper_ps), reason)
    };
    let limited = |most: u32| found(&|net, port| net.plan.ports[port].classes[0].max_sdu_octets = Some(most));
    let express = |blocking: i64| Some(alone(100, 2) + wire(blocking));
    let ([all, _], reason) = found(&|_, _| ());
    assert_eq!((all, reason), (express(FULL.into()), None));
    // 1,522 octets have 1,500 of service data unit. With 1,499 `mixed` waits for one frame of `express` only.
    assert_eq!(limited(1_500).0[0], express(FULL.into()));
    let why = "its largest frame exceeds the largest that its class takes";
    for (most, largest) in [(1_499, 700), (678, 700), (677, 699), (178, 200)] {
        let ([first, second], reason) = limited(most);
        assert_eq!((first, reason.as_deref()), (express(largest), Some(why)), "{most}");
        if most == 678 {
            assert_eq!(second, Some(alone(700, 2) + wire(100)));
        }
    }
    // Of frames of 200 octets none is taken.
    assert_eq!(limited(177).0, [Some(alone(100, 2)), None]);
    let filtered = found(&|net, _| {
        let filter = StreamFilter { max_sdu_octets: Some(678), ..StreamFilter::default() };
        net.plan.policing.push(Policing { node: 2, filters: vec![filter], ..Policing::default() });
    });
    assert_eq!((filtered.0[0], filtered.1.as_deref()), (express(700), Some(why)));
}

#[test]
fn an_unlimited_higher_class_has_a_reason() {
    let (mut net, path) = Net::row(1_000_000, 2);
    net.stream("low", &path, 2, periodic(100_000, 0), frame(100));
    net.stream("high", &path, 5, Pattern::Poisson { mean_interval_ps: 100_000_000 }, frame(100));
    let found = bounds(&net.plan);
    let reason = flow(&found, "low").release_reason.as_ref().unwrap().to_string();
    assert_eq!(
        reason,
        "class 5 above it has priority and may use the whole link: high shares the class and has no bounded burst"
    );
    let reason = flow(&found, "high").release_reason.as_ref().unwrap().to_string();
    assert_eq!(reason, "high shares the class and has no bounded burst");
}

/// The reason of a lower class is that of the higher one, at its port: a window for a frame and its gap is 0.06 us too short.
#[test]
fn the_reason_of_a_higher_class_is_the_one_that_is_told() {
    use tsn_bounds::Reason;
    let (mut net, path) = Net::row(1_000_000, 3);
    net.stream("high", &path, 7, periodic(100_000, 0), frame(1_000));
    net.stream("low", &path, 0, periodic(100_000, 0), frame(1_000));
    net.plan.ports[0].gates = gates(0, &[(0x80, 8_100), (0x01, 91_900)]);
    net.plan.ports[2..].iter_mut().for_each(|port| port.rate_bps = GIGABIT / 2);
    for port in &mut net.plan.ports {
        port.preemption = Some(tsn_plan::Preemption { express: 0x80, ..tsn_plan::Preemption::default() });
    }
    net.plan.check().unwrap();
    let found = bounds(&net.plan);
    let hops = |name: &str| flow(&found, name).hops.iter().map(|hop| hop.reason.clone()).collect::<Vec<_>>();
    let above = |why: Reason| Reason::HigherClass { class: 7, why: Some(Box::new(why)) };
    // Half as fast as the first link, which alone limits what comes then.
    let at = Reason::At { port: "n0 -> n1".into(), why: Box::new(Reason::NoWindow) };
    let second = Reason::Behind { stream: "high".into(), why: Box::new(at) };
    assert_eq!(hops("high"), [Some(Reason::NoWindow), Some(second.clone())]);
    assert_eq!(hops("low"), [Some(above(Reason::NoWindow)), Some(above(second))]);
}

/// De Azua & Boyer 2014: a frame of class A waits for at most one lower frame; a burst is served at the idle
/// slope.
#[test]
fn credit_based_shaper_of_class_a() {
    let shaped = |flows: u32| {
        let (mut net, path) = Net::row(1_000_000, 2);
        // 1250 octets on the wire every 100 us: 100 Mbit/s each.
        for number in 0..flows {
            net.stream(&format!("a{number}"), &path, 3, periodic(100_000, 0), frame(1_230));
        }
        net.stream("bulk", &path, 0, Pattern::Saturating { backlog: 2 }, frame(FULL));
        let idle = 100_000_000 * i64::from(flows);
        let port = net.port_mut(path[0], path[1]);
        let high = idle * 12_336 / 1_000_000_000 + 1;
        port.classes[3].cbs = Some(cbs(idle, GIGABIT as i64, high, -10_000));
        let found = bounds(&net.plan);
        flow(&found, "a0").hops[0].upper_ps.unwrap()
    };
    let last_bit = 1_238 * 8_000;
    assert_eq!(shaped(1), wire(1_522) + last_bit);
    // The second of two frames leaves 10 000 bit at 200 Mbit/s after the first one, without other delays.
    assert_eq!(shaped(2), wire(1_522) + 50_000_000 + last_bit);
    assert_eq!(shaped(4), wire(1_522) + 3 * 25_000_000 + last_bit);
}

/// EnGINE eq. 5 and 6: class B waits for a lower frame, for the credit that A gathers meanwhile, and for a
/// frame of A.
#[test]
fn credit_based_shaper_of_class_b() {
    let (mut net, path) = Net::row(1_000_000, 2);
    net.stream("a", &path, 3, periodic(100_000, 0), frame(1_230));
    net.stream("b", &path, 2, periodic(100_000, 0), frame(1_230));
    net.stream("bulk", &path, 0, Pattern::Saturating { backlog: 2 }, frame(FULL));
    let port = net.port_mut(path[0], path[1]);
    port.classes[3].cbs = Some(cbs(100_000_000, GIGABIT as i64, 1_234, -9_000));
    port.classes[2].cbs = Some(cbs(100_000_000, GIGABIT as i64, 2_371, -9_000));
    let found = bounds(&net.plan);
    // A's arrivals end the wait before A's reservation would: one frame of A counts, and no larger share from
    // A's credit.
    assert_eq!(flow(&found, "b").hops[0].upper_ps, Some(wire(1_522) + wire(1_230) + 1_238 * 8_000));
    // The bound from the reservation alone, if A may send at any time: 12 336 / 0.9 + 10 000 bit.
    net.plan.streams[0].pattern = Pattern::Saturating { backlog: 1 };
    let found = bounds(&net.plan);
    assert_eq!(flow(&found, "b").hops[0].upper_ps, Some(13_706_667 + 10_000_000 + 1_238 * 8_000));
    // A class below both shapers still has its bound.
    net.stream("c", &path, 1, periodic(1_000_000, 0), frame(100));
    let found = bounds(&net.plan);
    assert!(flow(&found, "c").release_upper_ps.is_some());
}

/// Behind a ring, a port without a delay of its own passes on jitter that has grown in the ring. The port
/// behind it counts all of the jitter, in whatever order the ports are analysed.
#[test]
fn the_order_of_ports_does_not_matter() {
    let last_hop = |behind_first: bool, size: u32| {
        let mut net = Net::new(1_000_000);
        let ring = [0, 1, 2].map(|n| net.node(&format!("r{n}"), 0));
        let [a, b] = ["a", "b"].map(|name| net.node(name, 0));
        let behind = |net: &mut Net| {
            net.link(a, b, 100_000_000, 0);
            net.link(ring[2], a, GIGABIT, 0);
        };
        if behind_first {
            behind(&mut net);
        }
        (0..3).for_each(|n| _ = net.link(ring[n], ring[(n + 1) % 3], GIGABIT, 0));
        if !behind_first {
            behind(&mut net);
        }
        for n in 0..3 {
            let path = [0, 1, 2].map(|step| ring[(n + step) % 3]);
            net.stream(&format!("s{n}"), &path, 5, periodic(200_000, 0), frame(size));
            net.stream(&format!("t{n}"), &path, 5, periodic(100_000, 0), frame(size));
        }
        let path = [ring[0], ring[1], ring[2], a, b];
        let pattern = Pattern::Periodic { period_ns: 150_000, offset_ns: 0, jitter_ns: 40_000 };
        net.stream("f", &path, 5, pattern, frame(1_480));
        flow(&bounds(&net.plan), "f").hops[3].upper_ps
    };
    for size in [100, 400, 800, 1_200, FULL] {
        assert!(last_hop(true, size).is_some());
        assert_eq!(last_hop(true, size), last_hop(false, size), "{size}");
    }
}

/// An express frame cuts another frame 64 octets before its end, and both leave directly one after the other.
/// At the next port, where both have the same class, one waits for nearly all of the other.
#[test]
fn an_interrupted_frame_comes_right_behind_the_one_that_cut_it() {
    let (mut net, path) = Net::row(1_000_000, 3);
    let cut = (BEFORE as u64 + u64::from(FULL) - 64) * 8;
    net.stream("low", &path, 0, periodic(1_000_000, 0), frame(FULL));
    net.stream("express", &path, 7, periodic(1_000_000, cut), frame(FULL));
    net.plan.ports[0].preemption = Some(tsn_plan::Preemption { express: 0x80, ..Default::default() });
    net.plan.ports[2].pcp_to_class = [0; 8];
    let at_next = (
        net.tap(1, tsn_plan::Stage::Rx, tsn_plan::Point::End),
        net.tap(3, tsn_plan::Stage::Rx, tsn_plan::Point::End),
    );
    let (sightings, _) = run(&net.plan);
    let upper = bounds(&net.plan).flows[0].hops[1].upper_ps.unwrap();
    assert_eq!(upper, wire(1_522) + 1_530 * 8_000);
    let seen = delays(&sightings, at_next, 0)[0] * 1_000;
    assert!(seen > upper - 1_000_000 && seen <= upper, "{seen} of {upper}");
}

/// Streams around a ring that feed each other's ports have bounds at low load, and a reason at high load.
#[test]
fn a_ring_finds_its_fixed_point_or_says_so() {
    let ring = |octets: u32| {
        let mut net = Net::new(1_000_000);
        let nodes: Vec<u32> = (0..6).map(|n| net.node(&format!("n{n}"), 0)).collect();
        for n in 0..6 {
            net.link(nodes[n], nodes[(n + 1) % 6], 100_000_000, 0);
        }
        for n in 0..6 {
            let path: Vec<u32> = (0..5).map(|step| nodes[(n + step) % 6]).collect();
            net.stream(&format!("s{n}"), &path, 5, periodic(1_000_000, 0), frame(octets));
        }
        bounds(&net.plan).flows[0].clone()
    };
    let light = ring(105);
    assert!(light.upper_ps.is_some_and(|upper| upper > light.lower_ps));
    let heavy = ring(3_900);
    assert_eq!(heavy.upper_ps, None, "{heavy:?}");
    assert!(heavy.reason.is_some());
}

/// OCORA 3.2.2: an express frame waits for 123 octets that cannot be cut, with their overhead on the wire; if
/// lower frames are shorter, for one such frame.
#[test]
fn an_express_frame_waits_for_what_cannot_be_cut() {
    for (low, wait) in [(FULL, 123), (124, 123), (123, 123), (100, 100)] {
        for express in [0x80, 0xff] {
            let (mut net, path) = Net::row(1_000_000, 2);
            net.stream("express", &path, 7, periodic(1_000_000, 0), frame(64));
            net.stream("bulk", &path, 0, Pattern::Saturating { backlog: 2 }, frame(low));
            net.plan.ports[0].preemption = Some(tsn_plan::Preemption { express, ..Default::default() });
            let found = bounds(&net.plan);
            let wait = if express == 0xff { low } else { wait };
            assert_eq!(flow(&found, "express").hops[0].upper_ps, Some(wire(i64::from(wait)) + 72 * 8_000));
        }
    }
}

/// Every express frame adds 24 octets to the frame that it interrupts: preamble, check sequence and gap.
#[test]
fn an_interrupted_frame_pays_for_its_parts() {
    let interrupted = |low: u32, express: u32| {
        let (mut net, path) = Net::row(1_000_000, 2);
        net.stream("low", &path, 0, periodic(1_000_000, 1_000), frame(low));
        for number in 0..express {
            let offset = 3_000 + 2_000 * u64::from(number);
            net.stream(&format!("high{number}"), &path, 7, periodic(1_000_000, offset), frame(64));
        }
        net.plan.ports[0].preemption = Some(tsn_plan::Preemption { express: 0x80, ..Default::default() });
        let taps = net.tap_ends(&path);
        let (sightings, _) = run(&net.plan);
        let low = bounds(&net.plan).flows[0].clone();
        (low.hops[0].upper_ps.unwrap(), low.upper_ps.unwrap(), delays(&sightings, taps, 0)[0] * 1_000)
    };
    for express in 0..4 {
        let all = (BEFORE + i64::from(FULL) + i64::from(express) * (84 + 24)) * 8_000;
        let (hop, stamped, seen) = interrupted(FULL, express);
        assert_eq!((hop, stamped), (all, all - BEFORE * 8_000), "{express}");
        assert_eq!(seen, stamped, "reached, {express}");
    }
    // The frame is too short to be cut, so express frames leave before it, or wait.
    assert_eq!(interrupted(123, 2).0, 2 * wire(64) + 131 * 8_000);
}

/// An express class with a lower number than a preemptable class still leaves first.
#[test]
fn express_goes_before_higher_numbers() {
    let (mut net, path) = Net::row(1_000_000, 2);
    net.stream("express", &path, 1, periodic(1_000_000, 0), frame(64));
    net.stream("high", &path, 7, Pattern::Saturating { backlog: 2 }, frame(FULL));
    net.plan.ports[0].preemption = Some(tsn_plan::Preemption { express: 0x02, ..Default::default() });
    assert_eq!(flow(&bounds(&net.plan), "express").hops[0].upper_ps, Some(wire(123) + 72 * 8_000));
}

/// Two paths of different rates, and a stream that meets the merged stream behind them.
fn two_paths(times_counted: impl FnOnce(&mut tsn_plan::Stream)) -> Bounds {
    use tsn_plan::{Destination, Merge, Redundancy, Route};
    let mut net = Net::new(20_000_000);
    let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| net.node(name, 0));
    net.link(a, b, GIGABIT, 0);
    net.link(b, c, GIGABIT, 0);
    net.link(b, c, 100_000_000, 0);
    net.link(c, d, GIGABIT, 0);
    let route = [(0, None), (2, Some(0)), (4, Some(0)), (6, Some(1))];
    let route = route.map(|(port, parent)| Route { port, parent }).to_vec();
    let listeners = vec![Destination { node: d, route: 3 }];
    let stream = net.tree("s", a, route, listeners, 3, periodic(10_000_000, 0), frame(994));
    let merges = vec![Merge { from: vec![1, 2] }];
    stream.redundancy = Some(Box::new(Redundancy { merges, ..Redundancy::default() }));
    times_counted(stream);
    bounds(&net.plan)
}

fn recovery(reset_ns: u64) -> Option<tsn_plan::Recovery> {
    Some(tsn_plan::Recovery {
        identification: tsn_plan::Identification::Null,
        algorithm: tsn_plan::Algorithm::Vector { history: 32 },
        reset_ns,
        individual: false,
        latent: None,
    })
}

#[test]
fn the_slowest_of_several_paths_counts_with_its_tag() {
    let found = two_paths(|stream| {
        let own = stream.redundancy.as_mut().unwrap();
        (own.copies, own.recovery) = (vec![0, 1, 2, 0], recovery(1_000_000_000));
    });
    let (fast, slow) = ((994 + BEFORE) * 8_000, (1_000 + BEFORE) * 80_000);
    let one = flow(&found, "s");
    assert_eq!(one.release_upper_ps, Some(fast + slow + fast));
    assert_eq!(one.release_lower_ps, fast + (1_000 + BEFORE) * 8_000 + fast);
    // The recovery function passes one frame of each number, so no other frame ever waits behind it.
    assert_eq!(found.ports[3].classes[0].backlog_frames, Some(1));
}

#[test]
fn copies_that_may_all_go_on_are_counted_as_often() {
    let twice = |bounds: Bounds| bounds.ports[3].classes[0].backlog_frames == Some(2);
    let spans = |from_ns, until_ns| vec![tsn_plan::Span { from_ns, until_ns }];
    assert!(twice(two_paths(|_| ())), "nobody takes any out");
    let forgets = two_paths(|stream| {
        let own = stream.redundancy.as_mut().unwrap();
        (own.copies, own.recovery) = (vec![0, 1, 2, 0], recovery(10_000));
    });
    assert!(twice(forgets), "a recovery that forgets before the slower copy comes");
    let in_turn = |until| {
        two_paths(|stream| {
            let active = [(1, spans(0, until)), (2, spans(5_000_000, 20_000_000))];
            stream.redundancy.as_mut().unwrap().active =
                active.map(|(route, spans)| tsn_plan::Active { route, spans }).into();
        })
    };
    assert!(!twice(in_turn(5_000_000)));
    assert!(twice(in_turn(5_000_001)), "for a nanosecond both forward");
}

/// The rate of a babbling talker is the sum of its own rate and that of the babble.
#[test]
fn a_babbling_talker_counts_with_all_that_it_sends() {
    let babbling = |every_ns| {
        let mut net = Net::new(1_000_000);
        let path = net.line(2, 0, 100_000_000, 0);
        net.stream("s", &path, 5, periodic(1_000_000, 0), frame(1_230));
        let fault = tsn_plan::Fault::Babble { stream: 0, from_ns: 0, until_ns: 1_000_000, every_ns };
        net.plan.faults.push(fault);
        let found = bounds(&net.plan).flows[0].clone();
        (found.release_upper_ps, found.release_reason.map(|reason| reason.to_string()))
    };
    assert_eq!(babbling(1_000_000).0, Some(wire(1_230) * 10 + 1_238 * 80_000));
    let why = "110 Mbit/s may arrive, the class is guaranteed 100 Mbit/s";
    assert_eq!(babbling(100_000), (None, Some(why.into())));
}

/// A servo, a random walk and a fault leave no bound. Clocks that run free shorten periods and change what is stamped.
#[test]
fn clocks_that_run_free_have_bounds_and_others_have_none() {
    let mut net = Net::new(1_000_000);
    let path = net.line(3, 1_000, GIGABIT, 5_000);
    net.stream("lone", &path, 6, periodic(100_000, 0), frame(1_230));
    let perfect = flow(&bounds(&net.plan), "lone").clone();
    let clock = tsn_plan::NodeClock::default();
    let mut nodes = vec![clock; 3];
    // 100 ppm for 1.5 ms: 150 ns, and 2 ns while a frame is under way.
    (nodes[0].offset_ns, nodes[2].deviation_ppt) = (-1_000, 100_000_000);
    net.plan.clocks = Some(tsn_plan::Clocks {
        nodes,
        record_ns: 1_000_000,
        within_ns: None,
        gptp: None,
        faults: Vec::new(),
    });
    let lone = flow(&bounds(&net.plan), "lone").clone();
    let end = net.plan.duration_ns + net.plan.drain_ns;
    let released = perfect.release_upper_ps.unwrap() + 1_000_000 + end as i64 / 10 + 3_000;
    assert!((0..1_000).contains(&(released - lone.release_upper_ps.unwrap())));
    assert_eq!(lone.upper_ns, perfect.upper_ns.map(|upper| upper + 1_000 + end as i64 / 10_000 + 3));
    assert_eq!(lone.lower_ns, perfect.lower_ns + 1_000 - 3);
    let reason = |plan: &Plan| flow(&bounds(plan), "lone").reason.clone().map(|reason| reason.to_string());
    let why =
        "how far the clocks are apart is not known, and nothing promises it: write clocks: {within: 1 us}";
    let mut wanders = net.plan.clone();
    wanders.clocks.as_mut().unwrap().nodes[1].wander =
        Some(tsn_plan::Wander { most_ppt: 1, every_ns: 1_000 });
    assert_eq!(reason(&wanders).as_deref(), Some(why));
    let mut steps = net.plan.clone();
    let step = tsn_plan::ClockFault::ClockStep { node: 0, at_ns: 0, by_ns: 1 };
    steps.clocks.as_mut().unwrap().faults.push(step);
    assert_eq!(reason(&steps).as_deref(), Some(why));
}

/// Frames arrive back to back over a link, a bridge adds a tag to each, and the next link of the same rate is
/// overloaded.
#[test]
fn what_a_link_brings_is_more_with_a_tag() {
    let mut plan = crate::common::wrong::two_paths([GIGABIT; 2], &[]);
    plan.streams[0].pattern = Pattern::Saturating { backlog: 1 };
    let backlog = |plan: &Plan, name: &str| {
        let found = bounds(plan);
        let port = found.ports.iter().find(|port| port.port == name).unwrap();
        port.classes.iter().find(|class| class.class == 3).unwrap().backlog_octets
    };
    assert_eq!(backlog(&plan, "s -> x"), None);
    plan.streams[0].redundancy.as_mut().unwrap().copies = vec![1, 1, 2, 1, 2, 0];
    assert!(backlog(&plan, "s -> x").is_some());
}

/// A node takes 1 us for a frame, or up to 3 us: two frames of a link may then be in the next queue together.
#[test]
fn processing_times_that_vary_have_their_least_and_their_greatest_value() {
    let mut net = Net::new(2_000_000);
    let path = net.line(3, 1_000, GIGABIT, 0);
    for name in ["one", "two"] {
        net.stream(name, &path, 5, periodic(100_000, 0), frame(980));
    }
    let (hop, frame) = (988_i64 * 8_000, 1_000_i64 * 8_000);
    let release = |plan: &Plan| {
        let flow = &bounds(plan).flows[0];
        (flow.release_lower_ps, flow.release_upper_ps, flow.hops[1].upper_ps)
    };
    // Behind the other frame at the first port alone: the second one has to wait for no more of it.
    assert_eq!(release(&net.plan), (2 * hop + 1_000_000, Some(2 * hop + frame + 1_000_000), Some(hop)));
    for (further, least, most, closer) in [
        (tsn_plan::Further::Uniform { up_to_ns: 2_000 }, 0, 2_000_000, 2_000_000),
        (
            tsn_plan::Further::List { values_ns: vec![700, 500, 900], counts: Vec::new() },
            500_000,
            900_000,
            400_000,
        ),
        (tsn_plan::Further::Uniform { up_to_ns: 50_000 }, 0, 50_000_000, frame),
        (
            tsn_plan::Further::PerOctet {
                per_octet_ps: 800,
                most_octets: 980,
                values_ns: vec![700, 900],
                counts: Vec::new(),
            },
            700_000,
            1_684_000,
            984_000,
        ),
    ] {
        net.plan.nodes[path[1] as usize].further = Some(further);
        let found = release(&net.plan);
        assert_eq!(found.0, 2 * hop + 1_000_000 + least);
        // It waits at the second port only where the frame before it has taken longer, and then it has not.
        assert_eq!(found.1, Some(2 * hop + frame + 1_000_000 + most));
        assert_eq!(found.2, Some(hop + closer.min(frame)));
    }
}

/// Priority 0 is express on the first link, and becomes 5, which the next link may interrupt. Whether the node cuts
/// through is a matter of the first link.
#[test]
fn a_frame_whose_priority_changes_is_as_fast_as_the_node_that_cuts_through() {
    let mut net = Net::new(2_000_000);
    let path = net.line(3, 1_000, GIGABIT, 0);
    net.stream("s", &path, 0, periodic(100_000, 0), frame(800));
    net.plan.nodes[path[1] as usize].cut_through_octets = Some(200);
    for (from, express) in [(0, 1), (1, 1 << 5)] {
        let port = net.port_mut(path[from], path[from + 1]);
        port.preemption = Some(tsn_plan::Preemption { express, hold_advance_ns: 0, release_advance_ns: 0 });
    }
    let ingress = net.port(path[1], path[0]);
    let regeneration = tsn_plan::Regeneration { port: ingress, pcp: [5, 1, 2, 3, 4, 5, 6, 7] };
    net.plan.policing.push(tsn_plan::Policing {
        node: path[1],
        regeneration: vec![regeneration],
        ..tsn_plan::Policing::default()
    });
    net.plan.check().unwrap();
    let lower = bounds(&net.plan).flows[0].release_lower_ps;
    let first = net.tap(net.port(path[0], path[1]), tsn_plan::Stage::Send, tsn_plan::Point::End);
    let last = net.tap(net.port(path[2], path[1]), tsn_plan::Stage::Rx, tsn_plan::Point::End);
    let (sightings, _) = run(&net.plan);
    let fastest = delays(&sightings, (first, last), 0).into_iter().min().unwrap();
    assert_eq!(fastest * 1_000, lower);
}
