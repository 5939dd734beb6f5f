//! What a worst case is made of: the same analysis without one cause after the other.
//!
//! The bound of a flow falls when streams of lower classes send nothing, falls again without those of higher classes,
//! without the others of its class, without gates, without shapers; what is left is the flow alone. Each fall is the part
//! of one cause, port by port, so the parts add up to the bound by construction. In another order they could be others:
//! where two causes delay a frame together, the one that is taken away first has what is common.

use crate::analysis::clocks::bounds_without;
use crate::curve::{LONGEST, Ps};
use crate::model::member_streams::tag;
use crate::model::processing::Processing;
use crate::model::sizes::{Sizes, until_last_bit};
use crate::report::FlowBounds;
use serde::Serialize;
use std::cmp::Ordering;
use tsn_plan::{Fault, Plan, Port, Stream};

/// Streams of a cause that are named at a port.
const MOST_NAMED: usize = 3;

/// What the worst case of a flow to one listener is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Parts {
    /// From the release to the last bit: [`Whole::total_ps`] is the sum of all parts of all hops, `besides_ps` and
    /// `once_ps`. None without a bound.
    pub release: Option<Whole>,
    /// Between the stamps of the Plan's taps: the same, with `first_ps` in place of the parts of the first hop.
    pub stamped: Option<Whole>,
    /// The first link, from a stamp at the start of the frame, ps.
    pub first_link_ps: Ps,
    /// The ports of the slowest path; without a bound with what the frame needs in any case.
    pub hops: Vec<HopParts>,
}

/// A bound as a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Whole {
    /// The bound, ps.
    pub total_ps: Ps,
    /// Between stamps: the first link, from the talker's stamp on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_ps: Option<Ps>,
    /// What no port takes: software of the talker, clocks that are apart, less what cut-through saves.
    pub besides_ps: Ps,
    /// Zero or less: what the sum over the ports counts several times, but happens once along the path.
    pub once_ps: Ps,
}

/// One port of the path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HopParts {
    /// The port's name.
    pub port: String,
    /// The flow's traffic class there.
    pub class: u8,
    /// From the node before the port to the last bit at the other end, in the order of the frame's way.
    pub parts: Vec<Part>,
}

/// The share of one cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Part {
    /// The cause.
    pub cause: Cause,
    /// Its share of the bound, ps.
    pub ps: Ps,
    /// Streams that cause it, those with the largest data units first: at most three.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub of: Vec<String>,
    /// How many streams cause it.
    #[serde(skip_serializing_if = "is_zero")]
    pub streams: usize,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Why a frame is not at the other end yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The node before the port processes the frame.
    Processing,
    /// A frame of a lower class is on the link already.
    LowerClasses,
    /// Frames of higher classes go first.
    HigherClasses,
    /// Frames of other streams of its class are before it.
    SameClass,
    /// Its gate is closed.
    Gates,
    /// Its shaper gathers credit.
    Shaper,
    /// Frames of its own stream are before it, or the port itself takes this time.
    Own,
    /// The frame is on the link: from its first bit to its last one.
    Transmission,
    /// A bit is on the link.
    Propagation,
}

/// The flow's bounds in one stage of the analysis: by port of the path; from the release; between stamps.
struct Stage {
    hops: Vec<Ps>,
    release: Ps,
    stamped: Option<Ps>,
}

/// The flow that is explained.
struct Asked<'a> {
    plan: &'a Plan,
    stream: &'a Stream,
    /// Its place among the flows of the bounds.
    flow: usize,
    /// Ports of its path with its class.
    path: Vec<(usize, u8)>,
}

/// What the worst case of a checked Plan's stream is made of, to its listener with this number; none without such a flow.
/// The bounds are those of [`crate::bounds`].
#[must_use]
pub fn parts(plan: &Plan, stream: usize, listener: usize) -> Option<Parts> {
    let own = plan.streams.get(stream)?;
    own.listeners.get(listener)?;
    let flow = plan.streams[..stream].iter().map(|own| own.listeners.len()).sum::<usize>() + listener;
    let full = bounds_without(plan, &|_| false).flows.into_iter().nth(flow)?;
    let path = full.hops.iter().filter_map(|hop| {
        let number = plan.ports.iter().position(|port| port.name == hop.port)?;
        Some((number, hop.class))
    });
    let asked = Asked { plan, stream: own, flow, path: path.collect() };
    Some(asked.stage(&full).and_then(|full| asked.parts(full)).unwrap_or_else(|| asked.least()))
}

impl Asked<'_> {
    fn parts(&self, full: Stage) -> Option<Parts> {
        let mut causes: Vec<(Cause, Vec<Ps>)> = Vec::new();
        let (release, stamped) = (full.release, full.stamped);
        let sum = |hops: &[Ps]| hops.iter().sum::<Ps>();
        let (whole, behind_first) = (sum(&full.hops), sum(full.hops.get(1..)?));
        // Where a stage has no bound of its own, the next one has its part, too.
        let mut alone = full;
        for (cause, stage) in self.stages() {
            let Some(stage) = stage else { continue };
            causes
                .push((cause, alone.hops.iter().zip(&stage.hops).map(|(more, less)| more - less).collect()));
            alone = stage;
        }
        let between: Ps = (0..self.path.len()).map(|place| self.processed(place)).sum();
        let whole_of = |total_ps: Ps, own: Ps, hops: Ps, least: Ps, first_ps: Option<Ps>| {
            let besides_ps = own - least - between - first_ps.unwrap_or(0);
            let rest = total_ps - hops - between - besides_ps - first_ps.unwrap_or(0);
            // Clocks run apart for longer while a frame waits.
            Whole { total_ps, first_ps, besides_ps: besides_ps + rest.max(0), once_ps: rest.min(0) }
        };
        let release = whole_of(release, alone.release, whole, sum(&alone.hops), None);
        let stamped = stamped.zip(alone.stamped).map(|(total, own)| {
            let least = sum(&alone.hops[1..]);
            whole_of(total, own, behind_first, least, Some(self.first_link()))
        });
        let hops = (0..self.path.len()).map(|place| self.hop(place, &causes, alone.hops[place]));
        Some(Parts {
            first_link_ps: self.first_link(),
            release: Some(release),
            stamped,
            hops: hops.collect(),
        })
    }

    /// Without a bound: what the frame needs in any case.
    fn least(&self) -> Parts {
        let passed = |place| self.transmission(place) + propagation(&self.plan.ports[self.path[place].0]);
        let hops = (0..self.path.len()).map(|place| self.hop(place, &[], passed(place)));
        Parts { release: None, stamped: None, first_link_ps: self.first_link(), hops: hops.collect() }
    }

    /// The parts of one port; `alone`: the delay there of the flow alone.
    fn hop(&self, place: usize, causes: &[(Cause, Vec<Ps>)], alone: Ps) -> HopParts {
        let (number, class) = self.path[place];
        let port = &self.plan.ports[number];
        let part = |cause, ps| Part { cause, ps, of: Vec::new(), streams: 0 };
        let (sent, on_link) = (self.transmission(place), propagation(port));
        let mut parts = vec![part(Cause::Processing, self.processed(place))];
        for (cause, shares) in causes {
            let mut of = self.streams_of(place, *cause);
            let streams = if shares[place] == 0 { 0 } else { of.len() };
            of.truncate(if streams == 0 { 0 } else { MOST_NAMED });
            parts.push(Part { cause: *cause, ps: shares[place], of, streams });
        }
        parts.push(part(Cause::Own, alone - sent - on_link));
        parts.push(part(Cause::Transmission, sent));
        parts.push(part(Cause::Propagation, on_link));
        parts.retain(|part| part.ps != 0);
        HopParts { port: port.name.clone(), class, parts }
    }

    /// The bounds without one cause after the other; none where nothing changes, or where there is no bound.
    fn stages(&self) -> Vec<(Cause, Option<Stage>)> {
        let plan = self.plan;
        let flow = |plan: &Plan, silent: &dyn Fn(&Stream) -> bool| {
            self.stage(bounds_without(plan, silent).flows.get(self.flow)?)
        };
        // Without its request there is no answer.
        let needed = self.requests();
        let all = |stream: &Stream| !needed.contains(&stream.name.as_str());
        let lower = |stream: &Stream| all(stream) && self.relation(stream) == Ordering::Less;
        let others = |stream: &Stream| all(stream) && self.relation(stream) != Ordering::Equal;
        let mut open = plan.clone();
        open.ports.iter_mut().for_each(|port| port.gates = None);
        open.faults.retain(|fault| !matches!(fault, Fault::Schedule { .. }));
        let mut unshaped = open.clone();
        unshaped.ports.iter_mut().flat_map(|port| &mut port.classes).for_each(|class| class.cbs = None);
        let gated = plan.ports.iter().any(|port| port.gates.is_some());
        let shaped = plan.ports.iter().flat_map(|port| &port.classes).any(|class| class.cbs.is_some());
        vec![
            (Cause::LowerClasses, flow(plan, &lower)),
            (Cause::HigherClasses, flow(plan, &others)),
            (Cause::SameClass, flow(plan, &all)),
            (Cause::Gates, gated.then(|| flow(&open, &all)).flatten()),
            (Cause::Shaper, shaped.then(|| flow(&unshaped, &all)).flatten()),
        ]
    }

    /// The stream with the one that it answers, and so on.
    fn requests(&self) -> Vec<&str> {
        let before = |stream: &&Stream| Some(&self.plan.streams[stream.answers?.stream as usize]);
        std::iter::successors(Some(self.stream), before).map(|stream| stream.name.as_str()).collect()
    }

    /// A flow's bounds, if it has one at each port of the same path.
    fn stage(&self, flow: &FlowBounds) -> Option<Stage> {
        let same = flow.hops.len() == self.path.len()
            && flow
                .hops
                .iter()
                .zip(&self.path)
                .all(|(hop, (port, _))| self.plan.ports[*port].name == hop.port);
        let hops = flow.hops.iter().map(|hop| hop.upper_ps).collect::<Option<Vec<Ps>>>()?;
        Some(Stage { hops, release: flow.release_upper_ps?, stamped: flow.upper_ps }).filter(|_| same)
    }

    /// Whether a stream's class is below or above that of the flow, at the first port that both use; of a stream that
    /// uses none, at the flow's first port.
    fn relation(&self, stream: &Stream) -> Ordering {
        let priorities = self.plan.priorities(stream);
        let class_at = |port: usize, pcp: u8| self.plan.ports[port].pcp_to_class[usize::from(pcp & 7)];
        let shared = self.path.iter().find_map(|(port, own)| {
            let place = stream.route.iter().position(|hop| hop.port as usize == *port)?;
            Some((class_at(*port, priorities[place]), *own))
        });
        let first = || self.path.first().map(|(port, own)| (class_at(*port, stream.pcp), *own));
        shared.or_else(first).map_or(Ordering::Equal, |(other, own)| other.cmp(&own))
    }

    /// The streams that cause a part at a port, the largest data units first.
    fn streams_of(&self, place: usize, cause: Cause) -> Vec<String> {
        let wanted = match cause {
            Cause::LowerClasses => Ordering::Less,
            Cause::HigherClasses => Ordering::Greater,
            Cause::SameClass => Ordering::Equal,
            _ => return Vec::new(),
        };
        let here = |stream: &&Stream| {
            let uses =
                stream.route.iter().chain(&stream.flood).any(|hop| hop.port as usize == self.path[place].0);
            uses && stream.name != self.stream.name && self.relation(stream) == wanted
        };
        let size = |stream: &Stream| {
            let sizes = Sizes::of(&stream.size, 0);
            // Of lower classes one frame counts, of others all frames of a data unit.
            if cause == Cause::LowerClasses { i128::from(sizes.largest) } else { sizes.unit }
        };
        let mut found: Vec<&Stream> = self.plan.streams.iter().filter(here).collect();
        found.sort_by_key(|stream| std::cmp::Reverse(size(stream)));
        found.into_iter().map(|stream| stream.name.clone()).collect()
    }

    /// Greatest processing time of the node before a port of the path; the talker has none.
    fn processed(&self, place: usize) -> Ps {
        if place == 0 {
            return 0;
        }
        let port = &self.plan.ports[self.path[place].0];
        Processing::of(&self.plan.nodes[port.node as usize]).most
    }

    /// The time of the largest frame on the link of a port of the path.
    fn transmission(&self, place: usize) -> Ps {
        let number = self.path[place].0;
        let entry = self.stream.route.iter().position(|hop| hop.port as usize == number).unwrap_or(0);
        let largest = Sizes::of(&self.stream.size, tag(self.stream, entry)).largest;
        until_last_bit(largest, &self.plan.ports[number])
    }

    /// The first link, from the talker's stamp at the start of the frame.
    fn first_link(&self) -> Ps {
        let port = &self.plan.ports[self.path[0].0];
        self.transmission(0) - until_last_bit(0, port) + propagation(port)
    }
}

fn propagation(port: &Port) -> Ps {
    Ps::try_from(port.propagation_ps).unwrap_or(LONGEST)
}
