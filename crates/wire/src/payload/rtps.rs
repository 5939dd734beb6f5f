//! Messages of RTPS (DDS): the first data of a writer, with its number.
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
const INFO_SOURCE: u8 = 0x0c;
const DATA: u8 = 0x15;
const DATA_FRAG: u8 = 0x16;
/// Octets of a submessage's elements up to its number.
const NUMBERED: usize = 20;
/// Submessages that are looked at.
const MOST_SUBMESSAGES: usize = 64;

/// The fields of the first data of a message.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Repr {
    /// GUID of the writer: prefix and entity.
    pub writer: u128,
    /// Number of its sample.
    pub number: u64,
    /// The fragment of the sample, from 1; 0 for a whole sample.
    pub fragment: u32,
    /// How many samples of the writer follow in the same message without a gap.
    pub more: u32,
}

impl Repr {
    /// Reads a message.
    ///
    /// # Errors
    /// The octets are no such message, or it has no data.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let found = head::<HEADER>("an RTPS message", bytes)?;
        if found[..4] != *b"RTPS" {
            return Err(Error::Not("an RTPS message"));
        }
        let mut prefix: [u8; 12] = octets(found, 8);
        let mut first: Option<Self> = None;
        let mut rest = &bytes[HEADER..];
        for _ in 0..MOST_SUBMESSAGES {
            let Some(([kind, flags, size @ ..], elements)) = rest.split_first_chunk::<4>() else { break };
            let little = flags & 1 != 0;
            let size = if little { u16::from_le_bytes(*size) } else { u16::from_be_bytes(*size) };
            // 0: the submessage reaches to the end of the message.
            let size = if size == 0 { elements.len() } else { usize::from(size) };
            match *kind {
                INFO_SOURCE => prefix = octets(elements, 8),
                DATA | DATA_FRAG => {
                    let Some(next) = data(*kind, prefix, little, elements) else { break };
                    match &mut first {
                        None => first = Some(next),
                        Some(first)
                            if first.writer == next.writer
                                && first.number.checked_add(u64::from(first.more) + 1)
                                    == Some(next.number) =>
                        {
                            first.more += 1;
                        }
                        Some(_) => {}
                    }
                }
                _ => {}
            }
            rest = elements.get(size..).unwrap_or_default();
        }
        first.ok_or(Error::Not("an RTPS message with data"))
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
        more: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &[u8] = b"RTPS\x02\x03\x01\x0f\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c";
    const WRITER: u128 = 0x0102_0304_0506_0708_090a_0b0c_0000_1203;

    fn little(number: u8) -> Vec<u8> {
        [b"\x15\x05\x18\0\0\0\x10\0\0\0\0\0\0\0\x12\x03\x01\0\0\0", &[number, 0, 0, 0][..], b"data"].concat()
    }

    #[test]
    fn numbers_in_both_byte_orders_behind_other_submessages() {
        let time = b"\x09\x01\x08\0\0\0\0\0\0\0\0\0";
        let message = [HEAD, time, &little(2)].concat();
        let repr = Repr { writer: WRITER, number: 1 << 32 | 2, fragment: 0, more: 0 };
        assert_eq!(Repr::parse(&message), Ok(repr));
        let big = [HEAD, b"\x15\0\0\0\0\0\0\x10\0\0\0\0\0\0\x12\x03\0\0\0\x01\0\0\0\x02data"].concat();
        assert_eq!(Repr::parse(&big), Ok(repr));
        // The second is the next one, the third is not.
        let several = [HEAD, &little(2), &little(3), &little(9)].concat();
        assert_eq!(Repr::parse(&several), Ok(Repr { more: 1, ..repr }));
        let fragment =
            [HEAD, b"\x16\x01\0\0\0\0\x1c\0\0\0\0\0\0\0\x12\x03\x01\0\0\0\x02\0\0\0\x07\0\0\0rest"].concat();
        assert_eq!(Repr::parse(&fragment), Ok(Repr { fragment: 7, ..repr }));
        for length in 0..message.len() - 4 {
            assert!(Repr::parse(&message[..length]).is_err(), "cut to {length}");
        }
        assert!(Repr::parse(&[HEAD, time].concat()).is_err(), "no data");
        assert!(Repr::parse(&[b"RTPX", &message[4..]].concat()).is_err());
    }
}
