//! The median of the last delays (linuxptp: `delay_filter moving_median`, `delay_filter_length` 10).

use std::collections::VecDeque;
use tsn_units::Duration;

/// How many delays the median is taken of.
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

    /// Of an even number, the mean of the two in the middle. None before the first.
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
