//! The number that a protocol itself gives to its frames, and the stream that it counts: found by type, port and bytes.

use crate::dissect::{Dissected, Network};
use crate::format::Format;
use crate::payload::iec61850::{self, Goose, Samples};
use crate::payload::{avtp, ethercat, ethernet_ip, hash, profinet, rtps, someip, uadp};
use crate::ptp_message as ptp;
use crate::{EtherType, Mac};
use std::fmt::Write as _;
use std::net::{Ipv4Addr, Ipv6Addr};

/// The number of a frame in its stream.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Counter {
    /// The protocol.
    pub format: Format,
    /// The stream, as the protocol identifies it; for protocols over IP together with addresses and ports.
    pub stream: u128,
    /// Whether MAC addresses distinguish streams with the same identifier.
    pub addressed: bool,
    /// The number, as the frame has it.
    pub number: u64,
    /// How many following numbers are in the frame, too.
    pub more: u32,
}

/// The number of a frame; `None` if its protocol has none, or is not known.
#[must_use]
#[inline]
pub fn counter(frame: &Dissected<'_>) -> Option<Counter> {
    match frame.network {
        Network::Other => of_ethernet(frame),
        _ if frame.ports.is_some() => of_datagram(frame),
        _ => None,
    }
}

fn made(format: Format, stream: u128, number: impl Into<u64>) -> Option<Counter> {
    Some(Counter { format, stream, addressed: false, number: number.into(), more: 0 })
}

fn of_ethernet(frame: &Dissected<'_>) -> Option<Counter> {
    let bytes = frame.payload;
    match frame.ether_type {
        avtp::ETHER_TYPE => of_avtp(bytes),
        profinet::ETHER_TYPE if frame.uncaptured == 0 => {
            let found = profinet::Repr::parse(bytes).ok()?;
            let counter = made(Format::Profinet, found.frame_id.into(), found.cycle)?;
            Some(Counter { addressed: true, ..counter })
        }
        EtherType::PTP => of_ptp(bytes),
        iec61850::SAMPLED_VALUES => {
            let found = Samples::parse(bytes).ok()?;
            made(Format::SampledValues, named(found.app_id, found.id), found.count)
        }
        iec61850::GOOSE => {
            let found = Goose::parse(bytes).ok()?;
            let number = u64::from(found.state) << 32 | u64::from(found.sequence);
            made(Format::Goose, named(found.app_id, found.reference), number)
        }
        ethercat::ETHER_TYPE => {
            let found = ethercat::Repr::parse(bytes).ok()?;
            let counter = made(Format::EtherCat, 0, found.index)?;
            Some(Counter { addressed: true, ..counter })
        }
        uadp::ETHER_TYPE => of_uadp(bytes),
        _ => None,
    }
}

/// An identifier of an application with a name.
fn named(app_id: u16, name: &[u8]) -> u128 {
    u128::from(app_id) << 64 | u128::from(hash(name))
}

fn of_avtp(bytes: &[u8]) -> Option<Counter> {
    let found = avtp::Repr::parse(bytes).ok()?;
    made(Format::Avtp, found.stream.into(), found.number)
}

fn of_uadp(bytes: &[u8]) -> Option<Counter> {
    let found = uadp::Repr::parse(bytes).ok()?;
    let part = |part: Option<u16>| part.map_or(0, |number| u128::from(number) + 1);
    let stream = u128::from(found.publisher) << 64 | part(found.group) << 20 | part(found.writer);
    made(Format::Uadp, stream, found.number)
}

fn of_ptp(bytes: &[u8]) -> Option<Counter> {
    let found = ptp::Repr::parse(bytes).ok()?;
    let port = |(identity, number): ([u8; 8], u16)| hash(&identity) ^ u64::from(number).rotate_left(48);
    let kind = u64::from(found.kind) | u64::from(found.sdo) << 4 | u64::from(found.domain) << 8;
    let requester = found.requester.map_or(0, port).rotate_left(17);
    made(Format::Ptp, u128::from(port(found.source)) << 64 | u128::from(requester ^ kind), found.sequence)
}

fn of_datagram(frame: &Dissected<'_>) -> Option<Counter> {
    let (from, to) = frame.ports?;
    let bytes = frame.payload;
    let found = match (from, to) {
        (_, avtp::UDP_PORT) => of_avtp(bytes.get(avtp::IN_DATAGRAM..)?),
        (_, ethernet_ip::UDP_PORT) => {
            let found = ethernet_ip::Repr::parse(bytes).ok()?;
            made(Format::EthernetIp, found.connection.into(), found.number)
        }
        (_, uadp::UDP_PORT) => of_uadp(bytes),
        (_, port) if ptp::UDP_PORTS.contains(&port) => of_ptp(bytes),
        _ if bytes.starts_with(b"RTPS") => {
            // The first fragment of a sample has its number; the others have the same one.
            let found = rtps::Repr::parse(bytes).ok().filter(|found| found.fragment < 2)?;
            made(Format::Rtps, found.writer, found.number)
                .map(|counter| Counter { more: found.more, ..counter })
        }
        _ => {
            let whole = bytes.len().saturating_add(frame.uncaptured as usize);
            let found = someip::Repr::parse(bytes, whole).ok()?;
            let stream = u128::from(found.service) << 32
                | u128::from(found.method) << 16
                | u128::from(found.client)
                | u128::from(found.kind) << 48;
            // Sessions are numbered from 1.
            made(Format::SomeIp, stream, found.session - 1)
        }
    }?;
    Some(Counter { stream: found.stream ^ addresses(frame.network, (from, to)), ..found })
}

/// A hash of the addresses and ports of a datagram, in the upper half.
fn addresses(network: Network, (from, to): (u16, u16)) -> u128 {
    let ports = [from.to_be_bytes(), to.to_be_bytes()].concat();
    let found = match network {
        Network::Other => 0,
        Network::Ipv4 { source, destination, .. } => hash(&[&source[..], &destination, &ports].concat()),
        Network::Ipv6 { source, destination, .. } => hash(&[&source[..], &destination, &ports].concat()),
    };
    u128::from(found) << 64
}

/// The name of the stream of a frame that has a [`counter`]; `None` if it has none.
#[must_use]
pub fn name(frame: &Dissected<'_>) -> Option<String> {
    let format = counter(frame)?.format;
    let mut name = own_name(format, frame)?;
    match (frame.network, frame.ports) {
        (Network::Ipv4 { source, destination, .. }, Some((from, to))) => {
            let (source, destination) = (Ipv4Addr::from(source), Ipv4Addr::from(destination));
            let _ = write!(name, " {source}:{from} > {destination}:{to}");
        }
        (Network::Ipv6 { source, destination, .. }, Some((from, to))) => {
            let (source, destination) = (Ipv6Addr::from(source), Ipv6Addr::from(destination));
            let _ = write!(name, " [{source}]:{from} > [{destination}]:{to}");
        }
        _ if matches!(format, Format::Profinet | Format::EtherCat) => {
            let text = |mac: Option<Mac>| mac.map_or_else(|| "?".into(), |mac| mac.to_string());
            let _ = write!(name, " {} > {}", text(frame.source()), text(frame.destination()));
        }
        _ => {}
    }
    Some(name)
}

fn own_name(format: Format, frame: &Dissected<'_>) -> Option<String> {
    let bytes = if format == Format::Avtp && frame.ports.is_some() {
        frame.payload.get(avtp::IN_DATAGRAM..)?
    } else {
        frame.payload
    };
    let text = |octets: &[u8]| String::from_utf8_lossy(octets).escape_default().to_string();
    Some(match format {
        Format::Avtp => format!("avtp 0x{:016x}", avtp::Repr::parse(bytes).ok()?.stream),
        Format::Profinet => format!("profinet 0x{:04x}", profinet::Repr::parse(bytes).ok()?.frame_id),
        Format::Uadp => {
            let found = uadp::Repr::parse(bytes).ok()?;
            let mut name = format!("uadp publisher {}", found.publisher);
            let parts = [("group", found.group), ("writer", found.writer)];
            for (what, number) in parts.iter().filter_map(|(what, part)| part.map(|part| (what, part))) {
                let _ = write!(name, " {what} {number}");
            }
            name
        }
        Format::SomeIp => {
            let found =
                someip::Repr::parse(bytes, bytes.len().saturating_add(frame.uncaptured as usize)).ok()?;
            format!("some/ip 0x{:04x}.0x{:04x} {}", found.service, found.method, found.kind_name())
        }
        Format::Rtps => {
            let writer = rtps::Repr::parse(bytes).ok()?.writer;
            format!("rtps {:024x}.{:08x}", writer >> 32, writer & 0xffff_ffff)
        }
        Format::SampledValues => {
            let found = Samples::parse(bytes).ok()?;
            format!("sv 0x{:04x} {}", found.app_id, text(found.id))
        }
        Format::Goose => {
            let found = Goose::parse(bytes).ok()?;
            format!("goose 0x{:04x} {}", found.app_id, text(found.reference))
        }
        Format::EthernetIp => format!("enip 0x{:08x}", ethernet_ip::Repr::parse(bytes).ok()?.connection),
        Format::EtherCat => "ethercat".into(),
        Format::Ptp => {
            let found = ptp::Repr::parse(bytes).ok()?;
            let mut name =
                format!("ptp {} domain {} {}", found.kind_name(), found.domain, ptp::port_text(found.source));
            if let Some(requester) = found.requester {
                let _ = write!(name, " to {}", ptp::port_text(requester));
            }
            name
        }
        _ => return None,
    })
}
