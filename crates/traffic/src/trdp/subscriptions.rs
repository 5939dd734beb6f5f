//! Receives process data, counts it by subscription, and replies to requests.

use super::counters::{Published, Spread};
use super::device::{Device, Pattern, Subscribed};
use super::publisher::Publisher;
use super::{LOOK, now_ns};
use crate::Error;
use crate::system::socket;
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tsn_trdp::process_data::Kind;
use tsn_trdp::{Arrival, Counts, PROCESS_DATA_PORT, Subscription, Telegram, tsn};
use tsn_wire::payload::tsnbench;

/// Octets of the longest datagram.
const LONGEST: usize = 65_536;
/// The greatest possible delay: a longer one shows that the two ends have different zeros.
const LONGEST_DELAY_NS: i64 = 3_600_000_000_000;

/// Counters of a listener.
#[derive(Debug, Serialize)]
pub struct Heard {
    subscribe: Vec<Taken>,
    /// Wrong check sequences.
    check_errors: u64,
    /// Messages that are not telegrams for another reason.
    protocol_errors: u64,
    /// Telegrams without a subscription here.
    not_subscribed: u64,
}

/// The counters of a subscription.
#[derive(Debug, Serialize)]
struct Taken {
    com_id: u32,
    taken: u64,
    gaps: u64,
    missed: u64,
    repeated: u64,
    old: u64,
    restarted: u64,
    time_outs: u64,
    topography: u64,
    /// Octets of the smallest and the largest data set.
    data_set_octets: Option<(u32, u32)>,
    /// Time from one accepted telegram to the next.
    interval_ns: Option<Spread>,
    /// Delay from the intended time to the program, if publishers send it.
    delay_ns: Option<Spread>,
    /// The age of the last value at the end.
    age_ns: Option<i64>,
}

/// The data sets received last, for publications that send them back.
#[derive(Clone, Debug, Default)]
pub struct Echoes(Arc<Mutex<BTreeMap<u32, Vec<u8>>>>);

impl Echoes {
    /// The last data set with this communication identifier.
    pub fn last(&self, com_id: u32) -> Option<Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&com_id).cloned()
    }

    fn keep(&self, com_id: u32, data_set: &[u8]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(com_id, data_set.to_vec());
    }
}

/// A running subscription.
struct Sub {
    what: Subscribed,
    machine: Subscription,
    data_set_octets: Option<(u32, u32)>,
    interval_ns: Option<Spread>,
    delay_ns: Option<Spread>,
    last_ns: Option<i64>,
}

/// A socket at the port of process data, if there is a subscription or pulled data.
pub struct Listener {
    socket: Option<UdpSocket>,
    pulled: Vec<Publisher>,
    echoes: Echoes,
}

impl Listener {
    /// Opens the port and joins the groups.
    pub fn open(device: &Device) -> Result<Self, Error> {
        let pulled: Vec<Publisher> = device
            .publish
            .iter()
            .zip(0..)
            .filter(|(what, _)| what.pattern == Pattern::Pull)
            .map(|(what, stream)| Publisher::open(device, what, Kind::Reply, stream))
            .collect::<Result<_, _>>()?;
        let mut found = Self { socket: None, pulled, echoes: Echoes::default() };
        if device.subscribe.is_empty() && found.pulled.is_empty() {
            return Ok(found);
        }
        let failed = |error| Error::Interface(device.interface.clone(), error);
        let socket = socket::bound_udp(PROCESS_DATA_PORT).map_err(failed)?;
        let mut groups: Vec<Ipv4Addr> = device.subscribe.iter().filter_map(|one| one.group).collect();
        groups.sort_unstable();
        groups.dedup();
        for group in groups {
            socket.join_multicast_v4(&group, &device.address).map_err(failed)?;
        }
        socket.set_read_timeout(Some(LOOK)).map_err(failed)?;
        found.socket = Some(socket);
        Ok(found)
    }

    /// The last data sets, for publications.
    pub fn echoes(&self) -> Echoes {
        self.echoes.clone()
    }

    /// Listens until the end, or until all subscriptions are done.
    pub fn listen(self, device: &Device, over: &AtomicBool) -> Result<(Heard, Vec<Published>), Error> {
        let mut heard =
            Heard { subscribe: Vec::new(), check_errors: 0, protocol_errors: 0, not_subscribed: 0 };
        let Self { socket, mut pulled, echoes } = self;
        let mut subs: Vec<Sub> = device.subscribe.iter().map(Sub::new).collect();
        let mut octets = vec![0; LONGEST];
        while let Some(socket) = &socket
            && !over.load(Ordering::Relaxed)
        {
            let counted = || subs.iter().filter(|sub| sub.what.count.is_some());
            if counted().next().is_some() && counted().all(Sub::done) {
                break;
            }
            let (length, from) = match socket.recv_from(&mut octets) {
                Ok((length, SocketAddr::V4(from))) => (length, *from.ip()),
                Ok(_) => continue,
                // No telegram arrived within the time limit.
                Err(_) => {
                    let now = now_ns()?;
                    subs.iter_mut().for_each(|sub| _ = sub.machine.look(now));
                    continue;
                }
            };
            let now = now_ns()?;
            let telegram = match Telegram::parse(octets.get(..length).unwrap_or_default()) {
                Ok(Telegram::MessageData(..)) => Err(false),
                Ok(Telegram::Tsn(tsn::Header { length: tsn::Length::Sixteen, .. }, _))
                    if !device.short_headers =>
                {
                    // A device that accepts only headers of 20 octets reads the check sequence at another place.
                    Err(true)
                }
                Ok(found) => Ok(found),
                Err(error) => Err(matches!(error, tsn_trdp::Error::CheckSequence { .. })),
            };
            let telegram = match telegram {
                Ok(found) => found,
                Err(check) => {
                    *(if check { &mut heard.check_errors } else { &mut heard.protocol_errors }) += 1;
                    continue;
                }
            };
            let mut wanted = false;
            for sub in subs.iter_mut().filter(|sub| sub.matches(&telegram, from)) {
                wanted = true;
                if sub.take(now, from, &telegram) {
                    echoes.keep(telegram.com_id(), telegram.data_set());
                }
            }
            if let Telegram::ProcessData(header, _) = telegram
                && header.kind == Kind::Request
                // A request to a group comes back to its sender.
                && from != device.address
            {
                let com_id = if header.reply_com_id == 0 { header.com_id } else { header.reply_com_id };
                for one in pulled.iter_mut().filter(|one| one.what().com_id == com_id) {
                    wanted = true;
                    let to = Ipv4Addr::from(header.reply_address);
                    let to = if to.is_unspecified() { from } else { to };
                    let echo = one.what().echo.and_then(|from| echoes.last(from));
                    one.send(now, now_ns()?, echo.as_deref(), Some(to))?;
                }
            }
            heard.not_subscribed += u64::from(!wanted && from != device.address);
        }
        let now = now_ns()?;
        heard.subscribe = subs.into_iter().map(|sub| sub.finish(now)).collect();
        Ok((heard, pulled.into_iter().map(Publisher::finish).collect()))
    }
}

impl Sub {
    fn new(what: &Subscribed) -> Self {
        let machine = Subscription::new(Some(what.time_out_ns));
        let machine = machine.with_topography(what.topography.0, what.topography.1);
        Self {
            what: what.clone(),
            machine,
            data_set_octets: None,
            interval_ns: None,
            delay_ns: None,
            last_ns: None,
        }
    }

    fn done(&self) -> bool {
        self.what.count.is_some_and(|count| self.machine.counts().taken >= count)
    }

    fn matches(&self, telegram: &Telegram<'_>, from: Ipv4Addr) -> bool {
        telegram.com_id() == self.what.com_id && self.what.from.is_none_or(|own| own == from)
    }

    /// Counts a telegram; returns whether a subscription took it.
    fn take(&mut self, now_ns: i64, from: Ipv4Addr, telegram: &Telegram<'_>) -> bool {
        let source = (from.octets(), telegram.kind_number());
        let arrival = match telegram {
            Telegram::ProcessData(header, _) => self.machine.receive_with_topography(
                now_ns,
                source,
                header.sequence,
                (header.etb_topo_count, header.op_trn_topo_count),
            ),
            other => self.machine.receive(now_ns, source, other.sequence()),
        };
        if !matches!(arrival, Arrival::Taken { .. } | Arrival::Restarted) {
            return false;
        }
        let octets = telegram.data_set_octets();
        let (least, most) = self.data_set_octets.unwrap_or((octets, octets));
        self.data_set_octets = Some((least.min(octets), most.max(octets)));
        if let Some(last) = self.last_ns.replace(now_ns) {
            Spread::add(&mut self.interval_ns, now_ns.saturating_sub(last));
        }
        let intended =
            tsnbench::Repr::parse(telegram.data_set()).ok().and_then(|payload| payload.intended_ns);
        let delay = intended.map(|intended| now_ns.saturating_sub(intended));
        if let Some(delay) = delay.filter(|delay| delay.abs() < LONGEST_DELAY_NS) {
            Spread::add(&mut self.delay_ns, delay);
        }
        true
    }

    fn finish(mut self, now_ns: i64) -> Taken {
        self.machine.look(now_ns);
        let Counts { taken, gaps, missed, repeated, old, restarted, time_outs, topography } =
            self.machine.counts();
        Taken {
            com_id: self.what.com_id,
            taken,
            gaps,
            missed,
            repeated,
            old,
            restarted,
            time_outs,
            topography,
            data_set_octets: self.data_set_octets,
            interval_ns: self.interval_ns,
            delay_ns: self.delay_ns,
            age_ns: self.machine.age_ns(now_ns),
        }
    }
}
