//! Bounds of classes with windows, whose values follow from arithmetic.

use crate::closed_forms::{UNSCHEDULED, flow, wire};
use crate::common::*;
use std::cell::Cell;
use tsn_bounds::{FlowBounds, Memory, bounds, bounds_with};
use tsn_plan::{Further, Gates, Pattern, Size};

/// One window per cycle without other classes: a frame that just missed the last time to start waits for the
/// next window.
#[test]
fn one_window_per_cycle() {
    let replaced = Cell::new(0);
    let gated = |octets: u32, window: u64, flows: u32| {
        let (mut net, path) = Net::row(1_000_000, 2);
        for number in 0..flows {
            net.stream(&format!("s{number}"), &path, 7, UNSCHEDULED, frame(octets));
        }
        let list = gates(0, &[(0x80, window), (0x00, 100_000 - window)]);
        net.port_mut(path[0], path[1]).gates = list.map(|own| Gates { replaced: replaced.get(), ..own });
        bounds(&net.plan).flows[0].hops[0].upper_ps
    };
    let cycle = 100_000_000;
    for octets in [64, 500, 1_522_u32] {
        let last_bit = i64::from(octets + 8) * 8_000;
        // The frame may start until its length before the window's end. Then the next opening is a cycle less
        // this time away.
        let slack = 50_000_000 - last_bit;
        assert_eq!(gated(octets, 50_000, 1), Some(cycle - slack + last_bit), "{octets}");
    }
    // Exactly one frame fits: every cycle serves one, so the third of three frames needs three openings.
    let last_bit = 1_530 * 8_000;
    assert_eq!(gated(1_522, 12_240, 1), Some(cycle + last_bit));
    assert_eq!(gated(1_522, 12_240, 3), Some(3 * cycle + last_bit));
    // The window is one bit too short, so frames are dropped.
    assert_eq!(gated(1_522, 12_239, 1), None);
    // A frame that began by another list takes its time at the opening, and the next one may have to be the third;
    // where one fits a window, it takes two windows. For other classes nothing differs.
    let before = gated(500, 50_000, 1).unwrap();
    replaced.set(0x7f);
    assert_eq!(gated(500, 50_000, 1), Some(before));
    replaced.set(0x80);
    assert_eq!(gated(500, 50_000, 1), Some(before + 2 * 520 * 8_000));
    assert_eq!(gated(1_522, 12_240, 1), Some(3 * cycle + last_bit));
}

/// A lower class may send until the window opens: its inter-frame gap takes the time for the frame's start.
#[test]
fn a_window_without_room_for_the_gap_before_it_gives_nothing() {
    let gated = |window: u64| {
        let (mut net, path) = Net::row(1_000_000, 2);
        net.stream("s", &path, 7, UNSCHEDULED, frame(1_522));
        net.stream("bulk", &path, 0, Pattern::Saturating { backlog: 2 }, frame(FULL));
        net.port_mut(path[0], path[1]).gates = gates(0, &[(0x80, window), (0x01, 100_000 - window)]);
        let flow = bounds(&net.plan).flows[0].clone();
        (flow.release_upper_ps, flow.release_reason.map(|reason| reason.to_string()))
    };
    let none = "no window of its gate is guaranteed to have room for its largest frame";
    assert_eq!(gated(12_240), (None, Some(none.into())));
    assert_eq!(gated(12_336), (Some(100_000_000 + 1_530 * 8_000), None));
}

/// The class's own frame fills its window, and its inter-frame gap reaches into the next window, 60 ns later.
/// So that window is too short, and the second of two frames waits for the next cycle, as in the simulator.
#[test]
fn the_gap_of_the_window_before_counts_too() {
    let second = |pause: u64| {
        let (mut net, path) = Net::row(1_000_000, 2);
        for name in ["a", "b"] {
            net.stream(name, &path, 7, UNSCHEDULED, frame(FULL));
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
    // The frame missed the last start in the one guaranteed window, 100 us before: the first and the second
    // opening after it.
    assert_eq!(second(60), (200_000_000 + last_bit, 100_000_000 + last_bit));
    // With room for the gap both windows count; the worst case is a frame that misses the second one.
    assert_eq!(second(96), (100_000_000 + last_bit, 12_336_000 + last_bit));
}

/// A talker whose releases meet the window does not wait; a talker whose releases are late waits for the rest
/// of the cycle.
#[test]
fn a_scheduled_stream_meets_its_window() {
    let last_bit = 1_238 * 8_000;
    let any_phase = Cell::new(false);
    let scheduled = |offset_ns: u64, jitter_ns: u64, base: i64| {
        let mut net = Net::new(10_000_000);
        let path = net.line(3, 1_000, GIGABIT, 5_000);
        let pattern = Pattern::Periodic { period_ns: 1_000_000, offset_ns, jitter_ns };
        net.stream("s", &path, 7, pattern, frame(1_230)).any_phase = any_phase.get();
        net.stream("bulk", &path, 0, Pattern::Saturating { backlog: 2 }, frame(FULL));
        // The first bridge's window opens when the frame is in the queue: last bit, propagation, processing.
        let there = (last_bit + 5_000 + 1_000_000) / 1_000 + 1;
        let lists = [(base, 0), (base + there, 1)];
        for (base, port) in lists {
            let list = [(0x80, 20_000), (0x01, 467_000), (0x00, 13_000)];
            net.plan.ports[2 * port].gates = gates(base, &list);
        }
        bounds(&net.plan).flows[0].clone()
    };
    let waits = |flow: &FlowBounds| {
        let wait = |hop: usize| flow.hops[hop].upper_ps.unwrap() - last_bit - 5_000;
        (wait(0), wait(1))
    };
    // In time: the only wait is the nanosecond by which the second window opens later, due to rounding up.
    assert_eq!(waits(&scheduled(100_000, 0, 100_000)), (0, 1_000));
    // A jitter of up to 5 us, in a window with room for it.
    let (first, second) = waits(&scheduled(100_000, 5_000, 100_000));
    assert!(first <= 5_000_000 / 16 + 1 && second < 400_000, "{first} {second}");
    // 1 us before the window; and 1 us after the last time to start in it: the rest of 500 us.
    assert_eq!(waits(&scheduled(99_000, 0, 100_000)).0, 1_000_000);
    let missed = 20_000_000 - last_bit + 1_000_000;
    let offset = 100_000 + missed as u64 / 1_000 + 1;
    let late = (i64::try_from(offset).unwrap() - 100_000) * 1_000;
    assert_eq!(waits(&scheduled(offset, 0, 100_000)), (500_000_000 - late, 1_000));
    // A talker that nobody tells its phase misses the window by nothing, in front of it and behind it.
    any_phase.set(true);
    assert_eq!(waits(&scheduled(100_000, 0, 100_000)).0, 500_000_000 - (20_000_000 - last_bit));
}

/// A window for exactly the one frame of every cycle: the class may always have a frame to send, and still every frame
/// waits for the next window only. Released 20 us after the window opened, it starts with the gap after the next
/// opening, in 980.096 us. With fewer windows than frames
/// there is no bound, nor in a window that is an octet too short.
#[test]
fn windows_that_serve_exactly_what_arrives_leave_nothing_behind() {
    let found = |octets: u32, cycle: u64| {
        let (mut net, path) = Net::row(10_000_000, 2);
        net.stream("s", &path, 7, periodic(1_000_000, 20_000), frame(octets));
        net.stream("bulk", &path, 0, Pattern::Saturating { backlog: 2 }, frame(FULL));
        net.plan.ports[0].gates = gates(0, &[(0x80, 10_000), (0x01, cycle - 10_000)]);
        bounds(&net.plan).flows[0].hops[0].clone()
    };
    let last_bit = 1_238 * 8_000;
    assert_eq!(found(1_230, 1_000_000).upper_ps, Some(980_096_000 + last_bit));
    // Two windows for three frames.
    assert!(matches!(found(1_230, 1_500_000).reason, Some(tsn_bounds::Reason::Overload { .. })));
    assert_eq!(found(1_231, 1_000_000).reason, Some(tsn_bounds::Reason::NoWindow));
}

/// A frame of a lower class that is open in the same window may have begun just before.
#[test]
fn a_scheduled_stream_may_find_a_lower_frame_in_its_window() {
    let wait = |lower: u8| {
        let (mut net, path) = Net::row(10_000_000, 2);
        net.stream("s", &path, 7, periodic(1_000_000, 10_000), frame(100));
        net.stream("bulk", &path, 0, Pattern::Saturating { backlog: 2 }, frame(FULL));
        net.plan.ports[0].gates = gates(0, &[(0x80 | lower, 50_000), (0x00, 50_000)]);
        bounds(&net.plan).flows[0].hops[0].upper_ps.unwrap() - 108 * 8_000
    };
    assert_eq!([wait(0x01), wait(0x00)], [wire(1_522), 0]);
}

/// Two of three releases meet an open gate, the third one waits for 50 us. So frames are 100 us apart at the
/// next port, where each takes 120 us.
#[test]
fn the_least_wait_for_a_gate_is_that_of_any_release() {
    let mut net = Net::new(10_000_000);
    let [a, b, c] = ["a", "b", "c"].map(|name| net.node(name, 0));
    net.link(a, b, GIGABIT, 0);
    net.link(b, c, 100_000_000, 0);
    net.stream("s", &[a, b, c], 7, periodic(150_000, 0), frame(1_480));
    net.plan.ports[0].gates = gates(0, &[(0x80, 20_000), (0x00, 80_000)]);
    let last_bit = 1_488 * 8_000;
    let hops = bounds(&net.plan).flows[0].hops.clone();
    assert_eq!(hops[0].upper_ps, Some(50_000_000 + last_bit));
    assert_eq!(hops[1].upper_ps, Some(20_000_000 + 10 * last_bit));
}

/// A preemptable frame that cannot be cut may still be in transmission when its own gate has closed.
#[test]
fn an_interrupted_frame_may_run_into_an_express_window() {
    let express = |preemptable: bool| {
        let (mut net, path) = Net::row(1_000_000, 2);
        net.stream("express", &path, 7, UNSCHEDULED, frame(480));
        net.stream("low", &path, 0, periodic(1_000_000, 0), frame(FULL));
        net.plan.ports[0].gates = gates(0, &[(0x80, 50_000), (0x01, 49_000), (0x00, 1_000)]);
        if preemptable {
            net.plan.ports[0].preemption = Some(tsn_plan::Preemption { express: 0x80, ..Default::default() });
        }
        bounds(&net.plan).flows[0].hops[0].upper_ps.unwrap()
    };
    let last_bit = 488 * 8_000;
    assert_eq!(express(false), 50_000_000 + 2 * last_bit);
    // One such frame before the window is missed, and one when the next window opens.
    assert_eq!(express(true), 50_000_000 + 2 * last_bit + 2 * wire(123));
}

/// Express frames during the opening of a window move the rest of a lower frame farther into the window. So
/// they count even if they end before the lower frame alone would.
#[test]
fn express_frames_push_others_into_a_window() {
    let middle = |express: bool| {
        let (mut net, path) = Net::row(1_000_000, 2);
        net.stream("middle", &path, 1, UNSCHEDULED, frame(FULL));
        net.stream("low", &path, 0, periodic(1_000_000, 0), frame(FULL));
        if express {
            net.stream("express", &path, 7, periodic(10_000_000, 0), frame(64));
        }
        net.plan.ports[0].gates = gates(0, &[(0x82, 5_000), (0x02, 45_000), (0x01, 50_000)]);
        net.plan.ports[0].preemption = Some(tsn_plan::Preemption { express: 0x80, ..Default::default() });
        bounds(&net.plan).flows[0].hops[0].upper_ps.unwrap()
    };
    // Express frames before the lower frame begins, and during its transmission.
    assert!(middle(true) - middle(false) >= 2 * (84 + 24) * 8_000);
}

/// Frames of a higher class that waited for their gate leave first when it opens.
#[test]
fn what_waited_above_goes_first() {
    let (mut net, path) = Net::row(1_000_000, 2);
    net.stream("high", &path, 7, periodic(20_000, 0), frame(1_000));
    net.stream("low", &path, 0, periodic(1_000_000, 100_001), frame(64));
    net.plan.ports[0].gates = gates(0, &[(0x81, 50_000), (0x01, 50_000)]);
    let send = net.tap(0, tsn_plan::Stage::Send, tsn_plan::Point::End);
    let rx = net.tap(1, tsn_plan::Stage::Rx, tsn_plan::Point::End);
    let (sightings, _) = run(&net.plan);
    let seen = delays(&sightings, (send, rx), 1)[0] * 1_000;
    assert!(seen > 2 * wire(1_000), "{seen}");
    let upper = bounds(&net.plan).flows[1].hops[0].upper_ps.unwrap();
    assert!(seen <= upper, "{seen} of {upper}");
}

/// Times at the limits of a Plan: the analysis ignores the schedule, and no sum overflows.
#[test]
fn schedules_of_any_size_are_survived() {
    let day = 86_400_000_000_000;
    for (period_ns, offset_ns, jitter_ns, cycle) in [
        (1, 10 * day, 10 * day, 2),
        (10 * day, 10 * day, 0, 7),
        (5, 0, 3_000_000_000, 10),
        (day, 1, 1_000, day),
    ] {
        let mut net = Net::new(1_000_000);
        let path = net.line(3, 1_000, GIGABIT, 5_000);
        let octets = vec![1 << 30];
        let size = Size::Units { octets, most_per_frame: 1_472, overhead: 50 };
        net.stream("a", &path, 7, Pattern::Periodic { period_ns, offset_ns, jitter_ns }, size);
        net.stream("b", &path, 7, Pattern::Periodic { period_ns, offset_ns: 0, jitter_ns: 0 }, frame(64));
        net.plan.ports[0].gates = gates(-(10 * day as i64), &[(0x80, cycle - 1), (0x00, 1)]);
        net.plan.check().unwrap();
        assert_eq!(bounds(&net.plan).flows.len(), 2);
    }
}

/// Flows of one class whose windows of arrival do not overlap do not wait for each other.
#[test]
fn scheduled_streams_of_one_class_wait_for_those_that_meet_them() {
    let (mut net, path) = Net::row(10_000_000, 2);
    for (number, offset) in [0, 20_000, 20_000, 60_000, 36_000].into_iter().enumerate() {
        net.stream(&format!("s{number}"), &path, 7, periodic(1_000_000, offset), frame(980));
    }
    net.plan.ports[0].gates = gates(0, &[(0x80, 50_000), (0x00, 950_000)]);
    let found = bounds(&net.plan);
    let wait = |name: &str| flow(&found, name).hops[0].upper_ps.unwrap() - 988 * 8_000;
    assert_eq!([wait("s1"), wait("s2"), wait("s4")], [8_000_000, 8_000_000, 0]);
    // This frame finds its gate closed, and is before the first one in the queue when the gate opens.
    assert_eq!([wait("s3"), wait("s0")], [940_000_000, 8_000_000]);
}

/// A frame of a lower class that is always open may have begun within the window, just before. The worst case
/// is this frame, the rest of the cycle, and another lower frame that began before the gate opened.
#[test]
fn who_comes_within_a_window_may_find_a_lower_frame_there() {
    let (mut net, path) = Net::row(1_000_000, 2);
    net.stream("s", &path, 7, UNSCHEDULED, frame(FULL));
    net.stream("bulk", &path, 0, Pattern::Saturating { backlog: 2 }, frame(FULL));
    net.port_mut(path[0], path[1]).gates = gates(0, &[(0x81, 50_000), (0x01, 50_000)]);
    let last_bit = 1_530 * 8_000;
    let closed = 100_000_000 - (50_000_000 - last_bit);
    let upper = wire(1_522) + closed + wire(1_522) + last_bit;
    assert_eq!(bounds(&net.plan).flows[0].hops[0].upper_ps, Some(upper));
}

/// A shaper whose credit changes while its gate is closed, beside one whose credit does not.
#[test]
fn credit_that_runs_while_gates_are_closed_leaves_no_bound() {
    let reason = |runs_while_closed: bool| {
        let (mut net, path) = Net::row(1_000_000, 2);
        net.stream("lone", &path, 7, periodic(100_000, 0), frame(1_230));
        let port = net.port_mut(path[0], path[1]);
        port.gates = gates(0, &[(0x80, 50_000), (0x01, 50_000)]);
        let own = cbs(400_000_000, 1_000_000_000, 20_000, -20_000);
        port.classes[7].cbs = Some(tsn_plan::Cbs { runs_while_closed, ..own });
        net.plan.check().unwrap();
        flow(&bounds(&net.plan), "lone").release_reason.clone()
    };
    assert_eq!([false, true].map(reason), [None, Some(tsn_bounds::Reason::CreditRuns)]);
}

/// Frames may start as long as their gate is open, and be on the link when another one has opened.
#[test]
fn frames_overrun_windows_without_a_guard() {
    let delay = |pcp: u8, unguarded: bool, express: Option<u8>| {
        let (mut net, path) = Net::row(1_000_000, 2);
        net.plan.ports[0].preemption =
            express.map(|express| tsn_plan::Preemption { express, ..tsn_plan::Preemption::default() });
        net.stream("s", &path, pcp, UNSCHEDULED, frame(480));
        net.stream("other", &path, 7 - pcp, periodic(1_000_000, 0), frame(FULL));
        let list = gates(0, &[(0x80, 50_000), (0x01, 50_000)]).map(|list| Gates { unguarded, ..list });
        net.plan.ports[0].gates = list;
        net.plan.check().unwrap();
        bounds(&net.plan).flows[0].hops[0].upper_ps.unwrap()
    };
    let last_bit = 488 * 8_000;
    // With a guard, a frame waits from its last start to the next window, which begins with an inter-frame gap.
    assert_eq!(delay(7, false, None), 50_000_000 + 2 * last_bit + 96_000);
    // Without one it may start 1 ps before its gate closes; a full frame of the other class may have begun then.
    assert_eq!(delay(7, true, None), 50_000_001 + wire(1_522) + last_bit);
    // Frames of the higher class overrun, too; the gap after one counts twice.
    assert_eq!(delay(0, true, None), 50_000_001 + wire(1_522) + 96_000 + last_bit);
    // An express frame waits for the rest of an interrupted one, 123 octets, before its gate closes and when it opens.
    assert_eq!(delay(7, true, Some(0x80)), 50_000_001 + 2 * wire(123) + last_bit);
}

/// A gate that opens later changes the earliest arrivals two ports behind it, and no latest ones; a slower node changes
/// the latest arrivals in its own queues, and nothing before.
#[test]
fn what_differs_is_analysed_where_it_arrives() {
    let (mut net, path) = Net::row(1_000_000, 4);
    let beside = net.node("beside", 0);
    net.link(beside, path[2], 1_000_000_000, 0);
    net.stream("timed", &path, 7, periodic(25_000, 0), frame(500));
    // When these frames come is not known, so every wait for the gate is possible.
    let bucket = |frames: u64| Pattern::TokenBucket { burst_octets: 520 * frames, rate_bps: 1_000_000 };
    net.stream("bucket", &path, 7, bucket(1), frame(500));
    for (frames, pcp) in [(5, 0), (7, 1), (9, 2), (11, 3)] {
        net.stream(&format!("b{pcp}"), &[beside, path[2], path[3]], pcp, bucket(frames), frame(500));
    }
    let memory = Memory::default();
    let mut seen: Vec<Vec<Option<i64>>> = Vec::new();
    let mut found = |net: &Net| {
        let own = bounds(&net.plan);
        assert_eq!(bounds_with(&net.plan, &memory), own);
        let last = own.flows.iter().map(|flow| flow.hops[flow.hops.len() - 1].upper_ps).collect();
        assert!(!seen.contains(&last));
        seen.push(last);
    };
    for base in [0, 15_000] {
        net.port_mut(path[0], path[1]).gates = gates(base, &[(0x00, 10_000), (0x80, 15_000)]);
        found(&net);
    }
    net.plan.nodes[path[2] as usize].further = Some(Further::Uniform { up_to_ns: 9_000 });
    found(&net);
}
