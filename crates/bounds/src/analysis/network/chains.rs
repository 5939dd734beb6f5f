//! Turns from hop to hop: frames of one turn of a stream gate that stay together until the next one.
//!
//! IEEE 802.1Q-2022, annex T. Derived in `docs/concepts/bounds.md`.

use super::Network;
use super::faults::repeats;
use crate::curve::Ps;
use crate::curve::arrival::Stair;
use crate::model::stream_gates::{Chain, Turn};

impl Network<'_> {
    /// The turns of a flow that come into the class of a hop, by the arrivals and turns of the hop before.
    pub(super) fn chain(&self, number: usize) -> Option<Chain> {
        let hop = &self.hops[number];
        // A frame may wait for its scheduler until another turn.
        let turns = hop.turns.as_ref().filter(|_| !hop.held)?;
        let all: Vec<Stair> = hop.stairs()?.collect();
        let own = hop.of.unwrap_or(number);
        if let Some((since, sent)) = self.sent(hop.only_parent()?) {
            let takes = |turn: &Turn| {
                self.in_classes(own)
                    .any(|other| self.hops[other].turns.as_ref().is_some_and(|own| own.takes(turn)))
            };
            // Lists with other cycles meet these turns in any phase.
            let before = hop.only_parent().and_then(|before| self.hops[before].turns.as_ref());
            if before.is_some_and(|before| before.cycle == turns.cycle) && sent.iter().all(takes) {
                return Some(Chain { since, turns: turns.continued(&sent, &all)? });
            }
        }
        Some(Chain { since: own, turns: turns.begun(&all)? })
    }

    /// The turns of a flow behind a hop, with their arrivals at the other end of its link, and the hop at which they
    /// begin.
    fn sent(&self, hop: usize) -> Option<(usize, Vec<Turn>)> {
        let (port, since) = (self.hops[hop].port, self.hops[hop].chain.as_ref()?.since);
        if self.plan.faults.iter().any(|fault| repeats(fault, port).is_some()) {
            return None;
        }
        let mut found = Vec::new();
        for own in self.in_classes(hop).filter(|own| self.hops[*own].sizes.is_some()) {
            let same = self.hops[own].chain.as_ref().is_some_and(|chain| chain.since == since);
            let (_, sent) =
                self.results[port].sent.iter().find(|(other, _)| *other == own).filter(|_| same)?;
            for turn in sent {
                let from = turn.from.checked_add(self.hops[own].shortest)?;
                found.push(Turn { from, to: turn.to.checked_add(self.on_link(port))?, ..*turn });
            }
        }
        Some((since, found))
    }

    /// The hop at which the turns of a hop begin, and the greatest time from the last bit there to the last bit at the
    /// other end of the hop's link.
    pub(super) fn since_turn(&self, hop: usize) -> Option<(usize, Ps)> {
        let (since, sent) = self.sent(hop)?;
        Some((since, sent.iter().map(|turn| turn.to - turn.begin).max()?))
    }
}
