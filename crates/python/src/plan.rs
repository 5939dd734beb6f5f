//! Plans: their hash and their consistency.

use crate::bounds::{BoundsMemory, bounds_of, bounds_of_streams};
use crate::canonical::{Keys, quote, write};
use crate::schedule::{Delays, delays_of, windows_of};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;
use std::collections::HashSet;
use std::sync::OnceLock;
use tsn_bounds::{FlowBounds, PortBounds};
use tsn_plan::{Plan, Port, Stream, content_hash, digest};
use tsn_verify::{Known, Proof};

/// The member that has the hash of all others.
const HASH: &str = "hash";

/// The content hash of a plan's JSON text.
#[pyfunction]
fn plan_hash(json: &str) -> PyResult<String> {
    content_hash(json).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The members of a plan's document in their canonical order, without its content hash.
pub(crate) fn content<'py>(document: &Bound<'py, PyDict>) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
    let mut members: Vec<(String, Bound<'_, PyAny>)> = document.items().extract()?;
    members.retain(|(key, _)| key != HASH);
    members.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(members)
}

/// The canonical JSON text of a plan's document, with its content hash, and the hash.
///
/// Raises TypeError for values without a form in JSON.
#[pyfunction]
fn plan_text(document: &Bound<'_, PyDict>) -> PyResult<(String, String)> {
    let members = content(document)?;
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
        write(&mut out, value, Keys::Sorted)?;
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
        self.proof.get_or_init(|| Proof::of(&self.plan, &Known::default()))
    }
}

/// What is found beside the bounds of an earlier plan.
#[derive(Serialize)]
struct Beside {
    flows: Vec<FlowBounds>,
    analysed: Vec<FlowBounds>,
    ports: Vec<PortBounds>,
    #[serde(flatten)]
    delays: Delays,
}

/// Whether no bound of a stream is lower than what the proof of the schedule says: the instant at which each frame
/// arrives.
fn is_exact(stream: &Stream) -> bool {
    stream.scheduled.as_ref().is_some_and(|own| own.margin_ps == 0) && stream.requirements.survives.is_empty()
}

/// A plan with these streams alone; ports that they do not pass have no gates.
fn with_streams(plan: &Plan, streams: Vec<Stream>) -> Plan {
    let passed: HashSet<u32> = streams.iter().flat_map(|own| &own.route).map(|hop| hop.port).collect();
    let port = |(number, port): (u32, &Port)| match &port.gates {
        Some(_) if !passed.contains(&number) => Port { gates: None, ..port.clone() },
        _ => port.clone(),
    };
    Plan {
        duration_ns: plan.duration_ns,
        drain_ns: plan.drain_ns,
        nodes: plan.nodes.clone(),
        ports: (0..).zip(&plan.ports).map(port).collect(),
        streams,
        taps: plan.taps.clone(),
        ..Plan::default()
    }
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

    /// Proves its schedule, with what the proof of an earlier plan knows of all that is the same.
    fn prove_beside(&self, py: Python<'_>, earlier: &Self) {
        py.detach(|| {
            self.proof.get_or_init(|| {
                let found = earlier.proof().beside(&earlier.plan, &self.plan);
                found.unwrap_or_else(|| Proof::of(&self.plan, &Known::default()))
            });
        });
    }

    /// The places of the streams that pass one of these ports.
    fn streams_at(&self, ports: HashSet<u32>) -> Vec<usize> {
        let passes = |own: &Stream| own.route.iter().any(|hop| ports.contains(&hop.port));
        self.plan.streams.iter().enumerate().filter(|(_, own)| passes(own)).map(|(place, _)| place).collect()
    }

    /// What an earlier plan's bounds do not say, if both differ only at these ports and in streams there: `flows`, the
    /// bounds without upper ones of the streams that pass one of these ports and whose delays the proof has; `analysed`,
    /// the bounds of all streams that need an analysis, with its `ports`; and the `delays` of both, as `proven_delays`
    /// gives them. None if the bounds of some streams depend on those of others.
    ///
    /// The plan has no clocks, faults and filters.
    fn bounds_beside(
        &self,
        py: Python<'_>,
        ports: HashSet<u32>,
        memory: &Bound<'_, BoundsMemory>,
    ) -> PyResult<Option<String>> {
        let memory = memory.get();
        let streams = &self.plan.streams;
        if streams.iter().any(|stream| stream.answers.is_some()) {
            return Ok(None);
        }
        let found = py.detach(|| {
            let at: Vec<bool> = (0..self.plan.ports.len() as u32).map(|port| ports.contains(&port)).collect();
            let passes = |stream: &Stream| stream.route.iter().any(|hop| at[hop.port as usize]);
            let others: HashSet<u32> =
                (0..streams.len() as u32).filter(|number| !is_exact(&streams[*number as usize])).collect();
            let own = streams.iter().filter(|stream| is_exact(stream) && passes(stream));
            let mut flows = tsn_bounds::lower_bounds(&with_streams(&self.plan, own.cloned().collect())).flows;
            let analysed = (!others.is_empty()).then(|| bounds_of_streams(&self.plan, &others, memory));
            let (mut analysed, ports) =
                analysed.map_or((Vec::new(), Vec::new()), |found| (found.flows, found.ports));
            flows.iter_mut().chain(&mut analysed).for_each(|flow| flow.hops.clear());
            let report = &self.proof().report;
            let near = |delay: &&tsn_verify::Proven| {
                others.contains(&delay.stream) || passes(&streams[delay.stream as usize])
            };
            let delays = report.delays.iter().filter(near).copied().collect();
            Beside {
                flows,
                analysed,
                ports,
                delays: Delays { delays, margins_assumed: report.margins_assumed },
            }
        });
        serde_json::to_string(&found).map(Some).map_err(|error| PyValueError::new_err(error.to_string()))
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
