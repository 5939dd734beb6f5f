//! Delays in closed form, for frames that wait for nothing or for exactly one other frame.

use crate::common::*;
use tsn_plan::{Pattern, Point, Stage};

#[test]
fn one_hop_is_serialisation_and_propagation() {
    for (rate, octet_ps) in [(100_000_000, 80_000), (GIGABIT, 8_000), (10 * GIGABIT, 800)] {
        for octets in [64, 65, 512, FULL, 9_000] {
            for propagation_ps in [0, 5_000, 500_000] {
                let mut net = Net::new(10_000_000);
                let path = net.line(2, 1_000, rate, propagation_ps);
                net.stream("one", &path, 3, periodic(1_000_000, 7), frame(octets));
                let taps = net.tap_ends(&path);
                let (sightings, counters) = run(&net.plan);
                // From the end of the start frame delimiter to the last bit, each rounded down to 1 ns.
                let first = (7_000 + BEFORE * octet_ps) / 1_000;
                let last = (7_000 + (BEFORE + i64::from(octets)) * octet_ps + propagation_ps as i64) / 1_000;
                assert_eq!(
                    delays(&sightings, taps, 0),
                    [last - first; 10],
                    "{octets} octets at {rate} bit/s"
                );
                assert_eq!((counters.frame_hops, counters.events), (10, 10));
            }
        }
    }
}

#[test]
fn every_bridge_adds_a_serialisation_its_processing_and_a_cable() {
    for hops in 1..=7_u32 {
        let mut net = Net::new(10_000_000);
        let path = net.line(hops + 1, 2_500, GIGABIT, 50_000);
        net.stream("one", &path, 3, periodic(1_000_000, 0), frame(FULL));
        let taps = net.tap_ends(&path);
        let (sightings, _) = run(&net.plan);
        let per_hop = (BEFORE + i64::from(FULL)) * 8 + 50;
        let expected = i64::from(hops) * per_hop + i64::from(hops - 1) * 2_500 - BEFORE * 8;
        assert_eq!(delays(&sightings, taps, 0), vec![expected; 10], "{hops} hops");
    }
}

#[test]
fn links_of_different_rates_each_take_their_own_time() {
    let mut net = Net::new(1_000_000);
    let [a, b, c] = ["a", "b", "c"].map(|name| net.node(name, 300));
    net.link(a, b, GIGABIT, 0);
    net.link(b, c, 100_000_000, 0);
    net.stream("one", &[a, b, c], 0, periodic(1_000_000, 0), frame(1_000));
    let taps = net.tap_ends(&[a, b, c]);
    let (sightings, _) = run(&net.plan);
    assert_eq!(delays(&sightings, taps, 0), [1_008 * 8 + 300 + 1_008 * 80 - 64]);
}

#[test]
fn hardware_stamps_leave_the_serialisation_of_the_last_link_out() {
    let mut net = Net::new(1_000_000);
    let path = net.line(2, 0, GIGABIT, 5_000);
    net.stream("one", &path, 0, periodic(1_000_000, 100), frame(FULL));
    let ports = (net.port(0, 1), net.port(1, 0));
    let send = net.tap(ports.0, Stage::Send, Point::Start);
    let tx = net.tap(ports.0, Stage::Tx, Point::Start);
    let tx_end = net.tap(ports.0, Stage::Tx, Point::End);
    let rx = net.tap(ports.1, Stage::Rx, Point::Start);
    net.plan.taps[usize::from(rx)].granularity_ns = 8;
    let (sightings, _) = run(&net.plan);
    assert_eq!(stamps(&sightings, send, 0), [100]);
    assert_eq!(stamps(&sightings, tx, 0), [100 + 64]);
    assert_eq!(stamps(&sightings, tx_end, 0), [100 + 64 + 1_522 * 8]);
    // 169 ns, on a clock that ticks every 8 ns.
    assert_eq!(stamps(&sightings, rx, 0), [168]);
}

/// Without pre-emption, the highest class waits for at most one frame that has just begun.
#[test]
fn the_worst_blocking_is_one_full_frame() {
    let blocked_by = |offset_ns: u64| {
        let (mut net, path) = Net::row(1_000_000, 2);
        net.stream("low", &path, 0, periodic(1_000_000, 1_000), frame(FULL));
        net.stream("high", &path, 7, periodic(1_000_000, offset_ns), frame(64));
        let tx = net.tap(0, Stage::Tx, Point::Start);
        let (sightings, _) = run(&net.plan);
        stamps(&sightings, tx, 1)[0] - offset_ns as i64 - BEFORE * 8
    };
    let worst = (900..1_000 + FULL_NS as u64 + 100).map(|offset| (blocked_by(offset), offset)).max();
    assert_eq!(worst, Some((FULL_NS - 1, 1_001)), "released 1 ns too late");
    assert_eq!(blocked_by(1_000), 0, "released at the same instant, the higher class goes first");
    assert_eq!(blocked_by(999), 0);
    assert_eq!(blocked_by(1_000 + FULL_NS as u64), 0, "released when the wire is free again");
}

/// The highest class waits for at most one frame, over a long run with a link that is never idle.
#[test]
fn blocking_by_a_saturated_lower_class_is_never_more_than_one_full_frame() {
    let (mut net, path) = Net::row(200_000_000, 2);
    net.stream("bulk", &path, 0, Pattern::Saturating { backlog: 4 }, frame(FULL));
    net.stream("high", &path, 7, periodic(100_003, 11), frame(64));
    let send = net.tap(0, Stage::Send, Point::Start);
    let tx = net.tap(0, Stage::Tx, Point::Start);
    let (sightings, counters) = run(&net.plan);
    let waited = delays(&sightings, (send, tx), 1).into_iter().map(|delay| delay - BEFORE * 8);
    assert_eq!(waited.clone().count(), 2_000);
    let (least, most) = (waited.clone().min().unwrap(), waited.max().unwrap());
    assert!(least < 100 && most < FULL_NS && most > FULL_NS - 100, "{least} to {most} ns");
    // The link is never idle: every nanosecond belongs to a frame.
    let ports = &counters.ports[0].classes;
    let busy = ports[0].sent_frames as i64 * FULL_NS + ports[7].sent_frames as i64 * (64 + 20) * 8;
    assert!(busy >= 200_000_000 - FULL_NS, "{busy} ns");
}
