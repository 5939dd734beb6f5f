//! The arrival times and lengths of one flow's frames, so that a talker can send them again.

use crate::{Error, Reader};
use std::io::Read;
use std::net::IpAddr;
use tsn_wire::Mac;
use tsn_wire::dissect::{Dissected, Network, dissect};

/// Limit of frames of one flow.
pub const MOST_FRAMES: usize = 1 << 20;
/// Octets of a VLAN tag.
const TAG_OCTETS: u32 = 4;

/// A source or destination address.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// MAC address: `02:00:00:00:00:01`.
    Mac(Mac),
    /// IP address: `10.0.0.1`, `fd00::1`.
    Ip(IpAddr),
}

impl std::str::FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mac = text.parse().map(Self::Mac);
        mac.or_else(|_| text.parse().map(Self::Ip)).map_err(|_| format!("{text:?} is no address"))
    }
}

/// The condition for frames of the flow: all given fields must match.
#[derive(Copy, Clone, Debug, Default)]
pub struct Filter {
    /// VLAN identifier; `Some(None)` stands for untagged frames.
    pub vlan: Option<Option<u16>>,
    /// Priority code point.
    pub pcp: Option<u8>,
    /// Source address.
    pub source: Option<Address>,
    /// Destination address.
    pub destination: Option<Address>,
    /// UDP destination port.
    pub udp: Option<u16>,
}

impl Filter {
    fn takes(&self, frame: &Dissected<'_>) -> bool {
        let (source, destination) = match frame.network {
            Network::Ipv4 { source, destination, .. } => {
                (Some(IpAddr::from(source)), Some(IpAddr::from(destination)))
            }
            Network::Ipv6 { source, destination, .. } => {
                (Some(IpAddr::from(source)), Some(IpAddr::from(destination)))
            }
            Network::Other => (None, None),
        };
        let is = |wanted: Option<Address>, mac: Option<Mac>, ip: Option<IpAddr>| match wanted {
            None => true,
            Some(Address::Mac(wanted)) => mac == Some(wanted),
            Some(Address::Ip(wanted)) => ip == Some(wanted),
        };
        self.vlan.is_none_or(|vid| frame.tag.map(|tag| tag.vid) == vid)
            && self.pcp.is_none_or(|pcp| frame.tag.is_some_and(|tag| tag.pcp == pcp))
            && self.udp.is_none_or(|port| frame.ports.is_some_and(|(_, to)| to == port))
            && is(self.source, frame.source(), source)
            && is(self.destination, frame.destination(), destination)
    }
}

/// The frames of one flow, ordered by time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The earliest time of any flow in the capture.
    pub begin_ns: i64,
    /// Times of the frames, and their octets from destination address to FCS without a VLAN tag.
    pub frames: Vec<(i64, u32)>,
    /// Why the rest of the capture could not be read, if it could not.
    pub warning: Option<String>,
}

/// The reason why a capture has no trace.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The capture cannot be read.
    #[error(transparent)]
    Capture(#[from] Error),
    /// A frame has no time.
    #[error("says no time for its frame {0}")]
    NoTime(u64),
    /// The flow has too many frames.
    #[error("has more than {MOST_FRAMES} frames of this flow")]
    TooMany,
}

/// The frames that match `filter`.
///
/// # Errors
/// The capture cannot be read, has a frame without time, or has more than [`MOST_FRAMES`] of the flow.
pub fn trace<R: Read>(reader: &mut Reader<R>, filter: &Filter) -> Result<Trace, TraceError> {
    let mut found = Trace { begin_ns: i64::MAX, ..Trace::default() };
    let mut number = 0;
    while let Some(packet) = reader.read()? {
        number += 1;
        let t_ns = packet.t_ns.ok_or(TraceError::NoTime(number))?;
        found.begin_ns = found.begin_ns.min(t_ns);
        let Ok(frame) = dissect(packet.link, packet.octets, packet.original) else { continue };
        if filter.takes(&frame) {
            if found.frames.len() == MOST_FRAMES {
                return Err(TraceError::TooMany);
            }
            let tag = if frame.tag.is_some() { TAG_OCTETS } else { 0 };
            found.frames.push((t_ns, frame.octets.saturating_sub(tag)));
        }
    }
    found.warning = reader.warning().map(str::to_owned);
    // Frames of several interfaces or queues may be out of order. The sort keeps the order of frames with equal times.
    found.frames.sort_by_key(|frame| frame.0);
    Ok(found)
}
