//! Calls with message data: notifications, and requests that wait for their replies and confirm them.

use super::counters::Spread;
use super::device::{Call, Device, Transport};
use super::message::{Conversation, Message};
use super::{LOOK, now_ns};
use crate::Error;
use crate::system::clock;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, Ordering};
use tsn_trdp::message_data::{Header, Kind, Uri};

/// Counters of the calls with one communication identifier.
#[derive(Debug, Serialize)]
pub struct Called {
    com_id: u32,
    to: Ipv4Addr,
    /// Requests or notifications that were sent.
    sent: u64,
    /// Telegrams that the kernel refused.
    refused: u64,
    /// Replies (`Mp`), and replies that were confirmed (`Mq`).
    replies: u64,
    confirmed: u64,
    /// Errors instead of a reply (`Me`).
    errors: u64,
    /// Calls without a reply in time, or whose connection ended before their reply.
    time_outs: u64,
    /// Octets of the replies' data sets.
    reply_octets: u64,
    /// Time from the request to its reply.
    round_trip_ns: Option<Spread>,
}

/// Open connections by the address of their replier.
///
/// A connection serves all calls to one replier: `TCNopen` has one connection with each address, and reads no second
/// one before it knows that the first is closed.
type Connections = BTreeMap<Ipv4Addr, Conversation>;

/// Makes all calls in sequence, until the end.
pub fn call(device: &Device, over: &AtomicBool) -> Result<Vec<Called>, Error> {
    let mut found = Vec::new();
    let mut connections = Connections::new();
    for what in &device.call {
        let mut called = Called {
            com_id: what.com_id,
            to: what.to,
            sent: 0,
            refused: 0,
            replies: 0,
            confirmed: 0,
            errors: 0,
            time_outs: 0,
            reply_octets: 0,
            round_trip_ns: None,
        };
        let mut next_ns = now_ns()?;
        for _ in 0..what.count {
            if over.load(Ordering::Relaxed) {
                break;
            }
            clock::sleep_until(next_ns).map_err(|error| Error::System("CLOCK_TAI", error))?;
            one(device, what, &mut called, &mut connections, over)?;
            next_ns = next_ns.saturating_add(what.period_ns);
        }
        found.push(called);
    }
    Ok(found)
}

/// Makes one call, to its end. The connection stays open, unless no reply arrives in time.
fn one(
    device: &Device,
    what: &Call,
    called: &mut Called,
    connections: &mut Connections,
    over: &AtomicBool,
) -> Result<(), Error> {
    let failed = |error| Error::Interface(device.interface.clone(), error);
    let uri = |text: &str| Uri::new(text).map_err(|error| Error::Usage(format!("{text}: {error}")));
    let mut session = [0; 16];
    File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut session)).map_err(failed)?;
    let request = Header {
        kind: if what.notify { Kind::Notify } else { Kind::Request },
        com_id: what.com_id,
        session,
        reply_time_out_us: if what.notify {
            0
        } else {
            u32::try_from(what.time_out_ns / 1000).unwrap_or(u32::MAX)
        },
        source_uri: uri(&what.source_uri)?,
        destination_uri: uri(&what.destination_uri)?,
        ..Header::default()
    };
    let begin = now_ns()?;
    let Ok(mut conversation) = send(device, what, &request, connections) else {
        called.refused += 1;
        return Ok(());
    };
    called.sent += 1;
    if what.notify {
        keep(what, conversation, connections);
        return Ok(());
    }
    let until = begin.saturating_add(what.time_out_ns);
    while !over.load(Ordering::Relaxed) {
        let now = now_ns()?;
        if now > until || conversation.ended {
            called.time_outs += 1;
            return Ok(());
        }
        let Some(Message { header, data_set, .. }) = conversation.next() else { continue };
        if header.session != session {
            continue;
        }
        match header.kind {
            Kind::Reply | Kind::ReplyQuery => {
                Spread::add(&mut called.round_trip_ns, now_ns()?.saturating_sub(begin));
                called.replies += 1;
                called.reply_octets += data_set.len() as u64;
            }
            Kind::Error => {
                called.errors += 1;
                keep(what, conversation, connections);
                return Ok(());
            }
            Kind::Notify | Kind::Request | Kind::Confirm => continue,
        }
        if header.kind == Kind::ReplyQuery {
            // A confirmation has no communication identifier and no data of its own.
            let confirm = Header {
                kind: Kind::Confirm,
                session,
                source_uri: header.destination_uri,
                destination_uri: header.source_uri,
                ..Header::default()
            };
            called.confirmed += u64::from(conversation.send(what.to, &confirm, &[]).is_ok());
        }
        keep(what, conversation, connections);
        return Ok(());
    }
    Ok(())
}

/// Sends the request into the open connection to the replier, or into a new conversation.
fn send(
    device: &Device,
    what: &Call,
    request: &Header,
    connections: &mut Connections,
) -> io::Result<Conversation> {
    let data_set = vec![0x55; what.octets];
    if what.transport == Transport::Tcp
        && let Some(mut open) = connections.remove(&what.to)
        && !open.has_ended()
        && open.send(what.to, request, &data_set).is_ok()
    {
        return Ok(open);
    }
    let mut new = match what.transport {
        Transport::Udp => Conversation::datagrams(device.address, LOOK),
        Transport::Tcp => Conversation::connection(what.to, LOOK),
    }?;
    new.send(what.to, request, &data_set)?;
    Ok(new)
}

/// Keeps a connection open for the next call to this replier.
fn keep(what: &Call, conversation: Conversation, connections: &mut Connections) {
    if what.transport == Transport::Tcp {
        connections.insert(what.to, conversation);
    }
}
