//! A port whose result is known from an analysis with the same arrivals.

use super::Network;
use crate::analysis::aggregate::Upstream;
use crate::analysis::network::memory::{Key, words};
use crate::analysis::port::PortResult;
use crate::model::span::Span;
use std::collections::HashMap;

impl Network<'_> {
    /// All that the analysis of a port reads; none if it may read more.
    pub(super) fn key_of(&self, port: usize) -> Option<Key> {
        let versions = self.versions.as_ref().filter(|_| !self.later.contains_key(&port))?;
        let mut found = vec![i128::from(versions[port])];
        for (class, flows) in self.models[port].flows.iter().enumerate() {
            found.extend([class as i128, flows.len() as i128]);
            for number in flows {
                let hop = &self.hops[*number];
                let chosen = hop.turns.is_some() || hop.of.is_some() || hop.chain.is_some();
                let shaped = hop.shaped.is_some() || hop.held || self.arriving.shapes(*number);
                let software = !matches!(hop.software, Ok(Span { least: 0, most: 0 }));
                if chosen || shaped || software || !hop.babbles.is_empty() {
                    return None;
                }
                // Without a limit, the reason names ports before.
                let (sizes, latest) = (hop.sizes?, hop.latest?);
                let before = self.before(hop);
                found.extend([
                    i128::from(sizes.smallest),
                    i128::from(sizes.largest),
                    sizes.unit,
                    i128::from(sizes.grain),
                    i128::from(hop.classes),
                    hop.period.map_or(-1, i128::from),
                    hop.begin.map_or(i128::MIN, i128::from),
                    i128::from(hop.times),
                    i128::from(hop.earliest),
                    i128::from(hop.fastest),
                    i128::from(latest),
                    i128::from(hop.shortest),
                    i128::from(hop.closer),
                    i128::from(hop.early),
                    before.map_or(-1, |(port, _)| i128::from(versions[port])),
                    before.map_or(-1, |(_, classes)| i128::from(classes)),
                ]);
                found.extend(words(before.and_then(|_| self.shaper(hop)).as_ref()));
            }
        }
        Some(Key::of(&found))
    }

    /// The result of a port with this key, if there is one.
    pub(super) fn remembered(&self, port: usize, key: Key) -> Option<PortResult> {
        let here: Vec<usize> = self.models[port].flows.iter().flatten().copied().collect();
        self.memory?.known(key)?.renumbered(|place| here.get(place).copied())
    }

    /// Keeps a result without reasons, which name other streams and ports.
    pub(super) fn remember(&self, port: usize, key: Key, result: &PortResult) {
        if result.has_reasons() || !result.sent.is_empty() {
            return;
        }
        let here = self.models[port].flows.iter().flatten().enumerate();
        let places: HashMap<usize, usize> = here.map(|(place, hop)| (*hop, place)).collect();
        if let (Some(memory), Some(result)) =
            (self.memory, result.clone().renumbered(|hop| places.get(&hop).copied()))
        {
            memory.keep(key, result);
        }
    }
}
