//! The number that a protocol itself gives to its frames, and the stream that it counts: found by type, port and bytes.

use crate::dissect::{Dissected, Network};
use crate::format::Format;
use crate::payload::iec61850::{self, Goose, Samples};
use crate::payload::{avtp, ethercat, ethernet_ip, hash, profinet, rtps, someip, uadp};
use crate::ptp_message as ptp;
use crate::{EtherType, Mac};
use std::fmt::Write as _;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Places of parts of identifiers: the writer group of UADP, the type of SOME/IP's messages.
const UADP_GROUP: u32 = 20;
const SOMEIP_KIND: u32 = 48;

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
    /// How many following numbers are in the frame, too; only [`counters`] tells it of frames with several messages.
    pub more: u32,
    /// Whether the frame has further messages.
    pub several: bool,
    /// Whether messages with numbers may be behind the place where the capture cut the frame.
    pub cut: bool,
}

/// The number of a frame's first message; `None` if its protocol has none, or is not known.
#[must_use]
#[inline]
pub fn counter(frame: &Dissected<'_>) -> Option<Counter> {
    match frame.network {
        Network::Other => of_ethernet(frame),
        _ if frame.ports.is_some() => of_datagram(frame),
        _ => None,
    }
}

/// The numbers of all messages of a frame, in their order: those of one stream that follow each other are one.
///
/// For frames with [`Counter::several`] or [`Counter::cut`]: others have at most the one of [`counter`].
#[must_use]
pub fn counters(frame: &Dissected<'_>) -> Vec<Counter> {
    let mut found: Vec<Counter> = Vec::new();
    let mut add = |next: Counter| {
        let last = found.last_mut().filter(|last| (last.format, last.stream) == (next.format, next.stream));
        match last {
            Some(last) if following(last) == next.number => last.more += 1,
            _ => found.push(next),
        }
    };
    let Some(first) = counter(frame) else { return found };
    each(frame, &first, &mut add);
    let several = found.len() > 1 || found.iter().any(|one| one.more > 0);
    found.iter_mut().for_each(|one| (one.several, one.cut) = (several, first.cut));
    found
}

/// The format of a frame that the capture cut before its first number, if its other octets tell it.
#[must_use]
pub fn cut_before_numbers(frame: &Dissected<'_>) -> Option<Format> {
    let go_on = || {
        let samples = rtps::Samples::of(frame.payload).ok()?;
        samples.go_on(frame.whole_payload()).then_some(Format::Rtps)
    };
    (frame.uncaptured > 0 && frame.ports.is_some()).then(go_on).flatten()
}

/// The number behind those of a counter.
fn following(counter: &Counter) -> u64 {
    let next = counter.number.wrapping_add(u64::from(counter.more) + 1);
    match counter.format.modulus() {
        0 => next,
        modulus => next % modulus,
    }
}

/// Calls `see` for each numbered message of a frame of a format that may have several, and for the only one of others.
fn each(frame: &Dissected<'_>, first: &Counter, see: &mut impl FnMut(Counter)) {
    let bytes = frame.payload;
    let from = frame.ports.map_or(0, |ports| addresses(frame.network, ports));
    let mut add = |counter: Option<Counter>| {
        if let Some(found) = counter {
            see(Counter { stream: found.stream ^ from, ..found });
        }
    };
    match first.format {
        Format::Rtps => rtps_samples(bytes).for_each(|found| add(of_sample(&found))),
        Format::SomeIp => {
            let messages = someip::Messages::of(bytes, frame.whole_payload());
            messages.into_iter().flatten().filter(is_numbered).for_each(|found| add(of_call(&found)));
        }
        Format::Uadp => {
            let _ = uadp::Repr::each(bytes, |found| add(of_data_sets(&found)));
        }
        Format::SampledValues => Samples::each(bytes).for_each(|found| add(of_asdu(&found))),
        Format::EtherCat => {
            let more = ethercat::Repr::parse(bytes).map_or(0, |found| found.more);
            see(Counter { more, ..*first });
        }
        _ => see(*first),
    }
}

fn made(format: Format, stream: u128, number: impl Into<u64>) -> Option<Counter> {
    Some(Counter {
        format,
        stream,
        addressed: false,
        number: number.into(),
        more: 0,
        several: false,
        cut: false,
    })
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
            let cut = frame.uncaptured > 0 && (Samples::each(bytes).count() as u64) < found.asdus;
            Some(Counter { several: found.asdus > 1, cut, ..of_asdu(&found)? })
        }
        iec61850::GOOSE => {
            let found = Goose::parse(bytes).ok()?;
            let number = u64::from(found.state) << 32 | u64::from(found.sequence);
            made(Format::Goose, named(found.app_id, found.reference), number)
        }
        ethercat::ETHER_TYPE => {
            let found = ethercat::Repr::parse(bytes).ok()?;
            let counter = made(Format::EtherCat, 0, found.index)?;
            let cut = frame.uncaptured > 0 && found.go_on;
            Some(Counter { addressed: true, several: found.more > 0, cut, ..counter })
        }
        uadp::ETHER_TYPE => of_uadp(frame),
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

fn of_asdu(found: &Samples<'_>) -> Option<Counter> {
    made(Format::SampledValues, named(found.app_id, found.id), found.count)
}

fn of_uadp(frame: &Dissected<'_>) -> Option<Counter> {
    let mut messages = 0;
    let mut first = None;
    let go_on = uadp::Repr::each(frame.payload, |found| {
        messages += 1;
        first.get_or_insert(found);
    })
    .ok()?;
    let cut = frame.uncaptured > 0 && go_on;
    Some(Counter { several: messages > 1, cut, ..of_data_sets(&first?)? })
}

fn of_data_sets(found: &uadp::Repr) -> Option<Counter> {
    let part = |part: Option<u16>| part.map_or(0, |number| u128::from(number) + 1);
    let stream = u128::from(found.publisher) << 64 | part(found.group) << UADP_GROUP | part(found.writer);
    made(Format::Uadp, stream, found.number)
}

/// The first fragment of a sample has its number; the others have the same one.
fn rtps_samples(bytes: &[u8]) -> impl Iterator<Item = rtps::Repr> {
    rtps::Samples::of(bytes).into_iter().flatten().filter(|found| found.fragment < 2)
}

fn of_sample(found: &rtps::Repr) -> Option<Counter> {
    made(Format::Rtps, found.writer, found.number)
}

/// Whether a message of SOME/IP has a number: the first segment of a message has it, the others have the same one.
fn is_numbered(found: &someip::Repr) -> bool {
    found.session > 0 && !found.continues
}

fn of_call(found: &someip::Repr) -> Option<Counter> {
    let stream = u128::from(found.service) << 32
        | u128::from(found.method) << 16
        | u128::from(found.client)
        | u128::from(found.kind) << SOMEIP_KIND;
    // Sessions are numbered from 1.
    made(Format::SomeIp, stream, found.session.checked_sub(1)?)
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
        (_, uadp::UDP_PORT) => of_uadp(frame),
        (_, port) if ptp::UDP_PORTS.contains(&port) => of_ptp(bytes),
        _ if bytes.starts_with(b"RTPS") => {
            let mut samples = rtps_samples(bytes);
            let first = of_sample(&samples.next()?)?;
            let several = samples.next().is_some();
            let cut = frame.uncaptured > 0
                && rtps::Samples::of(bytes).is_ok_and(|samples| samples.go_on(frame.whole_payload()));
            Some(Counter { several, cut, ..first })
        }
        _ => {
            let messages = someip::Messages::of(bytes, frame.whole_payload()).ok()?;
            let cut = messages.go_on;
            let mut numbered = messages.filter(is_numbered);
            let first = of_call(&numbered.next()?)?;
            Some(Counter { several: numbered.next().is_some(), cut, ..first })
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

/// The name of a stream of which the frame has a message; `None` if it has none.
#[must_use]
pub fn name(frame: &Dissected<'_>, format: Format, stream: u128) -> Option<String> {
    let from = frame.ports.map_or(0, |ports| addresses(frame.network, ports));
    let mut name = own_name(frame, format, stream ^ from)?;
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

/// The name without addresses; `stream` is the identifier of the protocol alone.
fn own_name(frame: &Dissected<'_>, format: Format, stream: u128) -> Option<String> {
    // Parts of the identifier.
    let octets = |at: u32| (stream >> at & 0xffff) as u16;
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
            let mut name = format!("uadp publisher {}", stream >> 64);
            let part = |at: u32| (stream >> at & 0xf_ffff).checked_sub(1);
            for (what, number) in [("group", part(UADP_GROUP)), ("writer", part(0))] {
                if let Some(number) = number {
                    let _ = write!(name, " {what} {number}");
                }
            }
            name
        }
        Format::SomeIp => {
            let kind = someip::kind_name((stream >> SOMEIP_KIND & 0xff) as u8);
            format!("some/ip 0x{:04x}.0x{:04x} {kind}", octets(32), octets(16))
        }
        Format::Rtps => format!("rtps {:024x}.{:08x}", stream >> 32, stream & 0xffff_ffff),
        Format::SampledValues => {
            let found = Samples::each(bytes).find(|found| named(found.app_id, found.id) == stream)?;
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
