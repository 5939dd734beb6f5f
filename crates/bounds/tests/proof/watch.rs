//! Runs a plan and compares every observation with the bounds.

use crate::common::random::Everywhere;
use crate::common::run;
use std::collections::HashMap;
use std::fmt;
use tsn_bounds::Bounds;
use tsn_observation::{ELIMINATED, Sighting};
use tsn_plan::{Destination, Plan, Point, Stage, Tap};

/// The results of all runs.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Frames at listeners.
    pub frames: u64,
    /// Flows and listeners without an upper bound.
    pub unbounded: u64,
    /// Flows and listeners for which no frame may be lost.
    pub lossless: u64,
    /// Lost frames of other flows.
    pub lost: u64,
    /// The longest delay from the release in ps, per flow, listener and bound (which depends on offsets if
    /// there are gates).
    longest: HashMap<(String, String, i64), i64>,
    /// The ratios of bound and longest delay from the release, per plan, flow and listener.
    pub ratios: Vec<f64>,
    /// The ratios of bound and greatest backlog in octets, per queue.
    pub queues: Vec<f64>,
    most: HashMap<(String, u8, u64), u64>,
}

impl Seen {
    /// Adds the results of several runs of one plan.
    pub fn take(&mut self, one: Self) {
        self.frames += one.frames;
        self.unbounded += one.unbounded;
        self.lossless += one.lossless;
        self.lost += one.lost;
        self.ratios.extend(one.longest.iter().map(|(key, seen)| key.2 as f64 / *seen as f64));
        self.queues.extend(one.most.iter().map(|(key, seen)| key.2 as f64 / *seen as f64));
        self.ratios.extend(one.ratios);
        self.queues.extend(one.queues);
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} frames; {} flows without a bound", self.frames, self.unbounded)?;
        for (what, ratios) in
            [("bound by delay from release", &self.ratios), ("bound by octets in a queue", &self.queues)]
        {
            writeln!(f, "{}", quantiles(what, ratios))?;
        }
        Ok(())
    }
}

/// The distribution of the ratios of bounds and observed values.
pub fn quantiles(what: &str, ratios: &[f64]) -> String {
    let mut sorted = ratios.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| sorted.get((share * (sorted.len() as f64 - 1.0)) as usize).copied().unwrap_or(0.0);
    let shares = [
        ("min", 0.0),
        ("p10", 0.1),
        ("p25", 0.25),
        ("median", 0.5),
        ("p75", 0.75),
        ("p90", 0.9),
        ("max", 1.0),
    ];
    let shares: Vec<String> =
        shares.iter().map(|(name, share)| format!("{name} {:.3}", at(*share))).collect();
    format!("{what}: {} values; {}", sorted.len(), shares.join(" "))
}

/// Four taps per port, as [`Everywhere`] numbers them.
pub fn tap_everywhere(plan: &mut Plan) {
    plan.taps.clear();
    for port in 0..plan.ports.len() as u32 {
        for (stage, point) in [
            (Stage::Send, Point::End),
            (Stage::Tx, Point::Start),
            (Stage::Tx, Point::End),
            (Stage::Rx, Point::End),
        ] {
            let name = format!("{port} {stage:?} {point:?}");
            plan.taps.push(Tap { name, port, stage, point, granularity_ns: 1 });
        }
    }
}

/// Compares a run with its bounds; an error names the frame and the bound.
pub fn watch(plan: &Plan, bounds: &Bounds, seen: &mut Seen) -> Result<(), String> {
    let mut plan = plan.clone();
    tap_everywhere(&mut plan);
    let (sightings, counters) = run(&plan);
    // Stream, port, place, sequence number -> ns. Whole ns: a difference is at most its bound, rounded up.
    let mut at: HashMap<(u32, usize, usize, u64), i64> = HashMap::new();
    let mut sent: HashMap<u32, Vec<u64>> = HashMap::new();
    for one in &sightings {
        let (port, place) = Everywhere::place(one.tap);
        at.insert((one.stream, port, place, one.seq), one.t_ns.unwrap_or(0));
        if place == 0 {
            sent.entry(one.stream).or_default().push(one.seq);
        }
    }
    let mut flows = bounds.flows.iter();
    for (number, stream) in plan.streams.iter().enumerate() {
        let number = number as u32;
        for listener in &stream.listeners {
            let flow = flows.next().ok_or("too few flows")?;
            let mut path = vec![listener.route];
            while let Some(parent) = stream.route[path[path.len() - 1] as usize].parent {
                path.push(parent);
            }
            path.reverse();
            let ports: Vec<usize> =
                path.iter().map(|hop| stream.route[*hop as usize].port as usize).collect();
            let peer = |port: usize| plan.ports[port].peer as usize;
            seen.unbounded += u64::from(flow.release_upper_ps.is_none());
            for seq in sent.get(&number).into_iter().flatten() {
                let stamp = |port: usize, place: usize| at.get(&(number, port, place, *seq)).copied();
                let name = || format!("{} #{seq} to {}", flow.stream, flow.listener);
                let Some(release) = stamp(ports[0], 0) else { continue };
                let mut queued = release;
                // By how much later the frame may have been in its queue, in ps.
                let mut varies = 0;
                for (hop, port) in flow.hops.iter().zip(&ports) {
                    let Some(arrived) = stamp(peer(*port), 3) else { break };
                    within(arrived - queued, hop.lower_ps, hop.upper_ps.map(|upper| upper + varies))
                        .map_err(|text| format!("{} at {}: {text}", name(), hop.port))?;
                    let node = &plan.nodes[plan.ports[peer(*port)].node as usize];
                    queued = arrived + node.processing_ns as i64;
                    varies = node.further.as_ref().map_or(0, |further| further.range_ns().1 as i64 * 1_000);
                }
                let Some(arrived) = stamp(peer(ports[ports.len() - 1]), 3) else { continue };
                seen.frames += 1;
                let taken = arrived - release;
                within(taken, flow.release_lower_ps, flow.release_upper_ps)
                    .map_err(|text| format!("{} from its release: {text}", name()))?;
                let Some(begun) = stamp(ports[0], 1) else { continue };
                within(arrived - begun, flow.lower_ps, flow.upper_ps)
                    .map_err(|text| format!("{} from its tx stamp: {text}", name()))?;
                if let Some(upper) = flow.release_upper_ps {
                    let key = (flow.stream.clone(), flow.listener.clone(), upper);
                    let known = seen.longest.entry(key).or_insert(0);
                    *known = (*known).max(taken * 1_000);
                }
            }
        }
    }
    let (lossless, lost) = losses(&plan, bounds, &counters, &sightings)?;
    seen.lossless += lossless;
    seen.lost += lost;
    queues(bounds, &counters, |port, class, (bound, most)| {
        let known = seen.most.entry((port.into(), class, bound)).or_insert(0);
        *known = (*known).max(most);
    })
}

/// Checks that streams without possible losses have lost no frame, and that no frame arrives more often than its bound
/// says; returns the number of such streams, and the losses of the others.
pub fn losses(
    plan: &Plan,
    bounds: &Bounds,
    counters: &tsn_sim::RunCounters,
    sightings: &[Sighting],
) -> Result<(u64, u64), String> {
    let mut flows = bounds.flows.iter();
    let (mut lossless, mut lost) = (0, 0);
    for ((number, stream), counted) in (0..).zip(&plan.streams).zip(&counters.streams) {
        let own: Vec<_> = flows.by_ref().take(stream.listeners.len()).collect();
        let mut dropped = counted.dropped_at_talker + counted.dropped_in_network;
        if stream.redundancy.is_some() {
            for (listener, flow) in stream.listeners.iter().zip(&own) {
                let arrived = arrivals(plan, sightings, number, listener);
                // A frame has arrived, or a copy is still under way at the end.
                let missing = counted.released - arrived.len() as u64;
                if flow.loss_reason.is_none() && missing > counted.in_network_at_end {
                    return Err(format!("{}: {missing} frames without a copy at its listener", stream.name));
                }
                let most = arrived.values().copied().max().unwrap_or(0);
                if flow.most_arrivals.is_some_and(|bound| bound < most) {
                    let bound = flow.most_arrivals;
                    return Err(format!("{}: a frame arrives {most} times, not {bound:?}", stream.name));
                }
            }
        } else if !stream.flood.is_empty() {
            // Copies that are dropped where no listener is are not lost, nor are frames that still wait.
            let missing = counted.released.saturating_sub(counted.delivered.values().sum());
            let in_time = |upper: i64| upper <= plan.drain_ns as i64 * 1_000;
            let arrives = own.iter().all(|flow| flow.release_upper_ps.is_some_and(in_time));
            dropped = if arrives { missing } else { 0 };
        }
        if own.iter().any(|flow| flow.loss_reason.is_some()) {
            lost += dropped;
        } else if dropped > 0 && stream.redundancy.is_none() {
            return Err(format!("{}: {dropped} frames lost of a stream that loses none", stream.name));
        } else {
            lossless += 1;
        }
    }
    Ok((lossless, lost))
}

/// How often each frame of a stream passed the last recovery function before a listener, by its number.
pub fn arrivals(
    plan: &Plan,
    sightings: &[Sighting],
    stream: u32,
    listener: &Destination,
) -> HashMap<u64, u32> {
    let mut found = HashMap::new();
    for one in sightings.iter().filter(|one| one.stream == stream && one.copy & ELIMINATED == 0) {
        let (port, place) = Everywhere::place(one.tap);
        if place == 3 && plan.ports[port].node == listener.node {
            *found.entry(one.seq).or_insert(0) += 1;
        }
    }
    found
}

/// Compares the backlog of every queue with its bound; `take` gets the bound and the greatest backlog in
/// octets.
pub fn queues(
    bounds: &Bounds,
    counters: &tsn_sim::RunCounters,
    mut take: impl FnMut(&str, u8, (u64, u64)),
) -> Result<(), String> {
    for port in &bounds.ports {
        let counted = counters.ports.iter().find(|one| one.port == port.port).ok_or("no such port")?;
        for class in &port.classes {
            let counted = &counted.classes[usize::from(class.class)];
            for (what, bound, most) in [
                ("octets", class.backlog_octets, counted.most_octets),
                ("frames", class.backlog_frames, counted.most_frames),
            ] {
                if bound.is_some_and(|bound| bound < most) {
                    return Err(format!("{} class {}: {most} {what}, not {bound:?}", port.port, class.class));
                }
            }
            if let (Some(bound), 1.., None) = (class.backlog_octets, counted.most_octets, &class.reason) {
                take(&port.port, class.class, (bound, counted.most_octets));
            }
        }
    }
    Ok(())
}

pub fn within(taken_ns: i64, lower_ps: i64, upper_ps: Option<i64>) -> Result<(), String> {
    if taken_ns < lower_ps.div_euclid(1_000) {
        return Err(format!("{taken_ns} ns is less than {lower_ps} ps"));
    }
    match upper_ps {
        Some(upper) if taken_ns > (upper + 999).div_euclid(1_000) => {
            Err(format!("{taken_ns} ns is more than {upper} ps"))
        }
        _ => Ok(()),
    }
}
