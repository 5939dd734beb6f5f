//! The native half of the Python package: conversions only, no decisions.

mod bounds;
mod canonical;
mod disk;
mod json;
mod measure;
mod plan;
mod plan_beside;
mod replications;
mod resident;
mod schedule;
mod schedule_beside;
mod schedule_exact;
mod sim;
mod trace;
mod yaml;

use pyo3::prelude::*;

/// Bounds make and drop thousands of small curves: a fifth of their time was the C library's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Private: users import the Python names.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    bounds::register(module)?;
    canonical::register(module)?;
    json::register(module)?;
    measure::register(module)?;
    plan::register(module)?;
    replications::register(module)?;
    schedule::register(module)?;
    schedule_beside::register(module)?;
    schedule_exact::register(module)?;
    sim::register(module)?;
    trace::register(module)?;
    yaml::register(module)
}
