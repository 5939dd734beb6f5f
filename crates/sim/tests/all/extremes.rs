//! The largest and smallest numbers of a valid plan: no overflow, no endless loop, and every frame accounted
//! for.

use crate::common::*;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::ops::ControlFlow;
use tsn_plan::{Pattern, Plan, Point, Size, Stage};
use tsn_sim::{SimError, Simulation};

const TEN_DAYS: u64 = 864_000_000_000_000;

/// One of the ends of a range, or a value in it.
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

/// Latencies of a second, windows of ten days, and clocks with an offset and a step of ten days.
fn softened(plan: &mut Plan, (mode, child, long, ahead): (u8, u8, bool, bool)) {
    let most = if long { 1_000_000_000_u64 } else { 0 };
    let latency = json!({"kind": "constant", "ns": most});
    let names = ["wakeup", "send", "qdisc", "driver", "tx", "kernel_rx", "app_rx", "timer"];
    let host: Value = names.map(|name| (name, latency.clone())).into_iter().collect();
    let child = match child {
        0 => json!({"kind": "pfifo", "limit_frames": 100}),
        1 => {
            json!({"kind": "etf", "delta_ns": most, "deadline": long, "offload": ahead, "skip_sock_check": true})
        }
        _ => {
            json!({"kind": "cbs", "idleslope": if long { 1_i64 << 40 } else { 1 }, "sendslope": -1 - ((most as i64) << 10),
            "hicredit": most, "locredit": -(most as i64), "limit_frames": 100})
        }
    };
    let base = if ahead { TEN_DAYS as i64 } else { -(TEN_DAYS as i64) };
    let length = if long { TEN_DAYS / 3 } else { 1 };
    let mode = if mode == 1 { "txtime-assist" } else { "software" };
    let entries = [7, 1, 3].map(|open| json!({"open": open, "interval_ns": length}));
    let taprio = json!({"mode": mode, "base_time_ns": base, "cycle_ns": 3 * length, "entries": entries,
        "txtime_delay_ns": most});
    plan.streams.retain(|stream| !matches!(stream.pattern, Pattern::Saturating { .. }));
    for node in &mut plan.nodes {
        node.host = serde_json::from_value(host.clone()).unwrap();
    }
    for port in &mut plan.ports {
        let children: Vec<&Value> = (0..8).map(|_| &child).collect();
        port.gates = None;
        port.classes.iter_mut().for_each(|class| class.cbs = None);
        let qdisc = if mode == "software" && child["kind"] != "pfifo" {
            json!({"children": children})
        } else {
            json!({"children": children, "taprio": taprio})
        };
        port.qdisc = Some(serde_json::from_value(qdisc).unwrap());
    }
    for stream in &mut plan.streams {
        let advance = if long { TEN_DAYS } else { 1 };
        let socket = json!({"advance_ns": advance, "txtime": long, "deadline": ahead});
        stream.socket = Some(serde_json::from_value(socket).unwrap());
    }
    let offset = if ahead { -(TEN_DAYS as i64) } else { TEN_DAYS as i64 };
    let clock =
        json!({"offset_ns": offset, "deviation_ppt": 1_000_000_000, "granularity_ns": 8, "jitter_ns": 0});
    let steps: Vec<Value> = (0..3)
        .map(|node| json!({"kind": "clock-step", "node": node, "at_ns": 1_000, "by_ns": -offset / 30}))
        .collect();
    let clocks = json!({"nodes": [clock, clock, clock], "record_ns": 3_600_000_000_000_u64, "faults": steps});
    plan.clocks = Some(serde_json::from_value(clocks).unwrap());
    plan.check().unwrap();
}

/// The run up to its third report.
fn begun(plan: &tsn_plan::Plan) {
    let mut reports = 0;
    let mut watch = |_| {
        reports += 1;
        if reports > 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut sightings = Vec::new();
    let counters = Simulation::new(plan).unwrap().run(&mut sightings, &mut watch).unwrap();
    assert_conserved(&counters);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// The software of hosts with the largest numbers, with the largest clock errors.
    #[test]
    fn nothing_overflows_in_software(plan in plan(), kind in (0..3u8, 0..3u8, any::<bool>(), any::<bool>())) {
        let mut plan = plan;
        softened(&mut plan, kind);
        begun(&plan);
    }

    #[test]
    fn nothing_overflows(plan in plan()) {
        plan.check().unwrap();
        begun(&plan);
    }
}

/// A talker that would fill the memory at one instant is an error, which has the number.
#[test]
fn a_talker_cannot_hand_over_without_limit() {
    let size = Size::Units { octets: vec![1 << 30], most_per_frame: 64, overhead: 50 };
    for (pattern, size) in [(Pattern::Saturating { backlog: u32::MAX }, frame(64)), (periodic(1, 0), size)] {
        let (mut net, path) = Net::row(1, 2);
        net.stream("s", &path, 0, pattern, size);
        let error = Simulation::new(&net.plan).map(drop).unwrap_err();
        assert!(matches!(error, SimError::TooMany { .. }), "{error}");
        assert!(error.to_string().contains("at most 1048576"), "{error}");
    }
}
