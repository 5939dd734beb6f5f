//! Plans that share most of their parts with earlier ones: each part is written and read once.

use crate::canonical::{Keys, write};
use crate::plan::{ReadPlan, assembled};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use tsn_plan::{Node, Plan, Port, Stream, Tap};

/// After so many further plans a part is forgotten that none of them has.
const KEPT: u64 = 8;

/// One object of a document.
struct Part<T> {
    /// Keeps the object, so that no other one has its address.
    _own: Py<PyAny>,
    text: String,
    read: T,
    used: u64,
}

/// By address of the object.
struct Parts<T>(HashMap<usize, Part<T>>);

impl<T> Default for Parts<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T: DeserializeOwned + Clone> Parts<T> {
    /// Appends a list of objects to a text, and returns what it says; `round`: the number of the plan.
    fn list(&mut self, out: &mut String, list: &Bound<'_, PyAny>, round: u64) -> PyResult<Vec<T>> {
        let list = list.cast::<PyList>()?;
        let mut found = Vec::with_capacity(list.len());
        out.push('[');
        for (place, own) in list.iter().enumerate() {
            if place > 0 {
                out.push(',');
            }
            let address = own.as_ptr() as usize;
            if let Some(part) = self.0.get_mut(&address) {
                part.used = round;
                out.push_str(&part.text);
                found.push(part.read.clone());
                continue;
            }
            let mut text = String::new();
            write(&mut text, &own, Keys::Sorted)?;
            let read: T = serde_json::from_str(&text).map_err(unread)?;
            out.push_str(&text);
            found.push(read.clone());
            self.0.insert(address, Part { _own: own.unbind(), text, read, used: round });
        }
        out.push(']');
        self.0.retain(|_, part| part.used + KEPT > round);
        Ok(found)
    }
}

fn unread(error: serde_json::Error) -> PyErr {
    PyValueError::new_err(format!("the plan cannot be read: {error}"))
}

#[derive(Default)]
struct Kept {
    nodes: Parts<Node>,
    ports: Parts<Port>,
    streams: Parts<Stream>,
    taps: Parts<Tap>,
    plans: u64,
}

/// The parts of earlier plans. An object of a document that was read once must never change.
#[pyclass(frozen)]
#[derive(Default)]
pub(crate) struct PlanParts(Mutex<Kept>);

#[pymethods]
impl PlanParts {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// The canonical JSON text of a plan's document with its content hash, the hash, and the plan: as `plan_text` and
    /// `ReadPlan` find them. Raises TypeError and ValueError as they do.
    fn read(&self, document: &Bound<'_, PyDict>) -> PyResult<(String, String, ReadPlan)> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Kept { nodes, ports, streams, taps, plans } = &mut *kept;
        *plans += 1;
        let mut lists = Plan::default();
        let mut rest = String::from("{\"nodes\":[],\"ports\":[],\"streams\":[],\"taps\":[]");
        let (text, hash) = assembled(document, |out, key, value| {
            match key {
                "nodes" => lists.nodes = nodes.list(out, value, *plans)?,
                "ports" => lists.ports = ports.list(out, value, *plans)?,
                "streams" => lists.streams = streams.list(out, value, *plans)?,
                "taps" => lists.taps = taps.list(out, value, *plans)?,
                _ => {
                    let begin = out.len();
                    write(out, value, Keys::Sorted)?;
                    rest += &format!(",{key:?}:{}", &out[begin..]);
                }
            }
            Ok(())
        })?;
        rest.push('}');
        let rest: Plan = serde_json::from_str(&rest).map_err(unread)?;
        let Plan { nodes, ports, streams, taps, .. } = lists;
        let plan = Plan { nodes, ports, streams, taps, hash: Some(hash.clone()), ..rest };
        plan.check().map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok((text, hash, ReadPlan::of(plan)))
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PlanParts>()
}
