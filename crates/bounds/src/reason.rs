//! Reasons why a flow, a class or a queue has no bound.

use std::fmt;
use tsn_units::BitRate;

/// Why there is no bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Flows of the class release without a bound, and no slower link or shaper before this port gives one.
    UnboundedArrivals {
        /// The first such flow.
        stream: String,
    },
    /// When frames of a flow of the class arrive here has no bound, because they have none before.
    Behind {
        /// The first such flow.
        stream: String,
        /// Why it has no bound at an earlier port.
        why: Box<Self>,
    },
    /// A flow of the class answers another one, whose arrivals have no bound.
    Answers {
        /// The first such flow.
        stream: String,
        /// The other one.
        request: String,
        /// Why that has no bound, if it is not an answer itself.
        why: Option<Box<Self>>,
    },
    /// A flow of the class answers another one, of which more frames may arrive than its period says.
    AnswersAgain {
        /// The first such flow.
        stream: String,
        /// The other one.
        request: String,
    },
    /// A higher class may use the port without a limit.
    HigherClass {
        /// The higher class.
        class: u8,
        /// Why that has no limit; none if it only brings too much.
        why: Option<Box<Self>>,
    },
    /// The arrivals of the class are at least its guaranteed rate.
    Overload {
        /// Long-run rate of arrivals, bit/s on the wire.
        coming_bps: i64,
        /// Guaranteed rate of the class, bit/s on the wire.
        served_bps: i64,
    },
    /// No window of the class's gate is long enough for its largest frame after a frame that may still be on the
    /// wire.
    NoWindow,
    /// With gates in true time there would be a bound: windows that are certain on the port's clock are shorter.
    OnClock {
        /// What is the case in these windows.
        why: Box<Self>,
    },
    /// The frame itself fits no window: it is dropped on arrival.
    Dropped,
    /// A transmit buffer behind transmission selection holds frames of the port, which has shapers and gates.
    TransmitBuffer,
    /// Credit of the port's shapers grows while gates are closed.
    CreditRuns,
    /// The port's gate control list changes, and its lists have too many entries to follow.
    Changes,
    /// The port's gate control list changes, and a class waits for longer than the cycles that are followed.
    LongWait,
    /// Holds of the port's gate control list are shorter than the advances of holding and releasing.
    ShortHolds,
    /// Ports feed each other in a cycle, and delays around the cycle grow without end.
    Circle,
    /// A fault delays or repeats frames before an ATS scheduler, or delays them beside pre-emption.
    Faults,
    /// The frames of an ATS scheduler group arrive in several queues, or faster than their schedulers let them pass.
    Shaping,
    /// Frames that are not yet eligible wait here, which the bound of the queue does not count.
    Held,
    /// Numbers exceed what the analysis can count: hours of delay, or more data than a port sends in days.
    TooLarge,
    /// Frames that fit a window only if the clock of the port is not fast are dropped.
    FastClock,
    /// Something counts on a clock of its own.
    Clocks {
        /// What counts.
        what: &'static str,
    },
    /// How far clocks are apart does not follow from the Plan, and it contains no promise.
    Unpromised,
    /// A talker or a listener is at a transparent clock, which does not keep the common time.
    Transparent,
    /// A queueing discipline holds frames, and works in software.
    Qdisc,
    /// The program of a stream has no time for its frames.
    Busy {
        /// The stream.
        stream: String,
    },
    /// The software of a host waits for other work of its processor, which hosts share.
    Processor {
        /// The host.
        node: String,
    },
    /// Loss: a queueing discipline drops frames that come too late.
    TooLate,
    /// A frame may be lost: faults of the Plan drop frames.
    Taken,
    /// A frame may be lost: filters, meters or schedulers of the Plan may drop frames.
    Filters,
    /// Loss: the talker may send any number of frames between two copies of one frame.
    AnyNumber,
    /// Loss: sequence recovery discards numbers that are too far from those that it knows.
    History {
        /// The length of the history that would suffice.
        needed: i128,
        /// The length of the history.
        history: u32,
        /// Whether the function may be reset between two frames.
        reset: bool,
    },
    /// Loss: so many frames may be sent between two copies that sequence numbers repeat.
    Repeats {
        /// The number of frames.
        frames: i128,
    },
    /// Loss: the path forwards at some times only.
    StandsBy,
    /// Loss after a failure: it does not forward.
    Down,
    /// Loss after a failure: all paths pass what has failed.
    Carries {
        /// Links and nodes.
        parts: String,
        /// Whether it is more than one of them.
        several: bool,
    },
    /// Loss after a failure: the paths that remain may lose frames.
    Without {
        /// Links and nodes that have failed.
        parts: String,
        /// Why the others may lose frames.
        why: Box<Self>,
    },
    /// Loss: every path has a reason of its own.
    EveryPath(Vec<Self>),
    /// Loss: more frames may arrive than the queue has room for.
    Overflow,
    /// Loss: a frame may wait for the longest time of its queue.
    DelayExceeded,
    /// Loss: the class's maximum frame size is below its largest frame.
    OverMaxSdu,
    /// Loss: ports share memory, and others may have used it.
    Buffer,
    /// The flow has no bound at one of its ports.
    At {
        /// The port's name.
        port: String,
        /// Why there is none.
        why: Box<Self>,
    },
}

impl Reason {
    /// Whether the reason is in the end that such a flow has no bounded burst.
    pub(crate) fn is_of_arrivals(&self, of: &dyn Fn(&str) -> bool) -> bool {
        match self {
            Self::UnboundedArrivals { stream } => of(stream),
            Self::Behind { why, .. } | Self::At { why, .. } | Self::HigherClass { why: Some(why), .. } => {
                why.is_of_arrivals(of)
            }
            _ => false,
        }
    }

    /// Replaces each flow without a bounded burst in the reason by another reason.
    pub(crate) fn replace_arrivals(&mut self, other: &dyn Fn(&str) -> Option<Self>) {
        match self {
            Self::UnboundedArrivals { stream } => {
                if let Some(other) = other(stream) {
                    *self = other;
                }
            }
            Self::Behind { why, .. }
            | Self::At { why, .. }
            | Self::Without { why, .. }
            | Self::HigherClass { why: Some(why), .. } => why.replace_arrivals(other),
            Self::EveryPath(paths) => paths.iter_mut().for_each(|path| path.replace_arrivals(other)),
            _ => {}
        }
    }
}

/// A reason behind another one.
struct Because<'a>(&'a Option<Box<Reason>>);

impl fmt::Display for Because<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |why| write!(f, ": {why}"))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnboundedArrivals { stream } => {
                write!(f, "{stream} shares the class and has no bounded burst")
            }
            Self::Behind { stream, why } => {
                write!(f, "{stream} shares the class, and when it arrives has no bound: {why}")
            }
            Self::Answers { stream, request, why } => {
                write!(f, "{stream} answers {request}, and the arrival of that has no bound{}", Because(why))
            }
            Self::AnswersAgain { stream, request } => {
                write!(f, "{stream} answers {request}, of which more may arrive than its period says")
            }
            Self::HigherClass { class, why } => {
                write!(f, "class {class} above it has priority and may use the whole link{}", Because(why))
            }
            Self::OnClock { why } => write!(
                f,
                "the clock of the port may make its windows shorter: {why}; widen them by what clocks may differ"
            ),
            Self::Overload { coming_bps, served_bps } => {
                let [coming, served] = [coming_bps, served_bps].map(|bps| BitRate(bps.unsigned_abs()));
                write!(f, "{coming} may arrive, the class is guaranteed {served}")
            }
            Self::NoWindow => f.write_str("no window of its gate is guaranteed to have room for its largest frame"),
            Self::Dropped => f.write_str("its frames fit no window of its gate, so they are dropped"),
            Self::FastClock => f.write_str(
                "its frames fit no window of its gate while the clock of the port is fast, and are dropped then",
            ),
            Self::TransmitBuffer => {
                f.write_str("shapers beside gates in front of a transmit buffer have no bound here")
            }
            Self::CreditRuns => {
                f.write_str("credit grows there while gates are closed, which has no bound here")
            }
            Self::Changes => {
                f.write_str("its gate control lists replace each other, and have too many entries or holds to follow")
            }
            Self::LongWait => f.write_str(
                "its gate control list changes, and frames may wait for longer than the cycles that are followed",
            ),
            Self::ShortHolds => {
                f.write_str("its holds are shorter than their advances, which has no bound here")
            }
            Self::Circle => f.write_str("ports feed each other in a circle, and delays grow around it"),
            Self::Faults => f.write_str(
                "a fault delays or repeats frames before an ATS scheduler, or delays them beside pre-emption, \
                 which has no bound here",
            ),
            Self::Shaping => f.write_str(
                "the frames of an ATS scheduler group behind it arrive in several queues, or exceed their schedulers' rates",
            ),
            Self::Held => f.write_str("frames wait here that are not eligible yet (ATS), which has no bound here"),
            Self::TooLarge => f.write_str("the numbers are too large to count"),
            Self::Qdisc => f.write_str(
                "its queueing discipline (taprio or cbs) works in software, which has no bound here",
            ),
            Self::Busy { stream } => {
                write!(f, "the program of {stream} may need longer for its frames than there is between them")
            }
            Self::Processor { node } => {
                write!(f, "the software of {node} waits for all that its processor does, which has no bound here")
            }
            Self::TooLate => f.write_str("its queueing discipline (etf) drops frames that come too late"),
            Self::Clocks { what } => write!(f, "{what} on a clock of its own has no bound here"),
            Self::Unpromised => f.write_str(
                "how far the clocks are apart is not known, and nothing promises it: write clocks: {within: 1 us}",
            ),
            Self::Transparent => {
                f.write_str("a talker or listener is a transparent clock, which does not keep the common time")
            }
            Self::Taken => f.write_str("faults drop frames"),
            Self::Filters => f.write_str("filters, meters or schedulers of the plan may drop frames"),
            Self::AnyNumber => f.write_str("its talker may send any number of frames between two copies of one"),
            Self::History { needed, history, reset } => {
                let after = if *reset { "may be reset between two frames, and then needs" } else { "needs" };
                write!(f, "sequence recovery {after} a history of {needed}, and has one of {history}")
            }
            Self::Repeats { frames } => {
                write!(f, "{frames} frames may be sent between two copies of one, so that sequence numbers repeat")
            }
            Self::StandsBy => f.write_str("the path stands by at some times"),
            Self::Down => f.write_str("it has failed"),
            Self::Carries { parts, several } => {
                write!(f, "{parts} {} every member stream", if *several { "carry" } else { "carries" })
            }
            Self::Without { parts, why } => write!(f, "without {parts}: {why}"),
            Self::EveryPath(paths) => {
                let paths: Vec<String> = paths.iter().map(ToString::to_string).collect();
                f.write_str(&paths.join("; and "))
            }
            Self::Overflow => f.write_str("more frames may arrive than its queue has room for"),
            Self::DelayExceeded => f.write_str("it may wait for the longest time of its queue, and is dropped then"),
            Self::OverMaxSdu => f.write_str("its largest frame exceeds the largest that its class takes"),
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
