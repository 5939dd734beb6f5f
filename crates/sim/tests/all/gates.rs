//! Gates: frames that leave, the time at which they leave, and frames that can never leave.

use crate::common::*;
use proptest::prelude::*;
use tsn_plan::{Pattern, Point, Stage};

/// The number of frames that fit a window of `open_ns`: the last one's gap may reach past the closing.
fn fitting(open_ns: i64, octets: i64) -> i64 {
    let (until_last_bit, wire) = ((BEFORE + octets) * 8, (BEFORE + octets + AFTER) * 8);
    if open_ns < until_last_bit { 0 } else { (open_ns - until_last_bit) / wire + 1 }
}

#[test]
fn a_window_takes_as_many_whole_frames_as_fit() {
    let exactly_one = (BEFORE + 1_000) * 8;
    for open_ns in [exactly_one - 1, exactly_one, exactly_one + 1, 45_000, 45_000 + FULL_NS] {
        let (mut net, path) = Net::row(1_000_000, 2);
        net.plan.drain_ns = 0;
        net.stream("gated", &path, 6, Pattern::Saturating { backlog: 8 }, frame(1_000));
        let cycle = 100_000;
        net.port_mut(0, 1).gates =
            gates(0, &[(0, 10_000), (1 << 6, open_ns as u64), (0x3f, cycle - 10_000 - open_ns as u64)]);
        let tx = net.tap(0, Stage::Tx, Point::Start);
        let (sightings, counters) = run(&net.plan);
        let starts = stamps(&sightings, tx, 0);
        let each = fitting(open_ns, 1_000);
        assert_eq!(starts.len() as i64, 10 * each, "window of {open_ns} ns");
        for (number, start) in starts.iter().enumerate() {
            let (window, place) = (number as i64 / each, number as i64 % each);
            assert_eq!(*start, window * 100_000 + 10_000 + place * (1_020 * 8) + BEFORE * 8);
        }
        assert_eq!(
            each == 0,
            counters.streams[0].dropped_at_talker > 0,
            "what can never go is dropped and counted"
        );
    }
}

/// The run ends even if a class has no window, or none that is long enough.
#[test]
fn what_fits_no_window_is_dropped_and_counted() {
    let (mut net, path) = Net::row(1_000_000_000, 3);
    net.stream("never", &path, 1, periodic(1_000_000, 0), frame(FULL));
    net.stream("long", &path, 2, periodic(1_000_000, 0), frame(FULL));
    net.stream("short", &path, 2, periodic(1_000_000, 0), frame(64));
    net.port_mut(1, 2).gates = gates(0, &[(1 << 2, 6_000), (0, 10_000), (1 << 2, 6_000)]);
    let (_, counters) = run(&net.plan);
    let dropped: Vec<u64> = counters.streams.iter().map(|stream| stream.dropped_in_network).collect();
    // The two entries of 6 us are one window of 12 us, across the end of the cycle; a full frame takes 12.24 us.
    assert_eq!(dropped, [1_000, 1_000, 0]);
}

/// A gate that is open at the end of the list and again at its start has one window.
#[test]
fn open_entries_that_meet_are_one_window_also_around_the_cycle() {
    let (mut net, path) = Net::row(100_000, 2);
    net.stream("full", &path, 2, periodic(100_000, 1), frame(FULL));
    net.port_mut(0, 1).gates =
        gates(-3_000, &[(1 << 2, 7_000), (1, 20_000), (1 << 2 | 1, 3_000), (1 << 2, 3_000)]);
    let tx = net.tap(0, Stage::Tx, Point::Start);
    let (sightings, _) = run(&net.plan);
    // The cycle of 33 us began at -3 us; the window opens again at 24 us and lasts 13 us, past the end of the
    // cycle.
    assert_eq!(stamps(&sightings, tx, 0), [24_000 + BEFORE * 8]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// With any list, cycle and base time: no bit of a frame is on the wire while its gate is closed.
    #[test]
    fn nothing_leaves_a_closed_gate(
        entries in prop::collection::vec((any::<u8>(), 1..60_000u64), 1..12),
        base in -1_000_000..1_000_000i64,
        octets in prop::collection::vec(64..1_523u32, 3),
    ) {
        let mut net = Net::new(3_000_000);
        net.plan.drain_ns = 0;
        let path = net.line(2, 0, GIGABIT, 0);
        for (class, octets) in octets.iter().enumerate() {
            let name = format!("s{class}");
            net.stream(&name, &path, class as u8, Pattern::Saturating { backlog: 2 }, frame(*octets));
        }
        net.port_mut(0, 1).gates = gates(base, &entries);
        let tx = net.tap(0, Stage::Tx, Point::Start);
        let (sightings, _) = run(&net.plan);
        let cycle: i64 = entries.iter().map(|entry| entry.1 as i64).sum();
        let open = |class: u32, from: i64, to: i64| {
            // The gate is open in every entry during the transmission.
            let mut at = (from - base).rem_euclid(cycle);
            let mut left = to - from;
            let mut number = 0;
            while left > 0 {
                let (states, lasts) = entries[number % entries.len()];
                if at < lasts as i64 {
                    if states >> class & 1 == 0 { return false; }
                    left -= lasts as i64 - at;
                    at = 0;
                } else {
                    at -= lasts as i64;
                }
                number += 1;
            }
            true
        };
        for one in sightings.iter().filter(|one| one.tap == tx) {
            let first_bit = one.t_ns.unwrap() - BEFORE * 8;
            let last_bit = first_bit + (BEFORE + i64::from(one.octets)) * 8;
            prop_assert!(open(one.stream, first_bit, last_bit), "{one:?}");
        }
    }
}
