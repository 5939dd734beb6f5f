use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;
use std::collections::HashSet;
use tsn_plan::Plan;
use tsn_schedule::{
    Depth, Effort, GateList, Outcome, Placed, Problem, Reason, explain, gate_lists, solve_keeping,
};

/// A gate control list whose entries are columns: thousands of them are read at once.
#[derive(Serialize)]
pub struct GateColumns {
    link: u32,
    base_ns: i64,
    cycle_ns: i64,
    /// By entry: bit n: queue n of the time-triggered streams is open.
    queues: Vec<u8>,
    /// By entry: all other queues are open.
    others: Vec<bool>,
    /// By entry.
    intervals_ns: Vec<i64>,
    joined: u32,
}

impl From<GateList> for GateColumns {
    fn from(list: GateList) -> Self {
        Self {
            link: list.link,
            base_ns: list.base_ns,
            cycle_ns: list.cycle_ns,
            queues: list.entries.iter().map(|entry| entry.queues).collect(),
            others: list.entries.iter().map(|entry| entry.others).collect(),
            intervals_ns: list.entries.iter().map(|entry| entry.interval_ns).collect(),
            joined: list.joined,
        }
    }
}

#[derive(Serialize)]
struct Found {
    outcome: Outcome,
    /// The gate control lists of the links.
    gates: Vec<GateColumns>,
    /// The reasons why there is no schedule; empty if there is one.
    reasons: Vec<Reason>,
    /// The reasons as sentences, which name streams, links and nodes by their index.
    sentences: Vec<String>,
}

#[derive(Serialize)]
pub(crate) struct Delays {
    pub delays: Vec<tsn_verify::Proven>,
    pub margins_assumed: bool,
}

/// Places the streams of a problem (JSON) with an effort (JSON); returns the decisions and every link's gate list as
/// JSON. `earlier_json`: by stream the decision of an earlier plan, or null; earlier decisions are kept where
/// possible. `links`: the numbers of those whose gate lists are returned; none for all. A path that the problem gives is
/// not returned: its stream has an empty `tree`.
///
/// Raises ValueError if the problem is invalid.
#[pyfunction]
#[pyo3(signature = (problem_json, effort_json, earlier_json = "[]", links = None))]
fn schedule(
    py: Python<'_>,
    problem_json: &str,
    effort_json: &str,
    earlier_json: &str,
    links: Option<HashSet<u32>>,
) -> PyResult<String> {
    let refuse = |error: &dyn std::fmt::Display| PyValueError::new_err(error.to_string());
    let problem: Problem = serde_json::from_str(problem_json).map_err(|error| refuse(&error))?;
    let effort: Effort = serde_json::from_str(effort_json).map_err(|error| refuse(&error))?;
    let earlier: Vec<Option<Placed>> = serde_json::from_str(earlier_json).map_err(|error| refuse(&error))?;
    let found = py.detach(|| {
        let mut outcome = solve_keeping(problem.clone(), &earlier, &effort)?;
        let mut reasons = explain(&problem, &outcome.refused, &Depth::default());
        let mut gates = Vec::new();
        for list in gate_lists(&problem, &outcome.placed) {
            match list {
                Ok(list) if links.as_ref().is_some_and(|links| !links.contains(&list.link)) => {}
                Ok(list) => gates.push(GateColumns::from(list)),
                Err(refusal) => reasons.push(Reason::Gates { refusal }),
            }
        }
        let sentences = reasons.iter().map(ToString::to_string).collect();
        for (stream, placed) in problem.streams.iter().zip(&mut outcome.placed) {
            if let (Some(_), Some(placed)) = (&stream.tree, placed) {
                placed.tree.clear();
            }
        }
        Ok(Found { outcome, gates, reasons, sentences })
    });
    let found = found.map_err(|error: tsn_schedule::ProblemError| refuse(&error))?;
    serde_json::to_string(&found).map_err(|error| refuse(&error))
}

/// The greatest possible delays of the scheduled streams of a plan's JSON text, by the proof of its schedule, as
/// JSON: `delays` by stream and listener, none where the proof does not hold; `margins_assumed`: the difference
/// between clocks is unknown.
///
/// Raises ValueError if the plan cannot be used.
#[pyfunction]
fn proven_delays(py: Python<'_>, plan_json: &str) -> PyResult<String> {
    let plan = Plan::read(plan_json).map_err(|error| PyValueError::new_err(error.to_string()))?;
    py.detach(|| delays_of(&plan, &tsn_verify::Proof::of(&plan, &tsn_verify::Known::default())))
}

/// The delays of [`proven_delays`].
pub(crate) fn delays_of(plan: &Plan, proof: &tsn_verify::Proof) -> PyResult<String> {
    let delays = proof.delays(plan, 0..plan.streams.len() as u32);
    let found = Delays { delays, margins_assumed: proof.report.margins_assumed };
    serde_json::to_string(&found).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The greatest possible delays of streams that pass windows of their class, as JSON: `flows` by stream and listener,
/// with whether the requirements are `met`; `open`: the streams without a proof, each with the place where the proof
/// fails.
///
/// Raises ValueError if the plan cannot be used.
#[pyfunction]
fn proven_windows(py: Python<'_>, plan_json: &str) -> PyResult<String> {
    let plan = Plan::read(plan_json).map_err(|error| PyValueError::new_err(error.to_string()))?;
    py.detach(|| windows_of(&plan))
}

/// The windows of [`proven_windows`].
pub(crate) fn windows_of(plan: &Plan) -> PyResult<String> {
    serde_json::to_string(&tsn_verify::windows(plan))
        .map_err(|error| PyValueError::new_err(error.to_string()))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(schedule, module)?)?;
    module.add_function(wrap_pyfunction!(proven_delays, module)?)?;
    module.add_function(wrap_pyfunction!(proven_windows, module)?)
}
