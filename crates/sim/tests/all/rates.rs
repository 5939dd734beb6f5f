//! Mixed rates: 10 Mbit/s to 100 Gbit/s, with and without whole picoseconds per octet.

use crate::common::*;
use proptest::prelude::*;
use tsn_plan::{Pattern, Point, Stage};

const RATES: [u64; 12] = [
    10_000_000,
    25_000_000,
    100_000_000,
    GIGABIT,
    2_500_000_000,
    5_000_000_000,
    9_294_196_000,
    10 * GIGABIT,
    25 * GIGABIT,
    40 * GIGABIT,
    50 * GIGABIT,
    100 * GIGABIT,
];

fn rate() -> impl Strategy<Value = u64> {
    prop_oneof![3 => prop::sample::select(&RATES[..]), 1 => 10_000_000..100 * GIGABIT]
}

/// The exact time of some octets in ps, with fractions.
fn ps(octets: i64, rate: u64) -> f64 {
    octets as f64 * 8e12 / rate as f64
}

/// The closed form for a frame without other traffic over hops of these rates, stored whole or cut through
/// after some octets: from the first bit of its preamble at the talker to its last bit at the listener.
fn lone(octets: i64, rates: &[u64], processing_ns: i64, cut: Option<u32>) -> f64 {
    let mut time = ps(BEFORE + octets, rates[0]);
    for pair in rates.windows(2) {
        // Before a faster link a frame is stored whole, and so is a short frame.
        let after = cut.map(i64::from).filter(|after| pair[1] <= pair[0] && octets > *after);
        let saved = after.map_or(0.0, |after| ps(BEFORE + octets, pair[0]) - ps(BEFORE + after, pair[0]));
        time += processing_ns as f64 * 1e3 - saved + ps(BEFORE + octets, pair[1]);
    }
    time
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_lone_frame_takes_its_closed_form_at_any_rates(
        rates in prop::collection::vec(rate(), 1..7),
        octets in 64..1_523u32,
        processing_ns in 0..3_000u64,
        cut in prop::option::of(18..1_600u32),
    ) {
        let mut net = Net::new(1_000_000);
        let path: Vec<u32> = (0..=rates.len()).map(|n| net.node(&format!("n{n}"), processing_ns)).collect();
        for (pair, rate) in path.windows(2).zip(&rates) {
            net.link(pair[0], pair[1], *rate, 0);
        }
        for node in &mut net.plan.nodes {
            node.cut_through_octets = cut;
        }
        net.stream("s", &path, 0, periodic(1_000_000_000, 0), frame(octets));
        let rx = net.tap(net.port(path[path.len() - 1], path[path.len() - 2]), Stage::Rx, Point::End);
        let (sightings, _) = run(&net.plan);
        let found = stamps(&sightings, rx, 0)[0];
        let exact = lone(i64::from(octets), &rates, processing_ns as i64, cut) / 1e3;
        // Every time on the wire is rounded by less than a picosecond, and the stamp is rounded down to a
        // whole ns.
        let rounding = 0.003 * rates.len() as f64;
        prop_assert!(found as f64 <= exact + rounding, "{found} after {exact}");
        prop_assert!(found as f64 > exact - rounding - 1.0, "{found} before {exact}");
    }

    /// A link never carries more than its rate, and a saturated link is full, at any rate.
    #[test]
    fn a_saturated_link_of_any_rate_is_full(rate in rate(), octets in 64..1_523u32) {
        // About 2000 frames fit into the duration.
        let occupied = ps(i64::from(octets) + BEFORE + AFTER, rate);
        let mut net = Net::new((occupied * 2.0) as u64);
        net.plan.drain_ns = 0;
        let path = net.line(2, 0, rate, 0);
        net.stream("s", &path, 0, Pattern::Saturating { backlog: 2 }, frame(octets));
        let (_, counters) = run(&net.plan);
        let sent = counters.ports[0].classes[0].sent_frames as f64;
        let room = counters.simulated_ns as f64 * 1e3 / occupied;
        // Each frame's time is rounded by less than a picosecond.
        let slack = room / occupied + 1e-6;
        prop_assert!(sent <= room + 1.0 + slack && sent >= room - slack, "{sent} frames where {room} fit");
    }
}

/// 80 ps per octet: frames of 64 octets follow each other every 6.72 ns, and rounding errors do not add up.
#[test]
fn a_hundred_gigabits_are_exact() {
    let mut net = Net::new(6_720);
    net.plan.drain_ns = 0;
    let path = net.line(3, 0, 100 * GIGABIT, 0);
    net.stream("s", &path, 0, Pattern::Saturating { backlog: 3 }, frame(64));
    let tx = net.tap(0, Stage::Tx, Point::Start);
    let (sightings, _) = run(&net.plan);
    let found = stamps(&sightings, tx, 0);
    let expected: Vec<i64> = (0..1_000).map(|n| (n * 84 * 80 + 8 * 80) / 1_000).collect();
    assert_eq!(found[..expected.len() - 1], expected[..expected.len() - 1]);
}
