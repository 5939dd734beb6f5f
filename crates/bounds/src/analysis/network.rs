//! From port to port: jitter that one port adds is what the next one sees; where ports feed each other in a circle,
//! until nothing changes any more.
//!
//! Thomas, Le Boudec & Mifdaoui 2019 (fixed point); Thiele & Ernst 2016 (jitter from port to port).

use crate::analysis::aggregate::Upstream;
use crate::analysis::ats::with_schedulers;
use crate::analysis::flows::{cut_short, first_link, flow_hops};
use crate::analysis::port::{ClassResult, PortResult, analyse};
use crate::curve::{BIT, Curve, Data, Ps, Rate};
use crate::curve::{LONGEST, ps};
use crate::model::flow_hop::FlowHop;
use crate::model::member_streams::{Once, entries_with};
use crate::model::openings::Openings;
use crate::model::openings::covered;
use crate::model::sizes::{until_last_bit, wire};
use crate::reason::Reason;
use crate::report::{Bounds, ClassBounds, FORMAT, FlowBounds, HopBounds, PortBounds};
use crate::service::class::Model;
use crate::service::preemption::is_express;
use std::collections::HashMap;
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
    /// By port, the Plan's taps there.
    taps: HashMap<usize, Vec<usize>>,
    /// Ports whose circle did not come to rest.
    unconverged: Vec<bool>,
}

/// The bounds of a Plan whose consistency is proved (see [`tsn_plan::Plan::check`]).
#[must_use]
pub fn bounds(plan: &Plan) -> Bounds {
    let openings = |port: &tsn_plan::Port| -> Vec<Option<Openings>> {
        (0..port.classes.len()).map(|class| Openings::of(covered(port), class as u8)).collect()
    };
    let openings: Vec<_> = plan.ports.iter().map(openings).collect();
    let (hops, first) = flow_hops(plan, &openings);
    let mut models: Vec<Model<'_>> =
        plan.ports.iter().zip(openings).map(|(port, openings)| Model::new(port, openings)).collect();
    let mut next = vec![Vec::new(); hops.len()];
    for (number, hop) in hops.iter().enumerate() {
        models[hop.port].flows[usize::from(hop.class)].push(number);
        hop.parents.iter().for_each(|parent| next[*parent].push(number));
    }
    let mut taps: HashMap<usize, Vec<usize>> = HashMap::new();
    for (number, tap) in plan.taps.iter().enumerate() {
        taps.entry(tap.port as usize).or_default().push(number);
    }
    let mut network = Network {
        plan,
        taps,
        results: vec![PortResult::default(); models.len()],
        unconverged: vec![false; models.len()],
        delays: vec![Err(Reason::TooLarge); hops.len()],
        models,
        hops,
        next,
    };
    network.solve();
    let found = network.report(&first);
    match not_covered(plan).or_else(|| crate::analysis::ats::shaped_copies(plan)) {
        None => found,
        Some(reason) => {
            let mut found = found.without(&reason);
            if reason == Reason::Internal {
                let plain = bounds(&Plan { policing: Vec::new(), ..plan.clone() });
                crate::analysis::cqf::refine(plan, &plain, &mut found);
            }
            found
        }
    }
}

/// What of a Plan no bound here covers, wherever it is. Links that lose frames and filters that drop them do no harm.
fn not_covered(plan: &Plan) -> Option<Reason> {
    if plan.nodes.iter().any(|node| node.host.is_some()) {
        return Some(Reason::Hosts);
    }
    if plan.clocks.is_some() {
        return Some(Reason::Clocks);
    }
    if plan.streams.iter().any(|stream| !stream.flood.is_empty()) {
        return Some(Reason::Flooded);
    }
    let counted = |fault: &Fault| fault.only_takes() || matches!(fault, Fault::Babble { .. });
    if !plan.faults.iter().all(counted) {
        return Some(Reason::Faults);
    }
    let mut entries =
        plan.policing.iter().flat_map(|policing| &policing.gates).flat_map(|gate| &gate.entries);
    entries.any(|entry| entry.ipv.is_some()).then_some(Reason::Internal)
}

impl Network<'_> {
    /// Ports before those that they feed; then those in circles, and what comes after them.
    fn order(&self) -> (Vec<usize>, Vec<usize>) {
        let mut feeds = vec![Vec::new(); self.models.len()];
        for hop in &self.hops {
            hop.parents.iter().for_each(|parent| feeds[self.hops[*parent].port].push(hop.port));
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
            if circle.contains(&self.hops[hop].port) {
                self.delays[hop] = Ok(self.hops[hop].shortest - self.propagation(self.hops[hop].port));
                if !self.hops[hop].parents.is_empty() && self.hops[hop].latest.is_none() {
                    self.hops[hop].latest = Some(self.hops[hop].earliest);
                }
            }
        }
        for hop in self.hops.iter().flat_map(|hop| hop.parents.clone()).collect::<Vec<_>>() {
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
            self.unconverged[*port] = true;
        }
        for hop in 0..self.hops.len() {
            if self.hops[hop].parents.iter().any(|parent| self.unconverged[self.hops[*parent].port]) {
                self.hops[hop].latest = None;
                self.hops[hop].times = self.times(hop, None);
            }
        }
        for port in &circle {
            self.results[*port] = PortResult::default();
        }
        let inputs: Vec<(Option<Ps>, u32)> = self.hops.iter().map(|hop| (hop.latest, hop.times)).collect();
        for port in &circle {
            self.analyse(*port);
            for (hop, (latest, times)) in self.hops.iter_mut().zip(&inputs) {
                (hop.latest, hop.times) = (*latest, *times);
            }
        }
    }

    /// Analyses one port and hands on what follows; whether that changed anything.
    fn analyse(&mut self, port: usize) -> bool {
        let mut result = match self.not_covered(port) {
            Some(reason) => self.without_bound(port, &reason),
            None => analyse(&self.models[port], &self.hops, &*self),
        };
        with_schedulers(&mut result.delays, &self.hops, &self.next);
        self.mark_held(port, &mut result);
        let mut changed = self.results[port] != result;
        for (hop, delay) in &result.delays {
            self.delays[*hop] = delay.clone();
            // Also where the result stays, as behind a link that shapes: who came later is later at the next port.
            changed |= self.pass_on(*hop);
        }
        self.results[port] = result;
        changed
    }

    /// Queues where frames wait that are not eligible have no bound.
    fn mark_held(&self, port: usize, result: &mut PortResult) {
        for (flows, class) in self.models[port].flows.iter().zip(&mut result.classes) {
            if let Some(class) =
                class.as_mut().filter(|_| flows.iter().any(|hop| self.hops[*hop].shaped.is_some()))
            {
                class.backlog = Err(Reason::Held);
            }
        }
    }

    /// What a port does that these bounds do not cover.
    fn not_covered(&self, port: usize) -> Option<Reason> {
        let port = self.models[port].port;
        let shaped = |(class, own): (usize, &tsn_plan::Class)| {
            own.cbs.is_some() && !is_express(port.preemption.as_ref(), class as u8)
        };
        if port.classes.iter().enumerate().any(shaped) {
            return Some(Reason::Preemption);
        }
        let runs =
            port.classes.iter().any(|class| class.cbs.as_ref().is_some_and(|cbs| cbs.runs_while_closed));
        if port.gates.is_some() && (runs || covered(port).is_none()) {
            return Some(Reason::Gates);
        }
        let node = &self.plan.nodes[port.node as usize];
        if node.further.is_some() {
            return Some(Reason::Processing);
        }
        node.cut_through_octets.map(|_| Reason::CutThrough)
    }

    /// Nothing is known of any flow at a port.
    fn without_bound(&self, port: usize, reason: &Reason) -> PortResult {
        let flows = &self.models[port].flows;
        let class = |hops: &Vec<usize>| {
            (!hops.is_empty()).then(|| ClassResult {
                backlog: Err(reason.clone()),
                shape: None,
                gathered: None,
            })
        };
        PortResult {
            delays: flows.iter().flatten().map(|hop| (*hop, Err(reason.clone()))).collect(),
            classes: flows.iter().map(class).collect(),
            ..PortResult::default()
        }
    }

    /// From one hop to the next ones: how late its frames can be there, by whichever way they come. Whether that
    /// changed.
    fn pass_on(&mut self, hop: usize) -> bool {
        let mut changed = false;
        for number in self.next[hop].clone() {
            let latest = self.latest(number);
            let found = (latest, self.times(number, latest));
            let next = &mut self.hops[number];
            changed |= found != (next.latest, next.times);
            (next.latest, next.times) = found;
        }
        changed
    }

    fn latest(&self, hop: usize) -> Option<Ps> {
        let node = self.models[self.hops[hop].port].port.node as usize;
        let processing = ps(self.plan.nodes[node].processing_ns);
        let by = |parent: &usize| {
            let late = self.hops[*parent].latest?.checked_add(*self.delays[*parent].as_ref().ok()?)?;
            let late =
                late.checked_add(self.propagation(self.hops[*parent].port))?.checked_add(processing)?;
            (late <= LONGEST).then_some(late)
        };
        self.hops[hop].parents.iter().map(by).try_fold(0, |most, late| Some(most.max(late?)))
    }

    /// How often the same frame may come to a hop, where frames come until `latest`.
    fn times(&self, hop: usize, latest: Option<Ps>) -> u32 {
        let parents = &self.hops[hop].parents;
        let times = || parents.iter().map(|parent| self.hops[*parent].times);
        let spread = latest.map(|latest| latest - self.hops[hop].earliest);
        match self.hops[hop].once {
            // While numbers seen are known, none goes on twice.
            Once::Recovery(memory) if spread.is_some_and(|spread| spread < memory) => 1,
            Once::OneWay => times().max().unwrap_or(1),
            _ => times().fold(0, u32::saturating_add).max(1),
        }
    }

    /// The ports of the slowest way from the talker to a listener, as hops; `from_release`: the talker's own port counts.
    fn way(&self, first: usize, stream: &Stream, listener: &Destination, from_release: bool) -> Vec<usize> {
        let mut known = HashMap::new();
        let ends = entries_with(stream, listener.route);
        let ways = ends.iter().map(|end| self.slowest(first + *end as usize, from_release, &mut known, 0));
        ways.reduce(slower).map(|(_, way)| way).unwrap_or_default()
    }

    /// The slowest way to the end of a hop: its delay, none without a bound, and its hops.
    fn slowest(
        &self,
        hop: usize,
        from_release: bool,
        known: &mut HashMap<usize, (Option<Ps>, Vec<usize>)>,
        depth: usize,
    ) -> (Option<Ps>, Vec<usize>) {
        if let Some(found) = known.get(&hop) {
            return found.clone();
        }
        let own = self.delay(hop).ok();
        let parents = &self.hops[hop].parents;
        let found = if parents.is_empty() {
            (if from_release { own } else { Some(0) }, vec![hop])
        } else if depth > self.hops.len() {
            // Ways that lead back into themselves.
            (None, vec![hop])
        } else {
            let ways = parents.iter().map(|parent| self.slowest(*parent, from_release, known, depth + 1));
            let (delay, mut way) = ways.collect::<Vec<_>>().into_iter().reduce(slower).unwrap_or_default();
            let node = self.models[self.hops[hop].port].port.node as usize;
            let processing = ps(self.plan.nodes[node].processing_ns);
            way.push(hop);
            let sum = || delay?.checked_add(own?)?.checked_add(processing);
            (sum(), way)
        };
        known.insert(hop, found.clone());
        found
    }

    /// The delay of a hop to the last bit at the other end.
    fn delay(&self, hop: usize) -> Result<Ps, Reason> {
        let port = self.hops[hop].port;
        let delay = self.delays[hop].clone();
        if self.unconverged[port] && !matches!(delay, Err(Reason::Dropped)) && self.hops[hop].latest.is_none()
        {
            return delay.map_err(|_| Reason::Circle).map(|delay| delay + self.propagation(port));
        }
        delay.map(|delay| delay.saturating_add(self.propagation(port)))
    }

    fn propagation(&self, port: usize) -> Ps {
        Ps::try_from(self.models[port].port.propagation_ps).unwrap_or(LONGEST)
    }

    fn report(&self, first: &[usize]) -> Bounds {
        let ports: Vec<Option<PortBounds>> = (0..self.models.len()).map(|port| self.port(port)).collect();
        let mut flows = Vec::new();
        for (stream, first) in self.plan.streams.iter().zip(first) {
            for listener in &stream.listeners {
                flows.push(self.flow(*first, stream, listener, &ports));
            }
        }
        let ports = ports.into_iter().flatten().collect();
        Bounds { format: FORMAT, plan: self.plan.hash.clone(), flows, ports }
    }

    /// Why frames of a flow may be lost on their way to a listener.
    fn loss(
        &self,
        begin: usize,
        stream: &Stream,
        listener: &Destination,
        ports: &[Option<PortBounds>],
    ) -> Option<Reason> {
        if let Some(reason) = crate::analysis::loss::anywhere(self.plan, stream) {
            return Some(reason);
        }
        let mut entry = Some(listener.route);
        while let Some(place) = entry.map(|entry| entry as usize) {
            let hop = &self.hops[begin + place];
            let classes = ports[hop.port].as_ref().map(|port| &port.classes[..]).unwrap_or_default();
            let queue = classes.iter().find(|queue| queue.class == hop.class);
            if let Some(why) = crate::analysis::loss::at(self.plan, stream, place, hop, queue) {
                return Some(Reason::At {
                    port: self.models[hop.port].port.name.clone(),
                    why: Box::new(why),
                });
            }
            entry = stream.route[place].parent;
        }
        None
    }

    fn flow(
        &self,
        begin: usize,
        stream: &Stream,
        listener: &Destination,
        ports: &[Option<PortBounds>],
    ) -> FlowBounds {
        let hops_of_stream = &self.hops[begin..begin + stream.route.len()];
        let roots = || hops_of_stream.iter().filter(|hop| hop.parents.is_empty());
        // The stamps of a talker's several ports are all its own: delays count from the release then.
        let one_root = roots().count() == 1;
        let way = &self.way(begin, stream, listener, !one_root)[..];
        let name = |port: usize| self.models[port].port.name.clone();
        let (first, last) = (self.hops[way[0]].port, self.hops[way[way.len() - 1]].port);
        let tap = |port: usize, stage: Stage, usual: Point| {
            let of_port = self.taps.get(&port).into_iter().flatten();
            let found = of_port.map(|tap| &self.plan.taps[*tap]).find(|tap| tap.stage == stage);
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
        let sizes = crate::model::sizes::Sizes::of(&stream.size, 0);
        let on_first = |octets: u32| first_link(octets, self.models[first].port, start);
        let processing: Ps = way[1..]
            .iter()
            .map(|hop| self.models[self.hops[*hop].port].port.node as usize)
            .map(|node| ps(self.plan.nodes[node].processing_ns))
            .sum();
        let after_first: Ps = way[1..].iter().map(|hop| self.hops[*hop].shortest).sum();
        let cut: Ps = way
            .windows(2)
            .map(|pair| {
                (self.hops[pair[1]].pcp, [pair[0], pair[1]].map(|hop| self.models[self.hops[hop].port].port))
            })
            .map(|(pcp, [before, after])| cut_short(self.plan, sizes.smallest, pcp, before, after))
            .sum();
        let after_first = after_first - cut;
        let (lower_ps, release_lower_ps) = if stream.redundancy.is_none() {
            (
                on_first(sizes.smallest) + processing + after_first - unstamped(sizes.smallest),
                processing + after_first + self.hops[way[0]].shortest,
            )
        } else {
            // By whichever way is the fastest.
            let by = |end: &u32| {
                let hop = &self.hops[begin + *end as usize];
                let unstamped = hop.sizes.map_or(0, |sizes| unstamped(sizes.smallest));
                (hop.fastest + hop.shortest, hop.fastest + hop.shortest - unstamped)
            };
            let ends = entries_with(stream, listener.route);
            let (released, stamped) =
                ends.iter().map(by).fold((LONGEST, LONGEST), |a, b| (a.0.min(b.0), a.1.min(b.1)));
            let first = &self.hops[way[0]];
            let waited = if one_root { first.shortest - on_first(sizes.smallest) } else { stamped };
            (stamped - waited, released)
        };
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
        let on_first_at_most = || match self.results[first].passing.iter().find(|(hop, _)| *hop == way[0]) {
            None => Some(on_first(largest)),
            Some(_) if !start => Some(self.propagation(first)),
            Some((_, passing)) => {
                let after_stamp = passing.as_ref().ok()? - until_last_bit(0, self.models[first].port);
                Some(after_stamp.saturating_add(self.propagation(first)))
            }
        };
        // Behind a scheduler, the first link's part is the wait for it, too; that is counted from the release.
        let shaped = hops_of_stream.iter().any(|hop| hop.shaped.is_some() && hop.parents.contains(&way[0]));
        let upper_ps = if one_root && shaped {
            let stamped = until_last_bit(if start { 0 } else { sizes.smallest }, self.models[first].port);
            waits(way)
                .filter(|_| !dropped)
                .map(|delay| delay + processing - stamped - unstamped(sizes.smallest))
        } else if one_root {
            waits(&way[1..])
                .filter(|_| !dropped)
                .and_then(|rest| Some(on_first_at_most()? + processing + rest - unstamped(sizes.smallest)))
        } else {
            waits(way).filter(|_| !dropped).map(|all| all + processing - unstamped(sizes.smallest))
        };
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
            release_lower_ps,
            reason: if upper_ps.is_some() { None } else { reason(&way[1..]).or_else(|| reason(way)) },
            release_reason: reason(way),
            loss_reason: self.loss(begin, stream, listener, ports),
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
                let ClassResult { backlog, gathered, .. } = outcome.as_ref()?;
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
                    credit_bits: gathered.and_then(|data| u64::try_from((data + BIT - 1) / BIT).ok()),
                })
            })
            .collect();
        (!classes.is_empty()).then(|| PortBounds { port: model.port.name.clone(), classes })
    }
}

/// Of two ways, the one that takes longer; the first among equals.
fn slower(a: (Option<Ps>, Vec<usize>), b: (Option<Ps>, Vec<usize>)) -> (Option<Ps>, Vec<usize>) {
    let longer = a.0.is_some() && b.0.is_none_or(|b| a.0.is_some_and(|a| b > a));
    if longer { b } else { a }
}

impl Upstream for Network<'_> {
    fn shaper(&self, hop: &FlowHop) -> Option<Curve> {
        let before = &self.hops[hop.only_parent()?];
        self.results[before.port].classes.get(usize::from(before.class))?.as_ref()?.shape.clone()
    }

    fn line(&self, hop: &FlowHop, classes: u8, largest: Data) -> Option<Curve> {
        let before = &self.models[self.hops[hop.only_parent()?].port];
        let rate = Rate::try_from(before.port.rate_bps).ok()?;
        let slack = if before.rounded() { Data::from(rate) } else { 0 };
        // An interrupted frame and the one that interrupts it both end within less time than either takes. Express
        // frames among themselves, and preemptable ones, come one after another.
        let express = before.port.preemption.as_ref().map_or(u8::MAX, |own| own.express);
        let mixed = classes & express != 0 && classes & !express != 0;
        let ending = if mixed { 2 * largest } else { largest };
        Some(Curve::affine(ending + slack, rate))
    }

    fn before(&self, hop: &FlowHop) -> Option<(usize, u8)> {
        // What an ATS scheduler lets pass comes when it is eligible, not when the link brought it.
        if hop.shaped.is_some() {
            return None;
        }
        let before = &self.hops[hop.only_parent()?];
        // Frames that get a tag here bring more than the link brought.
        let grows = hop.sizes.zip(before.sizes).is_some_and(|(own, before)| own.smallest > before.smallest);
        (!grows).then_some((before.port, before.class))
    }

    fn stream_name(&self, stream: usize) -> String {
        self.plan.streams[stream].name.clone()
    }
}
