//! One observation is one sighting of one frame; a simulated frame and a captured one look the same.
//!
//! [`Sighting`] is the row that hot paths hand over: numbers only. What the numbers mean (tap and stream names,
//! stages, clocks) is a [`Legend`], stored once per file.

pub mod log;
pub mod parquet;

use serde::{Deserialize, Serialize};

/// Added to [`Sighting::copy`] where a copy arrives at its end: whoever is behind does not get it.
pub const ELIMINATED: u8 = 128;

/// One sighting of one frame, as handed over by a backend.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// Where: index into [`Legend::taps`].
    pub tap: u16,
    /// Which stream: index into [`Legend::streams`].
    pub stream: u32,
    /// The talker's sequence number, from 0.
    pub seq: u64,
    /// Which copy of a replicated frame (FRER), from 1; 0 when there is one. With [`ELIMINATED`] added: the copy
    /// that arrives here is taken out, because another one came first.
    pub copy: u8,
    /// When, in ns on the tap's clock; none when the stamp is missing.
    pub t_ns: Option<i64>,
    /// Octets from destination address to FCS.
    pub octets: u32,
    /// Priority code point.
    pub pcp: u8,
    /// VLAN identifier; 0 when untagged.
    pub vid: u16,
}

/// Takes sightings; a file, a capture writer, or a test's vector.
pub trait Sink {
    /// One sighting.
    ///
    /// # Errors
    /// When it cannot be kept; the run then ends.
    fn sight(&mut self, sighting: Sighting) -> std::io::Result<()>;

    /// One sighting of a frame whose octets are known, without its FCS; whoever does not care for them need not.
    ///
    /// # Errors
    /// When it cannot be kept; the run then ends.
    fn frame(&mut self, sighting: Sighting, _octets: &[u8]) -> std::io::Result<()> {
        self.sight(sighting)
    }

    /// How wrong a clock was; whoever does not care need not.
    ///
    /// # Errors
    /// When it cannot be kept; the run then ends.
    fn clock_error(&mut self, _error: ClockError) -> std::io::Result<()> {
        Ok(())
    }
}

/// How wrong a node's clock was at one moment.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ClockError {
    /// The node: its place in the Plan.
    pub node: u32,
    /// When, in true time.
    pub t_ns: i64,
    /// The clock ahead of true time, in ps.
    pub error_ps: i64,
    /// The clock ahead of the grandmaster's, in ps; none where there is no grandmaster.
    pub offset_ps: Option<i64>,
}

impl Sink for Vec<Sighting> {
    fn sight(&mut self, sighting: Sighting) -> std::io::Result<()> {
        self.push(sighting);
        Ok(())
    }
}

/// What the numbers of a file's sightings mean.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Legend {
    /// The Plan's content hash, where there is a Plan.
    #[serde(default)]
    pub plan: Option<String>,
    /// Taps in order of their number.
    pub taps: Vec<TapLegend>,
    /// Streams in order of their number.
    pub streams: Vec<StreamLegend>,
}

/// What a tap's number means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TapLegend {
    /// `zgw1 -> zgw2 tx`.
    pub name: String,
    /// The node it is on.
    pub node: String,
    /// `send`, `tx`, `rx`, ….
    pub stage: String,
    /// Whose clock stamps: `true` for the simulator's own time.
    pub clock: String,
    /// `start` or `end` of the frame.
    pub point: String,
    /// Why stamps are missing here, where they are.
    #[serde(default)]
    pub missing: Option<String>,
}

/// What a stream's number means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamLegend {
    /// The flow: `f1-cc.1`.
    pub name: String,
    /// The scenario stream: `f1-cc`.
    pub group: String,
}
