//! Confidence intervals of a quantity that each replication estimates once.

use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, StudentsT};

/// An estimate with its confidence interval.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Interval {
    /// The estimate.
    pub estimate: f64,
    /// The interval's lower end.
    pub low: f64,
    /// The interval's upper end.
    pub high: f64,
    /// How often such an interval contains the true value, of 1. For a distribution-free interval: the confidence that
    /// is reached, which is at least the one requested.
    pub confidence: f64,
    /// Number of replications.
    pub replications: usize,
}

impl Interval {
    /// Half of the interval's width, of the estimate's magnitude; none if the estimate is 0 and the interval is not a
    /// point.
    #[must_use]
    pub fn relative_half_width(&self) -> Option<f64> {
        let half = (self.high - self.low) / 2.0;
        if half == 0.0 {
            return Some(0.0);
        }
        (self.estimate != 0.0).then(|| half / self.estimate.abs())
    }
}

/// Whether `confidence` is a probability between 0 and 1, and neither of them.
#[must_use]
pub fn is_confidence(confidence: f64) -> bool {
    confidence > 0.0 && confidence < 1.0
}

/// The quantile of Student's t that makes a two-sided interval of `confidence`.
#[must_use]
pub fn two_sided_t(freedom: usize, confidence: f64) -> Option<f64> {
    #[allow(clippy::cast_precision_loss, reason = "numbers of replications are small")]
    let t = StudentsT::new(0.0, 1.0, freedom as f64).ok()?;
    is_confidence(confidence).then(|| t.inverse_cdf(f64::midpoint(1.0, confidence)))
}

/// The t interval around `pooled`, the estimate from the samples of all replications together (sectioning: Asmussen and
/// Glynn, Stochastic Simulation, III.5a). None with fewer than two replications.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "numbers of replications are small")]
pub fn sectioned(estimates: &[f64], pooled: f64, confidence: f64) -> Option<Interval> {
    let count = estimates.len();
    let t = two_sided_t(count.checked_sub(1)?, confidence)?;
    let squares: f64 = estimates.iter().map(|estimate| (estimate - pooled).powi(2)).sum();
    let half = t * (squares / (count - 1) as f64 / count as f64).sqrt();
    Some(Interval {
        estimate: pooled,
        low: pooled - half,
        high: pooled + half,
        confidence,
        replications: count,
    })
}

/// The mean over all replications with its t interval: each replication's mean counts with its number of samples.
/// None with fewer than two replications that have samples.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "an estimate")]
pub fn mean(replications: &[(f64, u64)], confidence: f64) -> Option<Interval> {
    let with: Vec<_> = replications.iter().filter(|(_, count)| *count > 0).collect();
    let (means, weights): (Vec<f64>, Vec<f64>) =
        with.iter().map(|(mean, count)| (*mean, *count as f64)).unzip();
    sectioned(&means, weighted_mean(&means, &weights), confidence)
}

/// The mean of `values`. It is computed as a distance from the first value: the mean of equal values is that value, and
/// not one that differs from it in the last digit.
fn weighted_mean(values: &[f64], weights: &[f64]) -> f64 {
    let Some(&first) = values.first() else { return 0.0 };
    let distances: f64 = values.iter().zip(weights).map(|(value, weight)| (value - first) * weight).sum();
    first + distances / weights.iter().sum::<f64>()
}

/// The interval between two order statistics of the replications' estimates that contains their median, whatever their
/// distribution. None if there are too few replications for `confidence`: at 95 % six are needed.
#[must_use]
pub fn distribution_free(estimates: &[f64], confidence: f64) -> Option<Interval> {
    let count = estimates.len();
    let below = Binomial::new(0.5, count as u64).ok()?;
    let reached = |rank: usize| 1.0 - 2.0 * below.cdf(rank as u64 - 1);
    let rank = (1..=count / 2)
        .take_while(|&rank| is_confidence(confidence) && reached(rank) >= confidence)
        .last()?;
    let mut sorted = estimates.to_vec();
    sorted.sort_by(f64::total_cmp);
    let estimate = f64::midpoint(sorted[(count - 1) / 2], sorted[count / 2]);
    let (low, high) = (sorted[rank - 1], sorted[count - rank]);
    Some(Interval { estimate, low, high, confidence: reached(rank), replications: count })
}

/// The mean difference `b − a` of two variants whose replications had the same seeds, pair by pair, with its t
/// interval. None if there are not equally many, or fewer than two.
#[must_use]
pub fn paired(a: &[f64], b: &[f64], confidence: f64) -> Option<Interval> {
    if a.len() != b.len() || a.is_empty() {
        return None;
    }
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| b - a).collect();
    let average = weighted_mean(&differences, &vec![1.0; differences.len()]);
    sectioned(&differences, average, confidence)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two-sided 95 % and 99 % points of Student's t as printed (NIST/SEMATECH e-Handbook, 1.3.6.7.2: columns 0.975 and
    /// 0.995).
    #[test]
    fn quantiles_of_t_are_those_of_printed_tables() {
        for (freedom, p95, p99) in [
            (1, 12.706, 63.657),
            (2, 4.303, 9.925),
            (4, 2.776, 4.604),
            (5, 2.571, 4.032),
            (9, 2.262, 3.250),
            (19, 2.093, 2.861),
            (29, 2.045, 2.756),
            (100, 1.984, 2.626),
        ] {
            assert!((two_sided_t(freedom, 0.95).unwrap() - p95).abs() < 5.1e-4, "{freedom}");
            assert!((two_sided_t(freedom, 0.99).unwrap() - p99).abs() < 5.1e-4, "{freedom}");
        }
        assert_eq!(two_sided_t(5, 1.0), None);
        assert_eq!(two_sided_t(0, 0.95), None);
    }

    #[test]
    fn a_mean_weighs_each_replication_with_its_samples() {
        // Pooled (10 + 3 * 20) / 4 = 17.5; squares 7.5^2 + 2.5^2 = 62.5; sqrt(62.5 / 1 / 2) = 5.590; t(1) = 12.706.
        let found = mean(&[(10.0, 1), (20.0, 3), (99.0, 0)], 0.95).unwrap();
        assert!((found.estimate - 17.5).abs() < 1e-12);
        assert!((found.high - 17.5 - 12.7062 * 5.59017).abs() < 1e-3, "{found:?}");
        assert!((found.low + found.high - 35.0).abs() < 1e-9);
        assert_eq!(found.replications, 2);
        assert_eq!(mean(&[(10.0, 5), (99.0, 0)], 0.95), None);
    }

    /// The ranks against the binomial distribution, summed by hand over all subsets of up to 30 replications.
    #[test]
    fn distribution_free_intervals_are_the_widest_ranks_that_are_confident() {
        let choose = |n: u64, k: u64| (0..k).fold(1u128, |c, i| c * u128::from(n - i) / u128::from(i + 1));
        for count in 1..=30u64 {
            let estimates: Vec<f64> = (1..=count).map(|value| value as f64).collect();
            let tail = |rank: u64| (0..rank).map(|k| choose(count, k)).sum::<u128>();
            // 2 * tail / 2^count <= 0.05, in integers.
            let expected = (1..=count / 2).rfind(|&rank| tail(rank) * 40 <= 1 << count);
            let found = distribution_free(&estimates, 0.95);
            assert_eq!(found.map(|interval| interval.low), expected.map(|rank| rank as f64), "{count}");
            assert_eq!(found.map(|i| i.high), expected.map(|rank| (count + 1 - rank) as f64), "{count}");
            assert_eq!(found.is_some(), count >= 6);
        }
        let six = distribution_free(&[3.0, 1.0, 2.0, 6.0, 5.0, 4.0], 0.95).unwrap();
        assert!((six.confidence - 0.96875).abs() < 1e-12);
        assert!((six.estimate - 3.5).abs() < 1e-12);
    }

    /// Sleep of ten patients under two drugs: Student's own data (Biometrika 6, 1908). The difference is 1.58, its 95 %
    /// interval 0.70 to 2.46.
    #[test]
    fn paired_differences_are_those_of_students_own_example() {
        let a = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let b = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let found = paired(&a, &b, 0.95).unwrap();
        assert!((found.estimate - 1.58).abs() < 1e-9);
        assert!((found.low - 0.7001).abs() < 1e-3 && (found.high - 2.4599).abs() < 1e-3, "{found:?}");
        assert_eq!(paired(&a, &b[1..], 0.95), None);
    }

    #[test]
    fn relative_widths_know_points_and_zeros() {
        let of = |estimate, low, high| {
            Interval { estimate, low, high, confidence: 0.95, replications: 9 }.relative_half_width()
        };
        assert_eq!(of(-10.0, -11.0, -9.0), Some(0.1));
        assert_eq!(of(0.0, 0.0, 0.0), Some(0.0));
        assert_eq!(of(0.0, -1.0, 1.0), None);
    }
}
