//! Bounds where nodes have clocks of their own, by arithmetic: what a promise adds, and each message of PTP.

use crate::common::*;
use tsn_bounds::{FlowBounds, bounds};
use tsn_plan::{
    Bmca, Change, ClockFault, ClockQuality, Clocks, Delay, Gptp, Ieee1588, NodeClock, Plan, Point, Servo,
    Stage, Wander,
};

/// The time of a frame with preamble and gap on a gigabit link, in ps.
fn wire(octets: i64) -> i64 {
    (octets + BEFORE + AFTER) * 8_000
}

fn clocks(plan: &Plan, within_ns: u64, gptp: Option<Gptp>) -> Clocks {
    let clock = NodeClock {
        offset_ns: 0,
        deviation_ppt: 0,
        changes: Vec::new(),
        wander: None,
        granularity_ns: 1,
        jitter_ns: 0,
    };
    let nodes = vec![clock; plan.nodes.len()];
    Clocks { nodes, record_ns: 1_000_000, within_ns: Some(within_ns), gptp, faults: Vec::new() }
}

fn gptp(grandmaster: u32, slaves: &[u32]) -> Gptp {
    Gptp {
        grandmaster,
        slaves: slaves.to_vec(),
        sync_interval_ns: 125_000_000,
        pdelay_interval_ns: 1_000_000_000,
        pcp: 6,
        wakeup_ns: 50_000,
        ieee_1588: None,
        one_step: false,
        visible: false,
        servo: None,
        bmca: None,
    }
}

fn ieee_1588(delay: Delay, transparent: &[u32]) -> Option<Ieee1588> {
    Some(Ieee1588 { delay, transparent: transparent.to_vec() })
}

/// n0 - n1 - n2 with one stream in class 6; ports 0 and 2 lead to n2, 1 and 3 to n0.
fn line() -> Net {
    let mut net = Net::new(3_000_000_000);
    net.plan.drain_ns = 1_000_000;
    let path = net.line(3, 1_000, GIGABIT, 5_000);
    net.stream("lone", &path, 6, periodic(100_000, 0), frame(1_230));
    net
}

fn lone(plan: &Plan) -> FlowBounds {
    plan.check().unwrap();
    bounds(plan).flows[0].clone()
}

/// The longest delay from the release in true time: over all hops, with 1 us in each node between.
fn released(plan: &Plan) -> i64 {
    let hops = lone(plan).hops;
    hops.iter().map(|hop| hop.upper_ps.unwrap()).sum::<i64>() + 1_000_000 * (hops.len() as i64 - 1)
}

/// Beside a host with software, each round of PTP's messages analyses everything. Without it, a round leaves out what
/// messages do not depend on: all classes below them; but not class 2 where its frames have class 7 at the next port.
#[test]
fn what_rounds_leave_out_changes_no_bound() {
    for remapped in [false, true] {
        let mut net = line();
        let path = [0, 1, 2];
        for (pcp, octets) in [(7, 400), (6, 900), (2, 1_400), (0, 1_500)] {
            net.stream(&format!("of {pcp}"), &path, pcp, periodic(250_000, 0), frame(octets));
            net.stream(&format!("to {pcp}"), &path[1..], pcp, periodic(125_000, 0), frame(octets));
        }
        if remapped {
            net.plan.ports[2].pcp_to_class[2] = 7;
        }
        net.node("beside", 0);
        // A message may come so late that the next one of its kind is there, too.
        let often = Gptp { sync_interval_ns: 110_000, pdelay_interval_ns: 160_000, ..gptp(0, &[1, 3]) };
        net.plan.clocks = Some(clocks(&net.plan, 1_000, Some(often)));
        net.plan.check().unwrap();
        let mut beside = net.plan.clone();
        let quick = serde_json::json!({"tx": {"kind": "uniform", "from_ns": 1_000, "to_ns": 2_000}});
        beside.nodes[3].host = Some(serde_json::from_value(quick).unwrap());
        let (own, other) = (bounds(&net.plan), bounds(&beside));
        assert!(own.flows.iter().all(|flow| flow.upper_ns.is_some()), "{:?}", own.flows);
        assert_eq!(serde_json::to_value(&own).unwrap(), serde_json::to_value(&other).unwrap());
    }
}

/// The kinds and octets of the messages that leave a port in a simulation, each once.
fn seen(plan: &Plan, port: u32) -> Vec<(u32, u32)> {
    let mut plan = plan.clone();
    plan.clocks.as_mut().unwrap().gptp.as_mut().unwrap().visible = true;
    let mut net = Net { plan };
    let tap = net.tap(port, Stage::Tx, Point::Start);
    let (sightings, _) = run(&net.plan);
    let streams = net.plan.streams.len() as u32;
    let messages = sightings.iter().filter(|one| one.tap == tap && one.stream >= streams);
    let mut kinds: Vec<(u32, u32)> = messages.map(|one| (one.stream - streams, one.octets)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// In the class of PTP a frame may find each of its messages once. Kinds: 0 Sync, 1 Follow_Up, 2 to 4 the measurement
/// of a link's delay, 5 and 6 Delay_Req and Delay_Resp.
#[test]
fn each_message_of_ptp_is_counted_as_the_simulator_sends_it() {
    let (towards, away) = ([1, 3], [2, 0]);
    let peers: &[(u32, u32)] = &[(2, 72), (3, 72), (4, 72)];
    type Kinds = Vec<(u32, u32)>;
    let with = |more: &[(u32, u32)]| -> Kinds { more.iter().chain(peers).copied().collect() };
    let (e2e, p2p) = (Delay::EndToEnd, Delay::PeerToPeer);
    // The grandmaster's side, IEEE 1588, one step; the messages at both ports, and a Follow_Up that counts twice.
    type Case = (bool, Option<Ieee1588>, bool, [Kinds; 2], i64);
    let cases: Vec<Case> = vec![
        (true, None, false, [with(&[(0, 64), (1, 94)]), with(&[(0, 64), (1, 94)])], 0),
        (true, None, true, [with(&[(0, 94)]), with(&[(0, 94)])], 0),
        (true, ieee_1588(p2p, &[]), false, [with(&[(0, 64), (1, 64)]), with(&[(0, 64), (1, 64)])], 0),
        (true, ieee_1588(p2p, &[1]), false, [with(&[(0, 64), (1, 64)]), with(&[(0, 64), (1, 64)])], 64),
        (true, ieee_1588(p2p, &[1]), true, [with(&[(0, 64)]), with(&[(0, 64)])], 0),
        (
            true,
            ieee_1588(e2e, &[]),
            false,
            [vec![(0, 64), (1, 64), (6, 72)], vec![(0, 64), (1, 64), (6, 72)]],
            0,
        ),
        (true, ieee_1588(e2e, &[1]), true, [vec![(0, 64), (6, 72)], vec![(0, 64), (6, 72)]], 0),
        (false, None, false, [with(&[]), with(&[])], 0),
        (false, ieee_1588(e2e, &[]), false, [vec![(5, 64)], vec![(5, 64)]], 0),
        (false, ieee_1588(e2e, &[1]), false, [vec![(5, 64)], vec![(5, 64)]], 0),
    ];
    let alone = released(&line().plan);
    for (begins, ieee_1588, one_step, ports, twice) in cases {
        let mut net = line();
        let (grandmaster, slaves) = if begins { (0, towards) } else { (2, away) };
        let own = Gptp { ieee_1588, one_step, ..gptp(grandmaster, &slaves) };
        net.plan.clocks = Some(clocks(&net.plan, 1_000, Some(own)));
        let expected: i64 = ports.iter().flatten().map(|(_, octets)| wire(i64::from(*octets))).sum();
        let twice = if twice > 0 { wire(twice) } else { 0 };
        let found = released(&net.plan);
        let what = net.plan.clocks.as_ref().unwrap().gptp.clone();
        assert_eq!(found - alone, expected + twice, "{what:?}");
        for (port, kinds) in [0, 2].into_iter().zip(&ports) {
            let mut kinds = kinds.clone();
            kinds.sort_unstable();
            assert_eq!(seen(&net.plan, port), kinds, "port {port}, {what:?}");
        }
    }
}

/// Two messages of a kind are closer than their interval by what software and queues delay the first one. A timer of a
/// steered clock may be fast by what the servo steers.
#[test]
fn messages_follow_each_other_as_closely_as_their_jitter_says() {
    let more = |(pdelay_interval_ns, wakeup_ns), steered: bool, bulk: bool| {
        let mut net = Net::new(3_000_000_000);
        let path = net.line(2, 0, GIGABIT, 0);
        net.stream("lone", &path, 6, periodic(100_000_000, 0), frame(1_230));
        let back: Vec<u32> = path.iter().rev().copied().collect();
        if bulk {
            net.stream("bulk", &back, 0, periodic(100_000_000, 0), frame(FULL));
        }
        let mut own = Gptp { pdelay_interval_ns, wakeup_ns, ..gptp(if steered { 1 } else { 0 }, &[]) };
        own.slaves = vec![if steered { 0 } else { 1 }];
        net.plan.clocks = Some(clocks(&net.plan, 1_000, Some(own)));
        let messages = if steered { 3 * wire(72) } else { wire(64) + wire(94) + 3 * wire(72) };
        let frame = (1_230 + BEFORE) * 8_000;
        released(&net.plan) - messages - frame
    };
    // A Pdelay_Resp is late by two times 45 us, and by what delays its request: three messages, of which one may be a
    // Sync and one a Follow_Up, or 12.3 us of another frame more. Its Follow_Up is late by 135 us in any case.
    assert_eq!(more((100_000, 45_000), false, false), wire(72));
    assert_eq!(more((100_000, 45_000), false, true), 2 * wire(72));
    // The request's timer counts 1 ms at 1 + 6.2499999 %: 941.177 us. The response to the grandmaster's request is late by
    // two times the delay of software, its Follow_Up by three times.
    assert_eq!(more((1_000_000, 900_000), true, false), 3 * wire(72));
    assert_eq!(more((1_000_000, 941_200), true, false), 4 * wire(72));
}

/// A promise of 1 us: each end that is not the reference adds 1 us, and what its servo adds while a frame passes.
#[test]
fn stamps_are_apart_by_what_is_promised_of_both_ends() {
    let perfect = lone(&line().plan);
    let servo = Servo { max_frequency_ppb: 1_000_000, ..servo() };
    // A frame passes a link in 9,909 ns: 9.909 ns at 1000 ppm. A Follow_Up of the class below is ahead at each port.
    let (ahead, passing) = (wire(94), 9_909);
    for (grandmaster, slaves, ends) in [(0, [1, 3], 1), (1, [0, 3], 2), (2, [2, 0], 1)] {
        let mut net = line();
        let own = Gptp { pcp: 0, servo: Some(servo), ..gptp(grandmaster, &slaves) };
        net.plan.clocks = Some(clocks(&net.plan, 1_000, Some(own)));
        let found = lone(&net.plan);
        let apart = ends * (1_000_000 + passing);
        let blocked = if grandmaster == 2 { wire(72) } else { ahead };
        let upper = found.upper_ps.unwrap() - perfect.upper_ps.unwrap() - blocked - apart;
        assert!((0..=5).contains(&upper), "{upper} ps");
        let lower = perfect.lower_ps - apart - found.lower_ps;
        assert!((0..=5).contains(&lower), "{lower} ps");
        let true_time = released(&net.plan) - released(&line().plan);
        let first = if grandmaster == 0 { ahead } else { wire(72) };
        assert_eq!(true_time, first + blocked);
        // The listener's clock also shows the delay from the release, whose stamp is made at once.
        let shown = found.release_upper_ps.unwrap() - released(&net.plan);
        let last = if grandmaster == 2 { 0 } else { 1_000_000 + passing };
        let talks = if grandmaster == 0 { 0 } else { 1_000_000 };
        assert!((0..=9).contains(&(shown - last - talks)), "{shown} ps");
        let least = perfect.release_lower_ps - found.release_lower_ps;
        assert!((0..=9).contains(&(least - last - talks)), "{least} ps");
        // The reference gains 100 ppm of the delay.
        net.plan.clocks.as_mut().unwrap().nodes[grandmaster as usize].deviation_ppt = 100_000_000;
        let gains = lone(&net.plan).upper_ps.unwrap() - found.upper_ps.unwrap();
        // So does each other end, relative to it, while a frame passes; the reference's own end counts both.
        let expected =
            (found.upper_ps.unwrap() - apart) / 10_000 + (if ends == 2 { 2 } else { 3 }) * passing / 10;
        assert!((-9..=9).contains(&(gains - expected)), "{gains} ps, not {expected}");
    }
    assert_eq!(bounds(&line().plan).clocks_within_ns, None);
}

/// A flow of n1 meets the frame at n1's port. Its releases are 100 us apart on its clock, and 100 us less twice the
/// promise apart in true time: from 50 us on two of them may be there at once. What makes the reference fast, or moves
/// it, counts as well.
#[test]
fn releases_are_as_close_as_the_promise_allows() {
    let frames = |within_ns: u64, alter: &dyn Fn(&mut Clocks)| {
        let mut net = line();
        net.plan.duration_ns = 10_000_000;
        net.stream("other", &[1, 2], 6, periodic(100_000, 0), frame(1_230));
        let alone = released(&net.plan);
        let mut own = clocks(&net.plan, within_ns, Some(Gptp { pcp: 0, ..gptp(0, &[1, 3]) }));
        alter(&mut own);
        net.plan.clocks = Some(own);
        1 + (released(&net.plan) - alone - 2 * wire(94)) / wire(1_230)
    };
    assert_eq!([49_999, 50_000].map(|within| frames(within, &|_| ())), [1, 2]);
    let reference: [&dyn Fn(&mut Clocks); 5] = [
        &|own| own.nodes[0].deviation_ppt = 1_000_000_000,
        &|own| own.nodes[0].changes = vec![Change { at_ns: 1, deviation_ppt: -1_000_000_000 }],
        // Twelve steps of 100 ppm.
        &|own| own.nodes[0].wander = Some(Wander { most_ppt: 100_000_000, every_ns: 1_000_000 }),
        &|own| {
            let (from_ns, until_ns) = (0, 1_000);
            own.faults.push(ClockFault::FrequencyJump { node: 0, from_ns, until_ns, by_ppt: 1_000_000_000 });
        },
        &|own| own.faults.push(ClockFault::ClockStep { node: 0, at_ns: 0, by_ns: -50 }),
    ];
    for (case, alter) in reference.iter().enumerate() {
        // Up to 1000 ppm leave less than 100 us of 49.92 us twice: there the period is shorter than that.
        let more = if case < 4 { 49_920 } else { 49_970 };
        assert_eq!([49_870, more].map(|within| frames(within, alter)), [1, 2], "case {case}");
    }
    // Ahead at the begin by 100 ns: what was due then is released at once.
    assert_eq!([49_870, 49_970].map(|within| frames(within, &|own| own.nodes[1].offset_ns = 100)), [1, 2]);
    // What other nodes' oscillators do is within the promise.
    let others =
        |own: &mut Clocks| own.nodes[1].wander = Some(Wander { most_ppt: 1_000_000_000, every_ns: 100_000 });
    assert_eq!(frames(49_999, &others), 1);
    // Without a servo the steadiest clock is the reference.
    let free = |own: &mut Clocks| {
        own.gptp = None;
        own.nodes[1].wander = Some(Wander { most_ppt: 1_000_000_000, every_ns: 100_000 });
        own.faults.push(ClockFault::ClockStep { node: 1, at_ns: 0, by_ns: 1_000 });
    };
    let mut net = line();
    net.stream("other", &[1, 2], 6, periodic(100_000, 0), frame(1_230));
    let alone = released(&net.plan);
    let found = [49_999, 50_000].map(|within| {
        let mut own = clocks(&net.plan, within, None);
        free(&mut own);
        net.plan.clocks = Some(own);
        (released(&net.plan) - alone) / wire(1_230)
    });
    assert_eq!(found, [0, 1]);
}

/// Frames of two paths arrive within 8 us, and sequence recovery remembers a number for 30 us of its clock: from a promise
/// of 15 us on it may forget the first frame before the second one comes.
#[test]
fn sequence_recovery_may_remember_for_less_than_it_should() {
    let frames = |reset_ns, within_ns| {
        let mut plan = wrong::two_paths([GIGABIT, GIGABIT], &[]);
        let redundancy = plan.streams[0].redundancy.as_mut().unwrap();
        redundancy.recovery.as_mut().unwrap().reset_ns = reset_ns;
        plan.streams[0].pattern = periodic(1_000_000, 0);
        let mut own = clocks(&plan, within_ns, None);
        // The talker's clock is the steadiest one, so its releases have no jitter.
        own.nodes[1].wander = Some(Wander { most_ppt: 1, every_ns: 1_000_000 });
        plan.clocks = Some(own);
        plan.check().unwrap();
        let found = bounds(&plan);
        assert_eq!(found.clocks_within_ns, Some(within_ns));
        let port = found.ports.iter().find(|port| port.port == "m -> l").unwrap();
        port.classes[0].backlog_frames.unwrap()
    };
    assert_eq!(
        [(30_000, 1), (30_000, 15_000), (60_000, 15_000)].map(|(reset, own)| frames(reset, own)),
        [1, 2, 1]
    );
}

/// A talker whose clock is ahead by ten periods releases ten frames at once, and its listener answers each of them.
#[test]
fn what_is_due_at_the_begin_is_due_of_answers_too() {
    let most = |offset_ns| {
        let mut net = Net::new(10_000_000);
        let path = net.line(2, 0, GIGABIT, 0);
        net.stream("request", &path, 6, periodic(100_000, 0), frame(64));
        respond(&mut net.plan, 0, 0, 6, frame(1_230), 0);
        let mut own = clocks(&net.plan, 1, None);
        own.nodes[0].offset_ns = offset_ns;
        net.plan.clocks = Some(own);
        net.plan.check().unwrap();
        let found = bounds(&net.plan);
        let queue = found.ports.iter().find(|port| port.port == "n1 -> n0").unwrap();
        let (_, counters) = run(&net.plan);
        let seen = counters.ports[1].classes[6].most_frames;
        (seen, queue.classes[0].backlog_frames.unwrap())
    };
    let (seen, bound) = most(1_000_000);
    assert!(seen > 5 && seen <= bound, "{seen} frames wait, not {bound}");
}

/// Without a promise there is no bound; nor where a talker's clock is not one that follows. An election may announce at
/// any time, which leaves a class above it one frame of blocking.
#[test]
fn what_no_promise_covers_has_a_reason() {
    let reason = |alter: &dyn Fn(&mut Clocks)| {
        let mut net = line();
        let mut own = clocks(&net.plan, 1_000, Some(gptp(0, &[1, 3])));
        alter(&mut own);
        net.plan.clocks = Some(own);
        lone(&net.plan).reason.map(|reason| reason.to_string())
    };
    assert_eq!(reason(&|_| ()), None);
    let unpromised =
        "how far the clocks are apart is not known, and nothing promises it: write clocks: {within: 1 us}";
    assert_eq!(reason(&|own| own.within_ns = None).as_deref(), Some(unpromised));
    let transparent = "a talker or listener is a transparent clock, which does not keep the common time";
    let ends = |own: &mut Clocks| own.gptp.as_mut().unwrap().ieee_1588 = ieee_1588(Delay::PeerToPeer, &[2]);
    assert_eq!(reason(&ends).as_deref(), Some(transparent));
    let elects = |priorities: [u8; 3], pcp: u8| {
        move |own: &mut Clocks| {
            let quality =
                |priority1| ClockQuality { priority1, class: 248, accuracy: 254, variance: 1, priority2: 1 };
            let own = own.gptp.as_mut().unwrap();
            (own.slaves, own.pcp) = (Vec::new(), pcp);
            own.bmca = Some(Bmca {
                ports: vec![0, 1, 2, 3],
                clocks: priorities.map(quality).to_vec(),
                announce_interval_ns: 1_000_000_000,
                announce_receipt_timeout: 3,
                sync_receipt_timeout: 3,
            });
        }
    };
    let announces = "ptp messages at n1 -> n2 shares the class and has no bounded burst";
    assert_eq!(reason(&elects([1, 2, 2], 6)).as_deref(), Some(announces));
    assert_eq!(reason(&elects([1, 2, 2], 0)), None);
    // Another node wins: the reference would be steered.
    assert_eq!(reason(&elects([2, 2, 1], 0)).as_deref(), Some(unpromised));
    let mut net = line();
    let mut own = clocks(&net.plan, 1_000, Some(gptp(0, &[1, 3])));
    elects([1, 2, 2], 0)(&mut own);
    let alone = released(&net.plan);
    net.plan.clocks = Some(own);
    // The path trace of 127 nodes.
    assert_eq!(released(&net.plan) - alone, 2 * wire(86 + 8 * 127));
}

/// A Sync has no bound at `n0 -> n1`, below a class without a limit. That of n1 follows when it has come, and a frame beside
/// it waits for the same reason.
#[test]
fn a_message_that_follows_another_one_has_its_reason() {
    let mut net = line();
    net.plan.streams[0].route = vec![tsn_plan::Route { port: 2, parent: None }];
    net.plan.streams[0].talker = 1;
    net.plan.streams[0].listeners[0].route = 0;
    net.stream(
        "noise",
        &[0, 1],
        7,
        tsn_plan::Pattern::Poisson { mean_interval_ps: 1_000_000_000 },
        frame(1_230),
    );
    net.plan.clocks = Some(clocks(&net.plan, 1_000, Some(gptp(0, &[1, 3]))));
    let why = lone(&net.plan).release_reason.map(|reason| reason.to_string());
    let first = "ptp sync at n1 -> n2 shares the class";
    let cause = "noise shares the class and has no bounded burst";
    assert!(why.as_ref().is_some_and(|why| why.starts_with(first) && why.ends_with(cause)), "{why:?}");
}
