//! Sightings, i.e. when frames passed which stage: kept in memory while frames are sent, written at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use tsn_observation::{Legend, Sighting, log};
use tsn_plan::{Plan, Stage};

/// Sightings per block of memory: a block is never moved, as moving takes time that a talker does not have.
const PIECE: usize = 1 << 12;
/// Sightings for which memory is reserved at the start; some 50 MB.
const MOST_READY: usize = 1 << 20;

/// Stages that a talker observes.
const TALKERS: [Stage; 6] =
    [Stage::IntervalStart, Stage::Wakeup, Stage::Send, Stage::Qdisc, Stage::Driver, Stage::Tx];

/// The identity and the header fields of an observed frame.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Number of the stream.
    pub stream: u32,
    /// Sequence number of the frame.
    pub seq: u64,
    /// Octets from destination address to FCS.
    pub octets: u32,
    /// Priority code point.
    pub pcp: u8,
    /// VLAN identifier; 0 when untagged.
    pub vid: u16,
}

/// Sightings at a set of taps.
#[derive(Debug)]
pub struct Sightings {
    legend: Legend,
    taps: BTreeMap<(u32, Stage), u16>,
    pieces: Vec<Vec<Sighting>>,
    ready: Vec<Vec<Sighting>>,
}

impl Sightings {
    /// Sightings at all taps of a Plan.
    pub fn new(plan: &Plan) -> Self {
        let taps = plan.taps.iter().zip(0..).map(|(tap, number)| ((tap.port, tap.stage), number));
        Self {
            legend: tsn_sim::record::legend(plan),
            taps: taps.collect(),
            pieces: Vec::new(),
            ready: Vec::new(),
        }
    }

    /// Sightings at the taps of a legend, which are of these ports and stages.
    pub fn at(legend: Legend, taps: impl IntoIterator<Item = (u32, Stage)>) -> Self {
        Self { legend, taps: taps.into_iter().zip(0..).collect(), pieces: Vec::new(), ready: Vec::new() }
    }

    /// Reserves memory for this many frames at the stages of a talker, whatever its port: each block takes some 0.5
    /// ms, in which a talker would be late.
    pub fn make_ready(&mut self, frames: usize) {
        let stages = self.taps.keys().filter(|(_, stage)| TALKERS.contains(stage));
        let ports: BTreeSet<u32> = stages.clone().map(|(port, _)| *port).collect();
        let most = ports.iter().map(|own| stages.clone().filter(|(port, _)| port == own).count()).max();
        let sightings = frames.saturating_mul(most.unwrap_or(0)).min(MOST_READY);
        self.ready = (0..sightings.div_ceil(PIECE)).map(|_| Vec::with_capacity(PIECE)).collect();
        self.pieces.reserve(self.ready.len());
    }

    /// Whether there is a tap at this stage.
    pub fn has_tap(&self, port: u32, stage: Stage) -> bool {
        self.taps.contains_key(&(port, stage))
    }

    /// Records that a frame passed a stage, on TAI, the clock of live tools.
    pub fn sight(&mut self, port: u32, stage: Stage, frame: &Frame, t_ns: Option<i64>) {
        let Some(&tap) = self.taps.get(&(port, stage)) else { return };
        if self.pieces.last().is_none_or(|piece| piece.len() == PIECE) {
            self.pieces.push(self.ready.pop().unwrap_or_else(|| Vec::with_capacity(PIECE)));
        }
        let &Frame { stream, seq, octets, pcp, vid } = frame;
        if let Some(piece) = self.pieces.last_mut() {
            piece.push(Sighting { tap, stream, seq, copy: 0, t_ns, octets, pcp, vid });
        }
    }

    /// Records why a tap has no timestamps, if there is a tap.
    pub fn missing(&mut self, port: u32, stage: Stage, why: &str) {
        let tap = self.taps.get(&(port, stage)).and_then(|tap| self.legend.taps.get_mut(usize::from(*tap)));
        if let Some(tap) = tap {
            tap.missing = Some(why.to_owned());
        }
    }

    /// Adds a stream to the legend, if it is new.
    pub fn know_stream(&mut self, number: u32, name: impl Fn(u32) -> String) {
        while self.legend.streams.len() <= number as usize {
            let next = u32::try_from(self.legend.streams.len()).unwrap_or(u32::MAX);
            self.legend.streams.push(tsn_observation::StreamLegend { name: name(next), group: name(next) });
        }
    }

    /// Writes the file.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        log::write(&mut BufWriter::new(File::create(path)?), &self.legend, self.pieces.iter().flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_there_before_the_first_frame() {
        let plan = Plan::read(include_str!("../../sim/tests/plans/one-hop.json")).unwrap();
        let mut sights = Sightings::new(&plan);
        sights.make_ready(PIECE + 1);
        let (ready, room) = (sights.ready.len(), sights.pieces.capacity());
        assert!(ready >= 2 && room >= ready, "{ready} {room}");
        let frame = Frame { stream: 0, seq: 0, octets: 64, pcp: 0, vid: 0 };
        let (port, stage) = *sights.taps.keys().find(|(_, stage)| TALKERS.contains(stage)).unwrap();
        (0..=PIECE).for_each(|_| sights.sight(port, stage, &frame, Some(0)));
        assert_eq!((sights.pieces.len(), sights.ready.len(), sights.pieces.capacity()), (2, ready - 2, room));
    }
}
