//! Windows that open with a free wire because preemptable frames are held back, and shapers of interrupted
//! classes.
//!
//! IEEE 802.1Q-2022, 8.6.8.2, 8.6.8.4 and 12.30; IEEE 802.3-2022, clause 99.

use crate::common::*;
use crate::timed::clocks;
use tsn_plan::{Gates, MacOperation, Pattern, Point, Preemption, Stage};

/// A frame that cannot be cut, its preamble and its gap.
const WORST: i64 = (123 + BEFORE + AFTER) * 8;
const CYCLE: u64 = 91_003;

/// Express frames of 64 octets at the start of every window of 10 us, and full preemptable frames all the
/// time. Returns the waits of the express frames, and how often preemptable frames were held and cut.
fn waits(hold: bool, gated: bool, hold_advance_ns: u64) -> (Vec<i64>, u64, u64) {
    let mut net = Net::new(20_000_000);
    net.line(2, 0, GIGABIT, 0);
    net.stream("bulk", &[0, 1], 0, Pattern::Saturating { backlog: 2 }, frame(FULL));
    net.stream("high", &[0, 1], 7, periodic(CYCLE, 0), frame(64));
    let bulk = u8::from(!gated);
    let mut list: Gates = gates(0, &[(0x80 | bulk, 10_000), (1, CYCLE - 10_000)]).unwrap();
    if hold {
        list.entries[0].mac = Some(MacOperation::Hold);
        list.entries[1].mac = Some(MacOperation::Release);
    }
    net.plan.ports[0].gates = Some(list);
    net.plan.ports[0].preemption = Some(Preemption { express: 0x80, hold_advance_ns, release_advance_ns: 0 });
    let (send, tx) = (net.tap(0, Stage::Send, Point::Start), net.tap(0, Stage::Tx, Point::Start));
    let (sightings, counters) = run(&net.plan);
    let merged = counters.ports[0].preemption.clone().unwrap();
    let waits = delays(&sightings, (send, tx), 1).into_iter().map(|delay| delay - BEFORE * 8).collect();
    (waits, merged.holds, merged.preemptions)
}

#[test]
fn with_hold_a_window_opens_free_and_without_it_what_cannot_be_cut_is_waited_for() {
    // This also holds if the gate of the preemptable class stays open.
    for gated in [false, true] {
        let (held, holds, preemptions) = waits(true, gated, WORST as u64);
        assert!(held.iter().all(|wait| *wait == 0), "{held:?}");
        assert!(holds > 150 && preemptions == 0, "{holds} {preemptions}");
    }
    let (cut, holds, preemptions) = waits(false, false, 0);
    let most = *cut.iter().max().unwrap();
    assert!(most > 0 && most <= WORST && holds == 0 && preemptions > 150, "{most}");
    // A hold that is requested too late has no effect.
    let (late, ..) = waits(true, true, 0);
    let most = *late.iter().max().unwrap();
    assert!(most > 0 && most <= WORST, "{most}");
}

/// A fragment is sent in the guard before the window: more octets than with a guard for whole frames.
#[test]
fn the_guard_shrinks_to_a_fragment() {
    let sent = |hold: bool| {
        let mut net = Net::new(10_000_000);
        net.plan.drain_ns = 0;
        net.line(2, 0, GIGABIT, 0);
        net.stream("bulk", &[0, 1], 0, Pattern::Saturating { backlog: 2 }, frame(FULL));
        // 40 us: three and a quarter frames.
        let mut list: Gates = gates(0, &[(0x80, 10_000), (1, 40_000)]).unwrap();
        if hold {
            list.entries[0].mac = Some(MacOperation::Hold);
            list.entries[1].mac = Some(MacOperation::Release);
        }
        net.plan.ports[0].gates = Some(list);
        let hold_advance_ns = WORST as u64;
        net.plan.ports[0].preemption =
            Some(Preemption { express: 0x80, hold_advance_ns, release_advance_ns: 0 });
        let (_, counters) = run(&net.plan);
        let octets = counters.ports[0].classes[0].sent_octets as i64;
        (octets, counters.ports[0].preemption.clone().unwrap())
    };
    let (whole, _) = sent(false);
    let (parts, merged) = sent(true);
    assert_eq!(whole, 200 * 3 * i64::from(FULL));
    // In every 40 us the hold costs at most the octets that cannot be cut; every continuation costs its
    // overhead.
    let least = 200 * (40_000 - WORST) / 8 - merged.continuations as i64 * (BEFORE + 4 + AFTER);
    let frames = parts / i64::from(FULL) + 1;
    assert!(frames * (i64::from(FULL) + BEFORE + AFTER) >= least, "{frames} frames, {least} octets");
    assert!(parts > whole);
}

/// Hold and release go by the clock of the node, from the begin of the run on: a clock that gains 100 ppm is at the
/// end of its first 10 us after 9.999 us.
#[test]
fn held_frames_are_released_by_the_clock_of_the_node() {
    let mut net = Net::new(1_000_000);
    net.line(2, 0, GIGABIT, 0);
    net.stream("bulk", &[0, 1], 0, periodic(1_000_000, 0), frame(FULL));
    let mut list: Gates = gates(0, &[(0x80, 10_000), (1, 40_000)]).unwrap();
    list.entries[0].mac = Some(MacOperation::Hold);
    list.entries[1].mac = Some(MacOperation::Release);
    net.plan.ports[0].gates = Some(list);
    net.plan.ports[0].preemption =
        Some(Preemption { express: 0x80, hold_advance_ns: WORST as u64, release_advance_ns: 0 });
    net.plan.clocks = Some(clocks(&[100, 0]));
    let rx = net.tap(1, Stage::Rx, Point::End);
    let (sightings, _) = run(&net.plan);
    // 10 us / (1 + 1e-4) = 9,999.0001 ns, then the whole frame.
    assert_eq!(stamps(&sightings, rx, 0), [9_999 + FULL_NS - AFTER * 8]);
}

/// A shaped preemptable class keeps its bandwidth, with the overhead of its parts, while express frames cut
/// it.
#[test]
fn a_shaped_class_that_is_interrupted_pays_for_its_parts_and_keeps_its_share() {
    let mut net = Net::new(100_000_000);
    net.plan.drain_ns = 0;
    net.line(2, 0, GIGABIT, 0);
    net.stream("video", &[0, 1], 5, Pattern::Saturating { backlog: 4 }, frame(FULL));
    net.stream("high", &[0, 1], 7, periodic(20_001, 0), frame(64));
    let port = &mut net.plan.ports[0];
    port.classes[5].cbs = Some(cbs(400_000_000, 1_000_000_000, 20_000, -40_000));
    port.preemption = Some(Preemption { express: 0x80, ..Preemption::default() });
    let (_, counters) = run(&net.plan);
    let merged = counters.ports[0].preemption.clone().unwrap();
    assert!(merged.preemptions > 1_000);
    let frames = counters.ports[0].classes[5].sent_frames as i64;
    let octets =
        frames * (i64::from(FULL) + BEFORE + AFTER) + merged.continuations as i64 * (BEFORE + 4 + AFTER);
    let share = 400_000_000 / 8 / 10;
    assert!((octets - share).abs() <= 2 * 1_542 + 40_000 / 8, "{octets} octets, not {share}");
}
