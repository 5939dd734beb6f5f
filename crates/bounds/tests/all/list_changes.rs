//! Gate control lists that replace each other, and gates before the first list.
//!
//! IEEE 802.1Q-2022, 8.6.9.

use crate::common::*;
use std::collections::HashMap;
use tsn_bounds::{Reason, bounds};
use tsn_plan::{Fault, Gates, MacOperation, Pattern, Plan, Point, Preemption, Stage};

const UNSCHEDULED: Pattern = Pattern::Periodic { period_ns: 1_000_003, offset_ns: 0, jitter_ns: 0 };
const LAST_BIT: i64 = 488 * 8_000;
/// Open for 50 of 100 us, then for 20 of them.
const FIRST: [(u8, u64); 2] = [(0x80, 50_000), (0, 50_000)];
const SECOND: [(u8, u64); 2] = [(0x80, 20_000), (0, 80_000)];

/// The greatest delay at a port of a stream that begins at `start`.
fn upper(start_ns: u64, alter: impl FnOnce(&mut Plan)) -> Result<i64, Reason> {
    let (mut net, path) = Net::row(3_000_000, 2);
    net.stream("s", &path, 7, UNSCHEDULED, frame(480)).start_ns = start_ns;
    net.plan.ports[0].gates = gates(0, &FIRST);
    alter(&mut net.plan);
    net.plan.check().unwrap();
    let hop = bounds(&net.plan).flows[0].hops[0].clone();
    hop.upper_ps.ok_or_else(|| hop.reason.unwrap())
}

fn changes(plan: &mut Plan, changes: &[(i64, &[(u8, u64)])]) {
    let gates = plan.ports[0].gates.as_mut().unwrap();
    gates.changes = changes.iter().map(|(base, list)| change(base - 500_000, *base, list)).collect();
}

#[test]
fn a_frame_may_wait_by_each_list_and_across_the_change() {
    let missed = |closed: i64| Ok(closed + 2 * LAST_BIT);
    assert_eq!(upper(0, |_| ()), missed(50_000_000));
    assert_eq!(upper(0, |plan| changes(plan, &[(1_000_000, &SECOND)])), missed(80_000_000));
    // The second list begins 40 us after the last window of the first one has closed, and its window 80 us later.
    let late: [(u8, u64); 2] = [(0, 80_000), (0x80, 20_000)];
    assert_eq!(upper(0, |plan| changes(plan, &[(990_000, &late)])), missed(120_000_000));
    // Whoever begins later never meets the first list.
    assert_eq!(upper(1_100_000, |plan| changes(plan, &[(1_000_000, &late)])), missed(80_000_000));
    let closed: [(u8, u64); 1] = [(0, 100_000)];
    let opens = |plan: &mut Plan| {
        plan.ports[0].gates = gates(0, &closed);
        changes(plan, &[(1_000_000, &SECOND)]);
    };
    assert_eq!(upper(1_100_000, opens), missed(80_000_000));
    // Whoever begins earlier may wait for the second list from the begin on.
    assert_eq!(upper(0, opens), Ok(1_000_000_000 + LAST_BIT));
    // A gate that never opens again.
    assert!(upper(0, |plan| changes(plan, &[(1_000_000, &closed)])).is_err());
}

#[test]
fn gates_may_be_closed_before_the_first_list() {
    let initial = |open| {
        move |plan: &mut Plan| {
            let gates = plan.ports[0].gates.as_mut().unwrap();
            (gates.initial, gates.base_time_ns) = (Some(open), 500_000);
        }
    };
    assert_eq!(upper(0, initial(0)), Ok(500_000_000 + LAST_BIT));
    assert_eq!(upper(0, initial(0xff)), Ok(50_000_000 + 2 * LAST_BIT));
    assert_eq!(upper(600_000, initial(0)), Ok(50_000_000 + 2 * LAST_BIT));
}

/// With closed gates for 400 us, or open ones, by a fault.
fn wrong_from(list: Option<&[(u8, u64)]>, own: bool, alter: fn(&mut Plan)) -> Result<i64, Reason> {
    upper(0, |plan| {
        alter(plan);
        if !own {
            plan.ports[0].gates = None;
        }
        let gates = list.and_then(|list| gates(0, list)).map(Box::new);
        plan.faults.push(Fault::Schedule { port: 0, from_ns: 1_000_000, until_ns: 1_400_000, gates });
    })
}

#[test]
fn a_wrong_list_is_one_for_some_time() {
    let wrong = |list: Option<&[(u8, u64)]>, own: bool| {
        let express = |plan: &mut Plan| {
            plan.ports[0].preemption = Some(Preemption { express: 0x80, ..Preemption::default() });
        };
        let alone = wrong_from(list, own, |_| ());
        // An express class among no others is as fast.
        assert_eq!(wrong_from(list, own, express), alone);
        alone
    };
    // The last start before the fault, 50 us and a frame before it, or a frame before it without a list: the end of the wrong
    // list, which closes its gate, takes 1 ns.
    assert_eq!(wrong(Some(&[(0, 100_000)]), true), Ok(450_001_000 + 2 * LAST_BIT));
    assert_eq!(wrong(Some(&[(0, 100_000)]), false), Ok(400_001_000 + 2 * LAST_BIT));
    assert_eq!(wrong(None, true), Ok(50_001_000 + 2 * LAST_BIT));
    assert_eq!(wrong(None, false), Ok(LAST_BIT));
}

/// A shaper with half of the rate: a lone frame, which finds no debt, waits as it does without; of two at once, the
/// second one waits until the debt of the first one is regained, in 4 us of open gates, or in 12 us by the second
/// list's idle slope of a quarter of the rate.
#[test]
fn a_shaper_gains_by_each_list() {
    fn shaped(plan: &mut Plan) {
        plan.ports[0].classes[7].cbs = Some(cbs(500_000_000, GIGABIT as i64, 10_000, -3_000));
        changes(plan, &[(1_000_000, &SECOND)]);
    }
    fn slower(plan: &mut Plan) {
        shaped(plan);
        let set = |class, bps| tsn_plan::IdleSlope { class, bps };
        let both = vec![set(6, 100_000_000), set(7, 250_000_000)];
        plan.ports[0].classes[6].cbs = Some(cbs(200_000_000, GIGABIT as i64, 10_000, -3_000));
        plan.ports[0].gates.as_mut().unwrap().changes[0].idle_slopes = both;
    }
    fn two(plan: &mut Plan) {
        plan.streams[0].size =
            tsn_plan::Size::Units { octets: vec![2 * 430], most_per_frame: 430, overhead: 50 };
    }
    let both = |start_ns: u64, alter: fn(&mut Plan)| {
        upper(start_ns, |plan| {
            alter(plan);
            two(plan);
        })
    };
    let missed = |closed: i64| Ok(closed + 2 * LAST_BIT);
    assert_eq!(upper(0, shaped), missed(80_000_000));
    assert_eq!(both(0, shaped), missed(88_000_000));
    assert_eq!(both(0, slower), missed(96_000_000));
    // One list is left: its idle slope is the only one.
    assert_eq!(
        [shaped, slower].map(|alter| both(1_100_000, alter)),
        [missed(88_000_000), missed(96_000_000)]
    );
    // The list has one entry, in which the gate is always open.
    fn open(plan: &mut Plan) {
        slower(plan);
        plan.ports[0].gates.as_mut().unwrap().changes[0].entries =
            gates(0, &[(0x80, 100_000)]).unwrap().entries;
    }
    assert_eq!(both(1_100_000, open), Ok(16_000_000 + LAST_BIT));
    // Before the list, closed for 500 us.
    fn late(plan: &mut Plan) {
        shaped(plan);
        let gates = plan.ports[0].gates.as_mut().unwrap();
        (gates.initial, gates.base_time_ns) = (Some(0), 500_000);
    }
    assert_eq!(upper(0, late), Ok(500_000_000 + LAST_BIT));
    assert_eq!(both(0, late), Ok(508_000_000 + LAST_BIT));
}

/// Lists that close the gates of other classes, or that never close this one, beside a shaper that has just the rate of its
/// stream: how long the class is busy does not matter.
#[test]
fn lists_of_lower_classes_do_not_matter() {
    let found = |list: &'static [(u8, u64)]| {
        upper(0, |plan| {
            plan.streams[0].pattern = periodic(40_000, 0);
            plan.ports[0].classes[7].cbs = Some(cbs(100_000_000, GIGABIT as i64, 10_000, -3_600));
            plan.ports[0].gates = gates(0, &[(0x81, 50_000), (0x80, 50_000)]);
            changes(plan, &[(1_000_000, list)]);
        })
    };
    assert_eq!(found(&[(0xff, 50_000), (0x80, 50_000)]), Ok(LAST_BIT));
    assert_eq!(found(&[(0x80, 99_999), (0x00, 1)]), Err(Reason::LongWait));
}

/// What a class with a shaper gathers is known although its frames come at any time, if no list closes its gate: 2,000 bit
/// behind a frame of 4,000. A higher limit of its credit does not matter at the next port, which is slower.
#[test]
fn what_a_class_gathers_does_not_depend_on_lists_of_others() {
    let second = |listed: bool, high: i64| {
        let (mut net, path) = Net::row(3_000_000, 3);
        net.stream("any", &path, 7, Pattern::Poisson { mean_interval_ps: 1_000_000 }, frame(480));
        net.stream("low", &path[..2], 5, periodic(1_000_000, 0), frame(480));
        net.plan.ports[0].classes[7].cbs = Some(cbs(500_000_000, GIGABIT as i64, high, -2_000));
        (net.plan.ports[2].rate_bps, net.plan.ports[3].rate_bps) = (800_000_000, 800_000_000);
        if listed {
            net.plan.ports[0].gates = gates(0, &[(0xff, 50_000), (0xfe, 50_000)]);
            changes(&mut net.plan, &[(1_000_000, &[(0xfe, 50_000), (0xff, 50_000)])]);
        }
        net.plan.check().unwrap();
        bounds(&net.plan).flows[0].hops[1].upper_ps.unwrap()
    };
    let found = second(false, 2_000);
    assert_eq!([second(false, 90_000), second(true, 2_000), second(true, 90_000)], [found; 3]);
    assert!(second(false, 1_000) < found);
}

/// Frames that overrun their windows: a lone frame misses its window when it closes; the second one of two waits for
/// 4 us of open gates more.
#[test]
fn a_shaper_beside_frames_that_overrun() {
    let shaped = |frames: u32| {
        upper(0, |plan| {
            plan.ports[0].classes[7].cbs = Some(cbs(500_000_000, GIGABIT as i64, 10_000, -2_000));
            plan.ports[0].gates.as_mut().unwrap().unguarded = true;
            let octets = vec![frames * 430];
            plan.streams[0].size = tsn_plan::Size::Units { octets, most_per_frame: 430, overhead: 50 };
        })
    };
    assert_eq!([1, 2].map(shaped), [Ok(50_000_001 + LAST_BIT), Ok(58_000_001 + LAST_BIT)]);
}

/// Frames that wait longer than the cycles that are followed have no bound.
#[test]
fn what_is_not_followed_is_said() {
    // One frame in each cycle of 20 us, of which 64 are followed: 1.22 ms without the first and last ones.
    let cycles = |plan: &mut Plan| changes(plan, &[(1_000_000, &[(0x80, 7_000), (0, 13_000)])]);
    let with = |pattern: Pattern, limit: Option<u32>| {
        upper(0, |plan| {
            cycles(plan);
            plan.streams[0].pattern = pattern;
            plan.ports[0].classes[7].limit_frames = limit;
        })
    };
    // They wait for 40 us, but without a break for longer than that.
    assert_eq!(with(periodic(20_100, 0), None), Err(Reason::LongWait));
    assert!(with(periodic(40_000, 0), None).is_ok_and(|upper| upper < 100_000_000));
    // A full queue of 100 frames takes 2 ms, one of 20 frames 0.4 ms.
    assert_eq!(with(periodic(10_000, 0), Some(100)).ok(), None);
    assert!(with(periodic(10_000, 0), Some(20)).is_ok_and(|upper| upper < 500_000_000));
}

/// Runs a Plan, and compares the delays of its first stream with their bound.
fn keeps(net: &mut Net) -> (i64, i64) {
    net.plan.check().unwrap();
    let taps = (net.tap(0, Stage::Send, Point::End), net.tap(1, Stage::Rx, Point::End));
    let (sightings, _) = run(&net.plan);
    let sent: HashMap<u64, i64> = sightings
        .iter()
        .filter(|one| one.stream == 0 && one.tap == taps.0)
        .map(|one| (one.seq, one.t_ns.unwrap()))
        .collect();
    let ends = sightings.iter().filter(|one| one.stream == 0 && one.tap == taps.1);
    let longest = ends.map(|one| one.t_ns.unwrap() - sent[&one.seq]).max().unwrap() * 1_000;
    let upper = bounds(&net.plan).flows[0].hops[0].upper_ps.unwrap();
    assert!(longest <= upper, "{longest} of {upper}");
    (longest, upper)
}

/// A higher class has waited for 1 ms when all gates open; a frame that comes then waits for its ten frames.
#[test]
fn what_waited_before_a_change_goes_first() {
    let (mut net, path) = Net::row(2_000_000, 2);
    net.stream("s", &path, 5, UNSCHEDULED, frame(480)).start_ns = 1_020_000;
    net.stream("high", &path, 7, periodic(100_000, 0), frame(FULL));
    let list = gates(1_000_000, &[(0xff, 100_000)]).unwrap();
    net.plan.ports[0].gates = Some(Gates { initial: Some(0x7f), ..list });
    let (longest, _) = keeps(&mut net);
    assert!(longest > 90_000_000, "{longest}");
}

/// A higher class with half of the rate has gathered credit when its gates stay open from now on: for 12.336 us of a
/// lower frame, and for 8.064 us before the end of a window, in which no frame of its own fits. A frame that comes later
/// waits for this credit, for the debt of a frame, half of 8,160 bits, for a lower frame, and for half of the time.
#[test]
fn credit_of_an_earlier_list_is_spent_in_a_later_one() {
    let (mut net, path) = Net::row(2_000_000, 2);
    net.stream("s", &path, 5, UNSCHEDULED, frame(480)).start_ns = 1_100_000;
    net.stream("low", &path, 0, periodic(200_000, 0), frame(FULL));
    let late = Pattern::Periodic { period_ns: 50_000, offset_ns: 0, jitter_ns: 400_000 };
    net.stream("high", &path, 7, late, frame(1_000));
    net.plan.ports[0].classes[7].cbs = Some(cbs(500_000_000, GIGABIT as i64, 20_000, -4_080));
    net.plan.ports[0].gates = gates(0, &[(0xa1, 50_000), (0, 50_000)]);
    changes(&mut net.plan, &[(1_000_000, &[(0xa1, 100_000)])]);
    net.plan.check().unwrap();
    let upper = bounds(&net.plan).flows[0].hops[0].upper_ps;
    let credit = (12_336 + 8_064) / 2;
    assert_eq!(upper, Some(2 * (credit + 8_160 / 2 + 12_336) * 1_000 + LAST_BIT));
}

/// Behind the last change the gate is open for long; a frame of a lower class has just begun.
#[test]
fn a_frame_may_begin_to_wait_in_the_midst_of_a_long_window() {
    let (mut net, path) = Net::row(3_000_000, 2);
    net.stream("s", &path, 7, periodic(500_000, 1_001), frame(480));
    net.stream("low", &path, 0, periodic(500_000, 1_000), frame(FULL));
    net.plan.ports[0].gates = gates(0, &[(0x80, 99_000), (0, 1_000)]);
    changes(&mut net.plan, &[(1_000_000, &[(0x81, 100_000)])]);
    let (longest, _) = keeps(&mut net);
    assert!(longest > 12_000_000, "{longest}");
}

/// A lower frame that began by the earlier list is on the link when the later one, which never lets it start, begins.
#[test]
fn a_frame_of_an_earlier_list_may_still_be_on_the_link() {
    let (mut net, path) = Net::row(3_000_000, 2);
    net.stream("s", &path, 7, UNSCHEDULED, frame(480)).start_ns = 1_000_000;
    net.stream("low", &path, 0, periodic(2_000_000, 999_999), frame(FULL));
    net.plan.ports[0].gates = gates(0, &[(0x01, 100_000)]);
    changes(&mut net.plan, &[(1_000_000, &[(0x80, 98_000), (0, 2_000)])]);
    net.plan.ports[0].gates.as_mut().unwrap().unguarded = true;
    let (longest, _) = keeps(&mut net);
    assert!(longest > 12_000_000, "{longest}");
}

/// The own list does not let a frame start that would be on the link when its gate closes; but it does not know when a
/// wrong list ends, whose last frame is on the link when the own gate opens, 1 ns later.
#[test]
fn a_frame_of_a_wrong_list_may_still_be_on_the_link() {
    let (mut net, path) = Net::row(3_000_000, 2);
    net.stream("s", &path, 7, UNSCHEDULED, frame(480));
    net.stream("low", &path, 0, periodic(1_000_000, 0), frame(FULL));
    net.plan.ports[0].gates = gates(0, &[(0, 50_000), (0x80, 50_000)]);
    let wrong = gates(0, &[(0x01, 100_000)]).map(Box::new);
    let fault = Fault::Schedule { port: 0, from_ns: 1_000_000, until_ns: 1_460_000, gates: wrong };
    net.plan.faults.push(fault);
    let (_, upper) = keeps(&mut net);
    assert_eq!(upper, 460_001_000 + (1_522 + 20) * 8_000 + 2 * LAST_BIT);
}

/// Before the first list no frame is held, whatever the end of that list does.
#[test]
fn what_a_list_holds_is_its_own() {
    let found = |initial: Option<u8>| {
        upper(0, |plan| {
            plan.streams[0].pcp = 0;
            let port = &mut plan.ports[0];
            let mut list = gates(500_000, &[(0xff, 50_000), (0xff, 50_000)]).unwrap();
            list.entries[0].mac = Some(MacOperation::Release);
            list.entries[1].mac = Some(MacOperation::Hold);
            port.gates = Some(Gates { initial, ..list });
            port.preemption = Some(Preemption { express: 0x80, ..Preemption::default() });
        })
    };
    assert_eq!(found(Some(0xff)), found(None));
}

/// A wrong list from 1,277.301 us on closes too early for a frame of 40.8 us that is released at 1,293.525 us: it waits until
/// the list ends at 1,302.445 us.
#[test]
fn a_wrong_list_of_another_cycle_makes_a_frame_wait_until_its_end() {
    let mut net = Net::new(3_000_000);
    let path = net.line(2, 0, 300_000_000, 0);
    net.stream("lone", &path, 0, periodic(300_000, 693_525), frame(1_522));
    net.plan.ports[0].gates = gates(408_697, &[(0xff, 100_000)]);
    let wrong =
        gates(-72_050, &[(0xff, 134_820), (0x80, 12_240), (0x3f, 13_000), (0x80, 145_270), (0x0a, 8_707)]);
    net.plan.faults.push(Fault::Schedule {
        port: 0,
        from_ns: 1_277_301,
        until_ns: 1_302_445,
        gates: wrong.map(Box::new),
    });
    net.plan.check().unwrap();
    // A frame that comes too late for the end of the wrong list waits until then.
    let needs = ((1_522 + 8) * 8_000_000_000_000_i64 + 299_999_999) / 300_000_000;
    let (longest, upper) = keeps(&mut net);
    assert!(
        longest > needs + 8_900_000 && (2 * needs..2 * needs + 2_000).contains(&upper),
        "{longest} {upper}"
    );
}

/// The own gate closes when the wrong list begins, so that nothing starts in its last 3.904 us; the wrong list then leaves
/// time for one of two frames, and closes its gate for 392.2 us and until the own one opens, at 1,500 us.
#[test]
fn a_list_that_is_replaced_when_its_gate_closes_holds_frames_until_then() {
    let (mut net, path) = Net::row(3_000_000, 2);
    let two = tsn_plan::Size::Units { octets: vec![2 * 430], most_per_frame: 430, overhead: 50 };
    net.stream("s", &path, 7, periodic(3_000_000, 1_050_000 - 3_903), two);
    net.plan.ports[0].gates = gates(0, &FIRST);
    let wrong = gates(250_000, &[(0x80, 7_800), (0, 392_200)]).map(Box::new);
    let fault = Fault::Schedule { port: 0, from_ns: 1_050_000, until_ns: 1_450_000, gates: wrong };
    net.plan.faults.push(fault);
    let (longest, upper) = keeps(&mut net);
    assert_eq!(longest, 450_000_000 + 3_903_000 + LAST_BIT);
    assert!(upper < longest + 200_000, "{upper}");
}
