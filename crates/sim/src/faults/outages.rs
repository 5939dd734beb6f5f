//! Faults that begin and end: when nodes are down, and which ports obey a wrong list.

use crate::faults::impairment::instant;
use crate::ids::{FaultId, NodeId};
use tsn_plan::{Fault, Plan};
use tsn_units::Instant;

/// What is down, and when; which ports obey a wrong list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outages {
    /// By node: from when, until when.
    down: Vec<Vec<(Instant, Instant)>>,
    /// By port: the fault that holds there now.
    pub disobeys: Vec<Option<FaultId>>,
}

impl Outages {
    /// Those of a Plan, if it has any.
    pub fn new(plan: &Plan) -> Option<Box<Self>> {
        let mut found = Self::default();
        for fault in &plan.faults {
            let (from, until) = fault.span_ns();
            match fault {
                Fault::NodeDown { node, .. } => {
                    found.down.resize(plan.nodes.len(), Vec::new());
                    found.down[*node as usize].push((instant(from), instant(until)));
                }
                Fault::Schedule { .. } => found.disobeys.resize(plan.ports.len(), None),
                _ => {}
            }
        }
        (!found.down.is_empty() || !found.disobeys.is_empty()).then(|| Box::new(found))
    }

    /// Whether a node is down at any time between two instants, both included.
    pub fn is_down(&self, node: NodeId, from: Instant, until: Instant) -> bool {
        let spans = self.down.get(node.index());
        spans.is_some_and(|spans| spans.iter().any(|span| span.0 <= until && from < span.1))
    }
}
