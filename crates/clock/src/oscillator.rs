//! An oscillator: how much faster than nominal it runs, over time.

use tsn_units::{Duration, Frequency, Instant};

/// A random walk of the frequency: regular steps, uniform between plus and minus the greatest.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Wander {
    /// Largest step, parts of 10^12.
    pub most_ppt: u64,
    /// Time between steps.
    pub every: Duration,
}

/// A change to another deviation: a step of the temperature, or one line of a measured trace.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The time of the change.
    pub at: Instant,
    /// Deviation from then on, without wander; parts of 10^12.
    pub ppt: i64,
}

/// A period with one frequency.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The frequency.
    pub frequency: Frequency,
    /// The end of the period; [`Instant::MAX`] for ever.
    pub until: Instant,
}

/// A frequency that is constant, has configured changes, and wanders; segment by segment.
#[derive(Clone, Debug)]
pub struct Oscillator {
    ppt: i64,
    wandered: i64,
    wander: Option<Wander>,
    next_step: Instant,
    changes: std::vec::IntoIter<Change>,
}

impl Oscillator {
    /// An oscillator that deviates by `ppt` parts of 10^12 until the first change; changes must be in order of time.
    #[must_use]
    pub fn new(ppt: i64, changes: Vec<Change>, wander: Option<Wander>) -> Self {
        let wander = wander.filter(|wander| wander.every > Duration::ZERO && wander.most_ppt > 0);
        let next_step = wander.map_or(Instant::MAX, |wander| Instant::EPOCH + wander.every);
        Self { ppt, wandered: 0, wander, next_step, changes: changes.into_iter() }
    }

    /// The segment that `now` is in; `now` must not decrease. `below` draws uniformly from `0..bound`.
    pub fn segment(&mut self, now: Instant, mut below: impl FnMut(u64) -> u64) -> Segment {
        while let Some(change) = self.changes.as_slice().first().copied().filter(|change| change.at <= now) {
            self.ppt = change.ppt;
            self.changes.next();
        }
        while let Some(wander) = self.wander.filter(|_| self.next_step <= now) {
            let width = wander.most_ppt.saturating_mul(2).saturating_add(1);
            let step = below(width) as i64 - wander.most_ppt as i64;
            self.wandered = self.wandered.saturating_add(step);
            self.next_step += wander.every;
        }
        let change = self.changes.as_slice().first().map_or(Instant::MAX, |change| change.at);
        let frequency = Frequency::from_ppt(self.ppt.saturating_add(self.wandered));
        Segment { frequency, until: self.next_step.min(change) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    #[test]
    fn a_trace_is_followed() {
        let change = |ms: i64, ppt| Change { at: Instant::from_ns(ms * MS), ppt };
        let mut oscillator = Oscillator::new(5, vec![change(10, -7), change(20, 9)], None);
        for (ms, ppt, until) in [(0, 5, 10), (10, -7, 20), (15, -7, 20)] {
            let segment = oscillator.segment(Instant::from_ns(ms * MS), |_| 0);
            assert_eq!(
                segment,
                Segment { frequency: Frequency::from_ppt(ppt), until: Instant::from_ns(until * MS) }
            );
        }
        let last = oscillator.segment(Instant::from_ns(25 * MS), |_| 0);
        assert_eq!(last, Segment { frequency: Frequency::from_ppt(9), until: Instant::MAX });
    }

    #[test]
    fn wander_is_a_walk() {
        let wander = Wander { most_ppt: 10, every: Duration::from_ns(MS) };
        let mut oscillator = Oscillator::new(100, Vec::new(), Some(wander));
        let mut draws = [20, 20, 0, 10].into_iter();
        let walked: Vec<i64> = (0..5)
            .map(|ms| {
                let segment = oscillator.segment(Instant::from_ns(ms * MS), |bound| {
                    assert_eq!(bound, 21);
                    draws.next().unwrap_or(10)
                });
                assert_eq!(segment.until, Instant::from_ns((ms + 1) * MS));
                // Rounded down to 2^-60, the frequency is one part less.
                segment.frequency.units()
            })
            .collect();
        let expected: Vec<i64> =
            [100, 110, 120, 110, 110].iter().map(|ppt| Frequency::from_ppt(*ppt).units()).collect();
        assert_eq!(walked, expected);
    }
}
