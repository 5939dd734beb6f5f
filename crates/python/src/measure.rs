//! Sightings and captures to measures.

use crate::disk::os_error;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::path::PathBuf;
use tsn_capture::{CapturedInterface, InterfaceId};
use tsn_measure::captures::capture_file::CaptureFile;
use tsn_measure::observe::{self, logs};
use tsn_measure::statistics::distribution::Distribution;
use tsn_measure::{Error, captures, report::Measures, run, trdp};
use tsn_plan::Plan;

/// Measures a run folder; returns `tsnbench-measures/1` as JSON.
#[pyfunction]
fn measure_run(py: Python<'_>, folder: PathBuf, options_json: &str) -> PyResult<String> {
    let options: run::Options = options(options_json)?;
    json(py.detach(|| run::measure(&folder, &options)))
}

/// A capture file, and the only interface that is read (see [`InterfaceId`]): name, earlier namesakes, index.
type NativeFile = (PathBuf, Option<(Option<String>, u32, Option<u32>)>);

fn file((path, interface): NativeFile) -> CaptureFile {
    let interface = interface.map(|(name, before, index)| InterfaceId { name, before, index });
    CaptureFile { path, interface }
}

/// An interface with frames: its words, what identifies it (as in [`NativeFile`]), and its frames.
type NativeInterface = (String, (Option<String>, u32, Option<u32>), u64);

fn native(found: Vec<CapturedInterface>) -> Vec<NativeInterface> {
    let one = |CapturedInterface { id, frames }| (id.to_string(), (id.name, id.before, id.index), frames);
    found.into_iter().map(one).collect()
}

/// The interfaces of a capture file that have frames.
#[pyfunction]
fn capture_interfaces(py: Python<'_>, path: PathBuf) -> PyResult<Vec<NativeInterface>> {
    let found = py.detach(|| tsn_capture::Reader::open(&path).and_then(tsn_capture::interfaces));
    Ok(native(found.map_err(|error| failed(&Error::Capture { path, error }))?))
}

/// For each Sync of a capture, in its order: its time, and how far the time that it tells is ahead of that, in ns.
#[pyfunction]
fn times_told(py: Python<'_>, path: PathBuf) -> PyResult<Vec<(i64, f64)>> {
    let found =
        py.detach(|| tsn_capture::Reader::open(&path).and_then(|mut file| captures::told::told(&mut file)));
    let found = found.map_err(|error| failed(&Error::Capture { path, error }))?;
    let ahead = |one: &captures::told::Told| (one.told_ps - i128::from(one.at_ns) * 1_000) as f64 / 1_000.0;
    Ok(found.iter().map(|one| (one.at_ns, ahead(one))).collect())
}

/// Measures captures of both ends; returns `tsnbench-measures/1` as JSON.
#[pyfunction]
#[pyo3(signature = (tx, rx, options_json, frames=None))]
fn measure_captures(
    py: Python<'_>,
    tx: Vec<NativeFile>,
    rx: Vec<NativeFile>,
    options_json: &str,
    frames: Option<PathBuf>,
) -> PyResult<String> {
    let options: captures::Options = options(options_json)?;
    let [tx, rx] = [tx, rx].map(|files| files.into_iter().map(file).collect::<Vec<_>>());
    json(py.detach(|| captures::measure(&tx, &rx, &options, frames.as_deref())))
}

/// Measures the TRDP telegrams of captures of one place; returns `tsnbench-trdp/1` as JSON.
#[pyfunction]
fn measure_trdp(py: Python<'_>, files: Vec<NativeFile>, options_json: &str) -> PyResult<String> {
    let options: trdp::Options = options(options_json)?;
    let files: Vec<CaptureFile> = files.into_iter().map(file).collect();
    let measures = py.detach(|| trdp::measure(&files, &options)).map_err(|error| failed(&error))?;
    serde_json::to_string(&measures).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Reads one capture; returns `tsnbench-measures/1`, `tsnbench-protocols/1` and `tsnbench-trdp/1` (or null) as JSON, and
/// the interfaces that have frames.
#[pyfunction]
#[pyo3(signature = (from, frames=None, time_out_ns=None))]
fn inspect_capture(
    py: Python<'_>,
    from: NativeFile,
    frames: Option<PathBuf>,
    time_out_ns: Option<i64>,
) -> PyResult<(String, String, String, Vec<NativeInterface>)> {
    let from = file(from);
    let found = py.detach(|| captures::inspect::inspect(&from, frames.as_deref(), time_out_ns));
    let found = found.map_err(|error| failed(&error))?;
    let wrong = |error: serde_json::Error| PyValueError::new_err(error.to_string());
    let protocols = serde_json::to_string(&found.protocols).map_err(wrong)?;
    let trdp = serde_json::to_string(&found.trdp).map_err(wrong)?;
    Ok((json(Ok(found.measures))?, protocols, trdp, native(found.interfaces)))
}

/// The statistics of the samples of one series, in ns, as JSON: `null` without a sample. `…_seq` is the index of a
/// sample. `times` is how often each sample was observed; without it, each was observed once.
#[pyfunction]
#[pyo3(signature = (samples, times=None))]
fn statistics(py: Python<'_>, samples: Vec<i64>, times: Option<Vec<u64>>) -> PyResult<String> {
    let stat = py.detach(|| {
        let mut found = Distribution::default();
        let times = times.unwrap_or_else(|| vec![1; samples.len()]);
        for ((sample, times), place) in samples.into_iter().zip(times).zip(0..) {
            found.add_many(sample, times, place, 0);
        }
        found.stat()
    });
    serde_json::to_string(&stat).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Writes a run's observations from captures at the Plan's taps (see [`observe::Captures`]); returns the findings as
/// JSON. `clock` names the clock of the captures; `missing` is the reason why taps without a capture have no
/// timestamps.
#[pyfunction]
fn observe_captures(
    py: Python<'_>,
    plan_json: &str,
    captures_json: &str,
    into: PathBuf,
    clock: &str,
    missing: &str,
) -> PyResult<String> {
    let captures: observe::Captures = options(captures_json)?;
    let plan = Plan::read(plan_json).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let mut legend = tsn_sim::record::legend(&plan);
    for (tap, number) in legend.taps.iter_mut().zip(0..) {
        clock.clone_into(&mut tap.clock);
        if captures.files.iter().all(|(captured, _)| *captured != number) {
            tap.missing = Some(missing.to_owned());
        }
    }
    let found = py.detach(|| observe::captures::observe(&plan, &legend, &captures, &into));
    let found = found.map_err(|error| failed(&error))?;
    serde_json::to_string(&found).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Merges the sightings of live talkers and listeners into one file of observations (see [`logs::merge`]).
#[pyfunction]
fn merge_logs(py: Python<'_>, from: Vec<PathBuf>, into: PathBuf) -> PyResult<()> {
    py.detach(|| logs::merge(&from, &into)).map_err(|error| os_error(error.to_string(), error.disk()))
}

fn options<T: for<'a> serde::Deserialize<'a>>(text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| PyValueError::new_err(format!("options: {error}")))
}

fn json(measures: Result<Measures, Error>) -> PyResult<String> {
    let measures = measures.map_err(|error| failed(&error))?;
    serde_json::to_string(&measures).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn failed(error: &Error) -> PyErr {
    match error {
        Error::File { .. } | Error::Frames { .. } => os_error(error.to_string(), error.disk()),
        other if other.disk().is_some() => os_error(other.to_string(), other.disk()),
        other => PyValueError::new_err(other.to_string()),
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(measure_run, module)?)?;
    module.add_function(wrap_pyfunction!(capture_interfaces, module)?)?;
    module.add_function(wrap_pyfunction!(times_told, module)?)?;
    module.add_function(wrap_pyfunction!(measure_captures, module)?)?;
    module.add_function(wrap_pyfunction!(measure_trdp, module)?)?;
    module.add_function(wrap_pyfunction!(inspect_capture, module)?)?;
    module.add_function(wrap_pyfunction!(statistics, module)?)?;
    module.add_function(wrap_pyfunction!(observe_captures, module)?)?;
    module.add_function(wrap_pyfunction!(merge_logs, module)?)
}
