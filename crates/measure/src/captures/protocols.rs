//! What the frames of protocols with numbers of their own say besides the numbers, in a capture of one place.
//!
//! PTP by type of message: intervals against `logMessageInterval`, corrections, and messages that pass twice (at both
//! sides of a transparent clock). AVTP: presentation time against arrival. PROFINET: data status. EtherCAT: working
//! counters.

use crate::flow::{FlowKey, VisibleFields};
use crate::statistics::distribution::{Distribution, Stat};
use rustc_hash::FxHashMap;
use serde::Serialize;
use tsn_wire::dissect::Dissected;
use tsn_wire::payload::{avtp, ethercat, profinet};
use tsn_wire::ptp_message as ptp;
use tsn_wire::recognise::Format;

/// The format that this version writes.
pub const FORMAT: &str = "tsnbench-protocols/1";
/// TAI minus UTC since 2017, ns.
const TAI_AHEAD_NS: i64 = 37_000_000_000;
/// Presentation times that are further from the arrival, ns, are of another clock than the capture's.
const SAME_CLOCK_NS: i64 = 250_000_000;
/// A message of PTP with the same number within this time, ns, is the same message.
const SAME_MESSAGE_NS: i64 = 100_000_000;

/// What a capture says.
#[derive(Debug, Serialize)]
pub struct ProtocolMeasures {
    /// [`FORMAT`].
    pub format: &'static str,
    /// PTP: one entry per type of message, domain and port.
    pub ptp: Vec<PtpStream>,
    /// Other protocols: one entry per stream.
    pub streams: Vec<ProtocolStream>,
}

/// The messages of one type, domain and port.
#[derive(Debug, Serialize)]
pub struct PtpStream {
    /// The name of the stream, as in other measures.
    pub stream: String,
    /// `messageType` in the standard's word.
    pub message: &'static str,
    /// `domainNumber`.
    pub domain: u8,
    /// `majorSdoId`: 1 for gPTP.
    pub sdo: u8,
    /// `sourcePortIdentity`.
    pub port: String,
    /// Messages, each counted once.
    pub messages: u64,
    /// Numbers that are missing between two messages.
    pub missing: u64,
    /// 2 to the power of `logMessageInterval`, ns, if the messages have one.
    pub interval_told_ns: Option<i64>,
    /// From one message to the next, ns, without those behind a gap.
    pub interval: Option<Stat>,
    /// `correctionField`, ns, rounded down.
    pub correction: Option<Stat>,
    /// Messages that passed again: the time between, ns. Both sides of a transparent clock show its residence.
    pub again: Option<Stat>,
    /// By how much the correction of messages that passed again had grown, ns.
    pub correction_added: Option<Stat>,
}

/// A stream of another protocol.
#[derive(Debug, Default, Serialize)]
pub struct ProtocolStream {
    /// The name of the stream, as in other measures.
    pub stream: String,
    /// Frames.
    pub frames: u64,
    /// AVTP: presentation time minus arrival, ns; negative is late. None if the capture has another clock.
    pub margin: Option<Stat>,
    /// AVTP: frames that arrived after their presentation time.
    pub late: Option<u64>,
    /// AVTP: the offset that was added to the capture's times, ns: 37 s if they are UTC.
    pub clock_offset_ns: Option<i64>,
    /// PROFINET: frames whose data status is not valid, not running, or has a problem, or with a transfer status.
    pub bad_status: Option<u64>,
    /// EtherCAT: smallest and largest sum of working counters.
    pub working_counter: Option<[u32; 2]>,
}

/// A stream while it is read.
#[derive(Default)]
struct Stream {
    name: String,
    frames: u64,
    first: Option<ptp::Repr>,
    messages: u64,
    missing: u64,
    log_interval: Option<i8>,
    interval: Distribution,
    correction: Distribution,
    again: Distribution,
    correction_added: Distribution,
    last: Option<(u16, Option<i64>)>,
    /// The first sighting of each number: time, correction in ps.
    seen: FxHashMap<u16, (i64, i64)>,
    margins: [Distribution; 2],
    late: [u64; 2],
    bad_status: Option<u64>,
    working_counter: Option<[u32; 2]>,
}

/// The frames of a capture, one after the other.
#[derive(Default)]
pub(super) struct Protocols {
    places: FxHashMap<FlowKey, usize>,
    streams: Vec<(Format, Stream)>,
}

impl Protocols {
    /// Adds a frame.
    pub(super) fn see(&mut self, frame: &Dissected<'_>, t_ns: Option<i64>) {
        let visible = VisibleFields { source: true, destination: true, tag: true };
        let (key @ FlowKey::Counted { format, .. }, _) = FlowKey::with_counter(frame, visible) else {
            return;
        };
        if !matches!(format, Format::Ptp | Format::Avtp | Format::Profinet | Format::EtherCat) {
            return;
        }
        let streams = &mut self.streams;
        let place = *self.places.entry(key).or_insert_with_key(|key| {
            let name = key.name(format, frame);
            streams.push((format, Stream { name, ..Stream::default() }));
            streams.len() - 1
        });
        streams[place].1.see(format, frame, t_ns);
    }

    /// What they say.
    pub(super) fn measures(self) -> ProtocolMeasures {
        let (ptp, others): (Vec<_>, Vec<_>) =
            self.streams.into_iter().partition(|(format, _)| *format == Format::Ptp);
        ProtocolMeasures {
            format: FORMAT,
            ptp: ptp.into_iter().filter_map(|(_, stream)| stream.into_ptp()).collect(),
            streams: others.into_iter().map(|(_, stream)| stream.into_other()).collect(),
        }
    }
}

impl Stream {
    fn see(&mut self, format: Format, frame: &Dissected<'_>, t_ns: Option<i64>) {
        self.frames += 1;
        match format {
            Format::Ptp => {
                if let Ok(message) = ptp::Repr::parse(frame.payload) {
                    self.see_message(&message, t_ns);
                }
            }
            Format::Avtp => {
                let begin = if frame.ports.is_some() { avtp::IN_DATAGRAM } else { 0 };
                let found = avtp::Repr::parse(frame.payload.get(begin..).unwrap_or_default());
                if let (Some(time), Some(t_ns)) = (found.ok().and_then(|found| found.presentation_ns), t_ns) {
                    self.see_presentation(time, t_ns);
                }
            }
            Format::Profinet => {
                if let Ok(found) = profinet::Repr::parse(frame.payload) {
                    // Bits 2, 4, 5: valid, running, no problem.
                    let bad = found.data_status & 0x34 != 0x34 || found.transfer_status != 0;
                    *self.bad_status.get_or_insert(0) += u64::from(bad);
                }
            }
            _ => {
                if let Ok(ethercat::Repr { working_counter: found, .. }) =
                    ethercat::Repr::parse(frame.payload)
                {
                    let [least, most] = self.working_counter.unwrap_or([found; 2]);
                    self.working_counter = Some([least.min(found), most.max(found)]);
                }
            }
        }
    }

    fn see_message(&mut self, message: &ptp::Repr, t_ns: Option<i64>) {
        self.first.get_or_insert(*message);
        self.log_interval = message.log_interval;
        let correction_ps = message.correction_ps();
        if let (Some(now), Some((first, before_ps))) = (t_ns, self.seen.get(&message.sequence)) {
            let apart = now.saturating_sub(*first);
            if apart.abs() <= SAME_MESSAGE_NS {
                self.again.add(apart, message.sequence.into(), 0);
                let added = correction_ps.saturating_sub(*before_ps).div_euclid(1_000);
                self.correction_added.add(added, message.sequence.into(), 0);
                return;
            }
        }
        self.messages += 1;
        self.correction.add(correction_ps.div_euclid(1_000), message.sequence.into(), 0);
        if let Some(now) = t_ns {
            self.seen.insert(message.sequence, (now, correction_ps));
        }
        if let Some((last, last_ns)) = self.last {
            match message.sequence.wrapping_sub(last) {
                1 => {
                    if let (Some(now), Some(before)) = (t_ns, last_ns) {
                        self.interval.add(now.saturating_sub(before), message.sequence.into(), 0);
                    }
                }
                0 => {}
                // Larger steps are messages out of order, or a port that began again.
                step @ 2..=0x7fff => self.missing += u64::from(step) - 1,
                _ => {}
            }
        }
        self.last = Some((message.sequence, t_ns));
    }

    fn see_presentation(&mut self, time: u32, t_ns: i64) {
        for (place, offset) in [0, TAI_AHEAD_NS].into_iter().enumerate() {
            let arrival = (t_ns.saturating_add(offset) & 0xffff_ffff) as u32;
            let margin = i64::from(time.wrapping_sub(arrival).cast_signed());
            self.margins[place].add(margin, self.frames - 1, 0);
            self.late[place] += u64::from(margin < 0);
        }
    }

    fn into_ptp(self) -> Option<PtpStream> {
        let first = self.first?;
        let interval_told_ns = self.log_interval.and_then(|log| match log {
            0..=30 => 1_000_000_000_i64.checked_shl(u32::from(log.unsigned_abs())),
            -29..0 => Some(1_000_000_000 >> log.unsigned_abs()),
            _ => None,
        });
        Some(PtpStream {
            stream: self.name,
            message: first.kind_name(),
            domain: first.domain,
            sdo: first.sdo,
            port: ptp::port_text(first.source),
            messages: self.messages,
            missing: self.missing,
            interval_told_ns,
            interval: self.interval.stat(),
            correction: self.correction.stat(),
            again: self.again.stat(),
            correction_added: self.correction_added.stat(),
        })
    }

    fn into_other(self) -> ProtocolStream {
        let near = |stat: &Stat| {
            stat.median.abs() <= SAME_CLOCK_NS && stat.p99.saturating_sub(stat.min) <= SAME_CLOCK_NS
        };
        let margins = self.margins.iter().map(Distribution::stat);
        let chosen = margins.enumerate().filter_map(|(place, stat)| Some((place, stat?)));
        let chosen = chosen.filter(|(_, stat)| near(stat)).min_by_key(|(_, stat)| stat.median.abs());
        ProtocolStream {
            stream: self.name,
            frames: self.frames,
            late: chosen.as_ref().map(|(place, _)| self.late[*place]),
            clock_offset_ns: chosen.as_ref().map(|(place, _)| [0, TAI_AHEAD_NS][*place]),
            margin: chosen.map(|(_, stat)| stat),
            bad_status: self.bad_status,
            working_counter: self.working_counter,
        }
    }
}
