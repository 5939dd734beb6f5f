//! What tells copies of one frame apart from new frames: R-TAG, HSR tag, PRP trailer.
//! IEEE 802.1CB-2017, 7.8; IEC 62439-3, 4.1 (PRP) and 5.7 (HSR).
//!
//! ```text
//!            octet  0 .. 1      2 .. 3          4 .. 5
//!                 +----------+---------------+---------------+
//!  R-TAG          | 0xf1c1   | reserved      | sequence      | type of the payload …
//!  HSR tag        | 0x892f   | path, size    | sequence      | type of the payload …
//!  PRP trailer  … | sequence | LAN, size     | 0x88fb        |
//!                 +----------+---------------+---------------+
//! ```
//!
//! Path and LAN have 4 bits, the size has 12: the octets of the payload with the trailer, without tags.

use crate::EtherType;

/// Octets of a PRP trailer.
pub const TRAILER: usize = 6;
/// Its last octets.
const SUFFIX: [u8; 2] = [0x88, 0xfb];
/// Most octets of the payload of a frame that may be padded behind its trailer.
const PADDED: usize = 60;

/// The scheme that numbered a frame.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// 802.1CB: one sequence per stream.
    RTag,
    /// HSR: one sequence per source.
    Hsr,
    /// PRP: one sequence per source.
    Prp,
}

impl Scheme {
    /// Name for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RTag => "R-TAG",
            Self::Hsr => "HSR tag",
            Self::Prp => "PRP trailer",
        }
    }
}

/// The number of a frame, which its copies share.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Redundancy {
    /// The scheme.
    pub scheme: Scheme,
    /// HSR: path; PRP: LAN (10 is A, 11 is B); 0 for an R-TAG.
    pub path: u8,
    /// Sequence number.
    pub number: u16,
}

/// The number of a frame's outermost R-TAG or HSR tag, or else of its trailer. `bytes` begin with a type, as after the
/// source address; `whole` tells whether the capture has the end of the frame.
#[must_use]
pub fn find(mut bytes: &[u8], whole: bool) -> Option<Redundancy> {
    loop {
        let [high, low, rest @ ..] = bytes else { return None };
        match EtherType(u16::from_be_bytes([*high, *low])) {
            found @ (EtherType::REDUNDANCY_TAG | EtherType::HSR_TAG) => {
                let [path, _, high, low, ..] = rest else { return None };
                let number = u16::from_be_bytes([*high, *low]);
                return Some(if found == EtherType::HSR_TAG {
                    Redundancy { scheme: Scheme::Hsr, path: path >> 4, number }
                } else {
                    Redundancy { scheme: Scheme::RTag, path: 0, number }
                });
            }
            EtherType::CUSTOMER_TAG | EtherType::SERVICE_TAG => bytes = rest.get(2..)?,
            _ => return trailer(rest).filter(|_| whole).map(|(found, _)| found),
        }
    }
}

/// The trailer at the end of a frame's payload, and the payload before it; `payload` begins after the innermost type.
#[must_use]
pub fn trailer(payload: &[u8]) -> Option<(Redundancy, &[u8])> {
    let mut end = payload.len();
    if end <= PADDED {
        end = payload.iter().rposition(|octet| *octet != 0)? + 1;
    }
    let (before, trailer) = payload[..end].split_last_chunk::<TRAILER>()?;
    let [number_high, number_low, lan, size, suffix @ ..] = *trailer;
    let (path, size) = (lan >> 4, usize::from(lan & 15) << 8 | usize::from(size));
    let number = u16::from_be_bytes([number_high, number_low]);
    (suffix == SUFFIX && size == end && matches!(path, 10 | 11))
        .then_some((Redundancy { scheme: Scheme::Prp, path, number }, before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outermost_tag_counts() {
        let table: [(&[u8], Option<Redundancy>); 4] = [
            (
                b"\x81\0\x60\x05\xf1\xc1\0\0\x12\x34\x08\0",
                Some(Redundancy { scheme: Scheme::RTag, path: 0, number: 0x1234 }),
            ),
            (
                b"\x89\x2f\x10\x34\xff\xff\x88\xb5",
                Some(Redundancy { scheme: Scheme::Hsr, path: 1, number: 0xffff }),
            ),
            (
                b"\x88\xb5aa\0\x07\xb0\x08\x88\xfb",
                Some(Redundancy { scheme: Scheme::Prp, path: 11, number: 7 }),
            ),
            (b"\x88\xb5aaaaaaaa", None),
        ];
        for (bytes, found) in table {
            assert_eq!(find(bytes, true), found, "{bytes:x?}");
            assert_eq!(find(&bytes[..4], true), None);
        }
        assert_eq!(find(table[2].0, false), None, "the end of the frame is not there");
    }

    #[test]
    fn a_trailer_is_told_by_suffix_lan_and_size() {
        let frame = |lan_and_size: [u8; 2], more: &[u8]| {
            [&[7; 46][..], &[0xff, 0xfe], &lan_and_size, &SUFFIX, more].concat()
        };
        let found =
            |octets: &[u8]| trailer(octets).map(|(found, before)| (found.path, found.number, before.len()));
        assert_eq!(found(&frame([0xa0, 52], &[])), Some((10, 0xfffe, 46)));
        assert_eq!(found(&frame([0xb0, 52], &[])), Some((11, 0xfffe, 46)));
        assert_eq!(found(&frame([0xb0, 52], &[0; 4])), Some((11, 0xfffe, 46)), "padded behind it");
        for wrong in [[0xa0, 51], [0xa1, 52], [0xc0, 52]] {
            assert_eq!(found(&frame(wrong, &[])), None, "{wrong:x?}");
        }
        assert_eq!(found(&frame([0xa0, 52], &[1])), None);
        assert_eq!((found(&[]), found(&[0; 50]), found(&SUFFIX)), (None, None, None));
    }
}
