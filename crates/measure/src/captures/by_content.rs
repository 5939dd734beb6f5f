//! Pairs the frames of one stream that only their content identifies, by its hash.

use super::captured_frame::CapturedFrame;
use crate::pair::{FrameSink, Path, WINDOW};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Pairs that are remembered to tell copies. They fit a cache: every frame is noted and forgotten.
const REMEMBERED: usize = 4096;

/// An arrival that waits until the sending side is read up to it: stamp, octets, and whether it is a copy of a frame that
/// was paired a short time ago unless it is paired itself.
type Arrival = (Option<i64>, u32, bool);

/// Sightings of frames that only their hash identifies: the n-th of equal frames at one side is the n-th at the
/// other.
#[derive(Default)]
pub(super) struct ByContent {
    next: u64,
    /// Sent frames that wait: numbers by hash.
    sent: FxHashMap<u64, VecDeque<u64>>,
    sent_by_age: VecDeque<(u64, u64)>,
    arrived: FxHashMap<u64, VecDeque<Arrival>>,
    arrived_by_age: VecDeque<u64>,
    /// Hashes of frames that were paired a short time ago.
    paired: FxHashMap<u64, u32>,
    paired_by_age: VecDeque<u64>,
}

impl ByContent {
    /// A sighting at the sending side.
    pub(super) fn tx(&mut self, hash: u64, event: &CapturedFrame, path: &mut Path, out: &mut impl FrameSink) {
        let number = self.next;
        self.next += 1;
        path.tx(number, event.t_ns, event.octets, out);
        if let Some((t_ns, octets, _)) = take(&mut self.arrived, hash) {
            self.arrived.get_mut(&hash).into_iter().flatten().for_each(|waiting| waiting.2 = true);
            // The frame arrived a short time ago, so the search begins at the end.
            if let Some(place) = self.arrived_by_age.iter().rposition(|waiting| *waiting == hash) {
                self.arrived_by_age.remove(place);
            }
            self.pair(hash);
            path.rx(number, t_ns, octets, out);
            return;
        }
        self.sent.entry(hash).or_default().push_back(number);
        self.sent_by_age.push_back((number, hash));
        while let Some((oldest, hash)) = self.sent_by_age.front().copied() {
            // A frame leaves the window if it has been paired already, or if it is too old for the window.
            let waits = self.sent.get(&hash).is_some_and(|queue| queue.front() == Some(&oldest));
            if waits && number - oldest < WINDOW {
                break;
            }
            self.sent_by_age.pop_front();
            if waits {
                take(&mut self.sent, hash);
            }
        }
    }

    /// A sighting at the receiving side; returns `t_rx − t_tx` when it completes a frame.
    pub(super) fn rx(
        &mut self,
        hash: u64,
        event: &CapturedFrame,
        path: &mut Path,
        out: &mut impl FrameSink,
    ) -> Option<i64> {
        if let Some(number) = take(&mut self.sent, hash) {
            self.pair(hash);
            return path.rx(number, event.t_ns, event.octets, out);
        }
        let copy = self.paired.contains_key(&hash);
        self.arrived.entry(hash).or_default().push_back((event.t_ns, event.octets, copy));
        self.arrived_by_age.push_back(hash);
        if self.arrived_by_age.len() as u64 > WINDOW
            && let Some(oldest) = self.arrived_by_age.pop_front()
        {
            self.give_up_arrival(oldest, path);
        }
        None
    }

    /// Ends the pairing after the last frame.
    pub(super) fn finish(&mut self, path: &mut Path) {
        for hash in std::mem::take(&mut self.arrived_by_age) {
            self.give_up_arrival(hash, path);
        }
    }

    /// Counts the oldest arrival with this hash, for which nothing waits.
    fn give_up_arrival(&mut self, hash: u64, path: &mut Path) {
        match take(&mut self.arrived, hash) {
            Some((_, _, true)) => path.statistics.duplicate += 1,
            _ => path.statistics.unmatched_rx += 1,
        }
    }

    /// Remembers that a frame with this hash was paired.
    fn pair(&mut self, hash: u64) {
        *self.paired.entry(hash).or_default() += 1;
        self.paired_by_age.push_back(hash);
        if self.paired_by_age.len() > REMEMBERED
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
    use crate::captures::captured_frame::Number;
    use crate::statistics::path_statistics::PathOptions;

    /// The frames of one stream that only their hashes identify.
    struct Hashed(ByContent, Path);

    impl Hashed {
        fn new() -> Self {
            Self(ByContent::default(), Path::from_first(PathOptions::default()))
        }

        fn tx(&mut self, hash: u64, t_ns: i64) {
            self.0.tx(hash, &sighting(hash, t_ns), &mut self.1, &mut ());
        }

        fn rx(&mut self, hash: u64, t_ns: i64) -> Option<i64> {
            self.0.rx(hash, &sighting(hash, t_ns), &mut self.1, &mut ())
        }

        /// Sends this many frames, all different.
        fn send_others(&mut self, count: u64) {
            (0..count).for_each(|n| self.tx(1_000 + n, 500));
        }
    }

    fn sighting(hash: u64, t_ns: i64) -> CapturedFrame {
        CapturedFrame { t_ns: Some(t_ns), at: t_ns, stream: 0, number: Number::One(hash), octets: 64 }
    }

    #[test]
    fn the_first_of_equal_frames_here_is_the_first_there_while_the_window_holds_it() {
        let mut stream = Hashed::new();
        stream.tx(7, 100);
        stream.send_others(WINDOW - 1);
        assert_eq!(stream.rx(7, 1_000), Some(900));

        // The second frame is one number more than the window holds: the first is given up.
        let mut stream = Hashed::new();
        stream.tx(7, 100);
        stream.send_others(WINDOW - 1);
        stream.tx(7, 600);
        assert_eq!(stream.rx(7, 1_000), Some(400));
    }

    #[test]
    fn an_arrival_of_a_frame_that_was_paired_a_short_time_ago_is_a_copy() {
        let counts = |stream: &mut Hashed| {
            stream.0.finish(&mut stream.1);
            (stream.1.statistics.duplicate, stream.1.statistics.unmatched_rx)
        };
        let mut stream = Hashed::new();
        stream.tx(7, 100);
        assert_eq!(stream.rx(7, 150), Some(50));
        assert_eq!(stream.rx(7, 160), None);
        assert_eq!(counts(&mut stream), (1, 0));
        // Both copies arrive before the sending side is read up to their frame.
        let mut stream = Hashed::new();
        assert_eq!((stream.rx(7, 150), stream.rx(7, 160)), (None, None));
        stream.tx(7, 100);
        assert_eq!(counts(&mut stream), (1, 0));
        // The frame was paired too long ago.
        for (others, expected) in [(REMEMBERED as u64 - 1, (1, 0)), (REMEMBERED as u64, (0, 1))] {
            let mut stream = Hashed::new();
            stream.tx(7, 100);
            stream.rx(7, 150);
            (1_000..1_000 + others).for_each(|hash| {
                stream.tx(hash, 500);
                stream.rx(hash, 600);
            });
            stream.rx(7, 700);
            assert_eq!(counts(&mut stream), expected);
        }
    }

    #[test]
    fn as_many_arrivals_as_the_window_holds_wait_for_the_sending_side() {
        let mut stream = Hashed::new();
        (0..WINDOW).for_each(|hash| assert_eq!(stream.rx(hash, 1_000), None));
        assert_eq!(stream.1.statistics.unmatched_rx, 0);
        // One more frame, and the oldest is given up.
        stream.rx(WINDOW, 1_000);
        assert_eq!(stream.1.statistics.unmatched_rx, 1);
        [0, 1, WINDOW].into_iter().for_each(|hash| stream.tx(hash, 100));
        stream.0.finish(&mut stream.1);
        stream.1.finish(&mut ());
        let statistics = &stream.1.statistics;
        assert_eq!((statistics.lost, statistics.unmatched_rx), (1, WINDOW - 1));
    }
}
