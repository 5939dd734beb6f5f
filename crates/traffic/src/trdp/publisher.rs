//! One publication or request: its socket, its sequence numbers, its telegrams.

use super::counters::{Published, Spread};
use super::device::{Device, Pattern, Publication};
use crate::Error;
use crate::system::error_queue::SendReport;
use crate::system::socket::{Socket, TxTime};
use std::net::{Ipv4Addr, SocketAddrV4};
use tsn_trdp::{process_data, tsn, type_of_service};
use tsn_wire::payload::tsnbench;

/// Octets of a datagram that the kernel returns with its report.
const HEAD: usize = 64;

/// A running publication.
#[derive(Debug)]
pub struct Publisher {
    socket: Socket,
    what: Publication,
    kind: process_data::Kind,
    sequence: u32,
    stream: u32,
    octets: Vec<u8>,
    counted: Published,
}

impl Publisher {
    /// Opens the socket; `stream` is the publication's number in test payloads.
    pub fn open(
        device: &Device,
        what: &Publication,
        kind: process_data::Kind,
        stream: u32,
    ) -> Result<Self, Error> {
        let failed = |error| Error::Interface(device.interface.clone(), error);
        let socket =
            Socket::datagrams(&device.interface, device.address, type_of_service(what.qos), what.ttl)
                .map_err(failed)?;
        if what.launch_ahead_ns.is_some() {
            socket.want_launch_times(TxTime::Strict, true).map_err(failed)?;
        }
        let counted = Published {
            com_id: what.com_id,
            to: what.to,
            sent: 0,
            refused: 0,
            late_ns: None,
            launch_times_missed: 0,
            launch_times_invalid: 0,
        };
        Ok(Self { socket, what: what.clone(), kind, sequence: 0, stream, octets: Vec::new(), counted })
    }

    /// The description of the publication.
    pub fn what(&self) -> &Publication {
        &self.what
    }

    /// Whether all its telegrams are sent.
    pub fn done(&self) -> bool {
        self.what.count.is_some_and(|count| self.counted.sent + self.counted.refused >= count)
    }

    /// Sends a telegram with the intended time `intended_ns`, with this data set or one of its own, to the
    /// publication's address or to another one.
    pub fn send(
        &mut self,
        intended_ns: i64,
        now_ns: i64,
        data_set: Option<&[u8]>,
        to: Option<Ipv4Addr>,
    ) -> Result<(), Error> {
        let what = &self.what;
        let mut own = Vec::new();
        let data_set = data_set.unwrap_or_else(|| {
            let seq = u64::from(self.sequence);
            tsnbench::Repr { stream: self.stream, seq, intended_ns: Some(intended_ns) }
                .emit(what.octets, &mut own);
            &own
        });
        self.octets.clear();
        let refused = |error: tsn_trdp::Error| Error::Usage(format!("comId {}: {error}", what.com_id));
        match what.pattern {
            Pattern::Tsn => {
                let length = if what.short_header { tsn::Length::Sixteen } else { tsn::Length::Twenty };
                let header = tsn::Header {
                    sequence: self.sequence,
                    com_id: what.com_id,
                    service_id: what.service_id,
                    length,
                    ..tsn::Header::default()
                };
                header.emit(data_set, &mut self.octets).map_err(refused)?;
            }
            Pattern::Push | Pattern::Pull => {
                let header = process_data::Header {
                    sequence: self.sequence,
                    kind: self.kind,
                    com_id: what.com_id,
                    etb_topo_count: what.topography.0,
                    op_trn_topo_count: what.topography.1,
                    service_id: what.service_id,
                    reply_com_id: what.reply_com_id,
                    reply_address: what.reply_to.map_or([0; 4], |to| to.octets()),
                    ..process_data::Header::default()
                };
                header.emit(data_set, &mut self.octets).map_err(refused)?;
            }
        }
        self.sequence = self.sequence.wrapping_add(1);
        let launch_ns = what.launch_ahead_ns.and_then(|_| u64::try_from(intended_ns).ok());
        let to = SocketAddrV4::new(to.unwrap_or(what.to), what.port);
        match self.socket.send_to(what.qos, &self.octets, to, launch_ns) {
            Ok(()) => self.counted.sent += 1,
            Err(_) => self.counted.refused += 1,
        }
        let due_ns = intended_ns.saturating_sub(what.launch_ahead_ns.unwrap_or(0));
        Spread::add(&mut self.counted.late_ns, now_ns.saturating_sub(due_ns));
        self.take_notices();
        Ok(())
    }

    fn take_notices(&mut self) {
        let mut head = [0; HEAD];
        while let Some((report, _)) = self.socket.next_report(&mut head) {
            match report {
                SendReport::Missed => self.counted.launch_times_missed += 1,
                SendReport::Invalid => self.counted.launch_times_invalid += 1,
                SendReport::Qdisc(_) | SendReport::Driver(_) | SendReport::Hardware(_) => {}
            }
        }
    }

    /// The counters of the publication.
    pub fn finish(mut self) -> Published {
        self.take_notices();
        self.counted
    }
}
