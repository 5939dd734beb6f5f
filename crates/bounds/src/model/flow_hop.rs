//! One flow at one port of its path, with its arrivals there.

use crate::curve::arrival::Stair;
use crate::curve::{Data, Ps};
use crate::model::member_streams::Once;
use crate::model::shaped::Shaped;
use crate::model::sizes::{Sizes, wire};
use crate::model::span::Span;
use crate::model::stream_gates::{Chain, Turns, less};
use crate::reason::Reason;

/// One flow at one port. There may be a hundred thousand: what few have is in a box.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FlowHop {
    pub stream: usize,
    pub port: usize,
    pub class: u8,
    /// All classes that stream gates may put its frames into: a bit per class.
    pub classes: u8,
    /// For a class that stream gates choose beside the first one: the hop of the flow in the first class.
    pub of: Option<usize>,
    /// When a stream gate puts its frames into this class, if that is known.
    pub turns: Option<Turns>,
    /// The turns that come into this class, if all its arrivals are known.
    pub chain: Option<Chain>,
    /// The priority of its frames when they leave here.
    pub pcp: u8,
    /// Indices of the previous hops: several where paths merge, none at the talker.
    pub parents: Vec<usize>,
    /// Whether a frame that arrives from several of them is forwarded once.
    pub once: Once,
    /// How many times the same frame may arrive.
    pub times: u32,
    /// Sizes of the frames that the class takes and that fit at least one window here; none if no frame does.
    pub sizes: Option<Sizes>,
    /// Whether all frames are larger than the class takes, or than a filter before it lets pass.
    pub oversize: bool,
    /// The ATS scheduler in front of this port's queue, if all frames pass it.
    pub shaped: Option<Box<Shaped>>,
    /// Whether frames may wait for an ATS scheduler in front of this port's queue.
    pub held: bool,
    pub period: Option<Ps>,
    /// The time from the release that frames need in the software of their talker, at the first hop; or why it has no
    /// bound.
    pub software: Result<Span, Box<Reason>>,
    /// The nominal time of the first release, if there is a period.
    pub begin: Option<Ps>,
    /// The intervals at which the talker releases one more data unit, fault by fault.
    pub babbles: Vec<Ps>,
    /// Least time from the nominal release until a frame is in this port's queue.
    pub earliest: Ps,
    /// Least time from the actual release, which may be late, until a frame is in this port's queue.
    pub fastest: Ps,
    /// Least times from the nominal and from the actual release until the last bit of a frame at the other end.
    pub ends: (Ps, Ps),
    /// Greatest time from the nominal release until a frame is in this port's queue; none without a bound.
    pub latest: Option<Ps>,
    /// Least time from the queue to the last bit at the other end.
    pub shortest: Ps,
    /// How much closer to each other than on the previous link the frames of that link may come into this queue.
    pub closer: Ps,
    /// How much earlier than with its last bit every frame is in this queue, because the node cuts through.
    pub early: Ps,
}

impl FlowHop {
    /// Why all frames are dropped where `sizes` is none.
    pub fn dropped(&self) -> Reason {
        if self.oversize { Reason::OverMaxSdu } else { Reason::Dropped }
    }

    /// The flow's arrivals in the queue of this class, if they have a bound of their own.
    pub fn queued(&self) -> Option<impl Iterator<Item = Stair> + '_> {
        let all = self.stairs()?;
        let in_turns = self.turns.as_ref().zip(self.chain.as_ref());
        let (known, all) = match in_turns.and_then(|(turns, chain)| chain.stair(turns.cycle, self.closer)) {
            Some(own) => (Some(less(all.collect(), own)), None),
            None => (None, Some(all)),
        };
        Some(known.into_iter().flatten().chain(all.into_iter().flatten()))
    }

    /// The flow's arrivals here in all classes, if they have a bound of their own.
    pub fn stairs(&self) -> Option<impl Iterator<Item = Stair> + '_> {
        let sizes = self.sizes?;
        let (first, babbles) = match &self.shaped {
            Some(shaped) => (shaped.stair(wire(sizes.largest), sizes.smallest == sizes.largest)?, &[][..]),
            None => (self.unshaped(sizes)?, &self.babbles[..]),
        };
        Some(
            std::iter::once(first)
                .chain(babbles.iter().map(move |period| Stair { period: *period, ..first })),
        )
    }

    /// The arrivals of a flow whose talker does not babble, whatever shapes them.
    pub fn released(&self) -> Option<Stair> {
        self.unshaped(self.sizes?).filter(|_| self.babbles.is_empty())
    }

    fn unshaped(&self, sizes: Sizes) -> Option<Stair> {
        let jitter = self.latest?.checked_sub(self.earliest)?.max(0);
        let unit = sizes.unit.checked_mul(Data::from(self.times))?;
        Some(Stair { unit, period: self.period?, jitter })
    }

    /// The previous hop, if there is exactly one.
    pub fn only_parent(&self) -> Option<usize> {
        if let [parent] = self.parents[..] { Some(parent) } else { None }
    }
}
