//! Converts a capture's ticks to nanoseconds: exact, or rounded to the nearest nanosecond.
//! pcapng: draft-ietf-opsawg-pcapng, section 4.2 (`if_tsresol`, `if_tsoffset`).

/// The length of a capture's tick.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TimeScale {
    ticks_per_second: u128,
    offset_ns: i128,
    /// Nanoseconds per tick, if that is a whole number: avoids the division.
    whole: Option<u64>,
}

const SECOND: u128 = 1_000_000_000;

impl TimeScale {
    /// Microseconds: the resolution of a capture that names none.
    pub const MICROSECONDS: Self = Self { ticks_per_second: 1_000_000, offset_ns: 0, whole: Some(1_000) };
    /// Nanoseconds.
    pub const NANOSECONDS: Self = Self { ticks_per_second: SECOND, offset_ns: 0, whole: Some(1) };

    /// The resolution of `if_tsresol`: 10^-n, or 2^-n if the highest bit is set; `None` beyond the range of 128 bits.
    #[must_use]
    pub fn from_resolution(resolution: u8, offset_s: i64) -> Option<Self> {
        let exponent = u32::from(resolution & 0x7f);
        let base: u128 = if resolution & 0x80 == 0 { 10 } else { 2 };
        let ticks_per_second = base.checked_pow(exponent)?;
        let whole = SECOND
            .is_multiple_of(ticks_per_second)
            .then(|| u64::try_from(SECOND / ticks_per_second).ok())
            .flatten();
        Some(Self { ticks_per_second, offset_ns: i128::from(offset_s) * 1_000_000_000, whole })
    }

    /// Nanoseconds since the epoch; `None` outside of the years 1677 to 2262, the range of 64 bits.
    #[must_use]
    #[inline]
    pub fn ns(&self, ticks: u64) -> Option<i64> {
        if let (Some(whole), 0) = (self.whole, self.offset_ns) {
            return ticks.checked_mul(whole).and_then(|ns| i64::try_from(ns).ok());
        }
        // In two parts, because a second has up to 2^127 ticks.
        let ticks = u128::from(ticks);
        let (seconds, rest) = (ticks / self.ticks_per_second, ticks % self.ticks_per_second);
        let parts = rest * SECOND;
        let ns = parts / self.ticks_per_second;
        let up = parts % self.ticks_per_second >= self.ticks_per_second.div_ceil(2);
        i64::try_from(i128::try_from(seconds * SECOND + ns).ok()? + i128::from(up) + self.offset_ns).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_of_every_kind() {
        let table: [(u8, i64, u64, Option<i64>); 15] = [
            (6, 0, 1_795_234_296_123_456, Some(1_795_234_296_123_456_000)),
            (9, 0, 1_795_234_296_123_456_789, Some(1_795_234_296_123_456_789)),
            (9, 37, 5, Some(37_000_000_005)),
            (9, -1, 5, Some(-999_999_995)),
            (0, 0, 7, Some(7_000_000_000)),
            (3, 0, 7, Some(7_000_000)),
            // Ticks of other lengths are rounded to the nearest ns, halves up.
            (12, 0, 1_999, Some(2)),
            (12, 0, 1_499, Some(1)),
            (12, 0, 1_500, Some(2)),
            (0x80 | 30, 0, 1 << 30, Some(1_000_000_000)),
            (0x80 | 32, 0, 1, Some(0)),
            (0x80 | 32, 0, 5, Some(1)),
            (0x80 | 63, 0, u64::MAX, Some(2_000_000_000)),
            (0x80 | 20, 0, (1 << 20) + 1, Some(1_000_000_954)),
            (6, 0, u64::MAX, None),
        ];
        for (resolution, offset, ticks, ns) in table {
            let scale = TimeScale::from_resolution(resolution, offset).unwrap();
            assert_eq!(scale.ns(ticks), ns, "{resolution} {offset} {ticks}");
        }
        assert_eq!(TimeScale::from_resolution(6, 0), Some(TimeScale::MICROSECONDS));
        assert_eq!(TimeScale::from_resolution(9, 0), Some(TimeScale::NANOSECONDS));
        assert_eq!(TimeScale::from_resolution(39, 0), None);
        assert!(TimeScale::from_resolution(0x80 | 127, i64::MIN).unwrap().ns(u64::MAX).is_none());
    }
}
