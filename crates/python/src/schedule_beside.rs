//! Streams that join a plan: placed beside those that pass the same links, which stay.

use crate::plan::ReadPlan;
use crate::schedule::GateColumns;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;
use std::collections::HashSet;
use tsn_plan::{Pattern, Size, Stream};
use tsn_schedule::{Effort, Placed, Problem, TreeEntry, solve_with_gates};

/// The longest deadline: streams that stay have kept theirs.
const LONGEST_NS: i64 = 1_000_000_000;

/// The nodes and links of a schedule's problem, read once. Raises ValueError if it is none.
#[pyclass(frozen)]
pub(crate) struct ScheduleNetwork(Problem);

#[derive(Serialize)]
struct Beside {
    placed: Vec<Option<Placed>>,
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
            let near = whole.streams_at(links.iter().map(|link| *link as usize)).into_iter();
            let near = near.filter(|place| !left.contains(place));
            let near = near.map(|place| &whole.plan.streams[place as usize]);
            let kept: Option<Vec<_>> =
                near.filter(|own| own.scheduled.is_some()).map(|own| kept(own, &queues)).collect();
            let (mut streams, earlier): (Vec<_>, Vec<_>) = kept?.into_iter().unzip();
            drop(chain);
            let mut earlier: Vec<Option<Placed>> = earlier.into_iter().map(Some).collect();
            let stay = streams.len();
            streams.extend(new);
            earlier.resize(streams.len(), None);
            let problem = Problem { streams, ..self.0.clone() };
            let wanted = |link: u32| links.contains(&link);
            let found = solve_with_gates(problem, &earlier, &Effort::default(), wanted);
            let (mut outcome, lists) = found.ok()?;
            if !outcome.refused.is_empty() || !outcome.moved.is_empty() {
                return None;
            }
            let lists: Result<Vec<_>, _> = lists.into_iter().collect();
            let gates = lists.ok()?.into_iter().map(GateColumns::from).collect();
            let placed = outcome.placed.split_off(stay);
            placed.iter().all(Option::is_some).then_some(Beside { placed, gates })
        });
        let text = found.map(|found| serde_json::to_string(&found)).transpose();
        text.map_err(|error| refuse(&error))
    }
}

/// A stream that stays, and its place; none if its frames have several sizes or paths.
fn kept(stream: &Stream, queues: &[u8]) -> Option<(tsn_schedule::Stream, Placed)> {
    let own = stream.scheduled.as_deref()?;
    let (&Pattern::Periodic { period_ns, offset_ns, .. }, &Size::Frame { octets }) =
        (&stream.pattern, &stream.size)
    else {
        return None;
    };
    let queue = u8::try_from(queues.iter().position(|pcp| *pcp == stream.pcp)?).ok()?;
    let start = |starts: &Vec<u64>| match starts[..] {
        [start] => i64::try_from(start).ok(),
        _ => None,
    };
    let tree: Vec<TreeEntry> =
        stream.route.iter().map(|hop| TreeEntry { link: hop.port, parent: hop.parent }).collect();
    let period = i64::try_from(period_ns).ok()?;
    let placed = Placed {
        offset_ns: i64::try_from(stream.start_ns.checked_add(offset_ns)? % period_ns).ok()?,
        tree: tree.clone(),
        starts_ps: own.starts_ps.iter().map(start).collect::<Option<_>>()?,
        queue,
        behind: own.behind.clone(),
        delay_ps: 0,
    };
    let stream = tsn_schedule::Stream {
        talker: stream.talker,
        listeners: stream.listeners.iter().map(|listener| listener.node).collect(),
        period_ns: period,
        frames: vec![octets],
        deadline_ns: LONGEST_NS,
        earliest_ns: 0,
        latest_ns: period - 1,
        tree: Some(tree),
        copies: 1,
        more_octets: Vec::new(),
        jitter_ns: None,
        queue: Some(queue),
    };
    Some((stream, placed))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ScheduleNetwork>()
}
