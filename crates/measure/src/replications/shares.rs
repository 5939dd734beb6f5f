//! Shares: lost frames, and events that a replication has or has not.

use super::interval::{Interval, is_confidence, sectioned};
use statrs::distribution::{Beta, ChiSquared, ContinuousCDF};

/// The upper limit of the probability of an event that none of `replications` had: `1 − (1 − confidence)^(1/R)`, at
/// 95 % close to 3/R. The same limit holds for the probability that the next replication exceeds the largest value of
/// all. None without replications.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "numbers of replications are small")]
pub fn at_most(replications: usize, confidence: f64) -> Option<f64> {
    // expm1 and ln_1p keep the digits that 1 − x^(1/R) loses with many replications.
    (replications > 0 && is_confidence(confidence))
        .then(|| -((-confidence).ln_1p() / replications as f64).exp_m1())
}

/// The two-sided interval of Clopper and Pearson (Biometrika 26, 1934) for the probability of `hits` of `trials`
/// independent trials. None without trials, and if there are more hits than trials.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "an estimate")]
pub fn clopper_pearson(hits: u64, trials: u64, confidence: f64) -> Option<(f64, f64)> {
    if trials == 0 || hits > trials || !is_confidence(confidence) {
        return None;
    }
    let (hit, missed, tail) = (hits as f64, (trials - hits) as f64, (1.0 - confidence) / 2.0);
    let low = if hits == 0 { 0.0 } else { beta_quantile(hit, missed + 1.0, tail)? };
    let high = if hits == trials { 1.0 } else { beta_quantile(hit + 1.0, missed, 1.0 - tail)? };
    Some((low, high))
}

/// A quantile of the beta distribution, by bisection of its distribution function to the last digit.
fn beta_quantile(a: f64, b: f64, probability: f64) -> Option<f64> {
    let beta = Beta::new(a, b).ok()?;
    let (mut low, mut high) = (0.0, 1.0);
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            return Some(middle);
        }
        if beta.cdf(middle) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// How an interval of a share was found.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Method {
    /// Frames are lost independently of each other, as far as the replications show: Clopper and Pearson.
    ClopperPearson,
    /// The replications differ more than independent losses do: t over the replications' shares.
    SectionedT,
    /// No replication lost a frame: no share of frames, only [`Losses::replications_at_most`].
    NoneLost,
    /// One replication cannot tell whether its losses are independent.
    OneReplication,
    /// No replication sent a frame.
    NoneSent,
}

/// Lost frames over replications.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Losses {
    /// Frames that were lost.
    pub lost: u64,
    /// Frames that were sent.
    pub sent: u64,
    /// The share of lost frames, with its interval; none without an interval that can be trusted.
    pub share: Option<Interval>,
    /// How the interval was found, or why there is none.
    pub method: Method,
    /// Without a loss: the upper limit of the share of replications that lose any frame.
    pub replications_at_most: Option<f64>,
}

/// The share of lost frames, from `(lost, sent)` of each replication.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "an estimate")]
pub fn losses(replications: &[(u64, u64)], confidence: f64) -> Losses {
    let with: Vec<_> = replications.iter().copied().filter(|(_, sent)| *sent > 0).collect();
    let lost = with.iter().map(|(lost, _)| lost).sum();
    let sent = with.iter().map(|(_, sent)| sent).sum();
    let found =
        |share, method, replications_at_most| Losses { lost, sent, share, method, replications_at_most };
    if sent == 0 {
        return found(None, Method::NoneSent, None);
    }
    if lost == 0 {
        return found(None, Method::NoneLost, at_most(with.len(), confidence));
    }
    if with.len() == 1 {
        return found(None, Method::OneReplication, None);
    }
    let pooled = lost as f64 / sent as f64;
    if overdispersed(&with, pooled) {
        let shares: Vec<f64> = with.iter().map(|(lost, sent)| *lost as f64 / *sent as f64).collect();
        let share = sectioned(&shares, pooled, confidence).map(|share| Interval {
            low: share.low.max(0.0),
            high: share.high.min(1.0),
            ..share
        });
        return found(share, Method::SectionedT, None);
    }
    let share = clopper_pearson(lost, sent, confidence).map(|(low, high)| Interval {
        estimate: pooled,
        low,
        high,
        confidence,
        replications: with.len(),
    });
    found(share, Method::ClopperPearson, None)
}

/// Whether the replications' losses differ more than those of independent frames would in 19 of 20 cases: Pearson's
/// χ² of homogeneity.
#[allow(clippy::cast_precision_loss, reason = "an estimate")]
fn overdispersed(replications: &[(u64, u64)], pooled: f64) -> bool {
    if pooled >= 1.0 {
        return false;
    }
    let statistic: f64 = replications
        .iter()
        .map(|&(lost, sent)| {
            let expected = sent as f64 * pooled;
            (lost as f64 - expected).powi(2) / (expected * (1.0 - pooled))
        })
        .sum();
    ChiSquared::new((replications.len() - 1) as f64).is_ok_and(|limit| limit.cdf(statistic) > 0.95)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_that_never_came_has_a_limit_near_three_over_r() {
        // 1 - 0.05^(1/10) = 0.258866, 1 - 0.05^(1/100) = 0.029513.
        assert!((at_most(10, 0.95).unwrap() - 0.258_866).abs() < 1e-6);
        assert!((at_most(100, 0.95).unwrap() - 0.029_513).abs() < 1e-6);
        assert!((at_most(1, 0.95).unwrap() - 0.95).abs() < 1e-12);
        for replications in 1..200 {
            let limit = at_most(replications, 0.95).unwrap();
            // The limit is the probability with which no replication has the event in 5 % of all cases.
            assert!(((1.0 - limit).powi(i32::try_from(replications).unwrap()) - 0.05).abs() < 1e-12);
            assert!(limit < 3.0 / replications as f64);
        }
        assert_eq!(at_most(0, 0.95), None);
    }

    /// Printed 95 % limits: Newcombe (Statistics in Medicine 17, 1998, 857), table I, method 5.
    #[test]
    fn clopper_pearson_gives_printed_limits() {
        for (hits, trials, low, high) in [
            (81, 263, 0.2527, 0.3676),
            (15, 148, 0.0578, 0.1617),
            (0, 20, 0.0, 0.1684),
            (1, 29, 0.0009, 0.1776),
        ] {
            let (from, to) = clopper_pearson(hits, trials, 0.95).unwrap();
            assert!(
                (from - low).abs() < 5.1e-5 && (to - high).abs() < 5.1e-5,
                "{hits}/{trials}: {from} {to}"
            );
        }
        assert_eq!(clopper_pearson(20, 20, 0.95).unwrap().1, 1.0);
        assert_eq!(clopper_pearson(1, 0, 0.95), None);
    }

    /// With the limits as probabilities, the binomial tails are what the interval's definition says.
    #[test]
    fn clopper_pearson_solves_the_binomial_tails() {
        let tail = |trials: u64, p: f64, hits: std::ops::RangeInclusive<u64>| -> f64 {
            hits.map(|k| {
                let ways = (0..k).fold(1.0, |c, i| c * (trials - i) as f64 / (i + 1) as f64);
                ways * p.powi(k as i32) * (1.0 - p).powi((trials - k) as i32)
            })
            .sum()
        };
        for trials in 1..=40 {
            for hits in 0..=trials {
                let (low, high) = clopper_pearson(hits, trials, 0.9).unwrap();
                if hits > 0 {
                    assert!((tail(trials, low, hits..=trials) - 0.05).abs() < 1e-9, "{hits}/{trials}");
                }
                if hits < trials {
                    assert!((tail(trials, high, 0..=hits) - 0.05).abs() < 1e-9, "{hits}/{trials}");
                }
            }
        }
    }

    #[test]
    fn losses_that_come_in_bursts_are_not_counted_as_independent() {
        let even: Vec<(u64, u64)> = (0..20).map(|run| (u64::from(run % 4 == 0), 1000)).collect();
        let found = losses(&even, 0.95);
        assert_eq!((found.method, found.lost, found.sent), (Method::ClopperPearson, 5, 20_000));
        let share = found.share.unwrap();
        let (low, high) = clopper_pearson(5, 20_000, 0.95).unwrap();
        assert_eq!((share.low, share.high), (low, high));

        let mut burst = vec![(0, 1000); 20];
        burst[7] = (5, 1000);
        let found = losses(&burst, 0.95);
        assert_eq!(found.method, Method::SectionedT);
        let share = found.share.unwrap();
        assert_eq!(share.low, 0.0);
        // Share 0.00025 on average; deviation 0.005 / sqrt(20); t(19) = 2.093: half 0.00052.
        assert!((share.high - (0.00025 + 2.093 * 0.005 / 20.0)).abs() < 1e-6, "{share:?}");
    }

    /// Two replications that lose `50 ± d` of 100 frames: χ² = 2 d² / (100 · 0.5 · 0.5), and 95 % of χ²(1) is 3.841.
    #[test]
    fn losses_are_independent_up_to_the_limit_of_chi_squared() {
        let method = |d: u64| losses(&[(50 - d, 100), (50 + d, 100)], 0.95).method;
        assert_eq!(method(6), Method::ClopperPearson, "2.88");
        assert_eq!(method(8), Method::SectionedT, "5.12");
    }

    #[test]
    fn losses_say_why_there_is_no_interval() {
        let none = losses(&[(0, 10), (0, 10), (0, 0)], 0.95);
        assert_eq!(none.method, Method::NoneLost);
        assert!((none.replications_at_most.unwrap() - 0.776_393).abs() < 1e-6);
        assert_eq!(losses(&[(1, 10)], 0.95).method, Method::OneReplication);
        assert_eq!(losses(&[(0, 0)], 0.95).method, Method::NoneSent);
        let all = losses(&[(10, 10), (10, 10)], 0.95);
        assert_eq!((all.method, all.share.unwrap().high), (Method::ClopperPearson, 1.0));
    }
}
