//! The flows of a Plan at every port of their way.

use crate::arrivals::Stair;
use crate::ats::Shaped;
use crate::curve::Ps;
use crate::sizes::{Sizes, until_last_bit, until_timestamp_point, wire};
use crate::windows::Openings;
use tsn_plan::{Pattern, Plan, Port};

/// One flow at one port.
#[derive(Clone, Debug)]
pub(crate) struct FlowHop {
    pub stream: usize,
    pub port: usize,
    pub class: u8,
    /// The priority with which its frames leave here.
    pub pcp: u8,
    /// The hop before, as an index into the list of all.
    pub parent: Option<usize>,
    /// Of frames that fit at least one window here; none where no frame does.
    pub sizes: Option<Sizes>,
    /// The ATS scheduler in front of this port's queue.
    pub shaped: Option<Shaped>,
    pub period: Option<Ps>,
    /// After the release, how long at least until a frame is in this port's queue.
    pub earliest: Ps,
    /// After the release's nominal time, how long at most; none without a bound.
    pub latest: Option<Ps>,
    /// From its place in the queue to its last bit at the other end, at least.
    pub shortest: Ps,
}

impl FlowHop {
    /// Its arrivals here, where they have a bound of their own.
    pub fn stair(&self) -> Option<Stair> {
        if let Some(shaped) = &self.shaped {
            let sizes = self.sizes?;
            return shaped.stair(wire(sizes.largest), sizes.smallest == sizes.largest);
        }
        let jitter = self.latest?.checked_sub(self.earliest)?;
        Some(Stair { unit: self.sizes?.unit, period: self.period?, jitter: jitter.max(0) })
    }
}

/// Longest of any time that is still counted: about three hours.
pub(crate) const LONGEST: Ps = 10_000_000_000_000_000;

pub(crate) fn ps(ns: u64) -> Option<Ps> {
    Ps::try_from(ns).ok()?.checked_mul(1_000)
}

/// Every flow at every port of its way, parents before children; per stream, where its hops begin.
pub(crate) fn flow_hops(plan: &Plan, openings: &[Vec<Option<Openings>>]) -> (Vec<FlowHop>, Vec<usize>) {
    let mut hops: Vec<FlowHop> = Vec::new();
    let mut first = Vec::with_capacity(plan.streams.len());
    for (number, stream) in plan.streams.iter().enumerate() {
        let begin = hops.len();
        first.push(begin);
        let (period, jitter) = match stream.pattern {
            Pattern::Periodic { period_ns, jitter_ns, .. } => {
                (ps(period_ns).map(|p| p.max(1)), ps(jitter_ns))
            }
            Pattern::Poisson { .. } | Pattern::Saturating { .. } => (None, None),
        };
        let sizes = Sizes::of(&stream.size);
        for (hop, pcp) in stream.route.iter().zip(plan.priorities(stream)) {
            let port = &plan.ports[hop.port as usize];
            let class = port.pcp_to_class[usize::from(pcp & 7)];
            let longest =
                openings[hop.port as usize][usize::from(class)].as_ref().and_then(Openings::longest);
            let fits = |octets: u32| longest.is_none_or(|longest| until_last_bit(octets, port) <= longest);
            let parent = hop.parent.map(|parent| begin + parent as usize);
            let earliest = parent.map_or(0, |parent| {
                let before: &FlowHop = &hops[parent];
                let processing = plan.nodes[port.node as usize].processing_ns;
                before
                    .earliest
                    .saturating_add(before.shortest)
                    .saturating_add(ps(processing).unwrap_or(LONGEST))
                    .saturating_sub(cut_short(plan, sizes.smallest, pcp, &plan.ports[before.port], port))
            });
            let propagation = Ps::try_from(port.propagation_ps).unwrap_or(LONGEST);
            hops.push(FlowHop {
                stream: number,
                port: hop.port as usize,
                class,
                pcp,
                shaped: parent.and_then(|parent| {
                    let ingress = plan.ports[hops[parent].port].peer;
                    Shaped::of(plan, ingress, number, pcp)
                }),
                parent,
                sizes: fits(sizes.smallest).then_some(Sizes {
                    largest: if fits(sizes.largest) { sizes.largest } else { largest_fitting(&sizes, fits) },
                    ..sizes
                }),
                period,
                earliest,
                latest: if parent.is_none() { jitter } else { None },
                shortest: until_last_bit(sizes.smallest, port).saturating_add(propagation),
            });
        }
    }
    (hops, first)
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

/// Between the two stamps of a lone frame on its first link: from the `tx` stamp to the last bit at the other end.
pub(crate) fn first_link(octets: u32, port: &tsn_plan::Port, stamped_at_start: bool) -> Ps {
    let before = if stamped_at_start { until_timestamp_point(port) } else { until_last_bit(octets, port) };
    let propagation = Ps::try_from(port.propagation_ps).unwrap_or(LONGEST);
    (until_last_bit(octets, port) - before).saturating_add(propagation)
}
