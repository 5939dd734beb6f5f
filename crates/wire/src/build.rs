//! Whole frames with tsnbench's test payload: Ethernet, VLAN tag, IPv4, UDP.
//! RFC 791, 3.1; RFC 768.

use crate::ethernet::{self, EtherType, Mac, Tag};
use crate::{Error, payload::tsnbench};
use etherparse::{IpNumber, Ipv4Header, UdpHeader};
pub use tsn_trdp::message_data::Kind as MessageKind;
pub use tsn_trdp::process_data::Kind as TelegramKind;
use tsn_trdp::{message_data, process_data, tsn};
use tsn_units::FCS;

/// Octets of the IPv4 and UDP headers.
const IPV4_AND_UDP: usize = 28;
/// Time to live of what we send.
const TIME_TO_LIVE: u8 = 64;
/// The smallest frame, without its FCS.
const SMALLEST: usize = 60;

/// One frame to build.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct FrameSpec {
    /// Destination address.
    pub destination: Mac,
    /// Source address.
    pub source: Mac,
    /// Customer tag, where there is one.
    pub tag: Option<Tag>,
    /// Source address.
    pub ipv4_source: [u8; 4],
    /// Destination address.
    pub ipv4_destination: [u8; 4],
    /// Source and destination port.
    pub udp_port: u16,
    /// Octets from destination address to FCS, tag included; less than 64 is built as 64.
    pub octets: u32,
    /// The stream's number.
    pub stream: u32,
    /// The frame's number in its stream.
    pub seq: u64,
    /// When the talker means to send it, in ns.
    pub intended_ns: i64,
    /// Type of service of the IPv4 header.
    pub type_of_service: u8,
    /// The TRDP telegram around the test payload, where there is one.
    pub telegram: Option<TelegramSpec>,
}

/// A telegram of message data: the part that process data does not have.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct MessageSpec {
    /// Type of the telegram.
    pub kind: MessageKind,
    /// Time that the sender waits for a reply or a confirmation, us.
    pub reply_time_out_us: u32,
    /// Status of a reply or an error.
    pub reply_status: i32,
    /// Stream and number of the frame that began the session; none for the frame itself.
    pub begun_by: Option<(u32, u64)>,
}

impl MessageSpec {
    /// The session that a frame begins: a UUID of version 8 (RFC 9562, 5.8) with its stream and its number.
    #[must_use]
    pub fn session(stream: u32, seq: u64) -> [u8; 16] {
        let ([a, b, c, d], [_, n0, n1, n2, n3, n4, n5, n6]) = (stream.to_be_bytes(), seq.to_be_bytes());
        [a, b, c, d, 0, 0, 0x80, 0, 0x80, n0, n1, n2, n3, n4, n5, n6]
    }
}

/// A telegram of TRDP. The number of process data is the frame's.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TelegramSpec {
    /// Of message data; the kind of process data and its service identifier then do not count.
    pub message: Option<MessageSpec>,
    /// Type of a telegram of process data, version 1.
    pub kind: TelegramKind,
    /// Of a request: the communication identifier of the reply.
    pub reply_com_id: u32,
    /// Communication identifier.
    pub com_id: u32,
    /// Octets of the header: 40 (version 1), 20 or 16 (version 2); not counted for message data.
    pub header_octets: u8,
    /// Octets of the data set, without padding.
    pub data_set_octets: u32,
    /// Topography counter of the Ethernet train backbone.
    pub etb_topo_count: u32,
    /// Topography counter of the operational train.
    pub op_trn_topo_count: u32,
    /// Service identifier.
    pub service_id: u32,
}

impl TelegramSpec {
    /// Appends the telegram, with a test payload as its data set.
    fn emit(&self, payload: &tsnbench::Repr, into: &mut Vec<u8>) -> Result<(), Error> {
        let mut data_set = Vec::new();
        payload.emit(self.data_set_octets as usize, &mut data_set);
        let sequence = (payload.seq & 0xffff_ffff) as u32;
        let too_long =
            |_| Error::TooLarge { field: "a data set of TRDP", value: self.data_set_octets.into() };
        if let Some(message) = &self.message {
            let (stream, seq) = message.begun_by.unwrap_or((payload.stream, payload.seq));
            let header = message_data::Header {
                kind: message.kind,
                com_id: self.com_id,
                etb_topo_count: self.etb_topo_count,
                op_trn_topo_count: self.op_trn_topo_count,
                reply_status: message.reply_status,
                session: MessageSpec::session(stream, seq),
                reply_time_out_us: message.reply_time_out_us,
                ..message_data::Header::default()
            };
            return header.emit(&data_set, into).map_err(too_long);
        }
        if usize::from(self.header_octets) == process_data::HEADER {
            let header = process_data::Header {
                sequence,
                kind: self.kind,
                reply_com_id: self.reply_com_id,
                com_id: self.com_id,
                etb_topo_count: self.etb_topo_count,
                op_trn_topo_count: self.op_trn_topo_count,
                service_id: self.service_id,
                ..process_data::Header::default()
            };
            return header.emit(&data_set, into).map_err(too_long);
        }
        let short = usize::from(self.header_octets) == tsn::SHORT_HEADER;
        let header = tsn::Header {
            sequence,
            com_id: self.com_id,
            service_id: self.service_id,
            length: if short { tsn::Length::Sixteen } else { tsn::Length::Twenty },
            ..tsn::Header::default()
        };
        header.emit(&data_set, into).map_err(too_long)
    }
}

/// Replaces `into` with the frame, without its FCS: captures end before it.
///
/// The IPv4 identification is the sequence number's lowest 16 bits, so that tools that look there find it too.
///
/// # Errors
/// When the frame is longer than IPv4 can say.
pub fn frame(spec: &FrameSpec, into: &mut Vec<u8>) -> Result<(), Error> {
    into.clear();
    let header = ethernet::Repr {
        destination: spec.destination,
        source: spec.source,
        tag: spec.tag,
        ether_type: EtherType::IPV4,
    };
    let whole = (spec.octets as usize).saturating_sub(FCS.0 as usize).max(SMALLEST);
    let payload = tsnbench::Repr { stream: spec.stream, seq: spec.seq, intended_ns: Some(spec.intended_ns) };
    let mut telegram = Vec::new();
    if let Some(own) = &spec.telegram {
        own.emit(&payload, &mut telegram)?;
    }
    let length = match spec.telegram {
        Some(_) => telegram.len(),
        None => whole - header.length() - IPV4_AND_UDP,
    };
    let too_large = |_| Error::TooLarge { field: "the IPv4 length", value: whole as u64 };
    let udp_length = u16::try_from(length + 8)
        .map_err(|_| Error::TooLarge { field: "the UDP length", value: length as u64 })?;
    let mut ip =
        Ipv4Header::new(udp_length, TIME_TO_LIVE, IpNumber::UDP, spec.ipv4_source, spec.ipv4_destination)
            .map_err(too_large)?;
    ip.dscp = (spec.type_of_service >> 2).try_into().unwrap_or_default();
    ip.ecn = (spec.type_of_service & 3).try_into().unwrap_or_default();
    ip.identification = (spec.seq & 0xffff) as u16;
    ip.header_checksum = ip.calc_header_checksum();
    header.emit(into);
    into.extend_from_slice(&ip.to_bytes());
    let udp_at = into.len();
    into.extend_from_slice(&[0; 8]);
    match spec.telegram {
        Some(_) => into.extend_from_slice(&telegram),
        None => payload.emit(length, into),
    }
    let udp = UdpHeader::with_ipv4_checksum(spec.udp_port, spec.udp_port, &ip, &into[udp_at + 8..])
        .map_err(|_| Error::TooLarge { field: "the UDP length", value: length as u64 })?;
    into[udp_at..udp_at + 8].copy_from_slice(&udp.to_bytes());
    // A telegram has its own length field, so the rest of a longer frame is padded.
    into.resize(into.len().max(whole), 0);
    Ok(())
}

/// Puts an R-TAG into a frame that [`frame`] built, behind its VLAN tag: six octets more. IEEE 802.1CB-2017, 7.8.
pub fn add_redundancy_tag(vlan_tagged: bool, number: u16, frame: &mut Vec<u8>) {
    let at = if vlan_tagged { 16 } else { 12 }.min(frame.len());
    let [high, low] = number.to_be_bytes();
    let [type_high, type_low] = EtherType::REDUNDANCY_TAG.0.to_be_bytes();
    frame.splice(at..at, [type_high, type_low, 0, 0, high, low]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(octets: u32, tag: Option<Tag>) -> FrameSpec {
        FrameSpec {
            destination: Mac([2, 0, 0, 0, 0, 1]),
            source: Mac([2, 0, 0, 0, 0, 2]),
            tag,
            ipv4_source: [10, 0, 0, 2],
            ipv4_destination: [10, 0, 0, 1],
            udp_port: 5001,
            octets,
            stream: 3,
            seq: 0x1_0005,
            intended_ns: 1_000_000,
            type_of_service: 0,
            telegram: None,
        }
    }

    #[test]
    fn the_smallest_tagged_frame_octet_by_octet() {
        let mut bytes = Vec::new();
        frame(&spec(64, Some(Tag { pcp: 6, dei: false, vid: 100 })), &mut bytes).unwrap();
        let expected: &[u8] = &[
            2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, // addresses
            0x81, 0x00, 0xc0, 0x64, 0x08, 0x00, // tag and EtherType
            0x45, 0, 0, 42, 0, 5, 0x40, 0, 64, 17, 0x26, 0xbc, 10, 0, 0, 2, 10, 0, 0, 1, // IPv4
            0x13, 0x89, 0x13, 0x89, 0, 22, 0x22, 0x50, // UDP
            b'T', b'S', b'N', 1, 0, 0, 0, 3, 0, 0, 0, 1, 0, 5, // test payload, short
        ];
        assert_eq!(bytes, expected, "{bytes:02x?}");
    }

    #[test]
    fn a_telegram_is_around_the_test_payload() {
        for (header_octets, data_set_octets, whole) in
            [(40, 64, 14 + 28 + 40 + 64), (20, 30, 14 + 28 + 52), (16, 14, 74)]
        {
            let telegram = TelegramSpec {
                message: None,
                kind: TelegramKind::Push,
                reply_com_id: 0,
                com_id: 1000,
                header_octets,
                data_set_octets,
                etb_topo_count: 0,
                op_trn_topo_count: 0,
                service_id: 0,
            };
            let octets = whole + 4;
            let spec = FrameSpec {
                type_of_service: 0xa0,
                udp_port: 17224,
                telegram: Some(telegram),
                ..spec(octets, None)
            };
            let mut bytes = Vec::new();
            frame(&spec, &mut bytes).unwrap();
            assert_eq!((bytes.len(), bytes[15]), (whole as usize, 0xa0));
            let found = crate::dissect::dissect(crate::link::Link::Ethernet, &bytes, whole).unwrap();
            let read = crate::telegram::process_data(&found).unwrap();
            assert_eq!((read.com_id(), read.sequence()), (1000, 0x1_0005));
            assert_eq!(read.data_set_octets(), data_set_octets);
            let payload = crate::telegram::test_payload(&found).unwrap();
            assert_eq!((payload.stream, payload.seq), (3, 0x1_0005));
            let ip = etherparse::Ipv4HeaderSlice::from_slice(found.packet).unwrap();
            assert_eq!(ip.header_checksum(), ip.to_header().calc_header_checksum());
        }
    }

    #[test]
    fn message_data_has_the_session_of_its_request() {
        let built = |begun_by, data_set_octets| {
            let message = MessageSpec {
                kind: MessageKind::ReplyQuery,
                reply_time_out_us: 1_000_000,
                reply_status: -3,
                begun_by,
            };
            let telegram = TelegramSpec {
                message: Some(message),
                kind: TelegramKind::Push,
                reply_com_id: 0,
                com_id: 2001,
                header_octets: 116,
                data_set_octets,
                etb_topo_count: 7,
                op_trn_topo_count: 8,
                service_id: 0,
            };
            let octets = 46 + 116 + data_set_octets.next_multiple_of(4);
            let spec = FrameSpec { udp_port: 17225, telegram: Some(telegram), ..spec(octets, None) };
            let mut bytes = Vec::new();
            frame(&spec, &mut bytes).unwrap();
            assert_eq!(bytes.len() as u32, octets - 4);
            bytes
        };
        for (begun_by, session) in [
            (Some((1, 0x0203_0405)), [0, 0, 0, 1, 0, 0, 0x80, 0, 0x80, 0, 0, 0, 2, 3, 4, 5]),
            (None, [0, 0, 0, 3, 0, 0, 0x80, 0, 0x80, 0, 0, 0, 0, 1, 0, 5]),
        ] {
            let bytes = built(begun_by, 14);
            let length = bytes.len() as u32;
            let found = crate::dissect::dissect(crate::link::Link::Ethernet, &bytes, length).unwrap();
            let Some(Ok(tsn_trdp::Telegram::MessageData(header, _))) = crate::telegram::datagram(&found)
            else {
                panic!("no message data");
            };
            assert_eq!(
                (header.kind, header.com_id, header.session),
                (MessageKind::ReplyQuery, 2001, session)
            );
            assert_eq!((header.reply_time_out_us, header.reply_status, header.sequence), (1_000_000, -3, 0));
            assert_eq!((header.etb_topo_count, header.op_trn_topo_count, header.data_set_octets), (7, 8, 14));
            let payload = crate::telegram::test_payload(&found).unwrap();
            assert_eq!((payload.stream, payload.seq), (3, 0x1_0005));
        }
        // A confirmation has no data set, and no test payload.
        let bytes = built(None, 0);
        let found = crate::dissect::dissect(crate::link::Link::Ethernet, &bytes, bytes.len() as u32).unwrap();
        assert!(crate::telegram::test_payload(&found).is_err());
    }

    #[test]
    fn a_redundancy_tag_is_six_octets_and_hides_nothing() {
        for tag in [None, Some(Tag { pcp: 6, dei: false, vid: 100 })] {
            let mut bytes = Vec::new();
            frame(&spec(200, tag), &mut bytes).unwrap();
            let plain = bytes.clone();
            add_redundancy_tag(tag.is_some(), 0xabcd, &mut bytes);
            assert_eq!(bytes.len(), plain.len() + 6);
            let at = if tag.is_some() { 16 } else { 12 };
            assert_eq!(bytes[at..at + 6], [0xf1, 0xc1, 0, 0, 0xab, 0xcd]);
            let contents = |bytes: &[u8]| {
                let contents = ethernet::Frame::new(bytes).unwrap().contents().unwrap();
                (contents.tag, contents.ether_type, contents.payload.to_vec())
            };
            assert_eq!(contents(&bytes), contents(&plain));
        }
        assert!(ethernet::untag(EtherType::REDUNDANCY_TAG, &[0; 5]).is_err());
    }

    #[test]
    fn frames_are_as_long_as_told_and_say_so() {
        for tag in [None, Some(Tag { pcp: 0, dei: false, vid: 1 })] {
            for octets in [0, 64, 65, 70, 1230, 1518, 1522, 9000, 65_535] {
                let mut bytes = vec![1; 3];
                frame(&spec(octets, tag), &mut bytes).unwrap();
                assert_eq!(bytes.len(), octets.max(64) as usize - 4);
                let inside = ethernet::Frame::new(&bytes).unwrap().contents().unwrap();
                let ip = etherparse::Ipv4HeaderSlice::from_slice(inside.payload).unwrap();
                assert_eq!(ip.header_checksum(), ip.to_header().calc_header_checksum());
                assert_eq!(usize::from(ip.total_len()), inside.payload.len());
                let udp = etherparse::UdpHeaderSlice::from_slice(&inside.payload[20..]).unwrap();
                assert_eq!(usize::from(udp.length()), inside.payload.len() - 20);
                let payload = &inside.payload[28..];
                assert_eq!(Ok(udp.checksum()), udp.to_header().calc_checksum_ipv4(&ip.to_header(), payload));
                let found = tsnbench::Repr::parse(payload).unwrap();
                assert_eq!((found.stream, found.seq), (3, 0x1_0005));
            }
        }
        assert!(frame(&spec(70_000, None), &mut Vec::new()).is_err());
    }
}
