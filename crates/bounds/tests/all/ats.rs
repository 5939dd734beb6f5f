//! Bounds of ports behind ATS schedulers: no delay exceeds them, shaping is for free, and two streams have a
//! closed form.

use crate::common::shaped::{shape, shape_as};
use crate::common::*;
use proptest::prelude::*;
use tsn_bounds::bounds;
use tsn_plan::{Clocks, NodeClock, Pattern, Plan, Point, Size, Stage};

/// The longest delay of each stream and listener in ns, from its nominal release on.
fn longest(plan: &Plan) -> Vec<(String, String, i64, u64)> {
    let mut tapped = plan.clone();
    tapped.taps.clear();
    let mut ends = Vec::new();
    for (number, stream) in plan.streams.iter().enumerate() {
        for listener in &stream.listeners {
            let port = plan.ports[stream.route[listener.route as usize].port as usize].peer;
            let tap = tapped.taps.len() as u16;
            tapped.taps.push(tsn_plan::Tap {
                name: format!("{tap}"),
                port,
                stage: Stage::Rx,
                point: Point::End,
                granularity_ns: 1,
            });
            ends.push((number, listener.node, tap));
        }
    }
    let (sightings, _) = run(&tapped);
    let mut found = Vec::new();
    for (number, node, tap) in ends {
        let stream = &plan.streams[number];
        let Pattern::Periodic { period_ns, offset_ns, .. } = stream.pattern else { continue };
        // Only where a data unit is one frame, the sequence number is that of the unit.
        let Size::Frame { .. } = stream.size else { continue };
        let seen: Vec<i64> = sightings
            .iter()
            .filter(|one| one.tap == tap && one.stream == number as u32)
            .map(|one| one.t_ns.unwrap() - (stream.start_ns + offset_ns + one.seq * period_ns) as i64)
            .collect();
        if let Some(most) = seen.iter().max() {
            let name = plan.nodes[node as usize].name.clone();
            found.push((stream.name.clone(), name, *most, seen.len() as u64));
        }
    }
    found
}

/// Removes everything but the input of ATS: no gates, no CBS, no limits, only periodic flows; with `at_once`,
/// all are released at once.
fn tame(plan: &mut Plan, at_once: bool) {
    for port in &mut plan.ports {
        port.gates = None;
        port.classes.iter_mut().for_each(|class| (class.cbs, class.limit_frames) = (None, None));
    }
    for (number, stream) in plan.streams.iter_mut().enumerate() {
        let (period, jitter) = match stream.pattern {
            Pattern::Periodic { period_ns, jitter_ns, .. } => (period_ns.max(100_000), jitter_ns),
            _ => (150_000 + 10_000 * number as u64, 0),
        };
        let offset_ns = if at_once { 0 } else { 13_000 * number as u64 };
        stream.pattern = Pattern::Periodic { period_ns: period, offset_ns, jitter_ns: jitter };
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, ..ProptestConfig::default() })]

    /// With the least rate and burst that hold each flow, every flow keeps its bound, and at the first port
    /// the bound is the same as without shaping (shaping is for free).
    #[test]
    fn no_frame_exceeds_its_bound(mut plan in random::plan(), at_once in any::<bool>(), more in 4..8u64) {
        tame(&mut plan, at_once);
        shape(&mut plan, more);
        plan.check().unwrap();
        let found = bounds(&plan);
        for (stream, listener, most, _) in longest(&plan) {
            let flow = found.flows.iter().find(|flow| (&flow.stream, &flow.listener) == (&stream, &listener)).unwrap();
            let jitter = match plan.streams.iter().find(|own| own.name == stream).unwrap().pattern {
                Pattern::Periodic { jitter_ns, .. } => jitter_ns as i64,
                _ => 0,
            };
            if let Some(upper) = flow.release_upper_ps {
                prop_assert!(most <= (upper + 999) / 1_000 + jitter, "{stream} to {listener}: {most} ns, not {upper} ps");
            }
            prop_assert!(most >= flow.release_lower_ps / 1_000);
        }
    }

    /// Over one queue and one group, the worst delay from the release to eligibility is the worst delay of
    /// the queue.
    #[test]
    fn shaping_is_for_free(
        sizes in prop::collection::vec((64..1_523u32, 100_000..400_000u64, 0..50_000u64), 1..6),
        cross in 64..1_523u32,
    ) {
        // One bridge: a talker with its queue, a scheduler group, and a queue without other streams.
        let mut net = Net::new(4_000_000);
        let line = net.line(3, 1_000, 100_000_000, 0);
        // The link behind the scheduler is so fast that only earlier frames delay a frame.
        for port in 2..4 {
            net.plan.ports[port].rate_bps = 100_000_000_000;
        }
        for (number, (octets, period, offset)) in sizes.iter().enumerate() {
            net.stream(&format!("s{number}"), &line, 5, periodic(period * sizes.len() as u64, *offset), frame(*octets));
        }
        net.stream("cross", &line[..2], 1, Pattern::Saturating { backlog: 2 }, frame(cross));
        let mut shaped = net.plan.clone();
        shape(&mut shaped, 4);
        let (free, waiting) = (longest(&net.plan), longest(&shaped));
        let most = |found: &[(String, String, i64, u64)]| found.iter().map(|one| one.2).max().unwrap_or(0);
        // Frames that become eligible together leave one after another.
        let together: i64 = sizes.iter().map(|(octets, ..)| i64::from((octets + 20) * 8 / 100 + 1)).sum();
        let (before, after) = (most(&free), most(&waiting));
        let found: Option<Vec<i64>> = bounds(&net.plan).flows.iter().filter(|flow| flow.stream != "cross").map(|flow| flow.release_upper_ps).collect();
        // If more arrives than the first link carries, there is no bound to compare.
        let Some(bound) = found.and_then(|found| found.into_iter().max()) else { return Ok(()) };
        let bound = bound / 1_000;
        prop_assert!(after <= bound + together + 1, "{after} ns with shaping, {before} without, bound {bound}");
    }
}

#[test]
fn two_streams_have_the_delay_of_their_queue_and_of_their_meeting() {
    // Two talkers, one bridge, frames of 1 230 octets (10 us at 1 Gbit/s), each shaped with one frame.
    let mut net = Net::new(1_000_000);
    let [a, b, bridge, end] = ["a", "b", "bridge", "end"].map(|name| net.node(name, 1_000));
    net.link(a, bridge, GIGABIT, 0);
    net.link(b, bridge, GIGABIT, 0);
    net.link(bridge, end, GIGABIT, 0);
    for (name, talker) in [("one", a), ("two", b)] {
        net.stream(name, &[talker, bridge, end], 5, periodic(100_000, 0), frame(1_230));
    }
    shape(&mut net.plan, 4);
    let found = bounds(&net.plan);
    let one = 1_238 * 8_000;
    for flow in &found.flows {
        // The sum: the frame on its own link, the bridge, the other stream's frame with its gap, the frame on
        // the last link.
        assert_eq!(flow.release_upper_ps, Some(one + 1_000_000 + 10_000_000 + one), "{}", flow.stream);
        assert_eq!(flow.upper_ps, Some(one + 1_000_000 + 10_000_000 + one - 64_000), "{}", flow.stream);
    }
    // A frame that waits for a scheduler is not yet in the queue.
    let queue = found.ports.iter().find(|port| port.port == "bridge -> end").unwrap().classes[0].clone();
    assert_eq!((queue.backlog_frames, queue.reason), (None, Some(tsn_bounds::Reason::Held)));
    // The stamp is at the frame's end when it leaves the talker, and at its begin when it arrives at the
    // listener.
    let mut stamped = net.plan.clone();
    for (port, stage, point) in [(0, Stage::Tx, Point::End), (5, Stage::Rx, Point::Start)] {
        let name = format!("{stage:?}");
        stamped.taps.push(tsn_plan::Tap { name, port, stage, point, granularity_ns: 1 });
    }
    let upper = bounds(&stamped).flows[0].upper_ps;
    assert_eq!(upper, Some(one + 1_000_000 + 10_000_000 + one - one - 1_230 * 8_000));
    let worst = longest(&net.plan).iter().map(|one| one.2).max();
    assert_eq!(worst, Some((2 * one + 11_000_000) / 1_000));
}

#[test]
fn a_flow_that_exceeds_its_scheduler_has_no_bound_but_others_keep_theirs() {
    let mut net = Net::new(1_000_000);
    let [a, b, bridge, end] = ["a", "b", "bridge", "end"].map(|name| net.node(name, 1_000));
    net.link(a, bridge, GIGABIT, 0);
    net.link(b, bridge, GIGABIT, 0);
    net.link(bridge, end, GIGABIT, 0);
    net.stream("good", &[a, bridge, end], 5, periodic(100_000, 0), frame(1_230));
    net.stream("bad", &[b, bridge, end], 5, periodic(100_000, 0), frame(1_230));
    shape(&mut net.plan, 4);
    net.plan.streams[1].pattern = periodic(20_000, 0);
    let found = bounds(&net.plan);
    assert_eq!(found.flows[1].release_upper_ps, None);
    let bound = found.flows[0].release_upper_ps.unwrap();
    let worst = longest(&net.plan).into_iter().find(|one| one.0 == "good").unwrap().2;
    assert!(worst <= bound / 1_000 && bound / 1_000 < 40_000, "{worst} {bound}");
}

#[test]
fn what_becomes_eligible_together_waits_for_each_other() {
    let mut net = Net::new(1_000_000);
    let line = net.line(3, 1_000, GIGABIT, 0);
    for name in ["one", "two"] {
        net.stream(name, &line, 5, periodic(100_000, 0), frame(1_230));
    }
    // The frames arrive over the link one after another, so without schedulers neither of them waits behind
    // it.
    let alone = 1_238 * 8_000;
    assert_eq!(bounds(&net.plan).flows[0].hops[1].upper_ps, Some(alone));
    shape(&mut net.plan, 4);
    assert_eq!(bounds(&net.plan).flows[0].hops[1].upper_ps, Some(10_000_000 + alone));
}

#[test]
fn copies_keep_their_bounds_between_where_they_part_and_meet() {
    let mut plan = crate::common::wrong::two_paths([GIGABIT; 2], &[(5, 100_000, 900), (5, 100_000, 700)]);
    let plain = bounds(&plan).flows[0].release_upper_ps.unwrap();
    shape(&mut plan, 8);
    let flow = bounds(&plan).flows[0].clone();
    let found = flow.release_upper_ps.ok_or(flow.release_reason).unwrap();
    assert!(found >= plain);
    let send = plan.taps.len() as u16;
    for (port, stage) in [(0, tsn_plan::Stage::Send), (11, tsn_plan::Stage::Rx)] {
        let (name, point) = (format!("{stage:?}"), tsn_plan::Point::End);
        plan.taps.push(tsn_plan::Tap { name, port, stage, point, granularity_ns: 1 });
    }
    let (sightings, _) = run(&plan);
    let worst = delays(&sightings, (send, send + 1), 0).into_iter().max().unwrap();
    assert!(worst * 1_000 <= found as i64 && worst > 10_000, "{worst} {found}");
}

/// 10,000 bit every 100 us or 300 us, up to 50 us late, in `flows` flows of one group.
fn late(flows: u64, period_ns: u64, cir_bps: u64, cbs_bits: u64) -> Option<i64> {
    let mut net = Net::new(1_000_000);
    let line = net.line(3, 1_000, GIGABIT, 0);
    for number in 0..flows {
        let pattern = Pattern::Periodic { period_ns, offset_ns: 0, jitter_ns: 50_000 };
        net.stream(&format!("s{number}"), &line, 5, pattern, frame(1_230));
    }
    shape(&mut net.plan, 4);
    for own in &mut net.plan.policing[0].schedulers {
        (own.cir_bps, own.cbs_bits) = (cir_bps, cbs_bits);
    }
    bounds(&net.plan).flows[0].release_upper_ps
}

/// The least rates and bursts that suffice, and one bit less.
#[test]
fn a_scheduler_lets_pass_what_keeps_its_rate_and_burst() {
    let bounded = |period_ns, cir_bps, cbs_bits| late(2, period_ns, cir_bps, cbs_bits).is_some();
    assert!(bounded(100_000, 100_000_000, 15_000));
    assert!(!bounded(100_000, 99_999_999, 15_000));
    assert!(!bounded(100_000, 100_000_000, 14_999));
    // 33.3 Mbit/s and 11,666.7 bit.
    assert!(bounded(300_000, 33_333_334, 11_667));
    assert!(!bounded(300_000, 33_333_333, 11_667));
    assert!(!bounded(300_000, 33_333_334, 11_666));
    // A rate for frames that are 50 us apart needs no burst for that.
    assert!(bounded(100_000, 200_000_000, 10_000));
    assert!(!bounded(100_000, 199_999_999, 10_000));
}

/// Frames of one flow wait for their own bucket only: two frames that come 50 us apart leave it 100 us apart.
#[test]
fn alone_in_its_group_a_flow_waits_for_what_its_bucket_lacks() {
    let enough = late(1, 100_000, 100_000_000, 15_000).unwrap();
    let more = |cir_bps, cbs_bits| late(1, 100_000, cir_bps, cbs_bits).map(|found| found - enough);
    assert_eq!(more(100_000_000, 10_000), Some(50_000_000));
    assert_eq!(more(100_000_000, 12_500), Some(25_000_000));
    assert_eq!(more(125_000_000, 10_000), Some(30_000_000));
    // A rate that is too low; a frame that the bucket never holds.
    assert_eq!((more(99_999_999, 10_000), more(100_000_000, 9_999)), (None, None));
    // Two may come at once, 30,000 bit within 50 us, so that the third leaves the bucket 100 us later.
    let late = |jitter_ns: u64| {
        let mut net = Net::new(2_000_000);
        let line = net.line(3, 1_000, GIGABIT, 0);
        let pattern = Pattern::Periodic { period_ns: 100_000, offset_ns: 0, jitter_ns };
        net.stream("s", &line, 5, pattern, frame(1_230));
        shape_as(&mut net.plan, [4, 4], false);
        let found = bounds(&net.plan).flows[0].release_upper_ps.unwrap() / 1_000 + jitter_ns as i64;
        let worst = longest(&net.plan).iter().map(|one| one.2).max().unwrap();
        assert!(worst <= found, "{worst} {found}");
        found - jitter_ns as i64
    };
    assert_eq!(late(150_000) - late(0), 150_000 + 10_000);
}

/// A stream that passed one scheduler passes the next one, too, if its rate and its burst are at least as
/// high.
#[test]
fn a_scheduler_behind_another_one_has_to_hold_no_less() {
    let bounded = |cir_bps: u64, cbs_bits: u64| {
        let mut net = Net::new(1_000_000);
        let line = net.line(4, 1_000, GIGABIT, 0);
        net.stream("s", &line, 5, periodic(100_000, 0), frame(1_230));
        shape(&mut net.plan, 4);
        let own = &mut net.plan.policing[1].schedulers[0];
        (own.cir_bps, own.cbs_bits) = (cir_bps, cbs_bits);
        bounds(&net.plan).flows[0].release_upper_ps.is_some()
    };
    assert!(bounded(100_000_000, 10_000) && bounded(100_000_001, 10_001));
    assert!(!bounded(99_999_999, 10_000) && !bounded(100_000_000, 9_999));
    assert!(!bounded(99_999_999, 20_000) && !bounded(200_000_000, 9_999));
}

/// Two flows whose first bridge processes frames for up to 1 us more: frames that become eligible 100 us apart may follow
/// each other 99 us apart, so that the next bucket has to hold 100 bit more.
#[test]
fn processing_that_varies_brings_frames_closer_behind_a_scheduler() {
    let bounded = |cbs_bits: u64, up_to_ns: u64| {
        let mut net = Net::new(1_000_000);
        let line = net.line(4, 1_000, GIGABIT, 0);
        for name in ["one", "two"] {
            net.stream(name, &line, 5, periodic(100_000, 0), frame(1_230));
        }
        shape(&mut net.plan, 4);
        net.plan.nodes[line[1] as usize].further = Some(tsn_plan::Further::Uniform { up_to_ns });
        net.plan.policing[1].schedulers.iter_mut().for_each(|own| own.cbs_bits = cbs_bits);
        bounds(&net.plan).flows[0].release_upper_ps.is_some()
    };
    assert_eq!([10_000, 10_099, 10_100].map(|bits| bounded(bits, 1_000)), [false, false, true]);
    assert!(bounded(10_000, 0));
}

/// Nodes at which paths part, merge, or at which a member stream gets its tag.
#[test]
fn copies_keep_their_bounds_behind_schedulers_where_they_part_and_meet() {
    for (node, tagged) in [1, 2, 3, 4].into_iter().flat_map(|node| [(node, true), (node, false)]) {
        let mut plan = crate::common::wrong::two_paths([GIGABIT; 2], &[(5, 100_001, 900), (5, 100_001, 700)]);
        plan.streams[0].redundancy.as_mut().unwrap().copies =
            if tagged { vec![0, 1, 2, 1, 2, 0] } else { Vec::new() };
        shape(&mut plan, 8);
        plan.policing.retain(|policing| policing.node == node);
        let flow = bounds(&plan).flows[0].clone();
        let found = flow.release_upper_ps.ok_or(flow.release_reason).unwrap() / 1_000 + 1;
        let worst = longest(&plan).into_iter().find(|one| one.0 == plan.streams[0].name).unwrap().2;
        assert!(worst <= found && found < 3 * worst, "{node} {tagged}: {worst} {found}");
    }
}

/// Two flows of 10,000 bit every 100 us. Behind the first scheduler their frames get a tag of 6 octets, so the next one has
/// to let pass more.
#[test]
fn a_tag_makes_what_a_scheduler_lets_pass_longer() {
    let bounded = |cir_bps: u64, cbs_bits: u64| {
        let mut plan = crate::common::wrong::two_paths([GIGABIT; 2], &[]);
        plan.streams[0].size = frame(1_230);
        let name = "other".into();
        plan.streams.push(tsn_plan::Stream { name, ..plan.streams[0].clone() });
        shape(&mut plan, 4);
        plan.policing.retain(|policing| [1, 2].contains(&policing.node));
        for own in &mut plan.policing[1].schedulers {
            (own.cir_bps, own.cbs_bits) = (cir_bps, cbs_bits);
        }
        bounds(&plan).flows[0].release_reason.is_none()
    };
    assert!(bounded(100_480_000, 10_048));
    assert!(!bounded(100_479_999, 10_048) && !bounded(100_480_000, 10_047));
}

/// One scheduler for two flows of 10,000 bit every 100 us each: its bucket has to hold both.
#[test]
fn flows_of_one_scheduler_count_together() {
    let bounded = |cir_bps: u64, cbs_bits: u64| {
        let mut net = Net::new(1_000_000);
        let line = net.line(3, 1_000, GIGABIT, 0);
        for name in ["one", "two"] {
            net.stream(name, &line, 5, periodic(100_000, 0), frame(1_230));
        }
        shape(&mut net.plan, 4);
        let table = &mut net.plan.policing[0];
        table.filters[1].scheduler = Some(0);
        (table.schedulers[0].cir_bps, table.schedulers[0].cbs_bits) = (cir_bps, cbs_bits);
        let found = bounds(&net.plan).flows[0].release_upper_ps;
        let worst = longest(&net.plan).iter().map(|one| one.2).max().unwrap();
        found.inspect(|found| assert!(worst <= (found + 999) / 1_000, "{worst} {found}"));
        found
    };
    let enough = bounded(200_000_000, 20_000).unwrap();
    assert_eq!(bounded(199_999_999, 20_000), None);
    // 10,000 bit wait for their tokens: 19.904 us behind the other frame, 50 us, 1 us, and behind it once more.
    assert_eq!(bounded(200_000_000, 10_000), Some(2 * 19_904_000 + 51_000_000));
    assert!(enough < 2 * 19_904_000 + 51_000_000);
}

/// The filter and the scheduler of the first flow also take the frames of another one, which end in the node.
#[test]
fn frames_that_end_in_the_node_take_their_part_of_a_scheduler_group() {
    let with = |period_ns: u64, matches: bool| {
        let mut net = Net::new(1_000_000);
        let line = net.line(3, 1_000, GIGABIT, 0);
        net.stream("on", &line, 5, periodic(100_000, 0), frame(1_230));
        net.stream("ends", &line[..2], 5, periodic(period_ns, 0), frame(1_230));
        shape(&mut net.plan, 4);
        let policing = net.plan.policing.iter_mut().find(|own| own.node == line[1]).unwrap();
        if matches {
            // A scheduler of its own in the same group: 10,000 bit every 100 us.
            let scheduler = policing.schedulers[0].clone();
            policing.schedulers.push(scheduler);
            let mut filter = policing.filters[0].clone();
            (filter.streams, filter.scheduler) = (vec![1], Some(policing.schedulers.len() as u32 - 1));
            policing.filters.push(filter);
        }
        let found = bounds(&net.plan).flows[0].clone();
        if let Some(bound) = found.release_upper_ps {
            let worst = longest(&net.plan).into_iter().find(|one| one.0 == "on").unwrap().2;
            assert!(worst <= bound / 1_000, "{worst} {bound}");
        }
        found.release_reason.map(|reason| reason.to_string())
    };
    assert_eq!((with(100_000, false), with(100_000, true), with(20_000, false)), (None, None, None));
    let told = with(20_000, true).unwrap();
    assert!(told.contains("exceed their schedulers' rates"), "{told}");
}

/// A talker and a bridge of which the second is `ppm` slow, for 10 ms and 1 ms more; `more` / 400 is the rate in place of
/// the least one.
fn on_clocks(flows: u32, more: u64, ppm: i64) -> Plan {
    let mut net = Net::new(10_000_000);
    let line = net.line(3, 1_000, GIGABIT, 0);
    for number in 0..flows {
        net.stream(&format!("s{number}"), &line, 5, periodic(100_000, 0), frame(1_230));
    }
    net.plan.drain_ns = 1_000_000;
    shape(&mut net.plan, 4);
    net.plan.policing[0].schedulers.iter_mut().for_each(|own| own.cir_bps = own.cir_bps * more / 400);
    let nodes = [0, -ppm, 0].map(|ppm| NodeClock { deviation_ppt: ppm * 1_000_000, ..NodeClock::default() });
    net.plan.clocks = Some(Clocks {
        nodes: nodes.into(),
        record_ns: 1_000_000,
        within_ns: None,
        gptp: None,
        faults: vec![],
    });
    net.plan.check().unwrap();
    net.plan
}

fn most(plan: &Plan) -> i64 {
    bounds(plan)
        .flows
        .iter()
        .map(|flow| flow.release_upper_ps.ok_or(&flow.release_reason).unwrap())
        .max()
        .unwrap()
}

/// A bucket that fills by an oscillator may be too slow for all of the run; a rate that is 1 % higher is enough. The bound
/// counts 100 ppm twice, as the talker may be so fast.
#[test]
fn a_slow_oscillator_delays_frames_more_and_more() {
    for flows in [1, 2] {
        // Of two flows, both frames may become eligible at once.
        let together = 10_000_000 * i64::from(flows - 1);
        let both = |more| {
            let plan = on_clocks(flows, more, 100);
            let worst = longest(&plan).iter().map(|one| one.2).max().unwrap() * 1_000;
            (worst, most(&plan) - together - worst)
        };
        let ((late, spare), (quick, with_margin)) = (both(400), both(404));
        assert!(late - quick > 900_000, "{late} {quick}");
        assert!((1_000_000..1_400_000).contains(&spare), "{spare}");
        assert!((0..20_000).contains(&with_margin), "{with_margin}");
    }
}

/// Clocks that do not differ cost what is rounded between frames: twice 16 ps for each of 111 frames and two more.
#[test]
fn instants_by_an_oscillator_are_rounded_between_frames() {
    let plan = on_clocks(1, 404, 0);
    let plain = Plan { clocks: None, ..plan.clone() };
    let more = most(&plan) - most(&plain);
    assert!((111 * 32..=113 * 32 + 1_000).contains(&more), "{more}");
}

/// The instant of eligibility follows from the frequency at the frame's arrival. If that may change by 200 ppm within a
/// residence time of 1 ms, frames come 0.2 us closer; of 2 ms, 0.4 us. For two flows of 200 Mbit/s, that are 80 bit more
/// that wait for a bucket of 800 Mbit/s.
#[test]
fn a_frequency_that_changes_brings_frames_closer_by_what_they_may_wait() {
    let with = |residence_ns: u64, changes: bool| {
        let mut net = Net::new(10_000_000);
        let line = net.line(4, 1_000, GIGABIT, 0);
        for name in ["one", "two"] {
            net.stream(name, &line, 5, periodic(100_000, 0), frame(1_230));
        }
        shape(&mut net.plan, 4);
        net.plan.policing[0].schedulers.iter_mut().for_each(|own| own.cir_bps *= 2);
        net.plan.policing[0].groups[0].max_residence_ns = residence_ns;
        net.port_mut(line[2], line[3]).rate_bps = 10 * GIGABIT;
        let shared = &mut net.plan.policing[1];
        shared.filters[1].scheduler = Some(0);
        (shared.schedulers[0].cir_bps, shared.schedulers[0].cbs_bits) = (800_000_000, 20_000);
        let change = tsn_plan::Change { at_ns: 5_000_000, deviation_ppt: -100_000_000 };
        let mut nodes = vec![NodeClock::default(); 4];
        nodes[1].deviation_ppt = 100_000_000;
        nodes[1].changes = if changes { vec![change] } else { vec![] };
        net.plan.clocks =
            Some(Clocks { nodes, record_ns: 1_000_000, within_ns: None, gptp: None, faults: vec![] });
        net.plan.check().unwrap();
        most(&net.plan)
    };
    let closer = with(2_000_000, true) - with(1_000_000, true);
    assert!((99_000..=101_000).contains(&closer), "{closer}");
    assert_eq!(with(2_000_000, false), with(1_000_000, false));
}

/// The first bridge's oscillator is fast by 100 ppm: behind it, two flows of 100 Mbit/s may come with 200.02 Mbit/s. A bucket
/// of 200 Mbit/s delays them by 1.1 us in 11 ms, one of 200.02 Mbit/s does not.
#[test]
fn behind_a_fast_oscillator_frames_come_faster() {
    let with = |cir_bps: u64| {
        let mut net = Net::new(10_000_000);
        net.plan.drain_ns = 1_000_000;
        let line = net.line(4, 1_000, GIGABIT, 0);
        for name in ["one", "two"] {
            net.stream(name, &line, 5, periodic(100_000, 0), frame(1_230));
        }
        shape(&mut net.plan, 4);
        net.plan.policing[0].schedulers.iter_mut().for_each(|own| own.cir_bps = 100_000_000);
        let shared = &mut net.plan.policing[1];
        shared.filters[1].scheduler = Some(0);
        (shared.schedulers[0].cir_bps, shared.schedulers[0].cbs_bits) = (cir_bps, 20_000);
        let mut nodes = vec![NodeClock::default(); 4];
        nodes[1].deviation_ppt = 100_000_000;
        net.plan.clocks =
            Some(Clocks { nodes, record_ns: 1_000_000, within_ns: None, gptp: None, faults: vec![] });
        net.plan.check().unwrap();
        most(&net.plan)
    };
    let slower = with(200_000_000) - with(200_020_000);
    assert!((1_090_000..1_110_000).contains(&slower), "{slower}");
    assert!(with(200_020_000) - with(200_100_000) < 10_000);
}
