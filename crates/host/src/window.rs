//! Windows of a cyclic schedule, in integers.

use crate::HostTime;
use tsn_units::Duration;

/// A span that recurs every cycle: from `from` to `until` after the begin of each cycle.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub from: Duration,
    pub until: Duration,
}

/// Begins and ends of cycles.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Cycle {
    pub base: HostTime,
    pub length: Duration,
}

impl Cycle {
    /// The time since the begin of the cycle that `at` is in.
    pub fn elapsed(&self, at: HostTime) -> Duration {
        Duration::from_ps((at - self.base).ps().rem_euclid(self.length.ps().max(1)))
    }

    /// The earliest start, from `from` on, at which `needs` fits into one occurrence of the window; none if it never
    /// does.
    pub fn earliest(&self, window: Window, from: HostTime, needs: Duration) -> Option<HostTime> {
        if needs > window.until - window.from {
            return None;
        }
        let mut begin = from - self.elapsed(from);
        if from + needs <= begin - self.length + window.until {
            // The window crosses the end of the cycle, and has been open since the previous cycle.
            begin = begin - self.length;
        }
        let start = from.max(begin + window.from);
        Some(if start + needs <= begin + window.until { start } else { begin + self.length + window.from })
    }
}
