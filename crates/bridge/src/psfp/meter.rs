//! A flow meter: two rates, three colours.
//!
//! IEEE 802.1Q-2022, 8.6.5.5; MEF 10.3, 12 (one bandwidth profile flow, no envelope).

use crate::StateTaker;
use tsn_units::{Free, Instant};

/// Tokens of one bit, in the unit in which a rate in bit/s times a time in ps is exact.
const BIT: i128 = 1_000_000_000_000;

/// The colour that a meter gives a frame.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Color {
    /// The frame is within the committed rate.
    Green,
    /// The frame is beyond the committed rate and within the excess rate.
    Yellow,
    /// The frame is beyond both rates, or is dropped because it is yellow.
    Red,
}

/// One meter with its state. Buckets are full at the beginning of the run; tokens are exact.
#[derive(Clone, Debug)]
pub struct FlowMeter {
    cir: i128,
    eir: i128,
    cbs: i128,
    ebs: i128,
    coupling: bool,
    color_aware: bool,
    drop_on_yellow: bool,
    mark_all_frames_red: bool,
    /// `MarkAllFramesRed`.
    all_red: bool,
    committed: i128,
    excess: i128,
    last: Instant<Free>,
}

impl FlowMeter {
    /// The meter of a checked Plan (see [`tsn_plan::Plan::check`]).
    #[must_use]
    pub fn new(meter: &tsn_plan::FlowMeter) -> Self {
        let (cbs, ebs) = (tokens(meter.cbs_octets), tokens(meter.ebs_octets));
        Self {
            cir: i128::from(meter.cir_bps),
            eir: i128::from(meter.eir_bps),
            cbs,
            ebs,
            coupling: meter.coupling,
            color_aware: meter.color_aware,
            drop_on_yellow: meter.drop_on_yellow,
            mark_all_frames_red: meter.mark_all_frames_red,
            all_red: false,
            committed: cbs,
            excess: ebs,
            last: Instant::EPOCH,
        }
    }

    /// The tokens of both buckets at `now`.
    fn tokens_at(&self, now: Instant<Free>) -> (i128, i128) {
        let passed = i128::from((now - self.last).ps().max(0));
        let committed = self.committed + self.cir * passed;
        let overflow = if self.coupling { (committed - self.cbs).max(0) } else { 0 };
        (committed.min(self.cbs), (self.excess + self.eir * passed + overflow).min(self.ebs))
    }

    /// Adds the tokens as they are now.
    pub(super) fn put_state(&self, state: &mut StateTaker) {
        let (committed, excess) = self.tokens_at(state.now().on_perfect_clock());
        state.put(committed);
        state.put(excess);
        state.put(u8::from(self.all_red));
    }

    /// Meters a frame of `octets` from destination address to FCS.
    pub fn color(&mut self, now: Instant<Free>, octets: u32, yellow: bool) -> Color {
        (self.committed, self.excess) = self.tokens_at(now);
        self.last = self.last.max(now);
        if self.all_red {
            return Color::Red;
        }
        let needs = tokens(u64::from(octets));
        if !(self.color_aware && yellow) && needs <= self.committed {
            self.committed -= needs;
            return Color::Green;
        }
        if needs <= self.excess {
            self.excess -= needs;
            if !self.drop_on_yellow {
                return Color::Yellow;
            }
            return Color::Red;
        }
        self.all_red |= self.mark_all_frames_red;
        Color::Red
    }
}

fn tokens(octets: u64) -> i128 {
    i128::from(octets) * 8 * BIT
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meter(eir_bps: u64, change: impl Fn(&mut tsn_plan::FlowMeter)) -> FlowMeter {
        let mut meter = tsn_plan::FlowMeter {
            cir_bps: 8_000_000, // an octet per us
            cbs_octets: 1_000,
            eir_bps,
            ebs_octets: 500,
            ..tsn_plan::FlowMeter::default()
        };
        change(&mut meter);
        FlowMeter::new(&meter)
    }

    fn colors(mut meter: FlowMeter, frames: &[(i64, u32, bool)]) -> String {
        let color = |(us, octets, yellow): &(i64, u32, bool)| match meter.color(
            Instant::from_ns(us * 1_000),
            *octets,
            *yellow,
        ) {
            Color::Green => 'g',
            Color::Yellow => 'y',
            Color::Red => 'r',
        };
        frames.iter().map(color).collect()
    }

    #[test]
    fn a_burst_takes_both_buckets_and_they_fill_at_their_rates() {
        let frames = [(0, 1_000, false), (0, 500, false), (0, 1, false), (99, 100, false), (100, 100, false)];
        assert_eq!(colors(meter(0, |_| ()), &frames), "gyrrg");
        // At half the committed rate, the other bucket has 50 octets after 100 us.
        let frames =
            [(0, 1_000, false), (0, 500, false), (100, 101, false), (100, 100, false), (100, 50, false)];
        assert_eq!(colors(meter(4_000_000, |_| ()), &frames), "gyrgy");
    }

    #[test]
    fn the_excess_bucket_keeps_what_a_frame_leaves() {
        let frames = [(0, 1_000, false), (0, 100, false), (0, 401, false), (0, 400, false), (0, 1, false)];
        assert_eq!(colors(meter(0, |_| ()), &frames), "gyryr");
        // 1,100 octets in 1,100 us: 1,000 fill the committed bucket, 100 overflow.
        let frames = [
            (0, 1_000, false),
            (0, 500, false),
            (1_100, 1_000, false),
            (1_100, 101, false),
            (1_100, 100, false),
        ];
        assert_eq!(colors(meter(0, |meter| meter.coupling = true), &frames), "gygry");
    }

    #[test]
    fn coupling_passes_on_what_overflows() {
        let frames = [(0, 500, false), (0, 600, true), (1_000, 1_000, false), (1_000, 500, false)];
        // Of 1 000 octets in 1 000 us, 500 fill the committed bucket.
        let full = |meter: &mut tsn_plan::FlowMeter| meter.color_aware = true;
        assert_eq!(colors(meter(0, full), &frames), "grgy");
        let drained = [(0, 500, true), (0, 1_000, false), (1_500, 1_000, false), (1_500, 500, false)];
        assert_eq!(colors(meter(0, full), &drained), "yggr");
        let coupled = |meter: &mut tsn_plan::FlowMeter| (meter.color_aware, meter.coupling) = (true, true);
        assert_eq!(colors(meter(0, coupled), &drained), "yggy");
    }

    #[test]
    fn a_yellow_frame_takes_no_committed_tokens_where_colours_count() {
        let frames = [(0, 500, true), (0, 500, true), (0, 1_000, false)];
        assert_eq!(colors(meter(0, |_| ()), &frames), "ggr");
        assert_eq!(colors(meter(0, |meter| meter.color_aware = true), &frames), "yrg");
    }

    #[test]
    fn dropping_yellow_and_marking_all_red() {
        let frames = [(0, 1_000, false), (0, 500, false), (0, 1, false), (10_000, 10, false)];
        assert_eq!(colors(meter(0, |meter| meter.drop_on_yellow = true), &frames), "grrg");
        assert_eq!(colors(meter(0, |meter| meter.mark_all_frames_red = true), &frames), "gyrr");
    }
}
