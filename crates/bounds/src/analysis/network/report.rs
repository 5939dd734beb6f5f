//! The results of the analysis: bounds of flows along their slowest paths, and of the classes of ports.

use super::Network;
use super::along::Common;
use crate::analysis::delivery::{Arrival, Delivery};
use crate::analysis::flows::first_link;
use crate::analysis::loss::{self, Causes};
use crate::analysis::port::ClassResult;
use crate::analysis::survival::survives;
use crate::curve::{BIT, Data, LONGEST, Ps};
use crate::model::clocks::between_stamps;
use crate::model::member_streams::{Once, entries_with, once};
use crate::model::sizes::{until_last_bit, wire};
use crate::model::software::{least_after_send, receiving};
use crate::reason::Reason;
use crate::report::{Bounds, ClassBounds, FORMAT, FlowBounds, HopBounds, PortBounds};
use crate::service::preemption::is_express;
use std::cell::LazyCell;
use std::collections::HashMap;
use tsn_plan::{Destination, Fault, Point, Stage, Stream};
use tsn_units::PHY_OVERHEAD;

/// A path: its delay, none without a bound, and its hops.
type Found = (Option<Ps>, Vec<usize>);

/// The slowest paths of a stream.
struct Slowest<'a> {
    /// Including the talker's own port.
    from_release: bool,
    /// To the end of a hop, as sums since paths merged last.
    until: HashMap<usize, Found>,
    /// To the node before a hop at which paths merge.
    merged: HashMap<usize, Found>,
    /// None, if the sum of the hops is enough.
    along: Option<&'a mut Common>,
}

impl Network<'_> {
    /// The slowest path from the talker to a listener; `from_release`: including the talker's own port.
    fn slowest_path(
        &self,
        first: usize,
        (stream, listener): (&Stream, &Destination),
        from_release: bool,
        along: Option<&mut Common>,
    ) -> Found {
        let ends = entries_with(stream, listener.route);
        let ends: Vec<usize> = ends.iter().map(|end| first + *end as usize).collect();
        self.slowest_of(
            &ends,
            &mut Slowest { from_release, until: HashMap::new(), merged: HashMap::new(), along },
        )
    }

    /// The slowest path to the end of any of several hops. Which path is the slowest one may depend on whether bursts
    /// count once, so the delays are compared after that.
    fn slowest_of(&self, ends: &[usize], known: &mut Slowest<'_>) -> Found {
        let to = |end: &usize| {
            let (sum, path) = self.slowest(*end, known);
            (sum.into_iter().chain(self.since_merge(*end, known)).min(), path)
        };
        ends.iter().map(to).reduce(slower).unwrap_or_default()
    }

    /// The slowest path to the node before a hop at which paths merge.
    fn merged(&self, hop: usize, known: &mut Slowest<'_>) -> Found {
        if let Some(found) = known.merged.get(&hop) {
            return found.clone();
        }
        // A path in a circle comes here again, and has no bound.
        known.merged.insert(hop, (None, Vec::new()));
        let found = self.slowest_of(&self.hops[hop].parents, known);
        known.merged.insert(hop, found.clone());
        found
    }

    /// The slowest path to the end of a hop, by the sum of its hops since paths merged last.
    fn slowest(&self, hop: usize, known: &mut Slowest<'_>) -> Found {
        if let Some(found) = known.until.get(&hop) {
            return found.clone();
        }
        let own = self.delay(hop).ok();
        let found = if self.hops[hop].parents.is_empty() {
            (if known.from_release { own } else { Some(0) }, vec![hop])
        } else {
            let parent = self.hops[hop].only_parent();
            let before = parent.map(|parent| self.slowest(parent, known));
            let (delay, mut path) = before.unwrap_or_else(|| self.merged(hop, known));
            let processing = self.until_queued(hop);
            path.push(hop);
            let sum = || delay?.checked_add(own?)?.checked_add(processing);
            let in_turns = self.since_turn(hop).and_then(|(since, longest)| {
                let before = self.hops[since].only_parent()?;
                self.slowest(before, known).0?.checked_add(longest)
            });
            (sum().into_iter().chain(in_turns).min(), path)
        };
        known.until.insert(hop, found.clone());
        found
    }

    /// The greatest delay to the end of a hop, with all hops since paths merged last as a whole.
    fn since_merge(&self, end: usize, known: &mut Slowest<'_>) -> Option<Ps> {
        known.along.as_ref()?;
        let before = |hop: &usize| self.hops[*hop].only_parent();
        let mut part: Vec<usize> = std::iter::successors(Some(end), before).collect();
        part.reverse();
        if !self.hops[part[0]].parents.is_empty() {
            let before = self.merged(part[0], known).0?.checked_add(self.until_queued(part[0]))?;
            return before.checked_add(self.along(&part, known.along.as_deref_mut()?)?);
        }
        let first = self.delay(part[0]).ok().filter(|_| known.from_release);
        let along = known.along.as_deref_mut()?;
        let mut along = |part: &[usize]| self.along(part, along);
        let rest = part.get(1).map(|hop| Some(along(&part[1..])? + self.until_queued(*hop)));
        let rest = rest.unwrap_or(Some(0));
        if !known.from_release {
            return rest;
        }
        first.zip(rest).map(|(first, rest)| first + rest).into_iter().chain(along(&part)).min()
    }

    /// The delay of a hop to the last bit at the other end.
    pub(super) fn delay(&self, hop: usize) -> Result<Ps, Reason> {
        let port = self.hops[hop].port;
        let delay = self.slowest_class(hop);
        if self.unconverged[port]
            && !matches!(delay, Err(Reason::Dropped | Reason::OverMaxSdu))
            && self.hops[hop].latest.is_none()
        {
            return delay.map_err(|_| Reason::Circle).map(|delay| delay.saturating_add(self.on_link(port)));
        }
        delay.map(|delay| delay.saturating_add(self.on_link(port)))
    }

    /// The bounds of all ports, and of the flows of the streams that are asked for, with their `hops` or without.
    pub(super) fn report(
        &self,
        asked: &dyn Fn(usize) -> bool,
        hops: bool,
        mut along: Option<Common>,
    ) -> Bounds {
        let (ports, mut flows) = (self.ports(), Vec::new());
        for number in (0..self.plan.streams.len()).filter(|number| asked(*number)) {
            self.report_stream(number, &ports, hops, along.as_mut(), &mut flows);
        }
        self.bounds_of(flows, ports)
    }

    /// The bounds of the classes of all ports.
    pub(super) fn ports(&self) -> Vec<Option<PortBounds>> {
        (0..self.models.len()).map(|port| self.port(port)).collect()
    }

    pub(super) fn bounds_of(&self, flows: Vec<FlowBounds>, ports: Vec<Option<PortBounds>>) -> Bounds {
        let ports = ports.into_iter().flatten().collect();
        Bounds { format: FORMAT, plan: self.plan.hash.clone(), clocks_within_ns: None, flows, ports }
    }

    /// Adds the bounds of the flows of a stream.
    pub(super) fn report_stream(
        &self,
        number: usize,
        ports: &[Option<PortBounds>],
        hops: bool,
        mut along: Option<&mut Common>,
        flows: &mut Vec<FlowBounds>,
    ) {
        let (stream, first) = (&self.plan.streams[number], self.first[number]);
        let delivery = self.delivery(first, stream, ports, Causes { outages: true, queues: true });
        let required = &stream.requirements.survives;
        let but = |outages, queues| self.delivery(first, stream, ports, Causes { outages, queues });
        let intact = (!required.is_empty()).then(|| but(false, true));
        let few = LazyCell::new(|| but(true, false));
        let nowhere = vec![false; stream.route.len()];
        for listener in &stream.listeners {
            let mut flow = self.flow(first, stream, listener, &delivery, hops, along.as_deref_mut());
            let of = |intact| required.iter().map(move |kind| survives(intact, listener, kind));
            flow.survives = intact.iter().flat_map(of).collect();
            flow.drop_reason = flow.loss_reason.as_ref().and_then(|_| few.lost(listener.route, &nowhere));
            flows.push(flow);
        }
    }

    /// The point and the tick of the stamps of a port's tap; `usual`: without such a tap.
    pub(super) fn tap(&self, port: usize, stage: Stage, usual: Point) -> (Point, Ps) {
        let of_port = self.taps.get(&port).into_iter().flatten();
        let found = of_port.map(|tap| &self.plan.taps[*tap]).find(|tap| tap.stage == stage);
        found.map_or((usual, 1), |tap| (tap.point, Ps::from(tap.granularity_ns)))
    }

    /// The paths of a stream whose first hop is `begin`: when its frames arrive at the end of each, and what may lose
    /// them, by these causes.
    fn delivery<'a>(
        &'a self,
        begin: usize,
        stream: &'a Stream,
        ports: &[Option<PortBounds>],
        causes: Causes,
    ) -> Delivery<'a> {
        let arrival = |place: usize| {
            let hop = &self.hops[begin + place];
            let classes = ports[hop.port].as_ref().map(|port| &port.classes[..]).unwrap_or_default();
            let lost = |hop: usize| {
                let hop = &self.hops[hop];
                let queue = classes.iter().find(|queue| queue.class == hop.class);
                loss::at(self.plan, stream, place, hop, queue, causes)
            };
            Arrival {
                earliest: if hop.babbles.is_empty() { hop.ends.0 } else { hop.ends.1 },
                latest: self.latest_out(begin + place),
                lost: self.in_classes(begin + place).find_map(lost),
            }
        };
        Delivery {
            plan: self.plan,
            stream,
            numbers: self.numbers(self.hops[begin].stream),
            arrivals: (0..stream.route.len()).map(arrival).collect(),
        }
    }

    /// How often the same frame may arrive at a listener of a stream; none for a stream with one path, or if a fault
    /// duplicates frames.
    fn most_arrivals(&self, begin: usize, delivery: &Delivery<'_>, listener: &Destination) -> Option<u32> {
        delivery.stream.redundancy.as_ref()?;
        let repeats = |fault: &Fault| {
            let mut ports = delivery.stream.route.iter().map(|hop| hop.port);
            matches!(fault, Fault::Duplicate { port, .. } if ports.any(|own| own == *port))
        };
        if self.plan.faults.iter().any(repeats) {
            return None;
        }
        let ends = entries_with(delivery.stream, listener.route);
        let parents: Vec<usize> = ends.iter().map(|end| begin + *end as usize).collect();
        let arrivals = || ends.iter().map(|end| &delivery.arrivals[*end as usize]);
        let last =
            arrivals().try_fold(Ps::MIN, |most, arrival| Some(most.max(*arrival.latest.as_ref().ok()?)));
        let first = arrivals().map(|arrival| arrival.earliest).min()?;
        // A frame that a filter at the listener drops has arrived, and recovery does not know it.
        let filtered = |hop: &usize| {
            let hop = &self.hops[*hop];
            loss::filtered(self.plan, hop, hop.sizes.map_or(0, |sizes| sizes.largest))
        };
        let once = once(self.plan, delivery.stream, &ends);
        let once = if parents.iter().any(filtered) { Once::No } else { once };
        Some(self.passes(once, &parents, last.map(|last| last - first)))
    }

    /// Greatest time from the nominal release to the last bit at the end of a hop, or the port without a bound.
    fn latest_out(&self, hop: usize) -> Result<Ps, Reason> {
        let mut at = hop;
        for _ in 0..self.hops.len() {
            if let Err(why) = self.delay(at) {
                let port = self.models[self.hops[at].port].port.name.clone();
                return Err(Reason::At { port, why: Box::new(why) });
            }
            let late =
                |parent: &&usize| self.hops[**parent].latest.is_none() || self.delay(**parent).is_err();
            let Some(parent) = self.hops[at].parents.iter().find(late) else { break };
            at = *parent;
        }
        let latest = self.hops[hop].latest.zip(self.delay(hop).ok());
        let in_turns =
            self.since_turn(hop).and_then(|(since, longest)| self.arrival(since)?.checked_add(longest));
        let stream = || self.plan.streams[self.hops[hop].stream].name.clone();
        latest
            .and_then(|(latest, delay)| latest.checked_add(delay))
            .map(|latest| in_turns.map_or(latest, |in_turns| in_turns.min(latest)))
            .ok_or_else(|| Reason::UnboundedArrivals { stream: stream() })
    }

    /// The bounds of one flow to one listener.
    fn flow(
        &self,
        begin: usize,
        stream: &Stream,
        listener: &Destination,
        delivery: &Delivery<'_>,
        with_hops: bool,
        mut known: Option<&mut Common>,
    ) -> FlowBounds {
        let hops_of_stream = &self.hops[begin..begin + stream.route.len()];
        let roots = || hops_of_stream.iter().filter(|hop| hop.parents.is_empty());
        // The timestamps of a talker's several ports are all at the talker: delays then count from the release.
        let one_root = roots().count() == 1;
        let software = roots().find_map(|hop| hop.software.as_ref().ok().copied()).unwrap_or_default();
        let sent = (software.most < LONGEST).then_some(software.most);
        let to = (stream, listener);
        let (released, path) = self.slowest_path(begin, to, true, known.as_deref_mut());
        // From the first link on.
        let (rest, path) = if one_root { self.slowest_path(begin, to, false, known) } else { (None, path) };
        let path = &path[..];
        let name = |port: usize| self.models[port].port.name.clone();
        let (first, last) = (self.hops[path[0]].port, self.hops[path[path.len() - 1]].port);
        let (tx_point, tx_tick) = self.tap(first, Stage::Tx, Point::Start);
        let (rx_point, rx_tick) = self.tap(self.models[last].port.peer as usize, Stage::Rx, Point::End);
        // The time of the octets after the receiver's timestamp point, which the measured delay does not contain.
        let unstamped = |octets: u32| match rx_point {
            Point::End => 0,
            Point::Start => {
                until_last_bit(octets, self.models[last].port) - until_last_bit(0, self.models[last].port)
            }
        };
        let start = tx_point == Point::Start;
        let sizes = crate::model::sizes::Sizes::of(&stream.size, 0);
        let on_first = |octets: u32| first_link(octets, self.models[first].port, start);
        let (lower_ps, release_lower_ps) = if stream.redundancy.is_none() {
            let released = self.hops[path[path.len() - 1]].ends.1;
            let stamped = on_first(sizes.smallest) - self.hops[path[0]].shortest - unstamped(sizes.smallest);
            (released + stamped, released)
        } else {
            // The lower bound is that of the fastest path.
            let by = |end: &u32| {
                let hop = &self.hops[begin + *end as usize];
                let unstamped = hop.sizes.map_or(0, |sizes| unstamped(sizes.smallest));
                (hop.ends.1, hop.ends.1 - unstamped)
            };
            let ends = entries_with(stream, listener.route);
            let (released, stamped) =
                ends.iter().map(by).fold((LONGEST, LONGEST), |a, b| (a.0.min(b.0), a.1.min(b.1)));
            let first = &self.hops[path[0]];
            let waited = if one_root { first.shortest - on_first(sizes.smallest) } else { stamped };
            (stamped - waited, released)
        };
        let reason = |path: &[usize]| {
            path.iter().find_map(|hop| match self.delay(*hop) {
                Err(reason) if path.len() > 1 => Some(match reason {
                    Reason::Dropped | Reason::Circle => reason,
                    _ => Reason::At { port: name(self.hops[*hop].port), why: Box::new(reason) },
                }),
                other => other.err(),
            })
        };
        let busy = || {
            let why = roots().find_map(|hop| hop.software.clone().err()).map(|own| *own);
            sent.is_none().then(|| why.unwrap_or_else(|| Reason::Busy { stream: stream.name.clone() }))
        };
        let largest = self.hops[path[0]].sizes.map_or(sizes.largest, |sizes| sizes.largest);
        let dropped = path.iter().any(|hop| self.in_classes(*hop).all(|own| self.hops[own].sizes.is_none()));
        let cut = !is_express(self.models[first].port.preemption.as_ref(), self.hops[path[0]].class);
        let late = self.on_link(first) - self.propagation(first);
        let on_first_at_most = || match self.results[first].passing.iter().find(|(hop, _)| *hop == path[0]) {
            // The analysis does not say for how long express frames interrupt it.
            None if cut && self.not_covered(first).is_some() => None,
            None => Some(on_first(largest).saturating_add(late)),
            Some(_) if !start => Some(self.on_link(first)),
            Some((_, passing)) => {
                let after_stamp = passing.as_ref().ok()? - until_last_bit(0, self.models[first].port);
                Some(after_stamp.saturating_add(self.on_link(first)))
            }
        };
        // After a scheduler, the first link's part includes the wait for it; that wait counts from the release.
        let shaped = hops_of_stream.iter().any(|hop| hop.held && hop.parents.contains(&path[0]));
        let upper_ps = if self.disturbed(first) {
            None
        } else if one_root && shaped {
            let stamped = until_last_bit(if start { 0 } else { sizes.smallest }, self.models[first].port);
            released.filter(|_| !dropped).map(|delay| delay - stamped - unstamped(sizes.smallest))
        } else if one_root {
            rest.filter(|_| !dropped)
                .and_then(|rest| Some(on_first_at_most()? + rest - unstamped(sizes.smallest)))
        } else {
            // Each copy passes the software for itself before it gets its first stamp.
            let apart = sent.map(|most| most - software.least);
            let all = released.filter(|_| !dropped);
            all.zip(apart).map(|(all, apart)| all + apart - unstamped(sizes.smallest))
        };
        let hops = path.iter().filter(|_| with_hops).map(|hop| {
            let upper = self.delay(*hop);
            HopBounds {
                port: name(self.hops[*hop].port),
                class: self.hops[*hop].class,
                lower_ps: self.hops[*hop].shortest,
                upper_ps: upper.as_ref().ok().copied(),
                reason: upper.err(),
            }
        });
        // A plan without clocks has one time, and no delay below zero.
        let nodes = [stream.talker, listener.node];
        let floor = if self.plan.clocks.is_some() { i64::MIN } else { 0 };
        let passing = [path[0], path[path.len() - 1]].map(|hop| {
            let port = self.hops[hop].port;
            let largest = self.hops[hop].sizes.map_or(largest, |sizes| sizes.largest);
            until_last_bit(largest, self.models[port].port).saturating_add(self.propagation(port))
        });
        let between = |delay| between_stamps(self.plan, nodes, passing, delay);
        let lower_ps = lower_ps.saturating_add(between(lower_ps).0);
        let upper_ps = upper_ps.map(|upper| upper.saturating_add(between(upper).1));
        FlowBounds {
            stream: stream.name.clone(),
            group: stream.group.clone(),
            listener: self.plan.nodes[listener.node as usize].name.clone(),
            upper_ns: upper_ps.map(|ps| (ps + 999).div_euclid(1_000) + tx_tick - 1),
            lower_ns: (lower_ps.div_euclid(1_000) - rx_tick + 1).max(floor),
            upper_ps,
            lower_ps,
            release_upper_ps: released.zip(sent).map(|(delay, sent)| delay.saturating_add(sent)),
            release_lower_ps: release_lower_ps.saturating_add(least_after_send(self.plan, stream)),
            program_ps: self.plan.nodes[listener.node as usize]
                .host
                .as_deref()
                .map_or(0, |host| receiving(host).most),
            reason: if upper_ps.is_some() {
                None
            } else {
                reason(&path[1..]).or_else(|| reason(path)).or_else(busy)
            },
            release_reason: reason(path).or_else(busy),
            drop_reason: None,
            loss_reason: delivery.lost(listener.route, &vec![false; stream.route.len()]),
            most_arrivals: self.most_arrivals(begin, delivery, listener),
            survives: Vec::new(),
            hops: hops.collect(),
        }
    }

    /// The bounds of the classes of one port.
    fn port(&self, number: usize) -> Option<PortBounds> {
        let (model, result) = (&self.models[number], &self.results[number]);
        let classes: Vec<ClassBounds> = result
            .classes
            .iter()
            .enumerate()
            .filter_map(|(class, outcome)| {
                let ClassResult { backlog, gathered, exceeded, .. } = outcome.as_ref()?;
                let limits = &model.port.classes[class];
                let sizes = || model.flows[class].iter().filter_map(|hop| self.hops[*hop].sizes);
                let smallest = sizes().map(|sizes| sizes.smallest).min()?;
                let largest = Data::from(sizes().map(|sizes| sizes.largest).max()?);
                // The largest share of a frame that is not overhead.
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
                    exceeded: exceeded.clone(),
                })
            })
            .collect();
        (!classes.is_empty()).then(|| PortBounds { port: model.port.name.clone(), classes })
    }
}

/// The slower one of two paths; the first among equals.
fn slower(a: Found, b: Found) -> Found {
    let longer = a.0.is_some() && b.0.is_none_or(|b| a.0.is_some_and(|a| b > a));
    if longer { b } else { a }
}
