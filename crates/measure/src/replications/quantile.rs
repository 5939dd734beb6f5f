//! Quantiles over replications.

use super::interval::{Interval, sectioned};

/// A probability as a ratio of integers: 99 % is 99 of 100. A quantile's rank is exact then.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Ratio {
    part: u64,
    whole: u64,
}

impl Ratio {
    /// The ratio; none if it is not between 0 and 1, or one of them.
    #[must_use]
    pub fn new(part: u64, whole: u64) -> Option<Self> {
        (part > 0 && part < whole).then_some(Self { part, whole })
    }

    /// The nearest rank of this quantile of `count` samples, from 1.
    fn rank(self, count: usize) -> usize {
        let rank = (count as u128 * u128::from(self.part)).div_ceil(u128::from(self.whole));
        usize::try_from(rank).unwrap_or(count)
    }

    /// The least number of frames per replication: ten of them, on average, are above the quantile.
    #[must_use]
    pub fn frames_needed(self) -> u64 {
        let needed = (10 * u128::from(self.whole)).div_ceil(u128::from(self.whole - self.part));
        u64::try_from(needed).unwrap_or(u64::MAX)
    }

    /// The duration with which a replication has [`Ratio::frames_needed`], if it had `frames` in `duration`. None
    /// without frames, and if they were enough.
    #[must_use]
    pub fn duration_needed(self, frames: u64, duration: u64) -> Option<u64> {
        let needed = self.frames_needed();
        if frames == 0 || frames >= needed {
            return None;
        }
        let longer = (u128::from(duration) * u128::from(needed)).div_ceil(u128::from(frames));
        u64::try_from(longer).ok()
    }
}

/// The quantile of samples, by nearest rank; none without samples.
fn nearest_rank(samples: &mut [i64], ratio: Ratio) -> Option<i64> {
    let place = ratio.rank(samples.len()).checked_sub(1)?;
    Some(*samples.select_nth_unstable(place).1)
}

/// The quantile of all samples together, with the t interval from each replication's own quantile. None with fewer than
/// two replications, and if one of them has too few samples for this quantile.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "an estimate")]
pub fn pooled(replications: &[Vec<i64>], ratio: Ratio, confidence: f64) -> Option<Interval> {
    if replications.iter().any(|samples| (samples.len() as u64) < ratio.frames_needed()) {
        return None;
    }
    let own = replications.iter().filter_map(|samples| nearest_rank(&mut samples.clone(), ratio));
    let own: Vec<f64> = own.map(|value| value as f64).collect();
    let together = nearest_rank(&mut replications.concat(), ratio)?;
    sectioned(&own, together as f64, confidence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_needs_ten_frames_above_it() {
        let needed = |part, whole| Ratio::new(part, whole).map(Ratio::frames_needed);
        assert_eq!(needed(1, 2), Some(20));
        assert_eq!(needed(99, 100), Some(1000));
        assert_eq!(needed(999, 1000), Some(10_000));
        assert_eq!(needed(2, 3), Some(30));
        assert_eq!((needed(0, 1), needed(1, 1), needed(2, 1)), (None, None, None));
    }

    #[test]
    fn the_duration_that_would_do_is_rounded_up() {
        let p99 = Ratio::new(99, 100).unwrap();
        assert_eq!(p99.duration_needed(300, 1_000_000_000), Some(3_333_333_334));
        assert_eq!(p99.duration_needed(1000, 1_000_000_000), None);
        assert_eq!(p99.duration_needed(0, 1_000_000_000), None);
    }

    #[test]
    fn a_pooled_quantile_is_not_the_mean_of_quantiles() {
        // Medians 10 and 111; of the 40 samples together the 20th is 20.
        let low: Vec<i64> = (1..=20).collect();
        let high: Vec<i64> = (102..=121).collect();
        let median = Ratio::new(1, 2).unwrap();
        let found = pooled(&[low.clone(), high.clone()], median, 0.95).unwrap();
        assert!((found.estimate - 20.0).abs() < 1e-12);
        let half = 12.7062 * ((10.0f64.powi(2) + 91.0f64.powi(2)) / 2.0).sqrt();
        assert!((found.high - 20.0 - half).abs() < 0.01, "{found:?}");
        assert_eq!(pooled(&[low, high[1..].to_vec()], median, 0.95), None);
    }
}
