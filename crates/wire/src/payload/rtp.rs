//! Packets of RTP in UDP: source and number. RFC 3550, 5.1.
//!
//! ```text
//!  octet   0                1            2 .. 3     4 .. 7       8 .. 11
//!        +----------------+------------+----------+------------+---------+
//!        | version 2, P X | M, payload | number   | timestamp  | SSRC    | …
//!        +----------------+------------+----------+------------+---------+
//! ```
//!
//! Big-endian. Two octets hardly tell a packet: it is recognised by numbers that advance in packets of one source.

use super::{head, octets};
use crate::Error;

/// The fields of a packet.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Number of the packet.
    pub number: u16,
    /// Synchronisation source.
    pub source: u32,
}

impl Repr {
    /// Reads the payload of a UDP datagram.
    ///
    /// # Errors
    /// The octets are no such packet.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let found = head::<12>("an RTP packet", bytes)?;
        // Payload types 72 to 76 are those of RTCP. RFC 5761, 4.
        if found[0] >> 6 != 2 || matches!(found[1] & 0x7f, 72..=76) {
            return Err(Error::Not("an RTP packet"));
        }
        Ok(Self {
            number: u16::from_be_bytes(octets(found, 2)),
            source: u32::from_be_bytes(octets(found, 8)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_and_number() {
        let bytes = b"\x80\xe0\xff\xff\0\0\0\x01\x01\x02\x03\x04";
        assert_eq!(Repr::parse(bytes), Ok(Repr { number: 65535, source: 0x0102_0304 }));
        assert!(Repr::parse(&bytes[..11]).is_err());
        assert!(Repr::parse(b"\x40\xe0\xff\xff\0\0\0\x01\x01\x02\x03\x04").is_err());
        assert!(Repr::parse(b"\x80\xc8\xff\xff\0\0\0\x01\x01\x02\x03\x04").is_err(), "RTCP");
    }
}
