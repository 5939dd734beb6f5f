//! Flows of higher classes along a path: a frame that goes before others counts at one port alone.

use super::Network;
use super::along::{Brought, Common, MOST_STAYS, Ports};
use super::path::{Above, Tree};
use crate::analysis::port::Priority;
use crate::curve::Ps;
use crate::curve::arrival::{self as arrivals, Stair};
use std::collections::BTreeMap;

impl Network<'_> {
    /// The tree with the flows of higher classes; none if none of them uses two of its ports.
    pub(super) fn with_above(&self, tree: &Tree, ports: &Ports, known: &mut Common) -> Option<Tree> {
        let mut above = BTreeMap::new();
        for at in 0..ports.ports.len() {
            let feeds = |from: &usize| ports.ports[*from].2 == Some(at);
            let before: Vec<usize> = (0..ports.ports.len()).filter(feeds).collect();
            for hop in self.above_at(ports, at) {
                if !self.comes_from(ports, &before, hop) {
                    self.add_above(&mut above, (tree, ports), (at, hop), known)?;
                }
                if above.len() + tree.stays.len() > MOST_STAYS {
                    return None;
                }
            }
        }
        above.keys().find(|(begin, last)| begin != last)?;
        let mut found = Tree { above, ..tree.clone() };
        for at in 0..ports.ports.len() {
            found.ports[at].together = self.priority(ports, at).map(|own| (own.rate, own.lower));
        }
        for ((begin, _), own) in &found.above {
            for (at, one) in tree.along(*begin).zip(own) {
                if let Some((_, passage)) = &mut found.ports[at].next {
                    passage.from_start = passage.from_start.max(one.from_start);
                }
            }
        }
        Some(found)
    }

    /// What goes before the frames of the tree at a port.
    fn priority(&self, ports: &Ports, at: usize) -> Option<&Priority> {
        let (port, class, _) = ports.ports[at];
        self.results[port].classes.get(usize::from(class))?.as_ref()?.priority.as_ref()
    }

    fn is_above(&self, ports: &Ports, at: usize, hop: usize) -> bool {
        let own = &self.hops[hop];
        own.port == ports.ports[at].0
            && own.sizes.is_some()
            && self.priority(ports, at).is_some_and(|priority| priority.above.contains(&own.class))
    }

    /// Whether frames go from one queue to the next one in the order of the link between them.
    fn keeps_order(&self, from: usize, to: usize) -> bool {
        self.goes_on(from, to) && !self.arriving.shapes(to) && self.in_order(&self.hops[to])
    }

    /// The hops of higher classes at a port of the tree.
    fn above_at<'a>(&'a self, ports: &'a Ports, at: usize) -> impl Iterator<Item = usize> + 'a {
        let flows = self.models[ports.ports[at].0].flows.iter().flatten().copied();
        flows.filter(move |hop| self.is_above(ports, at, *hop))
    }

    /// Whether a flow of a higher class comes from one of the ports of the tree before.
    fn comes_from(&self, ports: &Ports, before: &[usize], hop: usize) -> bool {
        let parent = self.hops[hop].only_parent();
        parent.is_some_and(|parent| {
            before.iter().any(|from| self.is_above(ports, *from, parent) && self.keeps_order(parent, hop))
        })
    }

    /// The next port of the tree to which a flow of a higher class goes, and its hop there.
    fn above_next(&self, ports: &Ports, at: usize, hop: usize) -> Option<(usize, usize)> {
        let next = ports.ports[at].2?;
        let there = |to: &usize| self.is_above(ports, next, *to) && self.keeps_order(hop, *to);
        Some((next, self.next[hop].iter().copied().find(there)?))
    }

    /// What a flow brings at a hop, and the least time to the next one of the tree; none if it has no limit.
    fn brings(&self, hop: usize, to: Option<usize>) -> Option<Brought> {
        let stairs: Vec<Stair> = self.hops[hop].stairs()?.collect();
        let burst = stairs.iter().map(|stair| stair.bucket(0)).sum::<Option<_>>()?;
        let own = Above { burst, rate: arrivals::rate(&stairs), ..Above::default() };
        let Some(to) = to else { return Some((own, 0)) };
        let passage = self.passage(&[(hop, to)])?;
        Some((Above { from_start: passage.from_start, ..own }, passage.shortest))
    }

    /// Adds a flow of a higher class that meets the tree at a port.
    fn add_above(
        &self,
        above: &mut BTreeMap<(usize, usize), Vec<Above>>,
        (tree, ports): (&Tree, &Ports),
        (begin, first): (usize, usize),
        known: &mut Common,
    ) -> Option<()> {
        let (mut at, mut hop, mut own) = (begin, first, Vec::new());
        loop {
            let next = self.above_next(ports, at, hop);
            let to = next.map(|(_, to)| to);
            let brings = known.above.entry((hop, to)).or_insert_with(|| self.brings(hop, to));
            let (mut here, shortest) = (*brings)?;
            if let Some((_, passage)) = tree.ports[at].next.filter(|_| to.is_some()) {
                here.early = Ps::max(passage.shortest - shortest, 0);
            }
            own.push(here);
            let Some((next, to)) = next else { break };
            (at, hop) = (next, to);
        }
        let known = above.entry((begin, at)).or_insert_with(|| vec![Above::default(); own.len()]);
        for (sum, one) in known.iter_mut().zip(own) {
            sum.burst = sum.burst.checked_add(one.burst)?;
            sum.rate = sum.rate.checked_add(one.rate)?;
            sum.early = sum.early.max(one.early);
            sum.from_start = sum.from_start.max(one.from_start);
        }
        Some(())
    }
}
