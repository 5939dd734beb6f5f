//! Faults with a begin and an end: periods in which nodes are down, and ports that use a wrong list.

use crate::faults::impairment::instant;
use crate::ids::{FaultId, NodeId};
use tsn_plan::{Fault, Plan};
use tsn_units::Instant;

/// The nodes that are down, and when; the ports that use a wrong list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outages {
    /// By node: begins and ends of its outages.
    down: Vec<Vec<(Instant, Instant)>>,
    /// By port: the fault that is active there now.
    pub disobeys: Vec<Option<FaultId>>,
}

impl Outages {
    /// The outages of a Plan, if it has any.
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
