//! Events in buckets of one width, in a ring.

use crate::kernel::event::Event;

/// `64 * WORDS` buckets of events. The order within a bucket is any.
#[derive(Debug)]
pub(super) struct Wheel<const WORDS: usize> {
    buckets: Vec<Vec<Event>>,
    /// Bit n: bucket n has events.
    full: [u64; WORDS],
}

impl<const WORDS: usize> Default for Wheel<WORDS> {
    fn default() -> Self {
        Self { buckets: vec![Vec::new(); Self::BUCKETS], full: [0; WORDS] }
    }
}

impl<const WORDS: usize> Wheel<WORDS> {
    /// Number of buckets.
    pub const BUCKETS: usize = 64 * WORDS;

    /// Adds an event to bucket `number`, modulo the number of buckets. An empty bucket gets its memory from `spare`.
    #[inline]
    pub fn push(&mut self, number: u64, event: Event, spare: &mut Vec<Vec<Event>>) {
        let at = number as usize % Self::BUCKETS;
        let bucket = &mut self.buckets[at];
        if bucket.capacity() == 0
            && let Some(memory) = spare.pop()
        {
            *bucket = memory;
        }
        bucket.push(event);
        self.full[at / 64] |= 1 << (at % 64);
    }

    /// The first bucket with events from `number` on, modulo the number of buckets, as the distance from `number`.
    #[inline]
    pub fn next(&self, number: u64) -> Option<u64> {
        let at = number as usize % Self::BUCKETS;
        let (word, bit) = (at / 64, at % 64);
        let here = self.full[word] >> bit;
        if here != 0 {
            return Some(u64::from(here.trailing_zeros()));
        }
        // The search ends at the first word again: its bits below `bit` are the last buckets of the turn.
        (1..=WORDS).find_map(|ahead| {
            let bits = self.full[(word + ahead) % WORDS];
            (bits != 0).then(|| (64 * ahead - bit) as u64 + u64::from(bits.trailing_zeros()))
        })
    }

    /// Takes the events of bucket `number`, modulo the number of buckets, with their memory.
    #[inline]
    pub fn take(&mut self, number: u64) -> Vec<Event> {
        let at = number as usize % Self::BUCKETS;
        self.full[at / 64] &= !(1 << (at % 64));
        std::mem::take(&mut self.buckets[at])
    }

    /// The events, in any order.
    pub fn iter(&self) -> impl Iterator<Item = &Event> {
        self.buckets.iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{NodeId, StreamId};
    use crate::kernel::event::EventKind;
    use tsn_units::Instant;

    #[test]
    fn the_next_bucket_is_found_over_words_and_around_the_end() {
        let event = Event::new(Instant::EPOCH, NodeId(0), 0, EventKind::Release { stream: StreamId(0) });
        let mut wheel: Wheel<4> = Wheel::default();
        assert_eq!(wheel.next(0), None);
        wheel.push(256 + 70, event, &mut Vec::new());
        for (from, ahead) in
            [(0, 70), (64, 6), (70, 0), (71, 255), (127, 199), (128, 198), (255, 71), (256, 70)]
        {
            assert_eq!(wheel.next(from), Some(ahead), "from {from}");
        }
        wheel.push(3, event, &mut Vec::new());
        assert_eq!((wheel.next(71), wheel.next(4)), (Some(188), Some(66)));
        assert_eq!((wheel.take(70).len(), wheel.next(4)), (1, Some(255)));
    }

    #[test]
    fn memory_of_empty_buckets_is_used_again() {
        let event = Event::new(Instant::EPOCH, NodeId(0), 0, EventKind::Release { stream: StreamId(0) });
        let mut wheel: Wheel<4> = Wheel::default();
        let mut spare = vec![Vec::with_capacity(100)];
        wheel.push(9, event, &mut spare);
        assert!(spare.is_empty() && wheel.take(9).capacity() == 100);
    }
}
