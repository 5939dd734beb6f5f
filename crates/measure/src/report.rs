//! The measures in their file format, `tsnbench-measures/1`.

use crate::offset::Offset;
use crate::statistics::distribution::Stat;
use crate::statistics::scale::Scale;
use serde::Serialize;

/// The name of the format.
pub const FORMAT: &str = "tsnbench-measures/1";

/// All measures of a run or of captures.
#[derive(Debug, Serialize)]
pub struct Measures {
    /// [`FORMAT`].
    pub format: &'static str,
    /// The files that were read.
    pub source: Source,
    /// A whole-second offset between the clocks, if there is one.
    pub offset: Option<Offset>,
    /// One entry per stream and listener.
    pub paths: Vec<PathReport>,
    /// One entry per scenario stream and listener, pooled over the flows.
    pub groups: Vec<PathReport>,
}

/// The files that were read.
#[derive(Debug, Default, Serialize)]
pub struct Source {
    /// `run` or `captures`.
    pub kind: &'static str,
    /// All files.
    pub files: Vec<SourceFile>,
    /// The formats of the frames.
    pub formats: Vec<String>,
    /// By which formats the frames of each side of captures were identified.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub identified: Vec<Identification>,
    /// Frames that could not be identified, and streams that only the receiving side observed.
    pub ignored: Ignored,
    /// Reasons not to trust the results before a check.
    pub warnings: Vec<String>,
}

/// Frames of one side that were identified by one format.
#[derive(Debug, Serialize)]
pub struct Identification {
    /// `tx` or `rx`.
    pub side: &'static str,
    /// Name of the format.
    pub format: &'static str,
    /// Streams of this format.
    pub streams: u64,
    /// Their frames.
    pub frames: u64,
}

/// One file.
#[derive(Debug, Serialize)]
pub struct SourceFile {
    /// The path as given.
    pub path: String,
    /// `tx`, `rx` or `observations`.
    pub side: &'static str,
    /// The only interface of the file that was read; none if all were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    /// Frames or rows read.
    pub frames: u64,
}

/// Frames that are in no path.
#[derive(Debug, Default, Serialize)]
pub struct Ignored {
    /// Frames that end inside their link layer.
    pub unreadable_frames: u64,
    /// Streams that only the receiving side observed.
    pub rx_only_streams: u64,
    /// The frames of these streams.
    pub rx_only_frames: u64,
}

/// The measures of one stream at one listener, or of a group of them.
#[derive(Debug, Serialize)]
pub struct PathReport {
    /// The flow; in `groups` the scenario stream.
    pub stream: String,
    /// The scenario stream.
    pub group: String,
    /// The listener.
    pub listener: String,
    /// The first tap.
    pub tx_tap: Option<String>,
    /// The last tap.
    pub rx_tap: Option<String>,
    /// The clock of the timestamps at the first tap.
    pub tx_clock: Option<String>,
    /// The clock of the timestamps at the last tap.
    pub rx_clock: Option<String>,
    /// In `groups`: the number of flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<usize>,
    /// The counters of frames.
    pub count: Count,
    /// The numbers of the frames, if they do not simply count up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numbers: Option<Scale>,
    /// The first gaps in the numbers at the first tap of captures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Gap>,
    /// Frames that did not arrive (lost, or still under way at the end) by the last tap that observed them.
    pub lost_where: Vec<LostAfter>,
    /// Delay in ns.
    pub delay: Option<Stat>,
    /// Delays that the shares of the frames given in the Plan do not exceed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub delay_percentiles: Vec<DelayPercentile>,
    /// Jitter in ns, by kind.
    pub jitter: Jitter,
    /// Standard deviation of the delay, ns.
    pub spread: Option<f64>,
    /// The talker's period, if it has one.
    pub period_ns: Option<u64>,
    /// Delay above which a frame is late.
    pub deadline_ns: Option<u64>,
    /// Bit/s of frames.
    pub rate: Rate,
    /// From the talker's queue to the first tap, ns.
    pub send_to_tx: Option<Stat>,
    /// Delay from the talker's queue to the last tap, ns, if frames are observed when they are handed over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release_delay: Option<Stat>,
    /// The uncertainty of all these times, if the run's clocks were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncertainty: Option<Uncertainty>,
    /// Gaps between departures, ns.
    pub departures: Option<Stat>,
    /// Gaps between arrivals, ns.
    pub arrivals: Option<Stat>,
    /// From the last arrival to the end of the stream, ns, if that came later: nothing arrived in this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub silence_ns: Option<i64>,
    /// Age of the newest value at the listener just before a newer one arrived, ns, if the Plan limits it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age: Option<Stat>,
}

/// The uncertainty of a path's times, ns. No delay is corrected by it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Uncertainty {
    /// The uncertainty of a delay, and of every quantile of the delays, to both sides.
    pub delay_ns: i64,
    /// The uncertainty of the difference of two delays. Errors that both delays have in common are not included.
    pub difference_ns: i64,
    /// The uncertainty of a gap between arrivals.
    pub arrivals_ns: i64,
    /// The uncertainty of a delay from the hand-over to the talker's queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release_delay_ns: Option<i64>,
}

impl Uncertainty {
    /// The greater of both, value by value.
    pub(crate) fn or_more(self, other: Self) -> Self {
        Self {
            delay_ns: self.delay_ns.max(other.delay_ns),
            difference_ns: self.difference_ns.max(other.difference_ns),
            arrivals_ns: self.arrivals_ns.max(other.arrivals_ns),
            release_delay_ns: self.release_delay_ns.max(other.release_delay_ns),
        }
    }
}

/// The counters of frames.
#[derive(Debug, Serialize)]
pub struct Count {
    /// Numbers missing at the first tap; none if the frames carry no sequence number of their talker.
    pub never_sent: Option<u64>,
    /// Frames observed at the first tap.
    pub sent: u64,
    /// Frames observed at both taps.
    pub received: u64,
    /// Frames observed at the first tap only.
    pub lost: u64,
    /// Frames received after the deadline; none without a deadline.
    pub late: Option<u64>,
    /// Frames that arrived again.
    pub duplicate: u64,
    /// Frames that arrived after one with a higher number.
    pub reordered: u64,
    /// Frames observed at the last tap only.
    pub unmatched_rx: u64,
    /// Frames received without a timestamp at one end.
    pub missing_timestamp: u64,
    /// Frames that left again.
    pub duplicate_tx: u64,
    /// Numbers below the first observed one, if it is unknown whether they were to be sent.
    pub before_first: u64,
    /// Frames still under way when the run ended.
    pub in_network_at_end: u64,
    /// Jumps in the numbers that mean a restart.
    pub restarts: u64,
}

/// Numbers that are missing one after the other.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Gap {
    /// The last number before them.
    pub after: u64,
    /// How many there are.
    pub missing: u64,
}

/// Frames lost after a tap.
#[derive(Debug, Serialize)]
pub struct LostAfter {
    /// The last tap that observed them.
    pub after_tap: String,
    /// Number of frames.
    pub frames: u64,
}

/// The delay that a share of the frames does not exceed, by nearest rank.
#[derive(Debug, Serialize)]
pub struct DelayPercentile {
    /// The share, in parts per million.
    pub share_ppm: u32,
    /// The delay in ns.
    pub delay_ns: i64,
}

/// All kinds of jitter.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Jitter {
    /// `delay(i) − delay(i−1)`.
    pub delay_step: Option<Stat>,
    /// Magnitude of `delay_step`.
    pub delay_step_abs: Option<Stat>,
    /// Distance from the mean delay.
    pub deviation: Option<Stat>,
    /// Distance of the gap between arrivals from the period.
    pub interval: Option<Stat>,
}

/// Bit/s of frames, destination address to FCS.
#[derive(Debug, Serialize)]
pub struct Rate {
    /// Rate at the first tap.
    pub sent_bps: Option<f64>,
    /// Rate at the last tap.
    pub received_bps: Option<f64>,
}
