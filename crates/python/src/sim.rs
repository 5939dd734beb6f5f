//! The simulator: runs a plan into a folder, with progress and Ctrl-C.

use crate::disk::os_error;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tsn_plan::{Gates, Plan};
use tsn_sim::{
    GateCounters, Progress, SimError, expected_frame_hops,
    record::{record, record_passages, record_steady},
};

/// Interval at which Python gets the progress and checks for signals.
const TELL_EVERY: Duration = Duration::from_millis(100);

/// Runs a plan and writes observations, counters and captures into an existing folder; returns the counters as JSON.
///
/// With `whole_below`, a run of at least so many frames over links is searched for a repetition: one period then stands
/// for many, `steady.json` says so, and rows of the observations repeat. A run with captures is never.
///
/// `on_progress` is called with simulated ns and frame-hops. An exception of `on_progress`, or Ctrl-C, ends the run:
/// the files are completed with the observations so far, then the exception is raised.
#[pyfunction]
#[pyo3(signature = (plan_json, folder, pcap, on_progress=None, whole_below=None))]
fn simulate(
    py: Python<'_>,
    plan_json: &str,
    folder: PathBuf,
    pcap: bool,
    on_progress: Option<Py<PyAny>>,
    whole_below: Option<u64>,
) -> PyResult<String> {
    run(py, plan_json, on_progress, |plan, watch| match whole_below {
        Some(least) if !pcap && expected_frame_hops(plan) >= least => record_steady(plan, &folder, watch),
        _ => record(plan, &folder, pcap, watch),
    })
}

/// Runs a plan once more and writes observations, passages and clock lines into an existing folder; returns the
/// counters as JSON. Interruptions are those of `simulate`.
#[pyfunction]
#[pyo3(signature = (plan_json, folder, on_progress=None))]
fn simulate_passages(
    py: Python<'_>,
    plan_json: &str,
    folder: PathBuf,
    on_progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    run(py, plan_json, on_progress, |plan, watch| record_passages(plan, &folder, watch))
}

/// Runs a plan by `record`, with progress and Ctrl-C.
fn run(
    py: Python<'_>,
    plan_json: &str,
    on_progress: Option<Py<PyAny>>,
    record: impl FnOnce(
        &Plan,
        &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<tsn_sim::RunCounters, SimError>
    + Send,
) -> PyResult<String> {
    let mut raised: Option<PyErr> = None;
    let result = py.detach(|| {
        let plan = Plan::read(plan_json)?;
        let mut told = Instant::now();
        let mut watch = |progress: Progress| {
            if told.elapsed() < TELL_EVERY {
                return ControlFlow::Continue(());
            }
            told = Instant::now();
            match Python::attach(|py| tell(py, on_progress.as_ref(), progress)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    raised = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        record(&plan, &mut watch)
    });
    let counters = result.map_err(|error| match error {
        SimError::Plan(_) | SimError::TooMany { .. } => PyValueError::new_err(error.to_string()),
        SimError::Output(_) | SimError::Observations(_) => os_error(error.to_string(), error.disk()),
    })?;
    match raised {
        Some(error) => Err(error),
        None => serde_json::to_string(&counters).map_err(|error| PyValueError::new_err(error.to_string())),
    }
}

/// The file names of the captures of a plan's taps, tap by tap.
#[pyfunction]
fn capture_names(plan_json: &str) -> PyResult<Vec<String>> {
    let plan = Plan::read(plan_json).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(tsn_sim::record::capture_names(&plan))
}

/// When each gate control list of a port (`gates` of a plan, as JSON) comes into force until `until_ns`: `in_force` of
/// the counters; empty if one list is in force from the begin.
///
/// Raises ValueError if the gates cannot be read.
#[pyfunction]
fn lists_in_force(gates_json: &str, until_ns: i64) -> PyResult<String> {
    let refuse = |error: serde_json::Error| PyValueError::new_err(error.to_string());
    let gates: Gates = serde_json::from_str(gates_json).map_err(refuse)?;
    let found = GateCounters::new(&gates, until_ns).map_or_else(Vec::new, |own| own.in_force);
    serde_json::to_string(&found).map_err(refuse)
}

fn tell(py: Python<'_>, on_progress: Option<&Py<PyAny>>, progress: Progress) -> PyResult<()> {
    py.check_signals()?;
    if let Some(callable) = on_progress {
        let simulated_ns = (progress.now - tsn_units::Instant::EPOCH).floor_ns();
        callable.call1(py, (simulated_ns, progress.frame_hops))?;
    }
    Ok(())
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(simulate, module)?)?;
    module.add_function(wrap_pyfunction!(simulate_passages, module)?)?;
    module.add_function(wrap_pyfunction!(lists_in_force, module)?)?;
    module.add_function(wrap_pyfunction!(capture_names, module)?)
}
