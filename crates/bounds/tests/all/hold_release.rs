//! Frames that gate entries hold, and shapers on frames that are interrupted.
//!
//! IEEE 802.1Q-2022, 8.6.8.2 and 8.6.8.4.

use crate::common::*;
use tsn_bounds::{Reason, bounds};
use tsn_plan::{Fault, MacOperation, Pattern, Point, Preemption, Size, Stage};

const UNSCHEDULED: Pattern = Pattern::Periodic { period_ns: 1_000_003, offset_ns: 0, jitter_ns: 0 };
/// From the first bit to the last one of a frame, in ps.
const fn last_bit(octets: i64) -> i64 {
    (octets + 8) * 8_000
}
/// On the wire, in ps.
const fn wire(octets: i64) -> i64 {
    (octets + 20) * 8_000
}

/// The greatest delay at a port with a stream of one class; the first entry of its list holds, the second releases.
fn held(pcp: u8, octets: u32, (hold, release): (u64, u64), open: [u8; 3], lower: bool) -> i64 {
    let (mut net, path) = Net::row(1_000_000, 2);
    net.stream("s", &path, pcp, UNSCHEDULED, frame(octets));
    if lower {
        net.stream("low", &path, 0, periodic(1_000_000, 0), frame(FULL));
    }
    let mut list = gates(0, &[(open[0], 50_000), (open[1], 49_000), (open[2], 1_000)]).unwrap();
    list.entries[0].mac = Some(MacOperation::Hold);
    list.entries[1].mac = Some(MacOperation::Release);
    net.plan.ports[0].gates = Some(list);
    net.plan.ports[0].preemption =
        Some(Preemption { express: 0x80, hold_advance_ns: hold, release_advance_ns: release });
    net.plan.check().unwrap();
    bounds(&net.plan).flows[0].hops[0].upper_ps.unwrap()
}

/// An express frame just misses its window. Without a hold it waits for 123 octets twice: before the end of the window,
/// and when the next one opens.
#[test]
fn a_hold_keeps_preemptable_frames_out_of_a_window() {
    let express = |advances| held(7, 480, advances, [0x80, 0x01, 0x00], true);
    let alone = 50_000_000 + 2 * last_bit(480);
    assert_eq!(express((0, 0)), alone + wire(123));
    // The hold comes earlier, by a part of the time of 123 octets, and by all of it.
    assert_eq!(express((500, 0)), alone + wire(123) - 500_000);
    assert_eq!(express((1_144, 0)), alone);
    // The last start of the window is 3.904 us before its end; a release before that lets a frame begin.
    assert_eq!(express((1_144, 3_904)), alone);
    assert_eq!(express((1_144, 3_905)), alone + wire(123));
}

/// The frame comes when the hold begins, 1 ps too late. It starts 50 us later, behind a gap and the continuation of
/// another frame (24 octets); is held at once; and continues after 50 us.
#[test]
fn a_held_frame_waits_for_two_releases() {
    let gap_and_continuation = (12 + 24) * 8_000;
    let open = [0xff; 3];
    let passes = 50_000_000 + 24 * 8_000 + last_bit(1_522);
    assert_eq!(held(0, FULL, (0, 0), open, false), 50_000_001 + gap_and_continuation + passes);
    // An express frame and its interruption count before the frame starts, and while it passes.
    let mut net = Net::row(1_000_000, 2).0;
    net.stream("s", &[0, 1], 0, UNSCHEDULED, frame(FULL));
    net.stream("express", &[0, 1], 7, periodic(10_000_000, 0), frame(64));
    let mut list = gates(0, &[(0xff, 50_000), (0xff, 50_000)]).unwrap();
    list.entries[0].mac = Some(MacOperation::Hold);
    list.entries[1].mac = Some(MacOperation::Release);
    net.plan.ports[0].gates = Some(list);
    net.plan.ports[0].preemption = Some(Preemption { express: 0x80, ..Preemption::default() });
    let upper = bounds(&net.plan).flows[0].hops[0].upper_ps.unwrap();
    let alone = 50_000_001 + gap_and_continuation + passes;
    assert!(
        (alone + 2 * (84 + 24) * 8_000..alone + 2 * (84 + 24) * 8_000 + 10_000).contains(&upper),
        "{upper}"
    );
    // A lower frame may begin with a release and be interrupted for all of its window; in the next one, its rest counts whole.
    let behind = held(1, FULL, (0, 0), open, true);
    assert_eq!(behind, 100_000_000 + wire(1_522) + 24 * 8_000 + passes);
    // A frame of 123 octets is not cut, also where others are.
    let behind = held(1, 123, (0, 0), open, true);
    assert_eq!(behind, 100_000_000 + wire(1_522) + 24 * 8_000 + last_bit(123));
    assert_eq!(held(0, 123, (0, 0), open, false), 50_000_001 + gap_and_continuation + last_bit(123));
}

/// Windows of 49 us that end with a gate are for whole frames; those that end with a hold for 123 octets.
#[test]
fn a_frame_that_a_hold_cuts_need_not_fit_its_window() {
    let gap_and_continuation = (12 + 24) * 8_000;
    let missed = |last: i64| 100_000_000 - (last - 50_000_000) + gap_and_continuation + 50_000_000;
    let passes = 50_000_000 + 24 * 8_000 + last_bit(1_522);
    // The gate closes 1 us before the hold.
    let gate = held(0, FULL, (0, 0), [0x80, 0x01, 0x00], false);
    assert_eq!(gate, missed(99_000_000 - last_bit(1_522)) + passes - 50_000_000);
    // The hold comes 1 us earlier, when the gate closes: the frame may start until 123 octets are left.
    let hold = held(0, FULL, (1_000, 0), [0x80, 0x01, 0x00], false);
    assert_eq!(hold, missed(99_000_000 - last_bit(123)) + passes - 49_000_000);
}

/// A shaper with half of the rate on a preemptable class, below express frames of 64 octets, 10 ms apart.
fn shaped(pattern: Pattern, high: i64, low: i64) -> Net {
    let (mut net, path) = Net::row(1_000_000, 3);
    net.stream("s", &path, 5, pattern, frame(FULL));
    net.stream("express", &path[..2], 7, periodic(10_000_000, 0), frame(64));
    net.plan.ports[0].preemption = Some(Preemption { express: 0x80, ..Preemption::default() });
    net.plan.ports[0].classes[5].cbs = Some(cbs(500_000_000, 1_000_000_000, high, low));
    net.plan.ports[2].rate_bps = 800_000_000;
    net.plan.ports[3].rate_bps = 800_000_000;
    net.plan.check().unwrap();
    net
}

/// An express frame and its interruption take (84 + 24) octets, in which the shaper gathers half as much credit; and a
/// frame before may have paid for an interruption of 24 octets.
#[test]
fn an_interruption_costs_credit_and_time() {
    let delay = |high, low| bounds(&shaped(UNSCHEDULED, high, low).plan).flows[0].hops[0].upper_ps.unwrap();
    let credit = (84 + 24) * 4;
    let passes = last_bit(1_522) + (84 + 24) * 8_000;
    // Half of the rate: 1 bit in 2,000 ps.
    let upper = (credit + 24 * 8) * 2_000 + passes;
    assert_eq!(delay(credit, -(i64::from(FULL) + 20) * 4), upper);
    // A debt that the lowest credit cuts off gives no service by credit. The frames before the credit is there: 84 + 24
    // octets, and twice the interruption, as every octet costs the time of two.
    assert_eq!(delay(credit, -1), (84 + 24 + 2 * 24) * 8_000 + passes);
}

/// Five express frames at once, and a shaper with 90 % of the rate. They count before the frame starts and while it
/// passes: whether they could come once only beside a shaper is not proved, as it is without one.
#[test]
fn express_frames_count_twice_beside_a_shaper() {
    let (mut net, path) = Net::row(1_000_000, 2);
    net.stream("s", &path, 5, UNSCHEDULED, frame(FULL));
    for number in 0..5 {
        net.stream(&format!("express{number}"), &path, 7, periodic(10_000_000, 0), frame(64));
    }
    net.plan.ports[0].preemption = Some(Preemption { express: 0x80, ..Preemption::default() });
    let express = 5 * (84 + 24) * 8;
    net.plan.ports[0].classes[5].cbs = Some(cbs(900_000_000, 1_000_000_000, express * 9 / 10, -1_300));
    net.plan.check().unwrap();
    let upper = bounds(&net.plan).flows[0].hops[0].upper_ps.unwrap();
    let waits = ((express * 9 / 10 + 5 * 24 * 8) * 10_000 + 8) / 9;
    assert_eq!(upper, waits + last_bit(1_522) + express * 1_000);
}

/// Behind the shaper within t: half of the rate, the highest credit, and two frames, as the first one may have begun
/// long before; at most what the link carries, with one frame. They meet after twice the frame and the credit.
#[test]
fn a_frame_that_was_interrupted_may_have_begun_long_before() {
    let poisson = Pattern::Poisson { mean_interval_ps: 1_000_000 };
    let credit = (84 + 24) * 4;
    let net = shaped(poisson, credit, -(i64::from(FULL) + 20) * 4);
    let until = 2 * (wire(1_522) + credit * 1_000);
    // The next link takes a quarter longer; a frame's octet takes 10,000 ps there.
    let upper = bounds(&net.plan).flows[0].hops[1].upper_ps;
    assert_eq!(upper, Some(until / 4 + 1_530 * 10_000));
}

/// A frame that comes 2 us before its gate closes may start at once, if a hold cuts it, if it may overrun its window, or
/// while a wrong list opens all gates: the next port has to expect it then, in a window with room for one more frame.
#[test]
fn a_frame_may_start_where_not_all_of_it_fits() {
    for how in ["hold", "overrun", "wrong"] {
        let mut net = Net::new(3_000_000);
        let path = net.line(3, 0, GIGABIT, 0);
        net.stream("s", &path, 0, periodic(100_000, 48_000), frame(FULL));
        net.stream("late", &path[1..], 0, periodic(100_000, 71_000), frame(FULL));
        let mut first = gates(0, &[(0x01, 50_000), (0x80, 50_000)]).unwrap();
        first.unguarded = how == "overrun";
        if how == "hold" {
            first.entries[1].mac = Some(MacOperation::Hold);
            first.entries[0].mac = Some(MacOperation::Release);
            net.plan.ports[0].preemption = Some(Preemption { express: 0x80, ..Preemption::default() });
        }
        if how == "wrong" {
            let (from_ns, until_ns) = (1_000_000, 2_000_000);
            net.plan.faults.push(Fault::Schedule { port: 0, from_ns, until_ns, gates: None });
        }
        net.plan.ports[0].gates = Some(first);
        net.plan.ports[2].gates = gates(60_000, &[(0x01, 24_700), (0x00, 75_300)]);
        net.plan.check().unwrap();
        let taps = [0, 1].map(|stream| {
            let first = if stream == 0 { 0 } else { 2 };
            (stream, net.tap(first, Stage::Send, Point::End))
        });
        let rx = net.tap(3, Stage::Rx, Point::End);
        let (sightings, _) = run(&net.plan);
        for ((stream, sent), flow) in taps.into_iter().zip(&bounds(&net.plan).flows) {
            let longest = delays(&sightings, (sent, rx), stream).into_iter().max().unwrap() * 1_000;
            let upper = flow.release_upper_ps.unwrap();
            assert!(longest <= upper, "{} {how}: {longest} of {upper}", flow.stream);
        }
    }
}

/// Thirty frames come at once, just after the last start of a window: more than one window has time for. A frame that
/// a hold cuts, or that overruns its window into the next one, takes time of the next window: windows count by their
/// time, and not by the frames that start in them.
#[test]
fn windows_count_by_their_time_where_frames_go_on_in_the_next_one() {
    // Frames of 12.12 us: the fifth one starts at the end of a window of 50 us.
    let frames = Size::Units { octets: vec![30 * 1_445], most_per_frame: 1_445, overhead: 50 };
    for (hold, closed) in [(true, 50_000), (false, 2_000)] {
        let (mut net, path) = Net::row(2_000_000, 2);
        net.stream(
            "s",
            &path,
            0,
            Pattern::Periodic { period_ns: 2_000_000, offset_ns: 50_001, jitter_ns: 0 },
            frames.clone(),
        );
        let mut list = gates(0, &[(0x01, 50_000), (0x80, closed)]).unwrap();
        if hold {
            list.entries[0].mac = Some(MacOperation::Release);
            list.entries[1].mac = Some(MacOperation::Hold);
            net.plan.ports[0].preemption = Some(Preemption { express: 0x80, ..Preemption::default() });
        } else {
            list.unguarded = true;
        }
        net.plan.ports[0].gates = Some(list);
        net.plan.check().unwrap();
        let taps = (net.tap(0, Stage::Send, Point::End), net.tap(1, Stage::Rx, Point::End));
        let (sightings, _) = run(&net.plan);
        let longest = delays(&sightings, taps, 0).into_iter().max().unwrap() * 1_000;
        let upper = bounds(&net.plan).flows[0].hops[0].upper_ps.unwrap();
        assert!(longest <= upper, "{hold}: {longest} of {upper}");
    }
}

/// A release may come before the entry by less than the hold of 50 us lasts: else frames are released before they are
/// held.
#[test]
fn a_hold_is_longer_than_the_advance_of_its_release() {
    let found = |release_advance_ns: u64| {
        let (mut net, path) = Net::row(1_000_000, 2);
        net.stream("s", &path, 0, UNSCHEDULED, frame(64));
        let mut list = gates(0, &[(0xff, 50_000), (0xff, 50_000)]).unwrap();
        list.entries[0].mac = Some(MacOperation::Hold);
        list.entries[1].mac = Some(MacOperation::Release);
        net.plan.ports[0].gates = Some(list);
        net.plan.ports[0].preemption =
            Some(Preemption { express: 0x80, hold_advance_ns: 0, release_advance_ns });
        net.plan.check().unwrap();
        bounds(&net.plan).flows[0].hops[0].reason.clone()
    };
    assert_eq!([49_999, 50_000].map(found), [None, Some(Reason::ShortHolds)]);
}

/// A shaper with half of the rate on a class whose frames a hold cuts. A lone frame finds no debt: one that is too short to
/// be cut waits as without a shaper. A frame before a longer one may have paid for a continuation of 24 octets, once and once
/// a cycle, which takes as much again.
#[test]
fn a_hold_costs_a_shaped_class_a_continuation() {
    let found = |octets: u32| {
        let (mut net, path) = Net::row(1_000_000, 2);
        net.stream("s", &path, 0, UNSCHEDULED, frame(octets));
        let mut list = gates(0, &[(0xff, 50_000), (0xff, 50_000)]).unwrap();
        list.entries[0].mac = Some(MacOperation::Hold);
        list.entries[1].mac = Some(MacOperation::Release);
        net.plan.ports[0].gates = Some(list);
        net.plan.ports[0].preemption = Some(Preemption { express: 0x80, ..Preemption::default() });
        net.plan.ports[0].classes[0].cbs = Some(cbs(500_000_000, 1_000_000_000, 10_000, -10_000));
        net.plan.check().unwrap();
        bounds(&net.plan).flows[0].hops[0].upper_ps.unwrap()
    };
    let opens = 50_000_001 + (12 + 24) * 8_000;
    assert_eq!(found(123), opens + last_bit(123));
    // 2 x 24 octets, and of the time until then 2 x 192 bit in each 100,000: the link gains 99,616.
    let passes = 50_000_000 + 24 * 8_000 + last_bit(1_522);
    let waits = i128::from(opens + 2 * 24 * 8_000) * 100_000 / 99_616;
    assert!((0..10).contains(&(i128::from(found(1_522) - passes) - waits)), "{}", found(1_522));
}
