//! The delay along a path: the sum over its hops, or less where that counts bursts several times.

use super::Network;
use super::faults::{moves_frames, repeats};
use super::path::{Above, Left, Line, Passage, Step, Tree};
use crate::analysis::aggregate::Upstream;
use crate::curve::arrival::{self as arrivals, Stair};
use crate::curve::{Data, Ps, Rate, time_of};
use crate::linear::Proved;
use crate::model::flow_hop::FlowHop;
use crate::model::sizes::{until_last_bit, wire};
use std::collections::{BTreeMap, HashMap};

/// The ports of a path with their classes; those before it from which its frames come in order, and the port before these.
type Key = (Vec<(usize, u8)>, Vec<(usize, u8)>, Option<usize>);

/// What a flow of a higher class brings at a hop, and the least time from there to its next hop.
pub(super) type Brought = (Above, Ps);

/// What several flows have in common.
#[derive(Debug, Default)]
pub(super) struct Common {
    /// Bounds along paths, for any frame and any delays of the hops.
    bounds: HashMap<Key, (Option<Left>, Option<Proved>)>,
    /// Whether a class of a port is plain.
    plain: HashMap<(usize, u8), bool>,
    /// Flows of higher classes, by hop and next hop; none for a flow without a limit.
    pub(super) above: HashMap<(usize, Option<usize>), Option<Brought>>,
}

impl Common {
    /// Forgets what depends on these ports, and all that is found again at once.
    pub fn forget(&mut self, ports: &[bool]) {
        self.plain.clear();
        self.above.clear();
        self.bounds.retain(|(path, ..), _| path.iter().all(|(port, _)| !ports[*port]));
    }
}

/// Most ports of a tree; the ports of a path alone may be more.
const MOST_PORTS: usize = 16;
/// Most stays of a tree that are kept apart by the link before them.
pub(super) const MOST_STAYS: usize = 32;

/// The ports of a tree with their classes, and the next port of each.
pub(super) struct Ports {
    pub ports: Vec<(usize, u8, Option<usize>)>,
    known: HashMap<(usize, u8), usize>,
}

impl Network<'_> {
    /// Greatest delay from the queue of the first hop to the last bit behind the last one.
    pub(super) fn along(&self, path: &[usize], known: &mut Common) -> Option<Ps> {
        let (mut sum, mut begin) = (0, 0);
        for place in 1..path.len() {
            if !self.continues(path[place - 1], path[place], known) {
                sum += self.within(&path[begin..place], known)? + self.until_queued(path[place]);
                begin = place;
            }
        }
        Some(sum + self.within(path.get(begin..)?, known)?)
    }

    /// The same for hops that keep the order of frames.
    fn within(&self, path: &[usize], known: &mut Common) -> Option<Ps> {
        let delays: Vec<Ps> = path.iter().map(|hop| self.delay(*hop).ok()).collect::<Option<_>>()?;
        let between: Ps = path.iter().skip(1).map(|hop| self.until_queued(*hop)).sum();
        let sum = delays.iter().sum::<Ps>() + between;
        let last = &self.hops[path[path.len() - 1]];
        // The wait for a scheduler at the other end is in the delay of the hop.
        let waits = self.arriving.shapes(path[path.len() - 1]);
        let Some(sizes) = last.sizes.filter(|_| !waits) else { return Some(sum) };
        let sent = |octets| until_last_bit(octets, self.models[last.port].port) + self.on_link(last.port);
        let mut parameters: Vec<Data> = delays.into_iter().map(Data::from).collect();
        parameters[path.len() - 1] -= Data::from(sent(sizes.smallest));
        parameters.push(wire(sizes.smallest));
        let key = self.key(path);
        let (left, found) = match known.bounds.get(&key) {
            Some(found) => found,
            None => {
                let found = self.as_a_whole(path, &parameters, sum - sent(sizes.largest), known);
                known.bounds.entry(key).or_insert(found)
            }
        };
        let found = found.as_ref().and_then(|found| found.most(&parameters));
        let left = left.and_then(|left| left.most(wire(sizes.smallest)));
        let started = found.into_iter().chain(left).min();
        Some(started.map_or(sum, |started| sum.min(started.saturating_add(sent(sizes.largest)))))
    }

    /// What a path leaves to its flows, and what the programme finds below that and `sum`; neither, if it is not plain.
    fn as_a_whole(
        &self,
        path: &[usize],
        parameters: &[Data],
        sum: Ps,
        known: &mut Common,
    ) -> (Option<Left>, Option<Proved>) {
        if !self.is_plain(path[0], known) {
            return (None, None);
        }
        let left = self.left(path);
        let frame = parameters[path.len()];
        let enough = left.and_then(|left| left.most(frame)).map_or(sum, |other| sum.min(other));
        let found = self.trees(path, known).into_iter().fold(None, |found: Option<Proved>, tree| {
            let enough = found.as_ref().and_then(|found| found.most(parameters)).unwrap_or(enough);
            tree.bound(parameters, enough).or(found)
        });
        (left, found)
    }

    fn key(&self, path: &[usize]) -> Key {
        let own = |hop: usize| (self.hops[hop].port, self.hops[hop].class);
        let (mut before, mut at) = (Vec::new(), path[0]);
        while let Some(parent) = self.hops[at].only_parent().filter(|parent| self.goes_on(*parent, at)) {
            before.push(own(parent));
            at = parent;
        }
        (path.iter().map(|hop| own(*hop)).collect(), before, self.port_before(at))
    }

    /// Whether all frames that go from one hop to the next one keep their order and their sizes, from queue to queue.
    fn continues(&self, from: usize, to: usize, known: &mut Common) -> bool {
        let waits = self.arriving.shapes(to);
        self.goes_on(from, to) && !waits && self.is_plain(from, known) && self.is_plain(to, known)
    }

    pub(super) fn goes_on(&self, from: usize, to: usize) -> bool {
        let (before, after) = (&self.hops[from], &self.hops[to]);
        after.only_parent() == Some(from) && before.sizes == after.sizes && after.times == before.times
    }

    /// Whether the class of a hop serves its frames in order and whole, with a service that does not depend on the time.
    fn is_plain(&self, hop: usize, known: &mut Common) -> bool {
        let (number, class) = (self.hops[hop].port, self.hops[hop].class);
        *known.plain.entry((number, class)).or_insert_with(|| {
            let moves = |fault| moves_frames(fault, number) || repeats(fault, number).is_some();
            let port = self.models[number].port;
            let buffered = port.transmit_buffer.is_some() || port.server.is_some();
            let software = self.plan.nodes[port.node as usize].host.is_some();
            let flows = &self.models[number].flows[usize::from(class)];
            !buffered
                && !software
                && !self.later.contains_key(&number)
                && !self.plan.faults.iter().any(moves)
                && self.guaranteed(number, usize::from(class)).is_some()
                && flows.iter().all(|hop| self.in_order(&self.hops[*hop]))
        })
    }

    /// Whether the frames of a flow come into the queue one after the other, as they came over the link.
    pub(super) fn in_order(&self, hop: &FlowHop) -> bool {
        let chosen = hop.turns.is_some() || hop.of.is_some();
        // Frames that a node forwards before they are complete may come closer to each other.
        !hop.held && hop.closer == self.processing(hop.port).spread() && !chosen
    }

    fn guaranteed(&self, port: usize, class: usize) -> Option<(Rate, Data)> {
        self.results[port].classes.get(class)?.as_ref()?.guaranteed
    }

    fn port_before(&self, hop: usize) -> Option<usize> {
        self.before(&self.hops[hop]).map(|(port, _)| port)
    }

    /// The tree of a path with the flows of higher classes, if they use several of its ports; and without them.
    fn trees(&self, path: &[usize], known: &mut Common) -> Vec<Tree> {
        let ports = self.ports_before(path, known);
        let Some(tree) = self.tree(path, &ports) else { return Vec::new() };
        let Some(with) = self.with_above(&tree, &ports, known) else { return vec![tree] };
        // Longer frames of higher classes make rows worse.
        let longer = |(with, own): (&Step, &Step)| match (with.next, own.next) {
            (Some((_, with)), Some((_, own))) => with.from_start > own.from_start,
            _ => false,
        };
        let worse = with.ports.iter().zip(&tree.ports).any(longer);
        if worse { vec![with, tree] } else { vec![with] }
    }

    /// The ports of a path and those that feed them, and the flows that meet them.
    fn tree(&self, path: &[usize], ports: &Ports) -> Option<Tree> {
        let (mut begin, mut first) = (0, path[0]);
        while let Some(before) = self.tree_before(ports, begin, first) {
            (begin, first) = (before, self.hops[first].only_parent()?);
        }
        let tagged = (begin, self.port_before(first), path.len() - 1);
        let mut tree = Tree { path: path.len(), tagged, ..Tree::default() };
        for (port, class, _) in &ports.ports {
            let (rate, missing) = self.guaranteed(*port, usize::from(*class))?;
            tree.ports.push(Step { rate, missing, together: None, next: None });
        }
        for at in 0..ports.ports.len() {
            let mut pairs = Vec::new();
            for hop in self.hops_at(ports, at) {
                let from = self.tree_before(ports, at, hop);
                pairs.extend(
                    ports.ports[at].2.and_then(|next| self.goes_to(ports, hop, next)).map(|to| (hop, to)),
                );
                if from.is_none() {
                    let stay = (at, self.port_before(hop), self.last(ports, at, hop));
                    tree.stays.entry(stay).or_default().extend(self.hops[hop].stairs()?);
                }
            }
            if let Some(next) = ports.ports[at].2 {
                tree.ports[at].next = Some((next, self.passage(&pairs)?));
            }
            self.lines(&mut tree, ports, at);
        }
        if tree.stays.len() > MOST_STAYS {
            tree.join();
        }
        Some(tree)
    }

    fn ports_of(&self, path: &[usize]) -> Ports {
        let own = |hop: &usize| (self.hops[*hop].port, self.hops[*hop].class);
        let next = |place: usize| Some(place + 1).filter(|next| *next < path.len());
        let on_path = path.iter().enumerate();
        Ports {
            ports: on_path.clone().map(|(place, hop)| (own(hop).0, own(hop).1, next(place))).collect(),
            known: on_path.map(|(place, hop)| (own(hop), place)).collect(),
        }
    }

    /// The ports of a path, and before them those from which flows come that may bring several data units at once.
    fn ports_before(&self, path: &[usize], known: &mut Common) -> Ports {
        let mut found = self.ports_of(path);
        let mut at = 0;
        while at < found.ports.len() {
            for hop in self.hops_at(&found, at) {
                let parent = self.hops[hop].only_parent().filter(|parent| self.goes_on(*parent, hop));
                let Some(parent) = parent.filter(|_| found.ports.len() < MOST_PORTS && self.may_be_late(hop))
                else {
                    continue;
                };
                let key = (self.hops[parent].port, self.hops[parent].class);
                if !found.known.contains_key(&key) && self.is_plain(parent, known) {
                    found.known.insert(key, found.ports.len());
                    found.ports.push((key.0, key.1, Some(at)));
                }
            }
            at += 1;
        }
        found
    }

    /// Whether the frames of a flow may have had to wait before.
    fn may_be_late(&self, hop: usize) -> bool {
        let own = &self.hops[hop];
        own.latest.is_some_and(|latest| latest > own.earliest)
    }

    fn hops_at(&self, ports: &Ports, at: usize) -> Vec<usize> {
        let (port, class, _) = ports.ports[at];
        let flows = self.models[port].flows[usize::from(class)].iter().copied();
        flows.filter(|hop| self.hops[*hop].sizes.is_some()).collect()
    }

    /// The port of the tree before the one at which a hop is, if the hop's frames come from there.
    fn tree_before(&self, ports: &Ports, at: usize, hop: usize) -> Option<usize> {
        let parent = self.hops[hop].only_parent()?;
        let from = *ports.known.get(&(self.hops[parent].port, self.hops[parent].class))?;
        (ports.ports[from].2 == Some(at) && self.goes_on(parent, hop)).then_some(from)
    }

    /// The hop with which a flow goes on to a port of the tree.
    fn goes_to(&self, ports: &Ports, hop: usize, to: usize) -> Option<usize> {
        let (port, class, _) = ports.ports[to];
        let there = |next: &usize| self.hops[*next].port == port && self.hops[*next].class == class;
        self.next[hop].iter().copied().find(|next| there(next) && self.goes_on(hop, *next))
    }

    /// The last port of the tree that a flow uses which meets it at `at`.
    fn last(&self, ports: &Ports, mut at: usize, mut hop: usize) -> usize {
        while let Some((next, to)) =
            ports.ports[at].2.and_then(|next| Some((next, self.goes_to(ports, hop, next)?)))
        {
            (at, hop) = (next, to);
        }
        at
    }

    /// What a path leaves to the flows that use all of it.
    fn left(&self, path: &[usize]) -> Option<Left> {
        let ports = self.ports_of(path);
        let last = path.len() - 1;
        let mut own: Vec<usize> = self.hops_at(&ports, 0);
        own.retain(|hop| self.last(&ports, 0, *hop) == last);
        let stairs = |hops: &[usize]| -> Option<Vec<Stair>> {
            hops.iter().try_fold(Vec::new(), |mut all, hop| {
                all.extend(self.hops[*hop].stairs()?);
                Some(all)
            })
        };
        let burst = |own: &[Stair]| own.iter().map(|stair| stair.bucket(0)).sum::<Option<Data>>();
        let mine = stairs(&own)?;
        let mut left = Left { wait: 0, rate: Rate::MAX, burst: burst(&mine)? };
        for at in 0..=last {
            let (port, class, next) = ports.ports[at];
            let mut others = self.hops_at(&ports, at);
            others.retain(|hop| !own.contains(hop));
            let others = stairs(&others)?;
            let (rate, missing) = self.guaranteed(port, usize::from(class))?;
            left.rate = left.rate.min(rate.checked_sub(arrivals::rate(&others))?);
            left.wait = left.wait.checked_add(time_of(missing.checked_add(burst(&others)?)?, rate)?)?;
            if let Some(next) = next {
                let to = |hop: &usize| Some((*hop, self.goes_to(&ports, *hop, next)?));
                let pairs: Vec<(usize, usize)> = own.iter().map(to).collect::<Option<_>>()?;
                left.wait = left.wait.checked_add(self.passage(&pairs)?.from_start)?;
                own = pairs.into_iter().map(|(_, to)| to).collect();
            }
        }
        (left.rate > 0 && arrivals::rate(&mine) <= left.rate).then_some(left)
    }

    /// The way of frames from the hops of one port to those of the next one.
    pub(super) fn passage(&self, pairs: &[(usize, usize)]) -> Option<Passage> {
        let (from, to) = pairs.first()?;
        let port = self.hops[*from].port;
        let processing = self.processing(self.hops[*to].port);
        let hops = || pairs.iter().map(|(hop, _)| &self.hops[*hop]);
        let largest = hops().filter_map(|hop| hop.sizes).map(|sizes| sizes.largest).max()?;
        let sent = until_last_bit(largest, self.models[port].port).checked_add(self.on_link(port))?;
        let mut delays = pairs.iter().map(|(hop, _)| self.delay(*hop).ok());
        Some(Passage {
            shortest: hops().map(|hop| hop.shortest).min()?.checked_add(processing.least)?,
            from_start: sent.checked_add(processing.most)?,
            processing: processing.most,
            slowest: delays.try_fold(0, |most, delay| Some(delay?.max(most))),
        })
    }

    /// The limits of the links over which flows arrive at a port.
    fn lines(&self, tree: &mut Tree, ports: &Ports, at: usize) {
        let mut links: BTreeMap<(usize, Option<usize>), (usize, u8, Data)> = BTreeMap::new();
        for hop in self.hops_at(ports, at) {
            let (Some((port, classes)), Some(sizes)) = (self.before(&self.hops[hop]), self.hops[hop].sizes)
            else {
                continue;
            };
            let link = links.entry((port, self.tree_before(ports, at, hop))).or_insert((hop, 0, 0));
            link.1 |= classes;
            link.2 = link.2.max(wire(sizes.largest));
        }
        for ((port, from), (hop, classes, largest)) in links {
            if let Some(line) = self.line(&self.hops[hop], classes, largest).map(|line| line.tail()) {
                // Of frames from one port in several classes, those of the tree's class count.
                tree.lines.insert((at, port), Line { burst: line.value, rate: line.slope, from });
            }
        }
    }
}
