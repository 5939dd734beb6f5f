//! Octets, bit rates, and the one place where they meet: [`wire_time`].

use crate::Duration;
use std::fmt;

/// A number of octets.
///
/// Octets of a frame are counted from the destination address to the FCS, tags included: a full VLAN-tagged frame has
/// 1522. IEEE 802.3-2022, 3.2.7.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Octets(pub u32);

/// A bit rate in bit/s.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct BitRate(pub u64);

/// Octets of preamble before every frame. IEEE 802.3-2022, 3.2.1.
pub const PREAMBLE: Octets = Octets(7);
/// The start frame delimiter, whose end is the message timestamp point. IEEE 802.3-2022, 3.2.2 and 90.7.
pub const START_FRAME_DELIMITER: Octets = Octets(1);
/// The frame check sequence; part of every frame size here. IEEE 802.3-2022, 3.2.9.
pub const FCS: Octets = Octets(4);
/// The gap after every frame, 96 bit times. IEEE 802.3-2022, 4.4.2.
pub const INTER_FRAME_GAP: Octets = Octets(12);
/// Octets that every frame takes on the wire in addition to its own.
pub const PHY_OVERHEAD: Octets = Octets(PREAMBLE.0 + START_FRAME_DELIMITER.0 + INTER_FRAME_GAP.0);

/// The time that `octets` take on a medium of `rate`, rounded up to the next picosecond.
const fn occupancy(octets: u64, rate: BitRate) -> Duration {
    let bit_ps = octets as u128 * 8 * 1_000_000_000_000;
    Duration::from_ps(bit_ps.div_ceil(rate.0 as u128) as i64)
}

/// The time that one frame occupies a link of `rate`: preamble, delimiter, frame and inter-frame gap.
///
/// ```
/// use tsn_units::{BitRate, Octets, wire_time};
/// assert_eq!(wire_time(Octets(1522), BitRate(1_000_000_000)).ps(), 12_336_000);
/// ```
#[must_use]
pub const fn wire_time(frame: Octets, rate: BitRate) -> Duration {
    occupancy(frame.0 as u64 + PHY_OVERHEAD.0 as u64, rate)
}

impl BitRate {
    /// The time of `octets` at this rate, without any overhead, rounded up to the next picosecond.
    #[must_use]
    pub const fn time(self, octets: Octets) -> Duration {
        occupancy(octets.0 as u64, self)
    }
}

/// In the largest unit that the rate reaches, with all its decimals: `998.928 Mbit/s`.
impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, decimals, prefix) = match self.0 {
            1_000_000_000.. => (1_000_000_000, 9, "G"),
            1_000_000.. => (1_000_000, 6, "M"),
            1_000.. => (1_000, 3, "k"),
            _ => return write!(f, "{} bit/s", self.0),
        };
        let text = format!("{}.{:0decimals$}", self.0 / unit, self.0 % unit);
        write!(f, "{} {prefix}bit/s", text.trim_end_matches('0').trim_end_matches('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_written_in_full() {
        for (bps, text) in [
            (0, "0 bit/s"),
            (999, "999 bit/s"),
            (1_000, "1 kbit/s"),
            (10_000, "10 kbit/s"),
            (64_500, "64.5 kbit/s"),
            (998_928_000, "998.928 Mbit/s"),
            (936_903_201, "936.903201 Mbit/s"),
            (100_000_000, "100 Mbit/s"),
            (1_000_000_000, "1 Gbit/s"),
            (9_294_196_000, "9.294196 Gbit/s"),
            (20_000_000_001, "20.000000001 Gbit/s"),
        ] {
            assert_eq!(BitRate(bps).to_string(), text);
        }
    }

    #[test]
    fn wire_times_of_known_frames() {
        for (frame, rate, ps) in [
            (64, 10_000_000, 67_200_000),
            (64, 100_000_000, 6_720_000),
            (1522, 100_000_000, 123_360_000),
            (1230, 1_000_000_000, 10_000_000),
            (1522, 100_000_000_000, 123_360),
            // The X552's real rate (COTS lessons, section V): not a whole number of picoseconds, rounded up.
            (1230, 9_294_196_000, 1_075_941),
        ] {
            assert_eq!(wire_time(Octets(frame), BitRate(rate)).ps(), ps, "{frame} at {rate}");
        }
    }
}
