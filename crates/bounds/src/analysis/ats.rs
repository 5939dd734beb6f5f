//! ATS schedulers: frames that pass them keep the schedulers' rates, and the wait for a scheduler is no longer than
//! the longest wait in the previous queue.
//!
//! Le Boudec 2018 (arXiv 1801.08477); Mohammadpour et al., arXiv 1804.10608; Specht & Samii 2016. Derived in
//! `docs/concepts/bounds.md`.

use crate::curve::arrival::Stair;
use crate::curve::{Data, Ps, Rate, ratio_up};
use crate::model::flow_hop::FlowHop;
use crate::model::member_streams::{entries_with, tag};
use crate::model::shaped::Shaped;
use crate::reason::Reason;
use std::collections::{BTreeSet, HashMap};
use tsn_plan::Plan;

/// Whether a flow's arrivals never exceed a scheduler's bucket, so that alone they would not wait.
fn never_waits(shaper: &Shaped, before: &FlowHop) -> bool {
    if let Some(own) = before.shaped {
        return own.rate <= shaper.rate && own.burst <= shaper.burst;
    }
    let Some(stairs) = before.stairs() else { return false };
    let (mut rate, mut burst): (Rate, Data) = (0, 0);
    for Stair { unit, period, jitter } in stairs {
        let most = ratio_up(unit, Data::from(period) + Data::from(jitter), Data::from(period));
        let own = Rate::try_from(unit.div_euclid(Data::from(period.max(1))));
        let (Some(most), Ok(own)) = (most, own) else { return false };
        let exact = unit % Data::from(period.max(1)) == 0;
        let (Some(rates), Some(bursts)) =
            (rate.checked_add(own + Rate::from(!exact)), burst.checked_add(most))
        else {
            return false;
        };
        (rate, burst) = (rates, bursts);
    }
    rate <= shaper.rate && burst <= shaper.burst
}

/// Why there is no bound if member streams merge at an ATS scheduler, or have another size after it: its bucket would
/// count other frames than the analysis.
pub(crate) fn shaped_copies(plan: &Plan) -> Option<Reason> {
    let shapes = plan.policing.iter().any(|policing| !policing.schedulers.is_empty());
    let copied = plan.streams.iter().enumerate().filter(|(_, stream)| shapes && stream.redundancy.is_some());
    let found = copied.into_iter().any(|(number, stream)| {
        let priorities = plan.priorities(stream);
        stream.route.iter().enumerate().any(|(place, hop)| {
            let entries = hop.parent.map(|parent| entries_with(stream, parent)).unwrap_or_default();
            let differs = |entry: &u32| tag(stream, *entry as usize) != tag(stream, place);
            let shaped = |entry: &u32| {
                let ingress = plan.ports[stream.route[*entry as usize].port as usize].peer;
                Shaped::of(plan, ingress, number, priorities[place]).is_some()
            };
            entries.iter().any(shaped) && (entries.len() > 1 || entries.iter().any(differs))
        })
    });
    found.then_some(Reason::ShapedCopies)
}

/// The schedulers that frames reach at the end of each hop's link; also of frames that end there.
pub(crate) struct Arriving {
    /// By hop.
    schedulers: Vec<Option<Shaped>>,
    /// By scheduler group: the ports that its frames leave by before it.
    from: HashMap<(usize, u32), BTreeSet<usize>>,
}

impl Arriving {
    pub fn new(plan: &Plan, hops: &[FlowHop], next: &[Vec<usize>]) -> Self {
        let at_end = |number: usize| {
            let hop = &hops[number];
            if let Some(next) = next[number].first() {
                return hops[*next].shaped;
            }
            let ingress = plan.ports[hop.port].peer;
            Shaped::of(plan, ingress, hop.stream, plan.regenerated(ingress, hop.pcp))
        };
        let schedulers: Vec<Option<Shaped>> = (0..hops.len()).map(at_end).collect();
        let mut from: HashMap<(usize, u32), BTreeSet<usize>> = HashMap::new();
        for (hop, shaped) in hops.iter().zip(&schedulers) {
            if let Some(shaped) = shaped {
                from.entry(shaped.group).or_default().insert(hop.port);
            }
        }
        Self { schedulers, from }
    }

    /// Whether frames reach a scheduler at the end of a hop's link.
    pub fn shapes(&self, hop: usize) -> bool {
        self.schedulers[hop].is_some()
    }
}

/// The delays at one port, each with the wait for the next ATS scheduler: no longer than the longest delay of the
/// scheduler group's frames, if all of them arrive in one queue and keep their rates before it.
pub(crate) fn with_schedulers(
    delays: &mut [(usize, Result<Ps, Reason>)],
    hops: &[FlowHop],
    arriving: &Arriving,
) {
    let own = delays.to_vec();
    for (hop, delay) in delays.iter_mut() {
        let Some(group) = arriving.schedulers[*hop].map(|shaped| shaped.group) else { continue };
        let alone = arriving.from[&group].len() == 1;
        let mut members = own.iter().filter_map(|(other, delay)| {
            let shaper = arriving.schedulers[*other].filter(|shaper| shaper.group == group)?;
            Some((*other, shaper, delay))
        });
        let longest = members.try_fold(0, |longest, (other, shaper, delay)| {
            if !alone || !never_waits(&shaper, &hops[other]) || hops[other].class != hops[*hop].class {
                return Err(Reason::Shaping);
            }
            delay.as_ref().map(|delay| longest.max(*delay)).map_err(Clone::clone)
        });
        *delay = match (&*delay, longest) {
            (Ok(delay), Ok(longest)) => Ok(longest.max(*delay)),
            (Err(reason), _) => Err(reason.clone()),
            (_, Err(reason)) => Err(reason),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1,000 units at 100 per ps are 10 ps; a bucket of 3,000 is 30 ps, which includes the first frame if all are
    /// equal.
    #[test]
    fn what_passes_a_scheduler_is_a_staircase() {
        let jitter = |burst, equal| {
            let stair = Shaped { rate: 100, burst, group: (0, 0) }.stair(1_000, equal).unwrap();
            assert_eq!((stair.unit, stair.period), (1_000, 10));
            stair.jitter
        };
        assert_eq!((jitter(3_000, false), jitter(3_000, true)), (30, 20));
        assert_eq!((jitter(2_901, false), jitter(500, true)), (30, 0));
    }
}
