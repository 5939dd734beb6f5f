//! Plans: their hash and their consistency.

use crate::bounds::{BoundsMemory, bounds_of};
use crate::canonical::{Keys, quote, write};
use crate::schedule::{delays_of, windows_of};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tsn_plan::{Plan, content_hash, digest};

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
struct ReadPlan(Plan);

#[pymethods]
impl ReadPlan {
    #[new]
    fn new(py: Python<'_>, json: &str) -> PyResult<Self> {
        let plan = py.detach(|| Plan::read(json));
        plan.map(Self).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// What would go wrong with its scheduled streams, as `check_plan` says it.
    fn violations(&self, py: Python<'_>) -> Vec<String> {
        let report = py.detach(|| tsn_verify::verify(&self.0, &tsn_verify::Known::default()));
        report.violations.iter().map(ToString::to_string).collect()
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
        py.detach(|| bounds_of(&self.0, hops, memory))
    }

    /// The delays by the proof of the schedule, as `proven_delays` gives them.
    fn proven_delays(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| delays_of(&self.0))
    }

    /// The delays by the proof of windows, as `proven_windows` gives them.
    fn proven_windows(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| windows_of(&self.0))
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ReadPlan>()?;
    module.add_function(wrap_pyfunction!(plan_hash, module)?)?;
    module.add_function(wrap_pyfunction!(plan_text, module)?)?;
    module.add_function(wrap_pyfunction!(check_plan, module)?)
}
