//! Gates that follow the clocks of their nodes, by arithmetic and beside the simulator.
//!
//! IEEE 802.1Q-2022, 8.6.8.4.

use crate::common::*;
use tsn_bounds::{FlowBounds, Reason, bounds};
use tsn_observation::Sighting;
use tsn_plan::{
    Change, ClockFault, Clocks, Gptp, MacOperation, NodeClock, Pattern, Plan, Point, Preemption, Servo, Stage,
};

const US: i64 = 1_000_000;
/// 100 ppm, in parts of 10^12.
const PPM_100: i64 = 100_000_000;
/// Of 480 octets, from the first bit to the last one; and of a full frame on the wire, in ps.
const NEEDS: i64 = (480 + BEFORE) * 8_000;
const LOWER: i64 = FULL_NS * 1_000;
/// What rounding adds to a wait at most: at both ends of a window, for the last start, and for the next begin.
const ROUNDING: i64 = 24;
const UNSCHEDULED: Pattern = Pattern::Periodic { period_ns: 1_000_003, offset_ns: 0, jitter_ns: 0 };

/// n0 - n1 with a stream of class 6 whose gate is open for 50 of 100 us; none of 100 us for the others, if they are
/// `others`.
fn gated(clock: NodeClock, faults: Vec<ClockFault>, others: u8) -> Net {
    let (mut net, path) = Net::row(3_000_000, 2);
    net.stream("s", &path, 6, UNSCHEDULED, frame(480));
    net.plan.ports[0].gates = gates(0, &[(0x40, 50_000), (others, 50_000)]);
    net.plan.drain_ns = 1_000_000;
    let within_ns = (!faults.is_empty()).then_some(1_000_000);
    let nodes = vec![clock, NodeClock::default()];
    net.plan.clocks = Some(Clocks { nodes, record_ns: 1_000_000, within_ns, gptp: None, faults });
    net
}

fn own(plan: &Plan) -> FlowBounds {
    plan.check().unwrap();
    bounds(plan).flows[0].clone()
}

fn delay(plan: &Plan) -> i64 {
    own(plan).hops[0].upper_ps.unwrap()
}

fn free(deviation_ppt: i64) -> NodeClock {
    NodeClock { deviation_ppt, ..NodeClock::default() }
}

/// The frame comes when its last start in a window is over, waits while the gate is closed, and is sent: 50 us + 2 x 3.904
/// us. A slow clock makes 50 us longer by 5 ns. Windows that would follow each other faster count as slow ones in which
/// less is sent: another 2 x 5 ns.
#[test]
fn a_slow_clock_keeps_the_gate_closed_for_longer() {
    let perfect = 50 * US + 2 * NEEDS;
    let found = |clock| delay(&gated(clock, Vec::new(), 0).plan) - perfect;
    assert!((0..ROUNDING).contains(&found(free(0))), "{}", found(free(0)));
    for deviation in [-PPM_100, PPM_100] {
        let more = found(free(deviation));
        assert!((15_000..15_000 + ROUNDING + 10).contains(&more), "{more}");
    }
    // The phase of the clock does not matter, nor when it changes its rate.
    let offset = NodeClock { offset_ns: 12_345_678, ..free(-PPM_100) };
    let changes = vec![Change { at_ns: 1_234_567, deviation_ppt: -PPM_100 }];
    for clock in [offset, NodeClock { changes, ..free(0) }] {
        let mut net = gated(clock, Vec::new(), 0);
        net.plan.streams[0].start_ns = 20_000_000;
        assert_eq!(delay(&net.plan) - perfect, found(free(-PPM_100)));
    }
}

/// The delays of the frames of a run, in ps of true time: the clock of n1 is true.
fn delays(net: &Net) -> Vec<i64> {
    let mut net = Net { plan: net.plan.clone() };
    net.plan.clocks.as_mut().unwrap().nodes[1] = NodeClock::default();
    let tap = net.tap(1, Stage::Rx, Point::End);
    let (sightings, _) = run(&net.plan);
    let arrived = |one: &Sighting| one.t_ns.unwrap() * 1_000;
    let Pattern::Periodic { period_ns, offset_ns, .. } = net.plan.streams[0].pattern else {
        return Vec::new();
    };
    let released = |one: &Sighting| (one.seq * period_ns + offset_ns) as i64 * 1_000;
    sightings.iter().filter(|one| one.tap == tap).map(|one| arrived(one) - released(one)).collect()
}

/// Three frames come 1 ns after the last start of a window, in the time of a clock that is slow by 1000 ppm: the bound is
/// reached but for what windows count less, 2000 ppm of 50 us, and a few ns of the talker.
#[test]
fn the_simulator_comes_near_the_bound_of_a_slow_clock() {
    let slow = 1_000_000_000;
    let mut net = gated(free(-slow), Vec::new(), 0);
    // The talker has the same clock: in its time, a window ends after 50 us, and the last start is before that.
    let late_ns = 50_000 - NEEDS as u64 * 999 / 1_000_000 + 1;
    net.plan.streams[0].pattern =
        Pattern::Periodic { period_ns: 1_000_000, offset_ns: late_ns, jitter_ns: 0 };
    let bound = delay(&net.plan);
    let mut longest = 0;
    for (number, delay) in delays(&net).into_iter().enumerate() {
        // The release in true time.
        let nominal = (number as i64 * 1_000_000 + late_ns as i64) * 1_000;
        let released = nominal * 1_000 / 999;
        longest = longest.max(delay - (released - nominal));
    }
    let uncounted = bound - longest;
    assert!((0..=2 * 50 * US / 1_000 + 5_000).contains(&uncounted), "{uncounted} ps");
}

/// While the gate is closed the clock is set back by 3 us, once or twice; or once, and forward again. Each time the wait may
/// be longer by 3 us, and no other step between makes it shorter for certain.
#[test]
fn a_clock_that_is_set_back_opens_the_gate_later() {
    let step = |at_ns, by_ns| ClockFault::ClockStep { node: 0, at_ns, by_ns };
    let of = |faults| delay(&gated(free(0), faults, 0).plan) - 50 * US - 2 * NEEDS;
    for (faults, more) in [
        (vec![step(1_070_000, -3_000)], 3),
        (vec![step(1_070_000, 3_000)], 3),
        (vec![step(1_070_000, -3_000), step(1_080_000, -3_000)], 6),
        (vec![step(1_070_000, -3_000), step(2_070_000, 3_000)], 6),
    ] {
        let found = of(faults.clone()) - more * US;
        assert!((0..ROUNDING).contains(&found), "{faults:?}: {found}");
    }
    // A frame that comes 1 ns after the last start waits so long: it is released before its clock is set.
    let mut net = gated(free(0), vec![step(1_070_000, -3_000)], 0);
    let late_ns = 50_000 - NEEDS as u64 / 1_000 + 1;
    net.plan.streams[0].pattern =
        Pattern::Periodic { period_ns: 1_000_000, offset_ns: late_ns, jitter_ns: 0 };
    let longest = delays(&net)[1];
    assert!((0..1_000 + ROUNDING).contains(&(delay(&net.plan) - longest)), "{longest}");
    // Of another node the steps do not matter.
    let other = ClockFault::ClockStep { node: 1, at_ns: 1_070_000, by_ns: -3_000 };
    assert!((0..ROUNDING).contains(&of(vec![other])));
}

/// A higher class may use half of the time. A clock that is set back by 3 us may give it 3 us more of each 100: too much for
/// what a lower class sends, 4,000 bit in 8.2 us, and not otherwise.
#[test]
fn a_reason_names_the_clock_that_lengthens_windows_of_a_higher_class() {
    let step = ClockFault::ClockStep { node: 0, at_ns: 1_070_000, by_ns: -3_000 };
    let of = |faults: Vec<ClockFault>| {
        let mut net = gated(free(0), faults, 0);
        net.plan.streams[0].pattern = Pattern::Saturating { backlog: 2 };
        net.stream("low", &[0, 1], 5, periodic(8_200, 0), frame(480));
        net.plan.ports[0].gates = gates(0, &[(0x60, 50_000), (0x20, 50_000)]);
        net.plan.check().unwrap();
        bounds(&net.plan).flows[1].hops[0].clone()
    };
    assert!(of(Vec::new()).upper_ps.is_some());
    assert!(matches!(of(vec![step]).reason, Some(Reason::OnClock { .. })));
}

/// The gate of a lower class closes 5 us after that of this one opens. A clock that gets faster lets it close early: the
/// frame that has begun counts for 400 ppm of its time after that, and 5 us for 100 ppm more.
#[test]
fn a_lower_frame_may_still_be_sent_when_a_fast_clock_has_closed_its_gate() {
    let of = |lower: bool| {
        let mut net = gated(free(PPM_100), Vec::new(), 0);
        if lower {
            net.stream("low", &[0, 1], 0, Pattern::Saturating { backlog: 2 }, frame(FULL));
        }
        net.plan.ports[0].gates = gates(0, &[(0x41, 5_000), (0x40, 45_000), (0x01, 50_000)]);
        delay(&net.plan)
    };
    let found = of(true) - of(false) - (5_096_000 + LOWER);
    assert!((0..ROUNDING).contains(&(found - LOWER / 2_500 - 500)), "{found}");
}

/// The other node follows the grandmaster within 1 us, and its servo steers by so much at most.
fn synchronise(net: &mut Net, grandmaster: u32, max_frequency_ppb: i64) {
    let clocks = net.plan.clocks.as_mut().unwrap();
    clocks.within_ns = Some(1_000);
    clocks.gptp = Some(Gptp {
        grandmaster,
        slaves: vec![1 - grandmaster],
        sync_interval_ns: 125_000_000,
        pdelay_interval_ns: 1_000_000_000,
        pcp: 0,
        wakeup_ns: 50_000,
        ieee_1588: None,
        one_step: false,
        visible: false,
        servo: Some(Servo { max_frequency_ppb, ..servo() }),
        bmca: None,
    });
}

/// A frame comes 15 us after its gate opens, by a clock that is right. The clock of the gate is 60 us ahead, which is not
/// known: the frame may come at any time of the cycle.
#[test]
fn a_schedule_tells_nothing_where_the_gate_has_a_clock_of_its_own() {
    let of = |pattern: Pattern, clock: Option<NodeClock>| {
        let (mut net, path) = Net::row(3_000_000, 3);
        net.stream("s", &path, 6, pattern, frame(480));
        net.port_mut(path[1], path[2]).gates = gates(0, &[(0x40, 50_000), (0, 50_000)]);
        net.plan.drain_ns = 1_000_000;
        let with = |clock| vec![NodeClock::default(), clock, NodeClock::default()];
        let nodes = clock.map(with);
        net.plan.clocks = nodes.map(|nodes| Clocks {
            nodes,
            record_ns: 1_000_000,
            within_ns: None,
            gptp: None,
            faults: Vec::new(),
        });
        net.plan.check().unwrap();
        bounds(&net.plan).flows[0].hops[1].upper_ps.unwrap()
    };
    let scheduled = periodic(100_000, 10_000);
    let ahead = || Some(NodeClock { offset_ns: 60_000, ..NodeClock::default() });
    assert_eq!(of(scheduled.clone(), None), NEEDS);
    let found = of(scheduled, ahead());
    assert!((0..ROUNDING).contains(&(found - (50 * US + 2 * NEEDS))), "{found}");
}

/// n0 is synchronised to n1 within 1 us: each window is certain from 1 us after it opens until 1 us before it closes. A
/// frame starts if it fits as the clock runs then: faster by up to 1 percent, 39.04 ns of 3.904 us. PTP is in class 0, whose
/// gate is closed.
#[test]
fn a_clock_that_is_synchronised_takes_its_difference_from_both_ends_of_a_window() {
    let of = |grandmaster: u32, deviation_ppt: i64| {
        let mut net = gated(free(0), Vec::new(), 0);
        synchronise(&mut net, grandmaster, 10_000_000);
        net.plan.clocks.as_mut().unwrap().nodes[grandmaster as usize].deviation_ppt = deviation_ppt;
        delay(&net.plan) - 50 * US - 2 * NEEDS
    };
    let synchronised = of(1, 0) - 2 * US - NEEDS / 100;
    assert!((0..ROUNDING).contains(&synchronised), "{synchronised}");
    // The grandmaster's own gates follow its oscillator.
    assert!((0..ROUNDING).contains(&of(0, 0)), "{}", of(0, 0));
    // 100 ppm of the grandmaster: 5.2 ns of the closed gate, and twice 4.8 ns of the window.
    let slower = of(1, PPM_100) - of(1, 0);
    assert!((14_000..15_500).contains(&slower), "{slower}");
}

/// The lower class has the second half of the cycle, and a frame of it ends just when its gate closes. If the clock is set
/// forward while the frame is sent, the upper gate is open before the frame has left: by 3 us, and in the window of the
/// upper class that is left there is room.
#[test]
fn a_frame_may_be_on_the_link_when_its_gate_has_closed_early() {
    let mut net =
        gated(free(0), vec![ClockFault::ClockStep { node: 0, at_ns: 1_098_000, by_ns: 3_000 }], 0x01);
    net.stream("low", &[0, 1], 0, periodic(1_000_000, 1_000_000 + 50_000), frame(FULL));
    let upper = delay(&net.plan);
    // Without the lower class: the same, as its windows are over when those of the upper class begin for certain. Its
    // gap is counted.
    let alone = {
        let net = gated(free(0), vec![ClockFault::ClockStep { node: 0, at_ns: 1_098_000, by_ns: 3_000 }], 0);
        delay(&net.plan)
    };
    let gap = AFTER * 8_000;
    assert!((0..ROUNDING).contains(&(upper - alone - gap)), "{}", upper - alone);
    // A clock that is slow when the frame begins, and fast before it ends: 2 x 100 ppm of the frame.
    let changes = vec![Change { at_ns: 1_234_567, deviation_ppt: PPM_100 }];
    let changing = NodeClock { changes, ..free(-PPM_100) };
    let of = |others| {
        let mut net = gated(changing.clone(), Vec::new(), others);
        net.stream("low", &[0, 1], 0, periodic(1_000_000, 1_000_000 + 50_000), frame(FULL));
        delay(&net.plan)
    };
    let slip = of(0x01) - of(0x00) - gap;
    assert!((2 * LOWER / 10_000..4 * LOWER / 10_000 + ROUNDING).contains(&slip), "{slip}");
}

/// A window of exactly the time of a frame: a fast clock closes the gate too early, and the port drops the frame.
#[test]
fn a_frame_that_fits_only_if_the_clock_is_slow_may_be_lost() {
    let of = |window_ns: u64, deviation_ppt: i64| {
        let mut net = gated(free(deviation_ppt), Vec::new(), 0);
        net.plan.ports[0].gates = gates(0, &[(0x40, window_ns), (0, 50_000)]);
        let (_, counters) = run(&net.plan);
        let lost = counters.streams[0].dropped_at_talker + counters.streams[0].dropped_in_network;
        let found = own(&net.plan);
        (found.loss_reason.is_none(), found.release_upper_ps.is_some(), lost)
    };
    assert_eq!(of(3_904, PPM_100), (false, false, 3));
    assert_eq!(of(3_904, -PPM_100), (false, false, 0));
    assert_eq!(of(3_906, PPM_100), (true, true, 0));
    // It never fits: then there is nothing to wait for.
    assert_eq!(of(3_900, -PPM_100), (false, false, 3));
}

/// Open for 50 of 100 us until 2 ms and for 10 of 100 us from then on, or the other way round: 90 us and twice 3.904 us. The
/// stream begins after the change, but when that is on the clock is not known: both lists count.
#[test]
fn lists_that_follow_each_other_on_a_clock_all_count() {
    for (first, second) in [(50_000, 10_000), (10_000, 50_000)] {
        let mut net = gated(free(0), Vec::new(), 0);
        net.plan.streams[0].start_ns = 3_000_000;
        let mut list = gates(0, &[(0x40, first), (0, 100_000 - first)]).unwrap();
        list.changes = vec![change(0, 2_000_000, &[(0x40, second), (0, 100_000 - second)])];
        net.plan.ports[0].gates = Some(list);
        let more = delay(&net.plan) - 90 * US - 2 * NEEDS;
        assert!((0..ROUNDING).contains(&more), "{first}: {more}");
    }
}

/// A preemptable class between a list's holds; the clock deviates by 1000 ppm. By entry: open gates, ns, hold or release.
fn between_holds(list: &[(u8, u64, Option<MacOperation>)], hold_advance_ns: u64, on_clock: bool) -> i64 {
    let (mut net, path) = Net::row(1_000_000, 2);
    net.stream("s", &path, 0, UNSCHEDULED, frame(FULL));
    let masks: Vec<(u8, u64)> = list.iter().map(|one| (one.0, one.1)).collect();
    let mut own = gates(0, &masks).unwrap();
    own.entries.iter_mut().zip(list).for_each(|(entry, one)| entry.mac = one.2);
    net.plan.ports[0].gates = Some(own);
    net.plan.ports[0].preemption =
        Some(Preemption { express: 0x80, hold_advance_ns, ..Preemption::default() });
    net.plan.drain_ns = 1_000_000;
    let nodes = vec![free(1_000_000_000); 2];
    let clocks = Clocks { nodes, record_ns: 1_000_000, within_ns: None, gptp: None, faults: Vec::new() };
    net.plan.clocks = on_clock.then_some(clocks);
    delay(&net.plan)
}

/// A hold comes 5 us before its entry, by the clock 5 ns earlier or later, and ends the window of a frame that it cuts if the
/// gate closes later. 1 ns later is not certain to be later, 10 ns are: then 123 octets have to fit before it, and no more.
#[test]
fn whether_a_hold_comes_before_its_gate_closes_has_to_be_certain() {
    let (hold, release) = (Some(MacOperation::Hold), Some(MacOperation::Release));
    let of = |closes: u64, on_clock| {
        let list = [(0x80, 50_000, hold), (0x01, closes - 50_000, release), (0, 100_000 - closes, None)];
        between_holds(&list, 5_000, on_clock)
    };
    let whole = (i64::from(FULL) - 123) * 8_000;
    let apart = |on_clock| of(95_001, on_clock) - of(95_010, on_clock);
    assert!(apart(true) > whole - 20_000, "{}", apart(true));
    assert!(apart(false).abs() < 20_000, "{}", apart(false));
}

/// A hold ends at the moment when the gate closes: nothing is sent after it, and what it cuts need not fit. On a clock it may
/// end just before, so that the frame goes on and passes the end of its window: a whole one has to fit before.
#[test]
fn whether_frames_are_released_before_their_gate_closes_has_to_be_certain() {
    let (hold, release) = (Some(MacOperation::Hold), Some(MacOperation::Release));
    let of = |on_clock| {
        let list = [(0x01, 55_000, None), (0x81, 5_000, hold), (0x80, 40_000, release)];
        between_holds(&list, 0, on_clock)
    };
    let whole = (i64::from(FULL) - 123) * 8_000;
    assert!(of(true) - of(false) > whole / 2, "{} and {}", of(true), of(false));
}

/// A window that is too short for the frame closes 50 ns before the window that serves it opens: the gap of a frame in it, 96
/// ns, is over 46 ns later; and that frame may be late by what the clock changes while it is sent, 4 x 1000 ppm of 4 us.
#[test]
fn a_frame_of_the_window_before_may_leave_late() {
    let of = |closes: u64| {
        let mut net = gated(free(1_000_000_000), Vec::new(), 0);
        let list = [(0x40, closes), (0, 3_050 - closes), (0x40, 20_000), (0, 76_950)];
        net.plan.ports[0].gates = gates(0, &list);
        delay(&net.plan)
    };
    let late = of(3_000) - of(2_000);
    assert!((46_000 + 15_500..46_000 + 16_500).contains(&late), "{late} ps");
}

/// The windows of both classes overlap by 10 us, and the upper class always has full frames for its part. If the servo steers
/// by 2 percent in place of 1, the last of these frames may be late by another 123 ns, which each cycle takes from the lower
/// class; and the window of the lower class ends earlier by 39 ns.
#[test]
fn a_frame_of_a_higher_class_may_leave_late_in_a_window() {
    let of = |max_frequency_ppb: i64| {
        let mut net = gated(free(0), Vec::new(), 0x20);
        net.plan.streams[0].pcp = 5;
        net.plan.ports[0].gates = gates(0, &[(0x40, 50_000), (0x60, 10_000), (0x20, 40_000)]);
        net.stream("high", &[0, 1], 6, periodic(100_000, 0), frame(FULL));
        if let Pattern::Periodic { jitter_ns, .. } = &mut net.plan.streams[1].pattern {
            *jitter_ns = 2_000_000;
        }
        synchronise(&mut net, 1, max_frequency_ppb);
        delay(&net.plan)
    };
    let later = of(20_000_000) - of(10_000_000);
    assert!((39_000 + 60_000..39_100 + 2 * 124_000).contains(&later), "{later} ps");
}

/// The gates of both classes open together, 1 us early or late. A lower frame that begins before one of the upper class
/// comes may take the rest of the window. Of 50 us: the closed 50 us, 2 us between both openings, twice the own frame and
/// once the lower one. Of 14 us: from the earliest opening until the latest next one, and the own frame.
#[test]
fn of_gates_that_open_together_the_lower_class_is_not_first() {
    let of = |window_ns: u64| {
        let mut net = gated(free(0), Vec::new(), 0);
        net.plan.ports[0].gates = gates(0, &[(0x41, window_ns), (0, 100_000 - window_ns)]);
        net.stream("low", &[0, 1], 0, periodic(1_000_000, 0), frame(FULL));
        synchronise(&mut net, 1, 1);
        delay(&net.plan)
    };
    let long = of(50_000) - (52 * US + 2 * NEEDS + LOWER);
    let short = of(14_000) - (102 * US + NEEDS);
    assert!((0..ROUNDING + 8).contains(&long) && (0..ROUNDING + 8).contains(&short), "{long} {short}");
}

/// A window of 5 us has room for a frame of 3.904 us; within 1 us of another clock 3 us of it are certain. A shaper's slope of
/// 100 Mbit/s is 40 Mbit/s in 40 of 100 us, of which 38 us are certain. 400 Mbit/s are too much on any clock.
#[test]
fn a_reason_names_the_clock_if_windows_suffice_without_it() {
    let of = |list: &[(u8, u64)], slope_bps: Option<i64>, alter: &dyn Fn(&mut Net)| {
        let mut net = gated(free(0), Vec::new(), 0);
        net.plan.streams[0].pattern = periodic(100_000, 0);
        net.plan.ports[0].gates = gates(0, list);
        net.plan.ports[0].classes[6].cbs =
            slope_bps.map(|slope| cbs(slope, GIGABIT as i64, 1_000_000, -1_000_000));
        synchronise(&mut net, 1, 1);
        alter(&mut net);
        own(&net.plan).hops[0].reason.clone().map(|reason| reason.to_string())
    };
    let on_clock = |why: &str| {
        let clock = "the clock of the port may make its windows shorter";
        Some(format!("{clock}: {why}; widen them by what clocks may differ"))
    };
    let none = "no window of its gate is guaranteed to have room for its largest frame";
    assert_eq!(of(&[(0x40, 5_000), (0, 95_000)], None, &|_| ()), on_clock(none));
    assert_eq!(
        of(&[(0x40, 3_900), (0, 96_100)], None, &|_| ()),
        Some("its frames fit no window of its gate, so they are dropped".into())
    );
    assert_eq!(of(&[(0x40, 50_000), (0, 50_000)], None, &|_| ()), None);
    // 500 octets on the wire in 100 us are 40 Mbit/s, of which 38 / 40 are guaranteed.
    let shaped = &[(0x40, 40_000), (0, 60_000)];
    let found = of(shaped, Some(100_000_000), &|_| ());
    let loses = found
        .as_ref()
        .is_some_and(|why| why.starts_with("the clock of the port") && why.contains("40 Mbit/s may arrive"));
    assert!(loses, "{found:?}");
    assert_eq!(of(shaped, Some(110_000_000), &|_| ()), None);
    let more = |net: &mut Net| net.plan.streams[0].pattern = periodic(10_000, 0);
    let found = of(shaped, Some(100_000_000), &more);
    assert!(found.as_ref().is_some_and(|why| why.starts_with("400 Mbit/s may arrive")), "{found:?}");
}

/// A wrong list closes the gate from 1,000 to 1,400 us, behind the 50 us for which it is closed before. Within 1 us of the
/// middle of its steps, the wrong list may end 2 us late, and windows are 1 us shorter at both ends.
#[test]
fn a_wrong_list_may_begin_early_and_end_late_on_a_clock() {
    let found = |clock: NodeClock, steps: Vec<ClockFault>| {
        let mut net = gated(clock, steps, 0);
        let closed = gates(0, &[(0, 100_000)]).map(Box::new);
        let fault =
            tsn_plan::Fault::Schedule { port: 0, from_ns: 1_000_000, until_ns: 1_400_000, gates: closed };
        net.plan.faults.push(fault);
        delay(&net.plan) - 450 * US - 2 * NEEDS
    };
    // 1 ns more at each end where it is rounded, and one in which the wrong list may still hold a frame.
    let exact = found(free(0), Vec::new());
    assert!((0..4_000).contains(&exact), "{exact}");
    let step = |by_ns| ClockFault::ClockStep { node: 0, at_ns: 1_200_000, by_ns };
    let stepped = found(free(0), vec![step(2_000)]) - exact;
    assert!((4 * US - 4_000..4 * US + 4_000).contains(&stepped), "{stepped}");
    // 10 us ahead, which is known: the list is in force from 1,010 us of the clock on, in the midst of a window.
    let ahead = found(NodeClock { offset_ns: 10_000, ..free(0) }, Vec::new());
    assert!((-50 * US..-50 * US + 4 * US + 4_000).contains(&ahead), "{ahead}");
}

/// A wrong list goes by the clock of the node: 30 us ahead, its window from 0 to 50 us of each 100 us is 20 us long when a
/// frame comes at 1,000 us; at 1,025 us one waits for the next window.
#[test]
fn a_wrong_list_goes_by_the_clock_of_its_node() {
    for own in [true, false] {
        let found = |offset_ns: u64| {
            let mut net = gated(NodeClock { offset_ns: 30_000, ..free(0) }, Vec::new(), 0);
            net.plan.streams[0].pattern =
                Pattern::Periodic { period_ns: 3_000_000, offset_ns: offset_ns + 30_000, jitter_ns: 0 };
            net.plan.ports[0].gates = net.plan.ports[0].gates.take().filter(|_| own);
            let list = gates(0, &[(0x40, 50_000), (0, 50_000)]).map(Box::new);
            let fault =
                tsn_plan::Fault::Schedule { port: 0, from_ns: 900_000, until_ns: 1_300_000, gates: list };
            net.plan.faults.push(fault);
            let taken = delays(&net)[0] + 30 * US;
            assert!(taken <= delay(&net.plan), "{taken}");
            taken
        };
        assert_eq!((found(1_000_000), found(1_025_000)), (NEEDS, 45 * US + NEEDS), "{own}");
    }
}
