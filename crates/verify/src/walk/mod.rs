//! Follows a stream's frames along its route, hop by hop, from one release.

pub(crate) mod beside;

use crate::cut::frames;
use crate::delays::Stamps;
use crate::gates::Table;
use crate::passage::{Passage, priority};
use crate::{Report, Unfit, Violation};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;
use tsn_plan::{NodeKind, Pattern, Plan, R_TAG_OCTETS, Stream, duration};
use tsn_units::{BitRate, INTER_FRAME_GAP, Octets, PREAMBLE, START_FRAME_DELIMITER};

/// The frames of one release after an entry of the route, for one of the paths that lead to it.
#[derive(Clone)]
struct Come {
    /// Last bits in, frame by frame.
    bits: SmallVec<[i64; 1]>,
    /// How much earlier the frames may be, ps.
    early: i64,
}

/// The frames after an entry, for each path that leads to it. Almost all entries have one path, and one frame: of
/// hundreds of thousands of hops, none needs memory of its own then.
type Paths = SmallVec<[Come; 1]>;

/// Every stream's passages; `tables` are the ports' gates.
pub(crate) fn follow(plan: &Plan, tables: &[Option<Arc<Table>>], report: &mut Report) -> Vec<Passage> {
    let mut all = Vec::new();
    let stamps = Stamps::of(plan.taps.iter());
    for (number, stream) in plan.streams.iter().enumerate() {
        if stream.scheduled.is_none() {
            continue;
        }
        report.streams += 1;
        if let Err(reason) = walk(plan, tables, &stamps, number as u32, stream, &mut all, report) {
            report.violations.push(Violation::Unfit { stream: number as u32, reason });
        }
    }
    all
}

/// Whether a node filters frames of a stream before they leave by an entry of its route, or gives them another
/// priority.
fn is_policed(plan: &Plan, number: u32, entry: usize) -> bool {
    let stream = &plan.streams[number as usize];
    let Some(parent) = stream.route[entry].parent else { return false };
    sources(stream, parent).into_iter().any(|from| {
        let ingress = plan.ports[stream.route[from as usize].port as usize].peer;
        let left_with = priority(stream, from as usize);
        let own = plan.policing.iter().filter(|own| own.node == plan.ports[ingress as usize].node);
        plan.regenerated(ingress, left_with) != left_with
            || own.into_iter().any(|own| own.matching(ingress, number, left_with).is_some())
    })
}

fn ps(ns: u64) -> i64 {
    duration(ns).ps()
}

/// Follows the frames of one scheduled stream; its passages go to `all`.
pub(crate) fn walk(
    plan: &Plan,
    tables: &[Option<Arc<Table>>],
    stamps: &Stamps,
    number: u32,
    stream: &Stream,
    all: &mut Vec<Passage>,
    report: &mut Report,
) -> Result<(), Unfit> {
    let Some(own) = &stream.scheduled else { return Ok(()) };
    let &Pattern::Periodic { period_ns, offset_ns, jitter_ns: 0 } = &stream.pattern else {
        return Err(Unfit::Releases);
    };
    let sizes = frames(&stream.size).ok_or(Unfit::Sizes)?;
    let release = ps(stream.start_ns) + ps(offset_ns);
    let redundancy = stream.redundancy.as_deref();
    // By entry: the frames after it, for each path that leads to it.
    let mut behind: Vec<Paths> = vec![Paths::new(); stream.route.len()];
    let first = all.len();
    for entry in in_order(stream)? {
        let hop = &stream.route[entry];
        let port = &plan.ports[hop.port as usize];
        let rate = BitRate(port.rate_bps);
        let copy = redundancy.and_then(|own| own.copies.get(entry)).is_some_and(|copy| *copy > 0);
        let node = &plan.nodes[port.node as usize];
        let software = stream.socket.is_some() || node.host.is_some() || port.qdisc.is_some();
        if software || is_policed(plan, number, entry) {
            return Err(Unfit::Software);
        }
        let paths: Paths = match hop.parent {
            None => smallvec![Come { bits: smallvec![release; sizes.len()], early: 0 }],
            Some(parent) => {
                if node.cut_through_octets.is_some()
                    || node.further.is_some()
                    || node.kind == NodeKind::Station
                {
                    return Err(Unfit::Forwarding);
                }
                let processing = ps(node.processing_ns);
                let come = sources(stream, parent).into_iter().flat_map(|from| behind[from as usize].iter());
                let ready = |come: &Come| Come {
                    bits: come.bits.iter().map(|at| at + processing).collect(),
                    early: come.early,
                };
                come.map(ready).collect()
            }
        };
        let planned = own.starts_ps.get(entry).ok_or(Unfit::Times)?;
        if planned.len() != paths.len() {
            return Err(Unfit::Times);
        }
        let class = port.pcp_to_class[usize::from(priority(stream, entry) & 7)];
        let mut arrivals = Paths::new();
        for (come, planned) in paths.iter().zip(planned) {
            let ready = &come.bits;
            let start = release + i64::try_from(*planned).unwrap_or(i64::MAX / 4);
            if start < ready[0] {
                let comes_ps = (ready[0] - release).unsigned_abs();
                let early =
                    Violation::TooEarly { stream: number, port: hop.port, planned_ps: *planned, comes_ps };
                report.violations.push(early);
            }
            let mut passage = Passage {
                stream: number,
                port: hop.port,
                class,
                period: ps(period_ns),
                margin: i64::try_from(own.margin_ps).unwrap_or(i64::MAX / 4),
                comes: ready[0],
                complete: ready[ready.len() - 1],
                comes_early: come.early,
                early: come.early,
                held: false,
                copies: redundancy.is_some(),
                frames: SmallVec::new(),
                octets: 0,
                ends: start,
            };
            if start > ready[0] {
                let comes = ready[0] - come.early - passage.margin;
                let table = tables[hop.port as usize].as_deref();
                passage.held = table.is_some_and(|table| table.holds(class, passage.period, comes, start));
                passage.early = if passage.held { 0 } else { come.early + (start - ready[0]) };
            }
            let mut bits = SmallVec::new();
            for (octets, ready) in sizes.iter().zip(ready) {
                let octets = octets + if copy { R_TAG_OCTETS } else { 0 };
                passage.octets += u64::from(octets);
                let begin = passage.ends.max(*ready);
                let on_wire = |more: u32| rate.time(Octets(octets + more)).ps();
                let before = PREAMBLE.0 + START_FRAME_DELIMITER.0;
                let end = begin + on_wire(before);
                passage.frames.push((begin, end));
                passage.ends = begin + on_wire(before + INTER_FRAME_GAP.0);
                let propagation = i64::try_from(port.propagation_ps).unwrap_or(i64::MAX / 4);
                bits.push(end + propagation);
                if let Some(most) = port.classes[usize::from(class)].max_sdu_octets {
                    // A service data unit is a frame without addresses, type, tag and FCS.
                    let sdu = octets.saturating_sub(22);
                    if sdu > most {
                        let large = Violation::TooLarge { stream: number, port: hop.port, octets: sdu, most };
                        report.violations.push(large);
                    }
                }
            }
            if let Some(most_ns) = port.classes[usize::from(class)].longest_wait_ns {
                let waits = ready.iter().zip(&passage.frames).map(|(ready, (begin, _))| begin - ready);
                // A frame may arrive early by its margin, and leave late by it.
                let wait = waits.max().unwrap_or(0) + come.early + 2 * passage.margin;
                if wait >= ps(most_ns) {
                    let (wait_ps, most_ps) = (wait.unsigned_abs(), ps(most_ns).unsigned_abs());
                    let late = Violation::Late { stream: number, port: hop.port, wait_ps, most_ps };
                    report.violations.push(late);
                }
            }
            arrivals.push(Come { bits, early: passage.early });
            all.push(passage);
        }
        behind[entry] = arrivals;
    }
    required(stream, number, release, &behind, report);
    let roots =
        all[first..].iter().filter(|passage| own_port(plan, stream, passage)).map(|one| &one.frames[..]);
    let roots: SmallVec<[_; 1]> = roots.collect();
    for listener in &stream.listeners {
        let paths: SmallVec<[(&[i64], i64); 1]> =
            ways_to(stream, listener.route, &behind).map(|come| (&come.bits[..], come.early)).collect();
        let times = crate::delays::Times { release, roots: &roots, paths: &paths };
        report.delays.extend(crate::delays::proven(plan, stamps, number, stream, listener, &times));
    }
    Ok(())
}

/// The entries of a route, ordered so that every entry follows the entries that it receives frames from. An entry at
/// which paths merge follows all of them.
fn in_order(stream: &Stream) -> Result<Vec<usize>, Unfit> {
    let mut order = Vec::with_capacity(stream.route.len());
    let mut done = vec![false; stream.route.len()];
    while order.len() < stream.route.len() {
        let before = order.len();
        for (entry, hop) in stream.route.iter().enumerate() {
            let mut from =
                hop.parent.map_or_else(SmallVec::new, |parent| sources(stream, parent)).into_iter();
            if !done[entry] && from.all(|from| done[from as usize]) {
                done[entry] = true;
                order.push(entry);
            }
        }
        if order.len() == before {
            return Err(Unfit::Forwarding);
        }
    }
    Ok(order)
}

/// The entries whose frames continue after an entry: the entry itself, or all entries that merge there.
pub(crate) fn sources(stream: &Stream, parent: u32) -> SmallVec<[u32; 2]> {
    let merges = stream.redundancy.iter().flat_map(|own| own.merges.iter());
    let mut meets = merges.filter(|merge| merge.from.first() == Some(&parent));
    meets.next().map_or_else(|| smallvec![parent], |merge| SmallVec::from_slice(&merge.from))
}

/// The frames of every path to the end of an entry, or to all entries that merge there.
fn ways_to<'a>(stream: &Stream, end: u32, behind: &'a [Paths]) -> impl Iterator<Item = &'a Come> {
    sources(stream, end).into_iter().flat_map(|from| behind[from as usize].iter())
}

/// Whether the passage is at a port of the talker.
fn own_port(plan: &Plan, stream: &Stream, passage: &Passage) -> bool {
    plan.ports[passage.port as usize].node == stream.talker
}

/// Deadlines and limits of jitter at every listener.
fn required(stream: &Stream, number: u32, release: i64, behind: &[Paths], report: &mut Report) {
    let margin = stream.scheduled.as_ref().map_or(0, |own| own.margin_ps);
    for listener in &stream.listeners {
        let paths: SmallVec<[&Come; 1]> = ways_to(stream, listener.route, behind).collect();
        let lasts = paths.iter().filter_map(|come| Some((*come.bits.last()? - release, come.early)));
        let most = lasts.clone().map(|(last, _)| last).max().unwrap_or(0).unsigned_abs();
        let least = lasts.map(|(last, early)| last - early).min().unwrap_or(0).unsigned_abs();
        let (stream_number, node) = (number, listener.node);
        let delay_ps = most + margin;
        let percentiles = stream.requirements.delay_percentiles.iter().map(|share| share.delay_ns);
        let required = &stream.requirements;
        for limit in required.delay_ns.into_iter().chain(required.release_delay_ns).chain(percentiles) {
            let limit_ps = limit.saturating_mul(1_000);
            if delay_ps > limit_ps {
                let late = Violation::Deadline { stream: stream_number, node, delay_ps, limit_ps };
                report.violations.push(late);
            }
        }
        let jitter_ps = most - least + 2 * margin;
        for limit in &stream.requirements.jitter {
            let limit_ps = limit.limit_ns.saturating_mul(1_000);
            if jitter_ps > limit_ps {
                let shaky = Violation::Jitter { stream: stream_number, node, jitter_ps, limit_ps };
                report.violations.push(shaky);
            }
        }
    }
}
