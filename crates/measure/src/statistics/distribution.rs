//! The statistics of many integers: extremes, exact mean and deviation, nearest-rank quantiles.

use super::histogram::Histogram;
use serde::Serialize;

/// One extreme sample: its value, the frame's number, and the frame's path.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Extreme {
    /// The sample.
    pub value: i64,
    /// The frame's number; none if a sample stands for many frames.
    pub seq: Option<u64>,
    /// The path, by its index in the report.
    pub path: u32,
}

/// Samples as counts, with their extremes.
#[derive(Clone, Debug, Default)]
pub struct Distribution {
    counts: Histogram,
    min: Option<Extreme>,
    max: Option<Extreme>,
}

impl Distribution {
    /// Adds the sample of one frame; of equal extremes the first one is kept.
    #[inline]
    pub fn add(&mut self, value: i64, seq: u64, path: u32) {
        self.counts.add(value);
        let this = Extreme { value, seq: Some(seq), path };
        if self.min.is_none_or(|min| value < min.value) {
            self.min = Some(this);
        }
        if self.max.is_none_or(|max| value > max.value) {
            self.max = Some(this);
        }
    }

    /// Adds a sample that was observed `times` times, as a bin of a histogram contains it; adds nothing if `times` is
    /// 0.
    pub fn add_many(&mut self, value: i64, times: u64, seq: u64, path: u32) {
        if times > 0 {
            self.add(value, seq, path);
            self.counts.add_many(value, times - 1);
        }
    }

    /// Number of samples.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.total()
    }

    /// The smallest sample.
    #[must_use]
    pub fn min(&self) -> Option<Extreme> {
        self.min
    }

    /// The largest sample.
    #[must_use]
    pub fn max(&self) -> Option<Extreme> {
        self.max
    }

    /// Adds the samples of another distribution.
    pub fn merge(&mut self, other: &Self) {
        for (value, count) in other.counts.ascending() {
            self.counts.add_many(value, count);
        }
        let first = [self.min, other.min].into_iter().flatten().min_by_key(|extreme| extreme.value);
        let last = [other.max, self.max].into_iter().flatten().max_by_key(|extreme| extreme.value);
        (self.min, self.max) = (first, last);
    }

    /// Adds so many times what `next` has more: the same run with one period more. An extreme of a frame behind the
    /// periods has a number that is greater by the frames of each.
    pub(super) fn extrapolate(&mut self, next: &Self, times: u64) {
        self.counts.extrapolate(&next.counts, times);
        for (own, next) in [(&mut self.min, next.min), (&mut self.max, next.max)] {
            extrapolate_number(own, next, times);
        }
    }

    /// The samples' distances from `centre`. The largest keeps its frame; the smallest may be of many frames, so it
    /// has none.
    #[must_use]
    pub fn distances(&self, centre: i64) -> Self {
        let mut found = Self::default();
        let distance = |value: i64| i64::try_from(value.abs_diff(centre)).unwrap_or(i64::MAX);
        let mut nearest = None;
        for (value, count) in self.counts.ascending() {
            let away = distance(value);
            found.counts.add_many(away, count);
            nearest = Some(nearest.map_or(away, |nearest: i64| nearest.min(away)));
        }
        let extremes = [self.min, self.max].into_iter().flatten();
        found.max = extremes
            .map(|extreme| Extreme { value: distance(extreme.value), ..extreme })
            .max_by_key(|extreme| extreme.value);
        found.min = nearest.zip(self.min).map(|(value, min)| Extreme { value, seq: None, path: min.path });
        found
    }

    /// The distances of the samples from 0, of which the extremes are known.
    pub(super) fn magnitudes(&self, min: Option<Extreme>, max: Option<Extreme>) -> Self {
        Self { min, max, ..self.distances(0) }
    }

    /// The mean, rounded to a whole number (halves away from zero).
    #[must_use]
    pub fn mean_rounded(&self) -> Option<i64> {
        let count = i128::from(self.counts.total());
        if count == 0 {
            return None;
        }
        let sum: i128 = self.counts.ascending().iter().map(|(v, n)| i128::from(*v) * i128::from(*n)).sum();
        let half = if sum < 0 { -count } else { count };
        i64::try_from((2 * sum + half) / (2 * count)).ok()
    }

    /// All statistics; none without a sample.
    #[must_use]
    pub fn stat(&self) -> Option<Stat> {
        let (min, max) = (self.min?, self.max?);
        let values = self.counts.ascending();
        let count = self.counts.total();
        let (mut sum, mut squares) = (0_i128, Squares::default());
        for (value, times) in &values {
            sum += i128::from(*value) * i128::from(*times);
            squares.add(*value, *times);
        }
        let quantile = |share: u64, of: u64| nearest_rank(&values, count, share, of);
        #[expect(clippy::cast_precision_loss, reason = "the last step; everything before it is exact")]
        Some(Stat {
            count,
            min: min.value,
            min_seq: min.seq,
            min_stream: None,
            max: max.value,
            max_seq: max.seq,
            max_stream: None,
            sum,
            mean: sum as f64 / count as f64,
            std: squares.deviation(sum, count),
            median: quantile(1, 2),
            p90: quantile(9, 10),
            p99: quantile(99, 100),
            p99_9: quantile(999, 1000),
        })
    }

    /// The value that `share` in `of` samples do not exceed; none without a sample.
    #[must_use]
    pub fn quantile(&self, share: u64, of: u64) -> Option<i64> {
        let count = self.counts.total();
        (count > 0).then(|| nearest_rank(&self.counts.ascending(), count, share, of))
    }
}

/// Moves the number of an extreme as far as it moves from a run to the one with a period more, so many times.
pub(super) fn extrapolate_number(own: &mut Option<Extreme>, next: Option<Extreme>, times: u64) {
    if let (Some(own), Some(next)) = (own, next)
        && let (Some(seq), Some(later)) = (&mut own.seq, next.seq)
    {
        *seq += later.saturating_sub(*seq).saturating_mul(times);
    }
}

/// The value of rank `ceil(share / of * count)`, counting from 1.
fn nearest_rank(ascending: &[(i64, u64)], count: u64, share: u64, of: u64) -> i64 {
    let rank = (u128::from(share) * u128::from(count)).div_ceil(u128::from(of)).max(1);
    let mut passed = 0_u128;
    for (value, times) in ascending {
        passed += u128::from(*times);
        if passed >= rank {
            return *value;
        }
    }
    ascending.last().map_or(0, |(value, _)| *value)
}

/// A sum of squares, exact as long as 128 bits suffice, and in floating point beyond.
#[derive(Default)]
struct Squares {
    exact: Option<u128>,
    begun: bool,
    approximate: f64,
}

impl Squares {
    fn add(&mut self, value: i64, times: u64) {
        let square = u128::from(value.unsigned_abs()).pow(2);
        let before = if self.begun { self.exact } else { Some(0) };
        self.begun = true;
        self.exact = before
            .and_then(|sum| square.checked_mul(u128::from(times)).and_then(|part| sum.checked_add(part)));
        #[expect(clippy::cast_precision_loss, reason = "the fallback")]
        {
            self.approximate += square as f64 * times as f64;
        }
    }

    /// `sqrt(count * squares − sum²) / count`.
    #[expect(clippy::cast_precision_loss, reason = "the last step")]
    fn deviation(&self, sum: i128, count: u64) -> f64 {
        let exact = self.exact.and_then(|squares| {
            let square = sum.unsigned_abs().checked_mul(sum.unsigned_abs())?;
            squares.checked_mul(u128::from(count))?.checked_sub(square)
        });
        match exact {
            Some(scaled) => (scaled as f64).sqrt() / count as f64,
            None => {
                let mean = sum as f64 / count as f64;
                (self.approximate / count as f64 - mean * mean).max(0.0).sqrt()
            }
        }
    }
}

/// The statistics of many integers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stat {
    /// Number of samples.
    pub count: u64,
    /// The smallest.
    pub min: i64,
    /// The number of the frame with the smallest sample; none if the sample stands for many frames.
    pub min_seq: Option<u64>,
    /// In a group: the name of that frame's flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_stream: Option<String>,
    /// The largest.
    pub max: i64,
    /// The number of the frame with the largest sample.
    pub max_seq: Option<u64>,
    /// In a group: the name of that frame's flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_stream: Option<String>,
    /// Exact sum.
    pub sum: i128,
    /// `sum / count`.
    pub mean: f64,
    /// Standard deviation of the population.
    pub std: f64,
    /// Nearest rank.
    pub median: i64,
    /// Nearest rank.
    pub p90: i64,
    /// Nearest rank.
    pub p99: i64,
    /// Nearest rank.
    pub p99_9: i64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[i64]) -> Distribution {
        let mut found = Distribution::default();
        for (seq, value) in values.iter().enumerate() {
            found.add(*value, seq as u64, 0);
        }
        found
    }

    #[test]
    fn a_small_sample_by_hand() {
        let stat = of(&[5, 1, 4, 1, 5]).stat().unwrap();
        assert_eq!((stat.count, stat.min, stat.min_seq, stat.max, stat.max_seq), (5, 1, Some(1), 5, Some(0)));
        assert_eq!((stat.sum, stat.mean, stat.median, stat.p90), (16, 3.2, 4, 5));
        assert!((stat.std - 1.833_030_277_982_336).abs() < 1e-15);
        assert_eq!(of(&[]).stat(), None);
        assert_eq!(of(&[i64::MIN, i64::MAX, i64::MAX]).stat().map(|stat| stat.median), Some(i64::MAX));
    }

    /// Squares of the largest values do not fit into 128 bits: half of the samples at 0, half at the largest one.
    #[test]
    fn samples_whose_squares_are_too_large_to_be_exact() {
        let std = of(&[0, 0, i64::MAX, i64::MAX]).stat().unwrap().std;
        assert!((std / (i64::MAX as f64 / 2.0) - 1.0).abs() < 1e-12, "{std}");
        assert_eq!(of(&[5, 5, 5, 1]).mean_rounded(), Some(4));
        assert_eq!((of(&[]).mean_rounded(), of(&[]).quantile(1, 2)), (None, None));
    }

    #[test]
    fn distances_keep_the_frame_of_the_largest() {
        let away = of(&[10, 14, 13]).distances(13);
        assert_eq!((away.min().unwrap().value, away.min().unwrap().seq), (0, None));
        assert_eq!((away.max().unwrap().value, away.max().unwrap().seq), (3, Some(0)));
        assert_eq!(of(&[1, 2]).mean_rounded(), Some(2));
        assert_eq!(of(&[-1, -2]).mean_rounded(), Some(-2));
        assert_eq!(of(&[-1, 1, 1]).mean_rounded(), Some(0));
    }

    proptest! {
        #[test]
        fn quantiles_are_of_the_sorted_samples(mut values in prop::collection::vec(-5000_i64..5000, 1..300)) {
            let distribution = of(&values);
            values.sort_unstable();
            for (share, of) in [(1, 2), (9, 10), (99, 100), (999, 1000), (1, 1), (0, 1)] {
                let rank = (values.len() * share).div_ceil(of).max(1);
                prop_assert_eq!(distribution.quantile(share as u64, of as u64), Some(values[rank - 1]));
            }
        }

        #[test]
        fn merging_is_as_if_counted_together(
            left in prop::collection::vec(-500_i64..500, 0..60),
            right in prop::collection::vec(-500_i64..500, 0..60),
        ) {
            let mut merged = of(&left);
            merged.merge(&of(&right));
            let whole = of(&[left, right].concat());
            let bare = |stat: Option<Stat>| stat.map(|stat| Stat { min_seq: None, max_seq: None, ..stat });
            prop_assert_eq!(bare(merged.stat()), bare(whole.stat()));
        }
    }
}
