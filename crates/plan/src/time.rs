//! Times of a Plan, which are nanoseconds, as spans of the machines, which count picoseconds.

use tsn_units::Duration;

/// The longest span of a Plan's nanoseconds: 26 days, a quarter of the range of picoseconds in 64 bits.
const LONGEST: Duration = Duration::from_ps(i64::MAX / 4);

/// The span of `ns` nanoseconds of a Plan; every crate converts a Plan's times with it.
///
/// A consistent Plan has no time beyond ten days (see [`crate::Plan::check`]), and all of these are exact. Longer
/// times, as products may be, count as 26 days: longer than any run, while the sum of three and an instant of a run
/// still fits.
#[must_use]
pub const fn duration(ns: u64) -> Duration {
    if ns < (LONGEST.ps() / 1_000).cast_unsigned() { Duration::from_ns(ns.cast_signed()) } else { LONGEST }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tsn_units::Instant;

    const TEN_DAYS: u64 = 10 * 86_400 * 1_000_000_000;

    #[test]
    fn every_time_of_a_consistent_plan_is_exact() {
        for ns in [0, 1, 999, 1_000_000_007, TEN_DAYS] {
            assert_eq!(i128::from(duration(ns).ps()), i128::from(ns) * 1_000);
        }
    }

    #[test]
    fn longer_ones_are_all_the_same_and_in_order() {
        let last = (LONGEST.ps() / 1_000).cast_unsigned();
        assert!(duration(last - 1) < duration(last) && duration(TEN_DAYS) < LONGEST);
        for ns in [last, last + 1, i64::MAX as u64, u64::MAX] {
            assert_eq!(duration(ns), LONGEST);
        }
    }

    /// A run ends within twenty days, drain included.
    #[test]
    fn three_and_an_instant_of_a_run_fit() {
        let end = Instant::<tsn_units::True>::EPOCH + duration(2 * TEN_DAYS);
        assert!(end + LONGEST + LONGEST + LONGEST > end);
    }
}
