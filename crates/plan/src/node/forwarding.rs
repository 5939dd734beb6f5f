//! How much of a frame must have arrived before a node may forward it: the whole frame, or, under cut-through, its
//! first octets.
//!
//! FlexTest, Section V-C and Fig. 7.

use crate::{Plan, Port};

impl Plan {
    /// How many of a frame's octets need not have arrived when it goes from `ingress` to its queue at `egress`.
    ///
    /// The number is 0 if frames are stored whole: without cut-through, towards a faster link, which would run out of
    /// octets, and if the frame may be interrupted on the ingress link.
    #[must_use]
    pub fn octets_cut(&self, octets: u32, pcp: u8, ingress: &Port, egress: &Port) -> u32 {
        let after = self.nodes.get(egress.node as usize).and_then(|node| node.cut_through_octets);
        let steady = egress.rate_bps <= ingress.rate_bps && !ingress.interrupts(pcp);
        after.filter(|_| steady).map_or(0, |after| octets.saturating_sub(after))
    }
}
