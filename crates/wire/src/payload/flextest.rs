//! TSN-FlexTest's payload (Fig. 4), with the offsets of its published evaluation (`parsePcap.py`).
//!
//! ```text
//!  octet   0 .. 3    4 .. 7     8 .. 11
//!        +---------+---------+-------------+
//!        |  other  | seconds | nanoseconds | other
//!        +---------+---------+-------------+
//! ```
//!
//! Big-endian; written by the sender's hardware, so a capture at the sender may show zeros. The frame's number is the
//! IPv4 identification, the stream is the source MAC address.

use super::octets;
use crate::{Error, payload::head};

/// The fields of a payload.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Send time, seconds.
    pub seconds: u32,
    /// Send time, below 1,000,000,000.
    pub nanoseconds: u32,
}

impl Repr {
    /// Reads a payload.
    ///
    /// # Errors
    /// The octets are not such a payload.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let found = head::<12>("a FlexTest payload", bytes)?;
        let nanoseconds = u32::from_be_bytes(octets(found, 8));
        if nanoseconds >= 1_000_000_000 {
            return Err(Error::Not("a FlexTest payload"));
        }
        Ok(Self { seconds: u32::from_be_bytes(octets(found, 4)), nanoseconds })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_in_two_parts() {
        let bytes = b"\xff\xff\xff\xff\0\0\0\x05\x3b\x9a\xc9\xff";
        assert_eq!(Repr::parse(bytes), Ok(Repr { seconds: 5, nanoseconds: 999_999_999 }));
        assert!(Repr::parse(b"\0\0\0\0\0\0\0\x05\x3b\x9a\xca\x00").is_err());
        assert!(Repr::parse(&bytes[..11]).is_err());
    }
}
