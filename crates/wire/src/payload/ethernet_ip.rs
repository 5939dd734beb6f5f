//! Cyclic connections of EtherNet/IP (CIP class 0 and 1) in UDP: connection and number.
//! ODVA, The CIP Networks Library, volume 2, 2-6 and 3-2.
//!
//! ```text
//!  octet   0 .. 1   2 .. 3   4 .. 5   6 .. 9        10 .. 13   14 .. 15   16 .. 17   18 ..
//!        +--------+--------+--------+-------------+----------+----------+----------+--------
//!        | items  | 0x8002 | 8      | connection  | number   | 0x00b1   | octets   | data …
//!        +--------+--------+--------+-------------+----------+----------+----------+--------
//! ```
//!
//! Little-endian. The number has 32 bits and counts every datagram of the connection; the number of 16 bits in the data
//! counts new values alone.

use super::{head, octets};
use crate::Error;

/// The registered UDP port of these datagrams.
pub const UDP_PORT: u16 = 2222;

/// The fields of a datagram.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Identifier of the connection.
    pub connection: u32,
    /// Number of the datagram in the connection.
    pub number: u32,
}

impl Repr {
    /// Reads a datagram.
    ///
    /// # Errors
    /// The octets are no such datagram.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let found = head::<18>("a datagram of EtherNet/IP", bytes)?;
        if found[..6] != *b"\x02\0\x02\x80\x08\0" || found[14..16] != *b"\xb1\0" {
            return Err(Error::Not("a datagram of EtherNet/IP"));
        }
        Ok(Self {
            connection: u32::from_le_bytes(octets(found, 6)),
            number: u32::from_le_bytes(octets(found, 10)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connection_and_number() {
        let bytes = b"\x02\0\x02\x80\x08\0\x78\x56\x34\x12\xff\xff\xff\xff\xb1\0\x02\0\x01\0";
        assert_eq!(Repr::parse(bytes), Ok(Repr { connection: 0x1234_5678, number: u32::MAX }));
        assert!(Repr::parse(&bytes[..17]).is_err());
        for place in [0, 2, 4, 14] {
            let mut wrong = *bytes;
            wrong[place] ^= 1;
            assert!(Repr::parse(&wrong).is_err(), "{place}");
        }
    }
}
