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
