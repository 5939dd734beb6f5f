//! Sessions of message data in a capture: requests with their replies and confirmations, as a caller and a replier at
//! the place of the capture count them.
//!
//! A reply that arrives after the caller's time-out does not count for the caller, so the request has timed out.

use crate::statistics::distribution::{Distribution, Stat};
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::net::Ipv4Addr;
use tsn_trdp::message_data::{Header, Kind};

/// Most telegrams that are kept.
const MOST_TELEGRAMS: usize = 1 << 22;
/// Most repliers of one request that are distinguished.
const MOST_REPLIERS: usize = 64;

/// The sessions of one caller, with the requests of one communication identifier to one destination.
#[derive(Debug, Serialize)]
pub struct Exchange {
    /// `trdp 2000 10.0.0.1 > 10.0.0.2`.
    pub name: String,
    /// Communication identifier of the requests.
    pub com_id: u32,
    /// `udp` or `tcp`.
    pub transport: &'static str,
    /// Address of the caller.
    pub caller: Ipv4Addr,
    /// Address to which the requests go.
    pub destination: Ipv4Addr,
    /// Requests, without repetitions.
    pub requests: u64,
    /// Requests that were sent again in the same session.
    pub repeated: u64,
    /// Replies in time, one of each replier.
    pub replies: u64,
    /// Replies after the caller's time-out.
    pub late: u64,
    /// Errors in place of a reply.
    pub errors: u64,
    /// Requests without a reply in time.
    pub time_outs: u64,
    /// Requests whose time-out is after the end of the capture.
    pub open: u64,
    /// Replies that request a confirmation.
    pub queries: u64,
    /// Confirmations in time.
    pub confirmations: u64,
    /// Replies without the confirmation that they request.
    pub confirm_time_outs: u64,
    /// From a request to each of its replies in time, ns.
    pub round_trip: Option<Stat>,
    /// From a reply to its confirmation in time, ns.
    pub confirm_time: Option<Stat>,
}

#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Key {
    com_id: u32,
    caller: [u8; 4],
    destination: [u8; 4],
    tcp: bool,
}

/// One request, and what followed.
struct Session {
    key: Key,
    at: i64,
    /// The end of the caller's wait; none if it waits for ever.
    until: Option<i64>,
    repeated: u64,
    late: u64,
    errors: u64,
    repliers: Vec<Reply>,
}

struct Reply {
    source: [u8; 4],
    at: i64,
    /// Of a reply that requests a confirmation: the end of the replier's wait, if it ends.
    query: Option<Option<i64>>,
    confirmed: Option<i64>,
}

/// A telegram of message data in a capture.
#[derive(Copy, Clone)]
pub(super) struct Seen {
    pub(super) t_ns: i64,
    pub(super) source: [u8; 4],
    pub(super) destination: [u8; 4],
    pub(super) tcp: bool,
    kind: Kind,
    com_id: u32,
    session: [u8; 16],
    reply_time_out_us: u32,
}

impl Seen {
    pub(super) fn new(
        t_ns: i64,
        (source, destination): ([u8; 4], [u8; 4]),
        tcp: bool,
        header: &Header,
    ) -> Self {
        let Header { kind, com_id, session, reply_time_out_us, .. } = *header;
        Self { t_ns, source, destination, tcp, kind, com_id, session, reply_time_out_us }
    }
}

/// All telegrams so far. They are judged in the order of time, as several files may have one direction each.
#[derive(Default)]
pub(super) struct Telegrams {
    all: Vec<Seen>,
    /// Telegrams above the limit.
    pub(super) not_kept: u64,
}

impl Telegrams {
    /// Takes a telegram.
    pub(super) fn see(&mut self, seen: Seen) {
        if self.all.len() < MOST_TELEGRAMS {
            self.all.push(seen);
        } else {
            self.not_kept += 1;
        }
    }

    /// The sessions by caller, in the order of communication identifiers.
    pub(super) fn finish(mut self) -> Vec<Exchange> {
        self.all.sort_by_key(|seen| seen.t_ns);
        let mut sessions = Sessions::default();
        self.all.iter().for_each(|seen| sessions.see(seen));
        sessions.finish()
    }
}

/// All sessions so far.
#[derive(Default)]
struct Sessions {
    all: FxHashMap<[u8; 16], Session>,
    last_ns: i64,
}

impl Sessions {
    /// Takes the next telegram.
    fn see(&mut self, header: &Seen) {
        let Seen { t_ns, source, destination, tcp, .. } = *header;
        self.last_ns = self.last_ns.max(t_ns);
        let until = (header.reply_time_out_us > 0)
            .then(|| t_ns.saturating_add(i64::from(header.reply_time_out_us) * 1_000));
        let Some(session) = self.all.get_mut(&header.session) else {
            if header.kind == Kind::Request {
                let key = Key { com_id: header.com_id, caller: source, destination, tcp };
                let session =
                    Session { key, at: t_ns, until, repeated: 0, late: 0, errors: 0, repliers: Vec::new() };
                self.all.insert(header.session, session);
            }
            return;
        };
        let in_time = |until: Option<i64>| until.is_none_or(|until| t_ns <= until);
        match header.kind {
            Kind::Request => session.repeated += 1,
            Kind::Reply | Kind::ReplyQuery if !in_time(session.until) => session.late += 1,
            Kind::Reply | Kind::ReplyQuery => {
                let known = session.repliers.iter().any(|reply| reply.source == source);
                if !known && session.repliers.len() < MOST_REPLIERS {
                    let query = (header.kind == Kind::ReplyQuery).then_some(until);
                    session.repliers.push(Reply { source, at: t_ns, query, confirmed: None });
                }
            }
            Kind::Error => session.errors += 1,
            Kind::Confirm => {
                let reply = session.repliers.iter_mut().find(|reply| reply.source == destination);
                if let Some(reply) = reply
                    && reply.confirmed.is_none()
                    && reply.query.is_some_and(in_time)
                {
                    reply.confirmed = Some(t_ns);
                }
            }
            Kind::Notify => {}
        }
    }

    fn finish(self) -> Vec<Exchange> {
        let mut sessions: Vec<Session> = self.all.into_values().collect();
        sessions.sort_by_key(|session| (session.key, session.at));
        let mut found: Vec<Exchange> = Vec::new();
        for own in sessions.chunk_by(|one, other| one.key == other.key) {
            if let Some(first) = own.first() {
                found.push(exchange(first.key, own, self.last_ns));
            }
        }
        found
    }
}

fn exchange(key: Key, sessions: &[Session], end: i64) -> Exchange {
    let (mut round_trip, mut confirm_time) = (Distribution::default(), Distribution::default());
    let (caller, destination) = (Ipv4Addr::from(key.caller), Ipv4Addr::from(key.destination));
    let mut found = Exchange {
        name: format!("trdp {} {caller} > {destination}", key.com_id),
        com_id: key.com_id,
        transport: if key.tcp { "tcp" } else { "udp" },
        caller,
        destination,
        requests: sessions.len() as u64,
        repeated: 0,
        replies: 0,
        late: 0,
        errors: 0,
        time_outs: 0,
        open: 0,
        queries: 0,
        confirmations: 0,
        confirm_time_outs: 0,
        round_trip: None,
        confirm_time: None,
    };
    for (session, number) in sessions.iter().zip(0..) {
        found.repeated += session.repeated;
        found.late += session.late;
        found.errors += session.errors;
        if session.repliers.is_empty() && session.errors == 0 {
            let over = session.until.is_some_and(|until| until < end);
            *(if over { &mut found.time_outs } else { &mut found.open }) += 1;
        }
        for reply in &session.repliers {
            found.replies += 1;
            round_trip.add(reply.at.saturating_sub(session.at), number, 0);
            let Some(until) = reply.query else { continue };
            found.queries += 1;
            match reply.confirmed {
                Some(at) => {
                    found.confirmations += 1;
                    confirm_time.add(at.saturating_sub(reply.at), number, 0);
                }
                None => found.confirm_time_outs += u64::from(until.is_some_and(|until| until < end)),
            }
        }
    }
    found.round_trip = round_trip.stat();
    found.confirm_time = confirm_time.stat();
    found
}
