//! The streams in captures: identifies a frame's stream and number, and pairs its sightings.

use super::End;
use super::captured_frame::CapturedFrame;
use crate::flow::{FlowKey, VisibleFields};
use crate::pair::{FrameSink, Path, WINDOW};
use crate::report::Ignored;
use crate::statistics::path_statistics::PathOptions;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use tsn_wire::dissect::Dissected;
use tsn_wire::recognise::{self, Format};
use tsn_wire::telegram;

/// Streams of our own payload with numbers below this are looked up in a table.
const SMALL_STREAMS: usize = 1 << 16;

/// The format of a stream's frames, and the state that is needed to number them.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Numbering {
    pub(super) format: Format,
    pub(super) frames_per_cycle: u32,
}

struct Stream {
    name: String,
    numbering: Numbering,
    path: Path,
    /// The last whole number of each side, for numbers of few bits.
    last: [Option<u64>; 2],
    hashed: Hashed,
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
}

/// All streams of both sides.
pub(super) struct Streams {
    visible: VisibleFields,
    formats: FxHashMap<FlowKey, Numbering>,
    hash_octets: usize,
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
    pub(super) fn new(
        visible: VisibleFields,
        formats: FxHashMap<FlowKey, Numbering>,
        hash_octets: usize,
        path_options: PathOptions,
    ) -> Self {
        let by_key = FxHashMap::default();
        Self {
            visible,
            formats,
            hash_octets,
            path_options,
            by_key,
            own: Vec::new(),
            all: Vec::new(),
            last: [None, None],
            paths: 0,
        }
    }

    /// The stream of a frame, and its number in the stream (or its hash).
    #[inline]
    pub(super) fn identify(&mut self, frame: &Dissected<'_>, end: End) -> (u32, Option<u64>) {
        if frame.ports.is_some()
            && let Ok(own) = telegram::test_payload(frame)
        {
            let known = self.own.get(own.stream as usize).copied().flatten();
            let place = known.unwrap_or_else(|| self.look_up_own(own.stream, frame, end));
            return (place, self.all[place as usize].whole(own.seq, Format::Tsnbench.number_bits(), end));
        }
        let key = FlowKey::of(frame, self.visible);
        let place = match &self.last[end as usize] {
            Some((last, place)) if *last == key => *place,
            _ => self.look_up(key, frame, end),
        };
        let stream = &mut self.all[place as usize];
        let Numbering { format, frames_per_cycle } = stream.numbering;
        if format == Format::Unknown {
            return (place, Some(frame.invariant_hash(self.hash_octets)));
        }
        let number = recognise::number(format, frame, frames_per_cycle);
        (place, number.and_then(|number| stream.whole(number, format.number_bits(), end)))
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
        let place = match self.by_key.get(&key) {
            Some(place) => *place,
            None => self.begin(key.clone(), frame),
        };
        self.last[end as usize] = Some((key, place));
        place
    }

    #[cold]
    fn begin(&mut self, key: FlowKey, frame: &Dissected<'_>) -> u32 {
        let marked = recognise::marked(frame).unwrap_or(Format::Unknown);
        let numbering =
            self.formats.get(&key).copied().unwrap_or(Numbering { format: marked, frames_per_cycle: 1 });
        let mut name = key.name(numbering.format, frame.tag, frame.source());
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
            Some(hash) if stream.numbering.format == Format::Unknown => stream.tx_hashed(hash, event, out),
            Some(number) => stream.path.tx(number, event.t_ns, event.octets, out),
            None => {}
        }
    }

    /// A sighting at the receiving side; returns `t_rx − t_tx` when it completes a frame.
    #[inline]
    pub(super) fn rx(&mut self, event: &CapturedFrame, out: &mut impl FrameSink) -> Option<i64> {
        let stream = &mut self.all[event.stream as usize];
        stream.rx_only += u64::from(!stream.sent);
        match event.number {
            Some(hash) if stream.numbering.format == Format::Unknown => stream.rx_hashed(hash, event, out),
            Some(number) => stream.path.rx(number, event.t_ns, event.octets, out),
            None => {
                stream.path.statistics.unmatched_rx += 1;
                None
            }
        }
    }

    /// Ends the pairing after the last frame.
    pub(super) fn finish(&mut self, out: &mut impl FrameSink) {
        for stream in &mut self.all {
            stream.path.statistics.unmatched_rx += stream.hashed.arrived_by_age.len() as u64;
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

    /// The streams that the sending side saw; the others are counted as ignored.
    pub(super) fn into_paths(self, ignored: &mut Ignored) -> Vec<(String, Format, Path)> {
        let mut paths: Vec<(String, Format, Path)> = Vec::new();
        for stream in self.all {
            if !stream.sent {
                ignored.rx_only_streams += 1;
                ignored.rx_only_frames += stream.rx_only;
                continue;
            }
            paths.push((stream.name, stream.numbering.format, stream.path));
        }
        paths.sort_by_key(|(_, _, path)| path.options.path);
        paths
    }
}

impl Stream {
    /// The whole number of a number of few bits: the nearest one to the last number of its side (or else of the other
    /// side).
    #[inline]
    fn whole(&mut self, number: u64, bits: u32, end: End) -> Option<u64> {
        if bits == 64 {
            return Some(number);
        }
        let reference = self.last[end as usize].or(self.last[1 - end as usize]);
        let whole = match reference {
            None => number,
            Some(last) => {
                let unused = 64 - bits;
                let step = (number.wrapping_sub(last) << unused).cast_signed() >> unused;
                last.checked_add_signed(step)?
            }
        };
        self.last[end as usize] = Some(whole);
        Some(whole)
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
            return self.path.rx(number, event.t_ns, event.octets, out);
        }
        hashed.arrived.entry(hash).or_default().push_back((event.t_ns, event.octets));
        hashed.arrived_by_age.push_back(hash);
        if hashed.arrived_by_age.len() as u64 > WINDOW
            && let Some(oldest) = hashed.arrived_by_age.pop_front()
        {
            take(&mut hashed.arrived, oldest);
            self.path.statistics.unmatched_rx += 1;
        }
        None
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
        let mut streams = Streams::new(
            visible,
            FxHashMap::default(),
            usize::MAX,
            PathOptions { path: 9, ..PathOptions::default() },
        );
        let octets = [b"\x02\0\0\0\0\x01\x02\0\0\0\0\x07\x88\xb5".as_slice(), &[1; 46]].concat();
        let (stream, number) = streams.identify(&dissect(Link::Ethernet, &octets, 60).unwrap(), End::Tx);
        assert!(stream == 0 && number.is_some());
        streams
    }

    fn sighting(hash: u64, t_ns: i64) -> CapturedFrame {
        CapturedFrame { t_ns: Some(t_ns), at: t_ns, stream: 0, number: Some(hash), octets: 64 }
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
