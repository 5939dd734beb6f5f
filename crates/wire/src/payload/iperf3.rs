//! iperf3's UDP payload: send time and packet counter, from the source of iperf 3 (`iperf_udp.c`).
//!
//! ```text
//!  octet   0 .. 3    4 .. 7       8 .. 11   12 .. 15
//!        +---------+------------+---------+---------+
//!        | seconds |microseconds| counter |           32 bits, the default
//!        +---------+------------+---------+---------+
//!        | seconds |microseconds|      counter      | 64 bits, --udp-counters-64bit
//!        +---------+------------+---------+---------+
//! ```
//!
//! Big-endian. The counter starts at 1. The time is that of the sender's clock (monotonic in newer versions), so only
//! the range of the microseconds can be checked: several frames are needed to recognise the variant.

use super::{head, octets};
use crate::Error;

/// The fields of an iperf3 payload.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Send time, seconds on the sender's clock.
    pub seconds: u32,
    /// Send time, below 1,000,000.
    pub microseconds: u32,
    /// Number of the packet, from 1.
    pub counter: u64,
}

impl Repr {
    /// Reads a payload with a counter of 32 or (`wide`) 64 bits.
    ///
    /// # Errors
    /// The octets are not such a payload.
    pub fn parse(bytes: &[u8], wide: bool) -> Result<Self, Error> {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = *head::<12>("an iperf3 payload", bytes)?;
        let counter = u32::from_be_bytes([i, j, k, l]);
        let counter = if wide {
            head::<16>("an iperf3 payload with a 64-bit counter", bytes)?;
            u64::from_be_bytes(octets(bytes, 8))
        } else {
            u64::from(counter)
        };
        let microseconds = u32::from_be_bytes([e, f, g, h]);
        if microseconds >= 1_000_000 || counter == 0 {
            return Err(Error::Not("an iperf3 payload"));
        }
        Ok(Self { seconds: u32::from_be_bytes([a, b, c, d]), microseconds, counter })
    }

    /// Appends the first octets of the payload.
    pub fn emit(&self, wide: bool, into: &mut Vec<u8>) {
        into.extend_from_slice(&self.seconds.to_be_bytes());
        into.extend_from_slice(&self.microseconds.to_be_bytes());
        let counter = self.counter.to_be_bytes();
        into.extend_from_slice(if wide { &counter } else { &counter[4..] });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_both_ways() {
        let table: &[(&[u8], bool, Repr)] = &[
            (
                b"\0\0\x30\x39\0\x0f\x42\x3f\0\0\0\x01",
                false,
                Repr { seconds: 12345, microseconds: 999_999, counter: 1 },
            ),
            (
                b"\0\0\0\x02\0\0\0\x03\0\0\0\x01\0\0\0\0",
                true,
                Repr { seconds: 2, microseconds: 3, counter: 1 << 32 },
            ),
        ];
        for (bytes, wide, repr) in table {
            assert_eq!(Repr::parse(bytes, *wide).as_ref(), Ok(repr));
            let mut written = Vec::new();
            repr.emit(*wide, &mut written);
            assert_eq!(&written, bytes);
        }
        assert!(
            Repr::parse(b"\0\0\x30\x39\0\x0f\x42\x40\0\0\0\x01", false).is_err(),
            "a million microseconds"
        );
        assert!(Repr::parse(b"\0\0\x30\x39\0\0\0\x01\0\0\0\0", false).is_err(), "counter 0");
        assert!(Repr::parse(b"\0\0\x30\x39\0\0\0\x01\0\0\0", false).is_err(), "too short");
    }
}
