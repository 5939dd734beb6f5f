//! Frames of IEEE 1722 (AVTP) with a stream: their stream, their number, and the time at which the listener presents
//! their samples. IEEE 1722-2016, 4.4.4 (stream data) and 9.4 (control formats with a stream).
//!
//! ```text
//!  octet   0         1             2           3      4 .. 11     12 .. 15
//!        +---------+-------------+-----------+------+-----------+----------------+
//!        | subtype | sv ver mr tv| number    | … tu | stream id | presentation   |   stream data
//!        +---------+-------------+-----------+------+-----------+----------------+
//!        | 0x82    | sv ver  length (11 bits)| number| stream id | messages …     |   NTSCF
//!        +---------+-------------+-----------+------+-----------+----------------+
//! ```
//!
//! Big-endian. The number has 8 bits and counts every frame of the stream. The presentation time is the time of gPTP in
//! ns modulo 2^32. In UDP (port 17220) the frame follows a 32-bit number of the datagram.

use super::{head, octets};
use crate::{Error, EtherType};

/// The type of these frames.
pub const ETHER_TYPE: EtherType = EtherType(0x22f0);
/// The port of the frames in UDP. IEEE 1722-2016, annex J.
pub const UDP_PORT: u16 = 17220;
/// Octets before the frame in a datagram.
pub const IN_DATAGRAM: usize = 4;
/// Control messages in a stream, without time.
const NTSCF: u8 = 0x82;
/// The clock reference format, whose times are elsewhere.
const CRF: u8 = 0x04;

/// The fields of a frame.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Repr {
    /// The stream.
    pub stream: u64,
    /// Number of the frame in the stream.
    pub number: u8,
    /// Presentation time in ns modulo 2^32, if the frame says that it is valid.
    pub presentation_ns: Option<u32>,
}

impl Repr {
    /// Reads the octets after the `EtherType`.
    ///
    /// # Errors
    /// There are too few octets, or the frame has no stream, or is of another version.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let found = head::<12>("an AVTP frame", bytes)?;
        let subtype = found[0];
        // Bit 7: the stream id is valid; bits 4 to 6: version.
        if found[1] & 0xf0 != 0x80 || !matches!(subtype, 0..=7 | 0x6e | 0x6f | 0x7f | NTSCF) {
            return Err(Error::Not("an AVTP frame with a stream"));
        }
        let timed = found[1] & 1 != 0 && found[3] & 1 == 0 && !matches!(subtype, CRF | NTSCF);
        Ok(Self {
            stream: u64::from_be_bytes(octets(found, 4)),
            number: if subtype == NTSCF { found[3] } else { found[2] },
            presentation_ns: bytes
                .get(12..16)
                .filter(|_| timed)
                .map(|time| u32::from_be_bytes(octets(time, 0))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_numbers_and_times() {
        let table: [(&[u8], u8, Option<u32>); 5] = [
            (b"\x02\x81\xff\0\x02\0\0\0\0\x01\0\x05\0\x0f\x42\x40", 255, Some(1_000_000)),
            (b"\x02\x80\x00\0\x02\0\0\0\0\x01\0\x05\0\x0f\x42\x40", 0, None),
            (b"\x00\x81\x07\x01\x02\0\0\0\0\x01\0\x05\0\x0f\x42\x40", 7, None),
            (b"\x04\x81\x08\0\x02\0\0\0\0\x01\0\x05\0\x0f\x42\x40", 8, None),
            (b"\x82\x80\x20\x09\x02\0\0\0\0\x01\0\x05", 9, None),
        ];
        for (bytes, number, presentation_ns) in table {
            let repr = Repr { stream: 0x0200_0000_0001_0005, number, presentation_ns };
            assert_eq!(Repr::parse(bytes), Ok(repr));
            assert!(Repr::parse(&bytes[..11]).is_err());
        }
        for other in [
            b"\x02\x01\0\0\x02\0\0\0\0\x01\0\x05",
            b"\x02\x91\0\0\x02\0\0\0\0\x01\0\x05",
            b"\xfa\x80\0\0\x02\0\0\0\0\x01\0\x05",
        ] {
            assert!(Repr::parse(other).is_err());
        }
    }
}
