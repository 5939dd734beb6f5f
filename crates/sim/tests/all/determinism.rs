//! The same plan gives the same bytes, and independent nodes do not change the random values of others.

use crate::common::*;
use std::fmt::Write;
use std::ops::ControlFlow;
use tsn_plan::{Pattern, Plan, Point, Size, Stage};
use tsn_sim::record::{CAPTURES, OBSERVATIONS, record};
use tsn_sim::unwatched;

/// Two random talkers, one bridge, one listener; with `strangers`, also two independent nodes.
fn network(strangers: bool) -> Net {
    let mut net = Net::new(2_000_000);
    let [a, b, dut, c] = ["a", "b", "dut", "c"].map(|name| net.node(name, 1_000));
    for node in [a, b, c] {
        net.link(node, dut, GIGABIT, 5_000);
    }
    if strangers {
        let [x, y] = ["x", "y"].map(|name| net.node(name, 1_000));
        net.link(x, y, GIGABIT, 0);
        net.stream("stranger", &[x, y], 3, Pattern::Poisson { mean_interval_ps: 20_000_000 }, frame(500));
    }
    let jittered = Pattern::Periodic { period_ns: 100_000, offset_ns: 0, jitter_ns: 50_000 };
    net.stream("camera", &[a, dut, c], 6, jittered, frame(FULL));
    let size = Size::Units { octets: vec![100, 2_000, 5_000], most_per_frame: 1_472, overhead: 50 };
    net.stream("cross", &[b, dut, c], 0, Pattern::Poisson { mean_interval_ps: 60_000_000 }, size);
    net
}

/// A run of [`network`] as a readable table: stream, number, octets, hand-over, arrival.
fn table(strangers: bool) -> String {
    let mut net = network(strangers);
    let (a, b, dut, c) = (0, 1, 2, 3);
    let taps = [net.port(a, dut), net.port(b, dut)].map(|port| net.tap(port, Stage::Send, Point::End));
    let port = net.port(c, dut);
    let rx = net.tap(port, Stage::Rx, Point::End);
    let (sightings, _) = run(&net.plan);
    let mut table =
        format!("{:8} {:>4} {:>6} {:>9} {:>9}\n", "stream", "seq", "octets", "sent ns", "came ns");
    for one in sightings.iter().filter(|one| taps.contains(&one.tap)) {
        let came =
            sightings.iter().find(|other| (other.tap, other.stream, other.seq) == (rx, one.stream, one.seq));
        let name = &net.plan.streams[one.stream as usize].name;
        let came = came.and_then(|one| one.t_ns).unwrap();
        writeln!(table, "{name:8} {:>4} {:>6} {:>9} {came:>9}", one.seq, one.octets, one.t_ns.unwrap())
            .unwrap();
    }
    table
}

/// A change of this table is a change of results: update it with `BLESS=1`, and note the change in the
/// changelog.
#[test]
fn a_known_run_stays_as_it_is() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/two-talkers.txt");
    let found = table(false);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &found).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), found);
}

#[test]
fn strangers_change_nobodys_draws() {
    assert_eq!(table(true), table(false));
}

#[test]
fn another_seed_draws_otherwise() {
    let mut net = network(false);
    let port = net.port(0, 2);
    net.tap(port, Stage::Send, Point::End);
    let (before, _) = run(&net.plan);
    net.plan.seed += 1;
    let (after, _) = run(&net.plan);
    assert_ne!(before, after);
    assert!(before.iter().zip(&after).all(|(one, other)| one.seq == other.seq), "only the times differ");
}

fn tapped() -> Plan {
    let mut net = network(true);
    for port in 0..net.plan.ports.len() as u32 {
        for (stage, point) in [(Stage::Tx, Point::Start), (Stage::Rx, Point::End)] {
            net.tap(port, stage, point);
        }
    }
    net.plan
}

fn files(folder: &std::path::Path) -> Vec<(std::ffi::OsString, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.path().is_file() {
            files.push((entry.file_name(), std::fs::read(entry.path()).unwrap()));
        }
    }
    files.sort();
    files
}

#[test]
fn repetition_is_identical_to_the_byte() {
    let plan = tapped();
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    for folder in &folders {
        record(&plan, folder.path(), true, &mut unwatched).unwrap();
    }
    let [one, other] = folders.each_ref().map(|folder| files(folder.path()));
    assert_eq!(one.len(), 2, "observations and counters");
    assert!(one == other);
    let [one, other] = folders.each_ref().map(|folder| files(&folder.path().join(CAPTURES)));
    assert_eq!(one.len(), plan.taps.len());
    assert!(one == other);
}

/// The files of an interrupted run have the observations up to the interruption, which are the beginning of
/// the complete run.
#[test]
fn an_interrupted_run_can_be_read() {
    let mut plan = tapped();
    plan.duration_ns = 2_000_000_000;
    for stream in &mut plan.streams {
        stream.stop_ns = plan.duration_ns;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut reports = 0;
    let mut watch = |_| {
        reports += 1;
        if reports == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let counters = record(&plan, folder.path(), false, &mut watch).unwrap();
    assert!(counters.interrupted && counters.simulated_ns < plan.duration_ns);
    assert_conserved(&counters);
    let path = folder.path().join(OBSERVATIONS);
    let mut reader = tsn_observation::parquet::Reader::open(&path).unwrap();
    let (whole, _) = run(&plan);
    let (mut rows, mut batch) = (0, Vec::new());
    while reader.read(&mut batch).unwrap() {
        assert_eq!(batch, whole[rows..rows + batch.len()]);
        rows += batch.len();
    }
    assert!(rows > 10_000);
}
