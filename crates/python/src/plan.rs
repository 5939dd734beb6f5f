//! Plans: their hash and their consistency.

use crate::bounds::{BoundsMemory, bounds_of};
use crate::canonical::{Keys, quote, write};
use crate::schedule::{Delays, delays_of, windows_of};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;
use std::collections::HashSet;
use std::sync::OnceLock;
use tsn_bounds::FlowBounds;
use tsn_plan::{Plan, Stream, content_hash, digest};
use tsn_verify::{Known, Proof};

/// The member that has the hash of all others.
const HASH: &str = "hash";

/// The content hash of a plan's JSON text.
#[pyfunction]
fn plan_hash(json: &str) -> PyResult<String> {
    content_hash(json).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The canonical JSON text of a plan's document, with its content hash, and the hash.
///
/// Raises TypeError for values without a form in JSON.
#[pyfunction]
fn plan_text(document: &Bound<'_, PyDict>) -> PyResult<(String, String)> {
    assembled(document, |out, _, value| write(out, value, Keys::Sorted))
}

/// The text of [`plan_text`], with each member written by `member`.
pub(crate) fn assembled(
    document: &Bound<'_, PyDict>,
    mut member: impl FnMut(&mut String, &str, &Bound<'_, PyAny>) -> PyResult<()>,
) -> PyResult<(String, String)> {
    let mut members: Vec<(String, Bound<'_, PyAny>)> = document.items().extract()?;
    members.retain(|(key, _)| key != HASH);
    members.sort_by(|(one, _), (other, _)| one.cmp(other));
    let mut out = String::from("{");
    // Where the hash belongs: before the first greater key.
    let mut place = None;
    for (key, value) in &members {
        if out.len() > 1 {
            out.push(',');
        }
        if place.is_none() && key.as_str() > HASH {
            place = Some(out.len());
        }
        quote(&mut out, key);
        out.push(':');
        member(&mut out, key, value)?;
    }
    let hash = digest(&[&out, "}"]);
    match place {
        Some(place) => out.insert_str(place, &format!("\"{HASH}\":\"{hash}\",")),
        None => {
            let comma = if out.len() > 1 { "," } else { "" };
            out += &format!("{comma}\"{HASH}\":\"{hash}\"");
        }
    }
    out.push_str("}\n");
    Ok((out, hash))
}

/// Raises ValueError where the plan contradicts itself. With `prove`, what would go wrong with its scheduled streams:
/// sentences, which call streams, ports and nodes by their place.
#[pyfunction]
#[pyo3(signature = (json, prove = false))]
fn check_plan(py: Python<'_>, json: &str, prove: bool) -> PyResult<Vec<String>> {
    let read = ReadPlan::new(py, json)?;
    Ok(if prove { read.violations(py) } else { Vec::new() })
}

/// A plan that was read and checked once, for several questions. Raises ValueError where the plan contradicts itself.
#[pyclass(frozen)]
pub(crate) struct ReadPlan {
    plan: Plan,
    /// With queues after a disturbance, once somebody asked for it.
    proof: OnceLock<Proof>,
}

impl ReadPlan {
    /// A plan that was checked.
    pub(crate) fn of(plan: Plan) -> Self {
        Self { plan, proof: OnceLock::new() }
    }

    fn proof(&self) -> &Proof {
        self.proof.get_or_init(|| Proof::of(&self.plan, &Known::default(), None))
    }
}

/// What is known of the streams that pass some ports, without an analysis: bounds without upper ones, and the delays of
/// the proof.
#[derive(Serialize)]
struct Proven {
    flows: Vec<FlowBounds>,
    #[serde(flatten)]
    delays: Delays,
}

#[pymethods]
impl ReadPlan {
    #[new]
    fn new(py: Python<'_>, json: &str) -> PyResult<Self> {
        let plan = py.detach(|| Plan::read(json));
        plan.map(Self::of).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// What would go wrong with its scheduled streams, as `check_plan` says it.
    fn violations(&self, py: Python<'_>) -> Vec<String> {
        let report = py.detach(|| match self.proof.get() {
            Some(proof) => proof.report.clone(),
            None => tsn_verify::verify(&self.plan, &Known::default()),
        });
        report.violations.iter().map(ToString::to_string).collect()
    }

    /// Proves its schedule, with what the proof of an earlier plan knows of queues at all ports but these.
    fn prove_beside(&self, py: Python<'_>, earlier: &Self, ports: HashSet<u32>) {
        py.detach(|| {
            let known = Known::default();
            self.proof.get_or_init(|| Proof::of(&self.plan, &known, Some((earlier.proof(), &ports))));
        });
    }

    /// Of the streams that pass one of these ports: `flows`, their bounds without upper ones, and `delays`, as
    /// `proven_delays` gives them. The plan has no clocks, faults and filters.
    fn proven_at(&self, py: Python<'_>, ports: HashSet<u32>) -> PyResult<String> {
        let found = py.detach(|| {
            let passes = |stream: &Stream| stream.route.iter().any(|hop| ports.contains(&hop.port));
            let own = self.plan.streams.iter().filter(|stream| passes(stream));
            let part = Plan {
                duration_ns: self.plan.duration_ns,
                drain_ns: self.plan.drain_ns,
                nodes: self.plan.nodes.clone(),
                ports: self.plan.ports.clone(),
                streams: own.cloned().collect(),
                taps: self.plan.taps.clone(),
                ..Plan::default()
            };
            let mut flows = tsn_bounds::lower_bounds(&part).flows;
            flows.iter_mut().for_each(|flow| flow.hops.clear());
            let report = &self.proof().report;
            let near = |delay: &&tsn_verify::Proven| passes(&self.plan.streams[delay.stream as usize]);
            let delays = report.delays.iter().filter(near).copied().collect();
            Proven { flows, delays: Delays { delays, margins_assumed: report.margins_assumed } }
        });
        serde_json::to_string(&found).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// The bounds, as `bounds` gives them; `memory`: what is known from earlier plans.
    #[pyo3(signature = (hops = true, memory = None))]
    fn bounds(
        &self,
        py: Python<'_>,
        hops: bool,
        memory: Option<Bound<'_, BoundsMemory>>,
    ) -> PyResult<String> {
        let memory = memory.as_ref().map(Bound::get);
        py.detach(|| bounds_of(&self.plan, hops, memory))
    }

    /// The delays by the proof of the schedule, as `proven_delays` gives them.
    fn proven_delays(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| delays_of(self.proof()))
    }

    /// The delays by the proof of windows, as `proven_windows` gives them.
    fn proven_windows(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| windows_of(&self.plan))
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ReadPlan>()?;
    module.add_function(wrap_pyfunction!(plan_hash, module)?)?;
    module.add_function(wrap_pyfunction!(plan_text, module)?)?;
    module.add_function(wrap_pyfunction!(check_plan, module)?)
}
