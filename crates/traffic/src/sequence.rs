//! Sequence numbers of a stream's received frames: lost, duplicate, out of order.

/// Size of the window of remembered numbers. A frame whose number is further behind the greatest one is counted as
/// late, and its loss stands.
const WINDOW: u64 = 1 << 16;

/// One stream's numbers so far.
#[derive(Clone, Debug, Default)]
pub struct Sequence {
    /// The first number received, and the greatest.
    span: Option<(u64, u64)>,
    seen: Vec<u64>,
    unique: u64,
    /// Frames received more than once.
    pub duplicates: u64,
    /// Frames received after one with a greater number.
    pub reordered: u64,
}

impl Sequence {
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
        self.span.map_or(0, |(first, greatest)| (greatest - first + 1).saturating_sub(self.unique))
    }

    /// The least number received, and the greatest.
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
}
