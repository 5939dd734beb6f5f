//! The ATS scheduler in front of a flow's queue, and the arrivals after it.
//!
//! IEEE 802.1Q-2022, 8.6.5.6 and 8.6.11.

use crate::curve::arrival::Stair;
use crate::curve::{BIT, Data, LONGEST, Ps, Rate, ratio_up};
use tsn_plan::Plan;

/// The scheduler in front of one flow's hop.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shaped {
    pub rate: Rate,
    pub burst: Data,
    /// The node's table, and the group within it.
    pub group: (usize, u32),
}

impl Shaped {
    /// The scheduler of a stream's frames that arrive at `ingress`, if any.
    pub fn of(plan: &Plan, ingress: u32, stream: usize, pcp: u8) -> Option<Self> {
        let node = plan.ports[ingress as usize].node;
        let table = plan.policing.iter().position(|policing| policing.node == node)?;
        let policing = &plan.policing[table];
        let filter = policing.matching(ingress, stream as u32, pcp)?;
        let own = policing.schedulers.get(policing.filters[filter].scheduler? as usize)?;
        Some(Self {
            rate: Rate::try_from(own.cir_bps).unwrap_or(Rate::MAX),
            burst: Data::from(own.cbs_bits) * BIT,
            group: (table, own.group),
        })
    }

    /// A staircase that is never below the frames that pass, of `unit` at most; `equal`: all have that size.
    pub fn stair(&self, unit: Data, equal: bool) -> Option<Stair> {
        let period = Ps::try_from((unit / Data::from(self.rate.max(1))).max(1)).ok()?;
        let burst = Ps::try_from(ratio_up(self.burst, Data::from(period), unit.max(1))?).ok()?;
        // If all frames have the same size, the first frame arrives within the first period, so the jitter is less.
        let jitter = if equal { (burst - period).max(0) } else { burst };
        (jitter <= LONGEST).then_some(Stair { unit, period, jitter })
    }
}
