//! Hosts with faults, bridges that learn, recorded talkers and pre-emption, against closed forms.

use crate::common::*;
use serde_json::{Value, json};
use tsn_plan::{Fault, Learning, NodeKind, Pattern, Point, Preemption, Route, Stage};

const US: i64 = 1_000;
/// From the first bit to the message timestamp point at 1 Gbit/s.
const POINT: i64 = BEFORE * 8;

fn set_host(net: &mut Net, node: u32, host: Value) {
    net.plan.nodes[node as usize].host = Some(serde_json::from_value(host).unwrap());
}

fn constant(us: u64) -> Value {
    json!({"kind": "constant", "ns": us * 1_000})
}

fn last_bit(octets: i64) -> i64 {
    (octets + 8) * 8
}

#[test]
fn a_frame_in_parts_is_the_kernels_when_its_last_part_is_in() {
    let (mut net, path) = Net::row(1_000_000, 2);
    set_host(&mut net, 1, json!({"kernel_rx": constant(5)}));
    net.port_mut(0, 1).preemption = Some(Preemption { express: 1 << 7, ..Preemption::default() });
    net.stream("long", &path, 0, periodic(1_000_000, 0), frame(1_000));
    net.stream("express", &path, 7, periodic(1_000_000, 3_000), frame(100));
    let rx = net.tap(1, Stage::Rx, Point::Start);
    let end = net.tap(1, Stage::Rx, Point::End);
    let kernel = net.tap(1, Stage::KernelRx, Point::End);
    let (sightings, counters) = run(&net.plan);
    assert_eq!(counters.ports[0].preemption.as_ref().unwrap().preemptions, 1);
    assert_eq!(stamps(&sightings, rx, 0), [POINT], "its first part came first");
    let (long, express) = (stamps(&sightings, end, 0)[0], stamps(&sightings, end, 1)[0]);
    assert!(long > express && long > last_bit(1_000));
    assert_eq!(stamps(&sightings, kernel, 0), [long + 5 * US]);
    assert_eq!(stamps(&sightings, kernel, 1), [express + 5 * US]);
}

#[test]
fn the_kernel_takes_frames_in_the_order_in_which_a_delay_lets_them_arrive() {
    let (mut net, path) = Net::row(1_000_000, 2);
    set_host(&mut net, 1, json!({"kernel_rx": constant(5), "app_rx": constant(7)}));
    net.stream("s", &path, 0, periodic(100_000, 0), frame(500));
    // Only the first frame is delayed, by 450 us, so that four frames overtake it.
    net.plan.faults.push(Fault::Delay {
        port: 0,
        from_ns: 0,
        until_ns: 50_000,
        least_ns: 450_000,
        most_ns: 450_000,
        share_ppm: 1_000_000,
        keeps_order: false,
    });
    let kernel = net.tap(1, Stage::KernelRx, Point::End);
    let program = net.tap(1, Stage::AppRx, Point::End);
    let (sightings, _) = run(&net.plan);
    let at = |tap: u16, seq: u64| {
        let mut of = sightings.iter().filter(|one| one.tap == tap && one.seq == seq);
        of.next().unwrap().t_ns.unwrap()
    };
    for (seq, late) in [(0, 450), (1, 0), (4, 0), (5, 0)] {
        let arrival = seq as i64 * 100 * US + late * US + last_bit(500);
        assert_eq!((at(kernel, seq), at(program, seq)), (arrival + 5 * US, arrival + 12 * US));
    }
}

#[test]
fn what_came_first_is_forwarded_first_whichever_port_it_came_over() {
    let mut net = Net::new(1_000_000);
    let nodes = ["slow", "fast", "host", "end"].map(|name| net.node(name, 0));
    net.link(nodes[0], nodes[2], 100_000_000, 0);
    net.link(nodes[1], nodes[2], GIGABIT, 0);
    net.link(nodes[2], nodes[3], GIGABIT, 0);
    set_host(&mut net, nodes[2], json!({"qdisc": constant(3)}));
    // The slow frame is first on its link, and takes 120 us.
    net.stream("slow", &[0, 2, 3], 0, periodic(1_000_000, 0), frame(1_492));
    net.stream("fast", &[1, 2, 3], 0, periodic(1_000_000, 10_000), frame(117));
    let qdisc = net.tap(net.port(2, 3), Stage::Qdisc, Point::End);
    let (sightings, _) = run(&net.plan);
    assert_eq!(stamps(&sightings, qdisc, 0), [120 * US + 3 * US]);
    assert_eq!(stamps(&sightings, qdisc, 1), [10 * US + US + 3 * US]);
}

#[test]
fn what_is_forwarded_waits_for_nothing_that_came_over_another_port() {
    let mut net = Net::new(10_000_000);
    let nodes = ["a", "b", "host", "end"].map(|name| net.node(name, 0));
    for (from, to) in [(0, 2), (1, 2), (2, 3)] {
        net.link(nodes[from], nodes[to], GIGABIT, 0);
    }
    let spread = json!({"kind": "uniform", "from_ns": 0, "to_ns": 100_000});
    set_host(&mut net, nodes[2], json!({"kernel_rx": spread, "qdisc": constant(3)}));
    net.stream("a", &[0, 2, 3], 0, periodic(50_000, 0), frame(64));
    net.stream("b", &[1, 2, 3], 0, periodic(50_000, 1_000), frame(64));
    let over = [net.port(2, 0), net.port(2, 1)];
    let kernel = over.map(|port| net.tap(port, Stage::KernelRx, Point::End));
    let qdisc = net.tap(net.port(2, 3), Stage::Qdisc, Point::End);
    let (sightings, _) = run(&net.plan);
    for (stream, kernel) in (0..).zip(kernel) {
        let received: Vec<i64> = stamps(&sightings, kernel, stream);
        assert_eq!(received.len(), 200);
        assert_eq!(
            stamps(&sightings, qdisc, stream),
            received.iter().map(|at| at + 3 * US).collect::<Vec<_>>()
        );
    }
}

#[test]
fn what_is_in_the_software_of_a_node_that_goes_down_is_lost() {
    let etf = json!({"kind": "etf", "delta_ns": 10_000, "offload": true});
    // A frame per millisecond: at the queueing discipline at 100 us, handed over at 490 us, on the wire at
    // 500 us.
    for (from_us, until_us, lost_at) in
        [(2_050, 2_060, 1), (2_200, 2_300, 1), (2_495, 2_498, 1), (2_600, 2_700, 0)]
    {
        let (mut net, path) = Net::row(10_000_000, 2);
        set_host(&mut net, 0, json!({"wakeup": constant(100)}));
        let stream = net.stream("s", &path, 0, periodic(1_000_000, 0), frame(500));
        let socket = json!({"advance_ns": 500_000, "txtime": true});
        stream.socket = Some(serde_json::from_value(socket).unwrap());
        let children: Vec<&Value> = (0..8).map(|_| &etf).collect();
        net.port_mut(0, 1).qdisc = Some(serde_json::from_value(json!({"children": children})).unwrap());
        net.plan.faults.push(Fault::NodeDown {
            node: 0,
            from_ns: from_us * 1_000,
            until_ns: until_us * 1_000,
        });
        let tx = net.tap(0, Stage::Tx, Point::Start);
        let (sightings, counters) = run(&net.plan);
        assert_eq!(counters.streams[0].lost_to_faults, lost_at, "down from {from_us} us");
        let left = stamps(&sightings, tx, 0);
        assert!(left.iter().all(|at| at % 1_000_000 == 500 * US + POINT), "the others are on time");
        assert_eq!(left.len() as u64, 10 - lost_at);
    }
}

#[test]
fn a_thread_that_was_behind_begins_anew_after_an_outage() {
    let (mut net, path) = Net::row(4_000_000, 2);
    // Each frame takes three periods: after 1.5 ms the thread has work until 4.5 ms.
    set_host(&mut net, 0, json!({"send": constant(300)}));
    net.stream("s", &path, 0, periodic(100_000, 0), frame(500));
    net.plan.faults.push(Fault::NodeDown { node: 0, from_ns: 1_510_000, until_ns: 1_520_000 });
    let tx = net.tap(0, Stage::Tx, Point::Start);
    let (sightings, _) = run(&net.plan);
    let after = stamps(&sightings, tx, 0).into_iter().find(|at| *at > 1_520 * US);
    assert_eq!(after, Some((1_600 + 300) * US + POINT));
}

#[test]
fn a_flooded_frame_does_not_get_into_the_kernel_of_a_station_that_it_is_not_for() {
    let mut net = Net::new(1_000_000);
    let nodes = ["bridge", "talker", "listener", "other"].map(|name| net.node(name, 0));
    for station in &nodes[1..] {
        net.link(nodes[0], *station, GIGABIT, 0);
        set_host(&mut net, *station, json!({"kernel_rx": constant(5)}));
    }
    net.plan.nodes[0].kind = NodeKind::Bridge;
    net.plan.nodes[0].learning = Some(Learning { ageing_ns: 1_000_000_000 });
    let (to_listener, to_other) = (net.port(0, 2), net.port(0, 3));
    let stream = net.stream("s", &[1, 0, 2], 0, periodic(1_000_000, 0), frame(500));
    stream.flood = vec![Route { port: to_other, parent: Some(0) }];
    let taps = [to_listener, to_other].map(|port| {
        let at = net.plan.ports[port as usize].peer;
        (net.tap(at, Stage::Rx, Point::End), net.tap(at, Stage::KernelRx, Point::End))
    });
    let (sightings, counters) = run(&net.plan);
    let seen = |tap: u16| stamps(&sightings, tap, 0).len();
    assert_eq!(taps.map(|(rx, kernel)| (seen(rx), seen(kernel))), [(1, 1), (1, 0)]);
    assert_eq!(counters.streams[0].filtered, 1);
}

#[test]
fn a_recorded_talker_on_a_host_has_its_timers_at_the_recorded_times() {
    let (mut net, path) = Net::row(1_000_000, 2);
    set_host(&mut net, 0, json!({"wakeup": constant(7), "driver": constant(2)}));
    let recorded = Pattern::Trace { gaps_ns: vec![5_000, 1_000, 100_000], cycle_ns: 300_000, passes: 2 };
    net.stream("s", &path, 0, recorded, frame(64));
    let start = net.tap(0, Stage::IntervalStart, Point::Start);
    let wakeup = net.tap(0, Stage::Wakeup, Point::Start);
    let driver = net.tap(0, Stage::Driver, Point::Start);
    let (sightings, _) = run(&net.plan);
    let times = [5, 6, 106, 305, 306, 406].map(|us| us * US);
    assert_eq!(stamps(&sightings, start, 0), times);
    // The second frame's timer fires during the wait for the first one's: the thread does not sleep again.
    let woken = [12, 12, 113, 312, 312, 413].map(|us| us * US);
    assert_eq!(stamps(&sightings, wakeup, 0), woken);
    assert_eq!(stamps(&sightings, driver, 0), woken.map(|at| at + 2 * US));
}

#[test]
fn what_the_kernel_of_a_host_cannot_be_told_is_refused() {
    let plan = |mac: Option<&str>, wrong: bool| {
        let mut net = Net::new(1_000_000);
        net.line(2, 0, GIGABIT, 0);
        set_host(&mut net, 0, json!({}));
        let plain = json!({"kind": "pfifo", "limit_frames": 10});
        let children: Vec<&Value> = (0..8).map(|_| &plain).collect();
        let mut entry = json!({"open": 255, "interval_ns": 1_000});
        if let Some(mac) = mac {
            entry["mac"] = json!(mac);
        }
        let taprio = json!({"mode": "software", "base_time_ns": 0, "cycle_ns": 1_000, "entries": [entry]});
        let qdisc = json!({"taprio": taprio, "children": children});
        net.port_mut(0, 1).qdisc = Some(serde_json::from_value(qdisc).unwrap());
        if wrong {
            net.plan.faults.push(Fault::Schedule { port: 0, from_ns: 0, until_ns: 1_000, gates: None });
        }
        net.plan.check().map_err(|error| error.to_string())
    };
    assert_eq!(plan(None, false), Ok(()));
    assert!(plan(Some("hold"), false).unwrap_err().contains("neither holds nor releases"));
    assert!(plan(None, true).unwrap_err().contains("a wrong list there is not modelled"));
}
