//! The median of the last delays (linuxptp: `delay_filter moving_median`, `delay_filter_length` 10).

use std::collections::VecDeque;
use tsn_units::Duration;

/// Number of delays over which the median is taken.
const LENGTH: usize = 10;

/// A moving median.
#[derive(Clone, Debug, Default)]
pub(crate) struct Median {
    last: VecDeque<Duration>,
}

impl Median {
    pub fn put(&mut self, delay: Duration) {
        self.last.push_back(delay);
        if self.last.len() > LENGTH {
            self.last.pop_front();
        }
    }

    /// The median; for an even number of delays, the mean of the two in the middle. None before the first delay.
    pub fn get(&self) -> Option<Duration> {
        let mut sorted = [Duration::ZERO; LENGTH];
        let count = self.last.len().min(LENGTH);
        for (place, delay) in sorted.iter_mut().zip(&self.last) {
            *place = *delay;
        }
        let sorted = sorted.get_mut(..count)?;
        sorted.sort_unstable();
        let (low, high) = (sorted.get(count.checked_sub(1)? / 2)?, sorted.get(count / 2)?);
        Some(Duration::from_ps((*low + *high).ps().div_euclid(2)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn median(ps: impl IntoIterator<Item = i64>) -> Option<i64> {
        let mut median = Median::default();
        ps.into_iter().for_each(|ps| median.put(Duration::from_ps(ps)));
        median.get().map(Duration::ps)
    }

    #[test]
    fn of_an_even_number_it_is_between_the_two_in_the_middle() {
        assert_eq!(median([]), None);
        assert_eq!(median([7]), Some(7));
        assert_eq!(median([30, 10]), Some(20));
        assert_eq!(median([30, 10, 11]), Some(11));
        assert_eq!(median([80, 10, 40, 20]), Some(30));
        assert_eq!(median([5, 4]), Some(4), "rounded down");
        assert_eq!(median([-5, -4]), Some(-5), "below zero, too");
    }

    #[test]
    fn it_is_of_the_last_ten() {
        assert_eq!(median([1, 2, 3, 4, 5, 100, 200, 300, 400, 500]), Some((5 + 100) / 2));
        // The eleventh takes the place of the first: 2, 3, 4, 5, 100, 200, 300, 400, 500, 600.
        assert_eq!(median([1, 2, 3, 4, 5, 100, 200, 300, 400, 500, 600]), Some(150));
        assert_eq!(median((0..30).map(|n| n * 10)), Some(245));
    }
}
