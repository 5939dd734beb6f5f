//! One path: takes sightings of numbered frames and returns complete frames in order of their numbers.
//!
//! Frames wait in a window over their numbers until no more sighting can come: both sightings are there and the
//! window for duplicates has passed, or the side of the missing one has advanced by [`GIVE_UP_AFTER`] numbers, or the
//! window is full.

use crate::frame::{Frame, FrameFlags};
use crate::statistics::path_statistics::{PathOptions, PathStatistics};
use std::collections::VecDeque;

/// Number of later numbers that a complete frame waits for, so that its duplicates are recognised.
const DUPLICATE_WINDOW: usize = 128;
/// A frame is given up when a frame whose number is greater by this has arrived (or was sent).
pub const GIVE_UP_AFTER: u64 = 4096;
/// The most numbers between the oldest frame that waits and the newest.
pub const WINDOW: u64 = 1 << 18;
/// Most given-up numbers that are remembered, to distinguish a very late arrival from a duplicate.
const GIVEN_UP_MEMORY: usize = 1024;

/// Takes the complete frames of paths, one by one, as the table of frames does.
pub trait FrameSink {
    /// Takes a frame of a path that will not be observed again.
    fn frame(&mut self, seq: u64, frame: &Frame, options: &PathOptions);
}

impl FrameSink for () {
    #[inline]
    fn frame(&mut self, _: u64, _: &Frame, _: &PathOptions) {}
}

/// The window of one path, and its statistics.
#[derive(Debug, Default)]
pub struct Path {
    /// The counters and distributions so far.
    pub statistics: PathStatistics,
    /// The index of the path and the options for its delays.
    pub options: PathOptions,
    /// The first number observed at the first tap.
    pub first_seq: Option<u64>,
    window: VecDeque<Frame>,
    /// The number of the window's first frame.
    base: u64,
    begun: bool,
    retired: bool,
    /// A frame has left after the warm-up; it and all later numbers count.
    warm: bool,
    highest_tx: u64,
    highest_rx: Option<u64>,
    previous_rx: Option<i64>,
    given_up: VecDeque<u64>,
}

/// The place of a sighting's frame.
enum Slot {
    InWindow(usize),
    /// The path does not wait for the number any more.
    Expired,
}

impl Path {
    /// A path whose numbers begin at 0, so that a greater first number means frames never sent.
    #[must_use]
    pub fn from_zero(options: PathOptions) -> Self {
        Self { options, begun: true, ..Self::default() }
    }

    /// A path whose numbers begin with the first observed one.
    #[must_use]
    pub fn from_first(options: PathOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Adds a sighting at the talker's queue.
    pub fn send(&mut self, seq: u64, t_ns: Option<i64>, out: &mut impl FrameSink) {
        if let Slot::InWindow(place) = self.slot(seq, out) {
            self.window[place].observe_send(t_ns);
        }
    }

    /// Adds a sighting at the first tap.
    #[inline]
    pub fn tx(&mut self, seq: u64, t_ns: Option<i64>, octets: u32, out: &mut impl FrameSink) {
        if self.begun && seq.saturating_add(WINDOW) < self.base {
            self.restart(seq, out);
        }
        let Slot::InWindow(place) = self.slot(seq, out) else {
            self.statistics.duplicate_tx += 1;
            return;
        };
        let frame = &mut self.window[place];
        if frame.flags.has(FrameFlags::TX) {
            self.statistics.duplicate_tx += 1;
            return;
        }
        frame.observe_tx(t_ns, octets);
        self.first_seq = Some(self.first_seq.map_or(seq, |first| first.min(seq)));
        self.highest_tx = self.highest_tx.max(seq);
        self.retire(out);
    }

    /// Adds a number that the frame before it has, too: it is not missing.
    pub fn covered(&mut self, seq: u64, out: &mut impl FrameSink) {
        if let Slot::InWindow(place) = self.slot(seq, out) {
            self.window[place].cover();
        }
    }

    /// Whether a frame was observed at a first tap, as far as it is remembered; a frame that no longer waits was.
    #[must_use]
    pub fn has_left(&self, seq: u64) -> bool {
        let Some(place) = seq.checked_sub(self.base) else { return self.retired };
        let frame = usize::try_from(place).ok().and_then(|place| self.window.get(place));
        frame.is_some_and(|frame| frame.flags.has(FrameFlags::TX))
    }

    /// Adds a sighting between the first tap and the last, at the tap with this position on the path.
    pub fn between(&mut self, seq: u64, tap: u8, out: &mut impl FrameSink) {
        if let Slot::InWindow(place) = self.slot(seq, out) {
            let frame = &mut self.window[place];
            frame.last_tap = frame.last_tap.max(tap);
        }
    }

    /// Adds a sighting at the last tap. Returns `t_rx − t_tx` when this completes a frame.
    #[inline]
    pub fn rx(&mut self, seq: u64, t_ns: Option<i64>, octets: u32, out: &mut impl FrameSink) -> Option<i64> {
        let counts = self.options.counts(t_ns);
        let Slot::InWindow(place) = self.slot(seq, out) else {
            match self.given_up.iter().position(|lost| *lost == seq) {
                // The frame was counted as lost; its late arrival must not count as a duplicate.
                Some(found) => {
                    self.given_up.remove(found);
                    self.statistics.unmatched_rx += u64::from(counts);
                }
                None => self.statistics.duplicate += u64::from(counts),
            }
            return None;
        };
        let frame = &mut self.window[place];
        if frame.flags.has(FrameFlags::RX) {
            self.statistics.duplicate += u64::from(counts);
            return None;
        }
        frame.observe_rx(t_ns, octets);
        let delay = frame.delay(0);
        if self.highest_rx.is_some_and(|highest| seq < highest) {
            self.statistics.reordered += u64::from(counts);
        } else {
            self.highest_rx = Some(seq);
        }
        if let Some(stamp) = t_ns.filter(|_| counts) {
            if let Some(gap) = self.previous_rx.and_then(|previous| stamp.checked_sub(previous)) {
                self.statistics.arrivals.add(gap, seq, self.options.path);
            }
            self.previous_rx = Some(stamp);
        }
        self.retire(out);
        delay
    }

    /// Makes an ended path of a run that repeats that of a longer run: adds so many times what `next` has more, the path
    /// in the run with one period more.
    pub(crate) fn extrapolate(&mut self, next: &Self, times: u64) {
        self.base += next.base.saturating_sub(self.base).saturating_mul(times);
        self.statistics.extrapolate(&next.statistics, times);
    }

    /// The number behind the last one that a tap observed, once the path has ended.
    pub fn next(&self) -> u64 {
        self.base
    }

    /// Ends the path after the last sighting: all waiting frames are as complete as possible.
    pub fn finish(&mut self, out: &mut impl FrameSink) {
        self.empty(out);
        self.statistics.end(&self.options);
    }

    fn empty(&mut self, out: &mut impl FrameSink) {
        while !self.window.is_empty() {
            self.pop(out);
        }
    }

    /// The slot of the frame with this number; makes room for it.
    #[inline]
    fn slot(&mut self, seq: u64, out: &mut impl FrameSink) -> Slot {
        if !self.begun {
            self.begun = true;
            self.base = seq;
        }
        if seq < self.base {
            return self.slot_before(seq);
        }
        let place = seq - self.base;
        if place >= self.window.len() as u64 {
            return self.slot_after(seq, out);
        }
        Slot::InWindow(place as usize)
    }

    /// Extends the window to a number before its first one, as long as no frame has left it.
    #[cold]
    fn slot_before(&mut self, seq: u64) -> Slot {
        let missing = self.base - seq;
        if self.retired || missing + self.window.len() as u64 > WINDOW {
            return Slot::Expired;
        }
        for _ in 0..missing {
            self.window.push_front(Frame::default());
        }
        self.base = seq;
        Slot::InWindow(0)
    }

    #[inline]
    fn slot_after(&mut self, seq: u64, out: &mut impl FrameSink) -> Slot {
        let place = self.window.len();
        if seq - self.base == place as u64 && (place as u64) < WINDOW {
            self.window.push_back(Frame::default());
            return Slot::InWindow(place);
        }
        self.slot_far_after(seq, out)
    }

    #[cold]
    fn slot_far_after(&mut self, seq: u64, out: &mut impl FrameSink) -> Slot {
        if seq - self.base - self.window.len() as u64 > WINDOW {
            self.restart(seq, out);
        }
        let place = (seq - self.base) as usize;
        self.window.resize(place + 1, Frame::default());
        if place as u64 >= WINDOW {
            while seq - self.base >= WINDOW {
                self.pop(out);
            }
            return Slot::InWindow((seq - self.base) as usize);
        }
        Slot::InWindow(place)
    }

    /// Starts a new window, as the numbers jump too far to be the same sequence.
    #[cold]
    fn restart(&mut self, seq: u64, out: &mut impl FrameSink) {
        if self.retired || !self.window.is_empty() {
            self.empty(out);
            self.statistics.restarts += 1;
            self.highest_rx = None;
            self.given_up.clear();
            self.retired = true;
        }
        self.highest_tx = seq;
        self.base = seq;
    }

    /// Takes out frames for which no more sighting can come.
    #[inline]
    fn retire(&mut self, out: &mut impl FrameSink) {
        const WHOLE: FrameFlags = FrameFlags::TX.and(FrameFlags::RX);
        while self.window.len() > DUPLICATE_WINDOW {
            let Some(oldest) = self.window.front() else { return };
            let over = if oldest.flags.has(WHOLE) {
                true
            } else if oldest.flags.has(FrameFlags::TX) {
                self.highest_rx.is_some_and(|highest| highest >= self.base.saturating_add(GIVE_UP_AFTER))
            } else {
                self.highest_tx >= self.base.saturating_add(GIVE_UP_AFTER)
            };
            if !over {
                return;
            }
            self.pop(out);
        }
    }

    #[inline]
    fn pop(&mut self, out: &mut impl FrameSink) {
        let Some(frame) = self.window.pop_front() else { return };
        let seq = self.base;
        self.base = self.base.wrapping_add(1);
        self.retired = true;
        if frame.flags.has(FrameFlags::TX) && !frame.flags.has(FrameFlags::RX) {
            if self.given_up.len() == GIVEN_UP_MEMORY {
                self.given_up.pop_front();
            }
            self.given_up.push_back(seq);
        }
        let left = frame.flags.has(FrameFlags::TX);
        self.warm |= self.options.after_ns.is_none() || left && self.options.counts(frame.tx());
        if self.warm {
            self.statistics.add(seq, &frame, &self.options);
        }
        out.frame(seq, &frame, &self.options);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Frames of 64 octets sent every 1000 ns.
    fn sent(path: &mut Path, numbers: impl IntoIterator<Item = u64>) {
        for seq in numbers {
            path.tx(seq, Some(seq as i64 * 1000), 64, &mut ());
        }
    }

    fn counts(statistics: &PathStatistics) -> [u64; 7] {
        let PathStatistics { never_sent, sent, received, lost, duplicate, reordered, unmatched_rx, .. } =
            statistics;
        [*never_sent, *sent, *received, *lost, *duplicate, *reordered, *unmatched_rx]
    }

    /// Frames 0 to 5 leave at 0, 100, … ns and arrive 10 ns later, but frame 1 as late as 350 and again at 360; frame
    /// 3 never arrives.
    #[test]
    fn what_happens_in_the_warm_up_does_not_count() {
        let run = |after_ns: Option<i64>| {
            let mut path = Path::from_zero(PathOptions { after_ns, ..PathOptions::default() });
            let mut sightings = vec![(350, 1, false), (360, 1, false)];
            for seq in 0..6_u32 {
                sightings.push((100 * i64::from(seq), u64::from(seq), true));
                if ![1, 3].contains(&seq) {
                    sightings.push((100 * i64::from(seq) + 10, u64::from(seq), false));
                }
            }
            sightings.sort_unstable();
            for (t_ns, seq, leaves) in sightings {
                if leaves {
                    path.tx(seq, Some(t_ns), 100, &mut ());
                } else {
                    path.rx(seq, Some(t_ns), 100, &mut ());
                }
            }
            path.finish(&mut ());
            let gaps = path.statistics.arrivals.count();
            (counts(&path.statistics), path.statistics.delay.max().map(|max| max.value), gaps)
        };
        // Never sent, sent, received, lost, duplicate, reordered, only at the last tap; then the gaps.
        assert_eq!(run(None), ([0, 6, 5, 1, 1, 1, 0], Some(250), 4));
        assert_eq!(run(Some(101)), ([0, 4, 3, 1, 1, 1, 0], Some(10), 3));
        assert_eq!(run(Some(200)), run(Some(101)), "frame 2 leaves at 200");
        assert_eq!(run(Some(351)), ([0, 2, 2, 0, 1, 0, 0], Some(10), 1));
        assert_eq!(run(Some(501)), ([0, 0, 0, 0, 0, 0, 0], None, 0));
    }

    #[test]
    fn every_fate_of_a_frame_is_counted_once() {
        let mut path = Path::from_zero(PathOptions::default());
        sent(&mut path, [1, 2, 4, 5, 6, 7]);
        for (seq, late) in [(1, 10), (2, 10), (5, 10), (4, 3000), (5, 4000), (9, 10)] {
            path.rx(seq, Some(seq as i64 * 1000 + late), 64, &mut ());
        }
        path.rx(6, None, 64, &mut ());
        path.finish(&mut ());
        // Never sent: 0, 3, 8. Lost: 7. Twice: 5. After a higher one: 4 and 6. Only at the last tap: 9.
        assert_eq!(counts(&path.statistics), [3, 6, 5, 1, 1, 2, 1]);
        assert_eq!(path.statistics.missing_timestamp, 1);
        assert_eq!(path.statistics.delay.count(), 4, "what has no stamp has no delay");
        assert_eq!(path.statistics.delay.max().map(|max| (max.value, max.seq)), Some((3000, Some(4))));
        // Steps in order of numbers: 10, 10, 3000, 10.
        let steps = path.statistics.steps.signed().stat().unwrap();
        assert_eq!((steps.count, steps.min, steps.max, steps.sum), (3, -2990, 2990, 0));
        assert_eq!(path.statistics.lost_after, [1]);
    }

    #[test]
    fn a_leading_gap_counts_only_where_numbers_are_known_to_begin_at_zero() {
        for (mut path, never_sent) in
            [(Path::from_zero(PathOptions::default()), 5), (Path::from_first(PathOptions::default()), 0)]
        {
            sent(&mut path, 5..10);
            path.finish(&mut ());
            assert_eq!((path.statistics.never_sent, path.first_seq), (never_sent, Some(5)));
        }
        // The first two frames may have been reordered.
        let mut path = Path::from_first(PathOptions::default());
        sent(&mut path, [1, 0, 2]);
        path.finish(&mut ());
        assert_eq!((path.statistics.sent, path.statistics.duplicate_tx, path.first_seq), (3, 0, Some(0)));
    }

    #[test]
    fn where_a_frame_was_lost_is_after_the_last_tap_that_saw_it() {
        let mut path = Path::from_zero(PathOptions::default());
        sent(&mut path, 0..4);
        for (seq, tap) in [(0, 1), (0, 2), (1, 1), (2, 2), (2, 1)] {
            path.between(seq, tap, &mut ());
        }
        path.rx(0, Some(1), 64, &mut ());
        path.finish(&mut ());
        assert_eq!(path.statistics.lost_after, [1, 1, 1]);
    }

    #[test]
    fn memory_does_not_grow_with_what_is_lost_or_jumps() {
        let mut path = Path::from_first(PathOptions::default());
        sent(&mut path, 0..3 * WINDOW);
        assert!(path.window.len() as u64 <= WINDOW);
        assert_eq!(path.statistics.lost, 2 * WINDOW);
        path.rx(0, Some(0), 64, &mut ());
        path.rx(u64::MAX, Some(0), 64, &mut ());
        path.tx(u64::MAX - 1, Some(0), 64, &mut ());
        path.tx(3, Some(0), 64, &mut ());
        path.finish(&mut ());
        assert!(path.window.is_empty() && path.statistics.restarts > 0);
    }

    /// `[sent, twice at the first tap, restarts]` after the end.
    fn ended(mut path: Path) -> [u64; 3] {
        path.finish(&mut ());
        [path.statistics.sent, path.statistics.duplicate_tx, path.statistics.restarts]
    }

    #[test]
    fn a_frame_that_is_sent_twice_counts_once() {
        let mut path = Path::from_zero(PathOptions::default());
        sent(&mut path, [0, 1, 1, 1]);
        assert_eq!(ended(path), [2, 2, 0]);
    }

    #[test]
    fn numbers_that_fall_back_by_more_than_a_window_begin_anew() {
        // Frames up to 2 × WINDOW - 1 are over; WINDOW before that is too late, and one more is another sequence.
        for (seq, expected) in [(WINDOW, [0, 1, 0]), (WINDOW - 1, [1, 0, 1])] {
            let over = Path { base: 2 * WINDOW, begun: true, retired: true, ..Path::default() };
            let mut path = over;
            sent(&mut path, [seq]);
            assert_eq!(ended(path), expected, "{seq}");
        }
    }

    #[test]
    fn a_number_before_the_first_has_room_as_far_as_the_window_goes() {
        // From 1 to WINDOW are WINDOW numbers; 0 would be one more.
        for (early, expected) in [(1, [2, 0, 0]), (0, [1, 1, 0])] {
            let mut path = Path::from_first(PathOptions::default());
            sent(&mut path, [WINDOW, early]);
            assert_eq!(ended(path), expected, "{early}");
        }
    }

    #[test]
    fn a_jump_of_more_than_a_window_begins_anew() {
        for (next, restarts) in [(WINDOW + 2, 0), (WINDOW + 3, 1)] {
            let mut path = Path::from_first(PathOptions::default());
            sent(&mut path, [0, 1, next]);
            assert_eq!(ended(path), [3, 0, restarts], "{next}");
        }
    }

    #[test]
    fn the_window_holds_no_more_than_its_length() {
        let mut path = Path::from_first(PathOptions::default());
        sent(&mut path, 0..WINDOW);
        assert_eq!((path.window.len() as u64, path.base), (WINDOW, 0));
        sent(&mut path, [WINDOW]);
        assert_eq!((path.window.len() as u64, path.base), (WINDOW, 1));
    }

    #[test]
    fn a_frame_given_up_as_lost_that_arrives_after_all_is_no_duplicate() {
        let mut path = Path::from_first(PathOptions::default());
        for seq in 0..2 * GIVE_UP_AFTER {
            path.tx(seq, Some(0), 64, &mut ());
            if seq != 7 {
                path.rx(seq, Some(0), 64, &mut ());
            }
        }
        path.rx(7, Some(9), 64, &mut ());
        path.rx(8, Some(9), 64, &mut ());
        path.finish(&mut ());
        assert_eq!(counts(&path.statistics), [0, 2 * GIVE_UP_AFTER, 2 * GIVE_UP_AFTER - 1, 1, 1, 0, 1]);
    }

    #[test]
    fn a_gap_between_arrivals_is_from_the_one_before() {
        let mut path = Path::from_zero(PathOptions::default());
        sent(&mut path, 0..7);
        for (seq, stamp) in [(0, 1_000), (1, 2_000), (2, 3_300), (3, 4_000), (4, 5_000)] {
            path.rx(seq, Some(stamp), 64, &mut ());
        }
        let gaps = path.statistics.arrivals.stat().unwrap();
        assert_eq!((gaps.count, gaps.min, gaps.max, gaps.sum), (4, 700, 1_300, 4_000));
        assert_eq!((gaps.min_seq, gaps.max_seq), (Some(3), Some(2)));
        // A frame without a timestamp ends no gap, and neither does a duplicate: the next gap begins at 5,000.
        path.rx(5, None, 64, &mut ());
        path.rx(4, Some(5_900), 64, &mut ());
        path.rx(6, Some(7_500), 64, &mut ());
        let gaps = path.statistics.arrivals.stat().unwrap();
        assert_eq!((gaps.count, gaps.max, gaps.max_seq), (5, 2_500, Some(6)));
    }

    #[test]
    fn every_late_frame_is_reordered_and_the_highest_number_is_kept() {
        for (arrivals, reordered) in
            [([0, 3, 1, 2, 4], 2), ([4, 0, 1, 2, 3], 4), ([4, 3, 2, 1, 0], 4), ([0, 1, 2, 3, 4], 0)]
        {
            let mut path = Path::from_zero(PathOptions::default());
            sent(&mut path, 0..5);
            for seq in arrivals {
                path.rx(seq, Some(0), 64, &mut ());
            }
            path.finish(&mut ());
            assert_eq!(counts(&path.statistics), [0, 5, 5, 0, 0, reordered, 0], "{arrivals:?}");
        }
    }

    /// A frame is given up with the arrival of the number that is `GIVE_UP_AFTER` above its own, not before and not after.
    #[test]
    fn a_lost_frame_is_given_up_with_its_last_chance() {
        for (highest, received, too_late) in [(GIVE_UP_AFTER - 1, 1, 0), (GIVE_UP_AFTER, 0, 1)] {
            let mut path = Path::from_zero(PathOptions::default());
            sent(&mut path, 0..=GIVE_UP_AFTER);
            path.rx(highest, Some(0), 64, &mut ());
            path.rx(0, Some(0), 64, &mut ());
            path.finish(&mut ());
            let [_, sent, arrived, lost, _, reordered, unmatched] = counts(&path.statistics);
            assert_eq!(
                (sent, arrived, lost),
                (GIVE_UP_AFTER + 1, 1 + received, GIVE_UP_AFTER - received),
                "{highest}"
            );
            assert_eq!((reordered, unmatched), (received, too_late), "{highest}");
        }
    }

    #[test]
    fn a_path_measures_against_what_it_was_given() {
        let options =
            PathOptions { path: 3, offset_ns: 40, deadline_ns: Some(100), ..PathOptions::default() };
        for mut path in [Path::from_zero(options), Path::from_first(options)] {
            path.tx(0, Some(0), 64, &mut ());
            path.rx(0, Some(141), 64, &mut ());
            path.finish(&mut ());
            let longest = path.statistics.delay.max().map(|max| (max.value, max.path));
            assert_eq!((longest, path.statistics.late), (Some((101, 3)), 1));
        }
    }

    /// A number that was not observed at the first tap is given up in the same way.
    #[test]
    fn a_number_that_was_not_sent_is_given_up_with_its_last_chance() {
        for (highest, never_sent) in [(GIVE_UP_AFTER - 1, 0), (GIVE_UP_AFTER, 1)] {
            let mut path = Path::from_zero(PathOptions::default());
            sent(&mut path, 1..=highest);
            sent(&mut path, [0]);
            path.finish(&mut ());
            assert_eq!(
                counts(&path.statistics),
                [never_sent, highest + 1 - never_sent, 0, highest + 1 - never_sent, 0, 0, 0]
            );
            assert_eq!(path.statistics.duplicate_tx, never_sent);
        }
    }

    /// Complete frames wait while `DUPLICATE_WINDOW` numbers follow: until one has left, a number below the first is
    /// accepted.
    #[test]
    fn whole_frames_wait_for_as_many_numbers_as_are_kept() {
        for (frames, taken) in [(DUPLICATE_WINDOW as u64, 1), (DUPLICATE_WINDOW as u64 + 1, 0)] {
            let mut path = Path::from_first(PathOptions::default());
            for seq in 5..5 + frames {
                sent(&mut path, [seq]);
                path.rx(seq, Some(0), 64, &mut ());
            }
            assert_eq!(path.has_left(4), taken == 0);
            sent(&mut path, [4]);
            path.finish(&mut ());
            assert_eq!((path.statistics.sent, path.statistics.duplicate_tx), (frames + taken, 1 - taken));
        }
    }

    #[test]
    fn the_last_1024_frames_given_up_are_remembered() {
        let mut path = Path::from_zero(PathOptions::default());
        let lost = GIVEN_UP_MEMORY as u64 + 1;
        sent(&mut path, 0..=lost + GIVE_UP_AFTER);
        path.rx(lost - 1 + GIVE_UP_AFTER, Some(0), 64, &mut ());
        path.rx(0, Some(0), 64, &mut ());
        // Number 0 is forgotten, so it counts as a duplicate; the others came too late, each once.
        for seq in [1, lost - 1, 1] {
            path.rx(seq, Some(0), 64, &mut ());
        }
        let [.., duplicate, _, unmatched] = counts(&path.statistics);
        assert_eq!((duplicate, unmatched), (2, 2));
    }

    proptest! {
        /// The counts do not depend on how the sightings of the two sides interleave, with each side's order kept.
        #[test]
        fn the_order_of_reading_does_not_matter(
            numbers in prop::collection::vec(0_u64..60, 1..80),
            arrivals in prop::collection::vec((0_u64..60, 0_i64..500), 0..80),
            choices in prop::collection::vec(any::<bool>(), 160),
        ) {
            let run = |choices: &mut dyn FnMut(usize, usize) -> bool| {
                let mut path = Path::from_zero(PathOptions::default());
                let (mut tx, mut rx) = (0, 0);
                while tx < numbers.len() || rx < arrivals.len() {
                    if rx == arrivals.len() || (tx < numbers.len() && choices(tx, rx)) {
                        path.tx(numbers[tx], Some(numbers[tx] as i64 * 10), 64, &mut ());
                        tx += 1;
                    } else {
                        path.rx(arrivals[rx].0, Some(arrivals[rx].1), 64, &mut ());
                        rx += 1;
                    }
                }
                path.finish(&mut ());
                (counts(&path.statistics), path.statistics.delay.stat(), path.statistics.steps.signed().stat(), path.statistics.arrivals.stat())
            };
            let straight = run(&mut |_, _| true);
            prop_assert_eq!(&run(&mut |_, _| false), &straight);
            prop_assert_eq!(&run(&mut |tx, rx| choices[tx + rx]), &straight);
            let distinct = |all: &[u64]| all.iter().collect::<std::collections::BTreeSet<_>>().len() as u64;
            let [never_sent, sent, received, lost, duplicate, _, unmatched] = straight.0;
            prop_assert_eq!(sent, distinct(&numbers));
            prop_assert_eq!(sent, received + lost);
            prop_assert_eq!(received + unmatched + duplicate, arrivals.len() as u64);
            let highest = numbers.iter().chain(arrivals.iter().map(|(seq, _)| seq)).max().unwrap();
            prop_assert_eq!(never_sent + sent + unmatched, highest + 1);
        }
    }
}
