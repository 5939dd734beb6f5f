//! Logs of live talkers and listeners to observations, in addition to a run's captures or without them.

use crate::Error;
use crate::observe::{Captures, FrameCounts, from_first_octet, rate_bps};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use tsn_capture::file::open_regular;
use tsn_observation::parquet::Writer;
use tsn_observation::{Legend, Sighting, Sink, StreamLegend, log};
use tsn_plan::{Plan, Stage};

/// Most streams in a log that have only a number: as many as a listener distinguishes.
const MAX_UNNAMED_STREAMS: u32 = 1 << 16;

/// Adds the sightings of logs at the Plan's taps, and writes into the legend why taps have none.
pub(crate) fn read_live(
    plan: &Plan,
    captures: &Captures,
    legend: &mut Legend,
    all: &mut Vec<Sighting>,
    found: &mut FrameCounts,
) -> Result<(), Error> {
    let captured = |tap: u16| captures.files.iter().any(|(number, _)| *number == tap);
    for path in &captures.logs {
        let (said, sightings) = read(path)?;
        for (tap, own) in legend.taps.iter_mut().zip(&said.taps) {
            tap.missing = own.missing.clone().or(tap.missing.take());
        }
        for sighting in sightings.into_iter().filter(|sighting| !captured(sighting.tap)) {
            let count = found.frames.get_mut(usize::from(sighting.tap));
            let Some(count) = count.and_then(|taps| taps.get_mut(sighting.stream as usize)) else {
                found.foreign += 1;
                continue;
            };
            *count += 1;
            let t_ns =
                sighting.t_ns.and_then(|t_ns| captures.plan_ns_of_tai(t_ns, moved_ns(plan, &sighting)));
            all.push(Sighting { t_ns, ..sighting });
        }
    }
    for (tap, why) in &captures.missing {
        if let Some(tap) = legend.taps.get_mut(usize::from(*tap)) {
            tap.missing = Some(why.clone());
        }
    }
    for (tap, sighted) in legend.taps.iter_mut().zip(&found.frames) {
        if sighted.iter().any(|frames| *frames > 0) {
            tap.missing = None;
        }
    }
    Ok(())
}

/// Delay from the timestamp to the tap's own point of a frame: talkers have timestamps of network cards, at the first
/// octet.
fn moved_ns(plan: &Plan, sighting: &Sighting) -> i128 {
    match plan.taps.get(usize::from(sighting.tap)) {
        Some(tap) if tap.stage == Stage::Tx => {
            (from_first_octet(tap.point, sighting.octets) * 8_000_000_000).div_euclid(rate_bps(plan, tap))
        }
        _ => 0,
    }
}

/// Merges logs into one file of observations, in order of time; timestamps stay on the clocks that the logs name.
///
/// # Errors
/// When a log or the file cannot be read or written.
pub fn merge(logs: &[PathBuf], into: &Path) -> Result<(), Error> {
    let mut legend = Legend::default();
    let mut all = Vec::new();
    for path in logs {
        let (own, sightings) = read(path)?;
        let unnamed = |stream: &u32| *stream >= MAX_UNNAMED_STREAMS && *stream as usize >= own.streams.len();
        if let Some(stream) = sightings.iter().map(|sighting| sighting.stream).find(unnamed) {
            let problem = format!(
                "stream {stream} has no name in it, which only streams below {MAX_UNNAMED_STREAMS} may"
            );
            let error = io::Error::new(io::ErrorKind::InvalidData, problem);
            return Err(Error::File { path: path.clone(), error });
        }
        let before = u16::try_from(legend.taps.len()).unwrap_or(u16::MAX);
        let used: Vec<bool> = (0..own.taps.len())
            .map(|tap| sightings.iter().any(|sighting| usize::from(sighting.tap) == tap))
            .collect();
        all.extend(
            sightings
                .into_iter()
                .map(|sighting| Sighting { tap: sighting.tap.saturating_add(before), ..sighting }),
        );
        legend.taps.extend(own.taps.into_iter().zip(used).map(|(mut tap, used)| {
            if used {
                tap.missing = None;
            }
            tap
        }));
        // A Plan's names of streams are better than the numbers that a listener alone has.
        let named = own.plan.is_some() && legend.plan.is_none();
        for (number, stream) in own.streams.into_iter().enumerate() {
            match legend.streams.get_mut(number) {
                Some(place) if named => *place = stream,
                Some(_) => {}
                None => legend.streams.push(stream),
            }
        }
        legend.plan = legend.plan.or(own.plan);
    }
    let most = all.iter().map(|sighting| sighting.stream).max();
    for number in legend.streams.len()..most.map_or(0, |most| most as usize + 1) {
        let name = format!("stream {number}");
        legend.streams.push(StreamLegend { group: name.clone(), name });
    }
    all.sort_by_key(|sighting| (sighting.t_ns, sighting.tap));
    let failed = |error| Error::Observations { path: into.to_owned(), error };
    let mut writer = Writer::create(into, &legend).map_err(failed)?;
    for sighting in all {
        writer.sight(sighting).map_err(|error| Error::File { path: into.to_owned(), error })?;
    }
    writer.finish().map_err(failed)?;
    Ok(())
}

fn read(path: &Path) -> Result<(Legend, Vec<Sighting>), Error> {
    let failed = |error| Error::File { path: path.to_owned(), error };
    log::read(&mut BufReader::new(open_regular(path).map_err(failed)?)).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use tsn_observation::TapLegend;
    use tsn_observation::parquet::Reader;

    const ONE: Sighting =
        Sighting { tap: 0, stream: 0, seq: 3, copy: 0, t_ns: Some(5_000), octets: 64, pcp: 0, vid: 0 };

    fn tap(name: &str, missing: Option<&str>) -> TapLegend {
        TapLegend {
            name: name.into(),
            node: "n".into(),
            stage: "send".into(),
            clock: "tai".into(),
            point: "start".into(),
            missing: missing.map(str::to_owned),
        }
    }

    fn written(folder: &Path, name: &str, legend: &Legend, sightings: &[Sighting]) -> PathBuf {
        let path = folder.join(name);
        log::write(&mut File::create(&path).unwrap(), legend, sightings).unwrap();
        path
    }

    #[test]
    fn logs_of_both_ends_become_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let streams = |name: &str| vec![StreamLegend { name: name.into(), group: name.into() }];
        let first = Legend { plan: None, taps: vec![tap("rx", None)], streams: streams("stream 0") };
        let taps = vec![tap("send", Some("?")), tap("tx", Some("no hardware"))];
        let second = Legend { plan: Some("h".into()), taps, streams: streams("loop") };
        let files = [
            written(folder.path(), "l", &first, &[Sighting { t_ns: Some(9), ..ONE }]),
            written(folder.path(), "t", &second, &[ONE, Sighting { stream: 1, t_ns: Some(1), ..ONE }]),
        ];
        let into = folder.path().join("observations.parquet");
        merge(&files, &into).unwrap();
        let mut reader = Reader::open(&into).unwrap();
        let legend = reader.legend().clone();
        let names: Vec<_> = legend.taps.iter().map(|tap| (&*tap.name, tap.missing.as_deref())).collect();
        assert_eq!(names, [("rx", None), ("send", None), ("tx", Some("no hardware"))]);
        let names: Vec<_> = legend.streams.iter().map(|stream| &*stream.name).collect();
        assert_eq!(names, ["loop", "stream 1"]);
        let mut rows = Vec::new();
        assert!(reader.read(&mut rows).unwrap());
        let seen: Vec<_> = rows.iter().map(|row| (row.tap, row.stream, row.t_ns)).collect();
        assert_eq!(seen, [(1, 1, Some(1)), (0, 0, Some(9)), (1, 0, Some(5_000))]);
    }

    #[test]
    fn streams_are_called_by_the_first_log_that_has_a_plan_and_else_by_the_first_log() {
        let folder = tempfile::tempdir().unwrap();
        let log = |name: &str, plan: Option<&str>| {
            let streams = vec![StreamLegend { name: name.into(), group: name.into() }];
            let legend = Legend { plan: plan.map(str::to_owned), taps: vec![tap("rx", None)], streams };
            written(folder.path(), name, &legend, &[ONE])
        };
        let logs = [
            log("listener", None),
            log("listener too", None),
            log("talker", Some("one plan")),
            log("talker too", Some("another plan")),
        ];
        let into = folder.path().join("observations.parquet");
        for (count, name) in [(2, "listener"), (3, "talker"), (4, "talker")] {
            merge(&logs[..count], &into).unwrap();
            let legend = Reader::open(&into).unwrap().legend().clone();
            let names: Vec<_> = legend.streams.iter().map(|stream| stream.name.as_str()).collect();
            assert_eq!(names, [name], "{count} logs");
        }
    }

    #[test]
    fn what_a_log_sighted_at_a_tap_with_a_capture_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let mut legend =
            Legend { plan: None, taps: vec![tap("rx", None), tap("send", None)], streams: Vec::new() };
        let logs = vec![written(folder.path(), "log", &legend, &[ONE, Sighting { tap: 1, seq: 4, ..ONE }])];
        // The captures are read elsewhere.
        let captures =
            Captures { dilate: 1, files: vec![(0, "rx.pcapng".into())], logs, ..Captures::default() };
        let mut found = FrameCounts { frames: vec![vec![0], vec![0]], foreign: 0 };
        let mut all = Vec::new();
        let mut plan = Plan::read(include_str!("../../../sim/tests/plans/one-hop.json")).unwrap();
        plan.taps.clear();
        read_live(&plan, &captures, &mut legend, &mut all, &mut found).unwrap();
        assert_eq!(all.iter().map(|sighting| (sighting.tap, sighting.seq)).collect::<Vec<_>>(), [(1, 4)]);
        assert_eq!(found, FrameCounts { frames: vec![vec![0], vec![1]], foreign: 0 });
    }

    /// A number without a name would require as many names below it.
    #[test]
    fn a_stream_that_no_listener_can_have_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let into = folder.path().join("observations.parquet");
        let legend = Legend { plan: None, taps: vec![tap("rx", None)], streams: Vec::new() };
        let log = |name: &str, stream: u32| {
            written(folder.path(), name, &legend, &[ONE, Sighting { stream, ..ONE }])
        };
        merge(&[log("last", MAX_UNNAMED_STREAMS - 1)], &into).unwrap();
        for stream in [MAX_UNNAMED_STREAMS, u32::MAX] {
            let error = merge(&[log("beyond", stream)], &into).unwrap_err().to_string();
            assert!(
                error.ends_with(&format!(
                    "stream {stream} has no name in it, which only streams below 65536 may"
                )),
                "{error}"
            );
        }
    }

    #[test]
    fn a_runs_logs_come_into_the_plans_time_where_there_is_no_capture() {
        let plan = Plan::read(include_str!("../../../sim/tests/plans/one-hop.json")).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let taps = plan.taps.iter().map(|one| tap(&one.name, None)).collect();
        let legend = Legend { plan: None, taps, streams: Vec::new() };
        let at = |tap| Sighting { tap, t_ns: Some(7_000_000_000), ..ONE };
        let logs =
            vec![written(folder.path(), "t", &legend, &[at(0), at(99), Sighting { stream: 77, ..at(0) }])];
        let captures = Captures {
            epoch_ns: 5_000_000_000,
            dilate: 10,
            logs,
            missing: vec![(0, "never".into()), (1, "nobody looked".into())],
            ..Captures::default()
        };
        let into = folder.path().join("observations.parquet");
        let found = crate::observe::captures::observe(&plan, &legend, &captures, &into).unwrap();
        assert_eq!((found.foreign, found.frames[0][0]), (2, 1));
        let mut reader = Reader::open(&into).unwrap();
        assert_eq!(reader.legend().taps[0].missing, None);
        assert_eq!(reader.legend().taps[1].missing.as_deref(), Some("nobody looked"));
        let mut rows = Vec::new();
        assert!(reader.read(&mut rows).unwrap());
        assert_eq!(rows[0].t_ns, Some(200_000_000));
        assert!(
            crate::observe::captures::observe(
                &plan,
                &legend,
                &Captures { logs: vec![into.clone()], ..captures },
                &into
            )
            .is_err()
        );
    }
}
