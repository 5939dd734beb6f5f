//! netlatency's frames (`EtherType` 0x0808), version 1, from its published source (`data.h`, `netlatency.lua`).
//!
//! ```text
//!  octet   0         1           2 .. 5     6 .. 7         8 .. 9
//!        +---------+-----------+----------+--------------+------------+
//!        | version | stream id | sequence | interval, us | offset, us | flags, timestamps
//!        +---------+-----------+----------+--------------+------------+
//! ```
//!
//! In the sender's byte order, which is little-endian in its own dissector. Older programs, without a version, are not
//! supported.

use super::{head, octets};
use crate::{Error, EtherType};

/// netlatency's own type.
pub const ETHER_TYPE: EtherType = EtherType(0x0808);

/// The fields of a frame.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Number of the stream.
    pub stream: u8,
    /// Sequence number of the frame.
    pub seq: u32,
    /// The interval, in us modulo 2^16: one second reads 16960.
    pub interval_us: u16,
    /// Time from the start of the interval to the sending, in us.
    pub offset_us: u16,
}

impl Repr {
    /// Reads the octets after the `EtherType`.
    ///
    /// # Errors
    /// There are too few octets, or the version differs.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let found = head::<10>("a netlatency frame", bytes)?;
        if found[0] != 1 {
            return Err(Error::Not("a netlatency frame of version 1"));
        }
        Ok(Self {
            stream: found[1],
            seq: u32::from_le_bytes(octets(found, 2)),
            interval_us: u16::from_le_bytes(octets(found, 6)),
            offset_us: u16::from_le_bytes(octets(found, 8)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_of_the_interval_that_overflows() {
        let bytes = b"\x01\x03\x05\x01\0\0\x40\x42\0\0\0\0\0\0";
        assert_eq!(Repr::parse(bytes), Ok(Repr { stream: 3, seq: 261, interval_us: 16960, offset_us: 0 }));
        assert!(Repr::parse(b"\x02\x03\x05\x01\0\0\x40\x42\0\0").is_err());
        assert!(Repr::parse(&bytes[..9]).is_err());
    }
}
