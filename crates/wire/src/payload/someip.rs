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
//! that they are not numbered. A datagram may have several messages. A message may be sent in segments
//! (AUTOSAR PRS_SOMEIPProtocol, 5.1.6): bit 5 of the type is set, and the payload begins with 28 bits of offset and
//! 4 bits of flags. All segments have the session of the message.

use super::{head, octets};
use crate::Error;

/// Octets of the header.
pub const HEADER: usize = 16;
/// The type of a segment.
const SEGMENT: u8 = 0x20;
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
    /// Session, 1 to 65535; 0 if the messages are not numbered.
    pub session: u16,
    /// Type of the message, without the flag of segments.
    pub kind: u8,
    /// Whether it is a segment that does not begin its message, or may be one behind the place where the capture cut it.
    pub continues: bool,
}

/// The messages of a datagram, one after the other.
#[derive(Clone, Debug)]
pub struct Messages<'a> {
    rest: &'a [u8],
    /// Whether messages follow behind the captured octets.
    pub go_on: bool,
}

impl<'a> Messages<'a> {
    /// Begins with the first message of a datagram of `whole` octets, of which `bytes` were captured.
    ///
    /// # Errors
    /// The datagram does not consist of such messages.
    pub fn of(bytes: &'a [u8], whole: usize) -> Result<Self, Error> {
        head::<HEADER>("a SOME/IP message", bytes)?;
        let other = Error::Not("SOME/IP messages");
        let mut begin: usize = 0;
        while let Some(message) = bytes.get(begin..).and_then(<[u8]>::first_chunk::<HEADER>) {
            if !is_header(message) {
                return Err(other);
            }
            begin = begin.saturating_add(octets_of(message));
        }
        // The last message ends with the datagram; the capture may have cut it off.
        if begin != whole && begin.saturating_add(HEADER) > whole {
            return Err(other);
        }
        Ok(Self { rest: bytes, go_on: begin != whole })
    }
}

impl Iterator for Messages<'_> {
    type Item = Repr;

    fn next(&mut self) -> Option<Repr> {
        let (found, payload) = self.rest.split_first_chunk::<HEADER>()?;
        // Only the lowest four bits may be set at the begin of a message.
        let begins = payload.first_chunk().is_some_and(|offset| u32::from_be_bytes(*offset) < 16);
        self.rest = self.rest.get(octets_of(found)..).unwrap_or_default();
        Some(Repr {
            service: u16::from_be_bytes(octets(found, 0)),
            method: u16::from_be_bytes(octets(found, 2)),
            client: u16::from_be_bytes(octets(found, 8)),
            session: u16::from_be_bytes(octets(found, 10)),
            kind: found[14] & !SEGMENT,
            continues: found[14] & SEGMENT != 0 && !begins,
        })
    }
}

/// Octets of the whole message with this header.
fn octets_of(message: &[u8; HEADER]) -> usize {
    (u32::from_be_bytes(octets(message, 4)) as usize).saturating_add(BEFORE)
}

/// The type of a message in words.
#[must_use]
pub const fn kind_name(kind: u8) -> &'static str {
    match kind {
        0x00 => "request",
        0x01 => "request without response",
        0x02 => "notification",
        0x80 => "response",
        _ => "error",
    }
}

/// Whether octets are a header: version of the protocol, type and length are possible.
fn is_header(message: &[u8; HEADER]) -> bool {
    let length = u32::from_be_bytes(octets(message, 4));
    length >= 8
        && message[12] == 1
        && matches!(message[14] & !SEGMENT, 0..=2 | 0x80 | 0x81)
        && message[15] < 0x60
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_message_and_several() {
        let one = b"\x12\x34\x80\x01\0\0\0\x0a\0\0\xff\xff\x01\x02\x02\0ab";
        let repr =
            Repr { service: 0x1234, method: 0x8001, client: 0, session: 65535, kind: 2, continues: false };
        assert_eq!(messages(one, 18), Ok(vec![repr]));
        let mut other = *one;
        other[10..12].fill(0);
        let two = [&one[..], &other].concat();
        assert_eq!(messages(&two, 36), Ok(vec![repr, Repr { session: 0, ..repr }]));
        assert_eq!(kind_name(repr.kind), "notification");
        assert_eq!(messages(&one[..16], 18), Ok(vec![repr]), "cut by the capture");
        let segment = |offset: u8| {
            [&one[..4], b"\0\0\0\x10\0\0\xff\xff\x01\x02\x22\0\0\0\0", &[offset], b"abcd"].concat()
        };
        assert_eq!(messages(&segment(0x01), 24), Ok(vec![repr]), "more segments follow");
        let further = Repr { continues: true, ..repr };
        assert_eq!(messages(&segment(0x10), 24), Ok(vec![further]));
        assert_eq!(messages(&segment(0x01)[..18], 24), Ok(vec![further]), "cut before its offset");
        for (bytes, whole) in
            [(&one[..], 19), (&one[..17], 17), (&two[..35], 35), (&one[..15], 18), (&[0; 20][..], 20)]
        {
            assert!(messages(bytes, whole).is_err(), "{whole}");
        }
        for (place, octet) in [(12, 2), (14, 3), (15, 0xff)] {
            let mut wrong = *one;
            wrong[place] = octet;
            assert!(messages(&wrong, 18).is_err(), "{place}");
        }
    }

    fn messages(bytes: &[u8], whole: usize) -> Result<Vec<Repr>, Error> {
        Messages::of(bytes, whole).map(Iterator::collect)
    }
}
