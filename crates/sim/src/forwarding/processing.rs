//! Processing times that differ from frame to frame.

use crate::ids::PortId;
use crate::random::Draws;
use tsn_plan::{Further, Plan};
use tsn_units::{Duration, Instant};

/// The additional processing time of a node for frames that arrive over one port's link.
#[derive(Debug)]
pub(crate) struct Spread {
    draws: Draws,
    kind: Kind,
    /// By egress port: when the last frame of this ingress reached its queue.
    last: Vec<(PortId, Instant)>,
}

#[derive(Debug)]
enum Kind {
    Uniform {
        up_to_ps: u64,
    },
    /// Values in ns, each with the number of draws at or below it.
    List {
        values_ns: Vec<u64>,
        below: Vec<u64>,
    },
}

/// Additional processing times by ingress port; empty if no node has any.
pub(crate) fn spreads(plan: &Plan) -> Vec<Option<Box<Spread>>> {
    if plan.nodes.iter().all(|node| node.further.is_none()) {
        return Vec::new();
    }
    let of = |port: &tsn_plan::Port| {
        let ingress = plan.ports.get(port.peer as usize)?;
        let further = plan.nodes.get(ingress.node as usize)?.further.as_ref()?;
        let draws = Draws::new(plan.seed, &format!("processing/{}", ingress.name));
        Some(Box::new(Spread { draws, kind: Kind::new(further), last: Vec::new() }))
    };
    plan.ports.iter().map(of).collect()
}

impl Kind {
    fn new(further: &Further) -> Self {
        match further {
            Further::Uniform { up_to_ns } => Self::Uniform { up_to_ps: up_to_ns.saturating_mul(1_000) },
            Further::List { values_ns, counts } => {
                let mut sum = 0_u64;
                let counts = (0..values_ns.len()).map(|place| counts.get(place).copied().unwrap_or(1));
                let below = counts.map(|count| {
                    sum = sum.saturating_add(count);
                    sum
                });
                Self::List { below: below.collect(), values_ns: values_ns.clone() }
            }
        }
    }
}

impl Spread {
    /// When a frame that could be in the queue of `egress` at `earliest` gets there: later by a drawn time, and not
    /// before earlier frames of the same path.
    pub fn pass(&mut self, egress: PortId, earliest: Instant) -> Instant {
        let ps = match &self.kind {
            Kind::Uniform { up_to_ps } => self.draws.below(up_to_ps.saturating_add(1)),
            Kind::List { values_ns, below } => {
                let draw = self.draws.below(below.last().copied().unwrap_or(0));
                let place = below.partition_point(|most| *most <= draw);
                values_ns.get(place).copied().unwrap_or(0).saturating_mul(1_000)
            }
        };
        let drawn = earliest + Duration::from_ps(i64::try_from(ps).unwrap_or(i64::MAX / 4));
        let Some((_, last)) = self.last.iter_mut().find(|(port, _)| *port == egress) else {
            self.last.push((egress, drawn));
            return drawn;
        };
        *last = drawn.max(*last);
        *last
    }
}
