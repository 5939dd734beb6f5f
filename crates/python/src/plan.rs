//! Plans: their hash and their consistency.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tsn_plan::{Plan, content_hash};

/// The content hash of a plan's JSON text.
#[pyfunction]
fn plan_hash(json: &str) -> PyResult<String> {
    content_hash(json).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Gate lists of all links that scheduled frames use.
#[pyfunction]
fn check_plan(json: &str) -> PyResult<()> {
    Plan::read(json).map(drop).map_err(|error| PyValueError::new_err(error.to_string()))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(plan_hash, module)?)?;
    module.add_function(wrap_pyfunction!(check_plan, module)?)
}
