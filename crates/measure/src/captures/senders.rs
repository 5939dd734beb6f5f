//! Who sent the frames of a stream: tells frames of the other direction, which a capture of a port has, too.

use rustc_hash::FxHashSet;
use std::net::IpAddr;
use tsn_wire::Mac;
use tsn_wire::dissect::{Dissected, Network};

/// Streams that a warning names.
const NAMED: usize = 3;

/// The source addresses of a stream's first frame.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Sender {
    mac: Option<Mac>,
    ip: Option<IpAddr>,
}

impl Sender {
    pub(super) fn of(frame: &Dissected<'_>) -> Self {
        let ip = match frame.network {
            Network::Ipv4 { source, .. } => Some(IpAddr::from(source)),
            Network::Ipv6 { source, .. } => Some(IpAddr::from(source)),
            Network::Other => None,
        };
        Self { mac: frame.source(), ip }
    }
}

/// A sent stream: its name, its sender, its frames at both sides.
pub(super) struct SentStream<'a> {
    pub(super) name: &'a str,
    pub(super) sender: Sender,
    pub(super) sent: u64,
    pub(super) received: u64,
}

/// The warning that streams of senders of which nothing was received may not be lost.
pub(super) fn warning(streams: &[SentStream<'_>]) -> Option<String> {
    let arrived = || streams.iter().filter(|stream| stream.received > 0);
    let macs: FxHashSet<Mac> = arrived().filter_map(|stream| stream.sender.mac).collect();
    let ips: FxHashSet<IpAddr> = arrived().filter_map(|stream| stream.sender.ip).collect();
    let unheard: Vec<&SentStream<'_>> = streams
        .iter()
        .filter(|stream| {
            let Sender { mac, ip } = stream.sender;
            let heard = mac.is_some_and(|mac| macs.contains(&mac)) || ip.is_some_and(|ip| ips.contains(&ip));
            stream.received == 0 && (mac.is_some() || ip.is_some()) && !heard
        })
        .collect();
    if unheard.is_empty() || arrived().next().is_none() {
        return None;
    }
    let frames: u64 = unheard.iter().map(|stream| stream.sent).sum();
    let names: Vec<&str> = unheard.iter().take(NAMED).map(|stream| stream.name).collect();
    let more = match unheard.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!(
        "{} of {} streams ({frames} frames) have no frame at the receiver, and neither has any other stream of their \
         senders: {}{more}; captures of a port have frames of both directions: if these arrived at the sender's port, \
         they are not lost",
        unheard.len(),
        streams.len(),
        names.join(", "),
    ))
}
