//! The flows of a Plan at every port of their path.

use crate::curve::arrival::recorded;
use crate::curve::{LONGEST, Ps, ps};
use crate::model::flow_hop::FlowHop;
use crate::model::gate_clock::GateClock;
use crate::model::least::{Least, Way, least};
use crate::model::member_streams;
use crate::model::openings::Openings;
use crate::model::processing::Processing;
use crate::model::shaped::Shaped;
use crate::model::sizes::{AROUND_SDU, Sizes, until_last_bit, until_timestamp_point, wire};
use crate::model::software::sending;
use crate::model::span::Span;
use crate::model::stream_gates::chosen;
use crate::service::preemption::{is_express, uncut};
use std::collections::HashMap;
use tsn_plan::{Fault, Gates, Pattern, Plan, Port, Stream, TokenBucket};

/// Streams that send nothing in an analysis.
pub(crate) type Silent<'a> = &'a dyn Fn(&Stream) -> bool;

/// Every flow at every port of its path, parents before children; then those of further classes that stream gates
/// choose; per stream, the index of its first hop.
pub(crate) fn flow_hops(
    plan: &Plan,
    openings: &[Vec<Option<Openings>>],
    silent: Silent<'_>,
) -> (Vec<FlowHop>, Vec<usize>) {
    let entries = |stream: &Stream| stream.route.len() + stream.flood.len();
    let mut hops: Vec<FlowHop> = Vec::with_capacity(plan.streams.iter().map(entries).sum());
    let (mut first, mut further) = (Vec::with_capacity(plan.streams.len()), Vec::new());
    let flows = Flows::of(plan, openings, silent);
    for number in 0..plan.streams.len() {
        first.push(hops.len());
        flows.add(number, &mut hops, &mut further);
    }
    for mut hop in further {
        let Some(own) = hop.of.map(|own| &hops[own]) else { continue };
        (hop.earliest, hop.fastest, hop.ends) = (own.earliest, own.fastest, own.ends);
        hops.push(hop);
    }
    cut_through(plan, &mut hops);
    (hops, first)
}

/// What the hops of single streams need.
pub(crate) struct Flows<'a> {
    plan: &'a Plan,
    openings: &'a [Vec<Option<Openings>>],
    /// The longest window, by port and class; none for a window without an end, or if it is not known.
    longest: Vec<Vec<Option<Ps>>>,
    silent: Silent<'a>,
}

impl<'a> Flows<'a> {
    pub fn of(plan: &'a Plan, openings: &'a [Vec<Option<Openings>>], silent: Silent<'a>) -> Self {
        let longest = |own: &Option<Openings>| own.as_ref().and_then(Openings::longest);
        let longest = openings.iter().map(|own| own.iter().map(longest).collect()).collect();
        Self { plan, openings, longest, silent }
    }

    /// Adds the hops of a stream, and those of further classes; without what [`cut_through`] counts.
    pub fn add(&self, number: usize, hops: &mut Vec<FlowHop>, further: &mut Vec<FlowHop>) {
        let Self { plan, openings, ref longest, silent } = *self;
        let (stream, begin) = (&plan.streams[number], hops.len());
        // On clocks of their own, when talkers begin is not known.
        let known = plan.clocks.is_none() && !stream.any_phase;
        let begin_of = |offset_ns: u64| ps(stream.start_ns).checked_add(ps(offset_ns)).filter(|_| known);
        let (period, jitter, begin_ps) = match stream.pattern {
            Pattern::Periodic { period_ns, offset_ns, jitter_ns } => {
                (Some(ps(period_ns).max(1)), Some(ps(jitter_ns)), begin_of(offset_ns))
            }
            Pattern::Trace { ref gaps_ns, cycle_ns, .. } => {
                let (period, jitter) = recorded(gaps_ns, cycle_ns);
                (Some(period), Some(jitter), None)
            }
            Pattern::TokenBucket { .. } => {
                let (period, jitter) = stream.token_bucket().as_ref().map(conforming).unzip();
                (period, jitter, None)
            }
            Pattern::Poisson { .. } | Pattern::Saturating { .. } => (None, None, None),
        };
        let babbles: Vec<Ps> = plan.faults.iter().filter_map(|fault| babble(fault, number)).collect();
        let priorities = plan.priorities(stream);
        let silent = silent(stream);
        // Frames that are flooded count as if they always were.
        for (place, hop) in stream.route.iter().chain(&stream.flood).enumerate() {
            let pcp = priorities[place];
            let sizes = Sizes::of(&stream.size, member_streams::tag(stream, place));
            let port = &plan.ports[hop.port as usize];
            let entries =
                hop.parent.map(|parent| member_streams::entries_with(stream, parent)).unwrap_or_default();
            let parents: Vec<usize> = entries.iter().map(|entry| begin + *entry as usize).collect();
            let arrives = |entry: &u32| {
                let before = stream.route.iter().chain(&stream.flood).nth(*entry as usize)?;
                let ingress = plan.ports[before.port as usize].peer;
                Some((ingress, plan.regenerated(ingress, priorities[*entry as usize])))
            };
            let arriving: Vec<(u32, u8)> = entries.iter().filter_map(arrives).collect();
            let scheduler = |(ingress, pcp): &(u32, u8)| Shaped::of(plan, *ingress, number, *pcp);
            let schedulers: Vec<Option<Shaped>> = arriving.iter().map(scheduler).collect();
            let (class, turns, others) = chosen(plan, &arriving, (number, pcp), &port.pcp_to_class);
            let propagation = Ps::try_from(port.propagation_ps).unwrap_or(LONGEST);
            // A tag that this node adds comes after its filters.
            let tag = member_streams::tag(stream, place);
            let passed = passed(plan, &arriving, number).saturating_add(tag);
            let most = |class: u8| passed.min(most_of(&port.classes[usize::from(class)]));
            let fitting = |class: u8| {
                let longest = longest[hop.port as usize][usize::from(class)];
                let fits = fitting(plan, port, class, most(class), sizes, longest);
                fits.filter(|_| !silent)
            };
            hops.push(FlowHop {
                stream: number,
                port: hop.port as usize,
                class,
                classes: others.iter().fold(1 << class, |all, (other, _)| all | 1 << other),
                of: None,
                turns,
                chain: None,
                once: member_streams::once(plan, stream, &entries),
                times: 1,
                begin: begin_ps,
                babbles: babbles.clone(),
                latest: if parents.is_empty() { jitter } else { None },
                earliest: if parents.is_empty() { 0 } else { LONGEST },
                fastest: if parents.is_empty() { 0 } else { LONGEST },
                ends: (LONGEST, LONGEST),
                // Where paths merge, each scheduler counts the arrivals of its own path.
                shaped: if let ([shaped], [entry]) = (&schedulers[..], &entries[..]) {
                    shaped.map(|own| {
                        let tags = [member_streams::tag(stream, *entry as usize), tag];
                        Box::new(own.with_tags(&stream.size, tags))
                    })
                } else {
                    None
                },
                held: schedulers.iter().any(Option::is_some),
                pcp,
                parents,
                sizes: fitting(class),
                oversize: sizes.smallest > most(class),
                period,
                shortest: until_last_bit(sizes.smallest, port).saturating_add(propagation),
                closer: Processing::of(&plan.nodes[port.node as usize]).spread(),
                early: 0,
                software: Ok(Span::default()),
            });
            let own = hops.len() - 1;
            send(plan, &mut hops[own]);
            further.extend(others.into_iter().map(|(class, turns)| FlowHop {
                class,
                turns,
                of: Some(own),
                sizes: fitting(class),
                oversize: sizes.smallest > most(class),
                ..hops[own].clone()
            }));
        }
        set_earliest(plan, hops, begin, further, openings);
    }
}

/// Counts the software of the talker at the first hop.
fn send(plan: &Plan, hop: &mut FlowHop) {
    if !hop.parents.is_empty() {
        return;
    }
    hop.software = sending(plan, &plan.streams[hop.stream], hop).map_err(Box::new);
    if let Ok(span) = hop.software {
        hop.earliest = span.least;
        hop.latest = hop.latest.map(|jitter| jitter.saturating_add(span.most));
    }
}

/// Frames that a node forwards before they are complete are in its queue earlier, and closer to each other: a long one
/// by all that is still missing of it.
fn cut_through(plan: &Plan, hops: &mut [FlowHop]) {
    let mut most: HashMap<(usize, usize), Ps> = HashMap::new();
    for hop in hops.iter() {
        let egress = &plan.ports[hop.port];
        for before in hop.parents.iter().map(|parent| &hops[*parent]) {
            let octets = before.sizes.map_or(0, |sizes| sizes.largest);
            let cut = cut_short(plan, octets, before.pcp, &plan.ports[before.port], egress);
            let known = most.entry((before.port, hop.port)).or_default();
            *known = cut.max(*known);
        }
    }
    // Filters, merge points, and listeners that may answer take whole frames.
    let whole = |hop: &FlowHop| {
        let (stream, node) = (&plan.streams[hop.stream], plan.ports[hop.port].node);
        stream.redundancy.is_some()
            || stream.listeners.iter().any(|listener| listener.node == node)
            || plan.policing.iter().any(|own| own.node == node)
    };
    for number in 0..hops.len() {
        if let Some(before) =
            hops[number].only_parent().map(|parent| &hops[parent]).filter(|_| !whole(&hops[number]))
        {
            let octets = before.sizes.map_or(0, |sizes| sizes.smallest);
            let [ingress, egress] = [before.port, hops[number].port].map(|port| &plan.ports[port]);
            hops[number].early = cut_short(plan, octets, before.pcp, ingress, egress);
        }
        let cut = |parent: &usize| most.get(&(hops[*parent].port, hops[number].port)).copied();
        let cut = hops[number].parents.iter().filter_map(cut).max().unwrap_or(0);
        hops[number].closer = hops[number].closer.saturating_add(cut);
    }
}

/// The earliest arrival of frames of one stream at each of its hops, from `begin` on; `further`: those in further classes.
fn set_earliest(
    plan: &Plan,
    hops: &mut [FlowHop],
    begin: usize,
    further: &[FlowHop],
    openings: &[Vec<Option<Openings>>],
) {
    let chooses = hops[begin..].iter().any(|hop| hop.turns.is_some());
    // By hop of this stream.
    let mut behind: Vec<Option<Least>> = vec![None; hops.len() - begin];
    // One pass suffices if parents come first; where paths merge, parents may come later.
    let in_order =
        (begin..).zip(&hops[begin..]).all(|(own, hop)| hop.parents.iter().all(|other| *other < own));
    for _ in begin..hops.len() {
        let mut rests = true;
        for number in begin..hops.len() {
            let by = |before: &usize| arrives(plan, &hops[*before], &hops[number], openings);
            let found = hops[number].parents.iter().map(by).reduce(|a, b| (a.0.min(b.0), a.1.min(b.1)));
            let found = found.unwrap_or((hops[number].earliest, hops[number].fastest));
            rests &= found == (hops[number].earliest, hops[number].fastest);
            (hops[number].earliest, hops[number].fastest) = found;
            let shortest = hops[number].shortest;
            let mut ends = (found.0.saturating_add(shortest), found.1.saturating_add(shortest));
            if let Some(before) = hops[number].only_parent().filter(|_| chooses) {
                let own = further.iter().filter(|hop| hop.of == Some(number)).chain([&hops[number]]);
                let ways: Vec<Way<'_>> =
                    own.filter_map(|hop| way(plan, &hops[before], hop, openings)).collect();
                let own = least(plan, number, &ways, behind[before - begin].as_ref());
                behind[number - begin] = own;
                if let Some((least, gate)) = behind[number - begin]
                    .as_ref()
                    .and_then(|least| Some((least, hops[least.since].only_parent()?)))
                {
                    let time = least.time();
                    let gate = hops[gate].ends;
                    ends = (ends.0.max(gate.0.saturating_add(time)), ends.1.max(gate.1.saturating_add(time)));
                }
            }
            rests &= ends == hops[number].ends;
            hops[number].ends = ends;
        }
        if rests || in_order {
            return;
        }
    }
}

/// The least time from the last bit of a smallest frame until it is in the queue of a hop; below zero if the node may
/// have forwarded it before.
fn queued(plan: &Plan, before: &FlowHop, after: &FlowHop) -> Ps {
    let [ingress, egress] = [before, after].map(|hop| &plan.ports[hop.port]);
    let octets = before.sizes.map_or(0, |sizes| sizes.smallest);
    Processing::of(&plan.nodes[egress.node as usize]).least
        - cut_short(plan, octets, before.pcp, ingress, egress)
}

/// How frames leave by a hop in one class; none if no frame fits a window.
fn way<'a>(
    plan: &Plan,
    before: &FlowHop,
    hop: &'a FlowHop,
    openings: &'a [Vec<Option<Openings>>],
) -> Option<Way<'a>> {
    let needs = room(&plan.ports[hop.port], hop.class, hop.sizes?.smallest);
    let port = &plan.ports[hop.port];
    // Gates before a transmit buffer are not assumed to delay any frame.
    let gated = port.transmit_buffer.is_none() && port.server.is_none();
    let openings = openings[hop.port][usize::from(hop.class)].as_ref().filter(|_| gated);
    Some(Way { hop, openings, needs, queued: queued(plan, before, hop) })
}

/// The largest frame that a class takes into its queue.
fn most_of(class: &tsn_plan::Class) -> u32 {
    class.max_sdu_octets.map_or(u32::MAX, |most| most.saturating_add(AROUND_SDU))
}

/// The largest frame of a stream that the filters let pass where it arrives, at ports and with priorities.
fn passed(plan: &Plan, arriving: &[(u32, u8)], stream: usize) -> u32 {
    let most = |(ingress, pcp): &(u32, u8)| {
        let node = plan.ports[*ingress as usize].node;
        let here = plan.policing.iter().filter(|policing| policing.node == node);
        let filters = here.filter_map(|own| {
            let filter = &own.filters[own.matching(*ingress, stream as u32, *pcp)?];
            filter.max_sdu_octets.map(|most| most.saturating_add(AROUND_SDU))
        });
        filters.min().unwrap_or(u32::MAX)
    };
    arriving.iter().map(most).max().unwrap_or(u32::MAX)
}

/// The sizes of frames that are at most `most` octets long and fit at least one window of a class, if clocks may be
/// slow; none if no frame is or fits. `longest`: the longest window.
fn fitting(
    plan: &Plan,
    port: &Port,
    class: u8,
    most: u32,
    sizes: Sizes,
    longest: Option<Ps>,
) -> Option<Sizes> {
    let clock = longest.and_then(|_| GateClock::of(plan, port.node));
    let least = |needs: Ps| clock.map_or(needs, |clock| clock.room(needs).1);
    let opens = |octets: u32| longest.is_none_or(|longest| least(room(port, class, octets)) <= longest);
    let fits = |octets: u32| octets <= most && opens(octets);
    fits(sizes.smallest).then(|| {
        let largest = if fits(sizes.largest) { sizes.largest } else { largest_fitting(&sizes, fits) };
        // Where each data unit is one frame, larger ones are dropped as a whole.
        let unit = if sizes.unit == wire(sizes.largest) { wire(largest) } else { sizes.unit };
        Sizes { largest, unit, ..sizes }
    })
}

/// The least part of a window in which a frame of a class may start: of a frame that a gate entry may hold, the part
/// that cannot be cut; of one that may overrun its window, none.
fn room(port: &Port, class: u8, octets: u32) -> Ps {
    let is = |property: fn(&Gates) -> bool| port.gates.as_ref().is_some_and(property);
    if is(|gates| gates.unguarded) {
        return 1;
    }
    let held = !is_express(port.preemption.as_ref(), class) && is(Gates::holds);
    until_last_bit(if held { uncut(octets) } else { octets }, port)
}

/// The earliest arrival of a frame from one hop in the queue of the next one: after its nominal release, and after
/// its release.
fn arrives(plan: &Plan, before: &FlowHop, after: &FlowHop, openings: &[Vec<Option<Openings>>]) -> (Ps, Ps) {
    let ingress = &plan.ports[before.port];
    let octets = before.sizes.map_or(0, |sizes| sizes.smallest);
    let queued = queued(plan, before, after);
    let opens = &openings[before.port][usize::from(before.class)];
    let gate = || {
        // The gate of another class may be open.
        if before.classes != 1 << before.class {
            return None;
        }
        let base = ingress.gates.as_ref()?.base_time_ns.checked_mul(1_000)?;
        let known = before.begin.zip(before.period).filter(|_| before.babbles.is_empty())?;
        let needs = room(ingress, before.class, octets);
        crate::analysis::scheduled_arrivals::least_wait(opens.as_ref(), base, known, before.earliest, needs)
    };
    let waits = if before.earliest < LONGEST { gate().unwrap_or(0) } else { 0 };
    let earliest = before.earliest.saturating_add(waits).saturating_add(before.shortest).max(before.ends.0);
    (earliest.saturating_add(queued), before.ends.1.saturating_add(queued))
}

/// The releases of a token bucket as periodic ones: in the time of its jitter the bucket gains what it holds beyond a
/// frame. How many frames there are in a span is then the same; no release has a time of its own.
fn conforming(bucket: &TokenBucket) -> (Ps, Ps) {
    (bucket.period_ps().min(LONGEST), bucket.slack_ps().min(LONGEST))
}

/// The intervals at which a babbling talker releases one more data unit.
fn babble(fault: &Fault, of: usize) -> Option<Ps> {
    match fault {
        Fault::Babble { stream, every_ns, .. } if *stream as usize == of => Some(ps((*every_ns).max(1))),
        // Lost frames do not break a bound; what other faults do is in `network::faults`.
        _ => None,
    }
}

/// How much earlier than its last bit a frame from one port may be in the queue of the next one.
pub(crate) fn cut_short(plan: &Plan, octets: u32, pcp: u8, ingress: &Port, egress: &Port) -> Ps {
    let cut = plan.octets_cut(octets, pcp, ingress, egress);
    until_last_bit(octets, ingress) - until_last_bit(octets - cut, ingress)
}

/// The largest size for which `fits` holds, where it holds for the smallest one and not for the largest.
fn largest_fitting(sizes: &Sizes, fits: impl Fn(u32) -> bool) -> u32 {
    let (mut yes, mut no) = (sizes.smallest, sizes.largest);
    while no - yes > 1 {
        let middle = yes + (no - yes) / 2;
        if fits(middle) { yes = middle } else { no = middle }
    }
    yes
}

/// Time between the two timestamps of a lone frame on its first link: from the `tx` timestamp to the last bit at the
/// other end.
pub(crate) fn first_link(octets: u32, port: &tsn_plan::Port, stamped_at_start: bool) -> Ps {
    let before = if stamped_at_start { until_timestamp_point(port) } else { until_last_bit(octets, port) };
    let propagation = Ps::try_from(port.propagation_ps).unwrap_or(LONGEST);
    (until_last_bit(octets, port) - before).saturating_add(propagation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_size_that_fits_is_found() {
        let sizes = Sizes { smallest: 64, largest: 1_522, unit: 1, grain: 1 };
        for most in [64, 65, 761, 1_000, 1_521] {
            assert_eq!(largest_fitting(&sizes, |octets| octets <= most), most);
        }
    }
}
