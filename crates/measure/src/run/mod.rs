//! A run folder to measures: the Plan contains the intended times, the observations contain the observed ones.

mod counters;
mod repeated;
mod tap_path;
mod uncertain;

use crate::Error;
use crate::frame_table::FrameTable;
use crate::offset;
use crate::pair::{FrameSink, Path};
use crate::report::{FORMAT, Measures, Source, SourceFile};
use crate::stamps::Stamps;
use crate::statistics::path_statistics::PathOptions;
use crate::summarise::{self, PathInfo};
use counters::Counters;
use repeated::Shorter;
use serde::Deserialize;
use std::collections::HashMap;
use std::path::Path as FilePath;
use tap_path::Role;
use tsn_capture::file::{open_regular, read_regular};
use tsn_observation::parquet::{Reader, read_all};
use tsn_observation::{ELIMINATED, Legend, Sighting};
use tsn_plan::{Pattern, Plan, Size, Stage, Stream};
use uncertain::Uncertain;

/// The file names of the run folder.
const PLAN: &str = "plan.json";
const OBSERVATIONS: &str = "observations.parquet";
const FRAMES: &str = "frames";
const COUNTERS: &str = "counters.json";
/// Most octets of a Plan or of counters.
const MAX_TEXT_OCTETS: u64 = 1 << 30;

/// The options of the caller.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The receiving clocks minus the sending clocks, in whole seconds; it is subtracted from every delay.
    pub offset_s: Option<i64>,
    /// The first stage; by default the one at which frames leave the talker.
    pub from: Option<Stage>,
    /// The last stage; by default the arrival at the listener's port.
    pub to: Option<Stage>,
    /// The readings of the clocks that made the timestamps; without them no time gets an uncertainty.
    pub stamps: Option<Stamps>,
    /// The end of the warm-up, ns: frames that leave earlier do not count. The table of frames has them.
    pub after_ns: Option<i64>,
    /// From when on frames count, ns: those that leave earlier neither count nor are in the table of frames.
    pub from_ns: Option<i64>,
}

impl Options {
    /// The first and the last stage.
    fn between(&self) -> (Stage, Stage) {
        (self.from.unwrap_or(Stage::Tx), self.to.unwrap_or(Stage::Rx))
    }

    /// The name of the table of frames; a table between other stages has a name of its own.
    fn frames(&self) -> String {
        match self.between() {
            (Stage::Tx, Stage::Rx) => format!("{FRAMES}.parquet"),
            (from, to) => format!("{FRAMES}-{}-{}.parquet", from.name(), to.name()),
        }
    }
}

/// Measures the run in `folder` and writes its table of frames there.
///
/// # Errors
/// When the folder contains no run, or an incomplete one.
pub fn measure(folder: &FilePath, options: &Options) -> Result<Measures, Error> {
    let plan_file = folder.join(PLAN);
    let text = read_regular(&plan_file, MAX_TEXT_OCTETS)
        .map_err(|error| Error::File { path: plan_file.clone(), error })?;
    let plan = Plan::read(&text).map_err(|error| Error::Plan { path: plan_file, error })?;
    let observations = folder.join(OBSERVATIONS);
    let failed = |error| Error::Observations { path: observations.clone(), error };
    let open =
        || Reader::new(open_regular(&observations).map_err(|error| failed(error.into()))?).map_err(failed);
    let mut reader = open()?;
    let mut paths = Paths::new(&plan, reader.legend(), options)?;
    let table = FrameTable::create(&folder.join(options.frames()), options.stamps.is_some())?;
    let ends = paths.all.iter().map(|(info, _)| info).zip(paths.talkers.iter().copied());
    let mut table = Uncertain::new(table, &plan, ends, options.stamps.as_ref(), options.from_ns);
    let (mut paths, rows) = match Shorter::of(&reader, &paths, options) {
        None => {
            let rows = read_all(&mut reader, None, |one| paths.sight(one, &mut table)).map_err(failed)?;
            (paths.finish(&mut table, None), rows)
        }
        Some(shorter) => {
            let mut later = shorter.later(&mut table);
            let all = read_all(&mut reader, Some(shorter.times), |one| paths.sight(one, &mut later));
            let rows = all.map_err(failed)?;
            let mut paths = paths.finish(&mut later, Some((&shorter, shorter.times)));
            table.table.note_repeats(&shorter.of_frames());
            let mut longer = Paths::new(&plan, reader.legend(), options)?;
            let all = read_all(&mut open()?, Some(shorter.times + 1), |one| longer.sight(one, &mut ()));
            let more = all.map_err(failed)? - rows;
            let longer = longer.finish(&mut (), Some((&shorter, shorter.times + 1)));
            for ((_, path), (_, next)) in paths.iter_mut().zip(&longer) {
                path.extrapolate(next, shorter.left());
            }
            (paths, rows + more * shorter.left())
        }
    };
    for ((info, _), found) in paths.iter_mut().zip(table.found()) {
        info.uncertainty = found;
    }
    table.table.finish(&paths.iter().map(|(info, _)| info.name()).collect::<Vec<_>>())?;
    let mut source = Source { kind: "run", ..Source::default() };
    source.files.push(SourceFile {
        path: OBSERVATIONS.into(),
        side: "observations",
        interface: None,
        frames: rows,
    });
    if let Some(counters) = Counters::read(&folder.join(COUNTERS))? {
        let left = options.between().0 >= Stage::Driver;
        counters.explain(&mut paths, &plan, left, &mut source.warnings);
    }
    let offset = offset::find(paths.iter().map(|(_, path)| &path.statistics.delay), options.offset_s);
    let (single, groups) = summarise::reports(&paths);
    Ok(Measures { format: FORMAT, source, offset, paths: single, groups })
}

/// The path of every stream to every listener, and the role of each tap in each path.
struct Paths {
    all: Vec<(PathInfo, Path)>,
    /// By path, the node of its talker, and the observations' number of its stream.
    talkers: Vec<u32>,
    streams: Vec<usize>,
    /// By the observations' stream number: tap, path, and the tap's role in the path.
    roles: Vec<Vec<(u16, u32, Role)>>,
    /// The last timestamp of any frame: an interrupted run ends there.
    last_ns: Option<i64>,
}

impl Paths {
    fn new(plan: &Plan, legend: &Legend, options: &Options) -> Result<Self, Error> {
        let taps: HashMap<&str, u16> =
            legend.taps.iter().zip(0_u16..).map(|(tap, number)| (tap.name.as_str(), number)).collect();
        let streams: HashMap<&str, usize> = legend
            .streams
            .iter()
            .enumerate()
            .map(|(number, stream)| (stream.name.as_str(), number))
            .collect();
        let mut found = Self {
            all: Vec::new(),
            talkers: Vec::new(),
            streams: Vec::new(),
            roles: vec![Vec::new(); legend.streams.len()],
            last_ns: None,
        };
        for stream in &plan.streams {
            let Some(number) = streams.get(stream.name.as_str()) else {
                let problem = format!("{OBSERVATIONS} does not know stream {:?} of {PLAN}", stream.name);
                return Err(Error::Nothing(problem));
            };
            for listener in &stream.listeners {
                let tap_path = tap_path::tap_path(plan, stream, listener.route, &taps, options.between());
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "a Plan of four billion streams does not fit"
                )]
                let path = found.all.len() as u32;
                found.roles[*number].extend(tap_path.roles.iter().map(|(tap, role)| (*tap, path, *role)));
                let clock = |tap: Option<u16>| Some(legend.taps.get(usize::from(tap?))?.clock.clone());
                let name = |tap: Option<u16>| Some(legend.taps.get(usize::from(tap?))?.name.clone());
                let node = plan.nodes.get(listener.node as usize);
                let info = PathInfo {
                    stream: stream.name.clone(),
                    group: stream.group.clone(),
                    listener: node.map(|node| node.name.clone()).unwrap_or_default(),
                    tx_tap: name(tap_path.first),
                    rx_tap: name(tap_path.last),
                    tx_clock: clock(tap_path.first),
                    rx_clock: clock(tap_path.last),
                    taps: tap_path.names,
                    period_ns: period(stream),
                    deadline_ns: stream.requirements.delay_ns,
                    shares_ppm: stream
                        .requirements
                        .delay_percentiles
                        .iter()
                        .map(|one| one.share_ppm)
                        .collect(),
                    is_sequence: true,
                    numbers: None,
                    before_first: 0,
                    in_network_at_end: 0,
                    uncertainty: None,
                };
                let stop = stream.stop_ns.min(plan.duration_ns);
                let listens = stream.requirements.time_out_ns.or(stream.requirements.age_ns).is_some();
                let path_options = PathOptions {
                    path,
                    offset_ns: options.offset_s.unwrap_or(0).saturating_mul(1_000_000_000),
                    deadline_ns: info.deadline_ns.and_then(|deadline| i64::try_from(deadline).ok()),
                    ages: stream.requirements.age_ns.is_some(),
                    gaps: false,
                    ends_ns: listens.then_some(stop).and_then(|stop| i64::try_from(stop).ok()),
                    after_ns: options.after_ns.max(options.from_ns),
                };
                found.all.push((info, Path::from_zero(path_options)));
                found.talkers.push(stream.talker);
                found.streams.push(*number);
            }
        }
        Ok(found)
    }

    #[inline]
    fn sight(&mut self, sighting: &Sighting, out: &mut impl FrameSink) {
        self.last_ns = self.last_ns.max(sighting.t_ns);
        let Some(roles) = self.roles.get(sighting.stream as usize) else { return };
        for (tap, path, role) in roles {
            if *tap != sighting.tap {
                continue;
            }
            let path = &mut self.all[*path as usize].1;
            match role {
                Role::Send => path.send(sighting.seq, sighting.t_ns, out),
                // Member streams may leave by several ports; only the first departure of a frame counts.
                Role::First if sighting.copy > 0 && path.has_left(sighting.seq) => {}
                Role::First => path.tx(sighting.seq, sighting.t_ns, sighting.octets, out),
                Role::Between(place) => path.between(sighting.seq, *place, out),
                // A frame that is eliminated on arrival is not delivered, so it is not a duplicate.
                Role::Last if sighting.copy & ELIMINATED != 0 => {}
                Role::Last => {
                    path.rx(sighting.seq, sighting.t_ns, sighting.octets, out);
                }
            }
        }
    }

    /// Ends all paths; `shorter`: those of a run that is shorter, with so many periods.
    fn finish(mut self, out: &mut impl FrameSink, shorter: Option<(&Shorter, u64)>) -> Vec<(PathInfo, Path)> {
        for (_, path) in &mut self.all {
            if let Some((shorter, times)) = shorter {
                path.options.ends_ns = path.options.ends_ns.map(|ends| shorter.earlier(ends, times));
            }
            path.options.ends_ns = path.options.ends_ns.min(self.last_ns);
            path.finish(out);
        }
        self.all
    }
}

/// The gap between a stream's frames, if every data unit is one frame and the period is fixed.
fn period(stream: &Stream) -> Option<u64> {
    match (&stream.pattern, &stream.size) {
        (Pattern::Periodic { period_ns, .. }, Size::Frame { .. }) => Some(*period_ns),
        _ => None,
    }
}
