//! Answers requests of message data, over datagrams and connections, and waits for confirmations.

use super::device::{Answer, Device};
use super::message::{Conversation, Message};
use super::{LOOK, now_ns};
use crate::Error;
use crate::system::{socket, wait};
use serde::Serialize;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use tsn_trdp::MESSAGE_DATA_PORT;
use tsn_trdp::message_data::{Header, Kind};

/// Most connections at one time.
const MOST_CONNECTIONS: usize = 64;
/// Most replies at one time that wait for a confirmation.
const MOST_WAITING: usize = 1024;

/// Counters of requests, notifications and confirmations.
#[derive(Debug, Default, Serialize)]
pub struct Answered {
    requests: u64,
    notifications: u64,
    /// Octets of the data sets of both.
    octets: u64,
    replies: u64,
    confirmations: u64,
    /// Replies without the confirmation that they requested.
    unconfirmed: u64,
    /// Telegrams for which there is no answer here.
    no_listener: u64,
    /// Messages that are not telegrams.
    errors: u64,
}

/// The port of message data, if there is something to answer.
pub struct Answering {
    open: Option<(Conversation, TcpListener)>,
}

impl Answering {
    /// Opens the port for datagrams and for connections.
    pub fn open(device: &Device) -> Result<Self, Error> {
        if device.answer.is_empty() {
            return Ok(Self { open: None });
        }
        let failed = |error| Error::Interface(device.interface.clone(), error);
        let datagrams = Conversation::over(socket::bound_udp(MESSAGE_DATA_PORT).map_err(failed)?, LOOK);
        let listener = TcpListener::bind(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, MESSAGE_DATA_PORT));
        let listener = listener.and_then(|listener| listener.set_nonblocking(true).map(|()| listener));
        Ok(Self { open: Some((datagrams.map_err(failed)?, listener.map_err(failed)?)) })
    }

    /// Answers until the end, or until the given number of requests is answered.
    pub fn answer(self, device: &Device, over: &AtomicBool) -> Result<Answered, Error> {
        let mut found = Answered::default();
        let Some((mut datagrams, listener)) = self.open else { return Ok(found) };
        let mut connections: Vec<Conversation> = Vec::new();
        let mut waiting: Vec<([u8; 16], i64)> = Vec::new();
        let most: Option<u64> = device.answer.iter().map(|one| one.count).sum();
        while !over.load(Ordering::Relaxed) {
            let now = now_ns()?;
            let before = waiting.len();
            waiting.retain(|(_, until)| *until >= now);
            found.unconfirmed += (before - waiting.len()) as u64;
            if most.is_some_and(|most| found.requests + found.notifications >= most) && waiting.is_empty() {
                break;
            }
            // A full table of connections accepts no further one.
            let more = (connections.len() < MOST_CONNECTIONS).then_some(&listener);
            let sockets: Vec<BorrowedFd<'_>> = std::iter::once(datagrams.socket())
                .chain(connections.iter().map(Conversation::socket))
                .chain(more.map(|listener| listener.as_fd()))
                .collect();
            let failed = |error| Error::System("poll", error);
            let ready = wait::readable(&sockets, LOOK.as_millis() as i32).map_err(failed)?;
            let conversations = std::iter::once(&mut datagrams).chain(&mut connections);
            for (conversation, _) in conversations.zip(ready).filter(|(_, ready)| *ready) {
                let mut next = conversation.next();
                while let Some(message) = next {
                    handle(device, message, conversation, &mut found, &mut waiting)?;
                    next = conversation.whole();
                }
            }
            if let Some(listener) = more
                && let Ok((stream, _)) = listener.accept()
                && let Ok(connection) = Conversation::accepted(stream, LOOK)
            {
                connections.push(connection);
            }
            found.errors += connections.iter_mut().map(|one| std::mem::take(&mut one.errors)).sum::<u64>();
            connections.retain(|connection| !connection.ended);
        }
        found.errors += datagrams.errors;
        found.unconfirmed += waiting.len() as u64;
        Ok(found)
    }
}

/// Handles a telegram.
fn handle(
    device: &Device,
    message: Message,
    conversation: &mut Conversation,
    found: &mut Answered,
    waiting: &mut Vec<([u8; 16], i64)>,
) -> Result<(), Error> {
    let Message { header, data_set, from } = message;
    if header.kind == Kind::Confirm {
        let before = waiting.len();
        waiting.retain(|(session, _)| *session != header.session);
        found.confirmations += (before - waiting.len()) as u64;
        return Ok(());
    }
    let known = device.answer.iter().find(|one| one.com_id == header.com_id);
    let Some(answer) = known.filter(|_| matches!(header.kind, Kind::Request | Kind::Notify)) else {
        found.no_listener += 1;
        return Ok(());
    };
    found.octets += data_set.len() as u64;
    if header.kind == Kind::Notify {
        found.notifications += 1;
        return Ok(());
    }
    found.requests += 1;
    reply(answer, &header, from, conversation, found, waiting)
}

/// Replies to the sender of a request.
fn reply(
    answer: &Answer,
    request: &Header,
    from: Option<SocketAddrV4>,
    conversation: &mut Conversation,
    found: &mut Answered,
    waiting: &mut Vec<([u8; 16], i64)>,
) -> Result<(), Error> {
    let header = Header {
        kind: if answer.confirm { Kind::ReplyQuery } else { Kind::Reply },
        com_id: request.com_id,
        session: request.session,
        reply_time_out_us: if answer.confirm {
            u32::try_from(answer.time_out_ns / 1000).unwrap_or(u32::MAX)
        } else {
            0
        },
        source_uri: request.destination_uri,
        destination_uri: request.source_uri,
        ..Header::default()
    };
    let to = from.unwrap_or(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, MESSAGE_DATA_PORT));
    if conversation.send_to(to, &header, &vec![0xaa; answer.octets]).is_ok() {
        found.replies += 1;
        if answer.confirm && waiting.len() < MOST_WAITING {
            waiting.push((request.session, now_ns()?.saturating_add(answer.time_out_ns)));
        }
    }
    Ok(())
}
