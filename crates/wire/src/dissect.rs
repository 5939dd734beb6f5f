//! Dissects a captured frame as far as matching needs it: addresses, tag, IP, UDP, payload.

use crate::ethernet::{EtherType, Mac, Tag};
use crate::link::{self, Link};
use crate::redundancy::{self, Redundancy};
use crate::{Error, ethernet};
use etherparse::{IpNumber, Ipv4HeaderSlice, Ipv6HeaderSlice, UdpHeaderSlice};
use tsn_units::FCS;

/// Octets of the smallest frame. IEEE 802.3-2022, 4A.4.2 (`minFrameSize`).
const SMALLEST: u32 = 64;

/// The network layer of a frame.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Network {
    /// Another protocol; only the frame's payload is known.
    Other,
    /// IPv4.
    Ipv4 {
        /// Source address.
        source: [u8; 4],
        /// Destination address.
        destination: [u8; 4],
        /// Identification.
        id: u16,
        /// Protocol number of the IP payload.
        protocol: u8,
    },
    /// IPv6.
    Ipv6 {
        /// Source address.
        source: [u8; 16],
        /// Destination address.
        destination: [u8; 16],
        /// Protocol number of the IP payload.
        protocol: u8,
    },
}

/// A dissected frame.
#[derive(Copy, Clone, Debug)]
pub struct Dissected<'a> {
    source: Option<&'a [u8; 6]>,
    destination: Option<&'a [u8; 6]>,
    link: Link,
    /// The captured octets.
    bytes: &'a [u8],
    /// VLAN tag.
    pub tag: Option<Tag>,
    /// Type of the frame's payload.
    pub ether_type: EtherType,
    /// The network layer.
    pub network: Network,
    /// Source and destination port, for UDP.
    pub ports: Option<(u16, u16)>,
    /// The innermost known payload: that of UDP, of IP, or of the frame.
    pub payload: &'a [u8],
    /// The octets after the `EtherType`, without Ethernet's padding if IP has a length.
    pub packet: &'a [u8],
    /// Octets of the whole frame on the link, from destination address to FCS: at least 64, also if the capture shows
    /// the frame before its padding. Computed for links other than Ethernet.
    pub octets: u32,
    /// Octets at the end of the frame that the capture lacks.
    pub uncaptured: u32,
}

/// Dissects a frame of `original` octets on its link, without FCS, of which `bytes` were captured.
///
/// # Errors
/// The frame ends within its link layer. Damage in later layers ends the dissection without an error.
#[inline]
pub fn dissect(link: Link, bytes: &[u8], original: u32) -> Result<Dissected<'_>, Error> {
    dissect_for(link, bytes, original, |frame| *frame)
}

/// Dissects a frame as [`dissect`] does, for one look at it: nothing is copied, which matters for millions of frames.
///
/// # Errors
/// As [`dissect`].
#[inline(always)]
pub fn dissect_for<'a, T>(
    link: Link,
    bytes: &'a [u8],
    original: u32,
    look: impl FnOnce(&Dissected<'a>) -> T,
) -> Result<T, Error> {
    let opened = link::open(link, bytes)?;
    let ethernet::Contents { tag, ether_type, payload: packet } = opened.contents;
    #[expect(clippy::cast_possible_truncation, reason = "headers are tens of octets")]
    let octets = original
        .saturating_sub(opened.header as u32)
        .saturating_add(opened.on_link as u32 + FCS.0)
        .max(SMALLEST);
    let uncaptured = original.saturating_sub(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
    let mut found = Dissected {
        source: opened.source,
        destination: opened.destination,
        link,
        bytes,
        tag,
        ether_type,
        network: Network::Other,
        ports: None,
        payload: packet,
        packet,
        octets,
        uncaptured,
    };
    match ether_type {
        EtherType::IPV4 => found.open_ipv4(),
        EtherType::IPV6 => found.open_ipv6(),
        // IP has a length of its own.
        _ => found.take_trailer_off(),
    }
    Ok(look(&found))
}

impl<'a> Dissected<'a> {
    /// Source address, if the link layer has one.
    #[must_use]
    pub fn source(&self) -> Option<Mac> {
        self.source.copied().map(Mac)
    }

    /// Destination address, if the link layer has one.
    #[must_use]
    pub fn destination(&self) -> Option<Mac> {
        self.destination.copied().map(Mac)
    }

    /// The number that copies of the frame share: of an R-TAG, an HSR tag or a PRP trailer.
    #[must_use]
    pub fn redundancy(&self) -> Option<Redundancy> {
        let begin = match self.link {
            Link::Ethernet => 12,
            Link::LinuxCooked => 14,
            Link::Dsa | Link::Broadcom | Link::BroadcomPrepended => 16,
            Link::Edsa => 20,
            _ => return None,
        };
        redundancy::find(self.bytes.get(begin..)?, self.uncaptured == 0)
    }

    /// The frame as it looks in a capture that keeps the first `octets` octets of its packet.
    #[must_use]
    pub fn cut_to(&self, octets: usize) -> Self {
        let off = self.packet.len().saturating_sub(octets);
        let begin = |part: &'a [u8]| &part[..part.len().saturating_sub(off)];
        let uncaptured = self.uncaptured.saturating_add(u32::try_from(off).unwrap_or(u32::MAX));
        Self { packet: begin(self.packet), payload: begin(self.payload), uncaptured, ..*self }
    }

    /// Octets of the payload on the link, also those that the capture lacks.
    pub(crate) fn whole_payload(&self) -> usize {
        self.payload.len().saturating_add(self.uncaptured as usize)
    }

    fn take_trailer_off(&mut self) {
        if self.uncaptured == 0
            && let Some((_, before)) = redundancy::trailer(self.packet)
        {
            (self.packet, self.payload) = (before, before);
        }
    }

    #[inline(always)]
    fn open_ipv4(&mut self) {
        let Ok(ip) = Ipv4HeaderSlice::from_slice(self.packet) else { return };
        let total = usize::from(ip.total_len());
        // Segmentation offload leaves a length of 0.
        if total >= ip.slice().len() && total < self.packet.len() {
            self.packet = &self.packet[..total];
        }
        let protocol = ip.protocol();
        self.network = Network::Ipv4 {
            source: ip.source(),
            destination: ip.destination(),
            id: ip.identification(),
            protocol: protocol.0,
        };
        self.payload = &self.packet[ip.slice().len()..];
        if protocol == IpNumber::UDP && ip.fragments_offset().value() == 0 {
            self.open_udp();
        }
    }

    fn open_ipv6(&mut self) {
        let Ok(ip) = Ipv6HeaderSlice::from_slice(self.packet) else { return };
        let total = ip.slice().len() + usize::from(ip.payload_length());
        if total < self.packet.len() {
            self.packet = &self.packet[..total];
        }
        let protocol = ip.next_header();
        self.network =
            Network::Ipv6 { source: ip.source(), destination: ip.destination(), protocol: protocol.0 };
        self.payload = &self.packet[ip.slice().len()..];
        if protocol == IpNumber::UDP {
            self.open_udp();
        }
    }

    #[inline(always)]
    fn open_udp(&mut self) {
        if let Ok(udp) = UdpHeaderSlice::from_slice(self.payload) {
            self.ports = Some((udp.source_port(), udp.destination_port()));
            self.payload = &self.payload[udp.slice().len()..];
        }
    }

    /// A hash of at most `limit` octets that are equal at every place where the frame is captured.
    ///
    /// Excluded are the link layer and its tags, time to live, type of service, the checksums of IPv4, UDP and TCP (a
    /// sender's capture shows them before the hardware computes them), and zeros at the end (Ethernet's padding).
    #[must_use]
    pub fn invariant_hash(&self, limit: usize) -> u64 {
        let packet = &self.packet[..self.packet.len().min(limit)];
        let end = packet.iter().rposition(|octet| *octet != 0).map_or(0, |last| last + 1);
        let packet = &packet[..end];
        let (at, protocol) = match self.network {
            Network::Other => (0, 0),
            Network::Ipv4 { protocol, .. } => {
                (usize::from(packet.first().map_or(0, |octet| octet & 15)) * 4, protocol)
            }
            Network::Ipv6 { protocol, .. } => (40, protocol),
        };
        let mut head = [0; 80];
        let length = packet.len().min(head.len());
        head[..length].copy_from_slice(&packet[..length]);
        match self.network {
            Network::Other => {}
            Network::Ipv4 { .. } => {
                head[1] = 0;
                head[8] = 0;
                head[10..12].fill(0);
            }
            Network::Ipv6 { .. } => {
                head[..4].fill(0);
                head[7] = 0;
            }
        }
        let checksum = match protocol {
            17 => Some(at + 6),
            6 => Some(at + 16),
            _ => None,
        };
        if let Some(field) = checksum.and_then(|at| head.get_mut(at..at + 2)) {
            field.fill(0);
        }
        fold(fold(u64::from(self.ether_type.0), &head[..length]), &packet[length..])
    }
}

/// Hashes octets, eight at a time; not for secrets.
fn fold(mut hash: u64, octets: &[u8]) -> u64 {
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    for chunk in octets.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = (hash ^ u64::from_le_bytes(word)).wrapping_mul(MULTIPLIER);
        hash ^= hash >> 29;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::{FrameSpec, frame};

    fn built(octets: u32, tag: Option<Tag>) -> Vec<u8> {
        let spec = FrameSpec {
            destination: Mac([2, 0, 0, 0, 0, 1]),
            source: Mac([2, 0, 0, 0, 0, 2]),
            tag,
            ipv4_source: [10, 0, 0, 2],
            ipv4_destination: [10, 0, 0, 1],
            udp_port: 5001,
            octets,
            stream: 3,
            seq: 7,
            intended_ns: 9,
            type_of_service: 0,
            telegram: None,
        };
        let mut bytes = Vec::new();
        frame(&spec, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn a_built_frame_comes_apart_again() {
        let bytes = built(1230, Some(Tag { pcp: 3, dei: false, vid: 9 }));
        let found = dissect(Link::Ethernet, &bytes, 1226).unwrap();
        assert_eq!((found.octets, found.ports, found.payload.len()), (1230, Some((5001, 5001)), 1180));
        assert_eq!(found.tag, Some(Tag { pcp: 3, dei: false, vid: 9 }));
        // Truncated by the capture: still distinct, with the original length.
        let cut = dissect(Link::Ethernet, &bytes[..64], 1226).unwrap();
        assert_eq!((cut.octets, cut.payload.len()), (1230, 18));
        // Without a link layer, the length is that of an untagged frame.
        let raw = dissect(Link::RawIp, &bytes[18..], 1208).unwrap();
        assert_eq!((raw.octets, raw.network), (1226, found.network));
    }

    #[test]
    fn a_hash_is_of_what_does_not_change_on_the_way() {
        let tagged = built(200, Some(Tag { pcp: 3, dei: false, vid: 9 }));
        let hash = |bytes: &[u8]| {
            dissect(Link::Ethernet, bytes, bytes.len() as u32).unwrap().invariant_hash(usize::MAX)
        };
        let mut untagged = [&tagged[..12], &tagged[16..]].concat();
        untagged[14 + 8] = 9; // Time to live.
        untagged[14 + 10] ^= 1; // Header checksum.
        untagged[14 + 26] ^= 1; // UDP checksum.
        untagged.extend_from_slice(&[0; 4]); // Padding.
        assert_eq!(hash(&tagged), hash(&untagged));
        untagged[14 + 20 + 8 + 30] ^= 1;
        assert_ne!(hash(&tagged), hash(&untagged), "payload");
    }

    #[test]
    fn nothing_that_can_be_captured_panics() {
        let bytes = built(90, Some(Tag { pcp: 3, dei: false, vid: 9 }));
        for link in [Link::Ethernet, Link::LinuxCooked, Link::LinuxCooked2, Link::Loopback, Link::RawIp] {
            for start in 0..20 {
                for length in start..bytes.len() {
                    for flip in 0..8 {
                        let mut octets = bytes[start..length].to_vec();
                        if let Some(octet) = octets.get_mut(length % 40) {
                            *octet ^= 1 << flip;
                        }
                        if let Ok(found) = dissect(link, &octets, u32::MAX) {
                            let _ = found.invariant_hash(length);
                        }
                    }
                }
            }
        }
    }
}
