//! EnGINE's `send_udp` payload, from its published source (`send_udp_tai.c`).
//!
//! ```text
//!  octet   0 .. 7        8 .. 11      12 .. 19       20 .. 255
//!        +-------------+------------+--------------+------------------+
//!        | txtime, ns  |  sequence  | send time, ns|  'a' 'a' 'a' ...  |
//!        +-------------+------------+--------------+------------------+
//! ```
//!
//! In the sender's byte order: little-endian on every machine that EnGINE used. Sequence numbers start at 0.

use super::{head, octets};
use crate::Error;

/// The filler after the numbers.
const MARKER: u8 = b'a';

/// The fields of a payload.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Launch time of the frame, ns TAI.
    pub txtime_ns: u64,
    /// Sequence number of the frame.
    pub seq: u32,
    /// The time just before sending, ns TAI.
    pub sent_ns: u64,
}

impl Repr {
    /// Reads a payload.
    ///
    /// # Errors
    /// The octets are not such a payload.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let found = head::<28>("a send_udp payload", bytes)?;
        if found[20..] != [MARKER; 8] {
            return Err(Error::Not("a send_udp payload"));
        }
        Ok(Self {
            txtime_ns: u64::from_le_bytes(octets(found, 0)),
            seq: u32::from_le_bytes(octets(found, 8)),
            sent_ns: u64::from_le_bytes(octets(found, 12)),
        })
    }

    /// Appends the payload with the length that the tool sends.
    pub fn emit(&self, into: &mut Vec<u8>) {
        let end = into.len() + 256;
        into.extend_from_slice(&self.txtime_ns.to_le_bytes());
        into.extend_from_slice(&self.seq.to_le_bytes());
        into.extend_from_slice(&self.sent_ns.to_le_bytes());
        into.resize(end, MARKER);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_both_ways() {
        let repr = Repr { txtime_ns: 0x0102_0304_0506_0708, seq: 258, sent_ns: 1 };
        let mut written = Vec::new();
        repr.emit(&mut written);
        assert_eq!(written.len(), 256);
        assert_eq!(&written[..22], b"\x08\x07\x06\x05\x04\x03\x02\x01\x02\x01\0\0\x01\0\0\0\0\0\0\0aa");
        assert_eq!(Repr::parse(&written), Ok(repr));
        written[25] = b'b';
        assert_eq!(Repr::parse(&written), Err(Error::Not("a send_udp payload")));
        assert!(Repr::parse(&written[..27]).is_err());
    }
}
