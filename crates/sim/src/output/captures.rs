//! Captures of taps with whole frames: one pcapng per tap.

use std::collections::HashSet;
use std::io;
use std::net::Ipv4Addr;
use std::path::Path;
use tsn_capture::write::PcapNg;
use tsn_observation::{Sighting, Sink};
use tsn_plan::{Pattern, Plan, R_TAG_OCTETS, Size, Stream};
use tsn_units::{Clock, True};
use tsn_wire::build::{FrameSpec, MessageKind, MessageSpec, TelegramKind, TelegramSpec};
use tsn_wire::{Mac, Tag};

/// One file per tap.
#[derive(Debug)]
pub(crate) struct Captures {
    files: Vec<PcapNg>,
    streams: Vec<Template>,
    /// By stream of message data that answers: the number of the request of each frame.
    requests: Vec<Vec<u64>>,
    bytes: Vec<u8>,
}

/// The part that all frames of a stream share.
#[derive(Debug)]
pub(crate) struct Template {
    pub(crate) frame: FrameSpec,
    /// The destination address of member streams.
    copied_to: Mac,
    /// First intended release and period in ns, where frames have a timetable.
    timetable: Option<(i64, i64)>,
    /// The stream whose session its frames of message data have; none if they begin sessions.
    session_of: Option<u32>,
}

impl Captures {
    /// Creates the folder and a file per tap, named after the tap.
    pub fn create(folder: &Path, plan: &Plan) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let mut files = Vec::with_capacity(plan.taps.len());
        for (tap, name) in plan.taps.iter().zip(file_names(plan)) {
            let node = plan.ports.get(tap.port as usize).and_then(|port| plan.nodes.get(port.node as usize));
            let clock = node.filter(|_| plan.clocks.is_some()).map_or(True::NAME, |node| node.name.as_str());
            files.push(PcapNg::create(&folder.join(name), &tap.name, clock)?);
        }
        let streams =
            plan.streams.iter().zip(0..).map(|(stream, number)| Template::new(plan, stream, number));
        let streams: Vec<_> = streams.collect::<io::Result<_>>()?;
        Ok(Self { files, requests: vec![Vec::new(); streams.len()], streams, bytes: Vec::new() })
    }

    /// Writes the rest of the buffers.
    pub fn finish(self) -> io::Result<()> {
        self.files.into_iter().try_for_each(PcapNg::finish)
    }

    /// Stream and number of the frame that began the session of a frame; none if it began the session itself.
    fn begun_by(&self, stream: u32, seq: u64) -> Option<(u32, u64)> {
        let (mut stream, mut seq, mut found) = (stream, seq, None);
        while let Some(request) = self.streams.get(stream as usize)?.session_of {
            seq = *self.requests.get(stream as usize)?.get(usize::try_from(seq).ok()?)?;
            stream = request;
            found = Some((stream, seq));
        }
        found
    }
}

impl Sink for Captures {
    fn sight(&mut self, sighting: Sighting) -> io::Result<()> {
        let begun_by = self.begun_by(sighting.stream, sighting.seq);
        let template = self.streams.get(sighting.stream as usize);
        let file = self.files.get_mut(usize::from(sighting.tap));
        let (Some(template), Some(file), Some(t_ns)) = (template, file, sighting.t_ns) else { return Ok(()) };
        let intended_ns = template.timetable.map_or(0, |(first, period)| {
            i64::try_from(sighting.seq).unwrap_or(i64::MAX).saturating_mul(period).saturating_add(first)
        });
        // A frame of a member stream has an R-TAG.
        let is_copy = sighting.copy > 0;
        let octets = sighting.octets.saturating_sub(if is_copy { R_TAG_OCTETS } else { 0 });
        // Priorities may be regenerated on the path, and active identification changes frames of member streams.
        let tag = template.frame.tag.map(|tag| Tag { pcp: sighting.pcp, vid: sighting.vid, ..tag });
        let destination = if is_copy { template.copied_to } else { template.frame.destination };
        let mut frame =
            FrameSpec { octets, destination, tag, seq: sighting.seq, intended_ns, ..template.frame };
        if let Some(message) = frame.telegram.as_mut().and_then(|telegram| telegram.message.as_mut()) {
            message.begun_by = begun_by;
        }
        tsn_wire::build::frame(&frame, &mut self.bytes).map_err(io::Error::other)?;
        if is_copy {
            let number = (sighting.seq & 0xffff) as u16;
            tsn_wire::build::add_redundancy_tag(frame.tag.is_some(), number, &mut self.bytes);
        }
        file.frame(t_ns, &self.bytes, self.bytes.len() as u32)
    }

    fn answer(&mut self, stream: u32, seq: u64, request: u64) -> io::Result<()> {
        let requests = self.requests.get_mut(stream as usize);
        if let Some(requests) = requests.filter(|requests| requests.len() as u64 == seq) {
            requests.push(request);
        }
        Ok(())
    }

    fn frame(&mut self, sighting: Sighting, octets: &[u8]) -> io::Result<()> {
        let file = self.files.get_mut(usize::from(sighting.tap));
        let (Some(file), Some(t_ns)) = (file, sighting.t_ns) else { return Ok(()) };
        file.frame(t_ns, octets, octets.len() as u32)
    }
}

impl Template {
    pub(crate) fn new(plan: &Plan, stream: &Stream, number: u32) -> io::Result<Self> {
        let wrong = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
        let mac = |text: &str| text.parse::<Mac>().map_err(|error| wrong(error.to_string()));
        let ipv4 = |text: &str| {
            let address = text.parse::<Ipv4Addr>();
            address
                .map(|ip| ip.octets())
                .map_err(|_| wrong(format!("expected an IPv4 address, found {text:?}")))
        };
        let port = stream.route.first().and_then(|hop| plan.ports.get(hop.port as usize));
        let talker = plan.nodes.get(stream.talker as usize);
        let (Some(port), Some(talker)) = (port, talker) else {
            return Err(wrong(format!("stream {:?} has no route", stream.name)));
        };
        let timetable = match (&stream.pattern, &stream.size) {
            (Pattern::Periodic { period_ns, offset_ns, .. }, Size::Frame { .. })
                if stream.answers.is_none() && !stream.any_phase =>
            {
                let ns = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX);
                Some((ns(stream.start_ns.saturating_add(*offset_ns)), ns(*period_ns)))
            }
            _ => None,
        };
        let frame = FrameSpec {
            destination: mac(&stream.destination_mac)?,
            source: mac(&port.mac)?,
            tag: stream.vid.map(|vid| Tag { pcp: stream.pcp, dei: false, vid }),
            ipv4_source: ipv4(&talker.ipv4)?,
            ipv4_destination: ipv4(&stream.destination_ipv4)?,
            udp_port: stream.udp_port,
            octets: 0,
            stream: number,
            seq: 0,
            intended_ns: 0,
            type_of_service: stream.type_of_service,
            telegram: stream.trdp.as_deref().map(telegram),
        };
        let copied_to = match stream.rewritten() {
            None => frame.destination,
            Some(rewritten) => mac(&rewritten.destination_mac)?,
        };
        let kind = stream.trdp.as_deref().map(|trdp| trdp.kind);
        let session_of = kind.and_then(tsn_plan::TelegramKind::answers).and(stream.answers);
        Ok(Self { frame, copied_to, timetable, session_of: session_of.map(|answers| answers.stream) })
    }
}

/// The telegram of each frame of a stream, but for its session.
fn telegram(trdp: &tsn_plan::Trdp) -> TelegramSpec {
    use tsn_plan::TelegramKind as Kind;
    let (kind, message) = match trdp.kind {
        Kind::Push => (TelegramKind::Push, None),
        Kind::Request => (TelegramKind::Request, None),
        Kind::Reply => (TelegramKind::Reply, None),
        Kind::MessageNotify => (TelegramKind::Push, Some(MessageKind::Notify)),
        Kind::MessageRequest => (TelegramKind::Push, Some(MessageKind::Request)),
        Kind::MessageReply => (TelegramKind::Push, Some(MessageKind::Reply)),
        Kind::MessageReplyQuery => (TelegramKind::Push, Some(MessageKind::ReplyQuery)),
        Kind::MessageConfirm => (TelegramKind::Push, Some(MessageKind::Confirm)),
        Kind::MessageError => (TelegramKind::Push, Some(MessageKind::Error)),
    };
    let message = message.map(|kind| MessageSpec {
        kind,
        reply_time_out_us: u32::try_from(trdp.time_out_ns / 1_000).unwrap_or(u32::MAX),
        reply_status: trdp.reply_status,
        begun_by: None,
    });
    TelegramSpec {
        message,
        kind,
        reply_com_id: trdp.reply_com_id,
        com_id: trdp.com_id,
        header_octets: trdp.header_octets,
        data_set_octets: trdp.data_set_octets,
        etb_topo_count: trdp.etb_topo_count,
        op_trn_topo_count: trdp.op_trn_topo_count,
        service_id: trdp.service_id,
    }
}

/// The file names of the captures of a plan's taps, tap by tap.
pub(crate) fn file_names(plan: &Plan) -> Vec<String> {
    let mut taken = HashSet::new();
    plan.taps.iter().map(|tap| file_name(&tap.name, &mut taken)).collect()
}

/// The file name for a tap's name: `zgw1 -> zgw2 tx` becomes `zgw1-zgw2-tx.pcapng`. Equal file names get numbers.
fn file_name(tap: &str, taken: &mut HashSet<String>) -> String {
    let words = tap.split(|letter: char| !letter.is_alphanumeric() && !"_.".contains(letter));
    let mut stem = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-");
    if stem.trim_matches('.').is_empty() {
        stem = "tap".into();
    }
    let stem: String = stem.chars().take(50).collect();
    let numbered =
        (1..).map(|n| if n == 1 { format!("{stem}.pcapng") } else { format!("{stem}-{n}.pcapng") });
    numbered.into_iter().find(|name| taken.insert(name.to_lowercase())).unwrap_or(stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taps_are_files_of_their_own() {
        let mut taken = HashSet::new();
        for (tap, file) in [
            ("zgw1 -> zgw2 tx", "zgw1-zgw2-tx.pcapng"),
            ("zgw1->zgw2/tx", "zgw1-zgw2-tx-2.pcapng"),
            ("../../etc", "..-..-etc.pcapng"),
            ("..", "tap.pcapng"),
            ("", "tap-2.pcapng"),
            ("träger", "träger.pcapng"),
        ] {
            assert_eq!(file_name(tap, &mut taken), file, "{tap}");
        }
    }
}
