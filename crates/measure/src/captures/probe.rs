//! Reads the begin of both sides to find the frames' formats, the fields that both sides contain, and the offset
//! between their clocks.

use super::capture_file::CaptureFile;
use super::captured_frame::CapturedFrame;
use super::contents::Contents;
use super::numbering::Numbering;
use super::streams::{Known, Streams};
use super::{End, side::Side};
use crate::Error;
use crate::flow::{FlowKey, VisibleFields};
use crate::statistics::path_statistics::PathOptions;
use crate::statistics::scale::{Numbers, Scale};
use rustc_hash::FxHashMap;
use tsn_wire::counter::{Counter, counter, counters};
use tsn_wire::dissect::{Dissected, dissect};
use tsn_wire::payload::rtc_testbench;
use tsn_wire::recognise::{Evidence, Format, marked};
use tsn_wire::redundancy::Scheme;

/// Frames per file that are probed.
const PROBE_FRAMES: usize = 20_000;
/// Clocks whose first timestamps differ by more than this, in ns, are assumed to have different epochs.
const SAME_EPOCH_NS: u64 = 3_600_000_000_000;

/// The findings at the begin of both sides.
pub(super) struct Probed {
    pub(super) known: Known,
    /// The receiving side's timestamp minus the sending side's, for the same frame.
    pub(super) ahead_ns: i64,
}

/// The evidence for the format of one stream's frames.
#[derive(Default)]
struct StreamEvidence {
    marked: Option<Format>,
    evidence: [Evidence; 2],
    highest_in_cycle: u32,
    numbers: [Numbers; 2],
    /// Frames of each side, and those of them with the number that copies share.
    frames: [u64; 2],
    numbered: [u64; 2],
    scheme: Option<Scheme>,
}

/// The fields that every frame of one side contains.
#[derive(Copy, Clone)]
struct SideFields {
    source: bool,
    destination: bool,
    tag: bool,
}

pub(super) fn probe(tx: &[CaptureFile], rx: &[CaptureFile]) -> Result<Probed, Error> {
    let mut hash_octets = usize::MAX;
    let mut sides = [SideFields { source: true, destination: true, tag: false }; 2];
    for (paths, side) in [tx, rx].into_iter().zip(&mut sides) {
        read_beginning(paths, |frame, cut| {
            side.source &= frame.source().is_some();
            side.destination &= frame.destination().is_some();
            side.tag |= frame.tag.is_some();
            if cut {
                hash_octets = hash_octets.min(frame.packet.len());
            }
        })?;
    }
    let visible = VisibleFields {
        source: sides.iter().all(|side| side.source),
        destination: sides.iter().all(|side| side.destination),
        tag: sides.iter().all(|side| side.tag),
    };
    let mut notes: FxHashMap<FlowKey, StreamEvidence> = FxHashMap::default();
    let mut contents = Contents::new(hash_octets);
    let mut message_octets = usize::MAX;
    for (paths, side) in [(tx, 0), (rx, 1)] {
        read_beginning(paths, |frame, _| {
            let key = FlowKey::of(frame, visible);
            let found = counter(frame).filter(|_| !matches!(key, FlowKey::Tsnbench(_)));
            if found.is_some_and(|found| found.cut) {
                message_octets = message_octets.min(frame.packet.len());
            }
            let all = if found.is_some_and(|found| found.several) { counters(frame) } else { Vec::new() };
            contents.see(frame, &key, side, 0);
            notes.entry(key).or_default().see(frame, side, all.first().copied().or(found));
            for (message, further) in all.iter().enumerate().skip(1) {
                let key = FlowKey::counted(further, frame, visible);
                contents.see(frame, &key, side, message);
                notes.entry(key).or_default().see_further(further, side);
            }
        })?;
    }
    let formats: FxHashMap<FlowKey, Numbering> =
        notes.iter().map(|(key, notes)| (key.clone(), notes.numbering())).collect();
    let known = Known { visible, formats, aliases: contents.aliases(), hash_octets, message_octets };
    let ahead_ns = clocks(tx, rx, &known)?;
    Ok(Probed { known, ahead_ns })
}

impl StreamEvidence {
    fn see(&mut self, frame: &Dissected<'_>, side: usize, counter: Option<Counter>) {
        self.frames[side] += 1;
        self.marked = self.marked.or_else(|| marked(frame));
        match self.marked {
            None => {
                self.evidence[side].see(frame);
                if let Some(found) = frame.redundancy() {
                    self.numbered[side] +=
                        u64::from(*self.scheme.get_or_insert(found.scheme) == found.scheme);
                    self.numbers[side].see(u64::from(found.number), 0);
                }
            }
            Some(Format::RtcTestbench) => {
                let place = rtc_testbench::Repr::parse(frame.payload).map_or(0, |found| found.frame);
                self.highest_in_cycle = self.highest_in_cycle.max(place);
            }
            Some(format) if format.has_steps() || format.is_doubtful() => {
                if let Some(counter) = counter.filter(|counter| counter.format == format) {
                    self.numbers[side].see(counter.number, counter.more);
                }
            }
            Some(_) => {}
        }
    }

    /// Adds a message of a frame that is not its first one.
    fn see_further(&mut self, counter: &Counter, side: usize) {
        self.frames[side] += 1;
        if *self.marked.get_or_insert(counter.format) == counter.format {
            self.numbers[side].see(counter.number, counter.more);
        }
    }

    fn numbering(&self) -> Numbering {
        let recognised = self.evidence.iter().map(Evidence::format).find(|format| *format != Format::Unknown);
        // The numbers of copies identify frames if no frame of either side lacks them.
        let all = self.frames.iter().zip(&self.numbered).all(|(frames, numbered)| frames == numbered);
        let copies = self.scheme.filter(|_| all).map(Format::Copies);
        let format = self.marked.or(recognised).or(copies).unwrap_or(Format::Unknown);
        let numbers = &self.numbers[usize::from(self.frames[0] == 0)];
        let (format, scale) = match numbers.scale(format) {
            Some(scale) => (format, scale),
            None => (Format::Unknown, Scale::of(Format::Unknown)),
        };
        Numbering { format, frames_per_cycle: self.highest_in_cycle.saturating_add(1), scale }
    }
}

/// Calls `see` for the first frames of each file, with whether the capture cut them.
fn read_beginning(files: &[CaptureFile], mut see: impl FnMut(&Dissected<'_>, bool)) -> Result<(), Error> {
    for file in files {
        let mut reader = file.open()?;
        for _ in 0..PROBE_FRAMES {
            let Some(packet) = reader.read().map_err(|error| file.failed(error))? else { break };
            let cut = (packet.octets.len() as u64) < u64::from(packet.original);
            if let Ok(frame) = dissect(packet.link, packet.octets, packet.original) {
                see(&frame, cut);
            }
        }
    }
    Ok(())
}

/// The offset of the receiving timestamps: the median over frames at both begins. Of several sent frames with equal
/// content, the nearest one in time counts.
fn clocks(tx: &[CaptureFile], rx: &[CaptureFile], known: &Known) -> Result<i64, Error> {
    let mut streams = Streams::new(known.clone(), true, PathOptions::default());
    let mut first_frames = |files: &[CaptureFile], end: End| -> Result<Vec<CapturedFrame>, Error> {
        let mut side = Side::open(files, end)?;
        let mut events = Vec::new();
        let mut event = CapturedFrame::default();
        while events.len() < PROBE_FRAMES && side.next(&mut streams, &mut (), &mut event)? {
            events.push(event);
        }
        Ok(events)
    };
    let sent = first_frames(tx, End::Tx)?;
    let arrived = first_frames(rx, End::Rx)?;
    let mut stamps: FxHashMap<(u32, u64), Vec<i64>> = FxHashMap::default();
    for event in &sent {
        if let (Some(number), Some(t_ns)) = (event.number.first(), event.t_ns) {
            stamps.entry((event.stream, number)).or_default().push(t_ns);
        }
    }
    let nearest = |event: &CapturedFrame| -> Option<(bool, i64)> {
        let t_ns = event.t_ns?;
        let candidates = stamps.get(&(event.stream, event.number.first()?))?;
        let delay = candidates
            .iter()
            .filter_map(|sent| t_ns.checked_sub(*sent))
            .min_by_key(|delay| delay.unsigned_abs())?;
        Some((candidates.len() == 1, delay))
    };
    let found: Vec<(bool, i64)> = arrived.iter().filter_map(nearest).collect();
    // Frames whose content was sent once do not depend on the offset between the clocks.
    let once = found.iter().any(|(once, _)| *once);
    let mut delays: Vec<i64> =
        found.into_iter().filter(|found| found.0 == once).map(|found| found.1).collect();
    delays.sort_unstable();
    if let Some(median) = delays.get(delays.len() / 2) {
        return Ok(*median);
    }
    Ok(match (sent.first(), arrived.first()) {
        (Some(tx), Some(rx)) if rx.at.abs_diff(tx.at) > SAME_EPOCH_NS => rx.at.saturating_sub(tx.at),
        _ => 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use tsn_capture::write::PcapNg;

    /// A capture of netlatency's frames: their numbers and stamps.
    fn capture(folder: &Path, name: &str, frames: &[(u32, i64)]) -> Vec<CaptureFile> {
        let path = folder.join(name);
        let mut file = PcapNg::create(&path, name, "tai").unwrap();
        for (number, t_ns) in frames {
            let mut octets = b"\x02\0\0\0\0\x01\x02\0\0\0\0\x07\x08\x08\x01\x04".to_vec();
            octets.extend_from_slice(&number.to_le_bytes());
            octets.resize(60, 0);
            file.frame(*t_ns, &octets, 60).unwrap();
        }
        file.finish().unwrap();
        vec![path.into()]
    }

    fn ahead_ns(tx: &[(u32, i64)], rx: &[(u32, i64)]) -> i64 {
        let folder = tempfile::tempdir().unwrap();
        probe(&capture(folder.path(), "tx", tx), &capture(folder.path(), "rx", rx)).unwrap().ahead_ns
    }

    #[test]
    fn clocks_are_apart_by_the_median_delay_of_the_frames_that_both_sides_show() {
        let sent = [(1, 1_000), (2, 2_000), (3, 3_000), (4, 4_000), (5, 5_000), (6, 6_000)];
        // Delays of 50, 40, 90, 20 and 10 ns; frame 6 was lost, and frame 7 was not observed at the sender.
        let arrived = [(1, 1_050), (2, 2_040), (3, 3_090), (4, 4_020), (5, 5_010), (7, 7_000)];
        assert_eq!(ahead_ns(&sent, &arrived), 40);
        assert_eq!(ahead_ns(&sent, &arrived[..1]), 50);
    }

    #[test]
    fn without_a_common_frame_clocks_more_than_an_hour_apart_have_other_epochs() {
        const HOUR: i64 = 3_600_000_000_000;
        let arrived = |t_ns| ahead_ns(&[(1, 5_000), (2, 6_000)], &[(3, 5_000 + t_ns), (4, 9_000 + t_ns)]);
        assert_eq!(arrived(7_000), 0);
        assert_eq!(arrived(HOUR), 0);
        assert_eq!(arrived(HOUR + 1), HOUR + 1);
        // A capture without frames gives no evidence.
        assert_eq!(ahead_ns(&[(1, HOUR + 5_000)], &[]), 0);
    }
}
