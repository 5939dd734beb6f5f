//! The measures as they are written: `tsnbench-measures/1`.

use crate::distribution::Stat;
use crate::offset::Offset;
use serde::Serialize;

/// The format that this version writes.
pub const FORMAT: &str = "tsnbench-measures/1";

/// Everything that was measured.
#[derive(Debug, Serialize)]
pub struct Measures {
    /// [`FORMAT`].
    pub format: &'static str,
    /// What was read.
    pub source: Source,
    /// A whole-second offset between the clocks, where there is one.
    pub offset: Option<Offset>,
    /// One entry per stream and listener.
    pub paths: Vec<PathReport>,
    /// The same, pooled over the flows of a scenario stream.
    pub groups: Vec<PathReport>,
}

/// What was read.
#[derive(Debug, Default, Serialize)]
pub struct Source {
    /// `run` or `captures`.
    pub kind: &'static str,
    /// Every file.
    pub files: Vec<SourceFile>,
    /// Whose frames they are.
    pub formats: Vec<String>,
    /// Frames that could not be told apart, and streams that only the receiving side saw.
    pub ignored: Ignored,
    /// What to look at before trusting this.
    pub warnings: Vec<String>,
}

/// One file.
#[derive(Debug, Serialize)]
pub struct SourceFile {
    /// As given.
    pub path: String,
    /// `tx`, `rx` or `observations`.
    pub side: &'static str,
    /// Frames or rows read.
    pub frames: u64,
}

/// What was read and is in no path.
#[derive(Debug, Default, Serialize)]
pub struct Ignored {
    /// Frames that end inside their link layer.
    pub unreadable_frames: u64,
    /// Streams that were sighted at the receiving side only.
    pub rx_only_streams: u64,
    /// Their frames.
    pub rx_only_frames: u64,
}

/// What was measured of one stream at one listener, or of a group of them.
#[derive(Debug, Serialize)]
pub struct PathReport {
    /// The flow; in `groups` the scenario stream.
    pub stream: String,
    /// The scenario stream.
    pub group: String,
    /// Who listens.
    pub listener: String,
    /// The first tap.
    pub tx_tap: Option<String>,
    /// The last tap.
    pub rx_tap: Option<String>,
    /// Whose clock stamps there.
    pub tx_clock: Option<String>,
    /// Whose clock stamps there.
    pub rx_clock: Option<String>,
    /// In `groups`: how many flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<usize>,
    /// What became of the frames.
    pub count: Count,
    /// Frames that did not arrive (lost, or still under way at the end) by the last tap that sighted them.
    pub lost_where: Vec<LostAfter>,
    /// ns.
    pub delay: Option<Stat>,
    /// Delays that the Plan's shares of the frames do not exceed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub delay_percentiles: Vec<DelayPercentile>,
    /// ns, by kind.
    pub jitter: Jitter,
    /// Standard deviation of the delay, ns.
    pub spread: Option<f64>,
    /// The talker's period, where it has one.
    pub period_ns: Option<u64>,
    /// Delay above which a frame is late.
    pub deadline_ns: Option<u64>,
    /// Bit/s of frames.
    pub rate: Rate,
    /// From the talker's queue to the first tap, ns.
    pub send_to_tx: Option<Stat>,
    /// From the talker's queue to the last tap, ns; there where frames are stamped as they are handed over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release_delay: Option<Stat>,
    /// What all these times may be wrong by; there where the run's clocks were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncertainty: Option<Uncertainty>,
    /// Gaps between departures, ns.
    pub departures: Option<Stat>,
    /// Gaps between arrivals, ns.
    pub arrivals: Option<Stat>,
}

/// By how much the times of a path may be wrong, ns. No delay is corrected by it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Uncertainty {
    /// A delay, and every share of the delays: this much more or less.
    pub delay_ns: i64,
    /// The difference of two delays. What is wrong with both alike does not count.
    pub difference_ns: i64,
    /// A gap between arrivals.
    pub arrivals_ns: i64,
    /// A delay from the hand-over to the talker's queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release_delay_ns: Option<i64>,
}

impl Uncertainty {
    /// The greater of both.
    pub(crate) fn or_more(self, other: Self) -> Self {
        Self {
            delay_ns: self.delay_ns.max(other.delay_ns),
            difference_ns: self.difference_ns.max(other.difference_ns),
            arrivals_ns: self.arrivals_ns.max(other.arrivals_ns),
            release_delay_ns: self.release_delay_ns.max(other.release_delay_ns),
        }
    }
}

/// What became of the frames.
#[derive(Debug, Serialize)]
pub struct Count {
    /// Numbers missing at the first tap; none where the frames carry no sequence number of their talker.
    pub never_sent: Option<u64>,
    /// Sighted at the first tap.
    pub sent: u64,
    /// Sighted at both.
    pub received: u64,
    /// Sighted at the first tap only.
    pub lost: u64,
    /// Received after the deadline; none without a deadline.
    pub late: Option<u64>,
    /// Arrived again.
    pub duplicate: u64,
    /// Arrived after a higher number.
    pub reordered: u64,
    /// Sighted at the last tap only.
    pub unmatched_rx: u64,
    /// Received without a stamp at one end.
    pub missing_timestamp: u64,
    /// Left again.
    pub duplicate_tx: u64,
    /// Numbers below the first that was sighted, where nothing says that they were meant to be sent.
    pub before_first: u64,
    /// Still under way when the run ended.
    pub in_network_at_end: u64,
    /// Jumps in the numbers that mean a new beginning.
    pub restarts: u64,
}

/// Frames lost behind a tap.
#[derive(Debug, Serialize)]
pub struct LostAfter {
    /// The last tap that sighted them.
    pub after_tap: String,
    /// How many.
    pub frames: u64,
}

/// The delay that a share of the frames does not exceed, by nearest rank.
#[derive(Debug, Serialize)]
pub struct DelayPercentile {
    /// The share, in parts per million.
    pub share_ppm: u32,
    /// ns.
    pub delay_ns: i64,
}

/// Every named jitter.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Jitter {
    /// `delay(i) − delay(i−1)`.
    pub delay_step: Option<Stat>,
    /// Its magnitude.
    pub delay_step_abs: Option<Stat>,
    /// Distance from the mean delay.
    pub deviation: Option<Stat>,
    /// Distance of the gap between arrivals from the period.
    pub interval: Option<Stat>,
}

/// Bit/s of frames, destination address to FCS.
#[derive(Debug, Serialize)]
pub struct Rate {
    /// At the first tap.
    pub sent_bps: Option<f64>,
    /// At the last tap.
    pub received_bps: Option<f64>,
}
