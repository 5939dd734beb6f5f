//! The proof of a Plan beside that of an earlier one: only what differs is proved again.
//!
//! What differs is found here, by comparing both Plans part by part, so nobody has to say it. The passages of a stream
//! follow from its own part of the Plan, from nodes, and from the ports and stamps on its path. Whether the frames of a
//! port hold follows from the passages there, from its gates, and from other traffic. So a port is proved again if its
//! gates differ, if a stream there joined, left or differs, or if a passage there is another one. All else has the
//! result of the earlier proof, which found no violation.

use crate::delays::Stamps;
use crate::gates::{self, Table};
use crate::passage::Passage;
use crate::walk::walk;
use crate::{Proof, Report, Violation, backlog, link, room};
use std::collections::HashMap;
use std::sync::Arc;
use tsn_plan::{Plan, Point, Port, Stream};

/// What was found of one stream. Numbers of streams in it are those of the Plan in which it was found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Walked {
    pub passages: Vec<Passage>,
    /// Without what follows from other streams: queues that are full, or never drain.
    pub delays: Vec<crate::Proven>,
}

/// By port.
type Marks = Vec<bool>;

/// The ports whose gates differ; none if other parts differ, or if the proof depends on more than ports.
fn other_gates(earlier: &Plan, plan: &Plan) -> Option<Marks> {
    let plain = |plan: &Plan| plan.faults.is_empty() && plan.policing.is_empty() && plan.clocks.is_none();
    if !plain(earlier)
        || !plain(plan)
        || earlier.nodes != plan.nodes
        || earlier.ports.len() != plan.ports.len()
    {
        return None;
    }
    let bare = |port: &Port| Port { gates: None, ..port.clone() };
    let both = earlier.ports.iter().zip(&plan.ports);
    both.map(|(was, own)| if was == own { Some(false) } else { (bare(was) == bare(own)).then_some(true) })
        .collect()
}

/// Adds the ports of links whose frames are stamped otherwise.
fn add_other_stamps(earlier: &Plan, plan: &Plan, ports: &mut Marks) {
    let (was, now) = (Stamps::of(earlier), Stamps::of(plan));
    let differs = |one: &HashMap<u32, (Point, i64)>, other: &HashMap<u32, (Point, i64)>| -> Vec<u32> {
        let ports = one.keys().chain(other.keys());
        ports.filter(|port| one.get(port) != other.get(port)).copied().collect()
    };
    for port in differs(&was.tx, &now.tx) {
        ports[port as usize] = true;
    }
    for port in differs(&was.rx, &now.rx) {
        ports[plan.ports[port as usize].peer as usize] = true;
    }
}

/// By stream its place in the earlier Plan; none for those that joined or differ. Streams that stay have their order.
/// Marks the ports of all others.
fn kept(earlier: &Plan, plan: &Plan, ports: &mut Marks) -> Vec<Option<usize>> {
    let mut mark = |stream: &Stream| {
        for hop in stream.route.iter().chain(&stream.flood) {
            ports[hop.port as usize] = true;
        }
    };
    let (mut next, mut found) = (0, Vec::with_capacity(plan.streams.len()));
    for stream in &plan.streams {
        let left = earlier.streams[next..].iter().take_while(|was| was.name != stream.name);
        next += left.map(&mut mark).count();
        let was = earlier.streams.get(next).filter(|was| *was == stream);
        found.push(was.map(|_| next));
        if was.is_none() {
            mark(stream);
            earlier.streams.get(next).into_iter().for_each(&mut mark);
        }
        next = earlier.streams.len().min(next + 1);
    }
    earlier.streams[next..].iter().for_each(mark);
    found
}

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

impl Proof {
    /// The proof of a Plan, for which all that is as in an `earlier` one is known from this proof of that one; none if
    /// only the proof of everything can tell.
    #[must_use]
    pub fn beside(&self, earlier: &Plan, plan: &Plan) -> Option<Self> {
        if !self.report.violations.is_empty() {
            return None;
        }
        let gates = other_gates(earlier, plan)?;
        let mut ports = gates.clone();
        let kept = kept(earlier, plan, &mut ports);
        let mut follow = gates;
        add_other_stamps(earlier, plan, &mut follow);
        let again = |stream: &Stream, place: Option<usize>| {
            place.is_none() || stream.route.iter().any(|hop| follow[hop.port as usize])
        };
        let followed = plan.streams.iter().zip(&kept).filter(|(stream, place)| again(stream, **place));
        let mut read = ports.clone();
        followed.flat_map(|(stream, _)| &stream.route).for_each(|hop| read[hop.port as usize] = true);
        let gates = plan.ports.iter().zip(&read).map(|(port, read)| port.gates.as_ref().filter(|_| *read));
        let tables: Vec<Option<Table>> = gates.map(|own| own.map(Table::new)).collect();
        let mut report = Report::default();
        let stamps = Stamps::of(plan);
        let mut walks = Vec::with_capacity(plan.streams.len());
        for (number, (stream, place)) in plan.streams.iter().zip(&kept).enumerate() {
            report.streams += u64::from(stream.scheduled.is_some());
            match place {
                Some(place) if !again(stream, Some(*place)) => walks.push(Arc::clone(&self.walks[*place])),
                _ => {
                    let now = walked(plan, &tables, &stamps, (number as u32, stream), &mut report);
                    place.iter().for_each(|place| mark_others(&self.walks[*place], &now, &mut ports));
                    walks.push(Arc::new(now));
                }
            }
        }
        let here = |(number, own): (usize, &Arc<Walked>)| -> Vec<Passage> {
            let near = own.passages.iter().filter(|passage| ports[passage.port as usize]);
            near.map(|passage| Passage { stream: number as u32, ..passage.clone() }).collect()
        };
        let passages: Vec<Passage> = walks.iter().enumerate().flat_map(here).collect();
        link::apart(plan, &passages, &mut report);
        gates::open(plan, &tables, &passages, &mut report);
        let (mut full, mut stuck) = (self.full.clone(), self.stuck.clone());
        full.retain(|(port, _)| !ports[*port as usize]);
        full.extend(room::crowded(plan, &passages));
        stuck.retain(|port, _| !ports[*port as usize]);
        stuck.extend(backlog::stuck(plan, &tables, &passages));
        let mut found = Self { report, stuck, full, walks };
        found.fill(plan);
        Some(found)
    }

    /// The delays by what was found of each stream, and of the queues that it passes; none where the schedule does not
    /// hold.
    fn fill(&mut self, plan: &Plan) {
        if !self.report.violations.is_empty() {
            return;
        }
        // Arrays: there may be many thousands of passages.
        let mut classes = vec![(0_u8, 0_u8); plan.ports.len()];
        for (port, class) in &self.full {
            classes[*port as usize].0 |= 1 << class;
        }
        for (port, stuck) in &self.stuck {
            classes[*port as usize].1 = *stuck;
        }
        for (number, walked) in self.walks.iter().enumerate() {
            let first = |of: &dyn Fn((u8, u8)) -> u8| {
                let has = |one: &&Passage| of(classes[one.port as usize]) >> one.class & 1 == 1;
                walked.passages.iter().find(has).map(|one| one.port)
            };
            let (full, undrained) = (first(&|own| own.0), first(&|own| own.1));
            let drops = |one: &Passage| {
                let class = &plan.ports[one.port as usize].classes[usize::from(one.class)];
                class.longest_wait_ns.is_some()
            };
            let drops_late = walked.passages.iter().any(drops);
            let filled = |own: &crate::Proven| crate::Proven {
                stream: number as u32,
                full,
                undrained,
                drops_late,
                ..*own
            };
            self.report.delays.extend(walked.delays.iter().map(filled));
        }
    }
}

/// What is found of one stream; nothing of one that is not scheduled.
fn walked(
    plan: &Plan,
    tables: &[Option<Table>],
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
pub(crate) fn by_stream(plan: &Plan, passages: Vec<Passage>, delays: &[crate::Proven]) -> Vec<Arc<Walked>> {
    let mut found: Vec<Walked> = plan.streams.iter().map(|_| Walked::default()).collect();
    for passage in passages {
        found[passage.stream as usize].passages.push(passage);
    }
    for delay in delays {
        found[delay.stream as usize].delays.push(*delay);
    }
    found.into_iter().map(Arc::new).collect()
}
