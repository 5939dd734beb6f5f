//! Worst-case bounds of a plan.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tsn_plan::Plan;

/// The bounds of a plan's JSON text, as JSON. Raises ValueError where the plan cannot be used.
#[pyfunction]
fn bounds(py: Python<'_>, plan_json: &str) -> PyResult<String> {
    let refuse = |error: &dyn std::fmt::Display| PyValueError::new_err(error.to_string());
    let plan = Plan::read(plan_json).map_err(|error| refuse(&error))?;
    let found = py.detach(|| tsn_bounds::bounds(&plan));
    serde_json::to_string(&found).map_err(|error| refuse(&error))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(bounds, module)?)
}
