//! Headers that capture hardware puts before an Ethernet frame, by the registered numbers of link types.
//!
//! Endace's ERF (197), and Hilscher's netANALYZER (240; 241 with the preamble). Frames below them end with their FCS.

use crate::packet::Packet;

/// Octets of the FCS.
const FCS: usize = 4;
/// Octets of an ERF record's header, and of each extension.
const ERF_HEADER: usize = 16;
const ERF_EXTENSION: usize = 8;
/// Octets between the header of an Ethernet record and its frame: offset and padding.
const ERF_PADDING: usize = 2;
/// Octets of netANALYZER's header.
const NETANALYZER_HEADER: usize = 4;
/// Start frame delimiter. IEEE 802.3-2022, 3.2.2.
const SFD: u8 = 0xd5;
/// Most octets of a preamble with its delimiter.
const PREAMBLE: usize = 8;

/// What is before the frame.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wrapper {
    None,
    Erf,
    NetAnalyzer,
    NetAnalyzerTransparent,
}

impl Wrapper {
    pub(crate) const fn from_number(number: i32) -> Self {
        match number {
            197 => Self::Erf,
            240 => Self::NetAnalyzer,
            241 => Self::NetAnalyzerTransparent,
            _ => Self::None,
        }
    }

    /// The frame inside; without octets if it is of another kind, or if its header was cut.
    #[cold]
    pub(crate) fn open<'a>(self, packet: Packet<'a>) -> Packet<'a> {
        let inside = match self {
            Self::None => return packet,
            Self::Erf => erf(&packet),
            Self::NetAnalyzer => after(&packet, NETANALYZER_HEADER),
            Self::NetAnalyzerTransparent => {
                let preamble = packet.octets.iter().skip(NETANALYZER_HEADER).take(PREAMBLE);
                let delimiter = preamble.clone().position(|octet| *octet == SFD);
                delimiter.and_then(|at| after(&packet, NETANALYZER_HEADER + at + 1))
            }
        };
        inside.unwrap_or(Packet { octets: &[], original: 0, ..packet })
    }
}

/// The frame behind `header` octets, without its FCS.
fn after<'a>(packet: &Packet<'a>, header: usize) -> Option<Packet<'a>> {
    let original = (packet.original as usize).max(packet.octets.len()).checked_sub(header + FCS)?;
    let octets = packet.octets.get(header..)?;
    let octets = &octets[..octets.len().min(original)];
    Some(Packet { original: u32::try_from(original).ok()?, octets, ..*packet })
}

/// The frame of an ERF record: it has a finer stamp, and its own length on the link.
fn erf<'a>(packet: &Packet<'a>) -> Option<Packet<'a>> {
    let head = packet.octets.first_chunk::<ERF_HEADER>()?;
    let [fraction_and_seconds @ .., kind, _, _, _, _, _, wire_high, wire_low] = *head;
    // Ethernet, and Ethernet with a colour or a hash in place of the loss counter.
    if !matches!(kind & 0x7f, 2 | 11 | 16 | 20) {
        return None;
    }
    let mut header = ERF_HEADER;
    let mut more = kind & 0x80 != 0;
    while more {
        more = packet.octets.get(header)? & 0x80 != 0;
        header += ERF_EXTENSION;
    }
    let stamp = u64::from_le_bytes(fraction_and_seconds);
    let (seconds, fraction) = (stamp >> 32, stamp & 0xffff_ffff);
    let t_ns = seconds * 1_000_000_000 + ((fraction * 1_000_000_000 + (1 << 31)) >> 32);
    let original = usize::from(u16::from_be_bytes([wire_high, wire_low])).checked_sub(FCS)?;
    let octets = packet.octets.get(header + ERF_PADDING..)?;
    let octets = &octets[..octets.len().min(original)];
    let original = u32::try_from(original).ok()?;
    Some(Packet { t_ns: i64::try_from(t_ns).ok(), original, octets, ..*packet })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tsn_wire::link::Link;

    fn open(number: i32, octets: &[u8]) -> (Option<i64>, u32, Vec<u8>) {
        let original = octets.len() as u32;
        let packet = Packet { t_ns: Some(7), link: Link::Ethernet, interface: 0, original, octets };
        let found = Wrapper::from_number(number).open(packet);
        (found.t_ns, found.original, found.octets.to_vec())
    }

    #[test]
    fn the_frame_behind_every_header() {
        let frame = [1; 60];
        let fcs = [9; 4];
        let behind = |head: &[u8]| [head, &frame, &fcs].concat();
        let plain = (Some(7), 60, frame.to_vec());
        assert_eq!(open(240, &behind(&[0; 4])), plain);
        assert_eq!(open(241, &behind(b"\0\0\0\0\x55\x55\x55\x55\x55\x55\x55\xd5")), plain);
        // 1 s and a half; type 2 or, with an extension, 0x82; 64 octets on the link.
        let stamp = b"\0\0\0\x80\x01\0\0\0";
        let whole = (Some(1_500_000_000), 60, frame.to_vec());
        let record = [&stamp[..], b"\x02\x04\0\x52\0\0\0\x40\0\0"].concat();
        assert_eq!(open(197, &behind(&record)), whole);
        let extended = [&stamp[..], b"\x82\x04\0\x5a\0\0\0\x40\x03\0\0\0\0\0\0\0\0\0"].concat();
        assert_eq!(open(197, &behind(&extended)), whole);
        let nothing = (Some(7), 0, Vec::new());
        assert_eq!(open(197, &behind(&[&stamp[..], b"\x01\x04\0\x52\0\0\0\x40\0\0"].concat())), nothing);
        for number in [197, 240, 241] {
            assert_eq!(open(number, &[0x80; 5]), nothing, "{number}");
        }
    }
}
