//! Frames whose queues stream gates select in turn (cyclic queuing): each window determines the next one.
//!
//! IEEE 802.1Q-2022, annex T. Derived in `docs/concepts/bounds.md`. The lists need not be planned as cyclic queuing:
//! any lists are accepted in which the frames queued within one entry are sent within one window.

use crate::analysis::flows::conforming;
use crate::curve::arrival::Stair;
use crate::curve::{BIT, Data, Ps, ps};
use crate::model::openings::covered;
use crate::model::sizes::{Sizes, until_last_bit, wire};
use crate::report::{Bounds, FlowBounds};
use tsn_plan::{Pattern, Plan, Port, StreamGate};
use tsn_units::INTER_FRAME_GAP;

/// A span of time, repeated with the cycle.
#[derive(Copy, Clone, Debug)]
struct Span {
    from: Ps,
    to: Ps,
}

/// The path of one flow to one listener.
struct FlowPath {
    stream: usize,
    /// Ports from the talker's on, and the priority of the frames that leave each.
    ports: Vec<(usize, u8)>,
    /// The flow's arrivals at the first bridge, if they are known.
    stair: Option<Stair>,
}

/// The bounds of a plan, and where they are lower those that follow from turns (between stamps).
///
/// The result is for all flows or none: a queue that keeps some frames for its next turn sends more than one turn to
/// the next port.
pub(crate) fn refine(plan: &Plan, mut found: Bounds) -> Bounds {
    let exact = |port: &Port| {
        8_000_000_000_000 % port.rate_bps.max(1) == 0
            && port.preemption.is_none()
            && (port.gates.is_none() || covered(port).is_some_and(|gates| !gates.unguarded))
    };
    let whole = plan.nodes.iter().all(|node| node.cut_through_octets.is_none() && node.further.is_none());
    let several = plan.streams.iter().any(|stream| stream.redundancy.is_some());
    let floods = plan.streams.iter().any(|stream| !stream.flood.is_empty());
    let takes = plan.faults.iter().all(tsn_plan::Fault::only_takes);
    if plan.clocks.is_some() || several || floods || !takes || !whole || !plan.ports.iter().all(exact) {
        return found;
    }
    let Some(cycle) = common_cycle(plan) else { return found };
    let paths = paths(plan, &found);
    let mut delays = Vec::with_capacity(paths.len());
    for path in &paths {
        let chosen = (1..path.ports.len()).any(|place| gate(plan, path, place).is_some());
        let after = if chosen { after_first(plan, &paths, path, cycle).map(Some) } else { Some(None) };
        let Some(after) = after else { return found };
        delays.push(after);
    }
    for ((flow, path), after) in found.flows.iter_mut().zip(&paths).zip(delays) {
        let Some(after) = after else { continue };
        let sizes = Sizes::of(&plan.streams[path.stream].size, 0);
        let first = &plan.ports[path.ports[0].0];
        let longer = until_last_bit(sizes.largest, first) - until_last_bit(sizes.smallest, first);
        let upper = first_part(plan, path, flow) + longer + after;
        if flow.upper_ps.is_some_and(|known| known <= upper) {
            continue;
        }
        let tick = plan.taps.iter().map(|tap| Ps::from(tap.granularity_ns)).max().unwrap_or(1);
        flow.upper_ps = Some(upper);
        flow.upper_ns = Some((upper + 999).div_euclid(1_000) + tick - 1);
        flow.reason = None;
    }
    found
}

/// The delay between timestamps that the lower bound includes for the first link and for the timestamps themselves.
fn first_part(plan: &Plan, path: &FlowPath, flow: &FlowBounds) -> Ps {
    let processing: Ps = path.ports[1..].iter().map(|(port, _)| processing(plan, *port)).sum();
    let rest: Ps = flow.hops[1..].iter().map(|hop| hop.lower_ps).sum();
    flow.lower_ps - processing - rest
}

fn processing(plan: &Plan, port: usize) -> Ps {
    ps(plan.nodes[plan.ports[port].node as usize].processing_ns)
}

fn propagation(port: &Port) -> Ps {
    Ps::try_from(port.propagation_ps).unwrap_or(0)
}

/// The common cycle of all lists, in ps, if there is one, and if stream gates have equal entries, each with another
/// queue.
fn common_cycle(plan: &Plan) -> Option<Ps> {
    let gates = || plan.policing.iter().flat_map(|policing| &policing.gates);
    let turn = gates().next()?.entries.first()?.interval_ns;
    for gate in gates() {
        let ipvs: std::collections::HashSet<_> = gate.entries.iter().map(|entry| entry.ipv).collect();
        if ipvs.len() != gate.entries.len() || gate.entries.iter().any(|entry| entry.interval_ns != turn) {
            return None;
        }
    }
    let streams = gates().map(|gate| gate.cycle_ns);
    let ports = plan.ports.iter().filter_map(|port| port.gates.as_ref()).map(|gates| gates.cycle_ns);
    let mut all = streams.chain(ports);
    let first = all.next()?;
    all.all(|cycle| cycle == first).then(|| ps(first))
}

/// The paths of all flows and listeners, in the order of the bounds.
fn paths(plan: &Plan, found: &Bounds) -> Vec<FlowPath> {
    let mut paths = Vec::new();
    for (number, stream) in plan.streams.iter().enumerate() {
        let priorities = plan.priorities(stream);
        for listener in &stream.listeners {
            let mut ports = Vec::new();
            let mut at = Some(listener.route);
            while let Some(entry) = at {
                let hop = stream.route[entry as usize];
                ports.push((hop.port as usize, priorities[entry as usize]));
                at = hop.parent;
            }
            ports.reverse();
            let first = found.flows.get(paths.len()).and_then(|flow| flow.hops.first());
            let window = first.and_then(|hop| Some((hop.lower_ps, hop.upper_ps?)));
            let own = plan.streams.iter().flat_map(|stream| &stream.route);
            let alone = own.filter(|hop| hop.port as usize == ports[0].0).all(|hop| hop.parent.is_none());
            let rhythm = match stream.pattern {
                Pattern::Periodic { period_ns, jitter_ns, .. } => Some((ps(period_ns).max(1), ps(jitter_ns))),
                _ => stream.token_bucket().as_ref().map(conforming),
            };
            let stair = rhythm.zip(window).filter(|_| alone).map(|((period, jitter), (least, most))| {
                let unit = Sizes::of(&stream.size, 0).unit;
                Stair { unit, period, jitter: jitter.saturating_add(most - least) }
            });
            paths.push(FlowPath { stream: number, ports, stair });
        }
    }
    paths
}

/// The stream gate that chooses a path's queue at its `place`-th port.
fn gate<'a>(plan: &'a Plan, path: &FlowPath, place: usize) -> Option<&'a StreamGate> {
    let ingress = plan.ports[path.ports[place.checked_sub(1)?].0].peer;
    let node = plan.ports[ingress as usize].node;
    let policing = plan.policing.iter().find(|policing| policing.node == node)?;
    let filter = policing.matching(ingress, path.stream as u32, path.ports[place].1)?;
    let filter = &policing.filters[filter];
    let gate = policing.gates.get(filter.gate? as usize)?;
    let chooses = filter.scheduler.is_none() && gate.entries.iter().all(|entry| entry.ipv.is_some());
    chooses.then_some(gate)
}

/// The entry of a stream gate at a moment: its priority, its begin and its end.
fn entry(gate: &StreamGate, at: Ps, cycle: Ps) -> Option<(u8, Span)> {
    let phase = (at - gate.base_time_ns.checked_mul(1_000)?).rem_euclid(cycle);
    let mut from = at - phase;
    for entry in &gate.entries {
        let to = from + ps(entry.interval_ns);
        if at < to {
            return Some((entry.ipv?, Span { from, to }));
        }
        from = to;
    }
    None
}

/// The first window of a class that begins at `from` or later, and the gates that are open then.
fn window(port: &Port, class: u8, from: Ps, cycle: Ps) -> Option<(Span, u8)> {
    let gates = port.gates.as_ref()?;
    let base = gates.base_time_ns.checked_mul(1_000)?;
    let mut at = from - (from - base).rem_euclid(cycle);
    for _ in 0..3 {
        for (place, entry) in gates.entries.iter().enumerate() {
            let to = at + ps(entry.interval_ns);
            let before = gates.entries[(place + gates.entries.len() - 1) % gates.entries.len()];
            let opens =
                entry.open >> class & 1 == 1 && (before.open >> class & 1 == 0 || gates.entries.len() == 1);
            if opens && at >= from {
                // Following entries with an open gate, which would only lengthen the window, are ignored.
                return Some((Span { from: at, to }, entry.open));
            }
            at = to;
        }
    }
    None
}

/// Greatest delay from a frame's last bit at the first bridge to its last bit at the listener.
fn after_first(plan: &Plan, paths: &[FlowPath], path: &FlowPath, cycle: Ps) -> Option<Ps> {
    let first = gate(plan, path, 1)?;
    let mut longest = 0;
    let mut begins = first.base_time_ns.checked_mul(1_000)?;
    // By port: the time from a turn's begin to the opening of its window. It must be equal for all turns, so that
    // their windows do not overlap.
    let mut shifts: Vec<Option<Ps>> = vec![None; path.ports.len()];
    for start in &first.entries {
        let begin = Span { from: begins, to: begins + ps(start.interval_ns) };
        begins = begin.to;
        // `filled`: the instant at which the last frame of the turn has arrived.
        let (mut ipv, mut filled) = (start.ipv?, begin.to);
        for (place, known) in shifts.iter_mut().enumerate().skip(1) {
            let port = &plan.ports[path.ports[place].0];
            let class = port.pcp_to_class[usize::from(ipv & 7)];
            let (sent, open) = window(port, class, filled + processing(plan, path.ports[place].0), cycle)?;
            let shift = sent.from - begin.from;
            if *known.get_or_insert(shift) != shift
                || !fits(plan, paths, path.ports[place].0, class, sent, open)
            {
                return None;
            }
            let end = sent.to + propagation(port);
            if place + 1 == path.ports.len() {
                longest = longest.max(end - begin.from);
                break;
            }
            let gate = gate(plan, path, place + 1)?;
            let least = sent.from + until_last_bit(64, port) + propagation(port);
            let (next, within) = entry(gate, least, cycle)?;
            if end >= within.to {
                return None;
            }
            (ipv, filled) = (next, end);
        }
    }
    Some(longest)
}

/// Whether a window sends all frames that one turn may put into a class's queue, after any frame that occupies the
/// link when it opens.
fn fits(plan: &Plan, paths: &[FlowPath], port: usize, class: u8, sent: Span, open: u8) -> bool {
    let model = &plan.ports[port];
    if model.classes.get(usize::from(class)).is_none_or(|class| class.cbs.is_some()) {
        return false;
    }
    // An inter-frame gap may extend into the window.
    let (mut data, mut lower): (Data, Data) = (Data::from(INTER_FRAME_GAP.0) * 8 * BIT, 0);
    for (number, stream) in plan.streams.iter().enumerate() {
        let Some(entry) = stream.route.iter().position(|hop| hop.port as usize == port) else { continue };
        let passes =
            |path: &&FlowPath| path.stream == number && path.ports.iter().any(|(one, _)| *one == port);
        let Some(path) = paths.iter().find(passes) else { return false };
        let place = path.ports.iter().position(|(one, _)| *one == port).unwrap_or(0);
        let own = model.pcp_to_class[usize::from(plan.priorities(stream)[entry] & 7)];
        let Some(choice) = gate(plan, path, place) else {
            if own >= class {
                return false;
            }
            lower = lower.max(wire(Sizes::of(&stream.size, 0).largest));
            continue;
        };
        let (Some(first), Some(stair)) = (gate(plan, path, 1), &path.stair) else { return false };
        let ipvs = choice.entries.iter().filter_map(|entry| entry.ipv);
        let classes: Vec<u8> = ipvs.map(|ipv| model.pcp_to_class[usize::from(ipv & 7)]).collect();
        let others = classes.iter().filter(|other| **other != class);
        if !classes.contains(&class) || others.into_iter().any(|other| open >> other & 1 == 1) {
            return false;
        }
        // The frames of one turn stay together on their path.
        let turn = first.entries.first().map_or(0, |entry| entry.interval_ns);
        let turn = ps(turn);
        data += stair.unit * Data::from((turn + stair.jitter) / stair.period + 1);
    }
    data + lower <= Data::from(sent.to - sent.from) * Data::from(model.rate_bps)
}
