//! Plans: their hash and their consistency.

use crate::bounds::{BoundsMemory, bounds_of};
use crate::canonical::{HASH, Keys, content, quote, write};
use crate::plan_beside::{self, Analysed, Differs};
use crate::resident::{Hash, Version};
use crate::schedule::{delays_of, windows_of};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};
use tsn_plan::{Plan, content_hash, digest};
use tsn_verify::{Known, Proof, Report};

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
    let members = content(document)?;
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
    let read = ReadPlan::new(py, json)?;
    Ok(if prove { read.violations(py) } else { Vec::new() })
}

/// A plan that was read and checked once, for several questions. Raises ValueError where the plan contradicts itself.
#[pyclass(frozen)]
pub(crate) struct ReadPlan {
    pub(crate) version: Version,
    /// With queues after a disturbance, once somebody asked for it.
    pub(crate) proof: OnceLock<Proof>,
    /// None if its text has none.
    hash: Option<Hash>,
    /// What differs from the plan beside which it was made.
    differs: Option<Differs>,
    /// Where the flows of streams that left were among all flows; none if everything was proved.
    gone: Option<Vec<usize>>,
    /// What was analysed of this plan, and of the one beside which it was made.
    analysed: Arc<OnceLock<Analysed>>,
    before: Arc<OnceLock<Analysed>>,
}

impl ReadPlan {
    /// A plan that was checked.
    fn of(plan: Plan) -> Self {
        let hash = plan.hash.clone().map(|hash| Arc::new(OnceLock::from(hash)));
        let (analysed, before) = Default::default();
        let proof = OnceLock::new();
        Self { version: Version::of(plan), proof, hash, differs: None, gone: None, analysed, before }
    }

    /// What `asked` says of the plan with its hash.
    fn ask_named<T: Send>(&self, py: Python<'_>, asked: impl FnOnce(&Plan) -> T + Send) -> T {
        let hash = self.hash(py);
        py.detach(|| {
            let mut chain = self.version.lock();
            let plan = &mut chain.at(self.version.number).plan;
            plan.hash = hash;
            asked(plan)
        })
    }

    /// What `asked` says of the plan.
    fn ask<T: Send>(&self, py: Python<'_>, asked: impl FnOnce(&Plan) -> T + Send) -> T {
        py.detach(|| asked(&self.version.lock().at(self.version.number).plan))
    }

    pub(crate) fn proof(&self, plan: &Plan) -> &Proof {
        self.proof.get_or_init(|| Proof::of(plan, &Known::default()))
    }
}

#[pymethods]
impl ReadPlan {
    #[new]
    fn new(py: Python<'_>, json: &str) -> PyResult<Self> {
        let plan = py.detach(|| Plan::read(json));
        plan.map(Self::of).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// What would go wrong with its scheduled streams, as `check_plan` says it.
    fn violations(&self, py: Python<'_>) -> Vec<String> {
        let told = |report: &Report| report.violations.iter().map(ToString::to_string).collect();
        match self.proof.get() {
            Some(proof) => told(&proof.report),
            None => self.ask(py, |plan| told(&tsn_verify::verify(plan, &Known::default()))),
        }
    }

    /// The plan of a document, checked and proved beside this one, of which the document is `earlier`. A part that both documents have as the same object is the same, and must never change. The text of
    /// the whole is not made. None if more differs than gates of ports, streams that leave and join, and taps.
    ///
    /// Raises TypeError and ValueError as `plan_text` and `ReadPlan` do.
    fn beside(
        &self,
        py: Python<'_>,
        earlier: &Bound<'_, PyDict>,
        document: &Bound<'_, PyDict>,
    ) -> PyResult<Option<Self>> {
        let made = plan_beside::beside((&self.version, &self.proof), py, earlier, document)?;
        Ok(made.map(|made| Self {
            version: made.version,
            proof: made.proof,
            hash: Some(made.hash),
            differs: Some(made.differs),
            gone: made.gone,
            analysed: Arc::default(),
            before: Arc::clone(&self.analysed),
        }))
    }

    /// The content hash, for which the first one who asks may have to wait; None if the text of the plan has none.
    fn hash(&self, py: Python<'_>) -> Option<String> {
        let hash = self.hash.as_ref()?;
        py.detach(|| Some(hash.wait().clone()))
    }

    /// If this plan was made beside an `earlier` one: the ports with other gates, the places of streams that left, and
    /// those of streams that joined. None if it was not.
    fn differs(&self, earlier: &Self) -> Option<(Vec<usize>, Vec<usize>, Vec<usize>)> {
        let own = self.differs.as_ref()?;
        let same = Arc::ptr_eq(&self.version.chain, &earlier.version.chain);
        let same = same && own.from == earlier.version.number;
        same.then(|| (own.ports.clone(), own.gone.clone(), own.joined.clone()))
    }

    /// Whether another plan has the same content and hash.
    fn is_same(&self, py: Python<'_>, other: &Self) -> bool {
        if Arc::ptr_eq(&self.version.chain, &other.version.chain) {
            let plan = self.ask_named(py, Plan::clone);
            return other.ask_named(py, |other| *other == plan);
        }
        let same = self.hash(py) == other.hash(py);
        py.detach(|| {
            // Two threads that ask for the same two Plans lock them in one order.
            let in_order = Arc::as_ptr(&self.version.chain) < Arc::as_ptr(&other.version.chain);
            let (first, second) = if in_order { (self, other) } else { (other, self) };
            let (mut one, mut two) = (first.version.lock(), second.version.lock());
            let one = &mut one.at(first.version.number).plan;
            let two = &two.at(second.version.number).plan;
            one.hash.clone_from(&two.hash);
            same && one == two
        })
    }

    /// The priorities of the scheduled streams that are not at the places `without`, the highest first.
    fn scheduled_pcps(&self, py: Python<'_>, without: HashSet<u32>) -> Vec<u8> {
        py.detach(|| {
            let mut chain = self.version.lock();
            let about = (0..).zip(&chain.at(self.version.number).about);
            let own = about.filter(|(place, _)| !without.contains(place)).filter_map(|(_, own)| own.pcp);
            let found = own.fold(0_u8, |all, pcp| all | 1 << (pcp & 7));
            (0..8).rev().filter(|pcp| found >> pcp & 1 == 1).collect()
        })
    }

    /// The places of the streams that pass one of these ports. `alike`: of those that pass the same port with the same
    /// priority, all scheduled or none, one is enough.
    #[pyo3(signature = (ports, without, alike = false))]
    fn streams_at(
        &self,
        py: Python<'_>,
        ports: HashSet<u32>,
        without: HashSet<u32>,
        alike: bool,
    ) -> Vec<u32> {
        py.detach(|| {
            let mut chain = self.version.lock();
            let whole = chain.at(self.version.number);
            whole.prepare(None);
            let mut found = HashSet::new();
            for port in ports {
                let mut seen = HashSet::new();
                let there = whole.streams_at([port as usize]).into_iter();
                found.extend(there.filter(|place| !without.contains(place)).filter(|place| {
                    let own = &whole.plan.streams[*place as usize];
                    !alike || seen.insert((own.pcp, own.scheduled.is_some()))
                }));
            }
            let mut found: Vec<u32> = found.into_iter().collect();
            found.sort_unstable();
            found
        })
    }

    /// What the bounds of the plan do not say beside which this one was made. `flows`: bounds without upper ones of the
    /// streams whose delays the proof has, and which joined, or may have other bounds; `analysed`: the bounds of
    /// streams that need an analysis, but for those that are the same, with its `ports`; `windows`: what the proof
    /// of windows says of these; the `delays` of both, as `proven_delays` gives them; `places`:
    /// where both are among all flows, `joined` of which there was none, and `gone` where flows were that left. None if
    /// nobody knows what differs, or if the bounds of some streams depend on those of others.
    fn bounds_beside(&self, py: Python<'_>, memory: &Bound<'_, BoundsMemory>) -> PyResult<Option<String>> {
        let (Some(differs), Some(gone)) = (&self.differs, &self.gone) else { return Ok(None) };
        let memory = memory.get();
        let found = py.detach(|| {
            let mut chain = self.version.lock();
            let whole = chain.at(self.version.number);
            plan_beside::bounds((whole, self.proof(&whole.plan)), (differs, gone), self.before.get(), memory)
        });
        let text = found.map(|(found, analysed)| {
            let _ = self.analysed.set(analysed);
            serde_json::to_string(&found)
        });
        let text = text.transpose();
        text.map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// The bounds, as `bounds` gives them; `memory`: what is known from earlier plans.
    #[pyo3(signature = (hops = true, memory = None))]
    fn bounds(
        &self,
        py: Python<'_>,
        hops: bool,
        memory: Option<Bound<'_, BoundsMemory>>,
    ) -> PyResult<String> {
        let memory = memory.as_ref().map(Bound::get);
        self.ask_named(py, |plan| bounds_of(plan, hops, memory))
    }

    /// The delays by the proof of the schedule, as `proven_delays` gives them.
    fn proven_delays(&self, py: Python<'_>) -> PyResult<String> {
        self.ask(py, |plan| delays_of(plan, self.proof(plan)))
    }

    /// The delays by the proof of windows, as `proven_windows` gives them.
    fn proven_windows(&self, py: Python<'_>) -> PyResult<String> {
        self.ask(py, windows_of)
    }
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ReadPlan>()?;
    module.add_function(wrap_pyfunction!(plan_hash, module)?)?;
    module.add_function(wrap_pyfunction!(plan_text, module)?)?;
    module.add_function(wrap_pyfunction!(check_plan, module)?)
}
