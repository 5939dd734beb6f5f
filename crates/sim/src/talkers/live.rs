//! The simulator's talkers for live use: the frames of a node and their times, drawn exactly as in the simulator.

use crate::faults::impairment::instant;
use crate::output::captures::Template;
use crate::talkers::talker::Talker;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use tsn_plan::{Fault, Plan};
use tsn_units::Instant;
use tsn_wire::build::FrameSpec;

/// One frame to send.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// The release time, in ns of the Plan.
    pub at_ns: i64,
    /// The egress port: index into the Plan's ports.
    pub port: u32,
    /// The frame's priority code point, tagged or not.
    pub pcp: u8,
    /// The frame.
    pub frame: FrameSpec,
}

/// All frames of one node, in order of time; streams with frames at the same moment are in the Plan's order.
///
/// A saturating talker has no timetable and no frames here.
#[derive(Debug)]
pub struct Releases {
    streams: Vec<Source>,
    silent: Vec<(Instant, Instant)>,
    next: BinaryHeap<Reverse<(Instant, usize)>>,
}

#[derive(Debug)]
struct Source {
    talker: Talker,
    template: Template,
    port: u32,
    pcp: u8,
    /// Time from the timer to the intended sending time, ns.
    advance_ns: i64,
}

impl Source {
    /// The next release: the sender's clock has no error against the Plan's time.
    fn next_release(&mut self, now: Instant) -> Option<Instant> {
        self.talker.next_release(now.on_perfect_clock()).map(Instant::of_perfect_clock)
    }
}

/// The outages of a node, in which its talkers are silent.
fn silences(plan: &Plan, node: u32) -> impl Iterator<Item = (Instant, Instant)> + '_ {
    plan.faults.iter().filter_map(move |fault| match fault {
        Fault::NodeDown { node: down, from_ns, until_ns } if *down == node => {
            Some((instant(*from_ns), instant(*until_ns)))
        }
        _ => None,
    })
}

impl Releases {
    /// The frames of `node`.
    ///
    /// # Errors
    /// When an address in the Plan is invalid.
    pub fn new(plan: &Plan, node: u32) -> io::Result<Self> {
        let silent = silences(plan, node).collect();
        let mut releases = Self { streams: Vec::new(), silent, next: BinaryHeap::new() };
        for (stream, number) in plan.streams.iter().zip(0..).filter(|(stream, _)| stream.talker == node) {
            let mut talker = Talker::new(plan, stream);
            let Some(first) = stream.route.first() else { continue };
            if talker.backlog() > 0 {
                continue;
            }
            if let Some(at) = talker.next_release(Instant::EPOCH).map(Instant::of_perfect_clock) {
                releases.next.push(Reverse((at, releases.streams.len())));
            }
            let template = Template::new(plan, stream, number)?;
            let advance_ns = stream.socket.as_ref().map_or(0, |socket| socket.advance_ns);
            let advance_ns = i64::try_from(advance_ns).unwrap_or(i64::MAX);
            releases.streams.push(Source { talker, template, port: first.port, pcp: stream.pcp, advance_ns });
        }
        Ok(releases)
    }
}

impl Iterator for Releases {
    type Item = Release;

    fn next(&mut self) -> Option<Release> {
        let (at, source, place) = loop {
            let Reverse((at, place)) = self.next.pop()?;
            let source = self.streams.get_mut(place)?;
            if !self.silent.iter().any(|(from, until)| *from <= at && at < *until) {
                break (at, source, place);
            }
            // A data unit that is not sent now is not sent later.
            if let Some(next) = source.next_release(at) {
                self.next.push(Reverse((next, place)));
            }
        };
        let octets = source.talker.next_size();
        let seq = source.talker.take();
        // The frames of a data unit are sent back to back, as one write would send them.
        let next = if source.talker.in_unit() { Some(at) } else { source.next_release(at) };
        if let Some(next) = next {
            self.next.push(Reverse((next, place)));
        }
        let at_ns = (at - Instant::EPOCH).floor_ns();
        let intended_ns = at_ns.saturating_add(source.advance_ns);
        let frame = FrameSpec { octets, seq, intended_ns, ..source.template.frame };
        Some(Release { at_ns, port: source.port, pcp: source.pcp, frame })
    }
}

/// A talker that always has frames waiting.
#[derive(Debug)]
pub struct Saturating {
    talker: Talker,
    template: Template,
    /// The egress port: index into the Plan's ports.
    pub port: u32,
    /// Priority code point.
    pub pcp: u8,
    /// Number of frames that it keeps in its port's queue.
    pub backlog: u32,
    /// Begin and end, in ns of the Plan.
    pub span_ns: (i64, i64),
    /// Begins and ends of its node's outages, ns, in which it is silent.
    pub silent_ns: Vec<(i64, i64)>,
}

impl Saturating {
    /// The saturating talkers of `node`.
    ///
    /// # Errors
    /// When an address in the Plan is invalid.
    pub fn all(plan: &Plan, node: u32) -> io::Result<Vec<Self>> {
        let mut found = Vec::new();
        for (stream, number) in plan.streams.iter().zip(0..).filter(|(stream, _)| stream.talker == node) {
            let talker = Talker::new(plan, stream);
            let Some(first) = stream.route.first().filter(|_| talker.backlog() > 0) else { continue };
            let ns = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX);
            found.push(Self {
                backlog: talker.backlog(),
                talker,
                template: Template::new(plan, stream, number)?,
                port: first.port,
                pcp: stream.pcp,
                silent_ns: silences(plan, node)
                    .map(|(from, until)| {
                        ((from - Instant::EPOCH).floor_ns(), (until - Instant::EPOCH).floor_ns())
                    })
                    .collect(),
                span_ns: (ns(stream.start_ns), ns(stream.stop_ns.min(plan.duration_ns))),
            });
        }
        Ok(found)
    }

    /// The stream of the talker.
    #[must_use]
    pub fn stream(&self) -> u32 {
        self.template.frame.stream
    }

    /// Source and destination port.
    #[must_use]
    pub fn udp_port(&self) -> u16 {
        self.template.frame.udp_port
    }

    /// The talker's next frame; its sending time depends on the queue.
    pub fn next_frame(&mut self) -> FrameSpec {
        let octets = self.talker.next_size();
        FrameSpec { octets, seq: self.talker.take(), ..self.template.frame }
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
        let mut plan = Plan::read(include_str!("../../tests/plans/one-hop.json")).unwrap();
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

    #[test]
    fn a_saturating_talker_has_frames_and_no_timetable() {
        let mut plan = Plan::read(include_str!("../../tests/plans/one-hop.json")).unwrap();
        plan.hash = None;
        plan.streams[0].pattern = Pattern::Saturating { backlog: 3 };
        let talker = plan.streams[0].talker;
        assert_eq!(Releases::new(&plan, talker).unwrap().filter(|one| one.frame.stream == 0).count(), 0);
        let mut all = Saturating::all(&plan, talker).unwrap();
        assert_eq!((all.len(), all[0].backlog), (1, 3));
        assert_eq!([all[0].next_frame().seq, all[0].next_frame().seq], [0, 1]);
    }
}
