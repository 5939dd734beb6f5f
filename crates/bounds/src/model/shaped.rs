//! The ATS scheduler in front of a flow's queue, and the arrivals after it.
//!
//! IEEE 802.1Q-2022, 8.6.5.6 and 8.6.11. A scheduler counts by the oscillator of its node (Thomas & Le Boudec 2020, arXiv
//! 2002.04269).

use crate::curve::arrival::Stair;
use crate::curve::{BIT, Data, LONGEST, Ps, Rate, ps, ratio_up};
use crate::model::clocks::{WHOLE, deviation, faster};
use crate::model::sizes::{Sizes, wire};
use tsn_plan::{ClockFault, Clocks, Plan, Size};

/// What is rounded between two frames that become eligible by an oscillator, in true time.
const ROUNDED: Ps = 4;

/// The scheduler in front of one flow's hop.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shaped {
    /// The greatest rate in true time at which frames pass.
    pub rate: Rate,
    /// What passes at once beyond it, before instants are rounded.
    pub burst: Data,
    /// The least rate in true time at which the bucket fills.
    pub fills: Rate,
    /// What the bucket holds.
    pub holds: Data,
    /// What is rounded between two frames.
    pub rounded: Ps,
    /// The node's table, and the group within it.
    pub group: (usize, u32),
    /// The scheduler within the table; several flows may have the same.
    pub scheduler: u32,
}

impl Shaped {
    /// The scheduler of a stream's frames that arrive at `ingress`, if any.
    pub fn of(plan: &Plan, ingress: u32, stream: usize, pcp: u8) -> Option<Self> {
        let node = plan.ports[ingress as usize].node;
        let table = plan.policing.iter().position(|policing| policing.node == node)?;
        let policing = &plan.policing[table];
        let filter = policing.matching(ingress, stream as u32, pcp)?;
        let scheduler = policing.filters[filter].scheduler?;
        let own = policing.schedulers.get(scheduler as usize)?;
        let holds = Data::from(own.cbs_bits) * BIT;
        let deviates = plan.clocks.as_ref().map_or(0, |clocks| deviation(plan, clocks, node));
        let rate = Rate::try_from(faster(own.cir_bps, deviates)).unwrap_or(Rate::MAX);
        let fills = i128::from(own.cir_bps) * (WHOLE - deviates) / WHOLE;
        // A frame that is eligible is in its queue when it has been processed, too.
        let kept = &plan.nodes[node as usize];
        let varies = kept.further.as_ref().map_or(0, |further| ps(further.range_ns().1));
        let residence = policing.groups.get(own.group as usize).map_or(u64::MAX, |own| own.max_residence_ns);
        let waits = ps(residence.min(plan.duration_ns.saturating_add(plan.drain_ns)));
        let turns = plan.clocks.as_ref().map_or(0, |clocks| turned(clocks, node, deviates, waits));
        let closer = varies.saturating_add(turns);
        Some(Self {
            rate,
            burst: holds.saturating_add(Data::from(rate) * Data::from(closer)),
            fills: Rate::try_from(fills).unwrap_or(Rate::MAX).max(0),
            holds,
            rounded: if plan.clocks.is_some() { ROUNDED } else { 0 },
            group: (table, own.group),
            scheduler,
        })
    }

    /// The scheduler of frames that get a tag after it: they are longer than it counts.
    pub fn with_tags(self, size: &Size, tags: [u32; 2]) -> Self {
        let counted = wire(Sizes::of(size, tags[0]).smallest);
        let more = wire(Sizes::of(size, tags[1]).smallest).max(counted);
        let grown = |data: Data| ratio_up(data, more, counted).unwrap_or(Data::MAX);
        let rate = Rate::try_from(grown(Data::from(self.rate))).unwrap_or(Rate::MAX);
        Self { rate, burst: grown(self.burst), ..self }
    }

    /// A staircase that is never below the frames that pass, of `unit` at most; `equal`: all have that size.
    pub fn stair(&self, unit: Data, equal: bool) -> Option<Stair> {
        let period = Ps::try_from((unit / Data::from(self.rate.max(1))).max(1)).ok()?;
        let burst = Ps::try_from(ratio_up(self.burst, Data::from(period), unit.max(1))?).ok()?;
        // If all frames have the same size, the first frame arrives within the first period, so the jitter is less.
        let jitter = if equal { (burst - period).max(0) } else { burst }.saturating_add(self.rounded);
        (jitter <= LONGEST).then_some(Stair { unit, period, jitter })
    }
}

/// How much closer frames become eligible if the frequency of the oscillator changes meanwhile: the instant follows from
/// the frequency at the frame's arrival. `waits`: the longest wait by the oscillator.
fn turned(clocks: &Clocks, node: u32, deviates: i128, waits: Ps) -> Ps {
    let own = &clocks.nodes[node as usize];
    let jumps =
        |fault: &ClockFault| matches!(fault, ClockFault::FrequencyJump { node: other, .. } if *other == node);
    if own.changes.is_empty() && own.wander.is_none() && !clocks.faults.iter().any(jumps) {
        return 0;
    }
    let found = 2 * deviates * i128::from(waits) / (WHOLE - deviates).max(1) + 1;
    Ps::try_from(found).unwrap_or(LONGEST)
}
