//! Per-stream filtering and policing: what a node does with frames as they come in.
//!
//! IEEE 802.1Q-2022, 8.6.5.2 to 8.6.5.6.

mod filter;
mod gate;
mod meter;

pub use filter::FilterCounters;
pub use gate::{Passing, StreamGate};
pub use meter::{Color, FlowMeter};

use crate::ats::{Schedulers, Waiting};
use filter::Filter;
use tsn_plan::Policing;
use tsn_units::{Instant, Local};

/// A frame as a filter sees it.
#[derive(Copy, Clone, Debug)]
pub struct Received {
    /// From destination address to FCS.
    pub octets: u32,
    /// Of its service data unit: between its type and its FCS.
    pub sdu_octets: u32,
    /// Whether a meter before has marked it yellow.
    pub yellow: bool,
}

/// What becomes of a frame.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It goes on.
    Pass {
        /// What chooses its queue, in place of its priority.
        ipv: Option<u8>,
        /// Whether it is yellow from here on.
        yellow: bool,
        /// When it may be selected for transmission, where an ATS scheduler has a say.
        eligible: Option<Instant>,
    },
    /// It is dropped and counted.
    Drop,
}

/// One node's tables at work.
#[derive(Clone, Debug)]
pub struct Psfp {
    filters: Vec<Filter>,
    gates: Vec<StreamGate>,
    meters: Vec<FlowMeter>,
    schedulers: Schedulers,
}

impl Psfp {
    /// The tables of a Plan whose consistency is proved (see [`tsn_plan::Plan::check`]).
    #[must_use]
    pub fn new(policing: &Policing) -> Self {
        Self {
            filters: policing.filters.iter().map(Filter::new).collect(),
            gates: policing.gates.iter().map(StreamGate::new).collect(),
            meters: policing.meters.iter().map(FlowMeter::new).collect(),
            schedulers: Schedulers::new(policing),
        }
    }

    /// A frame has come in that matches a filter. Stream gates go by the node's clock, which shows `local`; meters and
    /// schedulers by `now`, which the node's oscillator counts.
    pub fn receive(
        &mut self,
        now: Instant,
        local: Instant<Local>,
        filter: usize,
        frame: Received,
    ) -> Verdict {
        let Some(filter) = self.filters.get_mut(filter) else {
            return Verdict::Pass { ipv: None, yellow: frame.yellow, eligible: None };
        };
        filter.counters.matching_frames += 1;
        if !filter.takes(frame.sdu_octets) {
            return Verdict::Drop;
        }
        let gate = filter.gate.and_then(|gate| self.gates.get_mut(gate));
        let ipv = match gate.map(|gate| gate.pass(local, frame.sdu_octets)) {
            None => None,
            Some(Passing::Open { ipv }) => ipv,
            Some(Passing::Closed) => {
                filter.counters.not_passing_frames += 1;
                return Verdict::Drop;
            }
        };
        filter.counters.passing_frames += 1;
        let meter = filter.meter.and_then(|meter| self.meters.get_mut(meter));
        let yellow = match meter.map(|meter| meter.color(now, frame.octets, frame.yellow)) {
            None => frame.yellow,
            Some(Color::Green) => false,
            Some(Color::Yellow) => {
                filter.counters.yellow_frames += 1;
                true
            }
            Some(Color::Red) => {
                filter.counters.red_frames += 1;
                return Verdict::Drop;
            }
        };
        let eligible = match filter.scheduler.map(|number| self.schedulers.process(now, number, frame.octets))
        {
            None => None,
            Some(Waiting::Until(eligible)) => Some(eligible),
            Some(Waiting::TooLong) => return Verdict::Drop,
        };
        Verdict::Pass { ipv, yellow, eligible }
    }

    /// What each filter counted, in the order of the filters.
    pub fn counters(&self) -> impl Iterator<Item = &FilterCounters> {
        self.filters.iter().map(|filter| &filter.counters)
    }

    /// Frames that would have waited too long, by scheduler group.
    pub fn discarded(&self) -> impl Iterator<Item = u64> {
        self.schedulers.discarded()
    }
}
