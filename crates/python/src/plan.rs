//! Plans: their hash and their consistency.

use crate::canonical::{Keys, quote, write};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tsn_plan::{Plan, content_hash, digest};

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
    let mut members: Vec<(String, String)> = Vec::with_capacity(document.len() + 1);
    for (key, value) in document.iter() {
        let mut text = String::new();
        write(&mut text, &value, Keys::Sorted)?;
        members.push((key.extract()?, text));
    }
    members.retain(|(key, _)| key != "hash");
    members.sort();
    let hash = digest(&joined(&members));
    let place = members.partition_point(|(key, _)| key.as_str() < "hash");
    members.insert(place, ("hash".to_owned(), format!("\"{hash}\"")));
    Ok((joined(&members) + "\n", hash))
}

/// The object with these keys and texts of values.
fn joined(members: &[(String, String)]) -> String {
    let octets: usize = members.iter().map(|(key, text)| key.len() + text.len() + 4).sum();
    let mut out = String::with_capacity(octets + 3);
    out.push('{');
    for (place, (key, text)) in members.iter().enumerate() {
        if place > 0 {
            out.push(',');
        }
        quote(&mut out, key);
        out.push(':');
        out.push_str(text);
    }
    out.push('}');
    out
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
