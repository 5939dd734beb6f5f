//! The sequence numbers that a talker gives within a time.
//!
//! IEEE 802.1CB-2017, 7.4.1: one number for each frame.

use crate::curve::{Data, Ps};
use crate::model::clocks::longest_period;
use crate::model::flow_hop::FlowHop;
use tsn_plan::{Pattern, Plan, Size, Stream};

/// Sequence numbers of an R-TAG. IEEE 802.1CB-2017, 7.8.
pub(crate) const ALL_NUMBERS: Data = 1 << 16;

/// The frames of a periodic stream, one number each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Numbers {
    /// Greatest number of frames of a data unit.
    frames: Data,
    /// The period, and the intervals of babble.
    periods: Vec<Ps>,
    /// Time by which releases may be late, where their order is not that of the nominal times.
    jitter: Ps,
    /// Longest time between two nominal releases; none if the talker may be silent for any time.
    pub pause: Option<Ps>,
}

impl Numbers {
    /// The numbers of a stream, by its first hop; none if its talker may send any number of frames at once.
    pub fn of(plan: &Plan, stream: &Stream, first: &FlowHop) -> Option<Self> {
        let frames = match &stream.size {
            Size::Frame { .. } | Size::List { .. } => 1,
            Size::Units { octets, most_per_frame, .. } => {
                let most = octets.iter().copied().max().unwrap_or(0);
                Data::from(most.saturating_sub(1) / (*most_per_frame).max(1)) + 1
            }
        };
        let jitter = if first.babbles.is_empty() { 0 } else { first.latest? };
        let period = first.period?;
        // A token bucket says how much a talker sends at most; requests without an answer may be lost.
        let steady = stream.answers.is_none() && !matches!(stream.pattern, Pattern::TokenBucket { .. });
        let pause = if steady { longest_period(plan, period) } else { None };
        let periods = std::iter::once(period).chain(first.babbles.iter().copied()).collect();
        Some(Self { frames, periods, jitter, pause })
    }

    /// Most frames with releases within a closed span: nominal ones, or with babble the actual ones.
    pub fn within(&self, span: Ps) -> Data {
        let span = Data::from(span.max(0)) + Data::from(self.jitter);
        self.periods.iter().map(|period| self.frames * (span / Data::from((*period).max(1)) + 1)).sum()
    }
}
