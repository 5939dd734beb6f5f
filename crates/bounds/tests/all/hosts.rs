//! The software of hosts: closed forms of the time until frames are in the hardware, and until programs have them.

use crate::common::*;
use serde_json::{Value, json};
use tsn_bounds::{FlowBounds, Reason, bounds};
use tsn_plan::{Clocks, NodeClock, Pattern, Plan, Size};

const US: i64 = 1_000_000;
/// One link of a gigabit for 1,230 octets, with 5 ns of cable: 9.909 us.
const LINK: i64 = 1_238 * 8_000 + 5_000;
/// A frame ahead takes 10 us.
const AHEAD: i64 = 1_250 * 8_000;

/// Until the driver's work is done 26 us at least and 47 us at most, without the wakeup 24 us at least.
fn software() -> Value {
    let between = |from: u64, to: u64| json!({"kind": "uniform", "from_ns": from, "to_ns": to});
    json!({
        "wakeup": {"kind": "histogram", "ns": [2_000, 9_000, 50_000], "counts": [5, 1, 0], "width_ns": 1_000},
        "send": between(1_000, 2_000), "qdisc": between(3_000, 5_000), "driver": between(7_000, 11_000),
        "tx": between(13_000, 19_000), "kernel_rx": between(100, 200), "app_rx": between(20, 70),
    })
}

fn install(plan: &mut Plan, node: u32, host: Value) {
    plan.nodes[node as usize].host = Some(serde_json::from_value(host).unwrap());
}

/// One stream over one link, from a host.
fn lone(pattern: Pattern, size: Size) -> Plan {
    let mut net = Net::new(1_000_000);
    let path = net.line(2, 0, GIGABIT, 5_000);
    net.stream("lone", &path, 6, pattern, size);
    install(&mut net.plan, path[0], software());
    net.plan
}

fn each(period_ns: u64) -> Plan {
    lone(periodic(period_ns, 0), frame(1_230))
}

fn first(plan: &Plan) -> FlowBounds {
    plan.check().unwrap();
    bounds(plan).flows[0].clone()
}

fn released(plan: &Plan) -> Option<i64> {
    first(plan).release_upper_ps
}

#[test]
fn the_talkers_software_comes_before_its_port() {
    let found = first(&each(200_000));
    assert_eq!(found.release_upper_ps, Some((10 + 2 + 5 + 11 + 19) * US + LINK));
    // A release is stamped when the program calls `send`.
    assert_eq!(found.release_lower_ps, (3 + 7 + 13) * US + LINK);
    // Between the stamps of the hardware there is no software.
    assert_eq!((found.lower_ps, found.upper_ps), (LINK - 64_000, Some(LINK - 64_000)));
    assert_eq!((found.loss_reason, found.program_ps), (None, 0));
}

/// The first of two frames is ready after 47 us, the second one after 26 us: released 24 us apart, they are so 3 us apart.
#[test]
fn frames_meet_that_software_delays_by_more_than_a_period() {
    assert_eq!(released(&each(24_000)), Some(47 * US + AHEAD - 3 * US + LINK));
    assert_eq!(released(&each(31_000)), Some(47 * US + LINK));
}

/// With 30 us until it wakes the program is late for the next frames, each 21 us, and sends them without waking: 67 us
/// at most and 24 us at least, so that three may meet.
#[test]
fn a_late_program_sends_the_next_frame_without_waking() {
    let mut plan = each(21_000);
    let mut slow = software();
    slow["wakeup"]["counts"] = json!([5, 1, 1]);
    slow["wakeup"]["ns"] = json!([2_000, 9_000, 29_000]);
    install(&mut plan, 0, slow);
    assert_eq!(released(&plan), Some(67 * US + 2 * AHEAD + LINK));
}

/// 3,000 octets are three frames; the program hands the last one on 2 x 7 us after the first.
#[test]
fn a_program_sends_the_frames_of_a_unit_one_by_one() {
    let plan =
        lone(periodic(200_000, 0), Size::Units { octets: vec![3_000], most_per_frame: 1_472, overhead: 58 });
    let mut without = plan.clone();
    without.nodes[0].host = None;
    assert_eq!(released(&plan), released(&without).map(|alone| (47 + 14) * US + alone));
}

#[test]
fn a_host_forwards_with_its_software() {
    let mut net = Net::new(1_000_000);
    let path = net.line(3, 0, GIGABIT, 5_000);
    net.stream("lone", &path, 6, periodic(200_000, 0), frame(1_230));
    install(&mut net.plan, path[1], software());
    let found = first(&net.plan);
    assert_eq!(found.release_upper_ps, Some(2 * LINK + 200_000 + (5 + 11 + 19) * US));
    assert_eq!(found.release_lower_ps, 2 * LINK + 100_000 + (3 + 7 + 13) * US);
    assert_eq!(found.program_ps, 0);
}

/// `etf` hands frames on from `delta` before their transmission time on, 60 us after the timer, and none after it.
#[test]
fn a_transmission_time_is_the_latest_one() {
    let timed = |period_ns: u64, delta_ns: u64, offload: bool| {
        let mut plan = each(period_ns);
        let etf = json!({"kind": "etf", "delta_ns": delta_ns, "offload": offload});
        plan.ports[0].qdisc = Some(serde_json::from_value(json!({"children": vec![etf; 8]})).unwrap());
        let socket = json!({"advance_ns": 60_000, "txtime": true});
        plan.streams[0].socket = Some(serde_json::from_value(socket).unwrap());
        first(&plan)
    };
    let alone = Some((60 + 11 + 19) * US + LINK);
    let behind = alone.map(|alone| alone + AHEAD - 3 * US);
    // From 60 - 10 + 20 to 90 us.
    assert_eq!(timed(30_000, 10_000, false).release_upper_ps, alone);
    assert_eq!(timed(23_000, 10_000, false).release_upper_ps, behind);
    // The hardware holds each frame until its time: from 60 to 90 us.
    assert_eq!(timed(40_000, 50_000, true).release_upper_ps, alone);
    assert_eq!(timed(33_000, 50_000, true).release_upper_ps, behind);
    let late = Reason::At { port: "n0 -> n1".into(), why: Box::new(Reason::TooLate) };
    assert_eq!(timed(200_000, 10_000, false).loss_reason, Some(late));
}

/// The transmission time is one of the host's clock: 60 us of it, and the last 50 us before at its own rate.
#[test]
fn a_transmission_time_on_a_clock() {
    let timed = |deviation_ppt: i64, offload: bool, within_ns: Option<u64>| {
        let mut plan = each(200_000);
        let mut nodes = vec![NodeClock { deviation_ppt, ..NodeClock::default() }; 2];
        // With a promise, the listener's clock is the steadier one.
        nodes[0].deviation_ppt += i64::from(within_ns.is_some());
        let step = tsn_plan::ClockFault::ClockStep { node: 1, at_ns: 1, by_ns: 1 };
        let faults = within_ns.map(|_| step).into_iter().collect();
        plan.clocks = Some(Clocks { nodes, record_ns: 1_000_000, within_ns, gptp: None, faults });
        let etf = json!({"kind": "etf", "delta_ns": 50_000, "offload": offload});
        plan.ports[0].qdisc = Some(serde_json::from_value(json!({"children": vec![etf; 8]})).unwrap());
        let socket = json!({"advance_ns": 60_000, "txtime": true});
        plan.streams[0].socket = Some(serde_json::from_value(socket).unwrap());
        let found = first(&plan);
        assert_eq!(found.release_reason, None);
        // Stamps of two clocks of 1,000 ppm differ by that much of the run; the frame alone is on the link.
        found.hops[0].upper_ps.map(|_| found.release_upper_ps.unwrap())
    };
    let alone = (60 + 11 + 19) * US + LINK;
    let near = |found: Option<i64>, more: i64| {
        let found = found.unwrap() - alone - more;
        assert!((0..1_000).contains(&found), "{found}");
    };
    near(timed(0, false, None), 0);
    near(timed(0, true, None), 0);
    // 60 us of a clock that is 1,000 ppm slow; what stamps add, 1,000 ppm of the delay, and of 2 ms in between.
    let stamped = |delay: i64| delay / 1_000;
    let slow = 60 * US / 999 + 1;
    near(timed(1_000_000_000, false, None), slow + stamped(alone + slow));
    let turns = 2 * 50 * US / 999;
    near(timed(1_000_000_000, true, None), slow + turns + stamped(alone + slow + turns));
    // Two readings of a clock that may be 3 us before or behind, and its stamp; 1 ns more for the step of the other clock.
    near(timed(0, false, Some(3_000)), 6 * US + 3 * US + 4_000);
}

/// Frames of a saturating stream wait in the hardware.
#[test]
fn a_saturating_stream_does_not_wait_for_its_program() {
    let plan = lone(Pattern::Saturating { backlog: 2 }, frame(1_230));
    assert_eq!(first(&plan).release_lower_ps, LINK);
}

/// A request arrives at a host's program up to 270 ns after its last bit: answers each 24.27 us may be 3 us apart.
#[test]
fn an_answer_waits_for_the_program_that_receives_the_request() {
    let asked = |period_ns: u64| {
        let mut net = Net::new(1_000_000);
        let path = net.line(2, 0, GIGABIT, 5_000);
        net.stream("ask", &path, 6, periodic(period_ns, 0), frame(1_230));
        install(&mut net.plan, path[1], software());
        respond(&mut net.plan, 0, 0, 6, frame(1_230), 0);
        net.plan.check().unwrap();
        let found = bounds(&net.plan).flows;
        assert_eq!(found[0].program_ps, 270_000);
        found[1].release_upper_ps
    };
    assert_eq!(asked(24_270), Some(47 * US + AHEAD - 3 * US + LINK));
    assert_eq!(asked(31_270), Some(47 * US + LINK));
}

/// A processor that hosts share also handles other frames of the same stream, and timers.
#[test]
fn what_runs_on_a_shared_processor_has_no_bound() {
    let told = |shares: Option<usize>| {
        let mut net = Net::new(1_000_000);
        let path = net.line(3, 0, GIGABIT, 5_000);
        net.stream("lone", &path, 6, periodic(200_000, 0), frame(64));
        for node in &path[..2] {
            install(&mut net.plan, *node, software());
            net.plan.nodes[*node as usize].kind = tsn_plan::NodeKind::Station;
        }
        if let Some(place) = shares {
            net.plan.nodes[path[place] as usize].host.as_mut().unwrap().processor = Some(0);
        }
        let found = first(&net.plan);
        (found.release_upper_ps.is_some(), found.release_reason)
    };
    let at = |node: &str, port: &str| {
        let why = Box::new(Reason::Processor { node: node.into() });
        (false, Some(Reason::At { port: port.into(), why }))
    };
    assert_eq!(told(None), (true, None));
    assert_eq!(told(Some(0)), at("n0", "n0 -> n1"), "a talker");
    assert_eq!(told(Some(1)), at("n1", "n1 -> n2"), "a host that forwards");
}

#[test]
fn a_thread_that_makes_its_next_frame_ready_delays_only_that_one() {
    let worst = |octets: u32, prepare: u64| {
        let size = Size::Units { octets: vec![octets], most_per_frame: 1_472, overhead: 58 };
        let mut plan = lone(periodic(200_000, 0), size);
        let host = plan.nodes[0].host.as_mut().unwrap();
        host.prepare = Some(tsn_plan::Distribution::Constant { ns: prepare });
        released(&plan)
    };
    assert_eq!(worst(1_000, 3_000), worst(1_000, 0));
    // Three frames at once: the last one is ready after two others.
    assert_eq!(worst(3_000, 3_000), worst(3_000, 0).map(|without| without + 6 * US));
    // A thread that needs more than a period falls ever further behind.
    assert_eq!(worst(1_000, 196_000), None);
}

#[test]
fn reasons_name_what_has_no_bound_in_software() {
    let at = |why: Reason| Some(Reason::At { port: "n0 -> n1".into(), why: Box::new(why) });
    let busy = || Reason::Busy { stream: "lone".into() };
    let told = |plan: &Plan| (first(plan).upper_ps, first(plan).release_reason);
    // 7 us for each frame.
    assert_eq!(told(&lone(periodic(7_000, 0), frame(64))).1, Some(busy()));
    // The queue never holds more than two frames; how long they wait for the program has no limit.
    let mut plan = lone(Pattern::Poisson { mean_interval_ps: 50_000_000 }, frame(64));
    plan.ports[0].classes.iter_mut().for_each(|class| class.limit_frames = Some(2));
    assert_eq!((told(&plan).0.is_some(), told(&plan).1), (true, Some(busy())));
    let mut plan = each(200_000);
    let cbs = json!({"kind": "cbs", "idleslope": 7, "sendslope": -999_993, "hicredit": 1, "locredit": -1,
        "limit_frames": 9});
    plan.ports[0].qdisc = Some(serde_json::from_value(json!({"children": vec![cbs; 8]})).unwrap());
    assert_eq!(told(&plan).1, Some(Reason::Qdisc));
    assert_eq!(first(&plan).loss_reason, at(Reason::Qdisc));
    // `taprio` in software, whatever its classes have.
    let fifo = json!({"kind": "pfifo", "limit_frames": 9});
    let entries = json!([{"open": 255, "interval_ns": 1_000}]);
    let taprio = json!({"mode": "software", "base_time_ns": 0, "cycle_ns": 1_000, "entries": entries});
    let qdisc = json!({"children": vec![fifo; 8], "taprio": taprio});
    plan.ports[0].qdisc = Some(serde_json::from_value(qdisc).unwrap());
    assert_eq!(told(&plan).1, Some(Reason::Qdisc));
}
