//! One path: sightings of numbered frames in, whole frames out in order of their numbers.
//!
//! Frames wait in a window over their numbers until nothing more can come: both sightings are there and some room for
//! duplicates has passed, or the side that is missing has gone on by [`LATE`] numbers, or the window is full.

use crate::tally::{Against, Frame, Marks, Tally};
use std::collections::VecDeque;

/// Numbers that a whole frame waits for duplicates of itself.
const KEEP: usize = 128;
/// How many numbers later a frame may still arrive (or be found to have been sent).
pub const LATE: u64 = 4096;
/// The most numbers between the oldest frame that waits and the newest.
pub const SPAN: u64 = 1 << 18;
/// The most given-up numbers that are remembered, to tell a very late arrival from a duplicate.
const REMEMBERED: usize = 1024;

/// Takes whole frames, one by one; the table of frames does.
pub trait Frames {
    /// A frame of a path; it will not be sighted again.
    fn frame(&mut self, seq: u64, frame: &Frame, against: &Against);
}

impl Frames for () {
    #[inline]
    fn frame(&mut self, _: u64, _: &Frame, _: &Against) {}
}

/// The window of one path, and its tally.
#[derive(Debug, Default)]
pub struct Path {
    /// What was counted.
    pub tally: Tally,
    /// What is measured against.
    pub against: Against,
    /// The first number that was sighted at the first tap.
    pub first_seq: Option<u64>,
    window: VecDeque<Frame>,
    /// The number of the window's first frame.
    base: u64,
    begun: bool,
    retired: bool,
    highest_tx: u64,
    highest_rx: Option<u64>,
    previous_rx: Option<i64>,
    given_up: VecDeque<u64>,
}

/// Where a sighting goes.
enum Place {
    Here(usize),
    /// The number is no longer waited for.
    Past,
}

impl Path {
    /// A path whose numbers are known to begin at 0, so that a first number above that means frames never sent.
    #[must_use]
    pub fn from_zero(against: Against) -> Self {
        Self { against, begun: true, ..Self::default() }
    }

    /// A path whose numbers begin with the first that is sighted.
    #[must_use]
    pub fn from_first(against: Against) -> Self {
        Self { against, ..Self::default() }
    }

    /// A sighting at the talker's queue.
    pub fn send(&mut self, seq: u64, t_ns: Option<i64>, out: &mut impl Frames) {
        if let Place::Here(place) = self.place(seq, out) {
            self.window[place].sight_send(t_ns);
        }
    }

    /// A sighting at the first tap.
    #[inline]
    pub fn tx(&mut self, seq: u64, t_ns: Option<i64>, octets: u32, out: &mut impl Frames) {
        if self.begun && seq.saturating_add(SPAN) < self.base {
            self.restart(seq, out);
        }
        let Place::Here(place) = self.place(seq, out) else {
            self.tally.duplicate_tx += 1;
            return;
        };
        let frame = &mut self.window[place];
        if frame.marks.has(Marks::TX) {
            self.tally.duplicate_tx += 1;
            return;
        }
        frame.sight_tx(t_ns, octets);
        self.first_seq = Some(self.first_seq.map_or(seq, |first| first.min(seq)));
        self.highest_tx = self.highest_tx.max(seq);
        self.retire(out);
    }

    /// Whether a frame was sighted at a first tap, as far as it is remembered: one that no longer waits was.
    #[must_use]
    pub fn has_left(&self, seq: u64) -> bool {
        let Some(place) = seq.checked_sub(self.base) else { return self.retired };
        let frame = usize::try_from(place).ok().and_then(|place| self.window.get(place));
        frame.is_some_and(|frame| frame.marks.has(Marks::TX))
    }

    /// A sighting between the first tap and the last, at the tap of this place on the path.
    pub fn between(&mut self, seq: u64, tap: u8, out: &mut impl Frames) {
        if let Place::Here(place) = self.place(seq, out) {
            let frame = &mut self.window[place];
            frame.last_tap = frame.last_tap.max(tap);
        }
    }

    /// A sighting at the last tap. Returns `t_rx − t_tx` when this completes a frame.
    #[inline]
    pub fn rx(&mut self, seq: u64, t_ns: Option<i64>, octets: u32, out: &mut impl Frames) -> Option<i64> {
        let Place::Here(place) = self.place(seq, out) else {
            match self.given_up.iter().position(|lost| *lost == seq) {
                // It was counted as lost; that it arrived after all is told apart from a duplicate.
                Some(found) => {
                    self.given_up.remove(found);
                    self.tally.unmatched_rx += 1;
                }
                None => self.tally.duplicate += 1,
            }
            return None;
        };
        let frame = &mut self.window[place];
        if frame.marks.has(Marks::RX) {
            self.tally.duplicate += 1;
            return None;
        }
        frame.sight_rx(t_ns, octets);
        let delay = frame.delay(0);
        if self.highest_rx.is_some_and(|highest| seq < highest) {
            self.tally.reordered += 1;
        } else {
            self.highest_rx = Some(seq);
        }
        if let Some(stamp) = t_ns {
            if let Some(gap) = self.previous_rx.and_then(|previous| stamp.checked_sub(previous)) {
                self.tally.arrivals.add(gap, seq, self.against.path);
            }
            self.previous_rx = Some(stamp);
        }
        self.retire(out);
        delay
    }

    /// Nothing more comes: everything that waits is as whole as it gets.
    pub fn finish(&mut self, out: &mut impl Frames) {
        while !self.window.is_empty() {
            self.pop(out);
        }
    }

    /// Where the frame of this number waits; makes room for it.
    #[inline]
    fn place(&mut self, seq: u64, out: &mut impl Frames) -> Place {
        if !self.begun {
            self.begun = true;
            self.base = seq;
        }
        if seq < self.base {
            return self.place_before(seq);
        }
        let place = seq - self.base;
        if place >= self.window.len() as u64 {
            return self.place_after(seq, out);
        }
        Place::Here(place as usize)
    }

    /// A number before the window: welcome as long as nothing has left it.
    #[cold]
    fn place_before(&mut self, seq: u64) -> Place {
        let missing = self.base - seq;
        if self.retired || missing + self.window.len() as u64 > SPAN {
            return Place::Past;
        }
        for _ in 0..missing {
            self.window.push_front(Frame::default());
        }
        self.base = seq;
        Place::Here(0)
    }

    #[inline]
    fn place_after(&mut self, seq: u64, out: &mut impl Frames) -> Place {
        let place = self.window.len();
        if seq - self.base == place as u64 && (place as u64) < SPAN {
            self.window.push_back(Frame::default());
            return Place::Here(place);
        }
        self.place_far_after(seq, out)
    }

    #[cold]
    fn place_far_after(&mut self, seq: u64, out: &mut impl Frames) -> Place {
        if seq - self.base - self.window.len() as u64 > SPAN {
            self.restart(seq, out);
        }
        let place = (seq - self.base) as usize;
        self.window.resize(place + 1, Frame::default());
        if place as u64 >= SPAN {
            while seq - self.base >= SPAN {
                self.pop(out);
            }
            return Place::Here((seq - self.base) as usize);
        }
        Place::Here(place)
    }

    /// The numbers jump too far to be the same sequence: what waits is over, and the window begins anew.
    #[cold]
    fn restart(&mut self, seq: u64, out: &mut impl Frames) {
        if self.retired || !self.window.is_empty() {
            self.finish(out);
            self.tally.restarts += 1;
            self.highest_rx = None;
            self.given_up.clear();
            self.retired = true;
        }
        self.highest_tx = seq;
        self.base = seq;
    }

    /// Lets go of what nothing more can come for.
    #[inline]
    fn retire(&mut self, out: &mut impl Frames) {
        const WHOLE: Marks = Marks::TX.and(Marks::RX);
        while self.window.len() > KEEP {
            let Some(oldest) = self.window.front() else { return };
            let over = if oldest.marks.has(WHOLE) {
                true
            } else if oldest.marks.has(Marks::TX) {
                self.highest_rx.is_some_and(|highest| highest >= self.base.saturating_add(LATE))
            } else {
                self.highest_tx >= self.base.saturating_add(LATE)
            };
            if !over {
                return;
            }
            self.pop(out);
        }
    }

    #[inline]
    fn pop(&mut self, out: &mut impl Frames) {
        let Some(frame) = self.window.pop_front() else { return };
        let seq = self.base;
        self.base = self.base.wrapping_add(1);
        self.retired = true;
        if frame.marks.has(Marks::TX) && !frame.marks.has(Marks::RX) {
            if self.given_up.len() == REMEMBERED {
                self.given_up.pop_front();
            }
            self.given_up.push_back(seq);
        }
        self.tally.add(seq, &frame, &self.against);
        out.frame(seq, &frame, &self.against);
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

    fn counts(tally: &Tally) -> [u64; 7] {
        let Tally { never_sent, sent, received, lost, duplicate, reordered, unmatched_rx, .. } = tally;
        [*never_sent, *sent, *received, *lost, *duplicate, *reordered, *unmatched_rx]
    }

    #[test]
    fn every_fate_of_a_frame_is_counted_once() {
        let mut path = Path::from_zero(Against::default());
        sent(&mut path, [1, 2, 4, 5, 6, 7]);
        for (seq, late) in [(1, 10), (2, 10), (5, 10), (4, 3000), (5, 4000), (9, 10)] {
            path.rx(seq, Some(seq as i64 * 1000 + late), 64, &mut ());
        }
        path.rx(6, None, 64, &mut ());
        path.finish(&mut ());
        // Never sent: 0, 3, 8. Lost: 7. Twice: 5. After a higher one: 4 and 6. Only at the last tap: 9.
        assert_eq!(counts(&path.tally), [3, 6, 5, 1, 1, 2, 1]);
        assert_eq!(path.tally.missing_timestamp, 1);
        assert_eq!(path.tally.delay.count(), 4, "what has no stamp has no delay");
        assert_eq!(path.tally.delay.max().map(|max| (max.value, max.seq)), Some((3000, Some(4))));
        // Steps in order of numbers: 10, 10, 3000, 10.
        let steps = path.tally.step.stat().unwrap();
        assert_eq!((steps.count, steps.min, steps.max, steps.sum), (3, -2990, 2990, 0));
        assert_eq!(path.tally.lost_after, [1]);
    }

    #[test]
    fn a_leading_gap_counts_only_where_numbers_are_known_to_begin_at_zero() {
        for (mut path, never_sent) in
            [(Path::from_zero(Against::default()), 5), (Path::from_first(Against::default()), 0)]
        {
            sent(&mut path, 5..10);
            path.finish(&mut ());
            assert_eq!((path.tally.never_sent, path.first_seq), (never_sent, Some(5)));
        }
        // The first two may have changed places.
        let mut path = Path::from_first(Against::default());
        sent(&mut path, [1, 0, 2]);
        path.finish(&mut ());
        assert_eq!((path.tally.sent, path.tally.duplicate_tx, path.first_seq), (3, 0, Some(0)));
    }

    #[test]
    fn where_a_frame_was_lost_is_after_the_last_tap_that_saw_it() {
        let mut path = Path::from_zero(Against::default());
        sent(&mut path, 0..4);
        for (seq, tap) in [(0, 1), (0, 2), (1, 1), (2, 2), (2, 1)] {
            path.between(seq, tap, &mut ());
        }
        path.rx(0, Some(1), 64, &mut ());
        path.finish(&mut ());
        assert_eq!(path.tally.lost_after, [1, 1, 1]);
    }

    #[test]
    fn memory_does_not_grow_with_what_is_lost_or_jumps() {
        let mut path = Path::from_first(Against::default());
        sent(&mut path, 0..3 * SPAN);
        assert!(path.window.len() as u64 <= SPAN);
        assert_eq!(path.tally.lost, 2 * SPAN);
        path.rx(0, Some(0), 64, &mut ());
        path.rx(u64::MAX, Some(0), 64, &mut ());
        path.tx(u64::MAX - 1, Some(0), 64, &mut ());
        path.tx(3, Some(0), 64, &mut ());
        path.finish(&mut ());
        assert!(path.window.is_empty() && path.tally.restarts > 0);
    }

    #[test]
    fn a_frame_given_up_as_lost_that_arrives_after_all_is_no_duplicate() {
        let mut path = Path::from_first(Against::default());
        for seq in 0..2 * LATE {
            path.tx(seq, Some(0), 64, &mut ());
            if seq != 7 {
                path.rx(seq, Some(0), 64, &mut ());
            }
        }
        path.rx(7, Some(9), 64, &mut ());
        path.rx(8, Some(9), 64, &mut ());
        path.finish(&mut ());
        assert_eq!(counts(&path.tally), [0, 2 * LATE, 2 * LATE - 1, 1, 1, 0, 1]);
    }

    #[test]
    fn a_gap_between_arrivals_is_from_the_one_before() {
        let mut path = Path::from_zero(Against::default());
        sent(&mut path, 0..7);
        for (seq, stamp) in [(0, 1_000), (1, 2_000), (2, 3_300), (3, 4_000), (4, 5_000)] {
            path.rx(seq, Some(stamp), 64, &mut ());
        }
        let gaps = path.tally.arrivals.stat().unwrap();
        assert_eq!((gaps.count, gaps.min, gaps.max, gaps.sum), (4, 700, 1_300, 4_000));
        assert_eq!((gaps.min_seq, gaps.max_seq), (Some(3), Some(2)));
        // What has no stamp ends no gap, and neither does a duplicate: the next gap is from 5,000 on.
        path.rx(5, None, 64, &mut ());
        path.rx(4, Some(5_900), 64, &mut ());
        path.rx(6, Some(7_500), 64, &mut ());
        let gaps = path.tally.arrivals.stat().unwrap();
        assert_eq!((gaps.count, gaps.max, gaps.max_seq), (5, 2_500, Some(6)));
    }

    #[test]
    fn every_late_frame_is_reordered_and_the_highest_number_is_kept() {
        for (arrivals, reordered) in
            [([0, 3, 1, 2, 4], 2), ([4, 0, 1, 2, 3], 4), ([4, 3, 2, 1, 0], 4), ([0, 1, 2, 3, 4], 0)]
        {
            let mut path = Path::from_zero(Against::default());
            sent(&mut path, 0..5);
            for seq in arrivals {
                path.rx(seq, Some(0), 64, &mut ());
            }
            path.finish(&mut ());
            assert_eq!(counts(&path.tally), [0, 5, 5, 0, 0, reordered, 0], "{arrivals:?}");
        }
    }

    /// A frame is given up with the arrival of the number that is `LATE` above its own, not before and not after.
    #[test]
    fn a_lost_frame_is_given_up_with_its_last_chance() {
        for (highest, received, too_late) in [(LATE - 1, 1, 0), (LATE, 0, 1)] {
            let mut path = Path::from_zero(Against::default());
            sent(&mut path, 0..=LATE);
            path.rx(highest, Some(0), 64, &mut ());
            path.rx(0, Some(0), 64, &mut ());
            path.finish(&mut ());
            let [_, sent, arrived, lost, _, reordered, unmatched] = counts(&path.tally);
            assert_eq!((sent, arrived, lost), (LATE + 1, 1 + received, LATE - received), "{highest}");
            assert_eq!((reordered, unmatched), (received, too_late), "{highest}");
        }
    }

    #[test]
    fn a_path_measures_against_what_it_was_given() {
        let against = Against { path: 3, offset_ns: 40, deadline_ns: Some(100) };
        for mut path in [Path::from_zero(against), Path::from_first(against)] {
            path.tx(0, Some(0), 64, &mut ());
            path.rx(0, Some(141), 64, &mut ());
            path.finish(&mut ());
            let longest = path.tally.delay.max().map(|max| (max.value, max.path));
            assert_eq!((longest, path.tally.late), (Some((101, 3)), 1));
        }
    }

    /// The same of a number that was not sighted at the first tap.
    #[test]
    fn a_number_that_was_not_sent_is_given_up_with_its_last_chance() {
        for (highest, never_sent) in [(LATE - 1, 0), (LATE, 1)] {
            let mut path = Path::from_zero(Against::default());
            sent(&mut path, 1..=highest);
            sent(&mut path, [0]);
            path.finish(&mut ());
            assert_eq!(
                counts(&path.tally),
                [never_sent, highest + 1 - never_sent, 0, highest + 1 - never_sent, 0, 0, 0]
            );
            assert_eq!(path.tally.duplicate_tx, never_sent);
        }
    }

    /// Whole frames wait while `KEEP` numbers follow: until one has left, a number below the first is taken.
    #[test]
    fn whole_frames_wait_for_as_many_numbers_as_are_kept() {
        for (frames, taken) in [(KEEP as u64, 1), (KEEP as u64 + 1, 0)] {
            let mut path = Path::from_first(Against::default());
            for seq in 5..5 + frames {
                sent(&mut path, [seq]);
                path.rx(seq, Some(0), 64, &mut ());
            }
            assert_eq!(path.has_left(4), taken == 0);
            sent(&mut path, [4]);
            path.finish(&mut ());
            assert_eq!((path.tally.sent, path.tally.duplicate_tx), (frames + taken, 1 - taken));
        }
    }

    #[test]
    fn the_last_1024_frames_given_up_are_remembered() {
        let mut path = Path::from_zero(Against::default());
        let lost = REMEMBERED as u64 + 1;
        sent(&mut path, 0..=lost + LATE);
        path.rx(lost - 1 + LATE, Some(0), 64, &mut ());
        path.rx(0, Some(0), 64, &mut ());
        // Number 0 is forgotten, so it counts as a duplicate; the others came too late, each once.
        for seq in [1, lost - 1, 1] {
            path.rx(seq, Some(0), 64, &mut ());
        }
        let [.., duplicate, _, unmatched] = counts(&path.tally);
        assert_eq!((duplicate, unmatched), (2, 2));
    }

    proptest! {
        /// However the two sides' sightings interleave, each side's own order kept, the counts are the same.
        #[test]
        fn the_order_of_reading_does_not_matter(
            numbers in prop::collection::vec(0_u64..60, 1..80),
            arrivals in prop::collection::vec((0_u64..60, 0_i64..500), 0..80),
            choices in prop::collection::vec(any::<bool>(), 160),
        ) {
            let run = |choices: &mut dyn FnMut(usize, usize) -> bool| {
                let mut path = Path::from_zero(Against::default());
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
                (counts(&path.tally), path.tally.delay.stat(), path.tally.step.stat(), path.tally.arrivals.stat())
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
