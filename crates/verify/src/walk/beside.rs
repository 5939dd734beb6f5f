//! The proof of a Plan beside that of an earlier one: only what differs is proved again.
//!
//! The passages of a stream follow from its own part of the Plan, from nodes, from the ports and stamps on its path, and
//! from gates for which its frames wait. Whether the frames of a port hold follows from the passages there, from its
//! gates, and from other traffic. So a port is proved again if its gates differ, if a stream there joined, left or
//! differs, or if a passage there is another one. All else has the result of the earlier proof, which found no violation.

use crate::delays::Stamps;
use crate::gates::{self, Table};
use crate::passage::Passage;
use crate::walk::walk;
use crate::{Proof, Proven, Report, Violation, backlog, link, room};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use tsn_plan::{Plan, Stream, Tap};

/// What was found of one stream. Numbers of streams in it are those of the Plan in which it was found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Walked {
    pub passages: Vec<Passage>,
    /// Without what follows from other streams: queues that are full, or never drain.
    pub delays: Vec<Proven>,
}

/// What is asked of all streams at a port.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Traits {
    /// Whether frames wait for gates.
    waits: bool,
    /// Whether frames differ in their delays.
    varies: bool,
}

impl Walked {
    pub fn traits(&self) -> Traits {
        let varies =
            |own: &Proven| own.lower_ps != own.upper_ps || own.release_lower_ps != own.release_upper_ps;
        Traits { waits: self.passages.iter().any(Passage::waits), varies: self.delays.iter().any(varies) }
    }
}

/// How a Plan differs from an earlier one. All else is equal; streams that stay have their order.
#[derive(Copy, Clone, Debug)]
pub struct Changed<'a> {
    /// The ports with other gates.
    pub gates: &'a [usize],
    /// The streams of the earlier Plan that left, each with its place there, ascending.
    pub left: &'a [(usize, &'a Stream)],
    /// The places of those that joined, ascending.
    pub joined: &'a [usize],
    /// The taps of the earlier Plan that this one has not, and those that the earlier one has not.
    pub taps: &'a [&'a Tap],
    /// By port of the Plan: the places of the streams that pass it, ascending.
    pub at: &'a [Vec<u32>],
}

/// By port.
type Marks = Vec<bool>;

/// Marks the ports at which passages of a stream differ.
fn mark_others(was: &Walked, now: &Walked, ports: &mut Marks) {
    let same_length = was.passages.len() == now.passages.len();
    for (place, passage) in now.passages.iter().enumerate() {
        let before = was.passages.get(place).filter(|_| same_length);
        let same =
            before.is_some_and(|before| Passage { stream: passage.stream, ..before.clone() } == *passage);
        ports[passage.port as usize] |= !same;
    }
    for passage in was.passages.iter().filter(|_| !same_length) {
        ports[passage.port as usize] = true;
    }
}

/// The ports of a mark.
fn marked(ports: &Marks) -> impl Iterator<Item = usize> {
    ports.iter().enumerate().filter(|(_, own)| **own).map(|(port, _)| port)
}

/// The queues of each port that are full, and those that never drain, one bit for each class.
type Queues = Vec<(u8, u8)>;

impl Proof {
    /// The proof of a Plan, for which all that is as in an earlier one is known from this proof of that one; none if
    /// only the proof of everything can tell. Its report has no delays: [`Self::delays`] computes those that are needed.
    #[must_use]
    pub fn after(&self, plan: &Plan, changed: &Changed<'_>) -> Option<Self> {
        let plain = plan.faults.is_empty() && plan.policing.is_empty() && plan.clocks.is_none();
        if !plain || !self.report.violations.is_empty() {
            return None;
        }
        let mut ports = vec![false; plan.ports.len()];
        changed.gates.iter().for_each(|port| ports[*port] = true);
        let mut stamped = vec![false; plan.ports.len()];
        for port in changed.taps.iter().map(|tap| tap.port as usize) {
            // Frames are stamped where they leave by a port, or where they arrive from its peer.
            stamped[port] = true;
            stamped[plan.ports[port].peer as usize] = true;
        }
        let joined = changed.joined.iter().map(|place| &plan.streams[*place]);
        let mut report = Report { streams: self.report.streams, ..Report::default() };
        for stream in changed.left.iter().map(|(_, stream)| *stream).chain(joined.clone()) {
            stream.route.iter().chain(&stream.flood).for_each(|hop| ports[hop.port as usize] = true);
        }
        let scheduled = |stream: &&Stream| stream.scheduled.is_some();
        report.streams += joined.filter(scheduled).count() as u64;
        report.streams -= changed.left.iter().map(|(_, own)| *own).filter(scheduled).count() as u64;
        let mut tables = self.tables.clone();
        for port in changed.gates {
            tables[*port] = plan.ports[*port].gates.as_ref().map(|gates| Arc::new(Table::new(gates)));
        }
        let (mut walks, mut traits) = (self.walks.clone(), self.traits.clone());
        for (place, _) in changed.left.iter().rev() {
            walks.remove(*place);
            traits.remove(*place);
        }
        for place in changed.joined {
            walks.insert(*place, Arc::default());
            traits.insert(*place, Traits::default());
        }
        let mut again: BTreeSet<u32> = marked(&stamped).flat_map(|port| &changed.at[port]).copied().collect();
        for port in changed.gates {
            // Gates tell nothing of frames that do not wait: when these pass is known without them.
            let here = |one: &Passage| one.port as usize == *port && one.waits();
            let some = changed.at[*port].iter().filter(|number| traits[**number as usize].waits);
            again.extend(some.filter(|number| walks[**number as usize].passages.iter().any(here)));
        }
        again.extend(changed.joined.iter().map(|place| *place as u32));
        let passed = again.iter().flat_map(|number| &plan.streams[*number as usize].route);
        let passed: HashSet<u32> =
            passed.flat_map(|hop| [hop.port, plan.ports[hop.port as usize].peer]).collect();
        let stamps = Stamps::of(plan.taps.iter().filter(|tap| passed.contains(&tap.port)));
        let mut before = HashMap::new();
        for number in again {
            let own = &mut walks[number as usize];
            let now = walked(plan, &tables, &stamps, (number, &plan.streams[number as usize]), &mut report);
            mark_others(own, &now, &mut ports);
            traits[number as usize] = now.traits();
            before.insert(number, std::mem::replace(own, Arc::new(now)));
        }
        let near: BTreeSet<u32> = marked(&ports).flat_map(|port| &changed.at[port]).copied().collect();
        let here = |number: &u32| -> Vec<Passage> {
            let near = walks[*number as usize].passages.iter().filter(|one| ports[one.port as usize]);
            near.map(|passage| Passage { stream: *number, ..passage.clone() }).collect()
        };
        let passages: Vec<Passage> = near.iter().flat_map(here).collect();
        link::apart(plan, &passages, &mut report);
        gates::open(plan, near.iter().copied(), &tables, &passages, &mut report);
        let (mut full, mut stuck) = (self.full.clone(), self.stuck.clone());
        full.retain(|(port, _)| !ports[*port as usize]);
        full.extend(room::crowded(plan, &passages));
        stuck.retain(|port, _| !ports[*port as usize]);
        stuck.extend(backlog::stuck(plan, &tables, &passages));
        let mut found = Self { report, stuck, full, walks, traits, tables, others: Vec::new() };
        let (was, now) = (self.queues(), found.queues());
        let queues = was != now;
        let differs = |number: &u32| {
            let own = found.walks[*number as usize].as_ref();
            let earlier = before.get(number).map_or(own, |before| before.as_ref());
            filled(plan, 0, earlier, &was).ne(filled(plan, 0, own, &now))
        };
        let mut others: BTreeSet<u32> = near.into_iter().filter(|own| queues && differs(own)).collect();
        others.extend(before.keys().filter(|number| differs(number)));
        others.extend(changed.joined.iter().map(|place| *place as u32));
        found.others = others.into_iter().collect();
        Some(found)
    }

    /// The streams, by their places, whose delays the proof before this one does not have: those that joined, and those
    /// with other delays; empty for a proof of [`Self::of`].
    #[must_use]
    pub fn others(&self) -> &[u32] {
        &self.others
    }

    /// Whether frames of a stream differ in their delays, as far as the schedule is proved.
    #[must_use]
    pub fn varies(&self, stream: u32) -> bool {
        self.traits[stream as usize].varies
    }

    /// The delays of some streams of the Plan that was proved, by their places; none where the schedule does not hold.
    #[must_use]
    pub fn delays(&self, plan: &Plan, of: impl Iterator<Item = u32>) -> Vec<Proven> {
        if !self.report.violations.is_empty() {
            return Vec::new();
        }
        let queues = self.queues();
        of.flat_map(|number| filled(plan, number, &self.walks[number as usize], &queues)).collect()
    }

    fn queues(&self) -> Queues {
        let mut classes = vec![(0_u8, 0_u8); self.tables.len()];
        for (port, class) in &self.full {
            classes[*port as usize].0 |= 1 << class;
        }
        for (port, stuck) in &self.stuck {
            classes[*port as usize].1 = *stuck;
        }
        classes
    }
}

/// The delays of a stream, with what its queues say.
fn filled(plan: &Plan, stream: u32, own: &Walked, queues: &Queues) -> impl Iterator<Item = Proven> {
    let first = |of: &dyn Fn((u8, u8)) -> u8| {
        let has = |one: &&Passage| of(queues[one.port as usize]) >> one.class & 1 == 1;
        own.passages.iter().find(has).map(|one| one.port)
    };
    let (full, undrained) = (first(&|own| own.0), first(&|own| own.1));
    let drops = |one: &Passage| {
        let class = &plan.ports[one.port as usize].classes[usize::from(one.class)];
        class.longest_wait_ns.is_some()
    };
    let drops_late = own.passages.iter().any(drops);
    own.delays.iter().map(move |own| Proven { stream, full, undrained, drops_late, ..*own })
}

/// What is found of one stream; nothing of one that is not scheduled.
fn walked(
    plan: &Plan,
    tables: &[Option<Arc<Table>>],
    stamps: &Stamps,
    (number, stream): (u32, &Stream),
    report: &mut Report,
) -> Walked {
    let mut found = Walked::default();
    if stream.scheduled.is_some() {
        let mut own = Report::default();
        if let Err(reason) = walk(plan, tables, stamps, number, stream, &mut found.passages, &mut own) {
            own.violations.push(Violation::Unfit { stream: number, reason });
        }
        report.violations.append(&mut own.violations);
        found.delays = own.delays;
    }
    found
}

/// What was found of each stream of a whole Plan.
pub(crate) fn by_stream(plan: &Plan, passages: Vec<Passage>, delays: &[Proven]) -> Vec<Arc<Walked>> {
    let mut found: Vec<Walked> = plan.streams.iter().map(|_| Walked::default()).collect();
    for passage in passages {
        found[passage.stream as usize].passages.push(passage);
    }
    for delay in delays {
        found[delay.stream as usize].delays.push(*delay);
    }
    found.into_iter().map(Arc::new).collect()
}
