//! The largest and smallest numbers that a plan may name: no overflow, no endless loop, nothing unaccounted for.

mod common;

use common::*;
use proptest::prelude::*;
use std::ops::ControlFlow;
use tsn_plan::{Pattern, Plan, Point, Size, Stage};
use tsn_sim::{SimError, Simulation};

const TEN_DAYS: u64 = 864_000_000_000_000;

/// Either end of a range, or something in it.
fn ends(least: u64, most: u64) -> impl Strategy<Value = u64> {
    prop_oneof![Just(least), Just(most), least..=most]
}

fn time() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(1), 0..1_000_000u64, Just(TEN_DAYS)]
}

fn pattern() -> impl Strategy<Value = Pattern> {
    prop_oneof![
        (ends(1, TEN_DAYS), time(), time()).prop_map(|(period_ns, offset_ns, jitter_ns)| Pattern::Periodic {
            period_ns,
            offset_ns,
            jitter_ns
        }),
        ends(1_000, TEN_DAYS * 1_000).prop_map(|mean_interval_ps| Pattern::Poisson { mean_interval_ps }),
        (1..2_000u32).prop_map(|backlog| Pattern::Saturating { backlog }),
    ]
}

fn size() -> impl Strategy<Value = Size> {
    prop_oneof![
        ends(64, 65_535).prop_map(|octets| Size::Frame { octets: octets as u32 }),
        ends(0, 1 << 30).prop_map(|octets| Size::Units {
            octets: vec![octets as u32],
            most_per_frame: 65_000,
            overhead: 50
        }),
    ]
}

fn plan() -> impl Strategy<Value = Plan> {
    let link = (ends(1_000_000, 1_000_000_000_000), time(), time());
    let shaper = (ends(1, 1_000_000_000_000), ends(1, 1_000_000_000_000), ends(0, 1 << 40), ends(0, 1 << 40));
    let list = (prop::collection::vec((any::<u8>(), ends(1, TEN_DAYS / 4)), 1..4), any::<bool>(), time());
    let talks = prop::collection::vec((pattern(), size(), time(), time()), 1..4);
    (link, prop::option::of(shaper), prop::option::of(list), talks, time(), time()).prop_map(
        |((rate, propagation_ns, processing), shaper, list, talks, duration, drain)| {
            let mut net = Net::new(duration.max(1));
            net.plan.drain_ns = drain;
            let path = net.line(3, processing, rate, propagation_ns * 1_000);
            for (number, (pattern, size, start, stop)) in talks.into_iter().enumerate() {
                let stream = net.stream(&format!("s{number}"), &path, number as u8, pattern, size);
                (stream.start_ns, stream.stop_ns) = (start, stop);
            }
            for port in &mut net.plan.ports {
                if let Some((idle, send, high, low)) = shaper {
                    let mut cbs = cbs(idle as i64, rate as i64, high as i64, -(low as i64));
                    cbs.send_slope_bps = -(send as i64);
                    port.classes[1].cbs = Some(cbs);
                }
                if let Some((entries, before, base)) = &list {
                    let base = *base as i64;
                    port.gates = gates(if *before { -base } else { base }, entries);
                }
                for class in &mut port.classes {
                    class.limit_frames = Some(1_000);
                }
            }
            net.tap(0, Stage::Tx, Point::Start);
            net.tap(3, Stage::Rx, Point::End);
            net.plan
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn nothing_overflows(plan in plan()) {
        plan.check().unwrap();
        let mut reports = 0;
        let mut watch = |_| {
            reports += 1;
            if reports > 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let mut sightings = Vec::new();
        let counters = Simulation::new(&plan).unwrap().run(&mut sightings, &mut watch).unwrap();
        assert_conserved(&counters);
    }
}

/// What would fill the memory in one instant is refused, with the number.
#[test]
fn a_talker_cannot_hand_over_without_limit() {
    let size = Size::Units { octets: vec![1 << 30], most_per_frame: 64, overhead: 50 };
    for (pattern, size) in [(Pattern::Saturating { backlog: u32::MAX }, frame(64)), (periodic(1, 0), size)] {
        let mut net = Net::new(1);
        let path = net.line(2, 0, GIGABIT, 0);
        net.stream("s", &path, 0, pattern, size);
        let error = Simulation::new(&net.plan).map(drop).unwrap_err();
        assert!(matches!(error, SimError::TooMany { .. }), "{error}");
        assert!(error.to_string().contains("at most 1048576"), "{error}");
    }
}
