//! When frames passed which stage: kept in memory while there is something to do, written at the end.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use tsn_observation::{Legend, Sighting, log};
use tsn_plan::{Plan, Stage};

/// Sightings per piece of memory: a piece is never moved, which would take time that a talker does not have.
const PIECE: usize = 1 << 12;

/// What is known of a frame beside its stage.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Which stream.
    pub stream: u32,
    /// Which of its frames.
    pub seq: u64,
    /// From destination address to FCS.
    pub octets: u32,
    /// Priority code point.
    pub pcp: u8,
    /// VLAN identifier; 0 when untagged.
    pub vid: u16,
}

/// Sightings at some taps.
#[derive(Debug)]
pub struct Sights {
    legend: Legend,
    taps: BTreeMap<(u32, Stage), u16>,
    pieces: Vec<Vec<Sighting>>,
}

impl Sights {
    /// At all taps of a Plan.
    pub fn new(plan: &Plan) -> Self {
        let taps = plan.taps.iter().zip(0..).map(|(tap, number)| ((tap.port, tap.stage), number));
        Self { legend: tsn_sim::record::legend(plan), taps: taps.collect(), pieces: Vec::new() }
    }

    /// At the taps of a legend, which are of these ports and stages.
    pub fn at(legend: Legend, taps: impl IntoIterator<Item = (u32, Stage)>) -> Self {
        Self { legend, taps: taps.into_iter().zip(0..).collect(), pieces: Vec::new() }
    }

    /// Whether anybody looks there.
    pub fn wants(&self, port: u32, stage: Stage) -> bool {
        self.taps.contains_key(&(port, stage))
    }

    /// A frame passed a stage, on the clock of live tools: TAI.
    pub fn sight(&mut self, port: u32, stage: Stage, frame: &Frame, t_ns: Option<i64>) {
        let Some(&tap) = self.taps.get(&(port, stage)) else { return };
        if self.pieces.last().is_none_or(|piece| piece.len() == PIECE) {
            self.pieces.push(Vec::with_capacity(PIECE));
        }
        let &Frame { stream, seq, octets, pcp, vid } = frame;
        if let Some(piece) = self.pieces.last_mut() {
            piece.push(Sighting { tap, stream, seq, copy: 0, t_ns, octets, pcp, vid });
        }
    }

    /// Why a tap has no stamps, where there is a tap.
    pub fn missing(&mut self, port: u32, stage: Stage, why: &str) {
        let tap = self.taps.get(&(port, stage)).and_then(|tap| self.legend.taps.get_mut(usize::from(*tap)));
        if let Some(tap) = tap {
            tap.missing = Some(why.to_owned());
        }
    }

    /// A stream that the legend does not know yet.
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
