//! Ethernet frames and their VLAN tag.
//! IEEE 802.3-2022, 3.2; IEEE 802.1Q-2022, 9.3 to 9.6.

use crate::Error;
use std::fmt;
use std::str::FromStr;

/// A MAC address.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mac(pub [u8; 6]);

impl FromStr for Mac {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || Error::MacText(text.to_owned());
        let mut octets = [0; 6];
        let mut parts = text.split(':');
        for octet in &mut octets {
            let part = parts.next().filter(|part| part.len() == 2).ok_or_else(wrong)?;
            *octet = u8::from_str_radix(part, 16).map_err(|_| wrong())?;
        }
        if parts.next().is_none() { Ok(Self(octets)) } else { Err(wrong()) }
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

/// Type of a frame's payload.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct EtherType(pub u16);

impl EtherType {
    /// IPv4.
    pub const IPV4: Self = Self(0x0800);
    /// A customer VLAN tag. IEEE 802.1Q-2022, 9.5.
    pub const CUSTOMER_TAG: Self = Self(0x8100);
    /// R-TAG. IEEE 802.1CB-2017, 7.8.
    pub const REDUNDANCY_TAG: Self = Self(0xf1c1);
    /// HSR tag. IEC 62439-3, 5.7.
    pub const HSR_TAG: Self = Self(0x892f);
    /// PTP. IEEE 1588-2019, annex E.
    pub const PTP: Self = Self(0x88f7);
    /// IPv6.
    pub const IPV6: Self = Self(0x86dd);
    /// A service VLAN tag. IEEE 802.1Q-2022, 9.5.
    pub const SERVICE_TAG: Self = Self(0x88a8);
}

/// Tag control information: priority and VLAN.
///
/// IEEE 802.1Q-2022, 9.6.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tag {
    /// Priority code point, 0 to 7.
    pub pcp: u8,
    /// Drop eligible.
    pub dei: bool,
    /// VLAN identifier, 0 to 4095; 0 for a priority tag.
    pub vid: u16,
}

impl Tag {
    /// Reads the two octets after the tag's `EtherType`.
    #[must_use]
    pub const fn from_octets(octets: [u8; 2]) -> Self {
        let control = u16::from_be_bytes(octets);
        Self { pcp: octets[0] >> 5, dei: control & 0x1000 != 0, vid: control & 0x0fff }
    }

    /// The two octets after the tag's `EtherType`; excess bits of a field are dropped.
    #[must_use]
    pub const fn octets(self) -> [u8; 2] {
        let control = ((self.pcp as u16 & 7) << 13) | ((self.dei as u16) << 12) | (self.vid & 0x0fff);
        control.to_be_bytes()
    }
}

/// Offsets of a frame's fields.
mod field {
    use std::ops::Range;
    pub const DESTINATION: Range<usize> = 0..6;
    pub const SOURCE: Range<usize> = 6..12;
    pub const TYPE: usize = 12;
}

/// Octets of the header without a tag.
pub const HEADER: usize = 14;
/// Octets that a tag adds.
pub const TAG: usize = 4;
/// Octets of an R-TAG (EtherType, two reserved octets, sequence number) and of an HSR tag (path and size instead).
const R_TAG: usize = 6;

/// An accessor over a captured frame, which may carry any number of tags.
#[derive(Copy, Clone, Debug)]
pub struct Frame<'a>(&'a [u8]);

impl<'a> Frame<'a> {
    /// Reads `bytes` as a frame.
    ///
    /// # Errors
    /// The octets are fewer than a header.
    pub const fn new(bytes: &'a [u8]) -> Result<Self, Error> {
        if bytes.len() < HEADER {
            return Err(Error::Truncated { what: "an Ethernet header", needed: HEADER, found: bytes.len() });
        }
        Ok(Self(bytes))
    }

    /// Destination address.
    #[must_use]
    pub fn destination(&self) -> Mac {
        address(&self.0[field::DESTINATION])
    }

    /// Source address.
    #[must_use]
    pub fn source(&self) -> Mac {
        address(&self.0[field::SOURCE])
    }

    /// The outermost tag, the type after the innermost tag, and the payload.
    ///
    /// # Errors
    /// The frame ends within a tag.
    pub fn contents(&self) -> Result<Contents<'a>, Error> {
        contents(&self.0[field::TYPE..])
    }
}

/// The part of a frame after its addresses.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Contents<'a> {
    /// The outermost tag.
    pub tag: Option<Tag>,
    /// Type of the payload.
    pub ether_type: EtherType,
    /// The payload, with the frame's padding.
    pub payload: &'a [u8],
}

/// Reads `bytes`, which start with an `EtherType`.
///
/// # Errors
/// The octets end within a tag.
#[inline(always)]
pub const fn contents(bytes: &[u8]) -> Result<Contents<'_>, Error> {
    let [high, low, rest @ ..] = bytes else {
        return Err(Error::Truncated { what: "an EtherType", needed: 2, found: bytes.len() });
    };
    untag(EtherType(u16::from_be_bytes([*high, *low])), rest)
}

/// Reads `rest`, the octets after `ether_type`, which may be the type of a tag.
///
/// # Errors
/// The octets end within a tag.
#[inline(always)]
pub const fn untag(mut ether_type: EtherType, mut rest: &[u8]) -> Result<Contents<'_>, Error> {
    let mut tag = None;
    // No type of a tag is lower: most frames need one comparison.
    while ether_type.0 >= EtherType::CUSTOMER_TAG.0 {
        if let EtherType::REDUNDANCY_TAG | EtherType::HSR_TAG = ether_type {
            let [_, _, _, _, high, low, inner @ ..] = rest else {
                return Err(Error::Truncated { what: "an R-TAG", needed: R_TAG, found: rest.len() });
            };
            ether_type = EtherType(u16::from_be_bytes([*high, *low]));
            rest = inner;
            continue;
        }
        if !matches!(ether_type, EtherType::CUSTOMER_TAG | EtherType::SERVICE_TAG) {
            break;
        }
        let [control_high, control_low, high, low, inner @ ..] = rest else {
            return Err(Error::Truncated { what: "a VLAN tag", needed: TAG, found: rest.len() });
        };
        if tag.is_none() {
            tag = Some(Tag::from_octets([*control_high, *control_low]));
        }
        ether_type = EtherType(u16::from_be_bytes([*high, *low]));
        rest = inner;
    }
    Ok(Contents { tag, ether_type, payload: rest })
}

fn address(octets: &[u8]) -> Mac {
    let mut address = [0; 6];
    address.copy_from_slice(octets);
    Mac(address)
}

/// A header with valid values.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Destination address.
    pub destination: Mac,
    /// Source address.
    pub source: Mac,
    /// Customer tag, if there is one.
    pub tag: Option<Tag>,
    /// Type of the payload.
    pub ether_type: EtherType,
}

impl Repr {
    /// Reads the header of a frame; of several tags the outermost is kept.
    ///
    /// # Errors
    /// The frame ends within its header.
    pub fn parse(frame: &Frame<'_>) -> Result<Self, Error> {
        let Contents { tag, ether_type, .. } = frame.contents()?;
        Ok(Self { destination: frame.destination(), source: frame.source(), tag, ether_type })
    }

    /// Octets that [`Repr::emit`] appends.
    #[must_use]
    pub const fn length(&self) -> usize {
        if self.tag.is_some() { HEADER + TAG } else { HEADER }
    }

    /// Appends the header.
    pub fn emit(&self, into: &mut Vec<u8>) {
        into.extend_from_slice(&self.destination.0);
        into.extend_from_slice(&self.source.0);
        if let Some(tag) = self.tag {
            into.extend_from_slice(&EtherType::CUSTOMER_TAG.0.to_be_bytes());
            into.extend_from_slice(&tag.octets());
        }
        into.extend_from_slice(&self.ether_type.0.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::{netlatency, rtc_testbench};

    const TABLE: &[(&[u8], Repr)] = &[
        (
            b"\x02\x00\x00\x00\x00\x01\x02\x00\x00\x00\x00\x02\x08\x00",
            Repr {
                destination: Mac([2, 0, 0, 0, 0, 1]),
                source: Mac([2, 0, 0, 0, 0, 2]),
                tag: None,
                ether_type: EtherType::IPV4,
            },
        ),
        (
            b"\x46\x04\x60\x64\xa5\x14\x9a\x02\x42\x82\xa5\x98\x81\x00\xc0\x64\xb6\x2c",
            Repr {
                destination: Mac([0x46, 0x04, 0x60, 0x64, 0xa5, 0x14]),
                source: Mac([0x9a, 0x02, 0x42, 0x82, 0xa5, 0x98]),
                tag: Some(Tag { pcp: 6, dei: false, vid: 100 }),
                ether_type: rtc_testbench::ETHER_TYPE,
            },
        ),
        (
            b"\x01\x00\x5e\x01\x01\x02\x02\x00\x00\x00\x00\x02\x81\x00\xff\xff\x08\x08",
            Repr {
                destination: Mac([0x01, 0x00, 0x5e, 0x01, 0x01, 0x02]),
                source: Mac([2, 0, 0, 0, 0, 2]),
                tag: Some(Tag { pcp: 7, dei: true, vid: 4095 }),
                ether_type: netlatency::ETHER_TYPE,
            },
        ),
    ];

    #[test]
    fn headers_both_ways() {
        for (bytes, repr) in TABLE {
            assert_eq!(Repr::parse(&Frame::new(bytes).unwrap()).unwrap(), *repr);
            let mut written = Vec::new();
            repr.emit(&mut written);
            assert_eq!((&written[..], written.len()), (*bytes, repr.length()));
            for length in 0..bytes.len() {
                assert!(Frame::new(&bytes[..length]).and_then(|frame| frame.contents().map(drop)).is_err());
            }
        }
    }

    #[test]
    fn the_outermost_of_two_tags_counts() {
        let bytes = b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02\x88\xa8\x60\x01\x81\x00\xa0\x02\x08\x00rest";
        let contents = Frame::new(bytes).unwrap().contents().unwrap();
        assert_eq!(contents.tag, Some(Tag { pcp: 3, dei: false, vid: 1 }));
        assert_eq!((contents.ether_type, contents.payload), (EtherType::IPV4, &b"rest"[..]));
    }

    #[test]
    fn addresses_as_text() {
        assert_eq!("02:00:00:ab:CD:ef".parse(), Ok(Mac([2, 0, 0, 0xab, 0xcd, 0xef])));
        assert_eq!(Mac([2, 0, 0, 0xab, 0xcd, 0xef]).to_string(), "02:00:00:ab:cd:ef");
        for text in [
            "",
            "02:00:00:00:00",
            "02:00:00:00:00:00:00",
            "2:0:0:0:0:0",
            "02-00-00-00-00-00",
            "+1:00:00:00:00:0g",
        ] {
            assert!(text.parse::<Mac>().is_err(), "{text}");
        }
    }
}
