//! Sampled Values and GOOSE of IEC 61850: identifiers and counters in ASN.1's basic encoding.
//! IEC 61850-9-2, 8.5 and IEC 61850-8-1, annex A.
//!
//! ```text
//!  octet   0 .. 1   2 .. 3   4 .. 7      8 ..
//!        +--------+--------+-----------+---------------------------------------------------------+
//!        | APPID  | length | reserved  | 0x60 savPdu: 0x80 count, 0xa2 { 0x30 { 0x80 svID, 0x82 smpCnt, … } } }
//!        |        |        |           | 0x61 goosePdu: 0x80 gocbRef, …, 0x85 stNum, 0x86 sqNum, …
//!        +--------+--------+-----------+---------------------------------------------------------+
//! ```
//!
//! `smpCnt` has 16 bits and begins again with 0 every second. `stNum` counts changes of the data; `sqNum` counts the
//! frames since the last change, from 0.

use crate::{Error, EtherType};

/// The type of Sampled Values.
pub const SAMPLED_VALUES: EtherType = EtherType(0x88ba);
/// The type of GOOSE.
pub const GOOSE: EtherType = EtherType(0x88b8);
const HEADER: usize = 8;
/// Fields of a message that are looked at.
const MOST_FIELDS: usize = 32;

/// One ASDU of a frame with samples.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Samples<'a> {
    /// Identifier of the application.
    pub app_id: u16,
    /// `svID` of the ASDU.
    pub id: &'a [u8],
    /// `smpCnt` of the ASDU.
    pub count: u16,
    /// Number of ASDUs of the frame.
    pub asdus: u64,
}

/// A GOOSE message.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Goose<'a> {
    /// Identifier of the application.
    pub app_id: u16,
    /// `gocbRef`.
    pub reference: &'a [u8],
    /// `stNum`.
    pub state: u32,
    /// `sqNum`.
    pub sequence: u32,
}

/// One field: its tag, its octets, whether these are all, and what follows. Lengths of up to four octets.
fn field(bytes: &[u8]) -> Option<(u8, &[u8], bool, &[u8])> {
    let [tag, length, rest @ ..] = bytes else { return None };
    let (length, rest) = match length {
        0..=0x7f => (usize::from(*length), rest),
        0x81..=0x84 => {
            let (octets, rest) = rest.split_at_checked(usize::from(length & 7))?;
            (octets.iter().fold(0, |sum, octet| sum << 8 | usize::from(*octet)), rest)
        }
        _ => return None,
    };
    // The last field may be cut by the capture.
    let whole = length <= rest.len();
    let (value, rest) = rest.split_at(length.min(rest.len()));
    Some((*tag, value, whole, rest))
}

/// The field with this tag among those that `bytes` begin with: its octets, and whether these are all.
fn find(mut bytes: &[u8], wanted: u8) -> Option<(&[u8], bool)> {
    for _ in 0..MOST_FIELDS {
        let (tag, value, whole, rest) = field(bytes)?;
        if tag == wanted {
            return Some((value, whole));
        }
        bytes = rest;
    }
    None
}

/// A field without fields in it: a part of a number or of a name is another one.
fn find_whole(bytes: &[u8], wanted: u8) -> Option<&[u8]> {
    find(bytes, wanted).filter(|(_, whole)| *whole).map(|(value, _)| value)
}

/// A number without sign of up to eight octets.
fn number(value: &[u8]) -> Option<u64> {
    let digits = &value[value.iter().take_while(|octet| **octet == 0).count()..];
    (!value.is_empty() && digits.len() <= 8)
        .then(|| digits.iter().fold(0, |sum, octet| sum << 8 | u64::from(*octet)))
}

/// The identifier of the application, and the fields of the message with this tag.
fn message(bytes: &[u8], tag: u8) -> Option<(u16, &[u8])> {
    let [high, low, ..] = *bytes.first_chunk::<HEADER>()?;
    let (found, fields, ..) = field(&bytes[HEADER..])?;
    (found == tag).then_some((u16::from_be_bytes([high, low]), fields))
}

impl<'a> Samples<'a> {
    /// Reads the first ASDU of the octets after the `EtherType`.
    ///
    /// # Errors
    /// The octets are no such frame.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        Self::each(bytes).next().ok_or(Error::Not("sampled values"))
    }

    /// The ASDUs of the octets after the `EtherType`, as far as they were captured; none if they are no such frame.
    pub fn each(bytes: &'a [u8]) -> impl Iterator<Item = Self> {
        let read = || {
            let (app_id, fields) = message(bytes, 0x60)?;
            Some((app_id, number(find_whole(fields, 0x80)?)?, find(fields, 0xa2)?.0))
        };
        let (app_id, asdus, mut rest) = read().unwrap_or((0, 0, &[]));
        let mut left = MOST_FIELDS;
        std::iter::from_fn(move || {
            while left > 0 {
                left -= 1;
                let (tag, asdu, _, after) = field(rest)?;
                rest = after;
                if tag == 0x30 {
                    let count = u16::try_from(number(find_whole(asdu, 0x82)?)?).ok()?;
                    return Some(Self { app_id, id: find_whole(asdu, 0x80)?, count, asdus });
                }
            }
            None
        })
    }
}

impl<'a> Goose<'a> {
    /// Reads the octets after the `EtherType`.
    ///
    /// # Errors
    /// The octets are no such message.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let read = || {
            let (app_id, fields) = message(bytes, 0x61)?;
            let counter = |tag| u32::try_from(number(find_whole(fields, tag)?)?).ok();
            Some(Self {
                app_id,
                reference: find_whole(fields, 0x80)?,
                state: counter(0x85)?,
                sequence: counter(0x86)?,
            })
        };
        read().ok_or(Error::Not("a GOOSE message"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples() {
        let asdu = b"\x30\x10\x80\x03MU1\x82\x02\x0f\x9f\x83\x04\0\0\0\x01\x85\x01\x02";
        let bytes = [b"\x40\0\0\x20\0\0\0\0\x60\x81\x17\x80\x01\x02\xa2\x12", &asdu[..]].concat();
        let found = Samples { app_id: 0x4000, id: b"MU1", count: 3999, asdus: 2 };
        assert_eq!(Samples::parse(&bytes), Ok(found));
        for length in 0..HEADER + 19 {
            assert!(Samples::parse(&bytes[..length]).is_err(), "cut to {length}");
        }
        assert!(Goose::parse(&bytes).is_err());
    }

    #[test]
    fn every_asdu_has_a_count() {
        let asdu = |id: u8, count: u8| [b"\x30\x07\x80\x01", &[id][..], b"\x82\x02\0", &[count]].concat();
        let asdus = [asdu(b'a', 7), asdu(b'a', 8), asdu(b'b', 9)].concat();
        let bytes = [b"\x40\0\0\x20\0\0\0\0\x60\x20\x80\x01\x03\xa2\x1b", &asdus[..]].concat();
        let found: Vec<_> = Samples::each(&bytes).map(|one| (one.id, one.count, one.asdus)).collect();
        assert_eq!(found, [(&b"a"[..], 7, 3), (b"a", 8, 3), (b"b", 9, 3)]);
        // The third one is cut off within its count.
        assert_eq!(Samples::each(&bytes[..bytes.len() - 4]).count(), 2);
    }

    #[test]
    fn goose() {
        let bytes =
            b"\0\x01\0\x20\0\0\0\0\x61\x16\x80\x04ref1\x81\x02\x07\xd0\x85\x01\x07\x86\x05\0\xff\xff\xff\xff";
        let found = Goose { app_id: 1, reference: b"ref1", state: 7, sequence: u32::MAX };
        assert_eq!(Goose::parse(bytes), Ok(found));
        for length in 0..bytes.len() {
            assert!(Goose::parse(&bytes[..length]).is_err(), "cut to {length}");
        }
        assert!(
            Goose::parse(b"\0\x01\0\x20\0\0\0\0\x61\x80\x80\x04ref1").is_err(),
            "a length without an end"
        );
    }
}
