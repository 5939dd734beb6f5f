//! Plans: their hash and their consistency.

use crate::canonical::{Keys, quote, write};
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
    py.detach(|| {
        let plan = Plan::read(json)?;
        let report =
            if prove { tsn_verify::verify(&plan, &tsn_verify::Known::default()) } else { Default::default() };
        Ok(report.violations.iter().map(ToString::to_string).collect())
    })
    .map_err(|error: tsn_plan::PlanError| PyValueError::new_err(error.to_string()))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(plan_hash, module)?)?;
    module.add_function(wrap_pyfunction!(plan_text, module)?)?;
    module.add_function(wrap_pyfunction!(check_plan, module)?)
}
