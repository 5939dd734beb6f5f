//! The simulator's talkers for live use: what a node sends and when, drawn exactly as the simulator draws it.

use crate::captures::Template;
use crate::talker::Talker;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use tsn_plan::Plan;
use tsn_units::Instant;
use tsn_wire::build::FrameSpec;

/// One frame to send.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// When, in ns of the Plan.
    pub at_ns: i64,
    /// The egress port: index into the Plan's ports.
    pub port: u32,
    /// Its priority code point, tagged or not.
    pub pcp: u8,
    /// The frame.
    pub frame: FrameSpec,
}

/// Everything that one node sends, in order of time; among streams at the same moment, in the Plan's order.
///
/// A saturating talker has no timetable and releases nothing here.
#[derive(Debug)]
pub struct Releases {
    streams: Vec<Source>,
    next: BinaryHeap<Reverse<(Instant, usize)>>,
}

#[derive(Debug)]
struct Source {
    talker: Talker,
    template: Template,
    port: u32,
    pcp: u8,
}

impl Releases {
    /// What `node` sends.
    ///
    /// # Errors
    /// When an address in the Plan is none.
    pub fn new(plan: &Plan, node: u32) -> io::Result<Self> {
        let mut releases = Self { streams: Vec::new(), next: BinaryHeap::new() };
        for (stream, number) in plan.streams.iter().zip(0..).filter(|(stream, _)| stream.talker == node) {
            let mut talker = Talker::new(plan, stream);
            let Some(first) = stream.route.first() else { continue };
            if talker.backlog() > 0 {
                continue;
            }
            if let Some(at) = talker.next_release(Instant::EPOCH) {
                releases.next.push(Reverse((at, releases.streams.len())));
            }
            let template = Template::new(plan, stream, number)?;
            releases.streams.push(Source { talker, template, port: first.port, pcp: stream.pcp });
        }
        Ok(releases)
    }
}

impl Iterator for Releases {
    type Item = Release;

    fn next(&mut self) -> Option<Release> {
        let Reverse((at, place)) = self.next.pop()?;
        let source = self.streams.get_mut(place)?;
        let octets = source.talker.next_size();
        let seq = source.talker.take();
        // A data unit goes out back to back, as one write would.
        let next = if source.talker.in_unit() { Some(at) } else { source.talker.next_release(at) };
        if let Some(next) = next {
            self.next.push(Reverse((next, place)));
        }
        let at_ns = (at - Instant::EPOCH).floor_ns();
        let frame = FrameSpec { octets, seq, intended_ns: at_ns, ..source.template.frame };
        Some(Release { at_ns, port: source.port, pcp: source.pcp, frame })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Simulation;
    use tsn_observation::Sighting;
    use tsn_plan::{Pattern, Plan, Stage};

    #[test]
    fn what_is_released_live_is_what_the_simulator_releases() {
        let mut plan = Plan::read(include_str!("../tests/plans/one-hop.json")).unwrap();
        plan.hash = None;
        plan.streams[0].pattern = Pattern::Poisson { mean_interval_ps: 30_000_000 };
        plan.taps[0].stage = Stage::Send;
        plan.taps[0].port = plan.streams[0].route[0].port;
        let mut sightings: Vec<Sighting> = Vec::new();
        Simulation::new(&plan).unwrap().run(&mut sightings, &mut crate::unwatched).unwrap();
        let simulated = sightings.iter().filter(|sighting| sighting.tap == 0);
        let simulated: Vec<_> = simulated.map(|one| (one.t_ns, one.seq, one.octets)).collect();
        let live = Releases::new(&plan, plan.streams[0].talker).unwrap();
        let live: Vec<_> = live.map(|one| (Some(one.at_ns), one.frame.seq, one.frame.octets)).collect();
        assert!(live.len() > 3);
        assert_eq!(live, simulated);
        assert_eq!(Releases::new(&plan, plan.streams[0].listeners[0].node).unwrap().count(), 0);
    }
}
