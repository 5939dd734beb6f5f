//! The frame of a probe: broadcast, so that every bridge forwards it, and of an `EtherType` that no other frame uses
//! here.
//!
//! IEEE 802-2014, 9.2.3: local experimental `EtherType`s.

use std::str::FromStr;
use tsn_wire::Mac;

/// Local experimental `EtherType` 1.
pub const ETHERTYPE: u16 = 0x88b5;
/// Octets before the payload.
const HEADER: usize = 14;
/// The first octets of a probe's payload; the last octet of them is the version.
const MAGIC: [u8; 8] = *b"tsnprb\0\x01";
/// Octets of the shortest frame, without FCS.
const SHORTEST: usize = 60;
/// Most octets of an ID.
const LONGEST: usize = 64;

/// The text of a probe: letters, digits and `_.:-`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id(String);

impl Id {
    /// The text itself.
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl FromStr for Id {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fine = |octet: u8| octet.is_ascii_alphanumeric() || b"_.:-".contains(&octet);
        if (1..=LONGEST).contains(&text.len()) && text.bytes().all(fine) {
            return Ok(Self(text.to_owned()));
        }
        Err(format!("expected 1 to {LONGEST} letters, digits, or signs of _.:-"))
    }
}

/// The octets of a probe.
pub fn build(source: Mac, id: &Id) -> Vec<u8> {
    let mut octets = vec![0xff; 6];
    octets.extend_from_slice(&source.0);
    octets.extend_from_slice(&ETHERTYPE.to_be_bytes());
    octets.extend_from_slice(&MAGIC);
    octets.push(id.0.len() as u8);
    octets.extend_from_slice(id.0.as_bytes());
    octets.resize(octets.len().max(SHORTEST), 0);
    octets
}

/// The text of a frame, if it is a probe.
pub fn parse(octets: &[u8]) -> Option<Id> {
    let protocol = octets.get(HEADER - 2..HEADER)?;
    let payload = octets.get(HEADER..)?.strip_prefix(&MAGIC)?;
    let (length, rest) = payload.split_first()?;
    let id = rest.get(..usize::from(*length))?;
    if protocol != ETHERTYPE.to_be_bytes() {
        return None;
    }
    std::str::from_utf8(id).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: Mac = Mac([2, 0, 0, 0, 0, 1]);

    #[test]
    fn a_probe_is_these_octets() {
        let octets = build(SOURCE, &"cam:0".parse().unwrap());
        let begin = b"\xff\xff\xff\xff\xff\xff\x02\0\0\0\0\x01\x88\xb5tsnprb\0\x01\x05cam:0";
        assert_eq!(&octets[..begin.len()], begin);
        assert_eq!(octets.len(), 60);
        assert!(octets[begin.len()..].iter().all(|octet| *octet == 0));
        for id in ["cam:0", "a", "A_z.9:-", &"x".repeat(64)] {
            let id: Id = id.parse().unwrap();
            assert_eq!(parse(&build(SOURCE, &id)), Some(id));
        }
    }

    #[test]
    fn ids_are_short_and_plain() {
        for bad in ["", "a b", "a\n", "a/b", "ä", "a\0", "$x", "a=b", &"x".repeat(65)] {
            assert!(bad.parse::<Id>().is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_no_probe_is_none() {
        let octets = build(SOURCE, &"x".repeat(64).parse().unwrap());
        for length in 0..octets.len() {
            assert_eq!(parse(&octets[..length]), None, "{length}");
        }
        for (place, octet) in [
            (12, 0x08),
            (13, 0xb6),
            (14, b'T'),
            (21, 2),
            (22, 0),
            (22, 65),
            (22, 255),
            (23, b' '),
            (30, 0xff),
        ] {
            let mut broken = octets.clone();
            broken[place] = octet;
            assert_eq!(parse(&broken), None, "{place}");
        }
    }
}
