//! Latent error detection: an alarm when fewer copies are eliminated than expected.
//!
//! IEEE 802.1CB-2017, 7.4.4.

use crate::StateTaker;
use tsn_plan::{LatentErrors, duration};
use tsn_units::{Duration, Instant, Local};

/// The variables of 7.4.4.2. Only the missing copies show that a path has failed: the listener loses nothing.
#[derive(Clone, Debug)]
pub struct LatentErrorDetection {
    period: Duration,
    reset: Duration,
    difference: u64,
    /// The number of paths, less one.
    other_paths: i128,
    /// `CurBaseDifference`.
    base: i128,
    next_test: Instant<Local>,
    next_reset: Instant<Local>,
    alarms: u64,
}

impl LatentErrorDetection {
    /// Begins at the epoch and expects `paths` copies of every frame (`frerSeqRcvyLatentErrorPaths`).
    #[must_use]
    pub fn new(parameters: &LatentErrors, paths: usize) -> Self {
        let (period, reset) = (duration(parameters.period_ns.max(1)), duration(parameters.reset_ns.max(1)));
        Self {
            period,
            reset,
            difference: parameters.difference,
            other_paths: paths.saturating_sub(1) as i128,
            base: 0,
            next_test: Instant::EPOCH + period,
            next_reset: Instant::EPOCH + reset,
            alarms: 0,
        }
    }

    /// Executes the tests and resets that are due before `now`, with the counts since the last call. At one instant
    /// the test comes before the reset.
    pub fn advance(&mut self, now: Instant<Local>, passed: u64, discarded: u64) {
        let missing = i128::from(passed) * self.other_paths - i128::from(discarded);
        while self.next_test.min(self.next_reset) < now {
            if self.next_test <= self.next_reset {
                let found = (self.base - missing).unsigned_abs();
                self.alarms += u64::from(found > u128::from(self.difference));
                self.next_test += self.period;
            } else {
                self.base = missing;
                self.next_reset += self.reset;
            }
        }
    }

    /// Adds the next test and reset, and the copies that are missing since the last reset.
    pub(super) fn put_state(&self, state: &mut StateTaker, passed: u64, discarded: u64) {
        state.put_time(self.next_test);
        state.put_time(self.next_reset);
        state.put(self.base - (i128::from(passed) * self.other_paths - i128::from(discarded)));
    }

    /// How often a test found an error (`SIGNAL_LATENT_ERROR`).
    #[must_use]
    pub fn alarms(&self) -> u64 {
        self.alarms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three paths: two copies of each frame have to be discarded. A difference equal to the allowed one is no error,
    /// and a test is executed at the first moment after its time.
    #[test]
    fn a_test_counts_the_copies_of_all_other_paths() {
        let ms = |ms: i64| Instant::from_ns(ms * 1_000_000);
        let parameters = LatentErrors { period_ns: 10_000_000, reset_ns: 1_000_000_000, difference: 4 };
        for (passed, discarded, alarms) in [(10, 20, 0), (10, 16, 0), (10, 15, 1), (10, 24, 0), (10, 25, 1)] {
            let mut detection = LatentErrorDetection::new(&parameters, 3);
            detection.advance(ms(10), passed, discarded);
            assert_eq!(detection.alarms(), 0, "not yet");
            detection.advance(ms(11), passed, discarded);
            assert_eq!(detection.alarms(), alarms, "{passed} passed, {discarded} discarded");
        }
    }

    #[test]
    fn alarms_begin_with_the_first_test_after_a_way_fails_and_end_with_the_reset() {
        let ms = |ms: i64| Instant::from_ns(ms * 1_000_000);
        let parameters = LatentErrors { period_ns: 10_000_000, reset_ns: 35_000_000, difference: 3 };
        let mut detection = LatentErrorDetection::new(&parameters, 2);
        // One frame per ms on both paths until 15 ms, then on one path only.
        let mut alarms = Vec::new();
        for t in 0..60_u64 {
            detection.advance(ms(t as i64), t, t.min(15));
            alarms.push(detection.alarms());
        }
        // Tests at 10, 20, 30, 40, 50 ms; the reset at 35 ms accepts the 20 missing frames as the new base.
        assert_eq!([alarms[19], alarms[21], alarms[31], alarms[41], alarms[51]], [0, 1, 2, 3, 4]);
        // A path failed for 10 ms: the reset accepts the missing frames as the new base, and later tests find no
        // error.
        let mut detection = LatentErrorDetection::new(&parameters, 2);
        for t in 0..60_u64 {
            detection.advance(ms(t as i64), t, t.min(15).max(t.saturating_sub(10)));
        }
        assert_eq!(detection.alarms(), 2);
        let quiet = LatentErrors { difference: 1_000, ..parameters };
        let mut detection = LatentErrorDetection::new(&quiet, 2);
        detection.advance(ms(1_000), 500, 0);
        assert_eq!(detection.alarms(), 0);
    }
}
