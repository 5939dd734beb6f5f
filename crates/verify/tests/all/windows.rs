//! Windows per class: proofs are exact where arithmetic gives the value, and with a nanosecond less there is
//! no proof.

use tsn_plan::{Class, Destination, FORMAT, GateEntry, Gates, Node, NodeKind, Pattern, Plan, Port};
use tsn_plan::{Further, Jitter, Requirements, Route, Size, Stream};
use tsn_verify::{Passing, windows};

/// Talkers 0 and 1 and listener 3 at bridge 2, 1 Gbit/s, 1 us per bridge, and a window for class 7 towards the listener.
fn plan(opens_ns: u64, length_ns: u64) -> Plan {
    let node = |number: usize| Node {
        name: format!("n{number}"),
        kind: if number == 2 { NodeKind::Bridge } else { NodeKind::Station },
        processing_ns: if number == 2 { 1_000 } else { 0 },
        ipv4: format!("10.0.0.{}", number + 1),
        ..Node::default()
    };
    let pairs = [(0, 2), (2, 0), (1, 2), (2, 1), (2, 3), (3, 2)];
    let port = |(number, (from, _)): (usize, &(u32, u32))| Port {
        name: format!("p{number}"),
        node: *from,
        peer: number as u32 ^ 1,
        mac: format!("02:00:00:00:00:{number:02x}"),
        rate_bps: 1_000_000_000,
        pcp_to_class: [0, 1, 2, 3, 4, 5, 6, 7],
        classes: vec![Class::default(); 8],
        gates: (number == 4).then(|| Gates {
            base_time_ns: opens_ns as i64,
            cycle_ns: CYCLE,
            entries: vec![entry(128, length_ns), entry(127, CYCLE - length_ns)],
            ..Gates::default()
        }),
        ..Port::default()
    };
    let plan = Plan {
        format: FORMAT.into(),
        name: "windows".into(),
        seed: 1,
        duration_ns: 10_000_000,
        drain_ns: 1_000_000_000,
        measure_from: None,
        nodes: (0..4).map(node).collect(),
        ports: pairs.iter().enumerate().map(port).collect(),
        streams: vec![stream(0, 600, 0), stream(1, 700, 3_000)],
        ..Plan::default()
    };
    plan.check().unwrap();
    plan
}

const CYCLE: u64 = 500_000;

fn entry(open: u8, interval_ns: u64) -> GateEntry {
    GateEntry { open, interval_ns, mac: None }
}

fn stream(talker: u32, octets: u32, jitter_ns: u64) -> Stream {
    Stream {
        name: format!("s{talker}"),
        group: format!("s{talker}"),
        talker,
        pcp: 7,
        vid: Some(1),
        destination_mac: format!("03:00:5e:00:00:{:02x}", talker + 1),
        destination_ipv4: format!("239.0.0.{}", talker + 1),
        udp_port: 5_000 + talker as u16,
        type_of_service: 0,
        trdp: None,
        pattern: Pattern::Periodic { period_ns: CYCLE, offset_ns: 10_000, jitter_ns },
        size: Size::Frame { octets },
        start_ns: 0,
        stop_ns: 10_000_000,
        route: vec![Route { port: 2 * talker, parent: None }, Route { port: 4, parent: Some(0) }],
        redundancy: None,
        flood: Vec::new(),
        socket: None,
        listeners: vec![Destination { node: 3, route: 1 }],
        requirements: Requirements { delay_ns: Some(60_000), ..Requirements::default() },
        scheduled: None,
        any_phase: false,
        answers: None,
    }
}

/// Both frames with preamble and gap, in ns.
const BOTH: u64 = (8 + 600 + 12 + 8 + 700 + 12) * 8;
/// The later frame is in the queue, in ns: its release with jitter, its first link, the bridge.
const COME: u64 = 10_000 + 3_000 + (8 + 700) * 8 + 1_000;

fn met(plan: &Plan) -> bool {
    let found = windows(plan);
    found.open.is_empty() && found.flows.len() == 2 && found.flows.iter().all(|flow| flow.met)
}

#[test]
fn a_window_is_long_enough_to_the_nanosecond() {
    let plan = |length| plan(COME, length);
    assert!(met(&plan(BOTH)));
    assert!(!met(&plan(BOTH - 1)));
    // The first frame is always ahead: it arrives earlier for any jitter of the other. The last bit of the
    // second one leaves when the window closes; this includes the gap after the first one.
    let found = windows(&plan(BOTH));
    let outs = [COME + 12 * 8 + 608 * 8, COME + BOTH].map(|out| out as i64 * 1_000 - 10_000_000);
    assert_eq!([0, 1].map(|flow| found.flows[flow].release_upper_ps), outs);
    // The delay from the stamp after the preamble.
    assert_eq!([0, 1].map(|flow| found.flows[flow].upper_ps), outs.map(|out| out - 64_000));
}

#[test]
fn a_window_opens_early_enough_to_the_nanosecond() {
    // The frame that arrives during the window, and the frame that was there: the later one is the last.
    let early = |by: u64, length: u64| met(&plan(COME - by, length));
    assert!(early(5_000, BOTH + 5_000));
    assert!(!early(5_000, 5_000 + 5_760 - 97));
    // Frames that arrive after the window has closed wait for the next one, which is too late.
    assert!(!early(BOTH, BOTH - 1));
}

#[test]
fn what_a_plan_allows_more_is_no_longer_proved() {
    type Change = fn(&mut Plan);
    let later: Change = |plan| {
        plan.streams[1].pattern = Pattern::Periodic { period_ns: CYCLE, offset_ns: 10_000, jitter_ns: 3_001 }
    };
    let larger: Change = |plan| plan.streams[0].size = Size::Frame { octets: 601 };
    let varies: Change = |plan| plan.nodes[2].further = Some(Further::Uniform { up_to_ns: 1 });
    let others: Change = |plan| {
        plan.streams.push(Stream { pcp: 6, ..stream(0, 100, 0) });
        plan.streams[2].name = "more".into();
        plan.streams[2].udp_port = 6_000;
        plan.ports[4].gates.as_mut().unwrap().entries[0].open = 0b1100_0000;
    };
    let twice: Change = |plan| {
        plan.streams[0].pattern = Pattern::Periodic { period_ns: CYCLE / 2, offset_ns: 10_000, jitter_ns: 0 }
    };
    let whenever: Change = |plan| plan.streams[1].any_phase = true;
    let never: Change = |plan| plan.ports[4].gates.as_mut().unwrap().entries[0].open = 0;
    let unguarded: Change = |plan| plan.ports[4].gates.as_mut().unwrap().unguarded = true;
    let tighter: Change = |plan| plan.streams[0].requirements.delay_ns = Some(1);
    for (number, change) in
        [larger, others, never, unguarded, tighter, later, varies, twice, whenever].into_iter().enumerate()
    {
        // A window that opens at the arrival of the later frame has no nanosecond to spare.
        let mut changed = plan(COME, BOTH);
        change(&mut changed);
        // These two changes delay arrivals beyond the opening: the frames wait for the earlier one, or have
        // no cost.
        let free = [later as usize, varies as usize].contains(&(change as usize));
        assert_eq!(met(&changed), free, "{number}");
    }
}

#[test]
fn in_front_may_be_whoever_may_have_come_before() {
    // The window opens when the first frame may arrive: the later frame waits for the other one at most.
    let found = windows(&plan(10_000 + 608 * 8 + 1_000, 40_000));
    let upper = |flow: &Passing| flow.release_upper_ps;
    let alone = (3_000 + 708 * 8 + 1_000 + 708 * 8) * 1_000;
    assert!(upper(&found.flows[1]) >= alone);
    assert!(upper(&found.flows[1]) <= alone + 620 * 8_000);
}

#[test]
fn either_may_be_in_front_where_both_may_come_first() {
    // The window is always open. The other frame arrives at 19,664 ns at the latest, and then both leave.
    let both = |further: u64| {
        let mut plan = plan(10_000, 100_000);
        plan.streams[0].pattern = Pattern::Periodic { period_ns: CYCLE, offset_ns: 10_000, jitter_ns: 5_000 };
        plan.nodes[2].further = (further > 0).then_some(Further::Uniform { up_to_ns: further });
        windows(&plan).flows.iter().map(|flow| flow.release_upper_ps).collect::<Vec<_>>()
    };
    let out = 3_000 + 708 * 8 + 1_000 + 720 * 8 + 608 * 8;
    assert_eq!(both(0), [out * 1_000; 2]);
    // More processing in the bridge delays both by the same time.
    assert_eq!(both(500), [(out + 500) * 1_000; 2]);
}

#[test]
fn a_gap_between_arrivals_differs_from_the_period_by_as_much_as_releases_are_late() {
    // A single stream with a window that is always open: late releases give equally late arrivals.
    let keeps = |kind: &str, limit_ns: u64, size: Option<Size>| {
        let mut plan = plan(10_000, 100_000);
        plan.streams.remove(0);
        plan.streams[0].requirements.jitter = vec![Jitter { kind: kind.into(), limit_ns }];
        plan.streams[0].size = size.unwrap_or(Size::Frame { octets: 700 });
        windows(&plan).flows[0].met
    };
    assert!(keeps("interval", 3_000, None));
    assert!(!keeps("interval", 2_999, None));
    // The gap between two frames of one data unit is not a period.
    let two = Size::Units { octets: vec![1_000], most_per_frame: 500, overhead: 50 };
    assert!(!keeps("interval", CYCLE - 1, Some(two)));
}
