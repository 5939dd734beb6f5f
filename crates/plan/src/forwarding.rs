//! How much of a frame is in before a node may pass it on: all of it, or, under cut-through, its first octets.
//!
//! FlexTest, Section V-C and Fig. 7.

use crate::{Plan, Port};

impl Plan {
    /// How many of a frame's octets need not be in when it goes to its queue at `egress`, having come from `ingress`.
    ///
    /// None where frames are stored whole: without cut-through, towards a faster link, which would run dry, and
    /// where the frame may be interrupted on its way in.
    #[must_use]
    pub fn octets_cut(&self, octets: u32, pcp: u8, ingress: &Port, egress: &Port) -> u32 {
        let after = self.nodes.get(egress.node as usize).and_then(|node| node.cut_through_octets);
        let steady = egress.rate_bps <= ingress.rate_bps && !ingress.interrupts(pcp);
        after.filter(|_| steady).map_or(0, |after| octets.saturating_sub(after))
    }
}
