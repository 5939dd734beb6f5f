//! Messages of SOME/IP in UDP: service, method or event, client, session.
//! AUTOSAR PRS_SOMEIPProtocol, 5.1.2.
//!
//! ```text
//!  octet   0 .. 1     2 .. 3   4 .. 7   8 .. 9   10 .. 11   12         13          14     15
//!        +----------+--------+--------+--------+----------+----------+-----------+------+--------+
//!        | service  | method | length | client | session  | protocol | interface | type | return | payload …
//!        +----------+--------+--------+--------+----------+----------+-----------+------+--------+
//! ```
//!
//! Big-endian. The length counts the octets after itself. Sessions are numbered from 1 to 65535, and then from 1; 0 means
//! that they are not numbered. A datagram may have several messages: its number is that of the first one.

use super::{head, octets};
use crate::Error;

/// Octets of the header.
const HEADER: usize = 16;
/// Octets before the part that the length counts.
const BEFORE: usize = 8;

/// The fields of a message.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Service.
    pub service: u16,
    /// Method; for events the highest bit is set.
    pub method: u16,
    /// Client.
    pub client: u16,
    /// Session, 1 to 65535.
    pub session: u16,
    /// Type of the message.
    pub kind: u8,
}

impl Repr {
    /// Reads the first message of a datagram of `whole` octets, of which `bytes` were captured.
    ///
    /// # Errors
    /// The datagram does not consist of such messages, or they are not numbered.
    pub fn parse(bytes: &[u8], whole: usize) -> Result<Self, Error> {
        let found = head::<HEADER>("a SOME/IP message", bytes)?;
        let other = Error::Not("a numbered SOME/IP message");
        let mut begin = 0;
        while let Some(message) = bytes.get(begin..).and_then(<[u8]>::first_chunk::<HEADER>) {
            if !is_header(message) {
                return Err(other);
            }
            let length = u32::from_be_bytes(octets(message, 4)) as usize;
            begin = begin.saturating_add(BEFORE).saturating_add(length);
        }
        let session = u16::from_be_bytes(octets(found, 10));
        // The last message ends with the datagram; the capture may have cut it off.
        if session == 0 || begin != whole && begin.saturating_add(HEADER) > whole {
            return Err(other);
        }
        Ok(Self {
            service: u16::from_be_bytes(octets(found, 0)),
            method: u16::from_be_bytes(octets(found, 2)),
            client: u16::from_be_bytes(octets(found, 8)),
            session,
            kind: found[14],
        })
    }

    /// The type of the message in words.
    #[must_use]
    pub const fn kind_name(&self) -> &'static str {
        match self.kind & !0x20 {
            0x00 => "request",
            0x01 => "request without response",
            0x02 => "notification",
            0x80 => "response",
            _ => "error",
        }
    }
}

/// Whether octets are a header: version of the protocol, type and length are possible.
fn is_header(message: &[u8; HEADER]) -> bool {
    let length = u32::from_be_bytes(octets(message, 4));
    length >= 8
        && message[12] == 1
        && matches!(message[14] & !0x20, 0..=2 | 0x80 | 0x81)
        && message[15] < 0x60
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_message_and_several() {
        let one = b"\x12\x34\x80\x01\0\0\0\x0a\0\0\xff\xff\x01\x02\x02\0ab";
        let repr = Repr { service: 0x1234, method: 0x8001, client: 0, session: 65535, kind: 2 };
        assert_eq!(Repr::parse(one, 18), Ok(repr));
        let two = [&one[..], one].concat();
        assert_eq!(Repr::parse(&two, 36), Ok(repr));
        assert_eq!(repr.kind_name(), "notification");
        assert_eq!(Repr::parse(&one[..16], 18), Ok(repr), "cut by the capture");
        for (bytes, whole) in
            [(&one[..], 19), (&one[..17], 17), (&two[..35], 35), (&one[..15], 18), (&[0; 20][..], 20)]
        {
            assert!(Repr::parse(bytes, whole).is_err(), "{whole}");
        }
        for (place, octet) in [(12, 2), (14, 3), (15, 0xff)] {
            let mut wrong = *one;
            wrong[place] = octet;
            assert!(Repr::parse(&wrong, 18).is_err(), "{place}");
        }
        let mut unnumbered = *one;
        unnumbered[10..12].fill(0);
        assert!(Repr::parse(&unnumbered, 18).is_err());
    }
}
