//! Observations: one observation is one sighting of one frame, simulated or captured.
//!
//! [`Sighting`] is the row that fast code passes on: numbers only. The names for these numbers (taps, streams, stages,
//! clocks) are in a [`Legend`], stored once per file.

pub mod log;
pub mod parquet;
mod passage;
mod repeats;

pub use passage::{ClockLine, Expired, Fragment, Passage};
pub use repeats::Repeats;
use serde::{Deserialize, Serialize};

/// Added to [`Sighting::copy`] if the frame is eliminated here: nodes behind this point do not receive it.
pub const ELIMINATED: u8 = 128;

/// One sighting of one frame, from a backend.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// Tap: index into [`Legend::taps`].
    pub tap: u16,
    /// Stream: index into [`Legend::streams`].
    pub stream: u32,
    /// Sequence number of the talker, from 0.
    pub seq: u64,
    /// Number of the member stream (FRER), from 1; 0 if the stream is not replicated. [`ELIMINATED`] is added if this
    /// frame is eliminated here, because another one arrived first.
    pub copy: u8,
    /// Timestamp in ns on the tap's clock; `None` if the timestamp is missing.
    pub t_ns: Option<i64>,
    /// Octets from destination address to FCS.
    pub octets: u32,
    /// Priority code point.
    pub pcp: u8,
    /// VLAN identifier; 0 when untagged.
    pub vid: u16,
}

/// A receiver of sightings: a file, a capture writer, or a vector in a test.
pub trait Sink {
    /// Whether the receiver wants passages and clock lines. Where it does not, the simulator has no code for them.
    const PASSAGES: bool = false;

    /// Receives one sighting.
    ///
    /// # Errors
    /// The sighting cannot be stored; the run then ends.
    fn sight(&mut self, sighting: Sighting) -> std::io::Result<()>;

    /// Receives one sighting of a frame whose octets are known, without FCS. By default the octets are ignored.
    ///
    /// # Errors
    /// The sighting cannot be stored; the run then ends.
    fn frame(&mut self, sighting: Sighting, _octets: &[u8]) -> std::io::Result<()> {
        self.sight(sighting)
    }

    /// Receives the request of an answer of message data, before any sighting of the answer: frame `seq` of `stream`
    /// answers the frame with the number `request` of the stream that it answers. By default it is ignored.
    ///
    /// # Errors
    /// The numbers cannot be stored; the run then ends.
    fn answer(&mut self, _stream: u32, _seq: u64, _request: u64) -> std::io::Result<()> {
        Ok(())
    }

    /// Receives one passage, if [`Self::PASSAGES`]. By default it is ignored.
    ///
    /// # Errors
    /// The passage cannot be stored; the run then ends.
    fn passage(&mut self, _passage: Passage) -> std::io::Result<()> {
        Ok(())
    }

    /// Receives one mPacket of an interrupted frame, if [`Self::PASSAGES`]. By default it is ignored.
    ///
    /// # Errors
    /// The fragment cannot be stored; the run then ends.
    fn fragment(&mut self, _fragment: Fragment) -> std::io::Result<()> {
        Ok(())
    }

    /// Receives a frame that waited for the longest time of its queue, if [`Self::PASSAGES`]. By default it is ignored.
    ///
    /// # Errors
    /// The frame cannot be stored; the run then ends.
    fn expired(&mut self, _frame: Expired) -> std::io::Result<()> {
        Ok(())
    }

    /// Receives a clock from an instant on, if [`Self::PASSAGES`]. By default it is ignored.
    ///
    /// # Errors
    /// The line cannot be stored; the run then ends.
    fn clock_line(&mut self, _line: ClockLine) -> std::io::Result<()> {
        Ok(())
    }

    /// Receives the error of a clock. By default it is ignored.
    ///
    /// # Errors
    /// The error cannot be stored; the run then ends.
    fn clock_error(&mut self, _error: ClockError) -> std::io::Result<()> {
        Ok(())
    }
}

/// The error of a node's clock at one instant.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ClockError {
    /// Index of the node in the Plan.
    pub node: u32,
    /// The instant in true time.
    pub t_ns: i64,
    /// Lead of the clock over true time, in ps.
    pub error_ps: i64,
    /// Lead of the clock over the grandmaster's clock, in ps; `None` if there is no grandmaster.
    pub offset_ps: Option<i64>,
}

impl Sink for Vec<Sighting> {
    fn sight(&mut self, sighting: Sighting) -> std::io::Result<()> {
        self.push(sighting);
        Ok(())
    }
}

/// The meaning of the numbers in a file's sightings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Legend {
    /// Content hash of the Plan, if there is a Plan.
    #[serde(default)]
    pub plan: Option<String>,
    /// Taps, ordered by number.
    pub taps: Vec<TapLegend>,
    /// Streams, ordered by number.
    pub streams: Vec<StreamLegend>,
}

/// The meaning of a tap's number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TapLegend {
    /// Name of the tap: `zgw1 -> zgw2 tx`.
    pub name: String,
    /// Name of the node.
    pub node: String,
    /// Stage: `send`, `tx`, `rx`, ….
    pub stage: String,
    /// Name of the clock of the timestamps: `true` for the simulator's own time.
    pub clock: String,
    /// Point of the frame that timestamps refer to: `start` or `end`.
    pub point: String,
    /// The reason why timestamps are missing here, if they are.
    #[serde(default)]
    pub missing: Option<String>,
}

/// The meaning of a stream's number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamLegend {
    /// Name of the flow: `f1-cc.1`.
    pub name: String,
    /// Name of the scenario stream: `f1-cc`.
    pub group: String,
}
