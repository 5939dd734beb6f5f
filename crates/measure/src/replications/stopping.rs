//! When there are enough replications: a sequential rule for several quantities at once.

use super::interval::{Interval, mean};

/// A rule that looks at the replications after every batch.
///
/// The batches have fixed sizes and the replications a fixed order, so the answer does not depend on how many workers
/// made them, or in which order they were done.
#[derive(Copy, Clone, Debug)]
pub struct Rule {
    /// Replications before the first look; at least 10.
    pub least: usize,
    /// Replications between two looks.
    pub batch: usize,
    /// Replications at most.
    pub most: usize,
    /// Confidence that all intervals hold together.
    pub confidence: f64,
}

/// The least number of replications before a rule looks: a variance of fewer is too uncertain.
pub const LEAST: usize = 10;

/// A quantity whose interval shall be narrow.
#[derive(Clone, Debug)]
pub struct Quantity {
    /// Requested half width of the interval, relative to the estimate.
    pub relative: f64,
    /// Estimate and weight of each replication, in the order of the replications; none where a replication has none.
    pub estimates: Vec<Option<(f64, u64)>>,
}

/// The state of a sequence of replications.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// More replications are needed: up to [`Decision::replications`].
    Continue,
    /// All intervals were narrow enough at two looks in a row.
    Reached,
    /// The most replications were made, and not all intervals are narrow enough.
    NotReached,
}

/// The decision of the rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The state.
    pub state: State,
    /// Replications that count: the results of later ones, made ahead of the decision, are left out. For
    /// [`State::Continue`]: how many there shall be for the next look.
    pub replications: usize,
    /// Confidence of each interval, so that all hold together with the rule's confidence (Bonferroni).
    pub each: f64,
    /// The interval of each quantity at the last look; none where it has too few estimates.
    pub intervals: Vec<Option<Interval>>,
}

impl Rule {
    /// Why the rule makes no sense.
    ///
    /// # Errors
    ///
    /// A message about one of its numbers.
    pub fn check(&self) -> Result<(), String> {
        if self.least < LEAST {
            return Err(format!("least: expected at least {LEAST} replications, found {}", self.least));
        }
        if self.batch == 0 {
            return Err("batch: expected at least 1 replication, found 0".to_owned());
        }
        if self.most < self.least {
            return Err(format!("most: expected at least {} replications, found {}", self.least, self.most));
        }
        if !super::interval::is_confidence(self.confidence) {
            return Err(format!("confidence: expected a number between 0 and 1, found {}", self.confidence));
        }
        Ok(())
    }

    /// The numbers of replications at which the rule looks.
    fn looks(&self) -> impl Iterator<Item = usize> {
        let before = (self.least..self.most).step_by(self.batch);
        before.chain(std::iter::once(self.most))
    }

    /// Looks at the replications in their order, and decides.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "a number of quantities")]
    pub fn decide(&self, quantities: &[Quantity]) -> Decision {
        let each = 1.0 - (1.0 - self.confidence) / quantities.len().max(1) as f64;
        let there = quantities.iter().map(|quantity| quantity.estimates.len()).min().unwrap_or(0);
        let mut narrow_before = false;
        let mut intervals = vec![None; quantities.len()];
        for look in self.looks() {
            if look > there {
                return Decision { state: State::Continue, replications: look, each, intervals };
            }
            intervals = quantities.iter().map(|quantity| quantity.interval(look, each)).collect();
            let narrow = quantities.iter().zip(&intervals).all(|(quantity, interval)| {
                interval
                    .and_then(|found| found.relative_half_width())
                    .is_some_and(|width| width <= quantity.relative)
            });
            if narrow && narrow_before {
                return Decision { state: State::Reached, replications: look, each, intervals };
            }
            narrow_before = narrow;
        }
        Decision { state: State::NotReached, replications: self.most, each, intervals }
    }
}

impl Quantity {
    /// The interval from the first `count` replications; none if one of them has no estimate.
    fn interval(&self, count: usize, confidence: f64) -> Option<Interval> {
        let estimates: Option<Vec<_>> = self.estimates[..count].iter().copied().collect();
        mean(&estimates?, confidence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: Rule = Rule { least: 10, batch: 5, most: 30, confidence: 0.95 };

    /// Estimates that alternate around 100 by `spread`.
    fn alternating(count: usize, spread: f64) -> Vec<Option<(f64, u64)>> {
        (0..count).map(|n| Some((if n % 2 == 0 { 100.0 + spread } else { 100.0 - spread }, 1))).collect()
    }

    fn quantity(relative: f64, estimates: Vec<Option<(f64, u64)>>) -> Quantity {
        Quantity { relative, estimates }
    }

    #[test]
    fn narrow_intervals_are_needed_twice_in_a_row() {
        let narrow = |count| RULE.decide(&[quantity(0.02, alternating(count, 1.0))]);
        assert_eq!((narrow(0).state, narrow(0).replications), (State::Continue, 10));
        assert_eq!((narrow(10).state, narrow(10).replications), (State::Continue, 15));
        assert_eq!((narrow(15).state, narrow(15).replications), (State::Reached, 15));
        // Replications that were made ahead of the decision change nothing.
        assert_eq!(narrow(23), narrow(15));
        assert_eq!(narrow(30), narrow(15));
    }

    #[test]
    fn a_quantity_that_does_not_vary_is_narrow_for_every_width() {
        let found = RULE.decide(&[quantity(0.0, alternating(30, 0.0))]);
        assert_eq!((found.state, found.replications), (State::Reached, 15));
    }

    #[test]
    fn one_narrow_look_between_two_wide_ones_does_not_stop() {
        let mut estimates = alternating(30, 1.0);
        for place in [10, 20] {
            estimates[place] = Some((500.0, 1));
        }
        let found = RULE.decide(&[quantity(0.02, estimates)]);
        assert_eq!((found.state, found.replications), (State::NotReached, 30));
    }

    #[test]
    fn the_last_look_is_at_the_cap() {
        let rule = Rule { batch: 15, ..RULE };
        assert_eq!(rule.looks().collect::<Vec<_>>(), [10, 25, 30]);
        assert_eq!(Rule { most: 10, ..RULE }.looks().collect::<Vec<_>>(), [10]);
        let once = Rule { most: 10, ..RULE }.decide(&[quantity(0.02, alternating(10, 1.0))]);
        assert_eq!(once.state, State::NotReached);
    }

    /// With two quantities each interval is one of 97.5 %: t(9) = 2.685, against 2.262 for one.
    #[test]
    fn several_quantities_share_the_error() {
        let deviation = (10.0f64 / 9.0 / 10.0).sqrt();
        let one = RULE.decide(&[quantity(0.01, alternating(10, 1.0))]);
        let two = RULE.decide(&[quantity(0.01, alternating(10, 1.0)), quantity(0.01, alternating(10, 2.0))]);
        let half = |found: &Decision| found.intervals[0].map(|interval| interval.high - 100.0).unwrap();
        assert!((half(&one) - 2.262 * deviation).abs() < 1e-3);
        assert!((half(&two) - 2.685 * deviation).abs() < 1e-3);
        assert!((two.each - 0.975).abs() < 1e-12);
        let wide =
            RULE.decide(&[quantity(0.01, alternating(30, 0.1)), quantity(0.01, alternating(30, 20.0))]);
        assert_eq!(wide.state, State::NotReached);
    }

    #[test]
    fn a_replication_without_an_estimate_is_not_narrow() {
        let mut estimates = alternating(30, 0.1);
        estimates[3] = None;
        let found = RULE.decide(&[quantity(0.5, estimates)]);
        assert_eq!((found.state, found.intervals), (State::NotReached, vec![None]));
    }

    #[test]
    fn rules_that_make_no_sense_are_refused() {
        assert!(RULE.check().is_ok());
        for rule in [
            Rule { least: 9, ..RULE },
            Rule { batch: 0, ..RULE },
            Rule { most: 9, ..RULE },
            Rule { confidence: 1.0, ..RULE },
        ] {
            assert!(rule.check().is_err());
        }
    }
}
