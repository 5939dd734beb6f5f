//! How much of a frame is in before a node may pass it on: all of it, or, under cut-through, its first octets.
//!
//! FlexTest, Section V-C and Fig. 7.

use crate::{Plan, Port};

impl Plan {
    /// The octets after which `node` may pass a longer frame on, from a link of `ingress_bps` to the port `egress`.
    ///
    /// None where it stores frames whole: without cut-through, and towards a faster link, which would run dry.
    #[must_use]
    pub fn cuts_through_after(&self, ingress_bps: u64, egress: &Port) -> Option<u32> {
        self.nodes.get(egress.node as usize)?.cut_through_octets.filter(|_| egress.rate_bps <= ingress_bps)
    }

    /// How many of a frame's octets need not be in when a node passes it on; see [`Plan::cuts_through_after`].
    #[must_use]
    pub fn octets_cut(&self, octets: u32, ingress_bps: u64, egress: &Port) -> u32 {
        self.cuts_through_after(ingress_bps, egress).map_or(0, |after| octets.saturating_sub(after))
    }
}
