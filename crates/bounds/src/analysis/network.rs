//! From port to port: the jitter that a port adds arrives at the next port. Where ports feed each other in a cycle, the
//! analysis repeats until nothing changes.
//!
//! Thomas, Le Boudec & Mifdaoui 2019 (fixed point); Thiele & Ernst 2016 (jitter from port to port).

mod above;
mod along;
mod chains;
mod faults;
mod kept;
mod later;
pub(crate) mod memory;
mod not_covered;
mod path;
mod remembered;
mod report;
mod reports;
mod rounds;

use self::along::Common;
use self::faults::{moves_frames, repeats, wrong_lists};
use crate::analysis::aggregate::Upstream;
use crate::analysis::ats::{Arriving, with_schedulers};
use crate::analysis::flows::Silent;
use crate::analysis::network::kept::Kept;
use crate::analysis::network::memory::Memory;
use crate::analysis::network::reports::Reports;
use crate::analysis::port::{ClassResult, PortResult, analyse};
use crate::curve::{Curve, Data, LONGEST, Ps, Rate};
use crate::model::clocks::Known;
use crate::model::flow_hop::FlowHop;
use crate::model::gate_clock::GateClock;
use crate::model::lists::{self, Later, Wrong};
use crate::model::member_streams::Once;
use crate::model::numbers::{ALL_NUMBERS, Numbers};
use crate::model::processing::Processing;
use crate::reason::Reason;
use crate::report::{Bounds, FlowBounds};
use crate::service::class::Model;
use std::collections::HashMap;
use tsn_plan::Plan;

/// Number of rounds over ports in a cycle after which they count as without a bound.
const MOST_ROUNDS: usize = 400;

/// Of an analysis that repeats: whether this is the last time.
pub(crate) struct Last<'a> {
    /// The first stream whose flows tell.
    pub from: usize,
    /// Whether only what these flows depend on is analysed until they hold. They have one hop each.
    pub alone: bool,
    /// Says it of the flows from that stream on, whose bounds are the sums of their hops.
    pub holds: &'a mut dyn FnMut(&[FlowBounds]) -> Told,
}

/// What is told of the bounds of an analysis that repeats.
pub(crate) enum Told {
    /// What was assumed holds.
    Holds,
    /// It does not hold: the analysis begins with another Plan.
    Fails,
    /// It does not hold: the flows have these jitters.
    Later(Vec<Ps>),
}

/// The state of the analysis.
struct Network<'a> {
    plan: &'a Plan,
    models: Vec<Model<'a>>,
    /// By port whose list changes: the port from each of its lists on, and when that comes into force.
    later: HashMap<usize, Vec<(Ps, Model<'a>)>>,
    hops: Vec<FlowHop>,
    /// By stream, its first hop.
    first: Vec<usize>,
    /// The following hops of each hop.
    next: Vec<Vec<usize>>,
    /// By hop, those of the same frames in further classes; empty without any.
    others: Vec<Vec<usize>>,
    arriving: Arriving,
    results: Vec<PortResult>,
    /// The delay of each hop, from its queue to the last bit out.
    delays: Vec<Result<Ps, Reason>>,
    /// By port, the Plan's taps there.
    taps: HashMap<usize, Vec<usize>>,
    /// Ports in cycles whose analysis did not converge.
    unconverged: Vec<bool>,
    /// Whether what the analysis of a port reads may differ from its last one, but for reasons, which name ports before.
    dirty: Vec<bool>,
    /// The ports that were analysed, or that flows have left.
    touched: Vec<bool>,
    reports: Reports,
    /// Whether there are results of another Plan; and whether ports feed each other in a cycle.
    beside: bool,
    circular: bool,
    memory: Option<&'a Memory>,
    /// By port the number of its content in the memory; none if that is of no use.
    versions: Option<Vec<u64>>,
}

/// The bounds of a checked Plan (see [`tsn_plan::Plan::check`]) in which every talker has a timetable; `last`: none for
/// an analysis that does not repeat. Each burst counts once along a path, but not in what is returned where `last` says no.
/// `memory`: results of earlier analyses.
pub(crate) fn bounds(
    plan: &Plan,
    silent: Silent<'_>,
    last: Option<Last<'_>>,
    memory: Option<&Memory>,
) -> Bounds {
    found(plan, silent, last, memory, Wanted::All)
}

/// The bounds of the flows of some streams, by their numbers, and of all ports: those of [`bounds`] of a Plan without
/// answers, without hops.
pub(crate) fn bounds_of(plan: &Plan, asked: &dyn Fn(u32) -> bool, memory: Option<&Memory>) -> Bounds {
    found(plan, &|_| false, None, memory, Wanted::Of(asked))
}

/// The lower bounds of [`bounds`], and why frames may be dropped: both need no analysis. Upper bounds are none, and hops.
pub(crate) fn lower_bounds(plan: &Plan) -> Bounds {
    found(plan, &|_| false, None, None, Wanted::Lower)
}

/// Which bounds an analysis is asked for.
#[derive(Copy, Clone)]
enum Wanted<'a> {
    All,
    /// Those of the flows of these streams.
    Of(&'a dyn Fn(u32) -> bool),
    /// Those that need no analysis.
    Lower,
}

fn found(
    plan: &Plan,
    silent: Silent<'_>,
    last: Option<Last<'_>>,
    memory: Option<&Memory>,
    wanted: Wanted<'_>,
) -> Bounds {
    let wrong: Vec<Vec<Wrong<'_>>> = (0..plan.ports.len()).map(|port| wrong_lists(plan, port)).collect();
    let versions = memory.and_then(|memory| memory.begin(plan));
    // What repeats begins with other arrivals.
    let memory = memory.filter(|_| versions.is_some());
    let keeps = memory.filter(|_| last.is_none());
    let before = keeps.and_then(Memory::take).zip(versions.as_deref());
    let before = before.and_then(|(kept, versions)| kept.beside(plan, versions));
    let beside = before.is_some();
    let mut kept = before.unwrap_or_else(|| Kept::new(plan, &|port| !wrong[port].is_empty(), silent));
    let flows = std::mem::take(&mut kept.flows);
    let mut models: Vec<Model<'_>> = Vec::with_capacity(plan.ports.len());
    for ((port, gates), flows) in plan.ports.iter().zip(&kept.gates).zip(flows) {
        models.push(Model { flows, ..Model::new(plan, port, gates.clone()) });
    }
    let mut others = Vec::new();
    if !plan.policing.is_empty() {
        others = vec![Vec::new(); kept.hops.len()];
        for (number, hop) in kept.hops.iter().enumerate() {
            hop.of.iter().for_each(|own| others[*own].push(number));
        }
    }
    // A wrong list follows the clock of the node, also where the port has no list of its own.
    for (model, _) in models.iter_mut().zip(&wrong).filter(|(_, wrong)| !wrong.is_empty()) {
        model.clock = GateClock::of(plan, model.port.node);
    }
    let lists_of = |number: usize| {
        let clock = models[number].clock.as_ref();
        Some((number, lists::of(&plan.ports[number], &wrong[number], clock)?))
    };
    let lists: Vec<(usize, Vec<Later>)> = (0..plan.ports.len()).filter_map(lists_of).collect();
    let mut later: HashMap<usize, Vec<(Ps, Model<'_>)>> = HashMap::new();
    for (number, lists) in &lists {
        let models = lists.iter().map(|list| (list.from, models[*number].later(plan, list)));
        later.insert(*number, models.collect());
    }
    let mut taps: HashMap<usize, Vec<usize>> = HashMap::new();
    for (number, tap) in plan.taps.iter().enumerate() {
        taps.entry(tap.port as usize).or_default().push(number);
    }
    let mut network = Network {
        plan,
        taps,
        unconverged: vec![false; models.len()],
        arriving: Arriving::new(plan, &kept.hops),
        later,
        models,
        others,
        results: std::mem::take(&mut kept.results),
        touched: kept.dirty.clone(),
        dirty: std::mem::take(&mut kept.dirty),
        reports: std::mem::take(&mut kept.reports),
        delays: std::mem::take(&mut kept.delays),
        hops: std::mem::take(&mut kept.hops),
        first: std::mem::take(&mut kept.first),
        next: std::mem::take(&mut kept.next),
        beside,
        circular: false,
        versions,
        memory,
    };
    let reason = not_covered(plan);
    let hops = matches!(wanted, Wanted::All);
    let report = |network: &Network<'_>, from: usize, along: Option<Common>| {
        let asked = |stream: usize| match wanted {
            Wanted::Of(asked) => asked(stream as u32),
            Wanted::All | Wanted::Lower => stream >= from,
        };
        let found = network.report(&asked, hops, along);
        match &reason {
            None => found,
            Some(reason) => found.without(reason),
        }
    };
    let sums = match last {
        Some(last) => network.rounds(last, &|network, from| report(network, from, None)),
        None if matches!(wanted, Wanted::Lower) => Some(report(&network, 0, None)),
        None => {
            network.solve();
            None
        }
    };
    // What reaches which port is known without cycles alone.
    let again = sums.is_none() && keeps.is_some() && reason.is_none() && !network.circular;
    let found = match (sums, wanted) {
        (Some(sums), _) => sums,
        (None, Wanted::Of(asked)) if again => network.report_beside(&|stream| asked(stream as u32)),
        (None, _) => {
            network.reports = Reports::default();
            report(&network, 0, Some(Common::default()))
        }
    };
    if let Some(memory) = keeps {
        kept.versions = network.versions.take().unwrap_or_default();
        network.leave(kept).into_iter().for_each(|kept| memory.leave(kept));
    }
    found
}

/// A part of the Plan that these bounds do not cover. Links that lose frames and filters that drop them need no bound
/// of their own.
fn not_covered(plan: &Plan) -> Option<Reason> {
    (plan.clocks.is_some() && Known::of(plan).is_none()).then_some(Reason::Unpromised)
}

impl Network<'_> {
    /// The order of analysis: ports before the ports that they feed; then ports in cycles, and the ports after these.
    fn order(&self) -> (Vec<usize>, Vec<usize>) {
        let mut feeds = vec![Vec::new(); self.models.len()];
        for hop in &self.hops {
            for parent in &hop.parents {
                let fed: &mut Vec<usize> = &mut feeds[self.hops[*parent].port];
                if fed.last() != Some(&hop.port) {
                    fed.push(hop.port);
                }
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
        self.circular = !circle.is_empty();
        if self.circular && self.beside {
            self.forget();
        }
        if !self.beside {
            self.dirty.fill(true);
            self.touched.fill(true);
        }
        for port in order {
            if self.dirty[port] {
                self.touched[port] = true;
                self.pull(port);
                self.analyse(port);
            }
        }
        if circle.is_empty() {
            return;
        }
        // The iteration starts without jitter and only grows: the first state that does not change is a bound.
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
        // A port whose input is that of its last analysis has the same result again.
        self.dirty.fill(true);
        for _ in 0..MOST_ROUNDS {
            let mut rests = true;
            for port in &circle {
                if self.dirty[*port] || self.results[*port].has_reasons() {
                    rests &= !self.analyse(*port);
                }
            }
            if rests {
                return;
            }
        }
        // Without convergence, the arrivals from a port in a cycle are limited by its link alone.
        for port in &circle {
            self.unconverged[*port] = true;
        }
        for hop in 0..self.hops.len() {
            if self.hops[hop].parents.iter().any(|parent| self.unconverged[self.hops[*parent].port]) {
                self.hops[hop].latest = None;
                self.hops[hop].chain = None;
                self.hops[hop].times = self.times(hop, None);
            }
        }
        for port in &circle {
            self.results[*port] = PortResult::default();
        }
        let inputs: Vec<_> = self.hops.iter().map(|hop| (hop.latest, hop.times, hop.chain.clone())).collect();
        for port in &circle {
            self.analyse(*port);
            for (hop, input) in self.hops.iter_mut().zip(&inputs) {
                (hop.latest, hop.times, hop.chain) = input.clone();
            }
        }
    }

    /// Analyses one port and passes the results on; returns whether they changed anything.
    fn analyse(&mut self, port: usize) -> bool {
        let key = self.key_of(port);
        let known = key.and_then(|key| self.remembered(port, key));
        let mut result = match (known, self.not_covered(port)) {
            (Some(result), _) => result,
            (None, Some(reason)) => self.without_bound(port, &reason),
            (None, None) => match self.later.get(&port) {
                Some(models) => self.analyse_later(port, models),
                None => {
                    let result = analyse(&self.models[port], &self.hops, &*self, &[]);
                    key.into_iter().for_each(|key| self.remember(port, key, &result));
                    result
                }
            },
        };
        with_schedulers(&mut result.delays, &self.hops, &self.arriving);
        self.mark_held(port, &mut result);
        self.dirty[port] = false;
        let mut changed = self.results[port] != result;
        let fed: Vec<usize> = self.models[port].flows.iter().flatten().copied().filter(|_| changed).collect();
        for next in fed.iter().flat_map(|hop| &self.next[*hop]) {
            self.dirty[self.hops[*next].port] = true;
        }
        for (hop, delay) in &result.delays {
            self.delays[*hop] = delay.clone();
        }
        let hops: Vec<usize> = result.delays.iter().map(|(hop, _)| *hop).collect();
        self.results[port] = result;
        for hop in hops {
            // Even if the result of this port is unchanged (the link limits its arrivals), frames may now arrive
            // later at the next port.
            changed |= self.pass_on(self.hops[hop].of.unwrap_or(hop));
        }
        changed
    }

    /// Marks queues with frames that are not eligible: they have no bound.
    fn mark_held(&self, port: usize, result: &mut PortResult) {
        for (flows, class) in self.models[port].flows.iter().zip(&mut result.classes) {
            if let Some(class) = class.as_mut().filter(|_| flows.iter().any(|hop| self.hops[*hop].held)) {
                class.backlog = Err(Reason::Held);
            }
        }
    }

    /// A hop of a flow in each of its classes.
    fn in_classes(&self, hop: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::once(hop).chain(self.others.get(hop).into_iter().flatten().copied())
    }

    /// The delay of a hop, from its queue to the last bit out, in whichever class. Frames that are dropped in one of
    /// them have none.
    fn slowest_class(&self, hop: usize) -> Result<Ps, Reason> {
        let fits = self.in_classes(hop).filter(|own| self.hops[*own].sizes.is_some());
        let delays = fits.map(|own| self.delays[own].clone());
        delays.reduce(|a, b| Ok(a?.max(b?))).unwrap_or_else(|| Err(self.hops[hop].dropped()))
    }

    /// Removes the bounds of all flows at a port.
    fn without_bound(&self, port: usize, reason: &Reason) -> PortResult {
        let flows = &self.models[port].flows;
        let class = |hops: &Vec<usize>| {
            (!hops.is_empty()).then(|| ClassResult {
                backlog: Err(reason.clone()),
                shape: None,
                gathered: None,
                until_free: None,
                guaranteed: None,
                priority: None,
                exceeded: Some(reason.clone()),
            })
        };
        PortResult {
            delays: flows.iter().flatten().map(|hop| (*hop, Err(reason.clone()))).collect(),
            classes: flows.iter().map(class).collect(),
            ..PortResult::default()
        }
    }

    /// Passes the latest arrival of a hop's frames on to the next hops, over all paths. Returns whether it changed.
    fn pass_on(&mut self, hop: usize) -> bool {
        let mut changed = false;
        for place in 0..self.next[hop].len() {
            let number = self.next[hop][place];
            let differs = self.arrive(number);
            self.dirty[self.hops[number].port] |= differs;
            changed |= differs;
        }
        changed
    }

    /// Takes the latest arrivals at a port from the ports before, beside results of another Plan.
    fn pull(&mut self, port: usize) {
        for class in 0..self.models[port].flows.len() * usize::from(self.beside) {
            for place in 0..self.models[port].flows[class].len() {
                let hop = self.models[port].flows[class][place];
                if !self.hops[hop].parents.is_empty() {
                    self.arrive(hop);
                }
            }
        }
    }

    /// The latest arrival of frames at a hop, from all hops before. Returns whether it changed.
    fn arrive(&mut self, number: usize) -> bool {
        let latest = self.latest(number);
        let found = (latest, self.times(number, latest));
        let next = &mut self.hops[number];
        let mut differs = found != (next.latest, next.times);
        (next.latest, next.times) = found;
        let chain = self.chain(number);
        differs |= chain != self.hops[number].chain;
        self.hops[number].chain = chain;
        differs
    }

    fn latest(&self, hop: usize) -> Option<Ps> {
        let processing = self.until_queued(hop);
        let by = |parent: &usize| {
            let late = self.hops[*parent].latest?.checked_add(self.slowest_class(*parent).ok()?)?;
            let mut late = late.checked_add(self.on_link(self.hops[*parent].port))?;
            if let Some((since, longest)) = self.since_turn(*parent) {
                late = late.min(self.arrival(since)?.checked_add(longest)?);
            }
            let late = late.checked_add(processing)?;
            (late <= LONGEST).then_some(late)
        };
        self.hops[hop].parents.iter().map(by).try_fold(0, |most, late| Some(most.max(late?)))
    }

    /// Greatest time from the nominal release until the last bit of a frame arrives before a hop.
    fn arrival(&self, hop: usize) -> Option<Ps> {
        Some(self.hops[hop].latest? - self.until_queued(hop))
    }

    /// How often the same frame may arrive at a hop, if frames arrive until `latest`.
    fn times(&self, hop: usize, latest: Option<Ps>) -> u32 {
        let spread = latest.map(|latest| latest - self.hops[hop].earliest);
        self.passes(self.hops[hop].once, &self.hops[hop].parents, spread)
    }

    /// How often the same frame may pass where paths of a stream merge, if all copies arrive within `spread`.
    fn passes(&self, once: Once, parents: &[usize], spread: Option<Ps>) -> u32 {
        let again = |port| self.plan.faults.iter().any(|fault| repeats(fault, port).is_some());
        let times = || {
            let before = parents.iter().map(|parent| &self.hops[*parent]);
            before.map(|hop| hop.times.saturating_mul(if again(hop.port) { 2 } else { 1 }))
        };
        match (once, spread) {
            // As long as sequence recovery remembers a number, no frame passes twice.
            (Once::Recovery { memory, history }, Some(spread))
                if spread < memory && self.is_unique(parents[0], spread, history) =>
            {
                1
            }
            (Once::OneWay, _) => times().max().unwrap_or(1),
            _ => times().fold(0, u32::saturating_add).max(1),
        }
    }

    /// Whether no number repeats while copies of a frame are on their paths.
    fn is_unique(&self, hop: usize, spread: Ps, history: u32) -> bool {
        self.numbers(self.hops[hop].stream)
            .is_some_and(|numbers| numbers.within(spread) + Data::from(history) <= ALL_NUMBERS)
    }

    /// The sequence numbers of a stream.
    fn numbers(&self, stream: usize) -> Option<Numbers> {
        Numbers::of(self.plan, &self.plan.streams[stream], &self.hops[self.first[stream]])
    }

    /// The greatest time from the last bit of a frame in until it is in the queue of a hop; below zero if the node has
    /// forwarded it before.
    fn until_queued(&self, hop: usize) -> Ps {
        self.processing(self.hops[hop].port).most - self.hops[hop].early
    }

    /// The first port on a flow's path that gives it no bound.
    fn unbounded_before(&self, hop: &FlowHop, depth: usize) -> Option<Reason> {
        // Merging paths may form a cycle.
        let parents = if depth > self.hops.len() { &[][..] } else { &hop.parents[..] };
        let late =
            |parent: &&usize| self.hops[**parent].latest.is_none() || self.slowest_class(**parent).is_err();
        let before = *parents.iter().find(late)?;
        let earlier = self.unbounded_before(&self.hops[before], depth + 1);
        earlier.or_else(|| {
            let why = match self.slowest_class(before) {
                Err(Reason::Behind { why, .. }) => return Some(*why),
                Err(why) => why,
                Ok(_) if self.unconverged[self.hops[before].port] => Reason::Circle,
                Ok(_) => return None,
            };
            let port = self.models[self.hops[before].port].port.name.clone();
            Some(Reason::At { port, why: Box::new(why) })
        })
    }

    /// The processing time of frames before they are in the queue of a port.
    fn processing(&self, port: usize) -> Processing {
        Processing::of(&self.plan.nodes[self.models[port].port.node as usize])
    }

    fn propagation(&self, port: usize) -> Ps {
        Ps::try_from(self.models[port].port.propagation_ps).unwrap_or(LONGEST)
    }
}

impl Upstream for Network<'_> {
    fn shaper(&self, hop: &FlowHop) -> Option<Curve> {
        let before = &self.hops[hop.only_parent()?];
        if before.classes != 1 << before.class {
            return None;
        }
        let shape =
            self.results[before.port].classes.get(usize::from(before.class))?.as_ref()?.shape.as_ref()?;
        Some(shape.ahead(hop.closer))
    }

    fn line(&self, hop: &FlowHop, classes: u8, largest: Data) -> Option<Curve> {
        let before = &self.models[self.hops[hop.only_parent()?].port];
        let rate = Rate::try_from(before.port.rate_bps).ok()?;
        let slack = if before.rounded() { Data::from(rate) } else { 0 };
        // An interrupted frame and the frame that interrupts it may end at nearly the same time: two frames then
        // count at once. Two express frames never do this, and neither do two preemptable ones.
        let express = before.port.preemption.as_ref().map_or(u8::MAX, |own| own.express);
        let mixed = classes & express != 0 && classes & !express != 0;
        let ending = if mixed { 2 * largest } else { largest };
        Some(Curve::affine(ending + slack, rate).ahead(hop.closer))
    }

    fn before(&self, hop: &FlowHop) -> Option<(usize, u8)> {
        let moved =
            |parent: usize| self.plan.faults.iter().any(|fault| moves_frames(fault, self.hops[parent].port));
        if hop.only_parent().is_some_and(moved) {
            return None;
        }
        // A frame after an ATS scheduler counts from its eligibility time, not from its arrival.
        if hop.held {
            return None;
        }
        let before = &self.hops[hop.only_parent()?];
        // Frames that get a tag here are longer than on the previous link.
        let came = self.in_classes(hop.only_parent()?).find_map(|before| self.hops[before].sizes);
        let grows = hop.sizes.zip(came).is_some_and(|(own, before)| own.smallest > before.smallest);
        (!grows).then_some((before.port, before.classes))
    }

    fn over_one_link(&self, model: &Model<'_>) -> bool {
        let port = model.port;
        let flows = || model.flows.iter().flatten().map(|hop| &self.hops[*hop]);
        let from = |hop: &FlowHop| self.before(hop).filter(|_| hop.closer == 0).map(|(port, _)| port);
        let Some(one) = flows().next().and_then(from) else { return false };
        let link = &self.models[one];
        let whole = |of: &Model<'_>| !of.rounded() && of.port.preemption.is_none() && of.server.is_none();
        let at_once = port.gates.is_none()
            && port.transmit_buffer.is_none()
            && port.classes.iter().all(|class| class.cbs.is_none())
            && self.plan.nodes[port.node as usize].host.is_none();
        // A fault may keep frames back until several wait.
        at_once
            && self.plan.faults.is_empty()
            && whole(model)
            && whole(link)
            && link.port.rate_bps <= port.rate_bps
            && flows().all(|hop| from(hop) == Some(one))
    }

    fn unbounded(&self, hop: &FlowHop) -> Reason {
        let stream = self.plan.streams[hop.stream].name.clone();
        match self.unbounded_before(hop, 0) {
            Some(why) if hop.period.is_some() => Reason::Behind { stream, why: Box::new(why) },
            _ => Reason::UnboundedArrivals { stream },
        }
    }
}
