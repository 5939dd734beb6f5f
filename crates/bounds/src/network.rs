//! From port to port: jitter that one port adds is what the next one sees; where ports feed each other in a circle,
//! until nothing changes any more.
//!
//! Thomas, Le Boudec & Mifdaoui 2019 (fixed point); Thiele & Ernst 2016 (jitter from port to port).

use crate::curve::{BIT, Curve, Data, Ps, Rate};
use crate::flow::{FlowHop, LONGEST, cut_short, first_link, flow_hops, ps};
use crate::inputs::Upstream;
use crate::port::{ClassResult, Model, PortResult, analyse};
use crate::reason::Reason;
use crate::report::{Bounds, ClassBounds, FORMAT, FlowBounds, HopBounds, PortBounds};
use crate::sizes::{until_last_bit, wire};
use crate::windows::Openings;
use tsn_plan::{Destination, Fault, Plan, Point, Stage, Stream};
use tsn_units::PHY_OVERHEAD;

/// How often ports in a circle are analysed before they are said to have no bound.
const MOST_ROUNDS: usize = 400;

/// The whole analysis as it stands.
struct Network<'a> {
    plan: &'a Plan,
    models: Vec<Model<'a>>,
    hops: Vec<FlowHop>,
    /// By hop: those after it.
    next: Vec<Vec<usize>>,
    results: Vec<PortResult>,
    /// By hop: from its queue to the last bit out.
    delays: Vec<Result<Ps, Reason>>,
    /// Ports whose circle did not come to rest.
    restless: Vec<bool>,
}

/// The bounds of a Plan whose consistency is proved (see [`tsn_plan::Plan::check`]).
#[must_use]
pub fn bounds(plan: &Plan) -> Bounds {
    let openings = |port: &tsn_plan::Port| -> Vec<Option<Openings>> {
        (0..port.classes.len()).map(|class| Openings::of(port.gates.as_ref(), class as u8)).collect()
    };
    let openings: Vec<_> = plan.ports.iter().map(openings).collect();
    let (hops, first) = flow_hops(plan, &openings);
    let mut models: Vec<Model<'_>> =
        plan.ports.iter().zip(openings).map(|(port, openings)| Model::new(port, openings)).collect();
    let mut next = vec![Vec::new(); hops.len()];
    for (number, hop) in hops.iter().enumerate() {
        models[hop.port].flows[usize::from(hop.class)].push(number);
        if let Some(parent) = hop.parent {
            next[parent].push(number);
        }
    }
    let mut network = Network {
        plan,
        results: vec![PortResult::default(); models.len()],
        restless: vec![false; models.len()],
        delays: vec![Err(Reason::TooLarge); hops.len()],
        models,
        hops,
        next,
    };
    if covers(plan) {
        network.solve();
    } else {
        network.delays.fill(Err(Reason::Redundancy));
    }
    let found = network.report(&first);
    if plan.nodes.iter().any(|node| node.host.is_some()) {
        return found.without(&Reason::Hosts);
    }
    if plan.clocks.is_some() { found.without(&Reason::Clocks) } else { found }
}

/// Whether every frame goes down a tree and every talker keeps its pattern. Links that lose frames do no harm.
fn covers(plan: &Plan) -> bool {
    plan.streams.iter().all(|stream| stream.redundancy.is_none())
        && !plan.faults.iter().any(|fault| matches!(fault, Fault::Babble { .. }))
}

impl Network<'_> {
    /// Ports before those that they feed; then those in circles, and what comes after them.
    fn order(&self) -> (Vec<usize>, Vec<usize>) {
        let mut feeds = vec![Vec::new(); self.models.len()];
        for hop in &self.hops {
            if let Some(parent) = hop.parent {
                feeds[self.hops[parent].port].push(hop.port);
            }
        }
        let mut fed_by = vec![0_usize; self.models.len()];
        for ports in &mut feeds {
            ports.sort_unstable();
            ports.dedup();
            ports.iter().for_each(|port| fed_by[*port] += 1);
        }
        let used = |port: &usize| !self.models[*port].flows.iter().all(Vec::is_empty);
        let mut order: Vec<usize> = (0..fed_by.len()).filter(|port| fed_by[*port] == 0).collect();
        let mut at = 0;
        while let Some(port) = order.get(at).copied() {
            at += 1;
            for fed in &feeds[port] {
                fed_by[*fed] -= 1;
                if fed_by[*fed] == 0 {
                    order.push(*fed);
                }
            }
        }
        let rest = (0..fed_by.len()).filter(|port| fed_by[*port] > 0).filter(used).collect();
        (order.into_iter().filter(used).collect(), rest)
    }

    fn solve(&mut self) {
        let (order, circle) = self.order();
        for port in order {
            self.analyse(port);
        }
        if circle.is_empty() {
            return;
        }
        // From no jitter at all upwards: the first state that stays is a bound.
        for hop in 0..self.hops.len() {
            if circle.contains(&self.hops[hop].port) && self.hops[hop].parent.is_some() {
                let bounded = self.hops[hop].latest.is_some();
                if !bounded {
                    self.hops[hop].latest = Some(self.hops[hop].earliest);
                }
            }
        }
        for hop in self.hops.clone().iter().filter_map(|hop| hop.parent) {
            if !circle.contains(&self.hops[hop].port) {
                self.pass_on(hop);
            }
        }
        for _ in 0..MOST_ROUNDS {
            let mut rests = true;
            for port in &circle {
                rests &= !self.analyse(*port);
            }
            if rests {
                return;
            }
        }
        // No rest: nothing is known of what comes from a port in a circle, but that its link carries it.
        for port in &circle {
            self.restless[*port] = true;
        }
        for hop in 0..self.hops.len() {
            if self.hops[hop].parent.is_some_and(|parent| self.restless[self.hops[parent].port]) {
                self.hops[hop].latest = None;
            }
        }
        for port in &circle {
            self.results[*port] = PortResult::default();
        }
        let inputs: Vec<Option<Ps>> = self.hops.iter().map(|hop| hop.latest).collect();
        for port in &circle {
            self.analyse(*port);
            for (hop, latest) in self.hops.iter_mut().zip(&inputs) {
                hop.latest = *latest;
            }
        }
    }

    /// Analyses one port and hands on what follows; whether that changed anything.
    fn analyse(&mut self, port: usize) -> bool {
        let result = match self.not_covered(port) {
            Some(reason) => self.without_bound(port, &reason),
            None => analyse(&self.models[port], &self.hops, &*self),
        };
        let changed = self.results[port] != result;
        for (hop, delay) in &result.delays {
            self.delays[*hop] = delay.clone();
            self.pass_on(*hop);
        }
        self.results[port] = result;
        changed
    }

    /// What a port does that these bounds do not cover.
    fn not_covered(&self, port: usize) -> Option<Reason> {
        let port = self.models[port].port;
        if port.preemption.is_some() {
            return Some(Reason::Preemption);
        }
        self.plan.nodes[port.node as usize].cut_through_octets.map(|_| Reason::CutThrough)
    }

    /// Nothing is known of any flow at a port.
    fn without_bound(&self, port: usize, reason: &Reason) -> PortResult {
        let flows = &self.models[port].flows;
        let class = |hops: &Vec<usize>| {
            (!hops.is_empty()).then(|| ClassResult { backlog: Err(reason.clone()), shape: None })
        };
        PortResult {
            delays: flows.iter().flatten().map(|hop| (*hop, Err(reason.clone()))).collect(),
            classes: flows.iter().map(class).collect(),
        }
    }

    /// From one hop to the next ones: how late its frames can be there.
    fn pass_on(&mut self, hop: usize) {
        let from = &self.hops[hop];
        let propagation = Ps::try_from(self.models[from.port].port.propagation_ps).unwrap_or(LONGEST);
        let latest = from.latest.zip(self.delays[hop].as_ref().ok().copied());
        for number in self.next[hop].clone() {
            let node = self.models[self.hops[number].port].port.node as usize;
            let processing = ps(self.plan.nodes[node].processing_ns);
            self.hops[number].latest = latest.zip(processing).and_then(|((late, delay), processing)| {
                let latest = late.checked_add(delay)?.checked_add(propagation)?.checked_add(processing)?;
                (latest <= LONGEST).then_some(latest)
            });
        }
    }

    /// The ports of a way, from the talker to the listener, as hops.
    fn way(&self, first: usize, listener: &Destination) -> Vec<usize> {
        let mut way = Vec::new();
        let mut at = Some(first + listener.route as usize);
        while let Some(hop) = at {
            way.push(hop);
            at = self.hops[hop].parent;
        }
        way.reverse();
        way
    }

    /// The delay of a hop to the last bit at the other end.
    fn delay(&self, hop: usize) -> Result<Ps, Reason> {
        let port = self.hops[hop].port;
        let delay = self.delays[hop].clone();
        if self.restless[port] && !matches!(delay, Err(Reason::Dropped)) && self.hops[hop].latest.is_none() {
            return delay.map_err(|_| Reason::Circle).map(|delay| delay + self.propagation(port));
        }
        delay.map(|delay| delay.saturating_add(self.propagation(port)))
    }

    fn propagation(&self, port: usize) -> Ps {
        Ps::try_from(self.models[port].port.propagation_ps).unwrap_or(LONGEST)
    }

    fn report(&self, first: &[usize]) -> Bounds {
        let mut flows = Vec::new();
        for (stream, first) in self.plan.streams.iter().zip(first) {
            for listener in &stream.listeners {
                flows.push(self.flow(stream, listener, &self.way(*first, listener)));
            }
        }
        let ports = (0..self.models.len()).filter_map(|port| self.port(port)).collect();
        Bounds { format: FORMAT, plan: self.plan.hash.clone(), flows, ports }
    }

    fn flow(&self, stream: &Stream, listener: &Destination, way: &[usize]) -> FlowBounds {
        let name = |port: usize| self.models[port].port.name.clone();
        let (first, last) = (self.hops[way[0]].port, self.hops[way[way.len() - 1]].port);
        let tap = |port: usize, stage: Stage, usual: Point| {
            let found = self.plan.taps.iter().find(|tap| tap.port as usize == port && tap.stage == stage);
            found.map_or((usual, 1), |tap| (tap.point, Ps::from(tap.granularity_ns)))
        };
        let (tx_point, tx_tick) = tap(first, Stage::Tx, Point::Start);
        let (rx_point, rx_tick) = tap(self.models[last].port.peer as usize, Stage::Rx, Point::End);
        // What the stamps leave out: at the receiver's side, all of the frame behind its timestamp point.
        let unstamped = |octets: u32| match rx_point {
            Point::End => 0,
            Point::Start => {
                until_last_bit(octets, self.models[last].port) - until_last_bit(0, self.models[last].port)
            }
        };
        let start = tx_point == Point::Start;
        let sizes = crate::sizes::Sizes::of(&stream.size);
        let on_first = |octets: u32| first_link(octets, self.models[first].port, start);
        let processing: Ps = way[1..]
            .iter()
            .map(|hop| self.models[self.hops[*hop].port].port.node as usize)
            .map(|node| ps(self.plan.nodes[node].processing_ns).unwrap_or(LONGEST))
            .sum();
        let after_first: Ps = way[1..].iter().map(|hop| self.hops[*hop].shortest).sum();
        let several = stream.redundancy.is_some();
        // Another way may be faster.
        let lower = |ps: Ps| if several { 0 } else { ps };
        let cut: Ps = way
            .windows(2)
            .map(|pair| [pair[0], pair[1]].map(|hop| self.models[self.hops[hop].port].port))
            .map(|[before, after]| cut_short(self.plan, sizes.smallest, stream.pcp, before, after))
            .sum();
        let after_first = after_first - cut;
        let lower_ps = lower(on_first(sizes.smallest) + processing + after_first - unstamped(sizes.smallest));
        let reason = |way: &[usize]| {
            way.iter().find_map(|hop| match self.delay(*hop) {
                Err(reason) if way.len() > 1 => Some(match reason {
                    Reason::Dropped | Reason::Circle => reason,
                    _ => Reason::At { port: name(self.hops[*hop].port), why: Box::new(reason) },
                }),
                other => other.err(),
            })
        };
        let waits = |way: &[usize]| way.iter().map(|hop| self.delay(*hop).ok()).sum::<Option<Ps>>();
        let largest = self.hops[way[0]].sizes.map_or(sizes.largest, |sizes| sizes.largest);
        let dropped = way.iter().any(|hop| self.hops[*hop].sizes.is_none());
        let upper_ps = waits(&way[1..])
            .filter(|_| !dropped)
            .map(|rest| on_first(largest) + processing + rest - unstamped(sizes.smallest));
        let hops = way.iter().map(|hop| {
            let upper = self.delay(*hop);
            HopBounds {
                port: name(self.hops[*hop].port),
                class: self.hops[*hop].class,
                lower_ps: self.hops[*hop].shortest,
                upper_ps: upper.as_ref().ok().copied(),
                reason: upper.err(),
            }
        });
        FlowBounds {
            stream: stream.name.clone(),
            group: stream.group.clone(),
            listener: self.plan.nodes[listener.node as usize].name.clone(),
            upper_ns: upper_ps.map(|ps| (ps + 999).div_euclid(1_000) + tx_tick - 1),
            lower_ns: (lower_ps.div_euclid(1_000) - rx_tick + 1).max(0),
            upper_ps,
            lower_ps,
            release_upper_ps: waits(way).map(|delay| delay + processing),
            release_lower_ps: lower(processing + after_first + self.hops[way[0]].shortest),
            reason: if upper_ps.is_some() { None } else { reason(&way[1..]).or_else(|| reason(way)) },
            release_reason: reason(way),
            hops: hops.collect(),
        }
    }

    fn port(&self, number: usize) -> Option<PortBounds> {
        let (model, result) = (&self.models[number], &self.results[number]);
        let classes: Vec<ClassBounds> = result
            .classes
            .iter()
            .enumerate()
            .filter_map(|(class, outcome)| {
                let backlog = &outcome.as_ref()?.backlog;
                let limits = &model.port.classes[class];
                let sizes = || model.flows[class].iter().filter_map(|hop| self.hops[*hop].sizes);
                let smallest = sizes().map(|sizes| sizes.smallest).min()?;
                let largest = Data::from(sizes().map(|sizes| sizes.largest).max()?);
                // Of every frame, at most this share is not overhead.
                let octets = |data: Data| {
                    let octets = data / (8 * BIT) * largest / (largest + Data::from(PHY_OVERHEAD.0));
                    u64::try_from(octets).unwrap_or(u64::MAX)
                };
                let frames = |data: Data| u64::try_from(data / wire(smallest)).unwrap_or(u64::MAX);
                let least = |found: Option<u64>, limit: Option<u64>| match (found, limit) {
                    (Some(found), Some(limit)) => Some(found.min(limit)),
                    (found, limit) => found.or(limit),
                };
                Some(ClassBounds {
                    class: class as u8,
                    backlog_octets: least(
                        backlog.as_ref().ok().map(|data| octets(*data)),
                        limits.limit_octets,
                    ),
                    backlog_frames: least(
                        backlog.as_ref().ok().map(|data| frames(*data)),
                        limits.limit_frames.map(u64::from),
                    ),
                    reason: backlog.as_ref().err().cloned(),
                })
            })
            .collect();
        (!classes.is_empty()).then(|| PortBounds { port: model.port.name.clone(), classes })
    }
}

impl Upstream for Network<'_> {
    fn shaper(&self, hop: &FlowHop) -> Option<Curve> {
        let before = &self.hops[hop.parent?];
        self.results[before.port].classes.get(usize::from(before.class))?.as_ref()?.shape.clone()
    }

    fn line(&self, hop: &FlowHop, largest: Data) -> Option<Curve> {
        let before = &self.models[self.hops[hop.parent?].port];
        let rate = Rate::try_from(before.port.rate_bps).ok()?;
        let slack = if before.rounded() { Data::from(rate) } else { 0 };
        // An interrupted frame and the one that interrupts it both end within less time than either takes.
        let ending = if before.port.preemption.is_some() { 2 * largest } else { largest };
        Some(Curve::affine(ending + slack, rate))
    }

    fn before(&self, hop: &FlowHop) -> Option<(usize, u8)> {
        let before = &self.hops[hop.parent?];
        Some((before.port, before.class))
    }

    fn stream_name(&self, stream: usize) -> String {
        self.plan.streams[stream].name.clone()
    }
}
