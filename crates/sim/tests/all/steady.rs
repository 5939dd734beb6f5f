//! A run that is told by multiplication equals the run of every frame: each sighting and each counter.

use crate::common::*;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use std::path::Path;
use tsn_observation::Sighting;
use tsn_observation::parquet::{Reader, read_all};
use tsn_plan::{Algorithm, Gates, Pattern, Plan, Point, Size, Stage};
use tsn_sim::record::{COUNTERS, OBSERVATIONS, record, record_steady};
use tsn_sim::{Found, find_repetition, unwatched};

fn rows(folder: &Path) -> Vec<Sighting> {
    let mut rows = Vec::new();
    let mut reader = Reader::open(&folder.join(OBSERVATIONS)).unwrap();
    read_all(&mut reader, None, |row| rows.push(*row)).unwrap();
    rows
}

/// Compares the whole run with the one that repeats; returns how many periods were not simulated, or why all were.
fn compared(plan: &Plan) -> Result<u64, String> {
    let found = find_repetition(plan, &mut unwatched).unwrap();
    let steady = match found {
        Found::Steady(steady) => steady,
        Found::Not(reason) => return Err(reason),
    };
    let (whole, repeated) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let exact = record(plan, whole.path(), false, &mut unwatched).unwrap();
    let counters = record_steady(plan, repeated.path(), &mut unwatched).unwrap();
    assert_eq!(counters, exact);
    let text = |folder: &Path| std::fs::read(folder.join(COUNTERS)).unwrap();
    assert_eq!(text(repeated.path()), text(whole.path()));
    let (found, expected) = (rows(repeated.path()), rows(whole.path()));
    assert_eq!(found.len(), expected.len());
    for (place, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert_eq!(found, expected, "row {place}, {steady:?}");
    }
    let stored = Reader::open(&repeated.path().join(OBSERVATIONS)).unwrap().rows();
    assert!(stored < expected.len() as u64 || expected.is_empty(), "{stored} rows are stored");
    Ok(steady.times)
}

/// A line of two bridges with crossing streams of three classes.
fn line(duration_ns: u64) -> Net {
    let (mut net, nodes) = Net::row(duration_ns, 4);
    net.stream("high", &nodes, 6, periodic(250_000, 3_000), frame(200));
    net.stream("low", &nodes, 2, periodic(500_000, 0), frame(1_500));
    net.stream("lower", &nodes[1..], 0, periodic(1_000_000, 17), frame(900));
    net.tap_ends(&nodes);
    let between = net.port(nodes[1], nodes[2]);
    net.tap(between, Stage::Tx, Point::Start);
    net
}

#[test]
fn strict_priority_shapers_and_gates_repeat() {
    for length in [40_000_000, 40_000_001, 40_730_500] {
        let mut net = line(length);
        assert!(compared(&net.plan).unwrap() > 20);
        for port in &mut net.plan.ports {
            port.classes[6].cbs = Some(cbs(20_000_000, 1_000_000_000, 20_000, -20_000));
        }
        assert!(compared(&net.plan).unwrap() > 20, "shaped");
        for port in &mut net.plan.ports {
            port.gates = gates(77_000, &[(0xff, 100_000), (0x40, 100_000), (0x3f, 50_000)]);
        }
        assert!(compared(&net.plan).unwrap() > 20, "shaped and gated");
        for tap in &mut net.plan.taps {
            tap.granularity_ns = 8;
        }
        assert!(compared(&net.plan).unwrap() > 20, "coarse stamps");
    }
}

#[test]
fn a_full_queue_loses_the_same_frames_in_each_period() {
    let (mut net, nodes) = Net::row(30_000_000, 3);
    for number in 0..4 {
        net.stream(&format!("s{number}"), &nodes, 1, periodic(50_000, number * 100), frame(1_522));
    }
    net.port_mut(nodes[0], nodes[1]).classes[1].limit_frames = Some(2);
    net.tap_ends(&nodes);
    assert!(compared(&net.plan).unwrap() > 100);
}

#[test]
fn what_happens_once_is_simulated() {
    let mut net = line(60_000_000);
    net.plan.streams[1].stop_ns = 7_300_000;
    net.plan.streams[2].start_ns = 9_100_000;
    assert!(compared(&net.plan).unwrap() > 20);
    for port in &mut net.plan.ports {
        let mut list: Gates = gates(0, &[(0xff, 100_000), (0x0f, 25_000)]).unwrap();
        list.changes.push(change(12_000_000, 13_000_000, &[(0xff, 200_000), (0x70, 50_000)]));
        port.gates = Some(list);
    }
    let Found::Steady(steady) = find_repetition(&net.plan, &mut unwatched).unwrap() else { panic!() };
    assert!(steady.from.ticked_ns(1) >= 13_000_000, "not before the second list: {steady:?}");
    assert!(compared(&net.plan).unwrap() > 20);
}

#[test]
fn a_reason_is_told_where_nothing_repeats() {
    let reason = |change: &dyn Fn(&mut Net)| {
        let mut net = line(40_000_000);
        change(&mut net);
        compared(&net.plan).unwrap_err()
    };
    let jitter = reason(&|net| {
        net.plan.streams[0].pattern = Pattern::Periodic { period_ns: 250_000, offset_ns: 0, jitter_ns: 5 };
    });
    assert_eq!(jitter, "stream \"high\" has random jitter");
    let long = reason(&|net| net.plan.streams[0].pattern = periodic(249_999, 0));
    assert_eq!(long, "its hyperperiod is longer than the run");
    let sizes = reason(&|net| {
        net.plan.streams[0].size = Size::Units { octets: vec![64, 90], most_per_frame: 100, overhead: 46 };
    });
    assert_eq!(sizes, "stream \"high\" has random sizes");
    let short = reason(&|net| net.plan.duration_ns = 5_000_000);
    assert!(short.contains("too few periods") || short.contains("ends before"), "{short}");
    // More than the link carries: the queue grows for ever.
    let growing = reason(&|net| net.plan.streams[1].pattern = periodic(10_000, 0));
    assert!(growing.starts_with("its state did not come again within"), "{growing}");
}

/// Periods and cycles that have a short common multiple, and nothing random.
fn quiet(plan: &mut Plan) {
    plan.clocks = None;
    plan.faults.clear();
    plan.duration_ns = 12_000_000;
    let spread = |count: usize, place: usize| {
        let part = 100_000 / count as u64;
        if place + 1 == count { 100_000 - part * (count as u64 - 1) } else { part }
    };
    for node in &mut plan.nodes {
        (node.host, node.further, node.learning) = (None, None, None);
    }
    for port in &mut plan.ports {
        (port.preemption, port.server, port.transmit_buffer, port.qdisc) = (None, None, None, None);
        port.classes.iter_mut().for_each(|class| class.longest_wait_ns = None);
        let Some(gates) = &mut port.gates else { continue };
        gates.cycle_ns = 100_000;
        gates.changes.clear();
        gates.initial = None;
        let count = gates.entries.len();
        for (place, entry) in gates.entries.iter_mut().enumerate() {
            (entry.interval_ns, entry.mac) = (spread(count, place), None);
        }
    }
    for gate in plan.policing.iter_mut().flat_map(|policing| &mut policing.gates) {
        gate.cycle_ns = 100_000;
        let count = gate.entries.len();
        for (place, entry) in gate.entries.iter_mut().enumerate() {
            entry.interval_ns = spread(count, place);
        }
    }
    for tap in &mut plan.taps {
        tap.granularity_ns = if tap.port % 2 == 0 { 1 } else { 40 };
    }
    plan.taps.retain(|tap| matches!(tap.stage, Stage::Send | Stage::Tx | Stage::Rx));
    for (number, stream) in plan.streams.iter_mut().enumerate() {
        stream.stop_ns = if number % 5 == 4 { 2_000_000 } else { plan.duration_ns };
        stream.start_ns %= 1_000_000;
        stream.socket = None;
        stream.scheduled = None;
        let offset_ns = number as u64 * 7_001;
        stream.pattern = periodic([50_000, 100_000, 200_000][number % 3], offset_ns);
        if let Size::Units { octets, .. } = &mut stream.size {
            octets.truncate(1);
        }
        if let Some(recovery) = stream.redundancy.as_mut().and_then(|own| own.recovery.as_mut()) {
            recovery.latent = None;
            if let Algorithm::Vector { history } = &mut recovery.algorithm {
                *history = (*history).min(64);
            }
        }
    }
}

/// Random networks with shapers, gates, filters, meters, ATS, cyclic queues, member streams, cut-through and shared
/// memory.
#[test]
fn random_networks_repeat() {
    let wanted = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(160_u32);
    let mut runner = TestRunner::deterministic();
    let (mut repeated, mut merged, mut policed) = (0, 0, 0);
    for _ in 0..wanted {
        let mut plan = anything::plan().new_tree(&mut runner).unwrap().current();
        quiet(&mut plan);
        if plan.check().is_err() || compared(&plan).is_err() {
            continue;
        }
        repeated += 1;
        merged += u32::from(plan.streams.iter().any(|stream| stream.redundancy.is_some()));
        policed += u32::from(plan.policing.iter().any(|policing| !policing.filters.is_empty()));
    }
    println!("{repeated} of {wanted} repeat, {merged} with member streams, {policed} with filters");
    assert!(repeated * 8 > wanted && merged > 0 && policed > 0, "{repeated}, {merged}, {policed}");
}
