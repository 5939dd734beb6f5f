//! A run on disk: observations as Parquet, counters as JSON, and captures if requested.

use crate::error::SimError;
use crate::kernel::simulation::{Progress, Simulation};
use crate::output::captures::Captures;
use crate::output::counters::RunCounters;
use crate::steady::{Found, Steady, find};
use std::fs::File;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use tsn_observation::parquet::{TableWriter, Writer};
use tsn_observation::{
    ClockError, ClockLine, Expired, Fragment, Legend, Passage, Sighting, Sink, StreamLegend, TapLegend,
};
use tsn_plan::{Plan, Point};
use tsn_units::{Clock, True};

/// The run folder's file of observations.
pub const OBSERVATIONS: &str = "observations.parquet";
/// The run folder's file of counters.
pub const COUNTERS: &str = "counters.json";
/// The run folder's file of clocks' errors, where the Plan has clocks.
pub const CLOCK_ERROR: &str = "clock_error.parquet";
/// The passages of a run that is replayed.
pub const PASSAGES: &str = "passages.parquet";
/// The mPackets of interrupted frames of a run that is replayed.
pub const FRAGMENTS: &str = "fragments.parquet";
/// The frames of a run that is replayed which waited for the longest time of a queue.
pub const EXPIRED: &str = "expired.parquet";
/// The clocks of a run that is replayed.
pub const CLOCK_LINES: &str = "clock_lines.parquet";
/// The run folder's file about its repetition: `tsnbench-steady/1`.
pub const STEADY: &str = "steady.json";
/// The run folder's folder of captures.
pub const CAPTURES: &str = "captures";

/// Runs a plan into an existing folder, and simulates one period of those that repeat (see [`crate::find_repetition`]):
/// the rows of that period stand for the others.
///
/// # Errors
/// The plan cannot be run, or a file cannot be written.
pub fn record_steady(
    plan: &Plan,
    folder: &Path,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<RunCounters, SimError> {
    let mut broken = false;
    let watch = &mut |progress: Progress| {
        broken = broken || watch(progress).is_break();
        if broken { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let (counters, steady) = match &find(plan, watch)? {
        Found::Steady(steady) => record_repeating(plan, steady, folder, watch)?,
        Found::Not(reason) => (record(plan, folder, false, watch)?, serde_json::json!({ "reason": reason })),
    };
    write_json(&folder.join(STEADY), &steady)?;
    Ok(counters)
}

fn record_repeating(
    plan: &Plan,
    steady: &Steady,
    folder: &Path,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<(RunCounters, serde_json::Value), SimError> {
    let shorter = steady.shortened(plan);
    let observations = Writer::create(&folder.join(OBSERVATIONS), &legend(plan))?;
    let (mut observations, found) = Simulation::new(&shorter)?.run_repeating(steady, observations, watch)?;
    let note = match &found.repeats {
        Some(repeats) => {
            observations.note_repeats(repeats)?;
            serde_json::json!({
                "steady_from_ns": repeats.steady_from_ns,
                "period_ns": repeats.period_ns,
                "repeated": repeats.times,
                "simulated_ns": plan.duration_ns.saturating_sub(steady.skipped_ns().unsigned_abs()),
            })
        }
        None => serde_json::json!({ "reason": "it was interrupted" }),
    };
    observations.finish()?;
    write_json(&folder.join(COUNTERS), &found.counters)?;
    Ok((found.counters, note))
}

fn write_json(path: &Path, what: &impl serde::Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec_pretty(what)?;
    text.push(b'\n');
    File::create(path)?.write_all(&text)
}

/// Runs a plan into an existing folder, each frame of it. The files can be read also after an interruption.
///
/// # Errors
/// The plan cannot be run, or a file cannot be written.
pub fn record(
    plan: &Plan,
    folder: &Path,
    pcap: bool,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<RunCounters, SimError> {
    let simulation = Simulation::new(plan)?;
    let observations = Writer::create(&folder.join(OBSERVATIONS), &legend(plan))?;
    let counters = if pcap || plan.clocks.is_some() {
        let captures = if pcap { Some(Captures::create(&folder.join(CAPTURES), plan)?) } else { None };
        let names: Vec<&str> = plan.nodes.iter().map(|node| node.name.as_str()).collect();
        let clocks = match plan.clocks {
            Some(_) => Some(TableWriter::create(&folder.join(CLOCK_ERROR), &names)?),
            None => None,
        };
        let mut all = All { observations, captures, clocks };
        let counters = simulation.run(&mut all, watch)?;
        all.captures.map_or(Ok(()), Captures::finish)?;
        all.clocks.map_or(Ok(()), TableWriter::finish)?;
        all.observations.finish()?;
        counters
    } else {
        let mut observations = observations;
        let counters = simulation.run(&mut observations, watch)?;
        observations.finish()?;
        counters
    };
    write_json(&folder.join(COUNTERS), &counters)?;
    Ok(counters)
}

/// Runs a plan into an existing folder: its observations, and the passages of all frames through all ports.
///
/// # Errors
/// The plan cannot be run, or a file cannot be written.
pub fn record_passages(
    plan: &Plan,
    folder: &Path,
    watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<RunCounters, SimError> {
    let mut all = Journaled {
        observations: Writer::create(&folder.join(OBSERVATIONS), &legend(plan))?,
        passages: TableWriter::new(File::create(folder.join(PASSAGES))?)?,
        fragments: TableWriter::new(File::create(folder.join(FRAGMENTS))?)?,
        expired: TableWriter::new(File::create(folder.join(EXPIRED))?)?,
        clocks: TableWriter::new(File::create(folder.join(CLOCK_LINES))?)?,
    };
    let counters = Simulation::new(plan)?.run(&mut all, watch)?;
    all.observations.finish()?;
    all.passages.finish()?;
    all.fragments.finish()?;
    all.expired.finish()?;
    all.clocks.finish()?;
    Ok(counters)
}

/// The file names of the captures of a plan's taps, tap by tap.
#[must_use]
pub fn capture_names(plan: &Plan) -> Vec<String> {
    crate::output::captures::file_names(plan)
}

/// The meaning of the numbers in a plan's sightings.
#[must_use]
pub fn legend(plan: &Plan) -> Legend {
    let tap = |tap: &tsn_plan::Tap| {
        let node = plan.ports.get(tap.port as usize).and_then(|port| plan.nodes.get(port.node as usize));
        let point = match tap.point {
            Point::Start => "start",
            Point::End => "end",
        };
        TapLegend {
            name: tap.name.clone(),
            node: node.map(|node| node.name.clone()).unwrap_or_default(),
            stage: tap.stage.name().into(),
            clock: match (&plan.clocks, node) {
                (Some(_), Some(node)) => node.name.clone(),
                _ => True::NAME.into(),
            },
            point: point.into(),
            missing: None,
        }
    };
    let stream =
        |stream: &tsn_plan::Stream| StreamLegend { name: stream.name.clone(), group: stream.group.clone() };
    Legend {
        plan: plan.hash.clone(),
        taps: plan.taps.iter().map(tap).collect(),
        streams: plan.streams.iter().map(stream).chain(crate::clocks::ptp_taps::legend(plan)).collect(),
    }
}

/// A sink that passes sightings and clock errors to all outputs.
struct All {
    observations: Writer,
    captures: Option<Captures>,
    clocks: Option<TableWriter<ClockError>>,
}

impl Sink for All {
    fn sight(&mut self, sighting: Sighting) -> io::Result<()> {
        self.observations.sight(sighting)?;
        self.captures.as_mut().map_or(Ok(()), |captures| captures.sight(sighting))
    }

    fn frame(&mut self, sighting: Sighting, octets: &[u8]) -> io::Result<()> {
        self.observations.sight(sighting)?;
        self.captures.as_mut().map_or(Ok(()), |captures| captures.frame(sighting, octets))
    }

    fn answer(&mut self, stream: u32, seq: u64, request: u64) -> io::Result<()> {
        self.captures.as_mut().map_or(Ok(()), |captures| captures.answer(stream, seq, request))
    }

    fn clock_error(&mut self, error: ClockError) -> io::Result<()> {
        Ok(self.clocks.as_mut().map_or(Ok(()), |clocks| clocks.put(error))?)
    }
}

/// A sink for a run that is replayed.
struct Journaled {
    observations: Writer,
    passages: TableWriter<Passage>,
    fragments: TableWriter<Fragment>,
    expired: TableWriter<Expired>,
    clocks: TableWriter<ClockLine>,
}

impl Sink for Journaled {
    const PASSAGES: bool = true;

    fn sight(&mut self, sighting: Sighting) -> io::Result<()> {
        self.observations.sight(sighting)
    }

    fn passage(&mut self, passage: Passage) -> io::Result<()> {
        Ok(self.passages.put(passage)?)
    }

    fn fragment(&mut self, fragment: Fragment) -> io::Result<()> {
        Ok(self.fragments.put(fragment)?)
    }

    fn expired(&mut self, frame: Expired) -> io::Result<()> {
        Ok(self.expired.put(frame)?)
    }

    fn clock_line(&mut self, line: ClockLine) -> io::Result<()> {
        Ok(self.clocks.put(line)?)
    }
}
