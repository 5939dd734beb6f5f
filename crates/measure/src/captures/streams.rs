//! The streams in captures: identifies a frame's stream and number, and pairs its sightings.

use super::End;
use super::captured_frame::{CapturedFrame, Number};
use super::copies::RecentNumbers;
use crate::flow::{FlowKey, VisibleFields};
use crate::pair::{FrameSink, Path, WINDOW};
use crate::report::{Identification, Ignored};
use crate::statistics::path_statistics::PathOptions;
use crate::statistics::scale::Scale;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use tsn_wire::dissect::Dissected;
use tsn_wire::recognise::{self, Format};
use tsn_wire::telegram;

/// Streams of our own payload with numbers below this are looked up in a table.
const SMALL_STREAMS: usize = 1 << 16;
/// States of a GOOSE control block that are remembered.
const MOST_STATES: usize = 16;

/// The format of a stream's frames, and the state that is needed to number them.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Numbering {
    pub(super) format: Format,
    pub(super) frames_per_cycle: u32,
    pub(super) scale: Scale,
}

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
}

struct Stream {
    name: String,
    numbering: Numbering,
    path: Path,
    /// The last whole number of each side, for numbers of few bits.
    last: [Option<u64>; 2],
    hashed: Hashed,
    /// The numbers of copies at each side, for frames that only their hash identifies.
    copies: [RecentNumbers; 2],
    /// GOOSE: the last states with the numbers of their first frames.
    states: VecDeque<(u32, u64)>,
    /// Whether the sending side observed the stream.
    sent: bool,
    /// Frames that arrived before the sending side observed the stream.
    rx_only: u64,
}

/// Sightings of frames that only their hash identifies: the n-th of equal frames at one side is the n-th at the
/// other.
#[derive(Default)]
struct Hashed {
    next: u64,
    /// Sent frames that wait: numbers by hash.
    sent: FxHashMap<u64, VecDeque<u64>>,
    sent_by_age: VecDeque<(u64, u64)>,
    /// Arrived frames that wait until the sending side is read up to them.
    arrived: FxHashMap<u64, VecDeque<(Option<i64>, u32)>>,
    arrived_by_age: VecDeque<u64>,
    /// Hashes of frames that were paired a short time ago: an arrival that nothing waits for is a copy.
    paired: FxHashMap<u64, u32>,
    paired_by_age: VecDeque<u64>,
}

/// All streams of both sides.
pub(super) struct Streams {
    known: Known,
    /// Whether frames with few numbers are identified by their content: their numbers mean something only if both
    /// sides are read in step.
    by_content: bool,
    path_options: PathOptions,
    by_key: FxHashMap<FlowKey, u32>,
    /// Streams of our own payload by their numbers, where those are small.
    own: Vec<Option<u32>>,
    all: Vec<Stream>,
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
            own: Vec::new(),
            all: Vec::new(),
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
            let number = self.all[stream as usize].whole(own.seq, Format::Tsnbench.modulus(), end);
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
        let whole = number.and_then(|number| stream.whole_of(format, number, end));
        let number = whole.map(|whole| stream.numbering.scale.consecutive(whole));
        let more = counter.map_or(0, |counter| counter.more);
        (
            place,
            if let (Some(number), 1..) = (number, more) {
                Number::Several(number, more)
            } else {
                number.into()
            },
        )
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
        let namesakes =
            self.all.iter().filter(|stream| stream.name.split(" #").next() == Some(&name)).count();
        if namesakes > 0 {
            name = format!("{name} #{}", namesakes + 1);
        }
        #[expect(clippy::cast_possible_truncation, reason = "four billion streams do not fit memory")]
        let place = self.all.len() as u32;
        let path = Path::from_first(self.path_options);
        self.all.push(Stream {
            name,
            numbering,
            path,
            last: [None; 2],
            hashed: Hashed::default(),
            copies: Default::default(),
            states: VecDeque::new(),
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
                stream.tx_hashed(hash, event, out)
            }
            Number::One(number) => stream.path.tx(number, event.t_ns, event.octets, out),
            Number::Several(number, more) => {
                stream.path.tx(number, event.t_ns, event.octets, out);
                stream.cover(number, more, out);
            }
            Number::Copy => stream.path.statistics.duplicate_tx += 1,
            Number::Missing => {}
        }
    }

    /// A sighting at the receiving side; returns `t_rx − t_tx` when it completes a frame.
    #[inline]
    pub(super) fn rx(&mut self, event: &CapturedFrame, out: &mut impl FrameSink) -> Option<i64> {
        let stream = &mut self.all[event.stream as usize];
        stream.rx_only += u64::from(!stream.sent);
        match event.number {
            Number::One(hash) if stream.numbering.format == Format::Unknown => {
                stream.rx_hashed(hash, event, out)
            }
            Number::One(number) | Number::Several(number, _) => {
                stream.path.rx(number, event.t_ns, event.octets, out)
            }
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
            for hash in std::mem::take(&mut stream.hashed.arrived_by_age) {
                stream.give_up_arrival(hash);
            }
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

    /// The streams that the sending side saw; the others are counted as ignored.
    pub(super) fn into_paths(self, ignored: &mut Ignored) -> Vec<(String, Numbering, Path)> {
        let mut paths: Vec<(String, Numbering, Path)> = Vec::new();
        for stream in self.all {
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

impl Stream {
    /// Notes numbers that are in the frame before them, too.
    #[cold]
    fn cover(&mut self, number: u64, more: u32, out: &mut impl FrameSink) {
        for more in 1..=u64::from(more) {
            self.path.covered(number.saturating_add(more), out);
        }
    }

    /// The whole number of a frame of this format.
    fn whole_of(&mut self, format: Format, number: u64, end: End) -> Option<u64> {
        if format == Format::Goose {
            return self.whole_of_state(number, end);
        }
        let mut modulus = self.numbering.scale.modulus;
        if format == Format::SampledValues
            && modulus == format.modulus()
            && let Some(last) = self.last[end as usize].filter(|last| number < last / 2)
        {
            // The second ended here.
            modulus = last.saturating_add(self.numbering.scale.step);
            self.numbering.scale.modulus = modulus;
        }
        self.whole(number, modulus, end)
    }

    /// The whole number of a GOOSE message: the numbers of a new state follow those of the state before. A state that
    /// was not observed counts as one missing message.
    fn whole_of_state(&mut self, number: u64, end: End) -> Option<u64> {
        let (state, sequence) = ((number >> 32) as u32, number & 0xffff_ffff);
        let known = self.states.iter().find(|(known, _)| *known == state).map(|(_, begin)| *begin);
        // A device that begins again counts from 1, in state 1.
        let again = |begin: &u64| {
            sequence < 2
                && self.last[end as usize].is_some_and(|last| last > begin.saturating_add(sequence + 1))
        };
        let begin = match known.filter(|begin| !again(begin)) {
            Some(begin) => begin,
            None => {
                let highest = self.last.iter().flatten().max().copied();
                let before = self.states.back().map_or(state, |(last, _)| *last);
                let skipped = state.saturating_sub(before.saturating_add(1));
                let next = highest.map_or(0, |highest| highest.saturating_add(1 + u64::from(skipped)));
                let begin = if state > before { next } else { next.saturating_sub(sequence) };
                self.states.retain(|(known, _)| *known != state);
                self.states.push_back((state, begin));
                if self.states.len() > MOST_STATES {
                    self.states.pop_front();
                }
                begin
            }
        };
        let whole = begin.checked_add(sequence)?;
        let last = &mut self.last[end as usize];
        *last = (*last).max(Some(whole));
        Some(whole)
    }

    /// The whole number of a number that begins again with 0 at `modulus` (0: 2^64): the nearest one to the last number
    /// of its side (or else of the other side).
    #[inline(always)]
    fn whole(&mut self, number: u64, modulus: u64, end: End) -> Option<u64> {
        if modulus == 0 {
            return Some(number);
        }
        let reference = self.last[end as usize].or(self.last[1 - end as usize]);
        let whole = match reference {
            None => number,
            Some(last) if modulus.is_power_of_two() => {
                let unused = modulus.leading_zeros() + 1;
                let step = (number.wrapping_sub(last) << unused).cast_signed() >> unused;
                last.checked_add_signed(step)?
            }
            Some(last) => {
                let number = number % modulus;
                let ahead = (number + modulus - last % modulus) % modulus;
                if ahead > modulus / 2 {
                    last.checked_sub(modulus - ahead)?
                } else {
                    last.checked_add(ahead)?
                }
            }
        };
        self.last[end as usize] = Some(whole);
        Some(whole)
    }

    /// Counts an arrival that nothing waits for: a copy if its frame was paired a short time ago.
    fn give_up_arrival(&mut self, hash: u64) {
        let statistics = &mut self.path.statistics;
        if self.hashed.paired.contains_key(&hash) {
            statistics.duplicate += 1;
        } else {
            statistics.unmatched_rx += 1;
        }
    }

    fn tx_hashed(&mut self, hash: u64, event: &CapturedFrame, out: &mut impl FrameSink) {
        let hashed = &mut self.hashed;
        let number = hashed.next;
        hashed.next += 1;
        self.path.tx(number, event.t_ns, event.octets, out);
        if let Some((t_ns, octets)) = take(&mut hashed.arrived, hash) {
            // The frame arrived a short time ago, so the search begins at the end.
            if let Some(place) = hashed.arrived_by_age.iter().rposition(|waiting| *waiting == hash) {
                hashed.arrived_by_age.remove(place);
            }
            hashed.pair(hash);
            self.path.rx(number, t_ns, octets, out);
            return;
        }
        hashed.sent.entry(hash).or_default().push_back(number);
        hashed.sent_by_age.push_back((number, hash));
        while let Some((oldest, hash)) = hashed.sent_by_age.front().copied() {
            // A frame leaves the window if it has been paired already, or if it is too old for the window.
            let waits = hashed.sent.get(&hash).is_some_and(|queue| queue.front() == Some(&oldest));
            if waits && number - oldest < WINDOW {
                break;
            }
            hashed.sent_by_age.pop_front();
            if waits {
                take(&mut hashed.sent, hash);
            }
        }
    }

    fn rx_hashed(&mut self, hash: u64, event: &CapturedFrame, out: &mut impl FrameSink) -> Option<i64> {
        let hashed = &mut self.hashed;
        if let Some(number) = take(&mut hashed.sent, hash) {
            hashed.pair(hash);
            return self.path.rx(number, event.t_ns, event.octets, out);
        }
        hashed.arrived.entry(hash).or_default().push_back((event.t_ns, event.octets));
        hashed.arrived_by_age.push_back(hash);
        if hashed.arrived_by_age.len() as u64 > WINDOW
            && let Some(oldest) = hashed.arrived_by_age.pop_front()
        {
            take(&mut hashed.arrived, oldest);
            self.give_up_arrival(oldest);
        }
        None
    }
}

impl Hashed {
    /// Remembers that a frame with this hash was paired.
    fn pair(&mut self, hash: u64) {
        *self.paired.entry(hash).or_default() += 1;
        self.paired_by_age.push_back(hash);
        if self.paired_by_age.len() as u64 > WINDOW
            && let Some(oldest) = self.paired_by_age.pop_front()
            && let Some(times) = self.paired.get_mut(&oldest)
        {
            *times -= 1;
            if *times == 0 {
                self.paired.remove(&oldest);
            }
        }
    }
}

/// The oldest waiting frame with this hash.
fn take<T>(waiting: &mut FxHashMap<u64, VecDeque<T>>, hash: u64) -> Option<T> {
    let queue = waiting.get_mut(&hash)?;
    let oldest = queue.pop_front();
    if queue.is_empty() {
        waiting.remove(&hash);
    }
    oldest
}

#[cfg(test)]
mod tests {
    use super::*;
    use tsn_wire::dissect::dissect;
    use tsn_wire::link::Link;

    /// Streams; the first has frames that only their hash identifies.
    fn hashed() -> Streams {
        let visible = VisibleFields { source: true, destination: true, tag: true };
        let known = Known {
            visible,
            formats: FxHashMap::default(),
            aliases: FxHashMap::default(),
            hash_octets: usize::MAX,
        };
        let options = PathOptions { path: 9, ..PathOptions::default() };
        let mut streams = Streams::new(known, false, options);
        let octets = [b"\x02\0\0\0\0\x01\x02\0\0\0\0\x07\x88\xb5".as_slice(), &[1; 46]].concat();
        let (stream, number) = streams.identify(&dissect(Link::Ethernet, &octets, 60).unwrap(), End::Tx);
        assert!(stream == 0 && number.first().is_some());
        streams
    }

    fn sighting(hash: u64, t_ns: i64) -> CapturedFrame {
        CapturedFrame { t_ns: Some(t_ns), at: t_ns, stream: 0, number: Number::One(hash), octets: 64 }
    }

    /// Sends this many frames, all different.
    fn send_others(streams: &mut Streams, count: u64) {
        (0..count).for_each(|n| streams.tx(&sighting(1_000 + n, 500), &mut ()));
    }

    #[test]
    fn the_first_of_equal_frames_here_is_the_first_there_while_the_window_holds_it() {
        let mut streams = hashed();
        streams.tx(&sighting(7, 100), &mut ());
        send_others(&mut streams, WINDOW - 1);
        assert_eq!(streams.rx(&sighting(7, 1_000), &mut ()), Some(900));

        // The second frame is one number more than the window holds: the first is given up.
        let mut streams = hashed();
        streams.tx(&sighting(7, 100), &mut ());
        send_others(&mut streams, WINDOW - 1);
        streams.tx(&sighting(7, 600), &mut ());
        assert_eq!(streams.rx(&sighting(7, 1_000), &mut ()), Some(400));
    }

    #[test]
    fn as_many_arrivals_as_the_window_holds_wait_for_the_sending_side() {
        let mut streams = hashed();
        (0..WINDOW).for_each(|hash| assert_eq!(streams.rx(&sighting(hash, 1_000), &mut ()), None));
        assert_eq!(streams.all[0].path.statistics.unmatched_rx, 0);
        // One more frame, and the oldest is given up.
        streams.rx(&sighting(WINDOW, 1_000), &mut ());
        assert_eq!(streams.all[0].path.statistics.unmatched_rx, 1);
        [0, 1, WINDOW].into_iter().for_each(|hash| streams.tx(&sighting(hash, 100), &mut ()));
        streams.finish(&mut ());
        let statistics = &streams.all[0].path.statistics;
        assert_eq!((statistics.lost, statistics.unmatched_rx), (1, WINDOW - 1));
    }
}
