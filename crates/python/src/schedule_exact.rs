//! The part of a schedule's problem that another engine needs, and the proof that the engine's result is a schedule.

use crate::schedule::GateColumns;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;
use tsn_schedule::{Engine, Placed, Problem, Reason, Refusal, gate_lists};

fn refuse(error: &dyn std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Up to `most` paths of every stream of a problem (JSON) with the times of every hop, as JSON.
///
/// Raises ValueError if the problem is invalid.
#[pyfunction]
fn candidate_paths(py: Python<'_>, problem_json: &str, most: u32) -> PyResult<String> {
    let problem: Problem = serde_json::from_str(problem_json).map_err(|error| refuse(&error))?;
    problem.check().map_err(|error| refuse(&error))?;
    let found = py.detach(|| tsn_schedule::candidate_paths(&problem, most));
    serde_json::to_string(&found).map_err(|error| refuse(&error))
}

#[derive(Serialize)]
struct Taken {
    /// Streams that could not be placed so, with reasons.
    refused: Vec<(u32, Refusal)>,
    gates: Vec<GateColumns>,
    reasons: Vec<Reason>,
    sentences: Vec<String>,
}

/// Places the streams of a problem (JSON) at given places (JSON); returns the streams that cannot be there, and every
/// link's gate list, as JSON.
///
/// Raises ValueError if the problem is invalid.
#[pyfunction]
fn schedule_placed(py: Python<'_>, problem_json: &str, placed_json: &str) -> PyResult<String> {
    let problem: Problem = serde_json::from_str(problem_json).map_err(|error| refuse(&error))?;
    let placed: Vec<Option<Placed>> = serde_json::from_str(placed_json).map_err(|error| refuse(&error))?;
    problem.check().map_err(|error| refuse(&error))?;
    let taken = py.detach(|| {
        let mut engine = Engine::new(problem);
        let refused = engine.keep_all(&placed);
        let (mut gates, mut reasons) = (Vec::new(), Vec::new());
        for list in gate_lists(engine.problem(), engine.placed()) {
            match list {
                Ok(list) => gates.push(list.into()),
                Err(refusal) => reasons.push(Reason::Gates { refusal }),
            }
        }
        let sentences = reasons.iter().map(ToString::to_string).collect();
        Taken { refused, gates, reasons, sentences }
    });
    serde_json::to_string(&taken).map_err(|error| refuse(&error))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(candidate_paths, module)?)?;
    module.add_function(wrap_pyfunction!(schedule_placed, module)?)
}
