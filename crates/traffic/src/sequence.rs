//! Sequence numbers of a stream's received frames: lost, duplicate, out of order; and talkers that begin again.

/// Size of the window of remembered numbers. A frame whose number is further behind the greatest one is counted as
/// late, and its loss stands.
const WINDOW: u64 = 1 << 16;
/// A talker has begun again if it was silent for more of its longest pauses than this.
const PAUSES: i64 = 2;

/// One stream's numbers so far.
#[derive(Clone, Debug, Default)]
pub struct Sequence {
    /// The first number received, and the greatest.
    span: Option<(u64, u64)>,
    seen: Vec<u64>,
    unique: u64,
    /// Numbers lost by the talker before it began again.
    lost_before: u64,
    /// The latest intended sending time, and the longest pause between two.
    latest_ns: Option<i64>,
    pause_ns: i64,
    /// How often the talker began again.
    pub restarts: u64,
    /// Frames received more than once.
    pub duplicates: u64,
    /// Frames received after one with a greater number.
    pub reordered: u64,
}

impl Sequence {
    /// Counts a received frame with its intended sending time, if it has one; returns whether it is new.
    ///
    /// A frame with an earlier number, which is to be sent after a longer silence than any before, is of a talker that
    /// begins again: a frame that the network repeats has its old time.
    pub fn received_at(&mut self, seq: u64, intended_ns: Option<i64>) -> bool {
        let pause_ns = intended_ns.zip(self.latest_ns).map_or(0, |(now, last)| now.saturating_sub(last));
        let earlier = self.span.is_some_and(|(_, greatest)| seq <= greatest);
        if earlier && pause_ns > self.pause_ns.saturating_mul(PAUSES) {
            self.lost_before = self.lost();
            (self.span, self.seen, self.unique) = (None, Vec::new(), 0);
            self.restarts += 1;
        } else {
            self.pause_ns = self.pause_ns.max(pause_ns);
        }
        self.latest_ns = self.latest_ns.max(intended_ns);
        self.received(seq)
    }

    /// Counts a received frame; returns whether it is new.
    pub fn received(&mut self, seq: u64) -> bool {
        if self.seen.is_empty() {
            self.seen = vec![0; (WINDOW / 64) as usize];
        }
        let Some((first, greatest)) = self.span else {
            self.span = Some((seq, seq));
            self.mark(seq);
            self.unique = 1;
            return true;
        };
        if seq > greatest {
            // Numbers that leave the window were marked by frames that are too old to be repeated.
            for left in (greatest + 1..=seq).rev().take(WINDOW as usize) {
                self.unmark(left);
            }
            self.span = Some((first, seq));
        } else {
            if greatest - seq >= WINDOW {
                self.reordered += 1;
                return false;
            }
            if self.is_marked(seq) {
                self.duplicates += 1;
                return false;
            }
            self.reordered += 1;
            self.span = Some((first.min(seq), greatest));
        }
        self.mark(seq);
        self.unique += 1;
        true
    }

    /// Numbers between the first and the greatest that were not received. Losses before the first number and after
    /// the greatest one are unknown.
    pub fn lost(&self) -> u64 {
        let now = self.span.map_or(0, |(first, greatest)| (greatest - first + 1).saturating_sub(self.unique));
        self.lost_before.saturating_add(now)
    }

    /// The least number received since the talker began, and the greatest.
    pub fn span(&self) -> Option<(u64, u64)> {
        self.span
    }

    fn place(seq: u64) -> (usize, u64) {
        let within = seq % WINDOW;
        ((within / 64) as usize, 1 << (within % 64))
    }

    fn is_marked(&self, seq: u64) -> bool {
        let (place, bit) = Self::place(seq);
        self.seen.get(place).is_some_and(|word| word & bit != 0)
    }

    fn mark(&mut self, seq: u64) {
        let (place, bit) = Self::place(seq);
        if let Some(word) = self.seen.get_mut(place) {
            *word |= bit;
        }
    }

    fn unmark(&mut self, seq: u64) {
        let (place, bit) = Self::place(seq);
        if let Some(word) = self.seen.get_mut(place) {
            *word &= !bit;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(numbers: impl IntoIterator<Item = u64>) -> (u64, u64, u64) {
        let mut sequence = Sequence::default();
        for number in numbers {
            sequence.received(number);
        }
        (sequence.lost(), sequence.duplicates, sequence.reordered)
    }

    #[test]
    fn lost_twice_and_out_of_order() {
        for (numbers, expected) in [
            (vec![], (0, 0, 0)),
            (vec![0, 1, 2], (0, 0, 0)),
            (vec![5, 6, 9], (2, 0, 0)),
            (vec![5, 6, 9, 7], (1, 0, 1)),
            (vec![5, 5, 6, 5], (0, 2, 0)),
            (vec![5, 4], (0, 0, 1)),
            (vec![0, WINDOW, 1], (WINDOW - 2, 0, 1)),
            (vec![0, WINDOW + 5, 0], (WINDOW + 4, 0, 1)),
            (vec![0, 3 * WINDOW, 3 * WINDOW], (3 * WINDOW - 1, 1, 0)),
        ] {
            assert_eq!(after(numbers.clone()), expected, "{numbers:?}");
        }
        assert_eq!(after(0..3 * WINDOW), (0, 0, 0));
    }

    /// `(lost, duplicates, reordered, restarts)` of numbers with intended times.
    fn timed(frames: &[(u64, i64)]) -> (u64, u64, u64, u64) {
        let mut sequence = Sequence::default();
        for &(number, at_ns) in frames {
            sequence.received_at(number, Some(at_ns));
        }
        (sequence.lost(), sequence.duplicates, sequence.reordered, sequence.restarts)
    }

    #[test]
    fn a_talker_that_begins_again() {
        for (frames, expected) in [
            // Number 2 is lost before, and number 1 after the restart.
            (&[(0, 0), (1, 10), (3, 30), (0, 500), (2, 520)][..], (2, 0, 0, 1)),
            (&[(0, 0), (1, 10), (0, 500), (1, 510), (0, 900)], (0, 0, 0, 2)),
            // The longest pause is 30 ns; a silence of 60 ns is none that shows a restart.
            (&[(0, 0), (3, 30), (0, 90)], (2, 1, 0, 0)),
            (&[(0, 0), (3, 30), (0, 91)], (2, 0, 0, 1)),
            // A repeated frame, also a late one, has its old time.
            (&[(0, 0), (1, 10), (2, 20), (1, 10), (0, 0)], (0, 2, 0, 0)),
            (&[(0, 0), (2, 20), (1, 10)], (0, 0, 1, 0)),
            // Two talkers with one number at the same time.
            (&[(0, 0), (1, 10), (0, 15), (2, 20), (1, 25), (3, 30)], (0, 2, 0, 0)),
            // The same number again, much later: a talker of one frame.
            (&[(7, 0), (7, 1)], (0, 0, 0, 1)),
        ] {
            assert_eq!(timed(frames), expected, "{frames:?}");
        }
    }

    #[test]
    fn without_times_nobody_begins_again() {
        let mut sequence = Sequence::default();
        for number in [0, 1, 2, 0, 1] {
            sequence.received_at(number, None);
        }
        assert_eq!((sequence.duplicates, sequence.restarts), (2, 0));
    }
}
