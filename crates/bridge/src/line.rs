//! The medium of a port, and how long frames keep it busy.
//!
//! IEEE 802.3-2022, 3.2 and 4.4.2.

use tsn_units::{BitRate, Duration, Octets, PHY_OVERHEAD, PREAMBLE, START_FRAME_DELIMITER, wire_time};

/// A medium of one bit rate.
///
/// It returns the results of [`wire_time`] and [`BitRate::time`] without their divisions if an octet is a whole
/// number of picoseconds: a port needs both times for each frame.
#[derive(Copy, Clone, Debug)]
pub struct Line {
    rate: BitRate,
    /// Picoseconds per octet where that is exact, otherwise 0.
    octet_ps: i64,
}

impl Line {
    /// A line of `rate`.
    #[must_use]
    pub const fn new(rate: BitRate) -> Self {
        let exact = 8_000_000_000_000 % rate.0 == 0;
        Self { rate, octet_ps: if exact { rate.time(Octets(1)).ps() } else { 0 } }
    }

    /// The rate.
    #[must_use]
    pub const fn rate(&self) -> BitRate {
        self.rate
    }

    /// Duration from the first bit of the preamble to the last bit of the FCS: it must fit before a gate closes.
    #[inline]
    #[must_use]
    pub const fn until_last_bit(&self, frame: Octets) -> Duration {
        self.time(Octets(frame.0 + PREAMBLE.0 + START_FRAME_DELIMITER.0))
    }

    /// Duration from the first bit of the preamble to the end of the start frame delimiter, the message timestamp
    /// point.
    #[inline]
    #[must_use]
    pub const fn until_timestamp_point(&self) -> Duration {
        self.time(Octets(PREAMBLE.0 + START_FRAME_DELIMITER.0))
    }

    /// Duration from the first bit of the preamble to the end of the inter-frame gap, when the next frame may begin.
    #[inline]
    #[must_use]
    pub const fn until_free(&self, frame: Octets) -> Duration {
        if self.octet_ps > 0 {
            self.time(Octets(frame.0 + PHY_OVERHEAD.0))
        } else {
            wire_time(frame, self.rate)
        }
    }

    #[inline]
    const fn time(&self, octets: Octets) -> Duration {
        if self.octet_ps > 0 {
            Duration::from_ps(octets.0 as i64 * self.octet_ps)
        } else {
            self.rate.time(octets)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_cut_gives_the_same_times() {
        for rate in
            [1_000_000, 3_000_000, 100_000_000, 1_000_000_000, 9_294_196_000, 400_000_000_000].map(BitRate)
        {
            let line = Line::new(rate);
            for octets in [64, 65, 1_522, 9_000, 65_535].map(Octets) {
                assert_eq!(line.until_free(octets), wire_time(octets, rate), "{octets:?} at {rate:?}");
                assert_eq!(
                    line.until_last_bit(octets),
                    rate.time(Octets(octets.0 + 8)),
                    "{octets:?} at {rate:?}"
                );
            }
        }
    }
}
