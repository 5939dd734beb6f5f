//! RTC-Testbench's TSN frames (`EtherType` 0xb62c).
//!
//! ```text
//!  octet   0 .. 3            4 .. 7          8 .. 15
//!        +-----------------+---------------+---------------+
//!        | frame in cycle  | cycle counter | send time, ns |
//!        +-----------------+---------------+---------------+
//! ```
//!
//! Big-endian. The number of frames per cycle is not in the frame; it is learned from the first frames of a stream.

use super::{head, octets};
use crate::{Error, EtherType};

/// RTC-Testbench's own type.
pub const ETHER_TYPE: EtherType = EtherType(0xb62c);

/// The fields of a frame.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Number of the frame in its cycle, from 0.
    pub frame: u32,
    /// Number of the cycle.
    pub cycle: u32,
    /// Send time.
    pub sent_ns: u64,
}

impl Repr {
    /// Reads the octets after the `EtherType`.
    ///
    /// # Errors
    /// There are too few octets.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let found = head::<16>("an RTC-Testbench frame", bytes)?;
        Ok(Self {
            frame: u32::from_be_bytes(octets(found, 0)),
            cycle: u32::from_be_bytes(octets(found, 4)),
            sent_ns: u64::from_be_bytes(octets(found, 8)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_frame() {
        let bytes = b"\0\0\0\x02\0\0\0\0\x18\xe9\xf4\x14\xa6\x37\x82\xcbOpcUa";
        assert_eq!(Repr::parse(bytes), Ok(Repr { frame: 2, cycle: 0, sent_ns: 0x18e9_f414_a637_82cb }));
        assert!(Repr::parse(&bytes[..15]).is_err());
    }
}
