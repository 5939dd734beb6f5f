//! Streams that join a plan: placed beside those that pass the same links, which stay.

use crate::plan::ReadPlan;
use crate::resident::placing::kept;
use crate::schedule::GateColumns;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;
use std::collections::HashSet;
use tsn_schedule::{Effort, Placed, Problem, gate_lists, solve_keeping};

/// The nodes and links of a schedule's problem, read once. Raises ValueError if it is none.
#[pyclass(frozen)]
pub(crate) struct ScheduleNetwork(Problem);

#[derive(Serialize)]
struct Beside {
    placed: Vec<Placed>,
    gates: Vec<GateColumns>,
}

fn refuse(error: &dyn std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

#[pymethods]
impl ScheduleNetwork {
    #[new]
    fn new(problem_json: &str) -> PyResult<Self> {
        serde_json::from_str(problem_json).map(Self).map_err(|error| refuse(&error))
    }

    /// Reads the streams of a plan, before the first ones are placed beside them.
    fn prepare(&self, py: Python<'_>, plan: &ReadPlan, queues: Vec<u8>) {
        py.detach(|| {
            plan.version.lock().at(plan.version.number).placing(&self.0, &queues);
        });
    }

    /// Places streams (JSON) beside those of a plan that pass one of these links, apart from those that `left`, by
    /// their places; the gate lists of the links. `queues`: the priority of each queue. As JSON: `placed`, and `gates`
    /// as `schedule` returns them. None if not all have a place, or if others would have to move.
    ///
    /// Raises ValueError if the streams are invalid.
    fn place(
        &self,
        py: Python<'_>,
        plan: &ReadPlan,
        streams_json: &str,
        links: HashSet<u32>,
        left: HashSet<u32>,
        queues: Vec<u8>,
    ) -> PyResult<Option<String>> {
        let new: Vec<tsn_schedule::Stream> =
            serde_json::from_str(streams_json).map_err(|error| refuse(&error))?;
        let found = py.detach(|| {
            let mut chain = plan.version.lock();
            let whole = chain.at(plan.version.number);
            whole.prepare(None);
            let mut near = whole.streams_at(links.iter().map(|link| *link as usize));
            near.retain(|place| !left.contains(place));
            let wanted = |link: u32| links.contains(&link);
            if let Some(own) = whole.placing(&self.0, &queues)
                && let Some((placed, gates)) = own.place(&new, &left, &near, wanted)
            {
                let gates = gates.into_iter().map(GateColumns::from).collect();
                return Some(Beside { placed, gates });
            }
            let near = near.iter().map(|place| &whole.plan.streams[*place as usize]);
            let kept: Option<Vec<_>> =
                near.filter(|own| own.scheduled.is_some()).map(|own| kept(own, &queues)).collect();
            let (mut streams, earlier): (Vec<_>, Vec<_>) = kept?.into_iter().unzip();
            drop(chain);
            let mut earlier: Vec<Option<Placed>> = earlier.into_iter().map(Some).collect();
            let stay = streams.len();
            streams.extend(new);
            earlier.resize(streams.len(), None);
            let problem = Problem { streams, ..self.0.clone() };
            let mut outcome = solve_keeping(problem.clone(), &earlier, &Effort::default()).ok()?;
            if !outcome.refused.is_empty() || !outcome.moved.is_empty() {
                return None;
            }
            let lists: Result<Vec<_>, _> = gate_lists(&problem, &outcome.placed).into_iter().collect();
            let own = lists.ok()?.into_iter().filter(|list| links.contains(&list.link));
            let gates = own.map(GateColumns::from).collect();
            let placed: Option<_> = outcome.placed.split_off(stay).into_iter().collect();
            Some(Beside { placed: placed?, gates })
        });
        let text = found.map(|found| serde_json::to_string(&found)).transpose();
        text.map_err(|error| refuse(&error))
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ScheduleNetwork>()
}
