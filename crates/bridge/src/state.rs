//! The state of machines as numbers that do not depend on when it was taken.
//!
//! Two equal states at two instants mean: from there on everything happens again, later by the difference. So times
//! are taken from now on, sequence numbers from the talker's next one, and counters are left out.

use tsn_units::{Clock, Instant};

/// The state at one instant, number by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    numbers: Vec<i128>,
}

/// Takes the state of machines at one instant, before the events of this instant.
#[derive(Debug)]
pub struct StateTaker {
    now: Instant,
    numbers: Vec<i128>,
}

impl StateTaker {
    /// Begins at `now`.
    #[must_use]
    pub fn new(now: Instant) -> Self {
        Self { now, numbers: Vec::new() }
    }

    /// The instant of the state.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Adds a number that does not depend on the time.
    #[inline]
    pub fn put(&mut self, number: impl Into<i128>) {
        self.numbers.push(number.into());
    }

    /// Adds how many things follow.
    #[inline]
    pub fn put_length(&mut self, length: usize) {
        self.numbers.push(length as i128);
    }

    /// Adds an instant of which only the future matters: an earlier one is as good as now.
    #[inline]
    pub fn put_future<C: Clock>(&mut self, at: Instant<C>) {
        let now = self.now.on_perfect_clock();
        self.put(if at == Instant::MAX { i64::MAX } else { at.max(now).ps() - now.ps() });
    }

    /// Adds an instant that matters also when it has passed.
    #[inline]
    pub fn put_time<C: Clock>(&mut self, at: Instant<C>) {
        self.put(i128::from(at.ps()) - i128::from(self.now.ps()));
    }

    /// The state of everything that was added.
    #[must_use]
    pub fn finish(self) -> State {
        State { numbers: self.numbers }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tsn_units::True;

    fn taken(now: i64, free: i64, last: i64) -> State {
        let mut taker = StateTaker::new(Instant::from_ps(now));
        taker.put_future(Instant::<True>::from_ps(free));
        taker.put_time(Instant::<True>::from_ps(last));
        taker.put(7);
        taker.finish()
    }

    #[test]
    fn a_state_that_comes_again_later_is_the_same() {
        assert_eq!(taken(100, 130, 90), taken(1_100, 1_130, 1_090));
        assert_ne!(taken(100, 130, 90), taken(100, 131, 90));
        // A medium that has been free for long is as free as one that has been for a short time.
        assert_eq!(taken(100, 99, 90), taken(100, 3, 90));
        assert_ne!(taken(100, 99, 90), taken(100, 99, 89));
        assert_eq!(taken(100, i64::MAX, 90), taken(200, i64::MAX, 190));
    }
}
