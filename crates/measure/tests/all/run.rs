//! A run folder made by hand: taps along the path, drops, and the simulator's counters.

use std::path::Path;
use tsn_measure::report::Measures;
use tsn_measure::run::{Options, measure};
use tsn_observation::parquet::Writer;
use tsn_observation::{ELIMINATED, Legend, Sighting, Sink, StreamLegend, TapLegend};
use tsn_plan::{Plan, Point, Stage, Tap};

/// Three nodes in a line, with a tap at every place on the path of the first stream.
fn plan() -> Plan {
    let seed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/plan/cbs-line.json");
    let mut plan = Plan::read(&std::fs::read_to_string(seed).unwrap()).unwrap();
    plan.streams.truncate(1);
    let hops: Vec<u32> = plan.streams[0].route.iter().map(|hop| hop.port).collect();
    assert_eq!(hops.len(), 2, "the seed is a line of two hops");
    let tap = |port: u32, stage: Stage, name: &str| Tap {
        name: name.into(),
        port,
        stage,
        point: Point::Start,
        granularity_ns: 1,
    };
    let peer = |port: u32| plan.ports[port as usize].peer;
    plan.taps = vec![
        // The list is unordered: the path decides the order.
        tap(peer(hops[1]), Stage::Rx, "sink in"),
        tap(hops[0], Stage::Tx, "talker out"),
        tap(hops[0], Stage::Send, "talker queue"),
        tap(hops[1], Stage::Tx, "bridge out"),
        tap(peer(hops[0]), Stage::Rx, "bridge in"),
    ];
    plan
}

/// Writes a run folder of `plan` with these observations of its stream: (tap, number, stamp).
fn folder(plan: &Plan, sightings: &[(&str, u64, Option<i64>)], counters: Option<&str>) -> tempfile::TempDir {
    let sightings: Vec<_> = sightings.iter().map(|(tap, seq, t_ns)| (*tap, *seq, *t_ns, 0)).collect();
    folder_of_copies(plan, &sightings, counters)
}

/// Writes a run folder as [`folder`] does; each observation also has the number of its member stream.
fn folder_of_copies(
    plan: &Plan,
    sightings: &[(&str, u64, Option<i64>, u8)],
    counters: Option<&str>,
) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("plan.json"), serde_json::to_string(plan).unwrap()).unwrap();
    let legend = Legend {
        plan: None,
        taps: plan
            .taps
            .iter()
            .map(|tap| TapLegend {
                name: tap.name.clone(),
                node: "node".into(),
                stage: "tx".into(),
                clock: "true".into(),
                point: "start".into(),
                missing: None,
            })
            .collect(),
        streams: plan
            .streams
            .iter()
            .map(|stream| StreamLegend { name: stream.name.clone(), group: stream.group.clone() })
            .collect(),
    };
    let mut writer = Writer::create(&folder.path().join("observations.parquet"), &legend).unwrap();
    for (tap, seq, t_ns, copy) in sightings {
        let tap = plan.taps.iter().position(|known| known.name == *tap).unwrap() as u16;
        let sighting =
            Sighting { tap, stream: 0, seq: *seq, copy: *copy, t_ns: *t_ns, octets: 1000, pcp: 0, vid: 0 };
        writer.sight(sighting).unwrap();
    }
    writer.finish().unwrap();
    if let Some(counters) = counters {
        std::fs::write(folder.path().join("counters.json"), counters).unwrap();
    }
    folder
}

fn measured(sightings: &[(&str, u64, Option<i64>)], counters: Option<&str>) -> Measures {
    measure(folder(&plan(), sightings, counters).path(), &Options::default()).unwrap()
}

/// A frame that is observed at the first `taps` places of its path, 100 ns apart, from its number times 1000
/// ns on.
fn path(seq: u64, taps: usize) -> Vec<(&'static str, u64, Option<i64>)> {
    let places = ["talker queue", "talker out", "bridge in", "bridge out", "sink in"];
    let stamp = |place: usize| Some(seq as i64 * 1000 + place as i64 * 100);
    places.iter().take(taps).enumerate().map(|(place, name)| (*name, seq, stamp(place))).collect()
}

#[test]
fn where_frames_were_lost_and_how_long_they_waited_to_be_sent() {
    let sightings: Vec<_> = [(0, 5), (1, 2), (2, 3), (3, 4), (4, 5), (5, 1), (6, 5)]
        .into_iter()
        .flat_map(|(seq, taps)| path(seq, taps))
        .collect();
    let measures = measured(&sightings, None);
    let path = &measures.paths[0];
    assert_eq!((path.tx_tap.as_deref(), path.rx_tap.as_deref()), (Some("talker out"), Some("sink in")));
    assert_eq!(
        (path.count.never_sent, path.count.sent, path.count.received, path.count.lost),
        (Some(1), 6, 3, 3)
    );
    let lost: Vec<_> = path.lost_where.iter().map(|lost| (lost.after_tap.as_str(), lost.frames)).collect();
    assert_eq!(lost, [("talker out", 1), ("bridge in", 1), ("bridge out", 1)]);
    let delay = path.delay.as_ref().unwrap();
    assert_eq!((delay.count, delay.min, delay.max), (3, 300, 300));
    let wait = path.send_to_tx.as_ref().unwrap();
    assert_eq!((wait.count, wait.min, wait.max), (6, 100, 100));
    let released = path.release_delay.as_ref().unwrap();
    assert_eq!((released.count, released.min, released.max), (3, 400, 400));
    assert_eq!(measures.groups.len(), 1);
    assert_eq!(measures.groups[0].lost_where.len(), 3);
}

/// Five frames with a period of 1,000 ns, of which two arrive 300 and 100 ns late.
#[test]
fn interval_jitter_and_rate_are_of_one_frame_after_the_other() {
    let mut plan = plan();
    plan.streams[0].pattern = tsn_plan::Pattern::Periodic { period_ns: 1_000, offset_ns: 0, jitter_ns: 0 };
    plan.streams[0].size = tsn_plan::Size::Frame { octets: 1_000 };
    let mut sightings = Vec::new();
    for (seq, late) in [(0, 0), (1, 300), (2, 0), (3, 0), (4, 100)] {
        let mut frame = path(seq, 5);
        frame[4].2 = frame[4].2.map(|stamp| stamp + late);
        sightings.extend(frame);
    }
    let measures = measure(folder(&plan, &sightings, None).path(), &Options::default()).unwrap();
    let path = &measures.paths[0];
    // Gaps of 1,300, 700, 1,000 and 1,100 ns.
    let arrivals = path.arrivals.as_ref().unwrap();
    assert_eq!((arrivals.count, arrivals.min, arrivals.max, arrivals.sum), (4, 700, 1_300, 4_100));
    let interval = path.jitter.interval.as_ref().unwrap();
    assert_eq!((interval.count, interval.min, interval.max, interval.sum), (4, 0, 300, 700));
    // Four frames of 8,000 bit after the first one, in 4,000 ns at the sender and in 4,100 ns at the
    // receiver.
    assert_eq!(path.rate.sent_bps, Some(8e9));
    assert_eq!(path.rate.received_bps, Some(32_000.0 * 1e9 / 4_100.0));
    let group = &measures.groups[0];
    let jitter = group.jitter.interval.as_ref().unwrap();
    assert_eq!((group.rate.sent_bps, jitter.count, jitter.max), (Some(8e9), 4, 300));
}

#[test]
fn a_frame_has_left_with_its_first_copy_and_what_is_eliminated_is_no_duplicate() {
    let out = |seq, copy| ("talker out", seq, Some(seq as i64 * 1000), copy);
    let arrived = |seq, copy| ("sink in", seq, Some(seq as i64 * 1000 + 300), copy);
    let sightings = [
        // Both member streams leave, and the second one is eliminated.
        (out(0, 0), arrived(0, 0)),
        (out(0, 1), arrived(0, 1 | ELIMINATED)),
        (out(3, 0), arrived(3, 0)),
        (out(3, 1), arrived(3, 1 | ELIMINATED)),
        // Only the member stream of another port leaves.
        (out(1, 1), arrived(1, 1)),
        // The same member stream twice, at both ends.
        (out(2, 0), arrived(2, 0)),
        (out(2, 0), arrived(2, 0)),
    ];
    let sightings: Vec<_> = sightings.into_iter().flat_map(|(out, arrived)| [out, arrived]).collect();
    let folder = folder_of_copies(&plan(), &sightings, None);
    let measures = measure(folder.path(), &Options::default()).unwrap();
    let count = &measures.paths[0].count;
    assert_eq!((count.sent, count.received, count.lost), (4, 4, 0));
    assert_eq!((count.duplicate_tx, count.duplicate), (1, 1));
}

#[test]
fn places_behind_which_nothing_was_lost_are_left_out() {
    let sightings: Vec<_> = [(0, 5), (1, 3)].into_iter().flat_map(|(seq, taps)| path(seq, taps)).collect();
    let measures = measured(&sightings, None);
    let lost: Vec<_> =
        measures.paths[0].lost_where.iter().map(|lost| (lost.after_tap.as_str(), lost.frames)).collect();
    assert_eq!(lost, [("bridge in", 1)]);
}

#[test]
fn the_source_is_the_run_and_the_table_of_frames_is_called_by_its_stages() {
    let folder = folder(&plan(), &[path(0, 5), path(1, 2)].concat(), None);
    let measures = measure(folder.path(), &Options::default()).unwrap();
    assert_eq!((measures.source.kind, measures.source.files[0].frames), ("run", 7));
    let between = Options { from: Some(Stage::Send), ..Options::default() };
    measure(folder.path(), &between).unwrap();
    for name in ["frames.parquet", "frames-send-rx.parquet"] {
        assert!(folder.path().join(name).is_file(), "{name}");
    }
}

#[test]
fn what_no_tap_can_receive_is_not_said_to_be_under_way() {
    let mut plan = plan();
    plan.taps.retain(|tap| tap.name != "sink in");
    let counters = format!(
        r#"{{"streams": [{{"name": {:?}, "dropped_at_talker": 0, "dropped_in_network": 0}}]}}"#,
        plan.streams[0].name
    );
    let folder = folder(&plan, &path(0, 4), Some(&counters));
    let measures = measure(folder.path(), &Options::default()).unwrap();
    let count = &measures.paths[0].count;
    assert_eq!((count.sent, count.in_network_at_end), (1, 0));
}

/// Counters belong to a stream: they do not name the listener to which a frame in the network was going.
#[test]
fn of_a_stream_with_two_listeners_nothing_is_said_to_be_under_way() {
    let mut plan = plan();
    let first = plan.streams[0].listeners[0];
    let bridge = plan.ports[plan.streams[0].route[1].port as usize].node;
    plan.streams[0].listeners.push(tsn_plan::Destination { node: bridge, route: 0 });
    let counters = format!(r#"{{"streams": [{{"name": {:?}}}]}}"#, plan.streams[0].name);
    let sightings: Vec<_> =
        [(0, 5), (1, 4), (2, 2)].into_iter().flat_map(|(seq, taps)| path(seq, taps)).collect();
    let measures = measure(folder(&plan, &sightings, Some(&counters)).path(), &Options::default()).unwrap();
    let counts: Vec<_> =
        measures.paths.iter().map(|path| (path.count.lost, path.count.in_network_at_end)).collect();
    assert_eq!(counts, [(2, 0), (1, 0)]);
    // With one listener, a frame that neither arrived nor was dropped is in the network.
    plan.streams[0].listeners = vec![first];
    let measures = measure(folder(&plan, &sightings, Some(&counters)).path(), &Options::default()).unwrap();
    let count = &measures.paths[0].count;
    assert_eq!((count.lost, count.in_network_at_end), (0, 2));
}

#[test]
fn counters_that_cannot_be_read_are_an_error_and_none_are_not() {
    let folder = folder(&plan(), &path(0, 5), None);
    assert!(measure(folder.path(), &Options::default()).is_ok());
    std::fs::create_dir(folder.path().join("counters.json")).unwrap();
    assert!(measure(folder.path(), &Options::default()).is_err());
}

#[test]
fn a_missing_stamp_is_no_zero() {
    let mut sightings = path(0, 5);
    sightings.extend(path(1, 4));
    sightings.push(("sink in", 1, None));
    let measures = measured(&sightings, None);
    let path = &measures.paths[0];
    assert_eq!((path.count.received, path.count.missing_timestamp, path.count.lost), (2, 1, 0));
    assert_eq!(path.delay.as_ref().unwrap().count, 1);
}

#[test]
fn counters_explain_what_no_tap_can_see() {
    let name = &plan().streams[0].name;
    let counters = format!(
        r#"{{"interrupted": true, "streams": [{{"name": {name:?}, "released": 9, "dropped_at_talker": 4, "dropped_in_network": 1}}]}}"#
    );
    let sightings: Vec<_> =
        [(0, 5), (1, 3), (2, 3), (3, 2)].into_iter().flat_map(|(seq, taps)| path(seq, taps)).collect();
    let measures = measured(&sightings, Some(&counters));
    let count = &measures.paths[0].count;
    // Four frames were dropped after the last number that left; of three frames that did not arrive, one was
    // dropped.
    assert_eq!((count.never_sent, count.sent, count.lost, count.in_network_at_end), (Some(4), 4, 1, 2));
    assert_eq!(
        measures.source.warnings,
        ["the run was interrupted: it measures a shorter time than planned"]
    );
}

#[test]
fn requirements_say_what_is_late_and_which_quantiles_count() {
    let mut plan = plan();
    plan.streams[0].requirements.delay_ns = Some(299);
    plan.streams[0].requirements.delay_percentiles =
        vec![tsn_plan::Percentile { share_ppm: 999_900, delay_ns: 1 }];
    let measures = measure(folder(&plan, &path(0, 5), None).path(), &Options::default()).unwrap();
    let path = &measures.paths[0];
    assert_eq!((path.count.late, path.deadline_ns), (Some(1), Some(299)));
    let [percentile] = &path.delay_percentiles[..] else { panic!("{:?}", path.delay_percentiles) };
    assert_eq!((percentile.share_ppm, percentile.delay_ns), (999_900, 300));
}

#[test]
fn a_stream_that_nobody_sighted_has_no_figures() {
    let measures = measured(&[], None);
    let path = &measures.paths[0];
    assert_eq!((path.count.sent, path.count.late), (0, path.deadline_ns.map(|_| 0)));
    assert!(path.delay.is_none() && path.rate.sent_bps.is_none() && path.jitter.delay_step.is_none());
}

#[test]
fn observations_of_another_plan_are_refused() {
    let plan = plan();
    let folder = folder(&plan, &[], None);
    let mut other = plan;
    other.streams[0].name = "someone else".into();
    std::fs::write(folder.path().join("plan.json"), serde_json::to_string(&other).unwrap()).unwrap();
    let error = measure(folder.path(), &Options::default()).unwrap_err().to_string();
    assert!(error.contains("does not know stream \"someone else\""), "{error}");
}
