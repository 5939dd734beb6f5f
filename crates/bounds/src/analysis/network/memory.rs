//! The results of ports, kept from one analysis to the next one: a port with the same arrivals has the same results.
//!
//! The analysis of a port reads the port, its node, the flows there with their arrivals, and what limits these on the
//! link before. All that is the key of a result. So an analysis with a memory makes the same steps as one without, and
//! takes from the memory what these steps found before; a Plan that differs at few ports is analysed at those, and
//! where their delays arrive.

use crate::analysis::network::kept::Kept;
use crate::analysis::port::PortResult;
use crate::curve::Curve;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};
use tsn_plan::{Node, Plan, Port};

/// After so many further analyses a result is forgotten that none of them has used.
const KEPT: u64 = 8;

/// What a result depends on, as two hashes of 64 bits: a result is not mistaken for another one by accident.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Key(u64, u64);

impl Key {
    /// The key of some words.
    pub fn of(words: &[i128]) -> Self {
        let with = |seed: u64| {
            let mut hasher = DefaultHasher::new();
            (seed, words).hash(&mut hasher);
            hasher.finish()
        };
        Self(with(0), with(1))
    }
}

/// A limit as words of a key.
pub(crate) fn words(limit: Option<&Curve>) -> impl Iterator<Item = i128> + '_ {
    let segments = limit.into_iter().flat_map(Curve::segments);
    std::iter::once(i128::from(limit.is_some()))
        .chain(segments.flat_map(|one| [i128::from(one.at), one.value, i128::from(one.slope)]))
}

/// The results of earlier analyses.
#[derive(Debug, Default)]
pub struct Memory(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// By port what its analysis reads of the Plan, with a number that no other content of any port has.
    ports: Vec<(Port, Node, u64)>,
    versions: u64,
    /// The time that frames may take at most.
    run: u64,
    /// With hops by their place at the port, and the analysis that used it last.
    results: HashMap<Key, (PortResult, u64)>,
    /// How many analyses there were.
    analyses: u64,
    /// What the last one left.
    left: Option<Kept>,
}

impl Memory {
    /// Begins an analysis: by port the number of its content; none if ports of this Plan depend on more than is in a key.
    pub(crate) fn begin(&self, plan: &Plan) -> Option<Vec<u64>> {
        if !(plan.faults.is_empty() && plan.policing.is_empty() && plan.clocks.is_none()) {
            return None;
        }
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Known { ports, versions, run, results, analyses, .. } = &mut *kept;
        let now = plan.duration_ns.saturating_add(plan.drain_ns);
        if *run != now || ports.len() != plan.ports.len() {
            ports.clear();
            *run = now;
        }
        *analyses += 1;
        let since = analyses.saturating_sub(KEPT);
        results.retain(|_, (_, used)| *used >= since);
        for (number, port) in plan.ports.iter().enumerate() {
            let node = plan.nodes.get(port.node as usize)?;
            let known = ports.get(number).is_some_and(|(own, of, _)| own == port && of == node);
            if known {
                continue;
            }
            *versions += 1;
            let content = (port.clone(), node.clone(), *versions);
            match ports.get_mut(number) {
                Some(place) => *place = content,
                None => ports.push(content),
            }
        }
        Some(ports.iter().map(|(_, _, version)| *version).collect())
    }

    /// What the last analysis left.
    pub(crate) fn take(&self) -> Option<Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).left.take()
    }

    /// Keeps what an analysis leaves.
    pub(crate) fn leave(&self, kept: Kept) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).left = Some(kept);
    }

    /// A result, with hops by their place.
    pub(crate) fn known(&self, key: Key) -> Option<PortResult> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let analyses = kept.analyses;
        let (result, used) = kept.results.get_mut(&key)?;
        *used = analyses;
        Some(result.clone())
    }

    /// Keeps a result, with hops by their place.
    pub(crate) fn keep(&self, key: Key, result: PortResult) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let analyses = kept.analyses;
        kept.results.insert(key, (result, analyses));
    }
}
