//! Frames that carry TRDP telegrams, by their ports, and test payloads within telegrams.

use crate::dissect::{Dissected, Network};
use crate::payload::tsnbench;
use tsn_trdp::{Error, MESSAGE_DATA_PORT, PROCESS_DATA_PORT, Telegram, message_data, process_data, tsn};

/// Protocol number of TCP.
const TCP: u8 = 6;
/// Octets of a TCP header up to the field with its length.
const TCP_OFFSET: usize = 12;

/// A valid telegram of process data, of either version.
#[must_use]
#[inline]
pub fn process_data<'a>(frame: &Dissected<'a>) -> Option<Telegram<'a>> {
    let (_, to) = frame.ports?;
    if to != PROCESS_DATA_PORT {
        return None;
    }
    // A capture may contain only the first octets of a frame: this is not an error of the telegram.
    match Telegram::parse_cut(frame.payload, length(frame)) {
        Ok(found @ (Telegram::ProcessData(..) | Telegram::Tsn(..))) => Some(found),
        _ => None,
    }
}

/// The telegram in a datagram to or from a port of TRDP; `None` for other ports.
///
/// Both ports count, because replies of message data go to the port of the request.
#[must_use]
pub fn datagram<'a>(frame: &Dissected<'a>) -> Option<Result<Telegram<'a>, Error>> {
    let (from, to) = frame.ports?;
    let own = |port| port == PROCESS_DATA_PORT || port == MESSAGE_DATA_PORT;
    (own(from) || own(to)).then(|| Telegram::parse_cut(frame.payload, length(frame)))
}

/// The telegram that begins in a segment of a TCP connection to or from the port of message data. `None` for other
/// ports, for segments without data, and for segments that continue a telegram.
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
    // A telegram may continue in the next segment.
    let most = tsn_trdp::message_data::octets(tsn_trdp::message_data::LONGEST);
    Telegram::parse_cut(data, most).ok().filter(|found| matches!(found, Telegram::MessageData(..)))
}

/// tsnbench's test payload in a UDP datagram, or in the data set of a TRDP telegram.
///
/// # Errors
/// There is no test payload.
#[inline(always)]
pub fn test_payload(frame: &Dissected<'_>) -> Result<tsnbench::Repr, crate::Error> {
    match tsnbench::Repr::parse(frame.payload) {
        Err(error) => in_data_set(frame).unwrap_or(Err(error)),
        found => found,
    }
}

/// The test payload in the data set of a datagram's telegram; `None` if there is no telegram.
#[inline(never)]
fn in_data_set(frame: &Dissected<'_>) -> Option<Result<tsnbench::Repr, crate::Error>> {
    let begin = data_set_begin(frame)?;
    Some(tsnbench::Repr::parse(frame.payload.get(begin..).unwrap_or_default()))
}

/// Offset of the data set of a telegram in a datagram, by its port and the version in its header; the header is not
/// checked.
#[inline]
fn data_set_begin(frame: &Dissected<'_>) -> Option<usize> {
    let (_, to) = frame.ports?;
    if to == MESSAGE_DATA_PORT {
        return Some(message_data::HEADER);
    }
    if to != PROCESS_DATA_PORT {
        return None;
    }
    if frame.payload.get(4) != Some(&tsn::VERSION) {
        return Some(process_data::HEADER);
    }
    tsn::Header::parse(frame.payload).ok().map(|header| header.length.octets())
}

/// Octets of the datagram before the capture truncated it.
fn length(frame: &Dissected<'_>) -> usize {
    frame.whole_payload()
}
