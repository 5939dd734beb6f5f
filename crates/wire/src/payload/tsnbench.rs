//! tsnbench's own test payload, carried in UDP.
//!
//! ```text
//!  octet   0       1       2       3       4 .. 7        8 .. 13           14 .. 21
//!        +-------+-------+-------+-------+-------------+-----------------+------------------+
//!        |  'T'  |  'S'  |  'N'  |version|   stream    |    sequence     |  intended time   | filler (zeros)
//!        +-------+-------+-------+-------+-------------+-----------------+------------------+
//!                                   1      unsigned 32   unsigned 48       signed 64, ns
//! ```
//!
//! All numbers are big-endian. The first 14 octets fit the smallest tagged frame (64 octets with FCS). A payload of
//! fewer than 22 octets has no intended time; all other fields are always there. Sequence numbers start at 0 and
//! continue with 0 after 2^48 − 1, which takes years.

use crate::Error;

/// The first octets of every payload.
const MAGIC: [u8; 3] = *b"TSN";
/// The layout above.
const VERSION: u8 = 1;
/// Octets without the intended time.
pub const SHORT: usize = 14;
/// Octets with the intended time.
pub const LONG: usize = 22;
/// The largest sequence number.
pub const LAST: u64 = (1 << 48) - 1;

/// The fields of a test payload.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Repr {
    /// The stream: index in the Plan.
    pub stream: u32,
    /// Sequence number of the frame in its stream.
    pub seq: u64,
    /// The talker's intended sending time, in ns; `None` if the frame is too small for it.
    pub intended_ns: Option<i64>,
}

impl Repr {
    /// Reads the payload of a UDP datagram.
    ///
    /// # Errors
    /// The octets are not such a payload.
    #[inline(always)]
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let Some((head, rest)) = bytes.split_first_chunk::<SHORT>() else {
            return Err(Error::Truncated { what: "a test payload", needed: SHORT, found: bytes.len() });
        };
        let [t, s, n, version, a, b, c, d, q0, q1, q2, q3, q4, q5] = *head;
        if [t, s, n] != MAGIC || version != VERSION {
            return Err(Error::Not("a test payload"));
        }
        Ok(Self {
            stream: u32::from_be_bytes([a, b, c, d]),
            seq: u64::from_be_bytes([0, 0, q0, q1, q2, q3, q4, q5]),
            intended_ns: rest.first_chunk().map(|octets| i64::from_be_bytes(*octets)),
        })
    }

    /// Appends exactly `length` octets: the payload, truncated if necessary, then filler.
    pub fn emit(&self, length: usize, into: &mut Vec<u8>) {
        let mut octets = [0; LONG];
        octets[..3].copy_from_slice(&MAGIC);
        octets[3] = VERSION;
        octets[4..8].copy_from_slice(&self.stream.to_be_bytes());
        octets[8..14].copy_from_slice(&self.seq.to_be_bytes()[2..]);
        octets[14..].copy_from_slice(&self.intended_ns.unwrap_or(0).to_be_bytes());
        let end = into.len() + length;
        into.extend_from_slice(&octets[..if length < LONG { length.min(SHORT) } else { LONG }]);
        into.resize(end, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[(&[u8], Repr)] = &[
        (b"TSN\x01\0\0\0\x07\0\0\0\0\x01\x02", Repr { stream: 7, seq: 258, intended_ns: None }),
        (
            b"TSN\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x80\0\0\0\0\0\0\0",
            Repr { stream: u32::MAX, seq: LAST, intended_ns: Some(i64::MIN) },
        ),
        (b"TSN\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x05", Repr { stream: 0, seq: 0, intended_ns: Some(5) }),
    ];

    #[test]
    fn payloads_both_ways() {
        for (bytes, repr) in TABLE {
            assert_eq!(Repr::parse(bytes).as_ref(), Ok(repr));
            let mut written = Vec::new();
            repr.emit(bytes.len(), &mut written);
            assert_eq!(&written, bytes);
        }
    }

    #[test]
    fn a_payload_is_as_long_as_it_is_told() {
        let repr = Repr { stream: 1, seq: 2, intended_ns: Some(3) };
        for length in 0..40 {
            let mut written = vec![9];
            repr.emit(length, &mut written);
            assert_eq!(written.len(), 1 + length);
            let found = Repr::parse(&written[1..]);
            assert_eq!(found.is_ok(), length >= SHORT);
            assert_eq!(found.ok().and_then(|found| found.intended_ns).is_some(), length >= LONG, "{length}");
        }
    }

    #[test]
    fn another_ones_payload_is_refused() {
        assert_eq!(Repr::parse(b"TSN\x02\0\0\0\0\0\0\0\0\0\0"), Err(Error::Not("a test payload")));
        assert_eq!(Repr::parse(b"UDP\x01\0\0\0\0\0\0\0\0\0\0"), Err(Error::Not("a test payload")));
    }
}
