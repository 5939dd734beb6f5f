//! Why something has no bound.

use std::fmt;

/// Why there is no bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Flows of the class have no bound on what they release, and no slower link or shaper before this port gives one.
    UnboundedArrivals {
        /// The first such flow.
        stream: String,
    },
    /// A higher class takes the port without a limit.
    HigherClass {
        /// It.
        class: u8,
    },
    /// At least as much comes as the class can be sure to send.
    Overload {
        /// bit/s on the wire, in the long run.
        coming_bps: i64,
        /// bit/s on the wire that the class is sure of.
        served_bps: i64,
    },
    /// No window of the class's gate is long enough for its largest frame after what may still be on the wire.
    NoWindow,
    /// The frame itself fits no window: it is dropped on arrival.
    Dropped,
    /// The node passes frames on before they are whole, which these bounds do not cover.
    CutThrough,
    /// What the node takes for a frame differs from frame to frame, which these bounds do not cover.
    Processing,
    /// A class whose frames are interrupted has a shaper, which these bounds do not cover.
    Preemption,
    /// Its gates go by one list after another, or do not keep frames from running past their end, or hold preemptable
    /// frames back, or credit runs on while they are closed.
    Gates,
    /// Ports feed each other in a circle, and delays around it grow without end.
    Circle,
    /// Bridges learn, and flood until they know: what comes to a port is then not what this analysis counts.
    Flooded,
    /// Frames are delayed or doubled on a link, or a port obeys a wrong schedule.
    Faults,
    /// An ATS scheduler group has frames that come in several queues, or faster than their schedulers let them pass.
    Shaping,
    /// Copies of a stream meet, or change their tags, where an ATS scheduler shapes them.
    ShapedCopies,
    /// Frames wait here that are not eligible yet, which the bound of the queue does not count.
    Held,
    /// Stream gates choose the queues of some frames, so that no class has arrivals of its own.
    Internal,
    /// Numbers beyond what can be counted: hours of delay, or data that no port sends in days.
    TooLarge,
    /// Nodes go by clocks of their own; bounds are for one perfect time.
    Clocks,
    /// Software of hosts takes part.
    Hosts,
    /// Of loss: faults of the Plan take frames.
    Taken,
    /// Of loss: filters, meters or schedulers of the Plan may drop frames.
    Filters,
    /// Of loss: copies are eliminated, and which of them arrives is not followed.
    Copies,
    /// Of loss: more may come than the queue has room for.
    Overflow,
    /// Of loss: the class takes no frame as large as its largest one.
    OverMaxSdu,
    /// Of loss: ports share memory, and others may have taken it.
    Buffer,
    /// The flow has no bound at one of its ports.
    At {
        /// The port's name.
        port: String,
        /// Why there is none.
        why: Box<Self>,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnboundedArrivals { stream } => {
                write!(f, "{stream} shares the class and may release any amount at once")
            }
            Self::HigherClass { class } => write!(f, "class {class} above it may take the link for ever"),
            Self::Overload { coming_bps, served_bps } => {
                write!(f, "{coming_bps} bit/s may come, the class is sure of {served_bps} bit/s")
            }
            Self::NoWindow => f.write_str("no window of its gate is sure to have room for its largest frame"),
            Self::Dropped => f.write_str("its frames fit no window of its gate, so they are dropped"),
            Self::CutThrough => f.write_str(
                "its node cuts through: frames come to its queues before they are whole, which has no bound here",
            ),
            Self::Processing => {
                f.write_str("its node's processing time differs from frame to frame, which has no bound here")
            }
            Self::Preemption => f.write_str("a shaper on frames that are interrupted has no bound here"),
            Self::Gates => f.write_str(
                "its gate control list changes, is not in force from the start, or keeps frames and credit less \
                 strictly than the bounds here take for granted",
            ),
            Self::Circle => f.write_str("ports feed each other in a circle, and delays grow around it"),
            Self::Flooded => f.write_str("bridges of the plan learn, and frames that are flooded are not counted"),
            Self::Faults => f.write_str(
                "frames of the plan are delayed or doubled, or a port obeys a wrong schedule, which has no bound here",
            ),
            Self::Shaping => f.write_str(
                "behind it, an ATS scheduler group has frames of several queues, or that exceed their schedulers' rates",
            ),
            Self::ShapedCopies => f.write_str("copies of a stream meet, or get or lose their tags, where an ATS scheduler shapes them, which has no bound here"),
            Self::Held => f.write_str("frames wait here that are not eligible yet (ATS), which has no bound here"),
            Self::Internal => {
                f.write_str("stream gates choose queues in this plan, which the analysis does not cover")
            }
            Self::TooLarge => f.write_str("the numbers are too large to count"),
            Self::Hosts => write!(f, "the software of hosts is not covered"),
            Self::Clocks => {
                f.write_str("nodes have clocks of their own, and bounds are for one perfect time")
            }
            Self::Taken => f.write_str("faults take frames"),
            Self::Filters => f.write_str("filters, meters or schedulers of the plan may drop frames"),
            Self::Copies => f.write_str("copies meet, and which of them goes on is not followed"),
            Self::Overflow => f.write_str("more frames may come than its queue has room for"),
            Self::OverMaxSdu => f.write_str("its class takes no frame as large as its largest one"),
            Self::Buffer => f.write_str("ports share memory, and frames of others may fill it"),
            Self::At { port, why } => write!(f, "at {port}: {why}"),
        }
    }
}

impl serde::Serialize for Reason {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
