//! Proof of windows per class: follows every frame of a periodic stream through the windows of its class.
//!
//! IEEE 802.1Q-2022, 8.6.8.4. The proof shares no code with the planner of windows. Hop by hop it computes when a
//! frame may arrive and by when it has left, for all phases, jitter and processing times that the Plan allows.

mod circles;

use crate::merging::{accepts_all, merged, tag, with_tag};
use crate::passage::priority;
use crate::queue::{Service, leaves};
use crate::unit::{Unit, gap, hyperperiod, on_wire, processing, ps, released};
use crate::walk::sources;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use tsn_plan::{Fault, Gates, NodeKind, Pattern, Plan, Point, Port, Stage, Stream};
use tsn_units::{BitRate, INTER_FRAME_GAP, Octets, PREAMBLE, START_FRAME_DELIMITER};

/// The result for streams that pass windows of their class and are not scheduled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Windows {
    /// By listener: streams that certainly pass all windows of their path.
    pub flows: Vec<Passing>,
    /// The other streams, for which nothing is proved here.
    pub open: Vec<Open>,
}

/// Bounds of one stream at one listener.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Passing {
    /// Index of the stream.
    pub stream: u32,
    /// The listener's node.
    pub node: u32,
    /// Largest delay between the timestamps of the Plan's taps, ns. Timestamps are rounded as the taps round them.
    pub upper_ns: i64,
    /// Largest delay between the timestamp points of the frame, without rounding, ps.
    pub upper_ps: i64,
    /// Largest delay from the release to the last bit in, ps.
    pub release_upper_ps: i64,
    /// Largest difference between the delays of two frames, ps.
    pub varies_ps: i64,
    /// Whether the stream's limits of delay and jitter are met.
    pub met: bool,
    /// Whether a copy of every frame arrives, as long as one path is left. No fault may take frames for that.
    pub lossless: bool,
}

/// A stream for which nothing is proved.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Open {
    /// Index of the stream.
    pub stream: u32,
    /// The port at which the stream cannot be followed.
    pub port: u32,
}

type Queue = (u32, u8);

/// A stream's frames at one entry of its route.
struct Flow {
    stream: u32,
    entry: usize,
    units: Vec<Unit>,
    /// Earliest and latest last bits out.
    out: Vec<(i64, i64)>,
}

struct Walk<'a> {
    plan: &'a Plan,
    /// As in [`Gated`].
    used: Vec<u8>,
    hyper: i64,
    flows: Vec<Flow>,
    /// By queue: the flows that pass through it.
    queues: HashMap<Queue, Vec<usize>>,
    /// The flow of a stream at an entry of its route.
    at: HashMap<(u32, usize), usize>,
}

/// Follows the frames of all periodic streams of a Plan that was checked.
#[must_use]
pub fn windows(plan: &Plan) -> Windows {
    let mut found = Windows::default();
    let mut windowed = Vec::new();
    let mut gated = Gated::of(plan);
    for number in 0..plan.streams.len() as u32 {
        match gated.passes(number) {
            Some(Passes::Windows) => windowed.push(number),
            Some(Passes::Unknown(port)) => found.open.push(Open { stream: number, port }),
            None => {}
        }
    }
    if windowed.is_empty() {
        return found;
    }
    let mut walk = Walk::new(plan, gated.used);
    let phased: Vec<u32> =
        windowed.iter().copied().filter(|number| !plan.streams[*number as usize].any_phase).collect();
    let needed = walk.needed(&phased);
    if let Some(hyper) = hyperperiod(plan).filter(|_| foreseen(plan)) {
        walk.release(&needed, hyper);
    }
    walk.follow(needed);
    for number in windowed {
        let stream = &plan.streams[number as usize];
        let stuck = (0..stream.route.len())
            .find(|entry| walk.at.get(&(number, *entry)).is_none_or(|flow| walk.flows[*flow].out.is_empty()));
        match stuck {
            Some(entry) => found.open.push(Open { stream: number, port: stream.route[entry].port }),
            None => found.flows.extend(
                stream.listeners.iter().map(|to| walk.passing(number, stream, to.node, to.route as usize)),
            ),
        }
    }
    found.open.sort_unstable_by_key(|own| own.stream);
    found
}

/// Whether every node's behaviour is known before the run.
fn foreseen(plan: &Plan) -> bool {
    let flooded = plan.streams.iter().any(|stream| !stream.flood.is_empty());
    plan.clocks.is_none() && plan.policing.is_empty() && plan.faults.iter().all(Fault::only_takes) && !flooded
}

/// Gates of queues, each looked at once.
struct Gated<'a> {
    plan: &'a Plan,
    /// By port, the classes of all streams, one bit each.
    used: Vec<u8>,
    /// Whether a class has windows, and whether it is known when it may send.
    known: HashMap<Queue, (bool, bool)>,
}

/// How an unscheduled stream passes windows of its class.
enum Passes {
    Windows,
    /// Nobody knows when its class may send at this port.
    Unknown(u32),
}

impl<'a> Gated<'a> {
    fn of(plan: &'a Plan) -> Self {
        let mut used = vec![0; plan.ports.len()];
        for stream in &plan.streams {
            for (entry, hop) in stream.route.iter().enumerate() {
                used[hop.port as usize] |= 1 << class_of(plan, stream, entry);
            }
        }
        Self { plan, used, known: HashMap::new() }
    }

    /// None for a stream that passes no windows.
    fn passes(&mut self, number: u32) -> Option<Passes> {
        let stream = &self.plan.streams[number as usize];
        if stream.scheduled.is_some() || !matches!(stream.pattern, Pattern::Periodic { .. }) {
            return None;
        }
        let (mut windows, mut unknown) = (false, None);
        for (entry, hop) in stream.route.iter().enumerate() {
            let port = &self.plan.ports[hop.port as usize];
            if let Some(gates) = &port.gates {
                let (class, used) = (class_of(self.plan, stream, entry), self.used[hop.port as usize]);
                let (own, is_known) = *self.known.entry((hop.port, class)).or_insert_with(|| {
                    let windows = open(port, class).is_some_and(|spans| !spans.is_empty());
                    (windows, service(port, gates, class, used).is_some())
                });
                windows |= own;
                unknown = unknown.or((!is_known).then_some(hop.port));
            }
        }
        windows.then(|| unknown.map_or(Passes::Windows, Passes::Unknown))
    }
}

/// The class of a stream's frames at an entry of its route.
fn class_of(plan: &Plan, stream: &Stream, entry: usize) -> u8 {
    let port = &plan.ports[stream.route[entry].port as usize];
    port.pcp_to_class[usize::from(priority(stream, entry) & 7)]
}

/// The times at which a class may send at a port with gates; `None` if they are unknown. `used`: the classes of all
/// streams there.
fn service(port: &Port, gates: &Gates, class: u8, used: u8) -> Option<Service> {
    let others = used & !(1 << class);
    let late = gates.initial.is_some() && gates.base_time_ns > 0;
    let alone = gates.entries.iter().all(|entry| entry.open >> class & 1 == 0 || entry.open & others == 0);
    if !gates.changes.is_empty()
        || gates.unguarded
        || late
        || gates.entries.iter().any(|entry| entry.mac.is_some())
    {
        return None;
    }
    match open(port, class) {
        // The class is always open, and no other class may send meanwhile.
        None => (others == 0).then_some(Service::Always { lower: 0 }),
        Some(spans) => alone.then_some(Service::Windows {
            base: gates.base_time_ns.checked_mul(1_000)?,
            cycle: ps(gates.cycle_ns)?,
            spans,
        }),
    }
}

/// The spans of a cycle in which a class is open, ps; `None` if the class is always open.
fn open(port: &Port, class: u8) -> Option<Vec<(i64, i64)>> {
    let gates = port.gates.as_ref()?;
    let mut spans: Vec<(i64, i64)> = Vec::new();
    let mut at = 0;
    for entry in &gates.entries {
        let to = at + ps(entry.interval_ns)?;
        if entry.open >> class & 1 == 1 {
            match spans.last_mut() {
                Some(last) if last.1 == at => last.1 = to,
                _ => spans.push((at, to)),
            }
        }
        at = to;
    }
    let cycle = ps(gates.cycle_ns)?;
    if spans == [(0, cycle)] {
        return None;
    }
    // The last span may continue in the next cycle.
    if spans.len() > 1 && spans[0].0 == 0 && spans[spans.len() - 1].1 == cycle {
        let first = spans.remove(0);
        if let Some(last) = spans.last_mut() {
            last.1 += first.1;
        }
    }
    Some(spans)
}

impl<'a> Walk<'a> {
    fn new(plan: &'a Plan, used: Vec<u8>) -> Self {
        let (flows, queues, at) = (Vec::new(), HashMap::new(), HashMap::new());
        let mut walk = Walk { plan, used, hyper: 0, flows, queues, at };
        for (number, stream) in plan.streams.iter().enumerate() {
            let number = number as u32;
            for (entry, hop) in stream.route.iter().enumerate() {
                let class = class_of(plan, stream, entry);
                let flow = walk.flows.len();
                walk.queues.entry((hop.port, class)).or_default().push(flow);
                walk.at.insert((number, entry), flow);
                walk.flows.push(Flow { stream: number, entry, units: Vec::new(), out: Vec::new() });
            }
        }
        walk
    }

    /// The queues of some streams, and all that their frames' departures depend on.
    fn needed(&self, streams: &[u32]) -> HashSet<Queue> {
        let mut left: Vec<Queue> = Vec::new();
        let queues = |number: u32, entry: usize| Some(self.queue_of(*self.at.get(&(number, entry))?));
        for number in streams {
            let entries = 0..self.plan.streams[*number as usize].route.len();
            left.extend(entries.filter_map(|entry| queues(*number, entry)));
        }
        let mut found = HashSet::new();
        while let Some(queue) = left.pop() {
            if !found.insert(queue) {
                continue;
            }
            let (port, class) = queue;
            for flow in self.queues.get(&queue).into_iter().flatten() {
                let Flow { stream, entry, .. } = self.flows[*flow];
                let own = &self.plan.streams[stream as usize];
                let from = own.route[entry].parent.map(|parent| sources(own, parent)).unwrap_or_default();
                left.extend(from.into_iter().filter_map(|before| queues(stream, before as usize)));
            }
            // Without windows, frames of higher classes go first.
            if open(&self.plan.ports[port as usize], class).is_none() {
                let higher = (class + 1..8).map(|class| (port, class));
                left.extend(higher.filter(|queue| self.queues.contains_key(queue)));
            }
        }
        found
    }

    /// The arrivals in those of these queues where frames begin their way. `hyper`: the hyperperiod.
    fn release(&mut self, queues: &HashSet<Queue>, hyper: i64) {
        self.hyper = hyper;
        for flow in queues.iter().filter_map(|queue| self.queues.get(queue)).flatten() {
            let Flow { stream: number, entry, .. } = self.flows[*flow];
            let stream = &self.plan.streams[number as usize];
            if stream.route[entry].parent.is_none() && simple(self.plan, stream) {
                let units = released(number, stream, hyper).map(|(units, _)| units);
                let tag = tag(stream, entry);
                let tagged = units.into_iter().flatten().map(|unit| with_tag(unit, tag, 0));
                self.flows[*flow].units = tagged.collect();
            }
        }
    }

    /// Computes one of these queues after the other, each when all its arrivals are known.
    fn follow(&mut self, mut left: HashSet<Queue>) {
        loop {
            let mut ready: Vec<Queue> = left.iter().copied().filter(|queue| self.ready(*queue)).collect();
            if ready.is_empty() {
                return self.go_around(left.into_iter());
            }
            ready.sort_unstable();
            for queue in ready {
                left.remove(&queue);
                self.queue(queue);
            }
        }
    }

    /// Whether all flows through a queue have been followed up to it, and also the flows of higher classes at a port
    /// without windows.
    fn ready(&self, (port, class): Queue) -> bool {
        let known = |class: u8| {
            self.queues
                .get(&(port, class))
                .is_none_or(|flows| flows.iter().all(|flow| !self.flows[*flow].units.is_empty()))
        };
        let always = open(&self.plan.ports[port as usize], class).is_none();
        known(class) && (!always || (class + 1..8).all(known))
    }

    /// The departures of a queue's frames, whose arrivals are known; false if they have no bound.
    fn queue(&mut self, queue: Queue) -> bool {
        let (number, class) = queue;
        let port = &self.plan.ports[number as usize];
        let Some(service) = self.service(number, port, class) else { return false };
        let numbers = self.queues.get(&queue).cloned().unwrap_or_default();
        let mut own: Vec<Unit> = Vec::new();
        for flow in &numbers {
            own.extend(self.flows[*flow].units.iter().map(|unit| unit.at(port.rate_bps)));
        }
        let limits = &port.classes[usize::from(class)];
        let (octets, frames) = (own.iter().map(|unit| u64::from(unit.octets)).sum::<u64>(), own.len());
        // A queue with room for two hyperperiods of arrivals never drops a frame.
        let room = limits.limit_octets.is_none_or(|most| 2 * octets <= most)
            && limits.limit_frames.is_none_or(|most| 2 * frames <= most as usize);
        let small = limits
            .max_sdu_octets
            .is_none_or(|most| own.iter().all(|unit| unit.octets.saturating_sub(22) <= most));
        if !room
            || !small
            || limits.cbs.is_some()
            || port.preemption.is_some()
            || port.transmit_buffer.is_some()
            || port.server.is_some()
            || port.qdisc.is_some()
            || self.plan.nodes[port.node as usize].buffer.is_some()
        {
            return false;
        }
        let alone = matches!(service, Service::Windows { .. });
        let higher = if alone { Vec::new() } else { self.higher_priority_units(port, number, class) };
        let Some(out) = leaves(&own, &higher, &service, gap(port.rate_bps), self.hyper) else { return false };
        // A frame that may wait for the longest time of its queue may be dropped.
        let most = limits.longest_wait_ns.and_then(ps).unwrap_or(i64::MAX);
        if own.iter().zip(&out).any(|(unit, out)| out - unit.bits - unit.first >= most) {
            return false;
        }
        let mut out = out.into_iter();
        for flow in numbers {
            let units = self.flows[flow].units.clone();
            let early = earliest(&units, &service, port, self.plan.faults.is_empty());
            self.flows[flow].out = early.into_iter().zip(out.by_ref()).collect();
            self.hand_on(flow);
        }
        true
    }

    /// The frames of higher classes at a port without gates.
    fn higher_priority_units(&self, port: &Port, number: u32, class: u8) -> Vec<Unit> {
        let flows = (class + 1..8).filter_map(|class| self.queues.get(&(number, class))).flatten();
        let units = flows.flat_map(|flow| &self.flows[*flow].units);
        units.map(|unit| unit.at(port.rate_bps)).collect()
    }

    /// The times at which a class may send; `None` if they are unknown.
    fn service(&self, number: u32, port: &Port, class: u8) -> Option<Service> {
        let Some(gates) = &port.gates else {
            let flows = (0..class).filter_map(|class| self.queues.get(&(number, class))).flatten();
            let octets = flows.flat_map(|flow| {
                let flow = &self.flows[*flow];
                let stream = &self.plan.streams[flow.stream as usize];
                let tag = tag(stream, flow.entry);
                crate::unit::largest(&stream.size).into_iter().map(move |octets| octets + tag)
            });
            let lower = octets.max().map_or(0, |octets| on_wire(octets + INTER_FRAME_GAP.0, port.rate_bps));
            return Some(Service::Always { lower });
        };
        service(port, gates, class, self.used[number as usize])
    }

    /// The arrivals of a flow's frames in the queues after an entry; where paths merge, after the last of them.
    fn hand_on(&mut self, flow: usize) {
        let (number, entry) = (self.flows[flow].stream, self.flows[flow].entry);
        let stream = &self.plan.streams[number as usize];
        for (behind, hop) in stream.route.iter().enumerate() {
            let node = &self.plan.nodes[self.plan.ports[hop.port as usize].node as usize];
            let from = hop.parent.map(|parent| sources(stream, parent)).unwrap_or_default();
            if !from.contains(&(entry as u32))
                || node.cut_through_octets.is_some()
                || node.host.is_some()
                || node.kind == NodeKind::Station
            {
                continue;
            }
            let parts: Option<Vec<Vec<Unit>>> =
                from.iter().map(|from| self.arriving(number, stream, *from as usize)).collect();
            let (Some((least, most)), Some(next), Some(parts)) =
                (processing(node), self.at.get(&(number, behind)).copied(), parts)
            else {
                continue;
            };
            let tag = tag(stream, behind);
            let units = merged(stream, parts).into_iter().map(|unit| {
                let unit = Unit { first: unit.first + least, last: unit.last + most, ..unit };
                with_tag(unit, tag, 0)
            });
            self.flows[next].units = units.collect();
        }
    }

    /// The arrivals at the other end of an entry's link, without tags; `None` if they are not known yet.
    fn arriving(&self, number: u32, stream: &Stream, entry: usize) -> Option<Vec<Unit>> {
        let flow = &self.flows[self.at[&(number, entry)]];
        let port = &self.plan.ports[stream.route[entry].port as usize];
        let propagation = i64::try_from(port.propagation_ps).ok()?;
        let came = flow.units.iter().zip(&flow.out).map(|(unit, (early, late))| {
            let unit = Unit { first: early + propagation, last: late + propagation, ..*unit };
            with_tag(unit, 0, tag(stream, entry))
        });
        (!flow.out.is_empty()).then(|| came.collect())
    }

    /// The bounds of a stream at one listener.
    fn passing(&self, number: u32, stream: &Stream, node: u32, end: usize) -> Passing {
        let flow = |entry: usize| &self.flows[self.at[&(number, entry)]];
        let roots: Vec<usize> =
            (0..stream.route.len()).filter(|entry| stream.route[*entry].parent.is_none()).collect();
        let begin = flow(roots[0]);
        let first = &self.plan.ports[stream.route[roots[0]].port as usize];
        let nominal = released(number, stream, self.hyper).map(|(_, at)| at).unwrap_or_default();
        let tap = |port: u32, stage: Stage, usual: Point| {
            let found = self.plan.taps.iter().find(|tap| tap.port == port && tap.stage == stage);
            found.map_or((usual, 1), |tap| (tap.point, i64::from(tap.granularity_ns)))
        };
        let (tx_point, tx_tick) = tap(stream.route[roots[0]].port, Stage::Tx, Point::Start);
        let before =
            |port: &Port| BitRate(port.rate_bps).time(Octets(PREAMBLE.0 + START_FRAME_DELIMITER.0)).ps();
        let (mut upper, mut lower, mut since, mut soonest) = (i64::MIN, i64::MAX, i64::MIN, i64::MAX);
        for from in sources(stream, end as u32) {
            let (finish, last) =
                (flow(from as usize), &self.plan.ports[stream.route[from as usize].port as usize]);
            let propagation = last.propagation_ps as i64;
            let (rx_point, _) = tap(last.peer, Stage::Rx, Point::End);
            for (unit, (comes, came)) in finish.units.iter().zip(&finish.out) {
                let (begun, (early, late)) = (&begin.units[unit.turn], begin.out[unit.turn]);
                let shortest = on_wire(begun.least, first.rate_bps);
                // Both timestamps of a port refer to the same point of the frame, so the distance between points
                // cancels. The timestamps of several ports of a talker are all at the talker: then the release counts.
                let sent = match tx_point {
                    _ if roots.len() > 1 => (begun.first, begun.last),
                    Point::Start => (early - shortest + before(first), late - shortest + before(first)),
                    Point::End => (early, late),
                };
                let behind = match rx_point {
                    Point::End => (0, 0),
                    Point::Start => {
                        let after = |octets: u32| on_wire(octets, last.rate_bps) - before(last);
                        (after(unit.least), after(unit.octets))
                    }
                };
                upper = upper.max(came + propagation - behind.0 - sent.0);
                lower = lower.min((comes + propagation - behind.1 - sent.1).max(0));
                let due = nominal.get(unit.turn).copied().unwrap_or(begun.first);
                since = since.max(came + propagation - due);
                soonest = soonest.min(comes + propagation - behind.1 - due);
            }
        }
        let varies = upper - lower;
        // Frames are one period apart, except for frames of one data unit.
        let several = begin.units.iter().any(|unit| unit.part > 0);
        let between = if several { i64::MAX } else { since - soonest };
        let required = &stream.requirements;
        let limits = required
            .delay_ns
            .into_iter()
            .chain(required.delay_percentiles.iter().map(|share| share.delay_ns));
        let keeps = |limit: u64, found: i64| ps(limit).is_some_and(|limit| found <= limit);
        let met = limits.into_iter().all(|limit| keeps(limit, upper))
            && required.release_delay_ns.is_none_or(|limit| keeps(limit, since))
            && required
                .jitter
                .iter()
                .all(|limit| keeps(limit.limit_ns, if limit.kind == "interval" { between } else { varies }));
        Passing {
            stream: number,
            node,
            upper_ns: (upper + tx_tick * 1_000 - 1).div_euclid(1_000),
            upper_ps: upper,
            release_upper_ps: since,
            varies_ps: varies,
            met,
            lossless: self.plan.faults.is_empty() && self.forwards_all(number, stream),
        }
    }

    /// Whether no recovery function of a stream discards a number that it has not forwarded.
    fn forwards_all(&self, number: u32, stream: &Stream) -> bool {
        stream.redundancy.iter().flat_map(|own| &own.merges).all(|merge| {
            let parts = merge.from.iter().map(|from| self.arriving(number, stream, *from as usize));
            parts.collect::<Option<Vec<_>>>().is_some_and(|parts| accepts_all(stream, &parts))
        })
    }
}

/// Whether all paths of a stream always forward, and no software of a host delays it.
fn simple(plan: &Plan, stream: &Stream) -> bool {
    stream.redundancy.as_ref().is_none_or(|redundancy| redundancy.active.is_empty())
        && stream.socket.is_none()
        && plan.nodes[stream.talker as usize].host.is_none()
}

/// Earliest last bits out: a frame starts when it arrives, if the gate is open. `whole`: no frame is ever missing, so
/// that a frame is behind the frames of its data unit before it.
fn earliest(units: &[Unit], service: &Service, port: &Port, whole: bool) -> Vec<i64> {
    let mut found: Vec<i64> = Vec::with_capacity(units.len());
    for unit in units {
        let bits = on_wire(unit.least, port.rate_bps);
        let mut starts = unit.first;
        if let (Some(before), true) = (found.last(), whole && unit.part > 0) {
            starts = starts.max(before + gap(port.rate_bps));
        }
        if let Service::Windows { base, cycle, spans } = service {
            starts = crate::queue::opens(*base, *cycle, spans, starts, bits);
        }
        found.push(starts + bits);
    }
    found
}
