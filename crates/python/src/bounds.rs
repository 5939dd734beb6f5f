//! Worst-case bounds of a plan.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::collections::HashSet;
use tsn_bounds::Memory;
use tsn_plan::Plan;

/// The results of ports in earlier plans, for plans that differ little from them.
#[pyclass(frozen)]
#[derive(Default)]
pub(crate) struct BoundsMemory(Memory);

#[pymethods]
impl BoundsMemory {
    #[new]
    fn new() -> Self {
        Self::default()
    }
}

/// The bounds of a plan as JSON, port by port only with `hops`; `memory`: what is known from earlier plans.
pub(crate) fn bounds_of(plan: &Plan, hops: bool, memory: Option<&BoundsMemory>) -> PyResult<String> {
    let plain = plan.clocks.is_none() && plan.streams.iter().all(|stream| stream.answers.is_none());
    let mut found = match memory {
        // All hops of thousands of flows would be made in vain.
        _ if !hops && plain => tsn_bounds::bounds_of(plan, &|_| true, memory.map(|memory| &memory.0)),
        Some(memory) => tsn_bounds::bounds_with(plan, &memory.0),
        None => tsn_bounds::bounds(plan),
    };
    if !hops {
        found.flows.iter_mut().for_each(|flow| flow.hops.clear());
    }
    serde_json::to_string(&found).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The bounds of the flows of these streams, by their numbers; see [`tsn_bounds::bounds_of`].
pub(crate) fn bounds_of_streams(
    plan: &Plan,
    streams: &HashSet<u32>,
    memory: &BoundsMemory,
) -> tsn_bounds::Bounds {
    tsn_bounds::bounds_of(plan, &|stream| streams.contains(&stream), Some(&memory.0))
}

/// The bounds of a plan's JSON text, as JSON, port by port only with `hops`. Raises ValueError where the plan cannot
/// be used.
#[pyfunction]
#[pyo3(signature = (plan_json, hops = true))]
fn bounds(py: Python<'_>, plan_json: &str, hops: bool) -> PyResult<String> {
    let plan = Plan::read(plan_json).map_err(|error| PyValueError::new_err(error.to_string()))?;
    py.detach(|| bounds_of(&plan, hops, None))
}

/// What the worst case of a plan's stream is made of, to its listener with this number, as JSON. Raises ValueError where
/// the plan cannot be used, or has no such flow.
#[pyfunction]
fn bound_parts(py: Python<'_>, plan_json: &str, stream: usize, listener: usize) -> PyResult<String> {
    let refuse = |error: &dyn std::fmt::Display| PyValueError::new_err(error.to_string());
    let plan = Plan::read(plan_json).map_err(|error| refuse(&error))?;
    let found = py.detach(|| tsn_bounds::parts(&plan, stream, listener));
    let found = found.ok_or_else(|| refuse(&"the plan has no such flow"))?;
    serde_json::to_string(&found).map_err(|error| refuse(&error))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<BoundsMemory>()?;
    module.add_function(wrap_pyfunction!(bound_parts, module)?)?;
    module.add_function(wrap_pyfunction!(bounds, module)?)
}
