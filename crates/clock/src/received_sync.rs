//! The grandmaster's time from one Sync and its Follow_Up, and the time that a node forwards.
//!
//! IEEE 802.1AS-2020, 10.2.9 and 11.2.15 (`PortSyncSync`, `MDSyncSend`).

use crate::{Origin, Stamp};
use tsn_units::{Duration, Frequency, Instant, Local};

/// A received Sync, complete.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct ReceivedSync {
    /// The sequence number.
    pub sequence: u16,
    /// When the Sync arrived here.
    pub at: Stamp,
    /// The grandmaster's time when the Sync left the grandmaster.
    pub origin: Instant<Local>,
    /// Delay from there to here, in the grandmaster's time.
    pub correction: Duration,
    /// Rate offset of the grandmaster against this node's oscillator (`rateRatio`, less one).
    pub rate: Frequency,
}

impl ReceivedSync {
    /// The grandmaster's time when the Sync arrived here.
    #[must_use]
    pub fn grandmaster(&self) -> Instant<Local> {
        self.origin + self.correction
    }

    /// Offset of this node's clock from the grandmaster's.
    #[must_use]
    pub fn offset(&self) -> Duration {
        self.at.local - self.grandmaster()
    }

    /// The time that this node's own Sync carries, which left at `sent`: the residence time is added, in the
    /// grandmaster's time.
    #[must_use]
    pub fn forwarded(&self, sent: Stamp) -> Origin {
        let residence = self.rate.scale(sent.free - self.at.free);
        Origin { time: self.origin, correction: self.correction + residence, rate: self.rate.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_spent_in_a_bridge_is_counted_in_the_grandmasters_time() {
        let stamp = |ns: i64| Stamp { free: Instant::from_ns(ns), local: Instant::from_ns(ns + 77) };
        let received = ReceivedSync {
            sequence: 3,
            at: stamp(1_000),
            origin: Instant::from_ns(500),
            correction: Duration::from_ns(40),
            rate: Frequency::from_ppt(100_000_000),
        };
        assert_eq!(received.offset(), Duration::from_ns(1_077 - 540));
        let Origin { correction, .. } = received.forwarded(stamp(10_001_000));
        // 10 ms here are 10 ms and 1 us of the grandmaster.
        assert!((correction - Duration::from_ns(40 + 10_001_000)).ps().abs() <= 1, "{correction:?}");
    }
}
