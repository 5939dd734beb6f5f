//! Hosts: stages of software, queueing disciplines and launch times against closed forms.

use crate::common::software::{child, host};
use crate::common::*;
use proptest::prelude::*;
use serde_json::{Value, json};
use tsn_plan::{Plan, Point, Stage};

const US: i64 = 1_000;
/// From the first bit to the message timestamp point at 1 Gbit/s.
const POINT: i64 = BEFORE * 8;

fn set_host(net: &mut Net, node: u32, host: Value) {
    net.plan.nodes[node as usize].host = Some(serde_json::from_value(host).unwrap());
}

/// The child of class 6 is `child`, all others are plain queues.
fn set_qdisc(net: &mut Net, from: u32, to: u32, child: &Value, taprio: Option<Value>) {
    let plain = json!({"kind": "pfifo", "limit_frames": 1000});
    let children: Vec<&Value> = (0..8).map(|class| if class == 6 { child } else { &plain }).collect();
    let qdisc = json!({"taprio": taprio, "children": children});
    net.port_mut(from, to).qdisc = Some(serde_json::from_value(qdisc).unwrap());
}

const FIRST_IS_FIRST: u64 = 3;

fn constant(us: u64) -> Value {
    json!({"kind": "constant", "ns": us * 1_000})
}

/// Two nodes, of which the first is a host, with taps at every stage; stream 0 has class 6.
struct Pair {
    net: Net,
    taps: [u16; 9],
}

fn pair(host: Value, period_ns: u64, socket: Option<Value>) -> Pair {
    let (mut net, path) = Net::row(10_000_000, 2);
    set_host(&mut net, 0, host.clone());
    set_host(&mut net, 1, host);
    let stream = net.stream("s", &path, 6, periodic(period_ns, 0), frame(500));
    stream.socket = socket.map(|socket| serde_json::from_value(socket).unwrap());
    let taps = Stage::ALL.map(|stage| net.tap(u32::from(stage.is_inbound()), stage, Point::Start));
    Pair { net, taps }
}

impl Pair {
    /// Stamps by stage, relative to each frame's interval start, and the counters.
    fn run(&self) -> (Vec<Vec<i64>>, tsn_sim::RunCounters) {
        let (sightings, counters) = run(&self.net.plan);
        (self.taps.iter().map(|tap| stamps(&sightings, *tap, 0)).collect(), counters)
    }
}

fn every_stage() -> Value {
    json!({"wakeup": constant(1), "send": constant(2), "qdisc": constant(4), "driver": constant(8),
        "tx": constant(16), "kernel_rx": constant(32), "app_rx": constant(64)})
}

#[test]
fn stages_add_up_to_the_end_to_end_delay() {
    let (stages, counters) = pair(every_stage(), 1_000_000, None).run();
    let wire = 500 * 8;
    let rx = 31 * US + POINT;
    let expected = [
        0,
        US,
        3 * US,
        7 * US,
        15 * US,
        rx,
        rx,
        31 * US + POINT + wire + 32 * US,
        31 * US + POINT + wire + 96 * US,
    ];
    for (stage, (stamps, after)) in stages.iter().zip(expected).enumerate() {
        assert_eq!(stamps.len(), 10);
        for (number, stamp) in stamps.iter().enumerate() {
            assert_eq!(*stamp, number as i64 * 1_000 * US + after, "stage {stage}");
        }
    }
    assert_eq!(counters.streams[0].delivered["n1"], 10);
}

#[test]
fn a_host_without_latencies_is_as_fast_as_hardware() {
    let with = pair(json!({}), 1_000_000, None);
    let mut without = pair(json!({}), 1_000_000, None);
    for node in &mut without.net.plan.nodes {
        node.host = None;
    }
    let of = |pair: &Pair| delays(&run(&pair.net.plan).0, (pair.taps[2], pair.taps[6]), 0);
    assert_eq!(of(&with), of(&without));
}

fn etf(delta_us: u64, deadline: bool, offload: bool) -> Value {
    json!({"kind": "etf", "delta_ns": delta_us * 1_000, "deadline": deadline, "offload": offload})
}

/// The launch time of a frame is 500 us after its timer.
fn etf_pair(delta_us: u64, deadline: bool, offload: bool, timer_us: u64) -> Pair {
    let socket = json!({"advance_ns": 500_000, "txtime": true, "deadline": deadline});
    let host = json!({"wakeup": constant(3), "timer": constant(timer_us)});
    let mut pair = pair(host, 1_000_000, Some(socket));
    set_qdisc(&mut pair.net, 0, 1, &etf(delta_us, deadline, offload), None);
    pair
}

#[test]
fn without_offload_a_strict_frame_leaves_at_txtime_minus_delta() {
    for delta in [25, 175, 300] {
        let (stages, _) = etf_pair(delta, false, false, 0).run();
        let at = 500 * US - delta as i64 * US;
        assert_eq!(stages[4], (0..10).map(|n| n * 1_000 * US + at).collect::<Vec<_>>());
        assert_eq!(stages[5], (0..10).map(|n| n * 1_000 * US + at + POINT).collect::<Vec<_>>());
    }
}

#[test]
fn with_offload_it_waits_in_the_hardware_and_a_capture_at_the_sender_sees_delta() {
    for delta in [25, 175, 300] {
        for timer in [0, 7] {
            let (stages, _) = etf_pair(delta, false, true, timer).run();
            let driver = (500 - delta as i64 + timer as i64) * US;
            for (number, (driver_at, left)) in stages[4].iter().zip(&stages[5]).enumerate() {
                let start = number as i64 * 1_000 * US;
                assert_eq!(driver_at - start, driver);
                assert_eq!(left - start, 500 * US + POINT, "launched exactly");
                assert_eq!(left - driver_at, (delta as i64 - timer as i64) * US + POINT);
            }
        }
    }
}

#[test]
fn in_deadline_mode_a_frame_goes_at_once() {
    for offload in [false, true] {
        let (stages, _) = etf_pair(175, true, offload, 9).run();
        assert_eq!(stages[4], stages[3]);
        assert_eq!(stages[5], stages[3].iter().map(|at| at + POINT).collect::<Vec<_>>());
    }
}

#[test]
fn a_frame_that_comes_after_its_transmission_time_is_dropped() {
    let mut late = etf_pair(175, false, true, 0);
    set_host(&mut late.net, 0, json!({"wakeup": constant(501)}));
    let (stages, counters) = late.run();
    assert!(stages[4].is_empty() && stages[3].len() == 10);
    assert_eq!(counters.ports[0].qdisc.as_ref().unwrap().dropped_late, 10);
    assert_eq!(counters.streams[0].dropped_at_talker, 10);
}

#[test]
fn a_frame_that_waits_beyond_its_transmission_time_is_dropped() {
    // The timer is later than delta.
    let (stages, counters) = etf_pair(25, false, false, 26).run();
    assert!(stages[4].is_empty());
    assert_eq!(counters.ports[0].qdisc.as_ref().unwrap().dropped_expired, 10);
}

#[test]
fn a_socket_that_does_not_fit_the_queueing_discipline_is_refused_unless_told_not_to_look() {
    for (socket, deadline) in [
        (json!({"advance_ns": 500_000}), false),
        (json!({"advance_ns": 500_000, "txtime": true}), true),
        (json!({"advance_ns": 500_000, "txtime": true, "other_clock": true}), false),
    ] {
        let mut pair = pair(json!({}), 1_000_000, Some(socket.clone()));
        set_qdisc(&mut pair.net, 0, 1, &etf(175, deadline, false), None);
        let (stages, counters) = pair.run();
        assert!(stages[4].is_empty());
        assert_eq!(counters.ports[0].qdisc.as_ref().unwrap().dropped_socket, 10);
        let mut child = etf(175, deadline, false);
        child["skip_sock_check"] = json!(true);
        set_qdisc(&mut pair.net, 0, 1, &child, None);
        let (stages, counters) = pair.run();
        let untimed = socket.get("txtime").is_none();
        assert_eq!(stages[4].is_empty(), untimed, "a frame without a time is late");
        assert_eq!(counters.ports[0].qdisc.as_ref().unwrap().dropped_late, if untimed { 10 } else { 0 });
    }
}

fn taprio(mode: &str, delay_us: u64) -> Value {
    // 100 us for the others, 300 us for class 6, 600 us for the others.
    json!({"mode": mode, "txtime_delay_ns": delay_us * 1_000, "base_time_ns": 0, "cycle_ns": 1_000_000,
        "entries": [{"open": 0xbf, "interval_ns": 100_000}, {"open": 0x40, "interval_ns": 300_000},
            {"open": 0xbf, "interval_ns": 600_000}]})
}

/// The kernel counts 496 octets for a frame of 500 octets.
const KERNEL: i64 = 496 * 8;

#[test]
fn software_gates_hold_a_frame_until_its_window_and_the_timer() {
    for timer in [0, 12] {
        let mut pair = pair(json!({"timer": constant(timer)}), 1_000_000, None);
        set_qdisc(
            &mut pair.net,
            0,
            1,
            &json!({"kind": "pfifo", "limit_frames": 10}),
            Some(taprio("software", 0)),
        );
        let (stages, _) = pair.run();
        let at = (100 + timer as i64) * US;
        assert_eq!(stages[4], (0..10).map(|n| n * 1_000 * US + at).collect::<Vec<_>>());
    }
}

#[test]
fn a_window_in_software_takes_what_its_budget_counts() {
    // A data unit of many frames at once: the budget of a window of 300 us decides how many leave; the others
    // follow in the next windows.
    let mut pair = pair(json!({}), 10_000_000, None);
    let units = tsn_plan::Size::Units { octets: vec![400 * 450], most_per_frame: 450, overhead: 50 };
    pair.net.plan.streams[0].size = units;
    set_qdisc(
        &mut pair.net,
        0,
        1,
        &json!({"kind": "pfifo", "limit_frames": 1000}),
        Some(taprio("software", 0)),
    );
    let (stages, _) = pair.run();
    let fit = 300 * US / KERNEL;
    let expected: Vec<i64> = (0..400).map(|number| (number / fit) * 1_000 * US + 100 * US).collect();
    assert_eq!(stages[4], expected);
}

#[test]
fn with_launch_times_frames_follow_each_other_within_their_window() {
    let mut pair = pair(json!({}), 100_000, None);
    let mut child = etf(175, false, true);
    child["skip_sock_check"] = json!(true);
    set_qdisc(&mut pair.net, 0, 1, &child, Some(taprio("txtime-assist", 200)));
    let (stages, _) = pair.run();
    // Frame n arrives at n * 100 us. Launches are possible 200 us later, in the windows from 100 to 400 us.
    let mut next = 0;
    for (number, left) in stages[5].iter().enumerate() {
        let earliest = (number as i64 * 100 * US + 200 * US).max(next);
        let (cycle, within) = (earliest.div_euclid(1_000 * US), earliest.rem_euclid(1_000 * US));
        let launch = if within < 100 * US {
            cycle * 1_000 * US + 100 * US
        } else if within + KERNEL <= 400 * US {
            earliest
        } else {
            (cycle + 1) * 1_000 * US + 100 * US
        };
        next = launch + KERNEL;
        // The launches are closer together by 4 octets, preamble and gap than on the wire, so the later
        // frames wait for the wire.
        assert!((0..20 * US).contains(&(left - POINT - launch)), "frame {number}: {left} for {launch}");
        if number < 2 {
            assert_eq!(*left, launch + POINT);
        }
    }
    assert_eq!(stages[5].len(), 100);
}

#[test]
fn a_socket_that_says_when_is_obeyed_inside_its_window_only() {
    for (advance, inside) in [(100_000, true), (300_000, true), (396_100, false), (50_000, false)] {
        let socket = json!({"advance_ns": advance, "txtime": true});
        let mut pair = pair(json!({}), 1_000_000, Some(socket));
        set_qdisc(&mut pair.net, 0, 1, &etf(20, false, true), Some(taprio("txtime-assist", 200)));
        let (stages, counters) = pair.run();
        let left = if inside { 10 } else { 0 };
        assert_eq!(stages[5].len(), left, "{advance}");
        assert_eq!(counters.ports[0].qdisc.as_ref().unwrap().dropped_window, 10 - left as u64);
        assert!(stages[5].iter().enumerate().all(|(n, at)| *at == n as i64 * 1_000 * US + advance + POINT));
    }
}

#[test]
fn the_kernels_shaper_counts_what_the_kernel_counts() {
    // 496 octets at 100 Mbit/s take 39.68 us of credit; the frame itself takes 3.968 us of them.
    let child = json!({"kind": "cbs", "idleslope": 100_000, "sendslope": -900_000, "hicredit": 155,
        "locredit": -1125, "limit_frames": 1000});
    let mut pair = pair(json!({}), 10_000_000, None);
    let units = tsn_plan::Size::Units { octets: vec![50 * 450], most_per_frame: 450, overhead: 50 };
    pair.net.plan.streams[0].size = units;
    set_qdisc(&mut pair.net, 0, 1, &child, None);
    let (stages, _) = pair.run();
    for pair in stages[4].windows(2) {
        // 446 octets of credit are spent (0.9 * 496, whole), and return at 12.5 octets per us after the
        // frame.
        assert_eq!(pair[1] - pair[0], 3_968 + 446 * 80);
    }
}

#[test]
fn a_table_of_sizes_adds_octets_to_each_frame() {
    // As above, with preamble, FCS and gap: 520 octets take 4.16 us, and 468 octets of credit are spent.
    let child = json!({"kind": "cbs", "idleslope": 100_000, "sendslope": -900_000, "hicredit": 155,
        "locredit": -1125, "limit_frames": 1000, "overhead_octets": 24});
    let mut pair = pair(json!({}), 10_000_000, None);
    let units = tsn_plan::Size::Units { octets: vec![50 * 450], most_per_frame: 450, overhead: 50 };
    pair.net.plan.streams[0].size = units;
    set_qdisc(&mut pair.net, 0, 1, &child, None);
    let (stages, _) = pair.run();
    assert!(stages[4].windows(2).all(|pair| pair[1] - pair[0] == 4_160 + 468 * 80));
}

#[test]
fn talkers_of_one_processor_send_one_after_the_other() {
    for (processors, after) in [([None, None], 0), ([Some(0), Some(1)], 0), ([Some(3), Some(3)], 500)] {
        let (mut net, path) = Net::row(10_000_000, 2);
        for (node, processor) in processors.into_iter().enumerate() {
            let constant = |ns: u64| json!({"kind": "constant", "ns": ns});
            let software = json!({"send": constant(300), "qdisc": constant(200), "processor": processor});
            set_host(&mut net, node as u32, software);
        }
        net.plan.seed = FIRST_IS_FIRST;
        net.stream("there", &path, 6, periodic(1_000_000, 0), frame(500));
        net.stream("back", &[1, 0], 6, periodic(1_000_000, 0), frame(500));
        let taps = [net.port(0, 1), net.port(1, 0)].map(|port| net.tap(port, Stage::Qdisc, Point::End));
        let (sightings, _) = run(&net.plan);
        let [there, back] = [0, 1].map(|number| stamps(&sightings, taps[number], number as u32));
        assert!(there.iter().enumerate().all(|(n, at)| *at == n as i64 * 1_000_000 + 500), "{there:?}");
        assert!(back.iter().zip(&there).all(|(back, there)| back - there == after), "{back:?}");
    }
}

/// Three hosts in a row on one processor; frames of 500 B take 4.064 us. With this seed, the first program is first.
fn shared(host: &Value, qdisc: Option<Value>) -> (Net, Vec<u32>) {
    let (mut net, path) = Net::row(10_000_000, 3);
    net.plan.seed = FIRST_IS_FIRST;
    for node in 0..3 {
        let mut own = host.clone();
        own["processor"] = 0.into();
        set_host(&mut net, node, own);
    }
    if let Some(child) = qdisc {
        set_qdisc(&mut net, 0, 1, &child, None);
    }
    (net, path)
}

#[test]
fn interrupts_of_a_shared_processor_wait_for_each_other_and_programs_for_both() {
    let ns = |ns: u64| json!({"kind": "constant", "ns": ns});
    let host = json!({"send": ns(3_000), "qdisc": ns(1_000), "kernel_rx": ns(2_000), "finish": ns(500)});
    let (mut net, path) = shared(&host, None);
    let back: Vec<u32> = path.iter().rev().copied().collect();
    net.stream("there", &path, 6, periodic(1_000_000, 0), frame(500));
    net.stream("back", &back, 6, periodic(1_000_000, 0), frame(500));
    net.stream("late", &[0, 1], 6, periodic(1_000_000, 10_000), frame(500));
    let taps =
        [(0, 1), (2, 1), (1, 2), (1, 0)].map(|(a, b)| net.tap(net.port(a, b), Stage::Tx, Point::Start));
    let (sightings, _) = run(&net.plan);
    let begin = |tap: usize, stream: u32| stamps(&sightings, taps[tap], stream)[1] - 1_000_000 - POINT;
    // The program of the other node goes on when the first frame is finished, at 4,500. At 8,064 that arrives: the
    // processor receives it until 10,064, forwards it until 11,064, and finishes until 11,564.
    assert_eq!((begin(0, 0), begin(2, 0)), (4_000, 11_064));
    assert_eq!(begin(1, 1), 8_500 + 3_500);
    // At 15,128 the first frame is received again, until 17,128; the other one arrived at 16,064 and waits for that.
    assert_eq!(begin(3, 1), 17_128 + 3_000);
    // Due at 10 us, it is next at 12,500. It stands still from 15,128 to 20,628.
    assert_eq!(begin(0, 2), 12_500 + 4_000 + 5_500);
}

#[test]
fn a_program_sends_frames_that_are_due_together_in_the_order_of_the_streams() {
    let ns = |ns: u64| json!({"kind": "constant", "ns": ns});
    let (mut net, path) = shared(&json!({"send": ns(3_000)}), None);
    // The second stream's release at 2 ms is known before the first one's.
    net.stream("first", &path, 6, periodic(1_000_000, 0), frame(100));
    net.stream("second", &path, 6, periodic(2_000_000, 0), frame(100));
    let tap = net.tap(net.port(0, 1), Stage::Tx, Point::Start);
    let (sightings, _) = run(&net.plan);
    let (first, second) = (stamps(&sightings, tap, 0), stamps(&sightings, tap, 1));
    assert!(second.iter().enumerate().all(|(n, at)| at - first[2 * n] == 3_000), "{second:?}");
}

#[test]
fn the_order_of_programs_is_drawn_once() {
    let ns = |ns: u64| json!({"kind": "constant", "ns": ns});
    let mut firsts = [0, 0];
    for seed in 0..20 {
        let (mut net, path) = shared(&json!({"send": ns(3_000)}), None);
        net.plan.seed = seed;
        net.stream("there", &path, 6, periodic(1_000_000, 0), frame(500));
        net.stream("back", &[2, 1, 0], 6, periodic(1_000_000, 0), frame(500));
        let taps = [(0, 1), (2, 1)].map(|(a, b)| net.tap(net.port(a, b), Stage::Tx, Point::Start));
        let (sightings, _) = run(&net.plan);
        let [there, back] = [0, 1].map(|number| stamps(&sightings, taps[number], number as u32));
        let first = usize::from(back[0] < there[0]);
        assert!(there.iter().zip(&back).all(|(there, back)| (back < there) == (first == 1)), "{seed}");
        firsts[first] += 1;
    }
    assert!(firsts.iter().all(|times| *times > 3), "{firsts:?}");
}

/// A frame is lost as its node goes down while the interrupt begins; the next one, at another node, came later.
#[test]
fn the_begin_of_an_interrupt_counts_for_its_first_work_alone() {
    let ns = |ns: u64| json!({"kind": "constant", "ns": ns});
    let (mut net, path) = shared(&json!({"kernel_rx": ns(2_000), "timer": ns(1_000)}), None);
    let back: Vec<u32> = path.iter().rev().copied().collect();
    net.stream("lost", &path[..2], 6, periodic(1_000_000, 0), frame(500));
    net.stream("taken", &back[1..], 6, periodic(1_000_000, 200), frame(500));
    let tap = net.tap(0, Stage::KernelRx, Point::End);
    net.plan.faults.push(tsn_plan::Fault::NodeDown { node: 1, from_ns: 4_500, until_ns: 4_600 });
    let (sightings, counters) = run(&net.plan);
    assert_eq!(counters.streams[0].lost_to_faults, 1);
    // It arrives at 4,264, is chosen at 5,064 and lost frames take no time: 2 us of its own follow.
    assert_eq!(stamps(&sightings, tap, 1)[0], 5_064 + 2_000);
}

#[test]
fn a_timer_of_a_queueing_discipline_comes_before_a_frame() {
    let ns = |ns: u64| json!({"kind": "constant", "ns": ns});
    let host = json!({"kernel_rx": ns(20_000), "timer": ns(300)});
    let child = json!({"kind": "cbs", "idleslope": 500_000, "sendslope": -500_000, "hicredit": 9_999,
        "locredit": -9_999, "limit_frames": 9});
    let (mut net, path) = shared(&host, Some(child));
    net.stream("first", &path, 6, periodic(1_000_000, 0), frame(500));
    net.stream("second", &path, 6, periodic(1_000_000, 0), frame(500));
    let tap = net.tap(net.port(0, 1), Stage::Tx, Point::Start);
    let (sightings, _) = run(&net.plan);
    let begin = |stream: u32| stamps(&sightings, tap, stream)[1] - 1_000_000 - POINT;
    assert_eq!(begin(0), 0);
    // As the discipline counts, it is sent until 3,968. Its timer is handled 300 ns later; 18 of 248 octets of credit
    // are there, so it is set for 4,268 + 3,680. Until 24,268 the processor receives the first frame. Then it handles
    // the timer, 300 ns late as ever, before it forwards that frame.
    assert_eq!(begin(1), 24_268 + 300);
}

#[test]
fn a_forwarding_host_passes_kernel_and_queueing_discipline() {
    let (mut net, path) = Net::row(10_000_000, 3);
    set_host(&mut net, 1, every_stage());
    net.stream("s", &path, 6, periodic(1_000_000, 0), frame(500));
    let out = net.port(1, 2);
    let taps = [
        net.tap(1, Stage::Rx, Point::End),
        net.tap(1, Stage::KernelRx, Point::End),
        net.tap(out, Stage::Qdisc, Point::End),
        net.tap(out, Stage::Driver, Point::End),
        net.tap(out, Stage::Tx, Point::Start),
        net.tap(1, Stage::AppRx, Point::End),
    ];
    let (sightings, _) = run(&net.plan);
    let at = |place: usize| stamps(&sightings, taps[place], 0)[3] - stamps(&sightings, taps[0], 0)[3];
    assert_eq!([at(1), at(2), at(3), at(4)], [32 * US, 36 * US, 44 * US, 60 * US + POINT]);
    assert!(stamps(&sightings, taps[5], 0).is_empty(), "no program of it listens");
}

#[test]
fn distributions_are_drawn_as_they_are() {
    let histogram = json!({"kind": "histogram", "ns": [2_000, 3_000, 90_000], "counts": [600, 399, 1],
        "width_ns": 1_000});
    let mut pair = pair(json!({"wakeup": histogram}), 100_000, None);
    pair.net.plan.duration_ns = 4_000_000_000;
    pair.net.plan.streams[0].stop_ns = 4_000_000_000;
    let (stages, _) = pair.run();
    let late: Vec<i64> = stages[1].iter().zip(&stages[0]).map(|(wakeup, start)| wakeup - start).collect();
    let share =
        |from: i64, to: i64| late.iter().filter(|ns| (from..to).contains(*ns)).count() as f64 / 40_000.0;
    assert!((share(2_000, 3_000) - 0.6).abs() < 0.01);
    assert!((share(3_000, 4_000) - 0.399).abs() < 0.01);
    assert!((0.0005..0.0016).contains(&share(90_000, 91_000)));
    assert_eq!(share(2_000, 4_000) + share(90_000, 91_000), 1.0);
}

#[test]
fn the_clock_of_a_queueing_discipline_is_its_nodes() {
    let mut pair = etf_pair(175, false, true, 0);
    let ideal = json!({"offset_ns": 0, "deviation_ppt": 0, "granularity_ns": 1, "jitter_ns": 0});
    let fast =
        json!({"offset_ns": 123_000, "deviation_ppt": 100_000_000, "granularity_ns": 1, "jitter_ns": 0});
    let clocks = json!({"nodes": [fast, ideal], "record_ns": 10_000_000});
    pair.net.plan.clocks = Some(serde_json::from_value(clocks).unwrap());
    let (stages, _) = pair.run();
    // Both stamps are by the same clock, so the launch time is as requested.
    for (number, left) in stages[5].iter().enumerate() {
        let meant = stages[0][number] + 500 * US + POINT;
        assert!((left - meant).abs() <= 1, "{left} for {meant}");
    }
}

/// Hosts in a row, with or without clocks, and several streams of every kind.
fn networks() -> impl Strategy<Value = Plan> {
    let mode = prop_oneof![Just(None), Just(Some("software")), Just(Some("txtime-assist"))];
    let stream = (0_u8..8, 20_000_u64..900_000, 64_u32..1_500, 0_u64..600_000, any::<bool>(), any::<bool>());
    let streams = prop::collection::vec(stream, 1..5);
    (prop::collection::vec(host(), 3), child(), mode, streams, any::<bool>(), any::<u64>()).prop_map(
        |(hosts, child, mode, streams, clocks, seed)| {
            let mut net = Net::new(5_000_000);
            net.plan.seed = seed;
            let path = net.line(3, 1_000, GIGABIT, 5_000);
            for (node, host) in path.iter().zip(hosts) {
                set_host(&mut net, *node, host);
            }
            let child = if mode == Some("software") { json!({"kind": "pfifo", "limit_frames": 9}) } else { child };
            for (from, to) in [(0, 1), (1, 2)] {
                set_qdisc(&mut net, from, to, &child, mode.map(|mode| taprio(mode, 150)));
            }
            for (number, (pcp, period, octets, advance, txtime, deadline)) in streams.into_iter().enumerate() {
                let pattern = periodic(period, 0);
                let stream = net.stream(&format!("s{number}"), &path, pcp, pattern, frame(octets));
                let socket = json!({"advance_ns": advance, "txtime": txtime, "deadline": deadline});
                stream.socket = Some(serde_json::from_value(socket).unwrap());
            }
            for stage in Stage::ALL {
                net.tap(net.port(0, 1), stage, Point::Start);
                net.tap(net.port(2, 1), stage, Point::Start);
            }
            if clocks {
                let clock = json!({"offset_ns": 5_000, "deviation_ppt": -50_000_000, "granularity_ns": 8,
                    "jitter_ns": 0});
                let clocks = json!({"nodes": vec![clock; 3], "record_ns": 10_000_000, "gptp": {"grandmaster": 0,
                    "slaves": [1, 3], "sync_interval_ns": 1_000_000, "pdelay_interval_ns": 2_000_000, "pcp": 7,
                    "wakeup_ns": 10_000}});
                net.plan.clocks = Some(serde_json::from_value(clocks).unwrap());
            }
            net.plan
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn whatever_the_host_frames_are_accounted_for_in_order_and_pass_their_stages_in_order(plan in networks()) {
        let (sightings, _) = run(&plan);
        prop_assert_eq!(run(&plan).0.len(), sightings.len());
        for stream in 0..plan.streams.len() as u32 {
            let mut by_stage: Vec<std::collections::BTreeMap<u64, i64>> = Vec::new();
            for tap in 0..plan.taps.len() as u16 {
                let here = sightings.iter().filter(|one| one.tap == tap && one.stream == stream);
                by_stage.push(here.map(|one| (one.seq, one.t_ns.unwrap())).collect());
            }
            // Two taps per stage: at the talker's port and at the listener's.
            for (number, stage) in Stage::ALL.into_iter().enumerate().skip(1) {
                let place = |stage: Stage, number: usize| 2 * number + usize::from(stage.is_inbound());
                if stage == Stage::Rx || plan.clocks.is_some() {
                    continue;
                }
                let (before, after) = (&by_stage[place(Stage::ALL[number - 1], number - 1)], &by_stage[place(stage, number)]);
                for (seq, at) in after {
                    prop_assert!(before.get(seq).is_some_and(|before| before <= at), "{stage:?}");
                }
            }
            // Frames of one class without launch times do not overtake others of their stream.
            if plan.clocks.is_none() {
                for stage in [1, 2, 3] {
                    let stamps: Vec<i64> = by_stage[2 * stage].values().copied().collect();
                    prop_assert!(stamps.windows(2).all(|pair| pair[0] <= pair[1]));
                }
            }
        }
    }
}
