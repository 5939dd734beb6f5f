//! Link layers of captures, by their registered numbers.

use crate::Error;
use crate::ethernet::{self, Contents, EtherType};

/// Kind of the header at the start of a captured frame.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Link {
    /// Ethernet, with or without VLAN tags.
    Ethernet,
    /// Linux cooked capture, version 1 (the `any` interface).
    LinuxCooked,
    /// Linux cooked capture, version 2.
    LinuxCooked2,
    /// BSD loopback: the address family in either byte order.
    Loopback,
    /// IPv4 or IPv6 without a link layer.
    RawIp,
    /// Ethernet at the conduit of a switch (Linux: DSA) with Marvell's four octets after the source address; they replace
    /// the frame's VLAN tag if it has one.
    Dsa,
    /// The same behind a type of its own, eight octets.
    Edsa,
    /// Broadcom's four octets after the source address.
    Broadcom,
    /// Broadcom's four octets before the destination address.
    BroadcomPrepended,
}

impl Link {
    /// Converts the number in a capture file; `None` if the link type is not supported.
    #[must_use]
    pub const fn from_number(number: i32) -> Option<Self> {
        match number {
            1 => Some(Self::Ethernet),
            113 => Some(Self::LinuxCooked),
            276 => Some(Self::LinuxCooked2),
            0 | 108 => Some(Self::Loopback),
            // Some systems number raw IP as 12 or 14.
            12 | 14 | 101 | 228 | 229 => Some(Self::RawIp),
            281 => Some(Self::Broadcom),
            282 => Some(Self::BroadcomPrepended),
            284 => Some(Self::Dsa),
            285 => Some(Self::Edsa),
            _ => None,
        }
    }
}

/// A captured frame without its link layer.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Opened<'a> {
    /// Source address, if the link layer has one.
    pub source: Option<&'a [u8; 6]>,
    /// Destination address, if the link layer has one.
    pub destination: Option<&'a [u8; 6]>,
    /// Tag, type of the payload, and payload.
    pub contents: Contents<'a>,
    /// Octets of the captured link layer.
    pub header: usize,
    /// Octets of the link layer on the link of the frame.
    pub on_link: usize,
}

/// Removes the link layer.
///
/// # Errors
/// The frame ends within its link layer, or is neither IPv4 nor IPv6 where it must be.
#[inline(always)]
pub fn open(link: Link, bytes: &[u8]) -> Result<Opened<'_>, Error> {
    let cut = |needed: usize| Error::Truncated { what: "a link header", needed, found: bytes.len() };
    let (source, destination, contents) = match link {
        Link::Ethernet => {
            let contents = ethernet::Frame::new(bytes)?.contents()?;
            let header = bytes.len() - contents.payload.len();
            let (source, destination) = (bytes[6..].first_chunk(), bytes.first_chunk());
            return Ok(Opened { source, destination, contents, header, on_link: header });
        }
        Link::LinuxCooked => {
            // Type 2, hardware type 2, address length 2, address 8, protocol 2.
            let head = bytes.first_chunk::<16>().ok_or_else(|| cut(16))?;
            let source = mac(u16::from_be_bytes([head[4], head[5]]), &head[6..14]);
            (source, None, ethernet::contents(&bytes[14..])?)
        }
        Link::LinuxCooked2 => {
            // Protocol 2, reserved 2, interface 4, hardware type 2, type 1, address length 1, address 8.
            let head = bytes.first_chunk::<20>().ok_or_else(|| cut(20))?;
            let source = mac(u16::from(head[11]), &head[12..20]);
            let ether_type = EtherType(u16::from_be_bytes([head[0], head[1]]));
            (source, None, ethernet::untag(ether_type, &bytes[20..])?)
        }
        Link::Loopback => {
            let family = bytes.first_chunk::<4>().ok_or_else(|| cut(4))?;
            let ether_type = match u32::from_le_bytes(*family).min(u32::from_be_bytes(*family)) {
                2 => EtherType::IPV4,
                // AF_INET6 differs: Linux, NetBSD, FreeBSD, Darwin.
                10 | 24 | 28 | 30 => EtherType::IPV6,
                _ => return Err(Error::Not("IPv4 or IPv6 on a loopback interface")),
            };
            (None, None, Contents { tag: None, ether_type, payload: &bytes[4..] })
        }
        Link::RawIp => {
            let ether_type = match bytes.first().map(|octet| octet >> 4) {
                Some(4) => EtherType::IPV4,
                Some(6) => EtherType::IPV6,
                Some(_) => return Err(Error::Not("IPv4 or IPv6")),
                None => return Err(cut(1)),
            };
            (None, None, Contents { tag: None, ether_type, payload: bytes })
        }
        Link::Dsa | Link::Edsa | Link::Broadcom | Link::BroadcomPrepended => return open_switch(link, bytes),
    };
    let header = bytes.len() - contents.payload.len();
    let on_link = ethernet::HEADER + if contents.tag.is_some() { ethernet::TAG } else { 0 };
    Ok(Opened { source, destination, contents, header, on_link })
}

/// Octets of the two addresses.
const ADDRESSES: usize = 12;
/// Octets of a switch's tag; EDSA has a type and two reserved octets before it.
const SWITCH_TAG: usize = 4;
/// DSA: the frame has a VLAN tag, which is in the switch's tag.
const DSA_TAGGED: u8 = 0x20;

/// Removes the link layer with the tag of a switch chip.
#[cold]
fn open_switch(link: Link, bytes: &[u8]) -> Result<Opened<'_>, Error> {
    let (begin, tag_at) = match link {
        Link::Edsa => (0, ADDRESSES + SWITCH_TAG),
        Link::BroadcomPrepended => (SWITCH_TAG, 0),
        _ => (0, ADDRESSES),
    };
    let rest = if begin == 0 { tag_at + SWITCH_TAG } else { begin + ADDRESSES };
    let needed = rest + 2;
    let cut = || Error::Truncated { what: "a link header with a switch's tag", needed, found: bytes.len() };
    let addresses = bytes.get(begin..begin + ADDRESSES).ok_or_else(cut)?;
    let tag = bytes.get(tag_at..).and_then(<[u8]>::first_chunk::<SWITCH_TAG>).ok_or_else(cut)?;
    let mut contents = ethernet::contents(bytes.get(rest..).ok_or_else(cut)?)?;
    let header = bytes.len() - contents.payload.len();
    let mut on_link = header - (rest - ADDRESSES);
    if matches!(link, Link::Dsa | Link::Edsa) && tag[0] & DSA_TAGGED != 0 {
        // The bit for drop eligible is in the second octet, in the place of the port's lowest bits.
        let control = [tag[2] & !0x10 | (tag[1] & 1) << 4, tag[3]];
        contents.tag = Some(ethernet::Tag::from_octets(control));
        on_link += ethernet::TAG;
    }
    Ok(Opened {
        source: addresses[6..].first_chunk(),
        destination: addresses.first_chunk(),
        contents,
        header,
        on_link,
    })
}

/// A cooked header's address, if it is a MAC address.
fn mac(length: u16, address: &[u8]) -> Option<&[u8; 6]> {
    address.first_chunk().filter(|_| length == 6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ethernet::Tag;

    #[test]
    fn the_tag_of_a_switch_is_taken_off() {
        let addresses = b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02";
        let vlan = ethernet::Tag { pcp: 5, dei: true, vid: 0x123 };
        let table: [(i32, Vec<u8>, Option<ethernet::Tag>, usize); 6] = [
            (281, [&addresses[..], b"\x20\0\0\x03\x08\0rest"].concat(), None, 14),
            (282, [b"\x20\0\0\x03", &addresses[..], b"\x08\0rest"].concat(), None, 14),
            (284, [&addresses[..], b"\x00\x18\0\x01\x08\0rest"].concat(), None, 14),
            (284, [&addresses[..], b"\x20\x19\xa1\x23\x08\0rest"].concat(), Some(vlan), 18),
            (285, [&addresses[..], b"\xda\xda\0\0\xe0\x19\xb1\x23\x08\0rest"].concat(), Some(vlan), 18),
            (285, [&addresses[..], b"\xda\xda\0\0\xc0\x18\0\x01\x08\0rest"].concat(), None, 14),
        ];
        for (number, bytes, tag, on_link) in table {
            let link = Link::from_number(number).unwrap();
            let found = open(link, &bytes).unwrap();
            assert_eq!((found.contents.tag, found.on_link), (tag, on_link), "{number}");
            assert_eq!((found.contents.ether_type, found.contents.payload), (EtherType::IPV4, &b"rest"[..]));
            assert_eq!(found.source, Some(&[2, 0, 0, 0, 0, 2]), "{number}");
            for length in 0..found.header {
                assert!(open(link, &bytes[..length]).is_err(), "{number} cut to {length}");
            }
        }
    }

    #[test]
    fn the_same_packet_behind_every_link() {
        let packet = b"\x45\0rest";
        let behind = |head: &[u8]| [head, packet].concat();
        let ethernet = b"\x02\0\0\0\0\x01\x02\0\0\0\0\x02\x81\0\x60\x05\x08\0";
        let cooked = b"\0\0\0\x01\0\x06\x02\0\0\0\0\x02\0\0\x81\0\x60\x05\x08\0";
        let cooked2 = b"\x81\0\0\0\0\0\0\x01\0\x01\0\x06\x02\0\0\0\0\x02\0\0\x60\x05\x08\0";
        let table: [(i32, Vec<u8>, bool, bool); 9] = [
            (1, behind(ethernet), true, true),
            (113, behind(cooked), true, true),
            (276, behind(cooked2), true, true),
            (0, behind(b"\x02\0\0\0"), false, false),
            (0, behind(b"\0\0\0\x02"), false, false),
            (108, behind(b"\0\0\0\x02"), false, false),
            (101, behind(b""), false, false),
            (228, behind(b""), false, false),
            (12, behind(b""), false, false),
        ];
        for (number, bytes, has_source, has_tag) in table {
            let link = Link::from_number(number).unwrap();
            let opened = open(link, &bytes).unwrap();
            assert_eq!(opened.contents.payload, packet, "{number}");
            assert_eq!(opened.contents.ether_type, EtherType::IPV4, "{number}");
            assert_eq!(opened.header, bytes.len() - packet.len());
            assert_eq!(opened.source, has_source.then_some(&[2, 0, 0, 0, 0, 2]), "{number}");
            let tag = Tag { pcp: 3, dei: false, vid: 5 };
            assert_eq!(opened.contents.tag, has_tag.then_some(tag), "{number}");
            for length in 0..opened.header {
                assert!(open(link, &bytes[..length]).is_err(), "{number} cut to {length}");
            }
        }
        assert_eq!(Link::from_number(127), None);
        assert!(open(Link::RawIp, b"\x55").is_err());
        assert!(open(Link::Loopback, b"\x07\0\0\0").is_err());
    }
}
