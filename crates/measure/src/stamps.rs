//! The error of timestamps: from readings of each node's clock to a bound for every moment.
//!
//! Between two readings the error of a clock changes no faster than its stated drift. The error is therefore within
//! the intersection of two cones. Readings that differ by more than the drift allows prove that the drift is greater
//! there, or that the clock was stepped: the bound is then their hull, widened by half of its span.

use serde::Deserialize;
use std::collections::HashMap;

/// The readings of the clocks that made a run's timestamps.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stamps {
    /// By the node's name.
    pub nodes: HashMap<String, NodeStamps>,
}

/// The clock of one node's timestamps.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeStamps {
    /// The name of the clock: nodes with the same name share it.
    pub clock: String,
    /// The greatest rate of change of its error, in parts of 10^9.
    pub drift_ppb: i64,
    /// The resolution of the timestamps.
    #[serde(default)]
    pub granularity_ns: i64,
    /// The greatest delay between the wire and the timestamp, ns.
    #[serde(default)]
    pub unseen_ns: i64,
    /// In order of time.
    #[serde(default)]
    pub readings: Vec<ClockReading>,
}

/// The error of a clock at one moment: its time, its offset from the truth (ps), and the uncertainty of the reading
/// (ps).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ClockReading(pub i64, pub i64, pub i64);

/// From the least to the greatest error, in ps.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Range {
    pub(crate) low: i64,
    pub(crate) high: i64,
}

impl Range {
    /// A range of this much on both sides of zero.
    fn around_zero(half: i64) -> Self {
        Self { low: -half, high: half }
    }

    /// The smallest range with both ranges.
    pub(crate) fn hull(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    fn minus(self, other: Self) -> Self {
        Self { low: self.low.saturating_sub(other.high), high: self.high.saturating_sub(other.low) }
    }

    fn widened(self, by: i64) -> Self {
        Self { low: self.low.saturating_sub(by), high: self.high.saturating_add(by) }
    }

    /// The greatest distance from zero, in whole ns.
    pub(crate) fn most_ns(self) -> i64 {
        whole_ns(self.low.saturating_abs().max(self.high.saturating_abs()))
    }

    /// The length of the range, in whole ns: the greatest difference of two errors in it.
    pub(crate) fn span_ns(self) -> i64 {
        whole_ns(self.high.saturating_sub(self.low))
    }
}

fn whole_ns(ps: i64) -> i64 {
    ps.div_euclid(1_000) + i64::from(ps.rem_euclid(1_000) > 0)
}

impl NodeStamps {
    /// The greatest change of the error in this time, ps.
    fn drifts(&self, span_ns: i64) -> i64 {
        let ppm_ps = i128::from(span_ns).abs() * i128::from(self.drift_ppb);
        i64::try_from(ppm_ps / 1_000_000 + i128::from(ppm_ps % 1_000_000 > 0)).unwrap_or(i64::MAX)
    }

    /// The errors that one reading allows at another moment.
    fn cone(&self, ClockReading(at, error, unsure): ClockReading, t_ns: i64) -> Range {
        let half = self.drifts(t_ns.saturating_sub(at)).saturating_add(unsure);
        Range { low: error.saturating_sub(half), high: error.saturating_add(half) }
    }

    /// The possible errors of the clock when it shows `t_ns`; none without a reading.
    #[must_use]
    pub fn error(&self, t_ns: i64) -> Option<Range> {
        let after = self.readings.partition_point(|reading| reading.0 <= t_ns);
        let before = after.checked_sub(1).and_then(|place| self.readings.get(place));
        match (before, self.readings.get(after)) {
            (Some(before), Some(after)) => Some(self.between(*before, *after, t_ns)),
            (Some(only), None) | (None, Some(only)) => Some(self.cone(*only, t_ns)),
            (None, None) => None,
        }
    }

    fn between(&self, before: ClockReading, after: ClockReading, t_ns: i64) -> Range {
        let (one, other) = (self.cone(before, t_ns), self.cone(after, t_ns));
        let met = Range { low: one.low.max(other.low), high: one.high.min(other.high) };
        let apart = before.1.saturating_sub(after.1).saturating_abs();
        let allowed = self.drifts(after.0.saturating_sub(before.0)) + before.2 + after.2;
        if apart <= allowed && met.low <= met.high {
            return met;
        }
        let hull = self.cone(before, before.0).hull(self.cone(after, after.0));
        hull.widened(hull.high.saturating_sub(hull.low) / 2)
    }
}

/// The clocks of the timestamps at both ends of a path.
#[derive(Clone, Debug)]
pub struct Ends<'a> {
    /// The clock of the talker.
    pub tx: &'a NodeStamps,
    /// The clock of the listener.
    pub rx: &'a NodeStamps,
    /// Resolutions at both taps, if those of the Plan are coarser than the nodes'.
    pub ticks_ns: (i64, i64),
}

impl Ends<'_> {
    /// The error of a delay between these timestamps, positive if the delay is too large; none if a clock has no
    /// readings.
    #[must_use]
    pub fn delay(&self, tx_ns: i64, rx_ns: i64) -> Option<Range> {
        let clocks = if self.tx.clock == self.rx.clock {
            Range::around_zero(self.rx.drifts(rx_ns.saturating_sub(tx_ns)))
        } else {
            self.rx.error(rx_ns)?.minus(self.tx.error(tx_ns)?)
        };
        let unseen = self.tx.unseen_ns.saturating_add(self.rx.unseen_ns);
        Some(clocks.widened((self.ticks().saturating_add(unseen)).saturating_mul(1_000)))
    }

    /// The error of an arrival's timestamp, positive if it is too late.
    #[must_use]
    pub fn arrival(&self, rx_ns: i64) -> Option<Range> {
        let clock = if self.tx.clock == self.rx.clock && self.rx.readings.is_empty() {
            Range::around_zero(0)
        } else {
            self.rx.error(rx_ns)?
        };
        let rest = self.rx.granularity_ns.max(self.ticks_ns.1).saturating_add(self.rx.unseen_ns);
        Some(clock.widened(rest.saturating_mul(1_000)))
    }

    fn ticks(&self) -> i64 {
        let (tx, rx) = self.ticks_ns;
        self.tx.granularity_ns.max(tx).saturating_add(self.rx.granularity_ns.max(rx))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(drift_ppb: i64, readings: &[(i64, i64, i64)]) -> NodeStamps {
        let readings = readings.iter().map(|one| ClockReading(one.0, one.1, one.2)).collect();
        NodeStamps { drift_ppb, readings, ..NodeStamps::default() }
    }

    fn range(low: i64, high: i64) -> Option<Range> {
        Some(Range { low, high })
    }

    /// 1 ppm is 1,000 ps in each ms.
    #[test]
    fn between_readings_the_error_is_in_both_cones() {
        let read = clock(1_000, &[(0, 100, 10), (1_000_000, 300, 20)]);
        assert_eq!(read.error(0), range(90, 110));
        assert_eq!(read.error(100_000), range(-10, 210));
        assert_eq!(read.error(500_000), range(-220, 610), "of the nearer cone each side has its own");
        assert_eq!(read.error(1_000_000), range(280, 320));
        // Before the first and after the last reading there is one cone.
        assert_eq!(read.error(-1_000_000), range(-910, 1_110));
        assert_eq!(read.error(3_000_000), range(-1_720, 2_320));
        assert_eq!(clock(1_000, &[]).error(0), None);
    }

    #[test]
    fn a_clock_that_was_stepped_is_anywhere_between_and_half_as_far_beyond() {
        let read = clock(1_000, &[(0, 0, 0), (1_000_000, 5_000_000, 0)]);
        assert_eq!(read.error(1), range(-2_500_000, 7_500_000));
        assert_eq!(read.error(999_999), range(-2_500_000, 7_500_000));
        // A difference equal to the drift is no contradiction.
        let read = clock(1_000, &[(0, 0, 0), (1_000_000, 1_000, 0)]);
        assert_eq!(
            read.error(500_000),
            range(500, 500),
            "and then the clock ran straight from one to the other"
        );
    }

    #[test]
    fn a_delay_is_as_unsure_as_both_ends() {
        let mut tx = clock(0, &[(0, 1_000, 100)]);
        let mut rx = clock(0, &[(0, -2_000, 300)]);
        (tx.clock, rx.clock) = ("a".into(), "b".into());
        let ends = Ends { tx: &tx, rx: &rx, ticks_ns: (0, 0) };
        let found = ends.delay(10, 20).unwrap();
        assert_eq!((found, found.most_ns(), found.span_ns()), (Range { low: -3_400, high: -2_600 }, 4, 1));
        (tx.granularity_ns, rx.granularity_ns, rx.unseen_ns) = (8, 1, 50);
        let ends = Ends { tx: &tx, rx: &rx, ticks_ns: (1, 4) };
        assert_eq!(ends.delay(10, 20), range(-3_400 - 62_000, -2_600 + 62_000));
        assert_eq!(ends.arrival(20), range(-2_300 - 54_000, -1_700 + 54_000));
    }

    #[test]
    fn one_clock_at_both_ends_is_wrong_by_its_pace_alone() {
        let stamps = NodeStamps { clock: "kernel".into(), drift_ppb: 100_000, ..NodeStamps::default() };
        let ends = Ends { tx: &stamps, rx: &stamps, ticks_ns: (1, 1) };
        // 100 ppm of 1 ms are 100 ns.
        assert_eq!(ends.delay(0, 1_000_000), range(-102_000, 102_000));
        assert_eq!(ends.arrival(5), range(-1_000, 1_000));
        let other = NodeStamps { clock: "another".into(), ..stamps.clone() };
        assert_eq!(Ends { rx: &other, ..ends }.delay(0, 1_000_000), None, "nobody read them");
    }

    #[test]
    fn parts_of_a_nanosecond_count_as_one() {
        assert_eq!([0, 1, 999, 1_000, 1_001].map(whole_ns), [0, 1, 1, 1, 2]);
    }
}
