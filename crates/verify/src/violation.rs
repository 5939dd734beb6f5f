//! Violations as data; their display is a sentence.

use serde::{Deserialize, Serialize};
use std::fmt;

/// One violation of the schedule. Streams and ports are indices into the Plan; times are in ps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[allow(missing_docs)]
pub enum Violation {
    /// The times of the stream's frames cannot be determined.
    Unfit { stream: u32, reason: Unfit },
    /// The port has a mechanism that the proof does not follow.
    UnfitPort { port: u32, reason: Unfit },
    /// A frame is planned to leave before it has arrived.
    TooEarly { stream: u32, port: u32, planned_ps: u64, comes_ps: u64 },
    /// Two frames are on a link at once.
    Meet { port: u32, streams: [u32; 2], at_ps: i64, overlap_ps: i64 },
    /// A frame waits in a queue through which another frame passes.
    SharedQueue { port: u32, class: u8, streams: [u32; 2], at_ps: i64 },
    /// A frame's gate is closed while the frame is to pass.
    Closed { stream: u32, port: u32, class: u8, at_ps: i64 },
    /// A frame's gate is open while the frame is to wait.
    GoesEarly { stream: u32, port: u32, class: u8, at_ps: i64 },
    /// A frame of another class may be on the wire at the planned start.
    OthersOpen { stream: u32, port: u32, class: u8, at_ps: i64 },
    /// A class of scheduled frames also carries other streams.
    SharedClass { port: u32, class: u8, scheduled: u32, other: u32 },
    /// A class of scheduled frames also carries the messages of PTP.
    PtpShares { port: u32, class: u8, scheduled: u32 },
    /// A frame is dropped because it is longer than its class allows.
    TooLarge { stream: u32, port: u32, octets: u32, most: u32 },
    /// A frame may be dropped because it waits for the longest time of its queue.
    Late { stream: u32, port: u32, wait_ps: u64, most_ps: u64 },
    /// The delay exceeds the deadline.
    Deadline { stream: u32, node: u32, delay_ps: u64, limit_ps: u64 },
    /// The jitter exceeds its limit.
    Jitter { stream: u32, node: u32, jitter_ps: u64, limit_ps: u64 },
    /// Clocks differ by more than the margin.
    Margin { stream: u32, margin_ps: u64, error_ps: u64 },
}

/// The reason why a stream or port cannot be verified.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unfit {
    /// Releases are not periodic, or they have jitter.
    Releases,
    /// The sizes of frames differ from period to period.
    Sizes,
    /// The number of planned times differs from the number of possible paths.
    Times,
    /// A node on the path uses cut-through, or its processing time is random.
    Forwarding,
    /// A node on the path polices its frames, or is a host whose software takes time.
    Software,
    /// The gates change, begin late, or have no guard band.
    Gates,
    /// A shaper delays a scheduled class.
    Shaper,
    /// Frames that others interrupt continue when their gate is closed.
    Preemption,
    /// A transmit buffer or a server holds frames that were selected, or serves them later.
    Buffered,
    /// The number of frames exceeds the limit of the proof.
    Cycle,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Releases => "its releases are not periodic, or jitter",
            Self::Sizes => "its frames are not of the same sizes every period",
            Self::Times => "it has not as many planned times as ways to come by",
            Self::Forwarding => "a node on its way cuts through, or takes a time that is drawn",
            Self::Software => "a node on its path polices its frames, or is a host whose software takes time",
            Self::Gates => "its gates change, begin late or do not guard",
            Self::Shaper => "a shaper holds scheduled frames back",
            Self::Preemption => {
                "express frames of other classes interrupt frames, which then continue in windows of the schedule"
            }
            Self::Buffered => "frames wait in it behind transmission selection, or for a server",
            Self::Cycle => "the periods have too little in common to follow every frame",
        })
    }
}

/// Picoseconds in words, with a unit that fits.
struct Time(i64);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, part) = (self.0.div_euclid(1_000), self.0.rem_euclid(1_000));
        if part == 0 { write!(f, "{whole} ns") } else { write!(f, "{whole}.{part:03} ns") }
    }
}

fn time(ps: u64) -> Time {
    Time(i64::try_from(ps).unwrap_or(i64::MAX))
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unfit { stream, reason } => write!(f, "stream {stream}: {reason}"),
            Self::UnfitPort { port, reason } => write!(f, "port {port}: {reason}"),
            Self::TooEarly { stream, port, planned_ps, comes_ps } => write!(
                f,
                "stream {stream} is planned to leave port {port} {} after its release, but comes there after {}",
                time(*planned_ps),
                time(*comes_ps)
            ),
            Self::Meet { port, streams: [a, b], at_ps, overlap_ps } => write!(
                f,
                "streams {a} and {b} are both on port {port}'s link at {}, for {}",
                Time(*at_ps),
                Time(*overlap_ps)
            ),
            Self::SharedQueue { port, class, streams: [a, b], at_ps } => write!(
                f,
                "streams {a} and {b} are both in the queue of class {class} of port {port} at {}, and one waits",
                Time(*at_ps)
            ),
            Self::Closed { stream, port, class, at_ps } => write!(
                f,
                "stream {stream} passes port {port} at {}, when the gate of class {class} is closed",
                Time(*at_ps)
            ),
            Self::GoesEarly { stream, port, class, at_ps } => write!(
                f,
                "stream {stream} waits at port {port} at {}, when the gate of class {class} is open",
                Time(*at_ps)
            ),
            Self::OthersOpen { stream, port, class, at_ps } => write!(
                f,
                "class {class} of port {port} is open at {}, when stream {stream} is to find the wire free",
                Time(*at_ps)
            ),
            Self::SharedClass { port, class, scheduled, other } => write!(
                f,
                "class {class} of port {port} has scheduled stream {scheduled} and stream {other}, which is not"
            ),
            Self::PtpShares { port, class, scheduled } => write!(
                f,
                "class {class} of port {port} has scheduled stream {scheduled} and messages of PTP, which take its windows"
            ),
            Self::TooLarge { stream, port, octets, most } => write!(
                f,
                "stream {stream} has frames of {octets} octets, and its class at port {port} takes {most}"
            ),
            Self::Late { stream, port, wait_ps, most_ps } => write!(
                f,
                "stream {stream} may wait at port {port} for {}, and is dropped there after {}",
                time(*wait_ps),
                time(*most_ps)
            ),
            Self::Deadline { stream, node, delay_ps, limit_ps } => write!(
                f,
                "stream {stream} is at node {node} after {}, not within {}",
                time(*delay_ps),
                time(*limit_ps)
            ),
            Self::Jitter { stream, node, jitter_ps, limit_ps } => write!(
                f,
                "stream {stream} jitters by {} at node {node}, not within {}",
                time(*jitter_ps),
                time(*limit_ps)
            ),
            Self::Margin { stream, margin_ps, error_ps } => write!(
                f,
                "stream {stream} has a margin of {}, and clocks differ by {}",
                time(*margin_ps),
                time(*error_ps)
            ),
        }
    }
}
