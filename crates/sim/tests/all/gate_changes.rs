//! Gate control lists that replace each other during traffic, on clocks that drift; frames that are too
//! large, and overruns.
//!
//! IEEE 802.1Q-2022, 8.6.8.4 and 8.6.9.

use crate::common::*;
use crate::gate_states::gates_at;
use proptest::prelude::*;
use tsn_plan::{Clocks, Gates, NodeClock, Pattern, Point, Stage};

/// The first bits of a saturating class of 1000 B behind `gates`, and the counters of the run.
fn first_bits(gates: Gates, duration_ns: u64) -> (Vec<i64>, tsn_sim::RunCounters) {
    let mut net = Net::new(duration_ns);
    net.plan.drain_ns = 0;
    let path = net.line(2, 0, GIGABIT, 0);
    net.stream("s", &path, 0, Pattern::Saturating { backlog: 2 }, frame(1_000));
    net.port_mut(0, 1).gates = Some(gates);
    let tx = net.tap(0, Stage::Tx, Point::Start);
    let (sightings, counters) = run(&net.plan);
    (stamps(&sightings, tx, 0).iter().map(|at| at - BEFORE * 8).collect(), counters)
}

/// One frame fits each window; windows begin at the cycle's start.
const ONE: [(u8, u64); 2] = [(1, 10_000), (0, 90_000)];
const OTHER: [(u8, u64); 2] = [(1, 10_000), (0, 50_000)];

#[test]
fn before_the_base_time_the_initial_states_are_in_force() {
    let list = |initial| Gates { initial, ..gates(250_000, &ONE).unwrap() };
    assert_eq!(first_bits(list(None), 400_000).0, [50_000, 150_000, 250_000, 350_000]);
    assert_eq!(first_bits(list(Some(0)), 400_000).0, [250_000, 350_000]);
    let open = first_bits(list(Some(1)), 400_000).0;
    assert_eq!(open[..31], (0..31).map(|number| number * 8_160).collect::<Vec<_>>()[..]);
    assert_eq!(open[31..], [350_000], "the window at 250 us is what is left of one that began before");
}

/// A base time in the future applies unchanged. With one in the past, the list starts at the next multiple of
/// the new cycle, and the error is counted.
#[test]
fn a_change_comes_when_the_standard_says() {
    for (base, from, errors) in [(430_000, 430_000, 0), (20_000, 320_000, 1), (-40_000, 320_000, 1)] {
        let list = Gates { changes: vec![change(301_000, base, &OTHER)], ..gates(0, &ONE).unwrap() };
        let (starts, counters) = first_bits(list, 600_000);
        let old = (0..).map(|n| n * 100_000).take_while(|at| *at < from);
        let new = (0..).map(|n| from + n * 60_000).take_while(|at| *at < 600_000 - 1_000);
        assert_eq!(starts, old.chain(new).collect::<Vec<_>>(), "base {base}");
        let told = counters.ports[0].gates.as_ref().unwrap();
        assert_eq!((told.config_change_errors, told.in_force[1].from_ns), (errors, Some(from)));
    }
}

/// The change is 30 us after the begin of a cycle: that cycle begins, unless the extension is at least 30 us.
#[test]
fn the_last_cycle_is_extended_or_cut() {
    for (cycle_extension_ns, begins) in [(29_999, true), (30_000, false)] {
        let list = Gates {
            cycle_extension_ns,
            changes: vec![change(50_000, 430_000, &OTHER)],
            ..gates(0, &ONE).unwrap()
        };
        let starts = first_bits(list, 440_000).0;
        assert_eq!(starts.contains(&400_000), begins, "{cycle_extension_ns}");
        assert_eq!(starts.last(), Some(&430_000));
    }
}

#[test]
fn frames_over_the_largest_unit_are_dropped_and_counted() {
    let (mut net, path) = Net::row(1_000_000, 3);
    for (number, octets) in [1_000, 1_001].into_iter().enumerate() {
        net.stream(&format!("s{number}"), &path, 0, periodic(100_000, 0), frame(octets));
    }
    // 14 octets of header, 4 of a tag and 4 of FCS do not belong to the service data unit.
    net.port_mut(1, 2).classes[0].max_sdu_octets = Some(1_000 - 22);
    let (_, counters) = run(&net.plan);
    let dropped: Vec<u64> = counters.streams.iter().map(|stream| stream.dropped_in_network).collect();
    assert_eq!(dropped, [0, 10]);
    assert_eq!(counters.ports[2].classes[0].over_max_sdu_frames, 10);
}

#[test]
fn without_a_guard_the_last_frame_of_a_window_overruns_it() {
    let mut list = gates(0, &[(1, 20_000), (2, 80_000)]).unwrap();
    for unguarded in [false, true] {
        list.unguarded = unguarded;
        let (starts, counters) = first_bits(list.clone(), 100_000);
        let expected: &[i64] = if unguarded { &[0, 8_160, 16_320] } else { &[0, 8_160] };
        assert_eq!(starts, expected);
        assert_eq!(counters.ports[0].classes[0].transmission_overruns, u64::from(unguarded));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// With any sequence of lists, by any clock: no bit of a frame is on the wire while its gate is closed.
    #[test]
    fn nothing_leaves_a_closed_gate(
        first in prop::collection::vec((any::<u8>(), 1..60_000u64), 1..8),
        base in -1_000_000..1_000_000i64,
        initial in prop::option::of(any::<u8>()),
        extension in 0..100_000u64,
        others in prop::collection::vec((0..2_500_000i64, -500_000..2_500_000i64, prop::collection::vec((any::<u8>(), 1..60_000u64), 1..8)), 0..5),
        octets in prop::collection::vec(64..1_523u32, 3),
        clock in prop::option::of((-100_000..100_000i64, -100_000_000..100_000_000i64)),
    ) {
        let mut net = Net::new(3_000_000);
        net.plan.drain_ns = 0;
        let path = net.line(2, 0, GIGABIT, 0);
        for (class, octets) in octets.iter().enumerate() {
            net.stream(&format!("s{class}"), &path, class as u8, Pattern::Saturating { backlog: 2 }, frame(*octets));
        }
        let mut list = Gates { initial, cycle_extension_ns: extension, ..gates(base, &first).unwrap() };
        list.changes = others.iter().map(|(at, base, list)| change(*at, *base, list)).collect();
        list.changes.sort_by_key(|change| change.at_ns);
        net.port_mut(0, 1).gates = Some(list.clone());
        if let Some((offset_ns, deviation_ppt)) = clock {
            let node = |own: bool| NodeClock {
                offset_ns: if own { offset_ns } else { 0 },
                deviation_ppt: if own { deviation_ppt } else { 0 },
                ..NodeClock::default()
            };
            net.plan.clocks = Some(Clocks { nodes: vec![node(true), node(false)], record_ns: 1_000_000, within_ns: None, gptp: None, faults: Vec::new() });
        }
        net.plan.check().unwrap();
        let tx = net.tap(0, Stage::Tx, Point::Start);
        let (sightings, _) = run(&net.plan);
        // A ns of the clock is rounded, so a frame may seem longer by it.
        let slack = if clock.is_some() { 2 } else { 0 };
        for one in sightings.iter().filter(|one| one.tap == tx) {
            let first_bit = one.t_ns.unwrap() - BEFORE * 8 + slack;
            let last_bit = first_bit + (BEFORE + i64::from(one.octets)) * 8 - 2 * slack;
            let is_open = |at: i64| gates_at(&list, at) >> one.stream & 1 == 1;
            prop_assert!((first_bit..last_bit).step_by(7).all(is_open) && is_open(last_bit - 1), "{one:?}");
        }
    }
}
