//! Which frames carry TRDP telegrams: by their ports; and test payloads inside of them.

use crate::dissect::{Dissected, Network};
use crate::payload::tsnbench;
use tsn_trdp::{Error, MESSAGE_DATA_PORT, PROCESS_DATA_PORT, Telegram, process_data, tsn};

/// Protocol number of TCP.
const TCP: u8 = 6;
/// Octets of a TCP header up to the field that says how long it is.
const TCP_OFFSET: usize = 12;

/// A valid telegram of process data, of either version.
#[must_use]
#[inline]
pub fn process_data<'a>(frame: &Dissected<'a>) -> Option<Telegram<'a>> {
    let (_, to) = frame.ports?;
    if to != PROCESS_DATA_PORT {
        return None;
    }
    // What a capture has cut off is no fault of the telegram.
    match Telegram::parse_cut(frame.payload, length(frame)) {
        Ok(found @ (Telegram::ProcessData(..) | Telegram::Tsn(..))) => Some(found),
        _ => None,
    }
}

/// What a datagram to or from a port of TRDP carries; none for others.
///
/// Both ports count, because message data is answered to the port that it came from.
#[must_use]
pub fn datagram<'a>(frame: &Dissected<'a>) -> Option<Result<Telegram<'a>, Error>> {
    let (from, to) = frame.ports?;
    let own = |port| port == PROCESS_DATA_PORT || port == MESSAGE_DATA_PORT;
    (own(from) || own(to)).then(|| Telegram::parse_cut(frame.payload, length(frame)))
}

/// What begins in a segment of a TCP connection to or from the port of message data; none for others, for segments
/// without data, and for those that continue a telegram.
#[must_use]
pub fn segment<'a>(frame: &Dissected<'a>) -> Option<Telegram<'a>> {
    let protocol = match frame.network {
        Network::Ipv4 { protocol, .. } | Network::Ipv6 { protocol, .. } => protocol,
        Network::Other => return None,
    };
    let ports = frame.payload.first_chunk::<4>().filter(|_| protocol == TCP)?;
    let [a, b, c, d] = *ports;
    if u16::from_be_bytes([a, b]) != MESSAGE_DATA_PORT && u16::from_be_bytes([c, d]) != MESSAGE_DATA_PORT {
        return None;
    }
    let words = frame.payload.get(TCP_OFFSET)? >> 4;
    let data = frame.payload.get(usize::from(words) * 4..)?;
    // A telegram may go on in the next segment.
    let most = tsn_trdp::message_data::octets(tsn_trdp::message_data::LONGEST);
    Telegram::parse_cut(data, most).ok().filter(|found| matches!(found, Telegram::MessageData(..)))
}

/// tsnbench's test payload: of a UDP datagram, or of the data set of a TRDP telegram.
///
/// # Errors
/// When there is none.
#[inline]
pub fn test_payload(frame: &Dissected<'_>) -> Result<tsnbench::Repr, crate::Error> {
    match tsnbench::Repr::parse(frame.payload) {
        Err(error) => match data_set_begin(frame) {
            Some(begin) => tsnbench::Repr::parse(frame.payload.get(begin..).unwrap_or_default()),
            None => Err(error),
        },
        found => found,
    }
}

/// Where the data set of process data begins in a datagram, by the version that its header says; nothing is checked.
#[inline]
fn data_set_begin(frame: &Dissected<'_>) -> Option<usize> {
    let (_, to) = frame.ports?;
    if to != PROCESS_DATA_PORT {
        return None;
    }
    if frame.payload.get(4) != Some(&tsn::VERSION) {
        return Some(process_data::HEADER);
    }
    tsn::Header::parse(frame.payload).ok().map(|header| header.length.octets())
}

/// Octets that the datagram had before the capture cut it.
fn length(frame: &Dissected<'_>) -> usize {
    frame.payload.len().saturating_add(frame.uncaptured as usize)
}
