//! Bounds whose value is known from arithmetic.

#[path = "../../sim/tests/common/mod.rs"]
mod common;

use common::*;
use tsn_bounds::{Bounds, FlowBounds, bounds};
use tsn_plan::{Pattern, Size};

fn flow<'a>(bounds: &'a Bounds, name: &str) -> &'a FlowBounds {
    bounds.flows.iter().find(|flow| flow.stream == name).unwrap()
}

/// What a frame costs a gigabit link, in ps.
fn wire(octets: i64) -> i64 {
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
    // Hardware stamps at both ends: without the frame's octets on the last link.
    let rx = net.port(c, b);
    net.tap(rx, tsn_plan::Stage::Rx, tsn_plan::Point::Start);
    let stamped = bounds(&net.plan).flows[0].clone();
    assert_eq!((stamped.upper_ps, stamped.lower_ps), (Some(exact - 800_000), exact - 800_000));
    assert_eq!(stamped.release_upper_ps, lone.release_upper_ps);
}

/// One frame of a lower class may be in the way at every hop after the first, where the delay does not count it.
#[test]
fn one_blocking_frame_per_hop() {
    for hops in 1..5_u32 {
        let mut net = Net::new(1_000_000);
        let path = net.line(hops + 1, 1_000, GIGABIT, 5_000);
        net.stream("express", &path, 6, periodic(100_000, 0), frame(100));
        net.stream("bulk", &path, 0, Pattern::Saturating { backlog: 2 }, frame(FULL));
        let found = bounds(&net.plan);
        let express = flow(&found, "express");
        let blocked = wire(i64::from(FULL));
        assert_eq!(express.upper_ps, Some(alone(100, i64::from(hops)) + blocked * i64::from(hops - 1)));
        assert_eq!(express.release_upper_ps.unwrap() - express.upper_ps.unwrap(), blocked + BEFORE * 8_000);
        assert_eq!(express.lower_ps, alone(100, i64::from(hops)));
        let bulk = flow(&found, "bulk");
        assert_eq!(bulk.release_upper_ps, None);
        assert!(bulk.release_reason.as_ref().unwrap().to_string().contains("may release any amount at once"));
    }
}

/// Flows of one class that meet at a port: the last one waits for all others.
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
    // All four are at the bridge at once: the simulator reaches the bound.
    let (sightings, _) = run(&net.plan);
    let most = (0..4).flat_map(|n| delays(&sightings, (2 * n, 2 * n + 1), u32::from(n))).max();
    assert_eq!(most, Some(exact / 1_000));
}

/// Frames that come over one link come one after another: behind a link of the same rate nobody waits.
#[test]
fn a_link_shapes_what_comes_over_it() {
    let mut net = Net::new(1_000_000);
    let path = net.line(4, 0, GIGABIT, 0);
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

/// Data units of several frames: the last frame waits for the others in the talker, and no more behind it.
#[test]
fn data_units_are_bursts() {
    let mut net = Net::new(10_000_000);
    let path = net.line(3, 0, GIGABIT, 0);
    let size = Size::Units { octets: vec![4_000], most_per_frame: 1_000, overhead: 46 };
    net.stream("video", &path, 5, periodic(1_000_000, 0), size);
    let found = bounds(&net.plan);
    let video = flow(&found, "video");
    assert_eq!(video.hops[0].upper_ps, Some(3 * wire(1_046) + 1_054 * 8_000));
    assert_eq!(video.hops[1].upper_ps, Some(1_054 * 8_000));
}

/// A port that is asked for more than it has: no bound, and the reason in numbers.
#[test]
fn overload_has_a_reason() {
    let mut net = Net::new(1_000_000);
    let path = net.line(2, 0, 100_000_000, 0);
    net.stream("a", &path, 5, periodic(100_000, 0), frame(1_230));
    net.stream("b", &path, 5, periodic(100_000, 0), frame(1_230));
    let found = bounds(&net.plan);
    let reason = flow(&found, "a").release_reason.as_ref().unwrap().to_string();
    assert_eq!(reason, "200000000 bit/s may come, the class is sure of 100000000 bit/s");
    assert_eq!(found.ports[0].classes[0].backlog_octets, None);
    // From its first bit out on, nothing is in the way any more.
    assert_eq!(flow(&found, "a").upper_ps, Some(1_238 * 80_000 - 640_000));
}

/// A class above without a limit leaves nothing for sure.
#[test]
fn an_unlimited_higher_class_has_a_reason() {
    let mut net = Net::new(1_000_000);
    let path = net.line(2, 0, GIGABIT, 0);
    net.stream("low", &path, 2, periodic(100_000, 0), frame(100));
    net.stream("high", &path, 5, Pattern::Poisson { mean_interval_ps: 100_000_000 }, frame(100));
    let found = bounds(&net.plan);
    let reason = flow(&found, "low").release_reason.as_ref().unwrap().to_string();
    assert_eq!(reason, "class 5 above it may take the link for ever");
    let reason = flow(&found, "high").release_reason.as_ref().unwrap().to_string();
    assert_eq!(reason, "high shares the class and may release any amount at once");
}

/// De Azua & Boyer 2014: a frame of class A waits at most for one lower frame; a burst is served at the idle slope.
#[test]
fn credit_based_shaper_of_class_a() {
    let shaped = |flows: u32| {
        let mut net = Net::new(1_000_000);
        let path = net.line(2, 0, GIGABIT, 0);
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
    // The second of two: 10 000 bit at 200 Mbit/s after the first one, if nothing else counted.
    assert_eq!(shaped(2), wire(1_522) + 50_000_000 + last_bit);
    assert_eq!(shaped(4), wire(1_522) + 3 * 25_000_000 + last_bit);
}

/// EnGINE eq. 5 and 6: class B waits for a lower frame, the credit that A gathers meanwhile, and a frame of A.
#[test]
fn credit_based_shaper_of_class_b() {
    let mut net = Net::new(1_000_000);
    let path = net.line(2, 0, GIGABIT, 0);
    net.stream("a", &path, 3, periodic(100_000, 0), frame(1_230));
    net.stream("b", &path, 2, periodic(100_000, 0), frame(1_230));
    net.stream("bulk", &path, 0, Pattern::Saturating { backlog: 2 }, frame(FULL));
    let port = net.port_mut(path[0], path[1]);
    port.classes[3].cbs = Some(cbs(100_000_000, GIGABIT as i64, 1_234, -9_000));
    port.classes[2].cbs = Some(cbs(100_000_000, GIGABIT as i64, 2_371, -9_000));
    let found = bounds(&net.plan);
    // A's arrivals end the wait here before A's reservation would: one frame of A, not the credit's share of more.
    assert_eq!(flow(&found, "b").hops[0].upper_ps, Some(wire(1_522) + wire(1_230) + 1_238 * 8_000));
    // What the reservation alone says, if A may send any time: 12 336 / 0.9 + 10 000 bit.
    net.plan.streams[0].pattern = Pattern::Saturating { backlog: 1 };
    let found = bounds(&net.plan);
    assert_eq!(flow(&found, "b").hops[0].upper_ps, Some(13_706_667 + 10_000_000 + 1_238 * 8_000));
    // And what is below both shapers still has its bound.
    net.stream("c", &path, 1, periodic(1_000_000, 0), frame(100));
    let found = bounds(&net.plan);
    assert!(flow(&found, "c").release_upper_ps.is_some());
}

/// One window per cycle, alone on the port: who just missed the last moment to start waits until the next one.
#[test]
fn one_window_per_cycle() {
    let gated = |octets: u32, window: u64, flows: u32| {
        let mut net = Net::new(1_000_000);
        let path = net.line(2, 0, GIGABIT, 0);
        for number in 0..flows {
            net.stream(&format!("s{number}"), &path, 7, periodic(1_000_000, 0), frame(octets));
        }
        net.port_mut(path[0], path[1]).gates = gates(0, &[(0x80, window), (0x00, 100_000 - window)]);
        bounds(&net.plan).flows[0].hops[0].upper_ps
    };
    let cycle = 100_000_000;
    for octets in [64, 500, 1_522_u32] {
        let last_bit = i64::from(octets + 8) * 8_000;
        // It may start until the window's end less its length: from then to the next opening is the cycle less that.
        let slack = 50_000_000 - last_bit;
        assert_eq!(gated(octets, 50_000, 1), Some(cycle - slack + last_bit), "{octets}");
    }
    // Exactly one frame fits: every cycle serves one, and the third of three needs three openings.
    let last_bit = 1_530 * 8_000;
    assert_eq!(gated(1_522, 12_240, 1), Some(cycle + last_bit));
    assert_eq!(gated(1_522, 12_240, 3), Some(3 * cycle + last_bit));
    // One bit less: dropped.
    assert_eq!(gated(1_522, 12_239, 1), None);
}

/// A lower class that may send until the window opens: its inter-frame gap takes the place of the frame's start.
#[test]
fn a_window_without_room_for_the_gap_before_it_gives_nothing() {
    let gated = |window: u64| {
        let mut net = Net::new(1_000_000);
        let path = net.line(2, 0, GIGABIT, 0);
        net.stream("s", &path, 7, periodic(1_000_000, 0), frame(1_522));
        net.stream("bulk", &path, 0, Pattern::Saturating { backlog: 2 }, frame(FULL));
        net.port_mut(path[0], path[1]).gates = gates(0, &[(0x80, window), (0x01, 100_000 - window)]);
        let flow = bounds(&net.plan).flows[0].clone();
        (flow.release_upper_ps, flow.release_reason.map(|reason| reason.to_string()))
    };
    let none = "no window of its gate is sure to have room for its largest frame";
    assert_eq!(gated(12_240), (None, Some(none.into())));
    assert_eq!(gated(12_336), (Some(100_000_000 + 1_530 * 8_000), None));
}

/// The class's own frame fills its window; its inter-frame gap reaches into the next one, 60 ns later, which then is too
/// short: the second of two frames waits for the next cycle, as it does in the simulator.
#[test]
fn the_gap_of_the_window_before_counts_too() {
    let second = |pause: u64| {
        let mut net = Net::new(1_000_000);
        let path = net.line(2, 0, GIGABIT, 0);
        for name in ["a", "b"] {
            net.stream(name, &path, 7, periodic(1_000_000, 0), frame(FULL));
        }
        let rest = 100_000 - 2 * 12_240 - pause;
        let list = [(0x80, 12_240), (0, pause), (0x80, 12_240), (0, rest)];
        net.port_mut(path[0], path[1]).gates = gates(0, &list);
        let send = net.tap(0, tsn_plan::Stage::Send, tsn_plan::Point::End);
        let rx = net.tap(1, tsn_plan::Stage::Rx, tsn_plan::Point::End);
        let (sightings, _) = run(&net.plan);
        (bounds(&net.plan).flows[0].hops[0].upper_ps.unwrap(), delays(&sightings, (send, rx), 1)[0] * 1_000)
    };
    let last_bit = 1_530 * 8_000;
    // Missed the last moment of the one sure window, 100 us before: the first and the second opening after it.
    assert_eq!(second(60), (200_000_000 + last_bit, 100_000_000 + last_bit));
    // With room for the gap, both windows count; the worst is to miss the second one.
    assert_eq!(second(96), (100_000_000 + last_bit, 12_336_000 + last_bit));
}

/// A lower class that is always open may have begun within the window, just before: its frame first, then the rest of
/// the cycle, and once more a lower frame that began before the gate opened.
#[test]
fn who_comes_within_a_window_may_find_a_lower_frame_there() {
    let mut net = Net::new(1_000_000);
    let path = net.line(2, 0, GIGABIT, 0);
    net.stream("s", &path, 7, periodic(1_000_000, 0), frame(FULL));
    net.stream("bulk", &path, 0, Pattern::Saturating { backlog: 2 }, frame(FULL));
    net.port_mut(path[0], path[1]).gates = gates(0, &[(0x81, 50_000), (0x01, 50_000)]);
    let last_bit = 1_530 * 8_000;
    let closed = 100_000_000 - (50_000_000 - last_bit);
    let upper = wire(1_522) + closed + wire(1_522) + last_bit;
    assert_eq!(bounds(&net.plan).flows[0].hops[0].upper_ps, Some(upper));
}

/// Streams that feed each other's ports in a ring: bounded when the load is low, and said why not when it is high.
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

/// Neither PTP's frames nor gates that drift are in the analysis, so it claims nothing.
#[test]
fn clocks_leave_no_bound() {
    let mut net = Net::new(1_000_000);
    let path = net.line(3, 1_000, GIGABIT, 5_000);
    net.stream("lone", &path, 6, periodic(100_000, 0), frame(1_230));
    let clock = tsn_plan::NodeClock {
        offset_ns: 0,
        deviation_ppt: 0,
        changes: Vec::new(),
        wander: None,
        granularity_ns: 1,
        jitter_ns: 0,
    };
    net.plan.clocks = Some(tsn_plan::Clocks { nodes: vec![clock; 3], record_ns: 1_000_000, gptp: None });
    let found = bounds(&net.plan);
    let lone = flow(&found, "lone");
    assert_eq!((lone.upper_ns, lone.release_upper_ps), (None, None));
    assert_eq!(lone.reason, Some(tsn_bounds::Reason::Clocks));
    assert!(found.ports.iter().flat_map(|port| &port.classes).all(|class| class.backlog_frames.is_none()));
}

/// Lists that change, begin late or let frames run over their end, and credit that runs while gates are closed.
#[test]
fn gates_that_are_less_than_one_strict_list_leave_no_bound() {
    let bounded = |alter: &dyn Fn(&mut tsn_plan::Port)| {
        let mut net = Net::new(1_000_000);
        let path = net.line(2, 1_000, GIGABIT, 5_000);
        net.stream("lone", &path, 7, periodic(100_000, 0), frame(1_230));
        let port = net.port_mut(path[0], path[1]);
        port.gates = gates(0, &[(0x80, 50_000), (0x01, 50_000)]);
        port.classes[7].cbs = Some(cbs(400_000_000, 1_000_000_000, 20_000, -20_000));
        alter(port);
        net.plan.check().unwrap();
        flow(&bounds(&net.plan), "lone").release_upper_ps.is_some()
    };
    let gate = |port: &mut tsn_plan::Port, alter: &dyn Fn(&mut tsn_plan::Gates)| {
        alter(port.gates.as_mut().unwrap());
    };
    assert!(bounded(&|_| ()));
    assert!(!bounded(&|port| gate(port, &|gates| gates.initial = Some(0))));
    assert!(!bounded(&|port| gate(port, &|gates| gates.unguarded = true)));
    assert!(!bounded(&|port| gate(port, &|gates| gates.changes = vec![change(0, 0, &[(0x80, 100_000)])])));
    assert!(!bounded(&|port| port.classes[7].cbs.as_mut().unwrap().runs_while_closed = true));
}
