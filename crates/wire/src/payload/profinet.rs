//! Cyclic frames of PROFINET RT and IRT: frame identifier at the begin, cycle counter and status at the end.
//! IEC 61158-6-10, 4.7.
//!
//! ```text
//!  octet   0 .. 1       2 ..        last 4 .. 3      last 2         last 1
//!        +------------+-----------+----------------+--------------+-----------------+
//!        | frame id   | data      | cycle counter  | data status  | transfer status |
//!        +------------+-----------+----------------+--------------+-----------------+
//! ```
//!
//! Big-endian. The counter has 16 bits and counts 31.25 us: it advances by the cycle of the frame, which the frame does
//! not contain. Frames of alarms, DCP and others have neither counter nor status.

use super::{head, octets};
use crate::{Error, EtherType};

/// The type of these frames.
pub const ETHER_TYPE: EtherType = EtherType(0x8892);
/// The unit of the cycle counter, ns.
pub const UNIT_NS: i64 = 31_250;

/// The fields of a frame.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Frame identifier.
    pub frame_id: u16,
    /// Cycle counter, in 31.25 us.
    pub cycle: u16,
    /// Data status: bit 0 primary, bit 2 valid, bit 4 running, bit 5 no problem.
    pub data_status: u8,
    /// Transfer status: 0 is good.
    pub transfer_status: u8,
}

impl Repr {
    /// Reads the octets after the `EtherType`, of a frame that was captured to its end.
    ///
    /// # Errors
    /// There are too few octets, or the identifier is not one of cyclic data.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let [high, low] = *head("a PROFINET frame", bytes)?;
        let frame_id = u16::from_be_bytes([high, low]);
        // RT_CLASS_3, RT_CLASS_2 and 1, unicast and multicast.
        if !matches!(frame_id, 0x0100..=0x0fff | 0x8000..=0xfbff) {
            return Err(Error::Not("cyclic data of PROFINET"));
        }
        let Some((_, end)) = bytes[2..].split_last_chunk::<4>() else {
            return Err(Error::Truncated { what: "a PROFINET frame", needed: 6, found: bytes.len() });
        };
        Ok(Self {
            frame_id,
            cycle: u16::from_be_bytes(octets(end, 0)),
            data_status: end[2],
            transfer_status: end[3],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counter_and_status_are_at_the_end() {
        let repr = Repr { frame_id: 0x8000, cycle: 0xffc0, data_status: 0x35, transfer_status: 0 };
        assert_eq!(Repr::parse(b"\x80\0\x80\x80\x80\xff\xc0\x35\0"), Ok(repr));
        assert_eq!(Repr::parse(b"\x01\0\xff\xc0\x35\0"), Ok(Repr { frame_id: 0x0100, ..repr }));
        for other in [
            &b"\x80\0\xff\xc0\x35"[..],
            b"\xfe\xfe\x05\0\0\0\0\0",
            b"\xfc\x01\0\0\0\0\0\0",
            b"\0\x80\0\0\0\0",
            b"\x80",
        ] {
            assert!(Repr::parse(other).is_err(), "{other:x?}");
        }
    }
}
