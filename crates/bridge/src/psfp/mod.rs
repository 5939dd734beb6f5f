//! Per-stream filtering and policing: the treatment of received frames in a node.
//!
//! IEEE 802.1Q-2022, 8.6.5.2 to 8.6.5.6.

mod filter;
mod gate;
mod meter;

pub use filter::FilterCounters;
pub use gate::{Passing, StreamGate};
pub use meter::{Color, FlowMeter};

use crate::StateTaker;
use crate::ats::{Eligibility, Schedulers};
use filter::Filter;
use tsn_plan::Policing;
use tsn_units::{Free, Instant, Local};

/// The properties of a frame that a filter needs.
#[derive(Copy, Clone, Debug)]
pub struct Received {
    /// Octets from destination address to FCS.
    pub octets: u32,
    /// Octets of the service data unit: between type and FCS.
    pub sdu_octets: u32,
    /// Whether an earlier meter has marked the frame yellow.
    pub yellow: bool,
}

/// The decision about a frame.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The frame passes.
    Pass {
        /// The internal priority value that chooses the queue instead of the frame's priority.
        ipv: Option<u8>,
        /// Whether the frame is yellow from here on.
        yellow: bool,
        /// When the frame may be selected for transmission, if an ATS scheduler decides that.
        eligible: Option<Instant<Free>>,
    },
    /// The frame is dropped and counted.
    Drop,
}

/// The tables of one node with their state.
#[derive(Clone, Debug)]
pub struct Psfp {
    filters: Vec<Filter>,
    gates: Vec<StreamGate>,
    meters: Vec<FlowMeter>,
    schedulers: Schedulers,
}

impl Psfp {
    /// The tables of a checked Plan (see [`tsn_plan::Plan::check`]).
    #[must_use]
    pub fn new(policing: &Policing) -> Self {
        Self {
            filters: policing.filters.iter().map(Filter::new).collect(),
            gates: policing.gates.iter().map(StreamGate::new).collect(),
            meters: policing.meters.iter().map(FlowMeter::new).collect(),
            schedulers: Schedulers::new(policing),
        }
    }

    /// Handles a received frame that matches a filter. Stream gates use `local`, the time of the node's clock; meters
    /// and schedulers use `now`, the time of the node's oscillator.
    pub fn receive(
        &mut self,
        now: Instant<Free>,
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
            Some(Eligibility::At(eligible)) => Some(eligible),
            Some(Eligibility::Never) => return Verdict::Drop,
        };
        Verdict::Pass { ipv, yellow, eligible }
    }

    /// Adds the state of filters, stream gates, meters and schedulers of a node with a perfect clock. No frame is longer
    /// than `longest` octets.
    pub fn put_state(&self, state: &mut StateTaker, longest: u32) {
        self.filters.iter().for_each(|filter| state.put(u8::from(filter.is_blocked())));
        self.gates.iter().for_each(|gate| gate.put_state(state));
        self.meters.iter().for_each(|meter| meter.put_state(state));
        self.schedulers.put_state(state, longest);
    }

    /// The counters of each filter, in the order of the filters.
    pub fn counters(&self) -> impl Iterator<Item = &FilterCounters> {
        self.filters.iter().map(|filter| &filter.counters)
    }

    /// Frames that would have waited too long, by scheduler group.
    pub fn discarded(&self) -> impl Iterator<Item = u64> {
        self.schedulers.discarded()
    }
}

#[cfg(test)]
mod tests {
    use super::filter::tests::plain;
    use super::*;
    use tsn_plan::{AtsGroup, AtsScheduler, StreamFilter, StreamGateEntry};

    /// A gate that is closed for the second half of every 2 us, a meter of 100 octets and 50 more that are yellow,
    /// and a scheduler of 1,000 bit at 1 Mbit/s with a maximum residence time of 1 ms.
    fn tables(filters: Vec<StreamFilter>) -> Psfp {
        let entry = |open, ipv| StreamGateEntry { open, ipv, interval_ns: 1_000, octets_max: None };
        Psfp::new(&Policing {
            filters,
            gates: vec![tsn_plan::StreamGate {
                cycle_ns: 2_000,
                entries: vec![entry(true, Some(6)), entry(false, None)],
                ..tsn_plan::StreamGate::default()
            }],
            meters: vec![tsn_plan::FlowMeter {
                cir_bps: 0,
                cbs_octets: 100,
                ebs_octets: 50,
                ..tsn_plan::FlowMeter::default()
            }],
            schedulers: vec![AtsScheduler { cir_bps: 1_000_000, cbs_bits: 1_000, group: 0 }],
            groups: vec![AtsGroup { name: "all".into(), max_residence_ns: 1_000_000 }],
            ..Policing::default()
        })
    }

    fn frame(octets: u32) -> Received {
        Received { octets, sdu_octets: octets - 18, yellow: false }
    }

    fn pass(ipv: Option<u8>, yellow: bool) -> Verdict {
        Verdict::Pass { ipv, yellow, eligible: None }
    }

    /// Stream gates use the node's clock, which may differ from the counted time.
    #[test]
    fn a_frame_passes_the_size_then_the_gate_then_the_meter() {
        let all = StreamFilter { max_sdu_octets: Some(82), gate: Some(0), meter: Some(0), ..plain() };
        let mut tables = tables(vec![all]);
        let (open, closed) = (Instant::from_ns(2_500), Instant::from_ns(3_500));
        for (local, octets, verdict) in [
            (open, 101, Verdict::Drop),        // its data unit is too long
            (closed, 64, Verdict::Drop),       // the gate is closed, and no token is spent
            (open, 100, pass(Some(6), false)), // green
            (open, 50, pass(Some(6), true)),   // yellow
            (open, 30, Verdict::Drop),         // red
        ] {
            assert_eq!(tables.receive(Instant::EPOCH, local, 0, frame(octets)), verdict, "{octets} octets");
        }
        let counted = FilterCounters {
            matching_frames: 5,
            passing_frames: 3,
            not_passing_frames: 1,
            passing_sdu: 4,
            not_passing_sdu: 1,
            red_frames: 1,
            yellow_frames: 1,
        };
        assert_eq!(tables.counters().collect::<Vec<_>>(), [&counted]);
    }

    #[test]
    fn a_scheduler_says_when_or_that_it_would_be_too_long() {
        let mut tables = tables(vec![StreamFilter { scheduler: Some(0), ..plain() }]);
        // 105 octets and 20 more are 1,000 bit.
        let verdicts = [0; 3].map(|now| tables.receive(Instant::from_ns(now), Instant::EPOCH, 0, frame(105)));
        let eligible = |ns| Verdict::Pass { ipv: None, yellow: false, eligible: Some(Instant::from_ns(ns)) };
        assert_eq!(verdicts, [eligible(0), eligible(1_000_000), Verdict::Drop]);
        assert_eq!(tables.discarded().collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn what_has_no_table_passes_as_it_is() {
        let mut tables = tables(vec![plain()]);
        for filter in [0, 1] {
            let yellow = Received { yellow: true, ..frame(64) };
            assert_eq!(tables.receive(Instant::EPOCH, Instant::EPOCH, filter, yellow), pass(None, true));
        }
        assert_eq!(tables.counters().next().map(|counters| counters.matching_frames), Some(1));
    }
}
