//! What an analysis leaves to the next one, which then analyses only ports whose input differs.
//!
//! Without cycles, each port is analysed once, after the ports before it: where all that its analysis reads is as it was,
//! so is its result. So nothing is kept of networks with cycles, where the analysis begins from nothing and repeats.

use super::Network;
use super::reports::{Reports, keep};
use crate::analysis::flows::{Flows, Silent, flow_hops};
use crate::analysis::port::PortResult;
use crate::curve::Ps;
use crate::model::flow_hop::FlowHop;
use crate::model::openings::{Openings, covered};
use crate::reason::Reason;
use tsn_plan::{Plan, Stream};

/// By class, when the gate of a port is open.
pub(crate) type Gates = Vec<Option<Openings>>;

/// The state of an analysis.
#[derive(Debug)]
pub(crate) struct Kept {
    /// The streams, and by port the number of its content; both empty if nothing is kept.
    pub streams: Vec<Stream>,
    pub versions: Vec<u64>,
    pub gates: Vec<Gates>,
    pub hops: Vec<FlowHop>,
    pub first: Vec<usize>,
    pub next: Vec<Vec<usize>>,
    /// By port and class, the hops there.
    pub flows: Vec<Vec<Vec<usize>>>,
    pub delays: Vec<Result<Ps, Reason>>,
    pub results: Vec<PortResult>,
    /// Ports whose input may differ.
    pub dirty: Vec<bool>,
    pub reports: Reports,
}

impl Kept {
    /// The state before an analysis. A port with a wrong list at times is not assumed to delay any frame.
    pub fn new(plan: &Plan, wrong: &dyn Fn(usize) -> bool, silent: Silent<'_>) -> Self {
        let ports = plan.ports.iter().enumerate();
        let of = |(number, port): (usize, &tsn_plan::Port)| {
            Openings::of_all(covered(port).filter(|_| !wrong(number)), port.classes.len())
        };
        let gates: Vec<Gates> = ports.map(of).collect();
        let (hops, first) = flow_hops(plan, &gates, silent);
        let mut found = Self {
            streams: Vec::new(),
            versions: Vec::new(),
            gates,
            next: Vec::with_capacity(hops.len()),
            first,
            flows: plan.ports.iter().map(|port| vec![Vec::new(); port.classes.len()]).collect(),
            delays: Vec::with_capacity(hops.len()),
            results: vec![PortResult::default(); plan.ports.len()],
            dirty: vec![true; plan.ports.len()],
            reports: Reports::default(),
            hops,
        };
        found.link();
        found
    }

    /// Links the hops that are new.
    fn link(&mut self) {
        let new = self.next.len()..self.hops.len();
        self.next.resize(self.hops.len(), Vec::new());
        self.delays.resize(self.hops.len(), Err(Reason::TooLarge));
        for number in new {
            let hop = &self.hops[number];
            self.flows[hop.port][usize::from(hop.class)].push(number);
            hop.parents.iter().for_each(|parent| self.next[*parent].push(number));
            self.dirty[hop.port] = true;
        }
    }

    /// The state before an analysis of another Plan; `versions`: by port the number of its content. None if that may
    /// depend on more.
    pub fn beside(mut self, plan: &Plan, versions: &[u64]) -> Option<Self> {
        let alike = versions.len() == self.versions.len()
            && plan.ports.iter().zip(&self.flows).all(|(port, flows)| port.classes.len() == flows.len());
        if !alike || plan.nodes.iter().any(|node| node.cut_through_octets.is_some()) {
            return None;
        }
        self.remove(plan);
        let differs: Vec<bool> = versions.iter().zip(&self.versions).map(|(own, was)| own != was).collect();
        self.versions = versions.to_vec();
        for port in (0..versions.len()).filter(|port| differs[*port]) {
            self.dirty[port] = true;
            let own = &plan.ports[port];
            self.gates[port] = Openings::of_all(covered(own), own.classes.len());
            // What limits the frames of a link is read where they arrive.
            for next in self.flows[port].iter().flatten().flat_map(|hop| &self.next[*hop]) {
                self.dirty[self.hops[*next].port] = true;
            }
        }
        let gates = std::mem::take(&mut self.gates);
        let flows = Flows::of(plan, &gates, &|_| false);
        let mut further = Vec::new();
        for number in 0..self.streams.len() {
            let stream = &plan.streams[number];
            if stream.route.iter().chain(&stream.flood).any(|hop| differs[hop.port as usize]) {
                self.renew(number, &flows, &mut further)?;
            }
        }
        for number in self.streams.len()..plan.streams.len() {
            self.first.push(self.hops.len());
            flows.add(number, &mut self.hops, &mut further);
        }
        self.gates = gates;
        self.link();
        // Reasons name ports before.
        for (dirty, result) in self.dirty.iter_mut().zip(&self.results) {
            *dirty |= result.has_reasons();
        }
        further.is_empty().then_some(self)
    }

    /// The hops of a stream at ports that differ; none if a class is another one.
    fn renew(&mut self, number: usize, flows: &Flows<'_>, further: &mut Vec<FlowHop>) -> Option<()> {
        let (first, mut own) = (self.first[number], Vec::new());
        flows.add(number, &mut own, further);
        for (mut hop, was) in own.into_iter().zip(&mut self.hops[first..]) {
            hop.parents.iter_mut().for_each(|parent| *parent += first);
            // When frames arrive is passed on by the analysis.
            if !hop.parents.is_empty() {
                (hop.latest, hop.times, hop.chain) = (was.latest, was.times, was.chain.take());
            }
            if hop.class != was.class {
                return None;
            }
            self.dirty[hop.port] |= hop != *was;
            *was = hop;
        }
        Some(())
    }

    /// Removes the streams that are not in a Plan. What is left are its first streams.
    fn remove(&mut self, plan: &Plan) {
        let mut stay = plan.streams.iter().peekable();
        let left: Vec<bool> =
            self.streams.iter().map(|own| stay.next_if(|other| *other == own).is_none()).collect();
        if !left.contains(&true) {
            return;
        }
        let ends = self.first.iter().skip(1).copied().chain([self.hops.len()]);
        let mut places: Vec<Option<usize>> = Vec::with_capacity(self.hops.len());
        let (mut first, mut count) = (Vec::new(), 0);
        for ((begin, end), left) in self.first.iter().zip(ends).zip(&left) {
            if *left {
                places.resize(end, None);
                continue;
            }
            first.push(count);
            places.extend((0..end - begin).map(|hop| Some(count + hop)));
            count += end - begin;
        }
        let place = |hop: &usize| places[*hop];
        for (hop, _) in self.hops.iter().zip(&places).filter(|(_, place)| place.is_none()) {
            self.dirty[hop.port] = true;
        }
        self.first = first;
        self.reports.remove(&left);
        keep(&mut self.streams, left.iter().map(|left| !left));
        keep(&mut self.hops, places.iter().map(Option::is_some));
        keep(&mut self.next, places.iter().map(Option::is_some));
        keep(&mut self.delays, places.iter().map(Option::is_some));
        for next in &mut self.next {
            *next = next.iter().filter_map(place).collect();
        }
        for (number, first) in self.first.iter().enumerate() {
            let end = self.first.get(number + 1).copied().unwrap_or(count);
            for hop in &mut self.hops[*first..end] {
                hop.stream = number;
                hop.parents.iter_mut().for_each(|parent| *parent = places[*parent].unwrap_or_default());
            }
        }
        for flows in self.flows.iter_mut().flatten() {
            *flows = flows.iter().filter_map(place).collect();
        }
        for (result, dirty) in self.results.iter_mut().zip(&mut self.dirty) {
            match std::mem::take(result).renumbered(|hop| places[hop]) {
                Some(own) => *result = own,
                None => *dirty = true,
            }
        }
    }
}

impl Network<'_> {
    /// The state before an analysis from nothing.
    pub(super) fn forget(&mut self) {
        for hop in self.hops.iter_mut().filter(|hop| !hop.parents.is_empty()) {
            (hop.latest, hop.times, hop.chain) = (None, 1, None);
        }
        self.results.fill(PortResult::default());
        self.delays.fill(Err(Reason::TooLarge));
        self.dirty.fill(true);
    }

    /// What is left to the next analysis; `kept`: the streams before, and the versions and gates of ports.
    pub(super) fn leave(self, mut kept: Kept) -> Option<Kept> {
        kept.streams.extend(self.plan.streams[kept.streams.len()..].iter().cloned());
        let flows = self.models.into_iter().map(|model| model.flows).collect();
        let Self { hops, first, next, delays, results, dirty, reports, .. } = self;
        let own = Kept { hops, first, next, flows, delays, results, dirty, reports, ..kept };
        (!self.circular).then_some(own)
    }
}
