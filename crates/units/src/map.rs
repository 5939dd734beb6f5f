//! Maps between clocks: the only way from instants of one clock to those of another.

use crate::{Clock, Duration, Instant};

/// Fraction bits of a [`Frequency`], and of the rest that a map keeps.
const BITS: u32 = 60;
const ONE: i128 = 1 << BITS;

/// Frequency of a clock relative to another one, minus 1, in units of 2^-60: 0 means that both run equally fast.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Frequency(i64);

impl Frequency {
    /// Both clocks run equally fast.
    pub const NOMINAL: Self = Self(0);
    /// Limit of the deviation: a tenth.
    const MOST: i64 = (ONE / 10) as i64;

    /// A clock that is faster by this many parts of 10^12 (picoseconds per second; 1 ppm is 1 000 000), rounded down
    /// to a unit; at most a tenth.
    #[must_use]
    pub const fn from_ppt(ppt: i64) -> Self {
        Self::clamped((ppt as i128 * ONE).div_euclid(1_000_000_000_000))
    }

    /// A clock that is faster by this many units of 2^-60; at most a tenth.
    #[must_use]
    pub const fn from_units(units: i64) -> Self {
        Self::clamped(units as i128)
    }

    /// The frequency of a clock on which `span` passes while `other` passes on another one; `None` if no time passes.
    #[must_use]
    pub const fn of(span: Duration, other: Duration) -> Option<Self> {
        if other.ps() <= 0 {
            return None;
        }
        let faster = (span.ps() as i128 - other.ps() as i128).checked_mul(ONE);
        match faster {
            Some(faster) => Some(Self::clamped(faster.div_euclid(other.ps() as i128))),
            None => None,
        }
    }

    const fn clamped(units: i128) -> Self {
        let most = Self::MOST as i128;
        Self(if units > most {
            Self::MOST
        } else if units < -most {
            -Self::MOST
        } else {
            units as i64
        })
    }

    /// The deviation in units of 2^-60.
    #[must_use]
    pub const fn units(self) -> i64 {
        self.0
    }

    /// The deviation in parts of 10^12, rounded towards minus infinity.
    #[must_use]
    pub const fn ppt(self) -> i64 {
        ((self.0 as i128 * 1_000_000_000_000) >> BITS) as i64
    }

    /// The frequency of a clock that runs at `other` relative to one that runs at this: (1 + a)(1 + b) - 1.
    #[must_use]
    pub const fn times(self, other: Self) -> Self {
        Self::clamped(self.0 as i128 + other.0 as i128 + ((self.0 as i128 * other.0 as i128) >> BITS))
    }

    /// The span on this clock in which `span` passes on the other one, rounded towards minus infinity.
    #[must_use]
    pub const fn scale(self, span: Duration) -> Duration {
        Duration::from_ps(span.ps() + ((span.ps() as i128 * self.0 as i128) >> BITS) as i64)
    }
}

/// A straight line from the time of clock `A` to the time of clock `B`.
///
/// [`Self::forward`] is exact up to rounding down to a picosecond, and never decreases. [`Self::inverse`] is its
/// inverse in this sense: `forward(a) >= b` exactly when `a >= inverse(b)`. A change of frequency
/// ([`Self::set_frequency`]) keeps the part that was rounded off, so frequent changes lose nothing.
pub struct ClockMap<A: Clock, B: Clock> {
    from: Instant<A>,
    to: Instant<B>,
    /// The part of `to` that was rounded off, in 2^-60 ps.
    rest: i64,
    frequency: Frequency,
}

impl<A: Clock, B: Clock> ClockMap<A, B> {
    /// The line through one point.
    #[must_use]
    pub const fn new(from: Instant<A>, to: Instant<B>, frequency: Frequency) -> Self {
        Self { from, to, rest: 0, frequency }
    }

    /// The frequency of `B` relative to `A`.
    #[must_use]
    pub const fn frequency(&self) -> Frequency {
        self.frequency
    }

    /// The lead of `B` over its whole picoseconds since the anchor, in 2^-60 ps.
    const fn gained(&self, at: Instant<A>) -> (i64, i128) {
        let span = at.ps().saturating_sub(self.from.ps());
        (span, span as i128 * self.frequency.0 as i128 + self.rest as i128)
    }

    /// The time of `B` at `at`, rounded down to a picosecond.
    #[must_use]
    pub const fn forward(&self, at: Instant<A>) -> Instant<B> {
        let (span, gained) = self.gained(at);
        Instant::from_ps(self.to.ps().saturating_add(span).saturating_add((gained >> BITS) as i64))
    }

    /// The first instant at which `B` shows `at` or more.
    #[must_use]
    pub const fn inverse(&self, at: Instant<B>) -> Instant<A> {
        let span = at.ps().saturating_sub(self.to.ps());
        let needed = span as i128 * ONE - self.rest as i128;
        let steps = ONE + self.frequency.0 as i128;
        // Rounded up; the divisor is positive.
        let passed = -(-needed).div_euclid(steps);
        let passed = if passed > i64::MAX as i128 { i64::MAX } else { passed as i64 };
        Instant::from_ps(self.from.ps().saturating_add(passed))
    }

    /// Sets the frequency of `B` from `at` on; the time of `B` at `at` does not change.
    pub const fn set_frequency(&mut self, at: Instant<A>, frequency: Frequency) {
        let (_, gained) = self.gained(at);
        self.to = self.forward(at);
        self.rest = (gained & (ONE - 1)) as i64;
        self.from = at;
        self.frequency = frequency;
    }

    /// Moves the time of `B` by `step`.
    pub const fn step(&mut self, step: Duration) {
        self.to = Instant::from_ps(self.to.ps().saturating_add(step.ps()));
    }
}

impl<A: Clock, B: Clock> Copy for ClockMap<A, B> {}
impl<A: Clock, B: Clock> Clone for ClockMap<A, B> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A: Clock, B: Clock> std::fmt::Debug for ClockMap<A, B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} at {:?}, {:?}", self.to, self.from, self.frequency)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Local, True};

    fn map(from: i64, to: i64, ppt: i64) -> ClockMap<True, Local> {
        ClockMap::new(Instant::from_ps(from), Instant::from_ps(to), Frequency::from_ppt(ppt))
    }

    #[test]
    fn twenty_ppm_are_twenty_microseconds_per_second() {
        for (ppm, second, shown) in [
            (20, 1, 1_000_020_000_000),
            (-20, 1, 999_979_999_999), // the frequency is rounded down, so is the picosecond
            (20, 3_600, 3_600_072_000_000_000),
            (0, 3_600, 3_600_000_000_000_000),
        ] {
            let there = map(0, 0, ppm * 1_000_000).forward(Instant::from_ps(second * 1_000_000_000_000));
            assert!((there.ps() - shown).abs() <= 1, "{ppm} ppm after {second} s: {there:?}");
        }
    }

    #[test]
    fn there_and_back_agree_to_the_picosecond() {
        // A small random generator: this crate has no dependencies.
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut draw = |most: i64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % (2 * most as u64 + 1)) as i64 - most
        };
        for _ in 0..20_000 {
            let mut map = map(draw(1 << 40), draw(1 << 40), draw(500_000_000));
            for _ in 0..3 {
                map.set_frequency(Instant::from_ps(draw(1 << 41)), Frequency::from_ppt(draw(500_000_000)));
            }
            let shown = Instant::from_ps(draw(1 << 50));
            let first = map.inverse(shown);
            assert!(map.forward(first) >= shown);
            assert!(map.forward(first - Duration::from_ps(1)) < shown);
            let later = first + Duration::from_ps(draw(1_000).abs());
            assert!(map.forward(later) >= map.forward(first));
        }
    }

    #[test]
    fn bending_loses_nothing() {
        let straight = map(0, 0, 123_456);
        let mut bent = straight;
        for step in 1..10_000 {
            bent.set_frequency(Instant::from_ps(step * 7_919), straight.frequency());
        }
        let end = Instant::from_ps(1_000_000_000_000);
        assert_eq!(bent.forward(end), straight.forward(end));
    }

    #[test]
    fn frequencies_multiply() {
        let half = Frequency::from_ppt(100_000_000_000).times(Frequency::from_ppt(-50_000_000_000));
        assert!((half.ppt() - 45_000_000_000).abs() <= 1);
        assert_eq!(
            Frequency::of(Duration::from_ps(1_000_020), Duration::from_ps(1_000_000)).map(Frequency::ppt),
            Some(19_999_999)
        );
    }
}
