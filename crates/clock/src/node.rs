//! A node's clock: an oscillator, and the clock that a servo adjusts.

use tsn_units::{ClockMap, Duration, Free, Frequency, Instant, Local, True};

/// The timestamp of a message at its timestamp point: one moment, on both counters of the node.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Stamp {
    /// The oscillator's count, which the servo does not adjust.
    pub free: Instant<Free>,
    /// The clock that the servo adjusts.
    pub local: Instant<Local>,
}

/// The clocks of one node, valid until the next change. The times of calls that change the clock must not decrease.
#[derive(Copy, Clone, Debug)]
pub struct NodeClock {
    free: ClockMap<True, Free>,
    local: ClockMap<True, Local>,
    adjustment: Frequency,
    granularity_ns: i64,
}

impl NodeClock {
    /// A clock that shows `offset` at the epoch and has the rate of its oscillator, which is nominal.
    ///
    /// `granularity_ns` is the tick of the counter for timestamps: 8 for an I210, whose counter grows by 8 ns and a
    /// fraction per tick. Timestamps are whole nanoseconds of the local clock at a tick, so they are not multiples of
    /// 8 once the clock is adjusted.
    #[must_use]
    pub fn new(offset: Duration, granularity_ns: i64) -> Self {
        Self {
            free: ClockMap::new(Instant::EPOCH, Instant::EPOCH, Frequency::NOMINAL),
            local: ClockMap::new(Instant::EPOCH, Instant::EPOCH + offset, Frequency::NOMINAL),
            adjustment: Frequency::NOMINAL,
            granularity_ns: granularity_ns.max(1),
        }
    }

    /// From `now` on, the oscillator runs at `frequency`.
    pub fn set_oscillator(&mut self, now: Instant, frequency: Frequency) {
        self.free.set_frequency(now, frequency);
        self.local.set_frequency(now, frequency.times(self.adjustment));
    }

    /// From `now` on, the clock runs faster than its oscillator by `adjustment`.
    pub fn adjust(&mut self, now: Instant, adjustment: Frequency) {
        self.adjustment = adjustment;
        self.local.set_frequency(now, self.free.frequency().times(adjustment));
    }

    /// Sets the clock forward by `step`, or back.
    pub fn step(&mut self, step: Duration) {
        self.local.step(step);
    }

    /// The clock as a line that holds until the next change.
    #[must_use]
    pub fn local(&self) -> &ClockMap<True, Local> {
        &self.local
    }

    /// The oscillator's count as a line that holds until the next change of its frequency.
    #[must_use]
    pub fn free(&self) -> &ClockMap<True, Free> {
        &self.free
    }

    /// The timestamp at `at` if the hardware needs `jitter` more than it should: the last tick that has passed.
    #[must_use]
    pub fn stamp(&self, at: Instant, jitter: Duration) -> Stamp {
        let ticked = self.free.forward(at + jitter).ticked_ns(self.granularity_ns);
        let free = Instant::from_ns(ticked);
        let local = self.local.forward(self.free.inverse(free)).ticked_ns(1);
        Stamp { free, local: Instant::from_ns(local) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_running_clocks_drift_as_their_ppm_say() {
        let mut clock = NodeClock::new(Duration::ZERO, 1);
        clock.set_oscillator(Instant::EPOCH, Frequency::from_ppt(20_000_000));
        let second = Instant::from_ns(1_000_000_000);
        let error = clock.local().forward(second).ps() - second.ps();
        assert!((error - 20_000_000).abs() <= 1, "{error} ps");
        // The result is equal from another minute on, whatever the frequency was before.
        clock.set_oscillator(second, Frequency::from_ppt(-50_000_000));
        let error = clock.local().forward(Instant::from_ns(2_000_000_000)).ps() - 2_000_000_000_000;
        assert!((error - (20_000_000 - 50_000_000)).abs() <= 2, "{error} ps");
    }

    #[test]
    fn an_i210_ticks_in_8_ns_and_shows_any_nanosecond() {
        let mut clock = NodeClock::new(Duration::ZERO, 8);
        assert_eq!(clock.stamp(Instant::from_ns(23), Duration::ZERO).local, Instant::from_ns(16));
        assert_eq!(clock.stamp(Instant::from_ns(23), Duration::from_ns(1)).local, Instant::from_ns(24));
        clock.adjust(Instant::EPOCH, Frequency::from_ppt(50_500_000));
        clock.step(Duration::from_ns(3));
        let stamp = clock.stamp(Instant::from_ns(1_000_007), Duration::ZERO);
        assert_eq!(stamp.free, Instant::from_ns(1_000_000));
        assert_eq!(stamp.local, Instant::from_ns(1_000_053));
    }
}
