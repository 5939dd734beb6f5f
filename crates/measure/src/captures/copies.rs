//! The last numbers of R-TAGs, HSR tags or PRP trailers of one stream: a number again is a copy of its frame.

use std::collections::VecDeque;

/// Numbers that are remembered.
const MOST: usize = 1 << 14;
/// Words of one bit for each number.
const WORDS: usize = (1 << 16) / 64;

/// The numbers that were observed a short time ago.
#[derive(Default)]
pub(super) struct RecentNumbers {
    order: VecDeque<u16>,
    seen: Vec<u64>,
}

impl RecentNumbers {
    /// Adds a number; whether it was there before.
    pub(super) fn repeats(&mut self, number: u16) -> bool {
        if self.seen.is_empty() {
            self.seen.resize(WORDS, 0);
        }
        let bit = |number: u16| (usize::from(number) / 64, 1_u64 << (number % 64));
        let (word, mask) = bit(number);
        if self.seen[word] & mask != 0 {
            return true;
        }
        self.seen[word] |= mask;
        self.order.push_back(number);
        if self.order.len() > MOST
            && let Some(oldest) = self.order.pop_front()
        {
            let (word, mask) = bit(oldest);
            self.seen[word] &= !mask;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_forgotten_before_it_comes_again() {
        let mut recent = RecentNumbers::default();
        for number in (0..=u16::MAX).chain(0..=u16::MAX) {
            assert!(!recent.repeats(number));
            assert!(recent.repeats(number));
        }
        assert!(recent.repeats(u16::MAX - MOST as u16 + 1));
        assert!(!recent.repeats(u16::MAX - MOST as u16));
    }
}
