//! Steps from one frame's delay to the next frame's, with their signs and without.

use super::distribution::{Distribution, Extreme, extrapolate_number};

/// The steps of delay of one path. The magnitudes are counted from the signed steps, so that a step is counted once.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    signed: Distribution,
    smallest: Option<Extreme>,
    largest: Option<Extreme>,
}

impl Steps {
    /// Adds the step to one frame's delay; of equal extremes the first one is kept.
    #[inline]
    pub(super) fn add(&mut self, step: i64, seq: u64, path: u32) {
        self.signed.add(step, seq, path);
        let this = Extreme { value: step.saturating_abs(), seq: Some(seq), path };
        if self.smallest.is_none_or(|least| this.value < least.value) {
            self.smallest = Some(this);
        }
        if self.largest.is_none_or(|most| this.value > most.value) {
            self.largest = Some(this);
        }
    }

    /// The steps with their signs.
    #[must_use]
    pub fn signed(&self) -> &Distribution {
        &self.signed
    }

    /// The magnitudes of the steps.
    #[must_use]
    pub fn magnitudes(&self) -> Distribution {
        self.signed.magnitudes(self.smallest, self.largest)
    }

    /// Adds so many times what `next` has more: the same run with one period more.
    pub(super) fn extrapolate(&mut self, next: &Self, times: u64) {
        self.signed.extrapolate(&next.signed, times);
        extrapolate_number(&mut self.smallest, next.smallest, times);
        extrapolate_number(&mut self.largest, next.largest, times);
    }

    /// Adds the steps of another path.
    pub(super) fn merge(&mut self, other: &Self) {
        self.signed.merge(&other.signed);
        let smallest = [self.smallest, other.smallest].into_iter().flatten();
        let largest = [other.largest, self.largest].into_iter().flatten();
        self.smallest = smallest.min_by_key(|extreme| extreme.value);
        self.largest = largest.max_by_key(|extreme| extreme.value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The steps with their paths, in order.
    fn of(steps: &[(i64, u32)]) -> Steps {
        let mut found = Steps::default();
        for (seq, (step, path)) in steps.iter().enumerate() {
            found.add(*step, seq as u64, *path);
        }
        found
    }

    #[test]
    fn the_magnitude_of_the_least_number_is_the_greatest() {
        let magnitudes = of(&[(i64::MIN, 0), (-3, 0), (3, 0)]).magnitudes();
        assert_eq!((magnitudes.max().unwrap().value, magnitudes.max().unwrap().seq), (i64::MAX, Some(0)));
        assert_eq!((magnitudes.min().unwrap().value, magnitudes.min().unwrap().seq), (3, Some(1)));
        assert_eq!(Steps::default().magnitudes().stat(), None);
    }

    proptest! {
        /// As if each magnitude had been counted; also of two paths together.
        #[test]
        fn magnitudes_are_those_of_the_single_steps(
            one in prop::collection::vec((-40_i64..40, Just(1_u32)), 0..60),
            other in prop::collection::vec((-40_i64..40, Just(2_u32)), 0..60),
        ) {
            let counted = |steps: &[(i64, u32)]| {
                let mut found = Distribution::default();
                for (seq, (step, path)) in steps.iter().enumerate() {
                    found.add(step.abs(), seq as u64, *path);
                }
                found
            };
            let (mut steps, mut magnitudes) = (of(&one), counted(&one));
            prop_assert_eq!(steps.magnitudes().stat(), magnitudes.stat());
            steps.merge(&of(&other));
            magnitudes.merge(&counted(&other));
            let found = steps.magnitudes();
            prop_assert_eq!(found.stat(), magnitudes.stat());
            prop_assert_eq!((found.min(), found.max()), (magnitudes.min(), magnitudes.max()));
        }
    }
}
