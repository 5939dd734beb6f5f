//! Points in time and spans of time, in integer picoseconds.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ops::{Add, AddAssign, Neg, Sub, SubAssign};

/// Picoseconds in a nanosecond.
const PS_PER_NS: i64 = 1_000;

/// A clock that instants can be read from. Implemented by marker types only.
pub trait Clock {
    /// Name of the clock in observations.
    const NAME: &'static str;
}

/// True time: the simulator's own time, which no node can read.
#[derive(Copy, Clone, Debug)]
pub enum True {}

impl Clock for True {
    const NAME: &'static str = "true";
}

/// A node's own time, as it is set and adjusted: the time of its gates, talkers and timestamps.
#[derive(Copy, Clone, Debug)]
pub enum Local {}

impl Clock for Local {
    const NAME: &'static str = "local";
}

/// The time of a node's oscillator, which is counted and never adjusted (`LocalClock`). IEEE 802.1AS-2020, 10.1.
#[derive(Copy, Clone, Debug)]
pub enum Free {}

impl Clock for Free {
    const NAME: &'static str = "free";
}

/// A signed span of time in picoseconds; up to about 106 days in either direction.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Duration(i64);

impl Duration {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The longest span.
    pub const MAX: Self = Self(i64::MAX);

    /// A span of `ps` picoseconds.
    #[must_use]
    pub const fn from_ps(ps: i64) -> Self {
        Self(ps)
    }

    /// A span of `ns` nanoseconds; saturates beyond 106 days.
    #[must_use]
    pub const fn from_ns(ns: i64) -> Self {
        Self(ns.saturating_mul(PS_PER_NS))
    }

    /// The span in picoseconds.
    #[must_use]
    pub const fn ps(self) -> i64 {
        self.0
    }

    /// The span in whole nanoseconds, rounded towards minus infinity.
    #[must_use]
    pub const fn floor_ns(self) -> i64 {
        self.0.div_euclid(PS_PER_NS)
    }
}

impl Add for Duration {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Duration {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl SubAssign for Duration {
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}

impl Neg for Duration {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl fmt::Debug for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ps", self.0)
    }
}

/// A point in time on clock `C`, in picoseconds since that clock's epoch.
pub struct Instant<C: Clock = True>(i64, PhantomData<C>);

impl<C: Clock> Instant<C> {
    /// The clock's epoch.
    pub const EPOCH: Self = Self(0, PhantomData);
    /// The last representable point.
    pub const MAX: Self = Self(i64::MAX, PhantomData);

    /// The point `ps` picoseconds after the epoch.
    #[must_use]
    pub const fn from_ps(ps: i64) -> Self {
        Self(ps, PhantomData)
    }

    /// The point `ns` nanoseconds after the epoch; saturates.
    #[must_use]
    pub const fn from_ns(ns: i64) -> Self {
        Self(ns.saturating_mul(PS_PER_NS), PhantomData)
    }

    /// Picoseconds since the epoch.
    #[must_use]
    pub const fn ps(self) -> i64 {
        self.0
    }

    /// Nanoseconds since the epoch on a counter of the given granularity, rounded down to a tick.
    #[must_use]
    pub const fn ticked_ns(self, granularity_ns: i64) -> i64 {
        let ns = self.0.div_euclid(PS_PER_NS);
        // The most frequent case, without a division by a variable.
        if granularity_ns == 1 { ns } else { ns - ns.rem_euclid(granularity_ns) }
    }
}

// The traits of `Instant` are implemented below and not derived: a derived trait would also require the trait of the
// marker type.
impl Instant<True> {
    /// The time of a clock without error at this instant.
    #[must_use]
    pub const fn on_perfect_clock<C: Clock>(self) -> Instant<C> {
        Instant(self.0, PhantomData)
    }
}

impl<C: Clock> Instant<C> {
    /// The true instant at which a clock without error shows this one.
    #[must_use]
    pub const fn of_perfect_clock(self) -> Instant<True> {
        Instant(self.0, PhantomData)
    }
}

impl<C: Clock> Copy for Instant<C> {}
impl<C: Clock> Clone for Instant<C> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<C: Clock> PartialEq for Instant<C> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl<C: Clock> Eq for Instant<C> {}
impl<C: Clock> PartialOrd for Instant<C> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<C: Clock> Ord for Instant<C> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }
}
impl<C: Clock> Hash for Instant<C> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}
impl<C: Clock> Default for Instant<C> {
    fn default() -> Self {
        Self::EPOCH
    }
}
impl<C: Clock> fmt::Debug for Instant<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ps ({})", self.0, C::NAME)
    }
}

impl<C: Clock> Add<Duration> for Instant<C> {
    type Output = Self;
    fn add(self, span: Duration) -> Self {
        Self(self.0 + span.0, PhantomData)
    }
}

impl<C: Clock> Sub<Duration> for Instant<C> {
    type Output = Self;
    fn sub(self, span: Duration) -> Self {
        Self(self.0 - span.0, PhantomData)
    }
}

impl<C: Clock> AddAssign<Duration> for Instant<C> {
    fn add_assign(&mut self, span: Duration) {
        self.0 += span.0;
    }
}

impl<C: Clock> Sub for Instant<C> {
    type Output = Duration;
    fn sub(self, other: Self) -> Duration {
        Duration(self.0 - other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_shows_the_last_tick_that_has_passed() {
        for (ps, granularity, shown) in
            [(15_999, 8, 8), (16_000, 8, 16), (999, 1, 0), (-1, 1, -1), (-1, 8, -8)]
        {
            assert_eq!(Instant::<True>::from_ps(ps).ticked_ns(granularity), shown, "{ps} ps");
        }
    }

    #[test]
    fn spans_and_points_keep_their_kinds() {
        let start = Instant::<True>::from_ns(5);
        assert_eq!((start + Duration::from_ns(3)) - start, Duration::from_ps(3_000));
        assert_eq!(Duration::from_ps(-1).floor_ns(), -1);
    }
}
