//! Messages of RTPS (DDS): the data of writers, with their numbers.
//! OMG DDSI-RTPS 2.5, 8.3.3, 9.4.1 and 9.4.5.
//!
//! ```text
//!  octet   0 .. 3    4 .. 5    6 .. 7   8 .. 19       20 ..
//!        +---------+---------+--------+-------------+--------------------------------------------------+
//!        | RTPS    | version | vendor | GUID prefix | submessages: kind, flags, octets, elements …     |
//!        +---------+---------+--------+-------------+--------------------------------------------------+
//!  DATA and DATA_FRAG:  extra flags 2, octets to inline QoS 2, reader 4, writer 4, number (high 4, low 4)
//! ```
//!
//! Bit 0 of a submessage's flags tells that it is little-endian. Every writer has its own numbers of 64 bits, from 1.

use super::{head, octets};
use crate::Error;

const HEADER: usize = 20;
const PAD: u8 = 0x01;
const INFO_TS: u8 = 0x09;
const INFO_SOURCE: u8 = 0x0c;
const DATA: u8 = 0x15;
const DATA_FRAG: u8 = 0x16;
/// Octets of a submessage's header, and of its elements up to its number.
const SUBMESSAGE: usize = 4;
const NUMBERED: usize = 20;
/// Submessages that are looked at.
const MOST_SUBMESSAGES: usize = 64;

/// The fields of the data of one submessage.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Repr {
    /// GUID of the writer: prefix and entity.
    pub writer: u128,
    /// Number of its sample.
    pub number: u64,
    /// The fragment of the sample, from 1; 0 for a whole sample.
    pub fragment: u32,
}

/// The data of a message, one submessage after the other.
#[derive(Clone, Debug)]
pub struct Samples<'a> {
    prefix: [u8; 12],
    rest: &'a [u8],
    left: usize,
    /// Octets of the message before the next submessage, as far as the captured ones tell.
    before: usize,
}

impl<'a> Samples<'a> {
    /// Begins with the first submessage.
    ///
    /// # Errors
    /// The octets are no such message.
    pub fn of(bytes: &'a [u8]) -> Result<Self, Error> {
        let found = head::<HEADER>("an RTPS message", bytes)?;
        if found[..4] != *b"RTPS" {
            return Err(Error::Not("an RTPS message"));
        }
        Ok(Self { prefix: octets(found, 8), rest: &bytes[HEADER..], left: MOST_SUBMESSAGES, before: HEADER })
    }

    /// Whether data may be behind the captured octets of a message of `whole` octets.
    #[must_use]
    pub fn go_on(mut self, whole: usize) -> bool {
        while self.next().is_some() {}
        self.left > 0 && whole.saturating_sub(self.before) >= SUBMESSAGE + NUMBERED
    }
}

impl Iterator for Samples<'_> {
    type Item = Repr;

    fn next(&mut self) -> Option<Repr> {
        while self.left > 0 {
            self.left -= 1;
            let ([kind, flags, size @ ..], elements) = self.rest.split_first_chunk::<4>()?;
            let little = flags & 1 != 0;
            let size = if little { u16::from_le_bytes(*size) } else { u16::from_be_bytes(*size) };
            // 0: the submessage reaches to the end of the message, if its kind always has elements.
            let to_the_end = size == 0 && !matches!(*kind, PAD | INFO_TS);
            let size = if to_the_end { usize::MAX } else { usize::from(size) };
            self.rest = elements.get(size..).unwrap_or_default();
            let found = match *kind {
                INFO_SOURCE => {
                    self.prefix = octets(elements.first_chunk::<20>()?, 8);
                    None
                }
                DATA | DATA_FRAG => Some(data(*kind, self.prefix, little, elements)?),
                _ => None,
            };
            self.before = self.before.saturating_add(SUBMESSAGE).saturating_add(size);
            if found.is_some() {
                return found;
            }
        }
        None
    }
}

/// The data of one submessage.
fn data(kind: u8, prefix: [u8; 12], little: bool, elements: &[u8]) -> Option<Repr> {
    let numbered = elements.first_chunk::<NUMBERED>()?;
    let number = |at: usize, elements: &[u8]| {
        let octets = octets(elements, at);
        if little { u32::from_le_bytes(octets) } else { u32::from_be_bytes(octets) }
    };
    let mut writer = [0; 16];
    writer[..12].copy_from_slice(&prefix);
    writer[12..].copy_from_slice(&numbered[8..12]);
    let fragment = if kind == DATA_FRAG { number(0, elements.get(NUMBERED..NUMBERED + 4)?) } else { 0 };
    Some(Repr {
        writer: u128::from_be_bytes(writer),
        number: u64::from(number(12, numbered)) << 32 | u64::from(number(16, numbered)),
        fragment,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &[u8] = b"RTPS\x02\x03\x01\x0f\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c";
    const WRITER: u128 = 0x0102_0304_0506_0708_090a_0b0c_0000_1203;

    fn samples(bytes: &[u8]) -> Vec<Repr> {
        Samples::of(bytes).map(Iterator::collect).unwrap_or_default()
    }

    fn little(number: u8) -> Vec<u8> {
        [b"\x15\x05\x18\0\0\0\x10\0\0\0\0\0\0\0\x12\x03\x01\0\0\0", &[number, 0, 0, 0][..], b"data"].concat()
    }

    #[test]
    fn numbers_in_both_byte_orders_behind_other_submessages() {
        let time = b"\x09\x01\x08\0\0\0\0\0\0\0\0\0";
        let message = [HEAD, time, &little(2)].concat();
        let repr = Repr { writer: WRITER, number: 1 << 32 | 2, fragment: 0 };
        assert_eq!(samples(&message), [repr]);
        let big = [HEAD, b"\x15\0\0\0\0\0\0\x10\0\0\0\0\0\0\x12\x03\0\0\0\x01\0\0\0\x02data"].concat();
        assert_eq!(samples(&big), [repr]);
        // Data of another participant follows.
        let other = [&b"\x0c\x01\x14\0\0\0\0\0\x02\x03\x01\x0f"[..], &[7; 12]].concat();
        let several = [HEAD, &little(2), &little(3), &other, &little(9)].concat();
        let next = |number: u64, writer| Repr { number: 1 << 32 | number, writer, fragment: 0 };
        let foreign = u128::from_be_bytes([7; 16]) & !0xffff_ffff | 0x1203;
        assert_eq!(samples(&several), [repr, next(3, WRITER), next(9, foreign)]);
        let fragment =
            [HEAD, b"\x16\x01\0\0\0\0\x1c\0\0\0\0\0\0\0\x12\x03\x01\0\0\0\x02\0\0\0\x07\0\0\0rest"].concat();
        assert_eq!(samples(&fragment), [Repr { fragment: 7, ..repr }]);
        for length in 0..message.len() - 4 {
            assert!(samples(&message[..length]).is_empty(), "cut to {length}");
        }
        assert!(samples(&[HEAD, time].concat()).is_empty(), "no data");
        let without_time = b"\x09\x03\0\0";
        assert_eq!(samples(&[HEAD, without_time, &little(2)].concat()), [repr], "a time without octets");
        assert!(Samples::of(&[b"RTPX", &message[4..]].concat()).is_err());
    }

    #[test]
    fn data_may_be_behind_the_cut_where_they_have_room() {
        let two = [HEAD, &little(2), &little(3)].concat();
        let go_on = |length: usize, whole: usize| Samples::of(&two[..length]).unwrap().go_on(whole);
        // Each sample has 28 octets, and its number ends with the 24th.
        for (length, whole, expected) in [
            (44, 48, false),
            (44, 71, false),
            (44, 72, true),
            (71, 76, true),
            (72, 76, false),
            (43, 48, true),
        ] {
            assert_eq!(go_on(length, whole), expected, "{length} of {whole}");
        }
        let to_the_end = [HEAD, b"\x15\x05\0\0", &little(2)[4..24]].concat();
        assert!(!Samples::of(&to_the_end).unwrap().go_on(1_400));
    }
}
