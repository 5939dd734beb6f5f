//! The distinct periods of a problem, and their common divisors and multiples.

use std::collections::BTreeSet;

/// Distinct periods, ascending, in ps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Periods(Vec<i64>);

impl Periods {
    pub fn new(periods_ns: impl Iterator<Item = i64>) -> Self {
        let distinct: BTreeSet<i64> = periods_ns.map(|ns| ns * 1_000).collect();
        Self(distinct.into_iter().collect())
    }

    /// All distinct periods, ascending, in ps.
    pub fn all(&self) -> &[i64] {
        &self.0
    }

    /// The index of a period; none if the problem does not have it.
    pub fn find(&self, period_ns: i64) -> Option<usize> {
        self.0.binary_search(&(period_ns * 1_000)).ok()
    }
}

/// Greatest common divisor of two positive numbers.
pub(crate) const fn gcd(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Least common multiple; none beyond what picoseconds in 64 bits can hold.
pub(crate) fn lcm(a: i64, b: i64) -> Option<i64> {
    (a / gcd(a, b)).checked_mul(b).filter(|all| *all <= i64::MAX / 8_000)
}
