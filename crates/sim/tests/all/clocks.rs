//! Every node has its own clock: talkers, gates, stamps, and gPTP that synchronises the clocks.

use crate::common::*;
use crate::timed::*;
use proptest::prelude::*;
use tsn_plan::{Change, ClockFault, Pattern, Point, Stage};

#[test]
fn free_clocks_drift_as_their_ppm_say() {
    let net = line(2, &[20, -35], SECOND);
    let (both, _) = observed(&net.plan);
    for (node, ppm) in [(0, 20), (1, -35)] {
        let last = both.errors.iter().rfind(|error| error.node == node).expect("errors were noted");
        let expected = last.t_ns * 1_000 / 1_000_000 * ppm;
        assert!((last.error_ps - expected).abs() <= 1, "{last:?}, not {expected}");
        assert_eq!(last.offset_ps, None);
    }
}

/// The talker's period follows its own clock; the stamps at both ends follow the clocks of these ends.
#[test]
fn talkers_and_stamps_go_by_their_nodes_clocks() {
    let mut net = line(2, &[100, -100], SECOND);
    let sent = net.tap(0, Stage::Tx, Point::Start);
    let received = net.tap(1, Stage::Rx, Point::Start);
    let (both, counters) = observed(&net.plan);
    let (sent, received) = (stamps(&both.sightings, sent, 0), stamps(&both.sightings, received, 0));
    // The talker's second ends 100 us before the true one, but the talker stops by its own clock.
    assert_eq!(counters.streams[0].released, 1_000);
    for (number, (sent, received)) in sent.iter().zip(&received).enumerate() {
        let number = number as i64;
        // By its own clock the frame is on time: 64 ns to the timestamp point.
        assert!((sent - (number * 1_000_000 + 64)).abs() <= 1, "frame {number} at {sent}");
        // The listener's clock falls behind by nearly 200 ns in every millisecond.
        let expected = (sent + 5) * 9_999 / 10_001;
        assert!((received - expected).abs() <= 2, "frame {number} at {received}, not {expected}");
    }
}

/// A bridge whose clock is ahead opens its gates earlier by the same time.
#[test]
fn a_schedule_shifts_by_its_clocks_error() {
    let start_of = |offset_ns: i64| {
        let mut net = line(3, &[0, 0, 0], 3_000_000);
        net.plan.streams[0].pattern = periodic(1_000_000, 200_000);
        net.port_mut(1, 2).gates = gates(0, &[(0, 500_000), (1 << 6, 500_000)]);
        if let Some(clocks) = &mut net.plan.clocks {
            clocks.nodes[1].offset_ns = offset_ns;
        }
        // The clock of the last node is correct.
        let leaves = net.tap(3, Stage::Rx, Point::Start);
        let (both, counters) = observed(&net.plan);
        assert_conserved(&counters);
        stamps(&both.sightings, leaves, 0)[1]
    };
    let nominal = start_of(0);
    assert_eq!(nominal, 1_500_000 + 64 + 5);
    for offset_ns in [1, 7_000, -7_000, 123_456] {
        assert_eq!(start_of(offset_ns), nominal - offset_ns, "{offset_ns} ns ahead");
    }
}

/// FlexTest Fig. 6: 8 to 128 Sync messages per second keep one hop of I210s within 14 ns, with and without
/// cross traffic.
#[test]
fn gptp_keeps_one_hop_within_14_ns() {
    for (per_second, cross) in [(8, false), (16, true), (128, false)] {
        let mut net = line(2, &[3, -17], 15 * SECOND);
        let slave = net.plan.ports.iter().position(|port| port.node == 1).expect("a port") as u32;
        if let Some(clocks) = &mut net.plan.clocks {
            clocks.gptp = Some(gptp(vec![slave], per_second));
            clocks.nodes[1].offset_ns = 1_000_000;
        }
        if cross {
            net.stream("cross", &[0, 1], 0, Pattern::Poisson { mean_interval_ps: 20_000_000 }, frame(FULL));
        }
        let (both, counters) = observed(&net.plan);
        assert_conserved(&counters);
        let worst = largest(&both.errors, 1, 8 * SECOND);
        assert!((500..=14_000).contains(&worst), "{per_second} Sync/s: {worst} ps");
    }
}

/// A difference of the delays of the two directions cannot be measured; half of it is the error.
#[test]
fn half_of_an_asymmetry_is_the_error() {
    let mut net = line(2, &[0, 0], 10 * SECOND);
    for port in &mut net.plan.ports {
        port.propagation_ps = if port.node == 0 { 500_000 } else { 900_000 };
    }
    if let Some(clocks) = &mut net.plan.clocks {
        clocks.gptp = Some(gptp(vec![1], 8));
        clocks.nodes.iter_mut().for_each(|clock| clock.granularity_ns = 1);
    }
    let (both, _) = observed(&net.plan);
    let late = both.errors.iter().filter(|error| error.node == 1 && error.t_ns > 8_000_000_000);
    for error in late {
        let offset = error.offset_ps.expect("a grandmaster");
        assert!((offset - 200_000).abs() <= 3_000, "{error:?}");
    }
}

#[test]
fn error_grows_over_hops_and_gates_stay_together() {
    let ppm: Vec<i64> = (0..11).map(|node| (node * 37) % 41 - 20).collect();
    let mut net = line(11, &ppm, 15 * SECOND);
    let slaves = (1..11).map(|node| net.plan.ports.iter().position(|port| port.node == node));
    let slaves: Vec<u32> = slaves.map(|port| port.expect("a port towards the first node") as u32).collect();
    if let Some(clocks) = &mut net.plan.clocks {
        clocks.gptp = Some(gptp(slaves, 8));
    }
    let (both, counters) = observed(&net.plan);
    assert_conserved(&counters);
    let (near, far) = (largest(&both.errors, 1, 10 * SECOND), largest(&both.errors, 10, 10 * SECOND));
    assert!(near < far && far < 200_000, "{near} ps after one hop, {far} ps after ten");
}

/// PTP behind a gate that is closed for its class starves: the clocks run free.
#[test]
fn ptp_behind_closed_gates_starves() {
    let offset = |gated: bool| {
        let mut net = line(2, &[0, 50], 10 * SECOND);
        if let Some(clocks) = &mut net.plan.clocks {
            clocks.gptp = Some(gptp(vec![1], 8));
        }
        if gated {
            net.port_mut(0, 1).gates = gates(0, &[(0x7f, 1_000_000)]);
        }
        let (both, _) = observed(&net.plan);
        largest(&both.errors, 1, 9 * SECOND)
    };
    assert!(offset(false) < 20_000);
    assert!(offset(true) > 400_000_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Any clocks with gates, shapers and limits: every loss is counted, and a second run is equal. With
    /// correct clocks a run differs from one without clocks only in the PTP messages.
    #[test]
    fn clocks_combine_with_everything(
        mut plan in random::plan(),
        ppm in prop::collection::vec(-200..200i64, 64),
        offset_ns in -100_000..100_000i64,
    ) {
        let (perfect, _) = observed(&plan);
        plan.clocks = Some(clocks(&vec![0; plan.nodes.len()]));
        let (right, _) = observed(&plan);
        prop_assert_eq!(&right.sightings, &perfect.sightings);

        let (nodes, slaves) = (plan.nodes.len(), tree(&plan));
        plan.clocks = Some(clocks(&ppm.iter().cycle().take(nodes).copied().collect::<Vec<_>>()));
        if let Some(clocks) = &mut plan.clocks {
            clocks.nodes[0].offset_ns = offset_ns;
            clocks.nodes[0].wander = Some(tsn_plan::Wander { most_ppt: 1_000_000, every_ns: 1_000_000 });
            clocks.gptp = Some(gptp(slaves, 128));
        }
        let (first, counters) = observed(&plan);
        let (second, again) = observed(&plan);
        prop_assert_eq!(first.sightings, second.sightings);
        prop_assert_eq!(first.errors, second.errors);
        prop_assert_eq!(&counters, &again);
        assert_conserved(&counters);
    }
}

/// From the first release on, at 1 ms, the greatest difference counts: two clocks part by 300 ppm, one of them is set by 5 us
/// at 4 ms, back by 6 us at 6 ms, and from 7 ms on both are equally fast. A promise makes the run look.
#[test]
fn the_greatest_difference_of_clocks_is_found_between_records() {
    let most = |faults: &[ClockFault], transparent: bool| {
        let mut net = line(3, &[100, 0, -200], 10_000_000);
        net.plan.streams[0].start_ns = 1_000_000;
        let clocks = net.plan.clocks.as_mut().unwrap();
        clocks.record_ns = 1_000_000_000;
        clocks.within_ns = Some(1_000);
        clocks.nodes[0].changes = vec![Change { at_ns: 7_000_000, deviation_ppt: -200_000_000 }];
        clocks.faults = faults.to_vec();
        if transparent {
            let transparent = vec![2];
            let ieee_1588 = Some(tsn_plan::Ieee1588 { delay: tsn_plan::Delay::EndToEnd, transparent });
            clocks.gptp = Some(tsn_plan::Gptp { ieee_1588, ..gptp(Vec::new(), 1) });
        }
        let (_, counters) = run(&net.plan);
        let found = counters.clocks.unwrap();
        (found.apart_ps, found.at_ns, found.ahead, found.behind)
    };
    let said = |ps: i64, at_ns, ahead: &str, behind: &str| (ps, at_ns, ahead.to_string(), behind.to_string());
    let step = |at_ns, by_ns| ClockFault::ClockStep { node: 0, at_ns, by_ns };
    // 300 ppm of 7 ms; ticks of the frequency are below a picosecond. A clock that is set back is the farther at the end.
    let near = |found: (i64, i64, String, String), expected: (i64, i64, String, String)| {
        assert!((found.0 - expected.0).abs() <= 2, "{found:?}, not {expected:?}");
        assert_eq!((found.1, found.2, found.3), (expected.1, expected.2, expected.3));
    };
    near(most(&[], false), said(2_100_000, 7_000_000, "n0", "n2"));
    near(
        most(&[step(4_000_000, 5_000), step(6_000_000, -6_000)], false),
        said(6_800_000, 6_000_000, "n0", "n2"),
    );
    near(most(&[step(4_000_000, -9_000)], false), said(8_900_000, 10_000_000, "n1", "n0"));
    // Before the first release nothing counts.
    near(most(&[step(500_000, 9_000), step(600_000, -9_000)], false), said(2_100_000, 7_000_000, "n0", "n2"));
    near(most(&[], true), said(700_000, 7_000_000, "n0", "n1"));
    let mut silent = line(3, &[100, 0, -200], 10_000_000);
    assert_eq!(run(&silent.plan).1.clocks, None);
    silent.plan.streams.clear();
    silent.plan.clocks.as_mut().unwrap().within_ns = Some(1);
    assert_eq!(run(&silent.plan).1.clocks, None);
}
