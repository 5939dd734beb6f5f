//! The streams in captures: identifies a frame's stream and number, and pairs its sightings.

use super::End;
use super::by_content::ByContent;
use super::captured_frame::{CapturedFrame, Number};
use super::copies::RecentNumbers;
use super::numbering::{Numbering, WholeNumbers};
use super::senders::{self, Sender, SentStream};
use crate::flow::{FlowKey, VisibleFields};
use crate::pair::{FrameSink, Path};
use crate::report::{Identification, Ignored};
use crate::statistics::path_statistics::PathOptions;
use crate::statistics::scale::Scale;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::hash::BuildHasher;
use tsn_wire::counter::{Counter, counters, cut_before_numbers};
use tsn_wire::dissect::Dissected;
use tsn_wire::recognise::{self, Format};
use tsn_wire::telegram;

/// Streams of our own payload with numbers below this are looked up in a table.
const SMALL_STREAMS: usize = 1 << 16;

/// What the begins of both sides show about their streams.
#[derive(Clone)]
pub(super) struct Known {
    /// The fields of keys that both sides contain.
    pub(super) visible: VisibleFields,
    /// The format of each stream.
    pub(super) formats: FxHashMap<FlowKey, Numbering>,
    /// Streams under another key: their addresses or VLAN changed on the path.
    pub(super) aliases: FxHashMap<FlowKey, FlowKey>,
    /// Number of octets of a packet that both sides have captured.
    pub(super) hash_octets: usize,
    /// The octets of a packet in which messages behind the first one count: those that every frame has that a capture
    /// cut between its messages.
    pub(super) message_octets: usize,
}

struct Stream {
    name: String,
    numbering: Numbering,
    path: Path,
    numbers: WholeNumbers,
    by_content: ByContent,
    /// The numbers of copies at each side, for frames that only their hash identifies.
    copies: [RecentNumbers; 2],
    /// Addresses and format: what the streams of one frame have in common.
    origin: u64,
    sender: Sender,
    /// Whether the sending side observed the stream.
    sent: bool,
    /// Frames that arrived before the sending side observed the stream.
    rx_only: u64,
}

/// All streams of both sides.
pub(super) struct Streams {
    known: Known,
    /// Whether frames with few numbers are identified by their content: their numbers mean something only if both
    /// sides are read in step.
    by_content: bool,
    path_options: PathOptions,
    by_key: FxHashMap<FlowKey, u32>,
    /// How many streams have a name, apart from their number behind it.
    namesakes: FxHashMap<String, u64>,
    /// Streams of our own payload by their numbers, where those are small.
    own: Vec<Option<u32>>,
    all: Vec<Stream>,
    /// Origins with frames that were cut between their messages.
    cut: FxHashSet<u64>,
    /// Such frames of each side.
    cut_frames: [u64; 2],
    /// What identifies the further messages of the last frame.
    further: Vec<(u32, Number)>,
    /// The last frame's stream of each side: the next frame is often of the same stream.
    last: [Option<(FlowKey, u32)>; 2],
    /// Number of sent streams.
    paths: u32,
}

impl Streams {
    pub(super) fn new(known: Known, by_content: bool, path_options: PathOptions) -> Self {
        Self {
            known,
            by_content,
            path_options,
            by_key: FxHashMap::default(),
            namesakes: FxHashMap::default(),
            own: Vec::new(),
            all: Vec::new(),
            cut: FxHashSet::default(),
            cut_frames: [0; 2],
            further: Vec::new(),
            last: [None, None],
            paths: 0,
        }
    }

    /// The stream of a frame, and what identifies it there.
    #[inline]
    pub(super) fn identify(&mut self, frame: &Dissected<'_>, end: End) -> (u32, Number) {
        if frame.ports.is_some()
            && let Ok(own) = telegram::test_payload(frame)
        {
            let known = self.own.get(own.stream as usize).copied().flatten();
            let stream = known.unwrap_or_else(|| self.look_up_own(own.stream, frame, end));
            let number = self.all[stream as usize].numbers.nearest(own.seq, Format::Tsnbench.modulus(), end);
            return (stream, number.into());
        }
        self.identify_other(frame, end)
    }

    #[inline(never)]
    fn identify_other(&mut self, frame: &Dissected<'_>, end: End) -> (u32, Number) {
        let (key, counter) = FlowKey::with_counter(frame, self.known.visible);
        let place = match &self.last[end as usize] {
            Some((last, place)) if *last == key => *place,
            _ => self.look_up(key, frame, end),
        };
        let stream = &mut self.all[place as usize];
        let Numbering { format, frames_per_cycle, scale } = stream.numbering;
        if format == Format::Unknown {
            if frame.uncaptured > 0
                && counter.is_none()
                && let Some(format) = cut_before_numbers(frame)
            {
                self.cut_frames[end as usize] += 1;
                self.cut.insert(origin(frame, format));
            }
            let copies = &mut stream.copies[end as usize];
            let number = match frame.redundancy() {
                Some(found) if copies.repeats(found.number) => Number::Copy,
                _ => Number::One(frame.invariant_hash(self.known.hash_octets)),
            };
            return (place, number);
        }
        let counter = counter.filter(|counter| counter.format == format);
        let number = match counter {
            Some(counter) => Some(counter.number),
            None => recognise::number(format, frame, frames_per_cycle),
        };
        // The content of PTP's messages changes on the path.
        if self.by_content && (format == Format::Goose || (1..=1 << 16).contains(&scale.modulus)) {
            let hash = frame.invariant_hash(self.known.hash_octets);
            return (place, if format == Format::Ptp { number } else { Some(hash) }.into());
        }
        if let Some(counter) = counter.filter(|counter| counter.several || counter.cut) {
            return (place, self.identify_several(frame, &counter, place, end));
        }
        (place, stream.consecutive(number, 0, end))
    }

    /// What identifies the first of a frame's messages, whose stream is known; and the others, which are kept.
    #[cold]
    fn identify_several(&mut self, frame: &Dissected<'_>, first: &Counter, stream: u32, end: End) -> Number {
        if first.cut {
            self.cut_frames[end as usize] += 1;
            self.known.message_octets = self.known.message_octets.min(frame.packet.len());
        }
        let (all, cut) = self.known.messages(frame, first);
        if cut {
            self.cut.insert(self.all[stream as usize].origin);
        }
        let mut found = Number::Missing;
        let mut known = vec![stream];
        for (at, counter) in all.into_iter().enumerate() {
            let place = match at {
                0 => stream,
                _ => self.look_up(FlowKey::counted(&counter, frame, self.known.visible), frame, end),
            };
            let stream = &mut self.all[place as usize];
            if stream.numbering.format != counter.format {
                continue;
            }
            let number = stream.consecutive(Some(counter.number), counter.more, end);
            match number {
                _ if at == 0 => found = number,
                Number::One(number) if known.contains(&place) => {
                    self.further.push((place, Number::Further(number, 1)));
                }
                Number::Several(number, more) if known.contains(&place) => {
                    self.further.push((place, Number::Further(number, more + 1)));
                }
                _ => {
                    known.push(place);
                    self.further.push((place, number));
                }
            }
        }
        found
    }

    /// Whether the frame that was identified last has further messages.
    #[inline]
    pub(super) fn has_further(&self) -> bool {
        !self.further.is_empty()
    }

    /// The streams and numbers of further messages of the frame that was identified last; each is returned once.
    pub(super) fn further(&mut self) -> std::vec::Drain<'_, (u32, Number)> {
        self.further.drain(..)
    }

    /// The index of a stream of our own payload that is not, or not yet, in the table of small numbers.
    #[cold]
    fn look_up_own(&mut self, stream: u32, frame: &Dissected<'_>, end: End) -> u32 {
        let place = self.look_up(FlowKey::Tsnbench(stream), frame, end);
        if (stream as usize) < SMALL_STREAMS {
            if self.own.len() <= stream as usize {
                self.own.resize(stream as usize + 1, None);
            }
            self.own[stream as usize] = Some(place);
        }
        place
    }

    fn look_up(&mut self, key: FlowKey, frame: &Dissected<'_>, end: End) -> u32 {
        let place = match self.by_key.get(self.known.aliases.get(&key).unwrap_or(&key)) {
            Some(place) => *place,
            None => self.begin(key.clone(), frame),
        };
        self.last[end as usize] = Some((key, place));
        place
    }

    #[cold]
    fn begin(&mut self, key: FlowKey, frame: &Dissected<'_>) -> u32 {
        let key = self.known.aliases.get(&key).cloned().unwrap_or(key);
        let numbering = self.known.formats.get(&key).copied().unwrap_or_else(|| {
            let format = recognise::marked(frame).unwrap_or(Format::Unknown);
            Numbering { format, frames_per_cycle: 1, scale: Scale::of(format) }
        });
        let mut name = key.name(numbering.format, frame);
        let namesakes = self.namesakes.entry(name.clone()).or_insert(0);
        *namesakes += 1;
        if *namesakes > 1 {
            name = format!("{name} #{namesakes}");
        }
        #[expect(clippy::cast_possible_truncation, reason = "four billion streams do not fit memory")]
        let place = self.all.len() as u32;
        let path = Path::from_first(self.path_options);
        self.all.push(Stream {
            name,
            numbering,
            path,
            numbers: WholeNumbers::default(),
            by_content: ByContent::default(),
            copies: Default::default(),
            origin: origin(frame, numbering.format),
            sender: Sender::of(frame),
            sent: false,
            rx_only: 0,
        });
        self.by_key.insert(key, place);
        place
    }

    /// A sighting at the sending side.
    #[inline]
    pub(super) fn tx(&mut self, event: &CapturedFrame, out: &mut impl FrameSink) {
        let stream = &mut self.all[event.stream as usize];
        if !stream.sent {
            // Only streams that were sent are in the report.
            stream.sent = true;
            stream.path.options.path = self.paths;
            self.paths += 1;
        }
        match event.number {
            Number::One(hash) if stream.numbering.format == Format::Unknown => {
                stream.by_content.tx(hash, event, &mut stream.path, out)
            }
            Number::One(number) => stream.path.tx(number, event.t_ns, event.octets, out),
            Number::Several(number, more) => {
                stream.path.tx(number, event.t_ns, event.octets, out);
                stream.cover(number.saturating_add(1), more, out);
            }
            Number::Further(number, count) => stream.cover(number, count, out),
            Number::Copy => stream.path.statistics.duplicate_tx += 1,
            Number::Missing => {}
        }
    }

    /// A sighting at the receiving side; returns `t_rx − t_tx` when it completes a frame.
    #[inline]
    pub(super) fn rx(&mut self, event: &CapturedFrame, out: &mut impl FrameSink) -> Option<i64> {
        let stream = &mut self.all[event.stream as usize];
        stream.rx_only += u64::from(!stream.sent && !matches!(event.number, Number::Further(..)));
        match event.number {
            Number::One(hash) if stream.numbering.format == Format::Unknown => {
                stream.by_content.rx(hash, event, &mut stream.path, out)
            }
            Number::One(number) | Number::Several(number, _) => {
                stream.path.rx(number, event.t_ns, event.octets, out)
            }
            Number::Further(..) => None,
            Number::Copy => {
                stream.path.statistics.duplicate += 1;
                None
            }
            Number::Missing => {
                stream.path.statistics.unmatched_rx += 1;
                None
            }
        }
    }

    /// Ends the pairing after the last frame.
    pub(super) fn finish(&mut self, out: &mut impl FrameSink) {
        for stream in &mut self.all {
            stream.by_content.finish(&mut stream.path);
            stream.path.finish(out);
        }
    }

    /// The formats of the frames, each once.
    pub(super) fn formats(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for stream in &self.all {
            let name = stream.numbering.format.name();
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        names
    }

    /// By which formats the frames of each side were identified.
    pub(super) fn identified(&self) -> Vec<Identification> {
        let mut found: Vec<Identification> = Vec::new();
        for stream in &self.all {
            let statistics = &stream.path.statistics;
            let arrived = statistics.received + statistics.duplicate + statistics.unmatched_rx;
            let arrived = if stream.sent { arrived } else { stream.rx_only };
            let format = stream.numbering.format.name();
            for (side, frames) in [("tx", statistics.sent + statistics.duplicate_tx), ("rx", arrived)] {
                if frames == 0 {
                    continue;
                }
                match found.iter_mut().find(|one| one.side == side && one.format == format) {
                    Some(one) => {
                        one.frames += frames;
                        one.streams += 1;
                    }
                    None => found.push(Identification { side, format, frames, streams: 1 }),
                }
            }
        }
        found
    }

    /// Frames of one side that were cut between their messages.
    pub(super) fn cut_frames(&self, end: End) -> u64 {
        self.cut_frames[end as usize]
    }

    /// The warning that frames of the other direction may be counted as lost.
    pub(super) fn of_other_direction(&self) -> Option<String> {
        let sent = self.all.iter().filter(|stream| stream.sent);
        let sent: Vec<SentStream<'_>> = sent
            .map(|stream| SentStream {
                name: &stream.name,
                sender: stream.sender,
                sent: stream.path.statistics.sent,
                received: stream.path.statistics.received,
            })
            .collect();
        senders::warning(&sent)
    }

    /// The streams that the sending side saw; the others are counted as ignored.
    pub(super) fn into_paths(self, ignored: &mut Ignored) -> Vec<(String, Numbering, Path)> {
        let mut paths: Vec<(String, Numbering, Path)> = Vec::new();
        for mut stream in self.all {
            if stream.path.statistics.never_sent > 0 && self.cut.contains(&stream.origin) {
                // The numbers may be behind the cut.
                stream.numbering.scale.is_sequence = false;
            }
            if !stream.sent {
                ignored.rx_only_streams += 1;
                ignored.rx_only_frames += stream.rx_only;
                continue;
            }
            paths.push((stream.name, stream.numbering, stream.path));
        }
        paths.sort_by_key(|(_, _, path)| path.options.path);
        paths
    }
}

impl Known {
    /// The messages of a frame as far as both sides have captured them, and whether others may be behind the cut.
    fn messages(&self, frame: &Dissected<'_>, first: &Counter) -> (Vec<Counter>, bool) {
        let shown = frame.cut_to(self.message_octets);
        let mut all = counters(&shown);
        let cut = all.first().is_none_or(|found| found.cut);
        if all.is_empty() {
            all.push(*first);
        }
        (all, cut)
    }
}

/// A hash of what the streams of one frame have in common.
fn origin(frame: &Dissected<'_>, format: Format) -> u64 {
    FxBuildHasher.hash_one((format, frame.source(), frame.destination(), frame.ports))
}

impl Stream {
    /// The consecutive number of a frame with this number and `more` following ones.
    #[inline]
    fn consecutive(&mut self, number: Option<u64>, more: u32, end: End) -> Number {
        let whole = number.and_then(|number| self.numbers.of(&mut self.numbering, number, end));
        let Some(whole) = whole else { return Number::Missing };
        let number = self.numbering.scale.consecutive(whole);
        if more == 0 {
            return Number::One(number);
        }
        self.numbers.skip(more, end);
        Number::Several(number, more)
    }

    /// Notes numbers that an earlier frame has, too.
    #[cold]
    fn cover(&mut self, number: u64, count: u32, out: &mut impl FrameSink) {
        for place in 0..u64::from(count) {
            self.path.covered(number.saturating_add(place), out);
        }
    }
}
