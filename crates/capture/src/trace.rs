//! When the frames of a flow came, and how long they were: what a talker needs to send them again.

use crate::{Error, Reader};
use std::io::Read;
use std::net::IpAddr;
use tsn_wire::Mac;
use tsn_wire::dissect::{Dissected, Network, dissect};

/// Most frames of one flow that are kept.
pub const MOST_FRAMES: usize = 1 << 20;
/// What a VLAN tag adds to a frame.
const TAG_OCTETS: u32 = 4;

/// A source or destination as people write it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// `02:00:00:00:00:01`.
    Mac(Mac),
    /// `10.0.0.1`, `fd00::1`.
    Ip(IpAddr),
}

impl std::str::FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mac = text.parse().map(Self::Mac);
        mac.or_else(|_| text.parse().map(Self::Ip)).map_err(|_| format!("{text:?} is no address"))
    }
}

/// Which frames of a capture belong to the flow: those of which all that is given holds.
#[derive(Copy, Clone, Debug, Default)]
pub struct Filter {
    /// VLAN identifier; `Some(None)`: untagged.
    pub vlan: Option<Option<u16>>,
    /// Priority code point.
    pub pcp: Option<u8>,
    /// Source.
    pub source: Option<Address>,
    /// Destination.
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

/// The frames of one flow, in the order of their times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The earliest time in the capture, of any flow.
    pub begin_ns: i64,
    /// Times, and octets from destination address to FCS without a VLAN tag.
    pub frames: Vec<(i64, u32)>,
    /// What of the capture could not be read, if anything.
    pub warning: Option<String>,
}

/// Why no trace came of a capture.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// It cannot be read.
    #[error(transparent)]
    Capture(#[from] Error),
    /// A frame without a time.
    #[error("says no time for its frame {0}")]
    NoTime(u64),
    /// Too long.
    #[error("has more than {MOST_FRAMES} frames of this flow")]
    TooMany,
}

/// The frames that `filter` takes.
///
/// # Errors
/// When the capture cannot be read, has a frame without time, or more than [`MOST_FRAMES`] of the flow.
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
    // Captures of several interfaces or queues need not be in order; frames of one time stay as they are.
    found.frames.sort_by_key(|frame| frame.0);
    Ok(found)
}
