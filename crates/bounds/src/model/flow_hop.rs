//! One flow at one port of its path, with its arrivals there.

use crate::curve::arrival::Stair;
use crate::curve::{Data, Ps};
use crate::model::member_streams::Once;
use crate::model::shaped::Shaped;
use crate::model::sizes::{Sizes, wire};

/// One flow at one port.
#[derive(Clone, Debug)]
pub(crate) struct FlowHop {
    pub stream: usize,
    pub port: usize,
    pub class: u8,
    /// The priority with which its frames leave here.
    pub pcp: u8,
    /// Indices of the previous hops: several where paths meet, none at the talker.
    pub parents: Vec<usize>,
    /// Whether a frame that arrives from several of them is forwarded once.
    pub once: Once,
    /// How many times the same frame may arrive.
    pub times: u32,
    /// Sizes of the frames that fit at least one window here; none if no frame fits.
    pub sizes: Option<Sizes>,
    /// The ATS scheduler in front of this port's queue.
    pub shaped: Option<Shaped>,
    pub period: Option<Ps>,
    /// When the first release is due, where there are periods.
    pub begin: Option<Ps>,
    /// How often the talker releases one more data unit, fault by fault.
    pub babbles: Vec<Ps>,
    /// After the release's nominal time, how long at least until a frame is in this port's queue.
    pub earliest: Ps,
    /// After the release itself, which may be late, how long at least until a frame is in this port's queue.
    pub fastest: Ps,
    /// After the release's nominal time, how long at most; none without a bound.
    pub latest: Option<Ps>,
    /// From its place in the queue to its last bit at the other end, at least.
    pub shortest: Ps,
}

impl FlowHop {
    /// Its arrivals here, where they have a bound of their own.
    pub fn stairs(&self) -> Option<impl Iterator<Item = Stair> + '_> {
        let (shaped, own) = match &self.shaped {
            Some(shaped) => {
                let sizes = self.sizes?;
                (Some(shaped.stair(wire(sizes.largest), sizes.smallest == sizes.largest)?), None)
            }
            None => (None, Some(self.unshaped()?)),
        };
        Some(shaped.into_iter().chain(own.into_iter().flatten()))
    }

    fn unshaped(&self) -> Option<impl Iterator<Item = Stair> + '_> {
        let jitter = self.latest?.checked_sub(self.earliest)?.max(0);
        let unit = self.sizes?.unit.checked_mul(Data::from(self.times))?;
        let periods = std::iter::once(self.period?).chain(self.babbles.iter().copied());
        Some(periods.map(move |period| Stair { unit, period, jitter }))
    }

    /// The previous hop, if there is exactly one.
    pub fn only_parent(&self) -> Option<usize> {
        if let [parent] = self.parents[..] { Some(parent) } else { None }
    }
}
