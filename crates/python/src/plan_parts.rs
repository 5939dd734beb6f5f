//! Plans that share most of their parts with earlier ones: each part is written and read once.

use crate::canonical::{Keys, quote, write};
use crate::plan::{ReadPlan, content};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use tsn_plan::{ContentHash, Node, Plan, Port, Stream, Tap};

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
    /// What a list of objects says; its text is added to a hash. `round`: the number of the plan.
    fn list(&mut self, hash: &mut ContentHash, list: &Bound<'_, PyAny>, round: u64) -> PyResult<Vec<T>> {
        let list = list.cast::<PyList>()?;
        let mut found = Vec::with_capacity(list.len());
        hash.add("[");
        for (place, own) in list.iter().enumerate() {
            if place > 0 {
                hash.add(",");
            }
            let address = own.as_ptr() as usize;
            if let Some(part) = self.0.get_mut(&address) {
                part.used = round;
                hash.add(&part.text);
                found.push(part.read.clone());
                continue;
            }
            let mut text = String::new();
            write(&mut text, &own, Keys::Sorted)?;
            let read: T = serde_json::from_str(&text).map_err(unread)?;
            hash.add(&text);
            found.push(read.clone());
            self.0.insert(address, Part { _own: own.unbind(), text, read, used: round });
        }
        hash.add("]");
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

    /// The content hash of a plan's document, and the plan: as `plan_text` and `ReadPlan` find them. The text of the
    /// whole is not made. Raises TypeError and ValueError as they do.
    fn read(&self, document: &Bound<'_, PyDict>) -> PyResult<(String, ReadPlan)> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Kept { nodes, ports, streams, taps, plans } = &mut *kept;
        *plans += 1;
        let mut lists = Plan::default();
        let mut hash = ContentHash::default();
        let mut rest = String::from("{\"nodes\":[],\"ports\":[],\"streams\":[],\"taps\":[]");
        for (place, (key, value)) in content(document)?.iter().enumerate() {
            let mut text = String::from(if place > 0 { "," } else { "{" });
            quote(&mut text, key);
            text.push(':');
            hash.add(&text);
            match key.as_str() {
                "nodes" => lists.nodes = nodes.list(&mut hash, value, *plans)?,
                "ports" => lists.ports = ports.list(&mut hash, value, *plans)?,
                "streams" => lists.streams = streams.list(&mut hash, value, *plans)?,
                "taps" => lists.taps = taps.list(&mut hash, value, *plans)?,
                _ => {
                    let begin = text.len();
                    write(&mut text, value, Keys::Sorted)?;
                    hash.add(&text[begin..]);
                    rest += &format!(",{key:?}:{}", &text[begin..]);
                }
            }
        }
        hash.add("}");
        rest.push('}');
        let rest: Plan = serde_json::from_str(&rest).map_err(unread)?;
        let hash = hash.end();
        let Plan { nodes, ports, streams, taps, .. } = lists;
        let plan = Plan { nodes, ports, streams, taps, hash: Some(hash.clone()), ..rest };
        plan.check().map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok((hash, ReadPlan::of(plan)))
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PlanParts>()
}
