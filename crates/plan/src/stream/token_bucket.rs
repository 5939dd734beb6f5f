//! Token buckets: which frames conform to one, and when.

use crate::{Pattern, Size, Stream};
use tsn_units::PHY_OVERHEAD;

/// Bit/s times ps of one octet at 1 bit/s.
const OCTET: i128 = 8_000_000_000_000;

/// A token bucket for frames of one size.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TokenBucket {
    /// Octets of a frame on the link.
    frame: i128,
    burst: i128,
    rate_bps: i128,
}

impl Stream {
    /// The token bucket to which the stream conforms, if it has one and frames of one size.
    #[must_use]
    pub fn token_bucket(&self) -> Option<TokenBucket> {
        let (Pattern::TokenBucket { burst_octets, rate_bps }, Size::Frame { octets }) =
            (&self.pattern, &self.size)
        else {
            return None;
        };
        let frame = i128::from(*octets) + i128::from(PHY_OVERHEAD.0);
        Some(TokenBucket { frame, burst: i128::from(*burst_octets), rate_bps: i128::from(*rate_bps).max(1) })
    }
}

impl TokenBucket {
    /// The earliest time from the start to the release of the n-th frame (from 0), if all before it were as early as
    /// they could be: when the bucket has had so many frames in all; ps, rounded up.
    #[must_use]
    pub fn earliest_ps(&self, number: u64) -> i64 {
        let missing = (i128::from(number) + 1).saturating_mul(self.frame) - self.burst;
        let ps = (missing.max(0).saturating_mul(OCTET) + self.rate_bps - 1) / self.rate_bps;
        i64::try_from(ps).unwrap_or(i64::MAX)
    }

    /// The time in which the bucket gains a frame, rounded down; ps, at least 1.
    #[must_use]
    pub fn period_ps(&self) -> i64 {
        i64::try_from(self.frame * OCTET / self.rate_bps).unwrap_or(i64::MAX).max(1)
    }

    /// The time in which the bucket gains what it holds beyond a frame: within any time t, at most
    /// `floor((t + slack) / period) + 1` frames are released. One ps more, as releases are at whole ps.
    #[must_use]
    pub fn slack_ps(&self) -> i64 {
        let beyond = (self.burst - self.frame).max(0).saturating_mul(OCTET);
        i64::try_from((beyond + self.rate_bps - 1) / self.rate_bps + 1).unwrap_or(i64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames of 980 octets, 1000 on the link, from 3500 octets that grow by 1 Mbit/s: three at once, the fourth when
    /// 500 octets have come (4 ms), then one every 8 ms.
    #[test]
    fn a_burst_leaves_at_once_and_then_as_fast_as_the_bucket_fills() {
        let bucket = TokenBucket { frame: 1_000, burst: 3_500, rate_bps: 1_000_000 };
        let at = |number| bucket.earliest_ps(number) / 1_000_000;
        assert_eq!([0, 1, 2, 3, 4, 5].map(at), [0, 0, 0, 4_000, 12_000, 20_000]);
        assert_eq!(bucket.period_ps(), 8_000_000_000);
        assert_eq!(bucket.slack_ps(), 20_000_000_001);
    }

    /// No span has more of the earliest frames than the period and the slack allow, and spans that begin with the first
    /// frame have as many but for rounding.
    #[test]
    fn the_earliest_frames_keep_the_staircase() {
        for (frame, burst, rate_bps) in
            [(84, 84, 7_777), (1_000, 3_500, 1_000_000), (333, 2_000, 999_999_937)]
        {
            let bucket = TokenBucket { frame, burst, rate_bps };
            let at: Vec<i64> = (0..60).map(|number| bucket.earliest_ps(number)).collect();
            for first in 0..at.len() {
                for last in first..at.len() {
                    let most = (at[last] - at[first] + bucket.slack_ps()) / bucket.period_ps() + 1;
                    assert!((last - first + 1) as i64 <= most, "{frame} {burst} {first} {last}");
                    let tight = (at[last] - at[0] + bucket.slack_ps() + 70) / bucket.period_ps() + 1;
                    assert!(first > 0 || at[last] == 0 || tight <= last as i64 + 2, "{frame} {last}");
                }
            }
        }
    }
}
