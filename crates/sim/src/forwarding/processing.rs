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
    per_octet_ps: u64,
    /// Frames of this ingress that may still be on the way to their queues.
    underway: Vec<Underway>,
}

/// A frame between the link and its queue.
#[derive(Copy, Clone, Debug)]
struct Underway {
    egress: PortId,
    /// Its arrival and the least processing time.
    earliest: Instant,
    queued: Instant,
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
        let per_octet_ps = match further {
            Further::PerOctet { per_octet_ps, .. } => u64::from(*per_octet_ps),
            Further::Uniform { .. } | Further::List { .. } => 0,
        };
        Some(Box::new(Spread { draws, kind: Kind::new(further), per_octet_ps, underway: Vec::new() }))
    };
    plan.ports.iter().map(of).collect()
}

impl Kind {
    fn new(further: &Further) -> Self {
        match further {
            Further::Uniform { up_to_ns } => Self::Uniform { up_to_ps: up_to_ns.saturating_mul(1_000) },
            Further::List { values_ns, counts } | Further::PerOctet { values_ns, counts, .. } => {
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
    /// When a frame of so many octets that could be in the queue of `egress` at `earliest` gets there: later by a drawn
    /// time and that of its octets, between the frames of the same path that arrived before it and after it.
    ///
    /// Most frames are reported when they begin to leave; frames for listeners or filters are reported when they
    /// arrive. So calls may come in another order than frames. `now` is never after `earliest`.
    pub fn pass(&mut self, egress: PortId, octets: u32, earliest: Instant, now: Instant) -> Instant {
        let ps = match &self.kind {
            Kind::Uniform { up_to_ps } => self.draws.below(up_to_ps.saturating_add(1)),
            Kind::List { values_ns, below } => {
                let draw = self.draws.below(below.last().copied().unwrap_or(0));
                let place = below.partition_point(|most| *most <= draw);
                values_ns.get(place).copied().unwrap_or(0).saturating_mul(1_000)
            }
        };
        let ps = ps.saturating_add(self.per_octet_ps.saturating_mul(u64::from(octets)));
        let drawn = earliest + Duration::from_ps(i64::try_from(ps).unwrap_or(i64::MAX / 4));
        self.underway.retain(|other| other.queued > now);
        let mut queued = drawn;
        for other in self.underway.iter().filter(|other| other.egress == egress) {
            let later = other.earliest > earliest;
            queued = if later { queued.min(other.queued) } else { queued.max(other.queued) };
        }
        self.underway.push(Underway { egress, earliest, queued });
        queued
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ps: i64) -> Instant {
        Instant::from_ps(ps)
    }

    /// Frames of a link arrive 100 ps apart, and take up to 1 us. Some are reported before earlier ones.
    #[test]
    fn frames_keep_their_order_in_whatever_order_they_are_told() {
        let kind = Kind::Uniform { up_to_ps: 1_000_000 };
        let mut spread = Spread { draws: Draws::new(1, "test"), kind, per_octet_ps: 0, underway: Vec::new() };
        let mut queued = vec![at(0); 300];
        for pair in 0..150 {
            for place in [2 * pair + 1, 2 * pair] {
                let arrives = at(1_000_000 + place as i64 * 100);
                let egress = PortId::at(0);
                queued[place] = spread.pass(egress, 64, arrives, at(arrives.ps() - 1_000));
                assert!((0..=1_000_000).contains(&(queued[place] - arrives).ps()), "{place}");
            }
        }
        assert!(queued.is_sorted());
    }
}
