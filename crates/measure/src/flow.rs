//! Streams in captures: which frames belong together, and the names of streams.

use std::fmt::Write as _;
use std::net::Ipv4Addr;
use tsn_wire::counter::{self, Counter, counter};
use tsn_wire::dissect::{Dissected, Network};
use tsn_wire::recognise::{Format, stream_number};
use tsn_wire::{EtherType, Mac, telegram};

/// The common property of all frames of one stream, at every place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FlowKey {
    /// The stream number in tsnbench's test payload.
    Tsnbench(u32),
    /// TRDP process data: every communication identifier and type of a source has its own numbers.
    Trdp { com_id: u32, kind: u16, kind_name: &'static str, source: [u8; 4], destination: [u8; 4] },
    /// A stream of a protocol that numbers its frames, as the protocol identifies it.
    Counted { format: Format, stream: u128, source: Option<Mac>, destination: Option<Mac> },
    /// IPv4.
    Ipv4 { mac: Option<Mac>, source: [u8; 4], destination: [u8; 4], protocol: u8, ports: Option<(u16, u16)> },
    /// IPv6.
    Ipv6 {
        mac: Option<Mac>,
        source: [u8; 16],
        destination: [u8; 16],
        protocol: u8,
        ports: Option<(u16, u16)>,
    },
    /// No IP; some tools count their streams.
    Other {
        source: Option<Mac>,
        destination: Option<Mac>,
        ether_type: EtherType,
        vid: Option<u16>,
        number: Option<u8>,
    },
}

/// The fields of a key that both sides contain: a field at one side only cannot distinguish streams.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct VisibleFields {
    pub(crate) source: bool,
    pub(crate) destination: bool,
    pub(crate) tag: bool,
}

impl FlowKey {
    #[inline]
    pub(crate) fn of(frame: &Dissected<'_>, visible: VisibleFields) -> Self {
        if frame.ports.is_some()
            && let Ok(payload) = telegram::test_payload(frame)
        {
            return Self::Tsnbench(payload.stream);
        }
        Self::with_counter(frame, visible).0
    }

    /// The key of a frame without our own payload, and its number if its protocol has one.
    #[inline]
    pub(crate) fn with_counter(frame: &Dissected<'_>, visible: VisibleFields) -> (Self, Option<Counter>) {
        if let Network::Ipv4 { source, destination, .. } = frame.network
            && let Some(telegram) = telegram::process_data(frame)
        {
            let key = Self::Trdp {
                com_id: telegram.com_id(),
                kind: telegram.kind_number(),
                kind_name: telegram.kind_name(),
                source,
                destination,
            };
            return (key, None);
        }
        if let Some(counter) = counter(frame) {
            return (Self::counted(&counter, frame, visible), Some(counter));
        }
        (Self::of_addresses(frame, visible), None)
    }

    /// The key of a message of the frame with this number.
    #[inline]
    pub(crate) fn counted(counter: &Counter, frame: &Dissected<'_>, visible: VisibleFields) -> Self {
        let addressed = |mac: Option<Mac>, visible: bool| mac.filter(|_| counter.addressed && visible);
        Self::Counted {
            format: counter.format,
            stream: counter.stream,
            source: addressed(frame.source(), visible.source),
            destination: addressed(frame.destination(), visible.destination),
        }
    }

    fn of_addresses(frame: &Dissected<'_>, visible: VisibleFields) -> Self {
        let mac = frame.source().filter(|_| visible.source);
        match frame.network {
            Network::Ipv4 { source, destination, protocol, .. } => {
                Self::Ipv4 { mac, source, destination, protocol, ports: frame.ports }
            }
            Network::Ipv6 { source, destination, protocol } => {
                Self::Ipv6 { mac, source, destination, protocol, ports: frame.ports }
            }
            Network::Other => Self::Other {
                source: mac,
                destination: frame.destination().filter(|_| visible.destination),
                ether_type: frame.ether_type,
                vid: frame.tag.filter(|_| visible.tag).map(|tag| tag.vid),
                number: stream_number(frame),
            },
        }
    }

    /// The name of the stream, from its format and its first frame.
    pub(crate) fn name(&self, format: Format, frame: &Dissected<'_>) -> String {
        let (tag, source) = (frame.tag, frame.source());
        match self {
            Self::Counted { format, stream, .. } => {
                counter::name(frame, *format, *stream).unwrap_or_else(|| format.name().to_owned())
            }
            Self::Tsnbench(stream) => format!("tsnbench/{stream}"),
            Self::Trdp { com_id, kind_name, source, destination, .. } => {
                let (from, to) = (Ipv4Addr::from(*source), Ipv4Addr::from(*destination));
                format!("trdp {com_id} {kind_name} {from} > {to}")
            }
            Self::Ipv4 { source: from, destination, protocol, ports, .. } => match (format, source, ports) {
                (Format::FlexTest, Some(mac), Some((_, port))) => format!("{mac} udp {port}"),
                _ => ip_name(
                    format,
                    &Ipv4Addr::from(*from).to_string(),
                    &Ipv4Addr::from(*destination).to_string(),
                    *protocol,
                    *ports,
                ),
            },
            Self::Ipv6 { source: from, destination, protocol, ports, .. } => {
                let text = |octets: &[u8; 16]| format!("[{}]", std::net::Ipv6Addr::from(*octets));
                ip_name(format, &text(from), &text(destination), *protocol, *ports)
            }
            Self::Other { source: from, destination, ether_type, number, .. } => {
                let mut name = match (format.label(), number) {
                    (Some(tool), Some(number)) => return format!("{tool}/{number}"),
                    (Some(tool), None) => tool.to_owned(),
                    (None, _) => {
                        let text = |mac: &Option<Mac>| mac.map_or_else(|| "?".into(), |mac| mac.to_string());
                        format!("{} > {} 0x{:04x}", text(from), text(destination), ether_type.0)
                    }
                };
                if let Some(tag) = tag {
                    // Writing to a string cannot fail.
                    let _ = write!(name, " vlan {} pcp {}", tag.vid, tag.pcp);
                }
                name
            }
        }
    }
}

fn ip_name(
    format: Format,
    source: &str,
    destination: &str,
    protocol: u8,
    ports: Option<(u16, u16)>,
) -> String {
    let tool = match (format.label(), protocol) {
        (Some(tool), _) => tool,
        (_, 17) => "udp",
        (_, 6) => "tcp",
        (_, 1) => "icmp",
        (_, number) => return format!("ip protocol {number} {source} > {destination}"),
    };
    match ports {
        Some((from, to)) => format!("{tool} {source}:{from} > {destination}:{to}"),
        None => format!("{tool} {source} > {destination}"),
    }
}
