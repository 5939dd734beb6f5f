//! Filters, stream gates, meters and schedulers against closed forms, and in any plan against general rules.

use crate::common::policing::{add, filter, policing};
use crate::common::*;
use proptest::prelude::*;
use tsn_plan::{
    AtsGroup, AtsScheduler, Clocks, Fault, FlowMeter, LossModel, NodeClock, Policing, Preemption,
    Regeneration, StreamFilter, StreamGate, StreamGateEntry,
};

fn stream_gate(entries: &[(bool, Option<u8>, u64)]) -> StreamGate {
    let entry = |(open, ipv, interval_ns): &(bool, Option<u8>, u64)| StreamGateEntry {
        open: *open,
        ipv: *ipv,
        interval_ns: *interval_ns,
        octets_max: None,
    };
    let entries: Vec<_> = entries.iter().map(entry).collect();
    StreamGate {
        cycle_ns: entries.iter().map(|entry| entry.interval_ns).sum(),
        entries,
        ..StreamGate::default()
    }
}

fn meter(cir_bps: u64, cbs_octets: u64) -> FlowMeter {
    FlowMeter { cir_bps, cbs_octets, ..FlowMeter::default() }
}

/// Talker, bridge, listener; one frame per 100 us from the talker for 10 ms.
fn one_bridge(octets: u32) -> (Net, Vec<u32>, (u16, u16)) {
    let mut net = Net::new(10_000_000);
    let line = net.line(3, 2_000, GIGABIT, 500_000);
    net.stream("cam", &line, 3, periodic(100_000, 0), frame(octets));
    let ends = net.tap_ends(&line);
    (net, line, ends)
}

#[test]
fn a_meter_lets_its_burst_and_its_rate_pass() {
    let (mut net, line, _) = one_bridge(1_000);
    // 80 Mbit/s arrive; 40 Mbit/s and a burst of 3 frames may pass: of 100 frames 3 + floor(99 / 2).
    net.plan.policing = vec![Policing {
        node: line[1],
        filters: vec![StreamFilter { meter: Some(0), ..filter("cam") }],
        meters: vec![meter(40_000_000, 3_000)],
        ..Policing::default()
    }];
    let (_, counters) = run(&net.plan);
    let counted = &counters.policing[0].filters[0];
    assert_eq!((counted.matching_frames, counted.red_frames), (100, 100 - 52));
    assert_eq!(counters.streams[0].dropped_in_network, 48);
    assert_eq!(counters.streams[0].delivered["n2"], 52);
}

fn free_running(plan: &tsn_plan::Plan, node: u32, deviation_ppt: i64) -> Clocks {
    let clock = |own: u32| NodeClock {
        deviation_ppt: if own == node { deviation_ppt } else { 0 },
        ..NodeClock::default()
    };
    let nodes = (0..plan.nodes.len() as u32).map(clock).collect();
    Clocks { nodes, record_ns: 1_000_000_000, within_ns: None, gptp: None, faults: Vec::new() }
}

/// Meters and schedulers follow the oscillator of their node: its deviation in ppm is the deviation of their
/// rate.
#[test]
fn rates_are_those_of_the_nodes_oscillator() {
    // With a slow oscillator, a frame after an accepted one finds 999.9 octets and is too long; the next
    // frame finds a full bucket.
    for (ppm, passes) in [(0, 100), (100, 100), (-100, 50)] {
        let (mut net, line, _) = one_bridge(1_000);
        // One frame per 100 us is exactly the rate.
        net.plan.policing = vec![Policing {
            node: line[1],
            filters: vec![StreamFilter { meter: Some(0), ..filter("cam") }],
            meters: vec![meter(80_000_000, 1_000)],
            ..Policing::default()
        }];
        net.plan.clocks = Some(free_running(&net.plan, line[1], ppm * 1_000_000));
        let (_, counters) = run(&net.plan);
        assert_eq!(counters.streams[0].delivered["n2"], passes, "{ppm} ppm");
    }
    for ppm in [-100, 0, 100] {
        let (mut net, _) = two_streams(100_000_000, 10_000, true);
        // The listener's clock is correct.
        let arrival = net.tap(1, tsn_plan::Stage::Rx, tsn_plan::Point::End);
        net.plan.clocks = Some(free_running(&net.plan, 0, ppm * 1_000_000));
        let (sightings, _) = run(&net.plan);
        // 100 us by a clock that is 100 ppm fast are 10 ns less in true time.
        let left = stamps(&sightings, arrival, 0);
        assert_eq!([left[1] - left[0], left[2] - left[0]], [1, 2].map(|n| n * (100_000 - ppm / 10)));
    }
}

#[test]
fn a_gate_passes_what_comes_while_it_is_open() {
    let (mut net, line, ends) = one_bridge(1_000);
    // The last bit arrives 8 064 ns + 500 ns after each release: the first gate is closed until then, the
    // second one opens then.
    for (closed, passed) in [(8_565, 0), (8_564, 100)] {
        net.plan.policing = vec![Policing {
            node: line[1],
            filters: vec![StreamFilter { gate: Some(0), ..filter("cam") }],
            gates: vec![stream_gate(&[(false, None, closed), (true, None, 100_000 - closed)])],
            ..Policing::default()
        }];
        let (sightings, counters) = run(&net.plan);
        assert_eq!(counters.policing[0].filters[0].not_passing_frames, 100 - passed);
        assert_eq!(stamps(&sightings, ends.1, 0).len() as u64, passed);
    }
}

#[test]
fn a_gate_goes_by_its_nodes_clock() {
    let (mut net, line, ends) = one_bridge(1_000);
    net.plan.policing = vec![Policing {
        node: line[1],
        filters: vec![StreamFilter { gate: Some(0), ..filter("cam") }],
        gates: vec![stream_gate(&[(true, None, 50_000), (false, None, 50_000)])],
        ..Policing::default()
    }];
    // A bridge that is 1 000 ppm fast is 50 us ahead after 50 ms; at the start, frames arrive 8 564 ns into
    // the open half.
    net.plan.duration_ns = 200_000_000;
    net.plan.streams[0].stop_ns = 200_000_000;
    let clock = |deviation_ppt| NodeClock { deviation_ppt, ..NodeClock::default() };
    net.plan.clocks = Some(Clocks {
        nodes: vec![clock(0), clock(1_000_000_000), clock(0)],
        record_ns: 1_000_000_000,
        within_ns: None,
        gptp: None,
        faults: Vec::new(),
    });
    let (sightings, _) = run(&net.plan);
    let passed: Vec<i64> = stamps(&sightings, ends.0, 0);
    let came: Vec<u64> = sightings.iter().filter(|one| one.tap == ends.1).map(|one| one.seq).collect();
    assert_eq!(passed.len(), 2_000);
    // The k-th frame arrives at k * 100 us + 8 564 ns, and the clock of the bridge shows 0.1 % more.
    let expected: Vec<u64> =
        (0..2_000u64).filter(|k| ((k * 100_000 + 8_564) * 1_001 / 1_000) % 100_000 < 50_000).collect();
    assert_eq!(came, expected);
}

#[test]
fn one_that_is_too_long_blocks_the_stream() {
    let (mut net, line, _) = one_bridge(1_000);
    let sizes = tsn_plan::Size::Units { octets: vec![100, 2_000], most_per_frame: 1_472, overhead: 50 };
    net.plan.streams[0].size = sizes;
    for block_oversize in [false, true] {
        net.plan.policing = vec![Policing {
            node: line[1],
            filters: vec![StreamFilter { max_sdu_octets: Some(1_000), block_oversize, ..filter("cam") }],
            ..Policing::default()
        }];
        let (_, counters) = run(&net.plan);
        let counted = &counters.policing[0].filters[0];
        assert_eq!(counted.matching_frames, counters.streams[0].released);
        assert_eq!(counted.not_passing_sdu, counters.streams[0].dropped_in_network);
        assert!(counted.not_passing_sdu > 20);
        if block_oversize {
            assert!(counted.passing_sdu < 10);
        } else {
            assert!(counted.passing_sdu > 60);
        }
    }
}

#[test]
fn the_first_filter_that_matches_counts() {
    let (mut net, line, _) = one_bridge(1_000);
    let ingress = net.port(line[1], line[0]);
    let other = net.port(line[1], line[2]);
    net.plan.policing = vec![Policing {
        node: line[1],
        filters: vec![
            StreamFilter { ports: vec![other], ..filter("by another port") },
            StreamFilter { priority: Some(2), ..filter("of another priority") },
            StreamFilter { ports: vec![ingress], priority: Some(3), streams: vec![0], ..filter("this") },
            filter("any"),
        ],
        ..Policing::default()
    }];
    let (_, counters) = run(&net.plan);
    let matching: Vec<u64> =
        counters.policing[0].filters.iter().map(|filter| filter.matching_frames).collect();
    assert_eq!(matching, [0, 0, 100, 0]);
}

#[test]
fn an_internal_priority_chooses_the_queue_of_one_bridge() {
    let (mut net, line) = Net::row(10_000_000, 4);
    net.stream("cam", &line, 3, periodic(100_000, 0), frame(1_000));
    let (_, rx) = net.tap_ends(&line);
    net.plan.policing = vec![Policing {
        node: line[1],
        filters: vec![StreamFilter { gate: Some(0), ..filter("cam") }],
        gates: vec![stream_gate(&[
            (true, Some(6), 100_000),
            (true, None, 100_000),
            (true, Some(1), 100_000),
        ])],
        ..Policing::default()
    }];
    let (sightings, counters) = run(&net.plan);
    let sent = |port: u32| -> Vec<u64> {
        counters.ports[port as usize].classes.iter().map(|class| class.sent_frames).collect()
    };
    assert_eq!(sent(net.port(line[1], line[2])), [0, 33, 0, 33, 0, 0, 34, 0]);
    assert_eq!(sent(net.port(line[2], line[3])), [0, 0, 0, 100, 0, 0, 0, 0]);
    assert!(sightings.iter().filter(|one| one.tap == rx).all(|one| one.pcp == 3));
}

#[test]
fn a_yellow_frame_stays_yellow() {
    let (mut net, line) = Net::row(10_000_000, 4);
    net.stream("cam", &line, 3, periodic(100_000, 0), frame(1_000));
    // The first bridge marks every second frame, and the third node drops marked frames.
    let table = |node, own: FlowMeter| Policing {
        node,
        filters: vec![StreamFilter { meter: Some(0), ..filter("cam") }],
        meters: vec![own],
        ..Policing::default()
    };
    let marks = FlowMeter { eir_bps: 1_000_000_000, ebs_octets: 2_000, ..meter(40_000_000, 1_000) };
    let drops = FlowMeter { color_aware: true, ..meter(1_000_000_000, 2_000) };
    net.plan.policing = vec![table(line[1], marks), table(line[3], drops)];
    let (_, counters) = run(&net.plan);
    assert_eq!(counters.policing[0].filters[0].yellow_frames, 50);
    assert_eq!(counters.policing[1].filters[0].red_frames, 50);
}

#[test]
fn a_priority_is_regenerated_for_the_rest_of_the_way() {
    let (mut net, line) = Net::row(1_000_000, 4);
    net.stream("cam", &line, 3, periodic(100_000, 0), frame(1_000));
    let first = net.tap(net.port(line[0], line[1]), tsn_plan::Stage::Tx, tsn_plan::Point::Start);
    let second = net.tap(net.port(line[1], line[2]), tsn_plan::Stage::Tx, tsn_plan::Point::Start);
    let (_, rx) = net.tap_ends(&line);
    let port = net.port(line[1], line[0]);
    net.plan.policing = vec![Policing {
        node: line[1],
        regeneration: vec![Regeneration { port, pcp: [0, 1, 2, 5, 4, 5, 6, 7] }],
        ..Policing::default()
    }];
    let (sightings, counters) = run(&net.plan);
    for (tap, pcp) in [(first, 3), (second, 5), (rx, 5)] {
        assert!(sightings.iter().any(|one| one.tap == tap));
        assert!(sightings.iter().filter(|one| one.tap == tap).all(|one| one.pcp == pcp));
    }
    for (from, to, class) in [(0, 1, 3), (1, 2, 5), (2, 3, 5)] {
        let port = net.port(line[from], line[to]) as usize;
        assert_eq!(counters.ports[port].classes[class].sent_frames, 10);
    }
}

/// Two streams of two talkers through one bridge, each with a scheduler, in one group or in two.
fn two_streams(cir_bps: u64, cbs_bits: u64, own_groups: bool) -> (Net, Vec<u16>) {
    let mut net = Net::new(1_000_000);
    let bridge = net.node("bridge", 1_000);
    let listener = net.node("listener", 0);
    let talkers = [net.node("a", 0), net.node("b", 0)];
    net.link(bridge, listener, GIGABIT, 0);
    for (number, talker) in talkers.into_iter().enumerate() {
        net.link(talker, bridge, GIGABIT, 0);
        let name = format!("s{number}");
        net.stream(&name, &[talker, bridge, listener], 5, periodic(1_000_000, 0), frame(1_230));
        net.plan.streams[number].size =
            tsn_plan::Size::Units { octets: vec![3 * 1_000], most_per_frame: 1_000, overhead: 230 };
    }
    let tap = net.tap(0, tsn_plan::Stage::Tx, tsn_plan::Point::Start);
    let scheduler = |group| AtsScheduler { cir_bps, cbs_bits, group };
    net.plan.policing = vec![Policing {
        node: bridge,
        filters: (0..2)
            .map(|number| StreamFilter {
                streams: vec![number],
                scheduler: Some(number),
                ..filter(&format!("s{number}"))
            })
            .collect(),
        schedulers: vec![scheduler(0), scheduler(u32::from(own_groups))],
        groups: (0..2)
            .map(|number| AtsGroup { name: format!("g{number}"), max_residence_ns: 10_000_000 })
            .collect(),
        ..Policing::default()
    }];
    (net, vec![tap])
}

#[test]
fn two_shaped_streams_leave_at_their_rates() {
    // 1 230 + 20 octets are 10 000 bit: 10 us at 1 Gbit/s, 100 us at 100 Mbit/s. The last bits of three
    // frames of each stream arrive 9 904, 19 904 and 29 904 ns after the release; queues follow after 1 us.
    let (net, taps) = two_streams(100_000_000, 10_000, true);
    let (sightings, counters) = run(&net.plan);
    let first = 9_904 + 1_000 + 64;
    for (stream, wait) in [(0, 0), (1, 10_000)] {
        let expected: Vec<i64> = (0..3).map(|n| first + n * 100_000 + wait).collect();
        assert_eq!(stamps(&sightings, taps[0], stream), expected, "stream {stream}");
    }
    // Waiting frames take room: the first ones have left when the last ones arrive.
    assert_eq!(counters.ports[0].classes[5].most_frames, 4);
}

#[test]
fn one_group_is_one_queue() {
    let (net, taps) = two_streams(100_000_000, 10_000, false);
    let (sightings, _) = run(&net.plan);
    // Frames arrive from both talkers in turn, so each waits for the one before, and no stream is faster.
    let first = 9_904 + 1_000 + 64;
    for (stream, wait) in [(0, 0), (1, 10_000)] {
        let expected: Vec<i64> = (0..3).map(|n| first + n * 100_000 + wait).collect();
        assert_eq!(stamps(&sightings, taps[0], stream), expected, "stream {stream}");
    }
    // With a bucket for all frames of the second stream, its frames still wait behind the first stream's.
    let (mut net, taps) = two_streams(100_000_000, 10_000, false);
    net.plan.policing[0].schedulers[1].cbs_bits = 1_000_000;
    let (sightings, _) = run(&net.plan);
    assert_eq!(
        stamps(&sightings, taps[0], 1),
        [first + 10_000, first + 110_000, first + 210_000],
        "behind the other stream's"
    );
}

#[test]
fn who_would_stay_too_long_is_dropped() {
    let (mut net, taps) = two_streams(100_000_000, 10_000, true);
    // The third frame of each stream would wait 200 - 20 us, the second one 100 - 10 us; without the second
    // one, the third would wait 100 - 20 us.
    for (most, left) in [(180_000, 3), (179_999, 2), (90_000, 2), (89_999, 2), (79_999, 1)] {
        net.plan.policing[0].groups.iter_mut().for_each(|group| group.max_residence_ns = most);
        let (sightings, counters) = run(&net.plan);
        for stream in 0..2 {
            assert_eq!(stamps(&sightings, taps[0], stream).len(), left, "{most}");
        }
        assert_eq!(counters.policing[0].groups[0].discarded_frames, 3 - left as u64);
    }
}

#[test]
fn frames_that_wait_count_against_the_limit() {
    let (mut net, taps) = two_streams(100_000_000, 10_000, true);
    net.plan.ports[0].classes[5].limit_frames = Some(2);
    let (sightings, counters) = run(&net.plan);
    // The first frames of both streams leave (one waits for the other's end); then there is room for two.
    assert_eq!(counters.ports[0].classes[5].most_frames, 2);
    let left: usize = (0..2).map(|stream| stamps(&sightings, taps[0], stream).len()).sum();
    assert_eq!(counters.ports[0].classes[5].dropped_frames, 6 - left as u64);
    assert!(counters.ports[0].classes[5].dropped_frames >= 2);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn whatever_filters_do_frames_are_accounted_for(
        mut plan in random::plan(),
        tables in policing(),
        beside in 0..4u8,
        port in any::<prop::sample::Index>(),
        regenerated in any::<[u8; 8]>(),
    ) {
        add(&mut plan, tables);
        let port = port.index(plan.ports.len()) as u32;
        let node = plan.ports[port as usize].node;
        let table = Regeneration { port, pcp: regenerated.map(|pcp| pcp & 7) };
        match plan.policing.iter_mut().find(|policing| policing.node == node) {
            Some(policing) => policing.regeneration.push(table),
            None => plan.policing.push(Policing { node, regeneration: vec![table], ..Policing::default() }),
        }
        match beside {
            1 => plan.faults = vec![Fault::Loss {
                port,
                from_ns: 0,
                until_ns: 1_500_000,
                model: LossModel::Bernoulli { loss_ppm: 200_000 },
            }],
            2 => plan.nodes.iter_mut().for_each(|node| node.cut_through_octets = Some(100)),
            3 => for port in &mut plan.ports {
                port.classes.iter_mut().for_each(|class| class.cbs = None);
                port.preemption = Some(Preemption { express: 0xf0, ..Preemption::default() });
            },
            _ => {}
        }
        plan.check().unwrap();
        let (sightings, counters) = run(&plan);
        for policing in &counters.policing {
            for filter in &policing.filters {
                prop_assert_eq!(filter.matching_frames, filter.passing_sdu + filter.not_passing_sdu);
                prop_assert_eq!(filter.passing_sdu, filter.passing_frames + filter.not_passing_frames);
            }
        }
        let again = run(&plan);
        prop_assert!(again.0 == sightings && again.1 == counters, "the same plan ran differently");
    }
}

/// Filters that pass all frames change nothing except the time at which member streams are counted.
#[test]
fn filters_without_a_rule_change_nothing() {
    let mut net = Net::new(2_000_000);
    let bridges = [net.node("b0", 1_500), net.node("b1", 700)];
    let ends: Vec<u32> = (0..4).map(|number| net.node(&format!("e{number}"), 0)).collect();
    net.link(bridges[0], bridges[1], GIGABIT, 300_000);
    for (number, end) in ends.iter().enumerate() {
        net.link(*end, bridges[number % 2], GIGABIT, 100_000);
    }
    for (number, (from, to)) in [(0, 1), (2, 3), (1, 2), (3, 0)].into_iter().enumerate() {
        let path = [ends[from], bridges[from % 2], bridges[to % 2], ends[to]];
        let path: Vec<u32> = path
            .into_iter()
            .enumerate()
            .filter(|(n, _)| *n != 2 || from % 2 != to % 2)
            .map(|(_, n)| n)
            .collect();
        let number = number as u64;
        net.stream(
            &format!("s{number}"),
            &path,
            number as u8,
            periodic(30_011 + 17 * number, 1_003 * number),
            frame(900 + 37 * number as u32),
        );
    }
    for port in 0..net.plan.ports.len() as u32 {
        net.tap(port, tsn_plan::Stage::Tx, tsn_plan::Point::Start);
        net.tap(port, tsn_plan::Stage::Rx, tsn_plan::Point::End);
    }
    let (mut sightings, mut counters) = run(&net.plan);
    net.plan.policing = (0..net.plan.nodes.len() as u32)
        .map(|node| Policing { node, filters: vec![filter("any")], ..Policing::default() })
        .collect();
    let (mut same, mut counted) = run(&net.plan);
    let key = |one: &tsn_observation::Sighting| (one.tap, one.t_ns, one.stream, one.seq);
    same.sort_by_key(key);
    sightings.sort_by_key(key);
    assert!(same.len() > 800);
    assert_eq!(same, sightings);
    let matching: u64 = counted.policing.iter().map(|node| node.filters[0].matching_frames).sum();
    assert_eq!(matching, counted.frame_hops);
    (counted.policing, counted.events, counters.events) = (Vec::new(), 0, 0);
    assert_eq!(counted, counters);
}
