//! Bounds along paths, in which a burst counts once: values by hand, and those of another tool.

use crate::common::*;
use std::collections::HashMap;
use tsn_bounds::{Bounds, bounds};
use tsn_plan::{
    AtsGroup, AtsScheduler, Destination, GateChange, GateEntry, Gates, Merge, Pattern, Plan, Point, Policing,
    Redundancy, Route, Size, Stage, StreamFilter, StreamGate, StreamGateEntry,
};

const RATE: u64 = 100_000_000;
/// A frame of 1000 octets with preamble and gap, and the part until its last bit, in ps.
const WIRE: i64 = 80_000_000;
const SENT: i64 = 79_040_000;
const OCTETS: u32 = 980;

/// Streams of class 5 over bridges, each from a talker and to a listener of its own.
fn network(paths: &[Vec<u32>], period_ns: u64) -> Net {
    let mut net = Net::new(4_000_000);
    let mut bridges: HashMap<u32, u32> = HashMap::new();
    for (number, path) in paths.iter().enumerate() {
        let mut whole: Vec<u32> = path
            .iter()
            .map(|bridge| *bridges.entry(*bridge).or_insert_with(|| net.node(&format!("b{bridge}"), 0)))
            .collect();
        whole.insert(0, net.node(&format!("t{number}"), 0));
        whole.push(net.node(&format!("l{number}"), 0));
        for pair in whole.windows(2) {
            let linked = |port: &tsn_plan::Port| {
                (port.node, net.plan.ports[port.peer as usize].node) == (pair[0], pair[1])
            };
            if !net.plan.ports.iter().any(linked) {
                net.link(pair[0], pair[1], RATE, 0);
            }
        }
        net.stream(&format!("s{number}"), &whole, 5, periodic(period_ns, 0), frame(OCTETS));
    }
    net
}

/// A path over so many bridges, and at each link between two of them a stream over that link alone, or over two.
fn tandem(bridges: u32, links: u32) -> Vec<Vec<u32>> {
    let across = (0..bridges - 1).map(|first| (first..=(first + links).min(bridges - 1)).collect());
    std::iter::once((0..bridges).collect()).chain(across).collect()
}

fn released(found: &Bounds, flow: usize) -> i64 {
    found.flows[flow].release_upper_ps.unwrap()
}

fn sum_of_hops(found: &Bounds, flow: usize) -> i64 {
    found.flows[flow].hops.iter().map(|hop| hop.upper_ps.unwrap()).sum()
}

/// 201 lines, trees and rings: never above the programme of panco with the time for which a frame is stored at each hop.
#[test]
fn no_bound_is_above_the_polynomial_programme() {
    let mut seen = 0;
    for line in
        include_str!("../../../../tests/oracles/panco.txt").lines().filter(|line| !line.starts_with('#'))
    {
        let (head, paths) = line.split_once(" | ").unwrap();
        let paths: Vec<Vec<u32>> = paths
            .split(' ')
            .map(|path| path.split('-').map(|bridge| bridge.parse().unwrap()).collect())
            .collect();
        let mut head = head.split(' ').skip(1);
        let found = bounds(&network(&paths, head.next().unwrap().parse().unwrap()).plan);
        for flow in head {
            let values: Vec<&str> = flow.split(':').collect();
            let number: usize = values[0].parse().unwrap();
            let (fluid, ours): (f64, i64) = (values[1].parse().unwrap(), values[2].parse().unwrap());
            let own = released(&found, number);
            assert!(own as f64 / 1e6 <= fluid + 80.0 * paths[number].len() as f64 + 0.1, "{line}: {own} ps");
            assert_eq!((own + 999_999) / 1_000_000, ours, "{line}");
            seen += 1;
        }
    }
    assert_eq!(seen, 373);
}

/// The frame stands behind one frame of another stream at each of eight links, or also at the last one, and is sent ten
/// times. The simulator reaches that; the sum of the hops has much more, as if the jitter from all links before could meet
/// at each.
#[test]
fn streams_over_one_link_each_delay_a_frame_once() {
    for (met, at_last) in [(8, false), (9, true)] {
        let mut net = network(&tandem(9, 1), 173_913);
        if at_last {
            let path = path_of(&net.plan, 0);
            let talker = net.node("talker", 0);
            net.link(talker, path[9], RATE, 0);
            net.stream("last", &[talker, path[9], path[10]], 5, periodic(173_913, 0), frame(OCTETS));
        }
        assert_each_counts_once(net, 10 * SENT + met * WIRE);
    }
}

fn assert_each_counts_once(mut net: Net, exact: i64) {
    let found = bounds(&net.plan);
    assert_eq!(released(&found, 0), exact);
    assert!(sum_of_hops(&found, 0) > exact * 3 / 2);
    for (number, stream) in net.plan.streams.iter_mut().enumerate().skip(1) {
        // Its frame is there 1 ns before that of stream 0, which waited 1 ns less at each bridge before.
        let at = (SENT + WIRE) * (number as i64 - 1) / 1_000 - number as i64;
        let Pattern::Periodic { period_ns, offset_ns, .. } = &mut stream.pattern else { continue };
        *offset_ns = at.rem_euclid(*period_ns as i64) as u64;
    }
    let most = longest(&mut net);
    assert!(most > exact - 10_000 && most <= exact, "{most} ps");
}

fn path_of(plan: &Plan, stream: usize) -> Vec<u32> {
    let hops = &plan.streams[stream].route;
    let node = |port: u32| plan.ports[port as usize].node;
    let last = plan.ports[hops[hops.len() - 1].port as usize].peer;
    hops.iter().map(|hop| node(hop.port)).chain([node(last)]).collect()
}

/// Processing and propagation delay every frame alike: they are added, however full the links are.
#[test]
fn times_between_ports_are_added() {
    for links in [1, 2, 3] {
        let mut net = network(&tandem(7, links), 80_000 * (u64::from(links) + 1) * 10 / 9);
        let plain = bounds(&net.plan);
        assert!(released(&plain, 0) < sum_of_hops(&plain, 0), "{links}");
        net.plan.nodes.iter_mut().for_each(|node| node.processing_ns = 3_000);
        net.plan.ports.iter_mut().for_each(|port| port.propagation_ps = 500);
        let later = bounds(&net.plan);
        let ports = later.flows[0].hops.len() as i64;
        let added = 3_000_000 * (ports - 1) + 500 * ports;
        assert!((released(&later, 0) - released(&plain, 0) - added).abs() <= 5, "{links}");
    }
}

/// A lower frame may have begun at every port, and a higher one goes before the frame.
#[test]
fn other_classes_count_at_every_port() {
    for links in [1, 2] {
        let mut net = network(&tandem(7, links), 80_000 * (u64::from(links) + 1) * 10 / 8);
        let plain = released(&bounds(&net.plan), 0);
        let path = path_of(&net.plan, 0);
        net.stream("low", &path, 0, Pattern::Saturating { backlog: 2 }, frame(FULL));
        let lower = bounds(&net.plan);
        let blocked = i64::from(FULL + 20) * 80_000;
        assert!(released(&lower, 0) >= plain + 7 * blocked, "{links}");
        assert!(released(&lower, 0) < sum_of_hops(&lower, 0), "{links}");
        net.plan.streams.pop();
        net.stream("high", &path, 6, periodic(20_000_000, 0), frame(FULL));
        let higher = bounds(&net.plan);
        assert!(released(&higher, 0) >= plain + blocked, "{links}");
        assert!(released(&higher, 0) < sum_of_hops(&higher, 0), "{links}");
    }
}

/// At each port but the first one, a lower frame that came over another link has begun 1 ns before the frame comes: this
/// reaches the bound, in which a lower frame counts in full at each of these ports.
#[test]
fn a_lower_frame_may_have_begun_at_every_port() {
    let mut net = network(&[(0..7).collect()], 50_000_000);
    net.plan.streams[0].pattern = periodic(50_000_000, 200_000);
    let (path, lower) = (path_of(&net.plan, 0), i64::from(FULL) * 80_000);
    let blocked = lower + 20 * 80_000;
    for (number, pair) in path[1..].windows(2).enumerate() {
        let [talker, listener] = ["talker", "listener"].map(|name| net.node(name, 0));
        net.link(talker, pair[0], RATE, 0);
        net.link(pair[1], listener, RATE, 0);
        let comes = SENT * (number as i64 + 1) + blocked * number as i64 - lower - 8 * 80_000;
        let pattern = periodic(50_000_000, (200_000 + comes / 1_000 - number as i64 - 1) as u64);
        net.stream(&format!("low{number}"), &[talker, pair[0], pair[1], listener], 0, pattern, frame(FULL));
    }
    let (exact, found) = (8 * SENT + 7 * blocked, bounds(&net.plan));
    let most = longest(&mut net);
    assert_eq!((released(&found, 0), sum_of_hops(&found, 0)), (exact, exact));
    assert!(most > exact - 10_000 && most <= exact, "{most} ps");
}

/// A lower frame that came over the same link has begun when the last bit of the frame comes, and then lasts as much longer
/// as it is longer. Behind a faster link it lasts longer than that.
#[test]
fn a_lower_frame_over_the_same_link_delays_by_what_it_is_longer() {
    let time = |octets: u32| i64::from(octets) * 80_000;
    for (own, low, fast) in
        [(500, FULL, false), (OCTETS, OCTETS, false), (FULL, 500, false), (500, FULL, true)]
    {
        let mut net = network(&[(0..7).collect()], 50_000_000);
        let path = path_of(&net.plan, 0);
        let talker = net.node("talker", 0);
        net.link(talker, path[1], RATE, 0);
        net.stream("low", &[&[talker], &path[1..]].concat(), 0, periodic(50_000_000, 0), frame(low));
        net.plan.streams[0].size = frame(own);
        if fast {
            net.port_mut(path[1], path[2]).rate_bps = 10 * RATE;
        }
        // The lower frame is at the first bridge 1 ns before the other one.
        for (stream, octets) in net.plan.streams.iter_mut().zip([own, low]) {
            let at = 200_000 - i64::from(octets) * 80 - i64::from(stream.pcp == 0);
            stream.pattern = periodic(50_000_000, at as u64);
        }
        let (found, most) = (released(&bounds(&net.plan), 0), longest(&mut net));
        if fast {
            assert!(most > 8 * time(own) && most <= found, "{own} {low}: {most} {found}");
            continue;
        }
        let longer = time(low.saturating_sub(own));
        assert_eq!(found, 8 * time(own + 8) + time(low + 20) + 6 * longer, "{own} {low}");
        assert!(most > found - 10_000 && most <= found, "{own} {low}: {most} {found}");
    }
}

/// What lets frames come closer than they were on the link, or keeps them back until several wait: the lower frame counts
/// in full behind it, as it does where one of them begins.
#[test]
fn a_lower_frame_counts_in_full_where_frames_may_come_closer() {
    let behind = |change: &dyn Fn(&mut Net, usize, usize)| {
        let mut net = network(&[(0..3).collect()], 50_000_000);
        net.plan.streams[0].size = frame(500);
        let path = path_of(&net.plan, 0);
        net.stream("low", &path, 0, periodic(50_000_000, 0), frame(FULL));
        let route = &net.plan.streams[0].route;
        let (before, port) = (route[1].port as usize, route[2].port as usize);
        change(&mut net, before, port);
        bounds(&net.plan).flows[0].hops[2].upper_ps.unwrap()
    };
    let time = |octets: u32| i64::from(octets) * 80_000;
    let part = time(508) + time(FULL - 500);
    assert_eq!(behind(&|_, _, _| ()), part);
    assert_eq!(behind(&|net, before, _| net.plan.ports[before].rate_bps = RATE / 2), part);
    let full = [
        behind(&|net, before, _| net.plan.ports[before].rate_bps = RATE + RATE / 10),
        behind(&|net, _, port| {
            let node = net.plan.ports[port].node as usize;
            net.plan.nodes[node].further = Some(tsn_plan::Further::Uniform { up_to_ns: 1_000 });
        }),
        behind(&|net, _, port| {
            let node = net.plan.ports[port].node as usize;
            net.plan.nodes[node].cut_through_octets = Some(64);
        }),
        behind(&|net, before, _| {
            let port = before as u32;
            net.plan.faults.push(tsn_plan::Fault::LinkDown { port, from_ns: 0, until_ns: 1_000_000 });
        }),
        behind(&|net, before, _| {
            let own = tsn_plan::Preemption { express: 0x20, ..Default::default() };
            net.plan.ports[before].preemption = Some(own);
        }),
        behind(&|net, _, port| net.plan.ports[port].gates = gates(0, &[(0xff, 1_000_000)])),
        behind(&|net, _, port| {
            net.plan.ports[port].classes[7].cbs = Some(cbs(10_000_000, RATE as i64, 100_000, -100_000));
        }),
        behind(&|net, _, port| {
            let node = net.plan.ports[port].node;
            let (path, number) = (path_of(&net.plan, 0), net.plan.streams.len());
            let on = path.iter().position(|own| *own == node).unwrap();
            net.stream(&format!("s{number}"), &path[on..], 0, periodic(50_000_000, 0), frame(FULL));
        }),
    ];
    assert_eq!(full, [time(508) + time(FULL + 20); 8]);
}

/// A lone stream over seven bridges, with one of a higher class over its first links: its talker, its listener and its
/// frames.
fn below(links: usize, octets: u32, period_ns: u64) -> Net {
    let mut net = network(&[(0..7).collect()], 50_000_000);
    let mut path = path_of(&net.plan, 0)[1..links + 2].to_vec();
    for (name, at) in [("talker", 0), ("listener", links + 2)] {
        let own = net.node(name, 0);
        path.insert(at, own);
        let pair = if at == 0 { (own, path[1]) } else { (path[links + 1], own) };
        net.link(pair.0, pair.1, RATE, 0);
    }
    net.stream("high", &path, 6, periodic(period_ns, 0), frame(octets));
    net
}

/// A frame of a higher class is ahead at all ports behind the one at which it goes first. A longer one is stored for longer
/// at each of them.
#[test]
fn a_higher_frame_counts_once_along_a_path() {
    let time = |octets: u32| i64::from(octets) * 80_000;
    for (links, octets, period_ns) in
        [(2, OCTETS, 50_000_000), (6, OCTETS, 50_000_000), (6, FULL, 50_000_000), (6, 200, 400_000)]
    {
        let mut net = below(links, octets, period_ns);
        let found = bounds(&net.plan);
        // As a token bucket: of the time for which the frame may wait, and of what a short one gains on it.
        let (own, period) = (time(octets + 20), period_ns as i64 * 1_000);
        let gained = 5 * time(OCTETS.saturating_sub(octets));
        let longer = 5 * time(octets.saturating_sub(OCTETS));
        let waits = own * (period + gained + longer) / (period - own);
        let upper = released(&found, 0);
        assert!((0..50).contains(&(upper - 8 * SENT - longer - waits)), "{links} {octets}: {upper}");
        assert!(upper < sum_of_hops(&found, 0));
        // Both are at the first bridge at the same time.
        let late = |own: u32| u64::from(OCTETS.max(octets) - own) * 80;
        for (stream, own) in net.plan.streams.iter_mut().zip([OCTETS, octets]) {
            let Pattern::Periodic { offset_ns, .. } = &mut stream.pattern else { continue };
            *offset_ns = late(own);
        }
        assert_eq!(longest(&mut net), 8 * SENT + longer + own, "{links} {octets}");
    }
}

/// A scheduler in front of a port shapes a stream to its own rate.
fn scheduled(net: &mut Net, port: usize, stream: u32) {
    let node = net.plan.ports[port].node;
    let route = &net.plan.streams[stream as usize].route;
    let into = |hop: &Route| net.plan.ports[hop.port as usize].peer;
    let ingress = route.iter().map(into).find(|own| net.plan.ports[*own as usize].node == node).unwrap();
    let filter = StreamFilter {
        name: "s".into(),
        ports: vec![ingress],
        streams: vec![stream],
        scheduler: Some(0),
        ..StreamFilter::default()
    };
    net.plan.policing.push(Policing {
        node,
        filters: vec![filter],
        schedulers: vec![AtsScheduler { cir_bps: RATE / 2, cbs_bits: 80_000, group: 0 }],
        groups: vec![AtsGroup { name: "g".into(), max_residence_ns: 1_000_000_000 }],
        ..Policing::default()
    });
}

/// Of two higher streams, one meets the path behind the other: a frame of each may be ahead.
#[test]
fn higher_frames_count_where_they_meet_a_path() {
    let own = i64::from(OCTETS + 20) * 80_000;
    let mut net = below(6, OCTETS, 50_000_000);
    let bridges = path_of(&net.plan, 0)[4..7].to_vec();
    let ends = ["later", "end"].map(|name| net.node(name, 0));
    net.link(ends[0], bridges[0], RATE, 0);
    net.link(bridges[2], ends[1], RATE, 0);
    let path = [&ends[..1], &bridges[..], &ends[1..]].concat();
    net.stream("other", &path, 6, periodic(50_000_000, 0), frame(OCTETS));
    assert!(released(&bounds(&net.plan), 0) >= 8 * SENT + 2 * own);
}

/// Behind a scheduler a higher frame may be ahead again.
#[test]
fn higher_frames_count_again_behind_a_scheduler() {
    let own = i64::from(OCTETS + 20) * 80_000;
    let mut net = below(6, OCTETS, 50_000_000);
    let alone = released(&bounds(&net.plan), 0);
    let port = net.plan.streams[1].route[4].port as usize;
    scheduled(&mut net, port, 1);
    assert!(released(&bounds(&net.plan), 0) >= alone + own);
}

/// From a node on, all frames have a redundancy tag: there they are longer than they came, and do not count in one part with
/// those before. Of frames that come together, each waits there until those before it have sent their tags.
#[test]
fn frames_that_grow_count_apart() {
    let mut net = network(&vec![(0..9).collect(); 11], 3_000_000);
    let tag = 6 * 80_000;
    for (number, stream) in net.plan.streams.iter_mut().enumerate() {
        let copies = (0..10).map(|entry| u8::from(entry >= 5)).collect();
        stream.redundancy = Some(Box::new(Redundancy { copies, ..Redundancy::default() }));
        stream.pattern = periodic(3_000_000, u64::from(number == 0));
    }
    let exact = 10 * (SENT + WIRE) + 5 * tag + 10 * tag;
    let (most, found) = (longest(&mut net), released(&bounds(&net.plan), 0));
    assert!(most > exact - 10_000 && most <= found, "{most} {found}");
}

/// The longest delay that a run shows of the first stream, from its release, in ps.
fn longest(net: &mut Net) -> i64 {
    let route = &net.plan.streams[0].route;
    let (first, last) = (route[0].port, net.plan.ports[route[route.len() - 1].port as usize].peer);
    let taps = (net.tap(first, Stage::Send, Point::End), net.tap(last, Stage::Rx, Point::End));
    let (sightings, _) = run(&net.plan);
    delays(&sightings, taps, 0).into_iter().max().unwrap() * 1_000
}

/// A stream gate puts frames into class 5 or 1, and a burst of class 4 goes before those of class 1: what is found for
/// class 5 is not the bound of a path there.
#[test]
fn a_stream_gate_may_put_frames_into_a_slower_class() {
    let mut net = network(&tandem(9, 1), 500_000);
    let path = path_of(&net.plan, 0);
    let entry =
        |ipv, interval_ns| StreamGateEntry { open: true, ipv: Some(ipv), interval_ns, octets_max: None };
    let entries = vec![entry(5, 1_000), entry(1, 999_000)];
    let gate = StreamGate { cycle_ns: 1_000_000, entries, ..StreamGate::default() };
    let filter =
        StreamFilter { name: "s".into(), streams: vec![0], gate: Some(0), ..StreamFilter::default() };
    let node = path[5];
    net.plan.policing.push(Policing {
        node,
        filters: vec![filter],
        gates: vec![gate],
        ..Policing::default()
    });
    let burst = Pattern::TokenBucket { burst_octets: 12_000, rate_bps: 100_000 };
    net.stream("burst", &path[5..7], 4, burst, frame(OCTETS));
    net.plan.streams.last_mut().unwrap().start_ns = 380_000;
    let found = bounds(&net.plan);
    let most = longest(&mut net);
    assert!(most > 10 * SENT + 9 * WIRE && most <= released(&found, 0), "{most}");
}

/// Gates, lists that change although they are always open for the class, a node that cuts through, a fault that moves
/// frames, frames that are interrupted, an ATS scheduler and a transmit buffer cut a path: its parts are added. In one part
/// the path has 1430.4 us.
#[test]
fn parts_of_a_path_count_apart() {
    let changed = |change: &dyn Fn(&mut Net, usize)| {
        let mut net = network(&tandem(9, 1), 173_913);
        let port = net.plan.streams[0].route[6].port as usize;
        change(&mut net, port);
        let found = bounds(&net.plan);
        assert!(released(&found, 0) <= sum_of_hops(&found, 0));
        released(&found, 0) / 1_000
    };
    let closes = gates(0, &[(0xff, 10_000_000), (0xdf, 1_000)]);
    let delay = |port: usize| tsn_plan::Fault::Delay {
        port: port as u32,
        from_ns: 0,
        until_ns: 1_000,
        least_ns: 0,
        most_ns: 1,
        share_ppm: 1_000_000,
        keeps_order: true,
    };
    let found = [
        changed(&|net, port| net.plan.ports[port].gates = closes.clone()),
        changed(&|net, port| {
            let node = net.plan.ports[port].node as usize;
            net.plan.nodes[node].cut_through_octets = Some(800);
        }),
        changed(&|net, port| net.plan.faults.push(delay(port))),
        changed(&|net, port| {
            let path = path_of(&net.plan, 0);
            net.plan.ports[port].preemption =
                Some(tsn_plan::Preemption { express: 0x80, ..Default::default() });
            net.stream("express", &path[6..8], 7, periodic(20_000_000, 0), frame(64));
        }),
        changed(&|net, port| {
            let open = GateEntry { open: 0x20, interval_ns: 1_000_000, mac: None };
            let later = GateChange {
                at_ns: 1_000_000,
                base_time_ns: 2_000_000,
                cycle_ns: 1_000_000,
                entries: vec![open],
                ..GateChange::default()
            };
            let own = gates(0, &[(0x20, 1_000_000)]).unwrap();
            net.plan.ports[port].gates = Some(Gates { changes: vec![later], ..own });
        }),
        changed(&|net, port| scheduled(net, port, 0)),
        changed(&|net, port| net.plan.ports[port].transmit_buffer = Some(2)),
    ];
    assert_eq!(found, [2_663_798, 2_526_588, 2_524_252, 2_536_714, 2_520_524, 3_499_485, 2_520_524]);
}

/// A burst of 13 frames of 232 octets on two paths: links of `rates`, and after them, if `tail`, a link of 100 Mbit/s. The
/// talker has one port, of 10 Gbit/s, if `talker`; or one for each path.
fn on_two_paths(rates: [&[u64]; 2], talker: bool, tail: bool) -> Net {
    let mut net = Net::new(4_000_000);
    let [t, a, d, e] = ["t", "a", "d", "e"].map(|name| net.node(name, 0));
    let mut route: Vec<(u32, u32, Option<u32>)> = Vec::new();
    let link = |net: &mut Net, route: &mut Vec<_>, pair: (u32, u32), rate: u64, parent: Option<u32>| {
        net.link(pair.0, pair.1, rate, 0);
        route.push((pair.0, pair.1, parent));
        Some(route.len() as u32 - 1)
    };
    let begin = if talker { link(&mut net, &mut route, (t, a), 10_000_000_000, None) } else { None };
    let mut ends = Vec::new();
    for (number, rates) in rates.iter().enumerate() {
        let (mut before, mut at) = (begin, a);
        for (place, rate) in rates.iter().enumerate() {
            let next = if place + 1 < rates.len() { net.node(&format!("n{number}{place}"), 0) } else { d };
            before = link(&mut net, &mut route, (at, next), *rate, before);
            at = next;
        }
        ends.extend(before);
    }
    let (mut last, mut at) = (ends[0], d);
    if tail {
        last = link(&mut net, &mut route, (d, e), RATE, Some(ends[0])).unwrap();
        at = e;
    }
    let route =
        route.into_iter().map(|(from, to, parent)| Route { port: net.port(from, to), parent }).collect();
    let pattern = Pattern::TokenBucket { burst_octets: 13 * 232, rate_bps: 20_000_000 };
    let listeners = vec![Destination { node: at, route: last }];
    let stream = net.tree("s", if talker { t } else { a }, route, listeners, 0, pattern, frame(212));
    stream.redundancy =
        Some(Box::new(Redundancy { merges: vec![Merge { from: ends }], ..Redundancy::default() }));
    net
}

/// The path with the greater sum over its hops is not the slower one, as a burst counts once along it: with a port of the
/// talker for both paths or one for each, with a link behind them, and with the paths in both orders.
#[test]
fn the_slower_path_is_the_one_with_the_greater_bound() {
    const FAST: [u64; 3] = [1_000_000_000, 300_000_000, RATE];
    const SLOW: [u64; 2] = [RATE, RATE];
    for talker in [false, true] {
        let alone = |rates: &[u64]| {
            let found = bounds(&on_two_paths([rates, rates], talker, false).plan);
            (released(&found, 0), sum_of_hops(&found, 0), found.flows[0].upper_ps.unwrap())
        };
        let [fast, slow] = [alone(&FAST), alone(&SLOW)];
        assert!(fast.0 < slow.0 && fast.1 > slow.1, "{fast:?} {slow:?}");
        if !talker {
            // Over the slow path the last of 13 frames is sent once more, each time without its gap: as the simulator has it.
            assert_eq!(slow.0, 14 * 18_560_000 - 2 * 960_000);
            let mut net = on_two_paths([&SLOW, &FAST], talker, false);
            let [first, last] = [0, 1].map(|entry| net.plan.streams[0].route[entry].port);
            let last = net.plan.ports[last as usize].peer;
            let taps = (net.tap(first, Stage::Send, Point::End), net.tap(last, Stage::Rx, Point::End));
            let (sightings, _) = run(&net.plan);
            assert_eq!(delays(&sightings, taps, 0).into_iter().max(), Some(slow.0 / 1_000));
        }
        for rates in [[&FAST[..], &SLOW], [&SLOW, &FAST]] {
            let net = on_two_paths(rates, talker, false);
            net.plan.check().unwrap();
            let found = bounds(&net.plan);
            assert_eq!((released(&found, 0), found.flows[0].upper_ps), (slow.0, Some(slow.2)));
            let tailed = bounds(&on_two_paths(rates, talker, true).plan);
            let last = tailed.flows[0].hops.last().unwrap().upper_ps.unwrap();
            assert_eq!(released(&tailed, 0), slow.0 + last);
            assert_eq!(tailed.flows[0].upper_ps, Some(slow.2 + last));
        }
    }
}

/// Streams from two talkers over one path, the second one in bursts over a faster link: what is found for one does not
/// count for the other, so the order of the streams is of no effect.
#[test]
fn the_order_of_streams_does_not_matter() {
    let with = |first: bool| {
        let mut net = network(&tandem(6, 1)[1..], 400_000);
        let talkers = [RATE, 10 * RATE].map(|rate| {
            let talker = net.node("talker", 0);
            let bridge = net.plan.ports[net.plan.streams[0].route[1].port as usize].node;
            net.link(talker, bridge, rate, 0);
            talker
        });
        let bridges: Vec<u32> =
            net.plan.streams.iter().map(|own| net.plan.ports[own.route[1].port as usize].node).collect();
        let last = *path_of(&net.plan, net.plan.streams.len() - 1).last().unwrap();
        let end = net.plan.streams.last().unwrap().route[2].port;
        let end = net.plan.ports[end as usize].node;
        let mut add = |number: usize| {
            let path: Vec<u32> =
                [talkers[number]].into_iter().chain(bridges.clone()).chain([end, last]).collect();
            let burst = Pattern::TokenBucket { burst_octets: 3_000, rate_bps: 5_000_000 };
            let pattern = if number == 0 { periodic(2_000_000, 0) } else { burst };
            net.stream(["a", "b"][number], &path, 5, pattern, frame(OCTETS));
        };
        let order = if first { [0, 1] } else { [1, 0] };
        order.into_iter().for_each(&mut add);
        let found = bounds(&net.plan);
        let of = |name: &str| found.flows.iter().find(|flow| flow.stream == name).unwrap();
        ["a", "b"].map(|name| (of(name).upper_ps.unwrap(), of(name).release_upper_ps.unwrap()))
    };
    let found = with(true);
    assert_eq!(found, with(false));
    assert!(found[0] != found[1]);
}

/// The same beside a burst over a faster link, which has the path of the longest stream: no order has smaller bounds.
#[test]
fn what_is_known_of_one_talker_does_not_count_for_another() {
    let mut paths = tandem(11, 3);
    paths.truncate(11);
    let mut net = network(&paths, 640_000);
    let mut path = path_of(&net.plan, 0);
    let talker = net.node("other", 0);
    net.link(talker, path[1], 10 * RATE, 0);
    path[0] = talker;
    let burst = Pattern::TokenBucket { burst_octets: 3_000, rate_bps: 2_000_000 };
    net.stream("other", &path, 5, burst, frame(700));
    let mut of = |reversed: bool| -> Vec<(String, Option<i64>)> {
        if reversed {
            net.plan.streams.reverse();
        }
        let mut found: Vec<(String, Option<i64>)> =
            bounds(&net.plan).flows.into_iter().map(|flow| (flow.stream, flow.release_upper_ps)).collect();
        found.sort();
        found
    };
    assert_eq!(of(false), of(true));
}

/// A burst over two links, the second one of which is slower: it waits there alone, so the sum of the hops is the bound.
#[test]
fn what_waits_at_one_port_alone_waits_for_all_of_it() {
    let paths = [
        &[0, 5][..],
        &[7, 4, 3, 1, 2][..],
        &[3, 4][..],
        &[1, 2][..],
        &[0, 1, 3, 4, 7][..],
        &[0, 5][..],
        &[0, 1, 3][..],
        &[3, 4, 7][..],
    ];
    let mut net = network(&paths.map(<[u32]>::to_vec), 400_000);
    let path = path_of(&net.plan, 0);
    let talker = net.node("other", 0);
    net.link(talker, path[1], 10 * RATE, 0);
    let burst = Pattern::TokenBucket { burst_octets: 3_000, rate_bps: 2_000_000 };
    net.stream("other", &[&[talker], &path[1..]].concat(), 5, burst, frame(700));
    let found = bounds(&net.plan);
    let other = paths.len();
    assert_eq!(released(&found, other), sum_of_hops(&found, other));
}

/// An express frame cuts another one shortly before its end, so that both come over one link at nearly the same time, and
/// have one class behind it. A frame of another talker stands behind both, and behind a third one at the next port.
#[test]
fn an_interrupted_frame_and_its_express_one_come_together() {
    let mut net = Net::new(4_000_000);
    let [a, b, c, d, x, y, l, m] = ["a", "b", "c", "d", "x", "y", "l", "m"].map(|name| net.node(name, 0));
    for (from, to) in [(a, b), (x, b), (b, c), (y, c), (c, d), (d, l), (c, m)] {
        net.link(from, to, RATE, 0);
    }
    let cuts = net.port_mut(a, b);
    cuts.preemption = Some(tsn_plan::Preemption { express: 0x40, ..Default::default() });
    // The path of the express frame does not go on from there.
    cuts.classes[6].longest_wait_ns = Some(1_000_000_000);
    for (from, to) in [(b, c), (c, d), (c, m)] {
        net.port_mut(from, to).pcp_to_class[6] = 5;
    }
    // 916 octets of the cut frame are sent when the express frame comes: that is at the next node 154.24 us after the begin,
    // and the last 64 octets at 160.96 us. The frame of the other talker comes 80 ns later.
    let sent = |at| periodic(2_000_000, at);
    net.stream("cut", &[a, b, c, m], 5, sent(0), frame(OCTETS));
    net.stream("express", &[a, b, c, m], 6, sent(73_900), frame(OCTETS));
    net.stream("own", &[x, b, c, d, l], 5, sent(82_000), frame(OCTETS));
    net.stream("third", &[y, c, d, l], 5, sent(314_100), frame(OCTETS));
    let found = bounds(&net.plan);
    let exact = 4 * SENT + 3 * WIRE;
    let (first, last) = (net.plan.streams[2].route[0].port, net.plan.streams[2].route[3].port);
    let last = net.plan.ports[last as usize].peer;
    let taps = (net.tap(first, Stage::Send, Point::End), net.tap(last, Stage::Rx, Point::End));
    let (sightings, _) = run(&net.plan);
    let most = delays(&sightings, taps, 2).into_iter().max().unwrap();
    assert_eq!(released(&found, 2), exact);
    assert!(most * 1_000 > exact - 10_000_000 && most * 1_000 <= exact, "{most} ns");
}

/// Frames of two sizes in each stream, the smaller one of which has to wait for more: values of the first version.
#[test]
fn the_smallest_frame_waits_longest() {
    let mut paths = tandem(10, 1);
    paths.extend([vec![8, 9], vec![6, 7, 8]]);
    let mut net = network(&paths, 266_667);
    for (number, stream) in net.plan.streams.iter_mut().enumerate() {
        stream.size = Size::List { octets: vec![OCTETS, 300 + 10 * number as u32] };
    }
    let found = bounds(&net.plan);
    assert_eq!([0, 10, 11].map(|flow| released(&found, flow)), [2_285_678_553, 934_007_163, 1_082_654_680]);
    // Behind the talker's port, from which the frames come in order.
    assert_eq!([10, 11].map(|flow| found.flows[flow].upper_ps.unwrap()), [973_138_525, 1_119_146_027]);
}

/// Frames of three sizes, or of two sizes in each stream, over links of two rates, processing times that vary, frames of
/// other classes, a shaper: the values are those of earlier versions, so that no term of the programme changes unseen.
#[test]
fn mixed_networks_keep_their_values() {
    let values = [(false, false), (true, false), (false, true)].map(|(shaped, varied)| {
        let paths: Vec<Vec<u32>> = (2..4).flat_map(|links| tandem(7, links)).collect();
        let mut net = network(&paths, 700_000);
        for (number, stream) in net.plan.streams.iter_mut().enumerate() {
            let octets = [980, 1_400, 300, 640][number % 4];
            stream.size =
                if varied { Size::List { octets: vec![octets, octets - 100] } } else { frame(octets) };
        }
        for (number, node) in net.plan.nodes.iter_mut().enumerate() {
            node.processing_ns = 1_000 + 100 * number as u64;
            node.further = (number % 3 == 0).then_some(tsn_plan::Further::Uniform { up_to_ns: 9_000 });
        }
        let path = path_of(&net.plan, 0);
        net.stream("high", &path, 6, periodic(5_000_000, 0), frame(200));
        net.stream("low", &path[2..5], 0, Pattern::Saturating { backlog: 2 }, frame(500));
        let fast = net.plan.streams[0].route[7].port as usize;
        net.plan.ports[fast].rate_bps = 2 * RATE;
        if shaped {
            let port = net.plan.streams[0].route[3].port as usize;
            net.plan.ports[port].classes[5].cbs = Some(cbs(95_000_000, RATE as i64, 100_000, -100_000));
        }
        let found = bounds(&net.plan);
        let own = |flow: usize| (released(&found, flow) + 999_999) / 1_000_000;
        let less =
            (0..paths.len()).filter(|flow| released(&found, *flow) < sum_of_hops(&found, *flow)).count();
        [own(0), own(2), own(7), own(9), less as i64]
    });
    assert_eq!(
        values,
        [[2_106, 624, 2_076, 1_149, 5], [2_147, 665, 2_117, 1_187, 7], [2_183, 634, 2_179, 1_184, 5]]
    );
}
