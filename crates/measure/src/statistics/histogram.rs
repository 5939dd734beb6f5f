//! Counts how often each integer occurs, exactly; the memory grows with the range of values, not with their number.

/// Values per page; a page takes a quarter of a kilobyte.
const PAGE: usize = 128;
const SHIFT: u32 = PAGE.trailing_zeros();
/// Marks a free slot in the index; no page has this number, since numbers are shifted values.
const FREE: i64 = i64::MIN;

/// Number of occurrences of each value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Histogram {
    /// Open addressing: page number and its index in `pages`; a power of two long, at most half full.
    index: Vec<(i64, u32)>,
    /// Counters of few bits: those of common values stay in the processor's cache.
    pages: Vec<[u16; PAGE]>,
    /// Values whose counter was full, and the number of occurrences until then.
    carried_over: Vec<(i64, u64)>,
    /// The page of the last value.
    last: (i64, u32),
    total: u64,
}

impl Histogram {
    /// Number of values.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Counts `value` once.
    #[inline]
    pub(crate) fn add(&mut self, value: i64) {
        let number = value >> SHIFT;
        let page = if self.total > 0 && self.last.0 == number { self.last.1 } else { self.page(number) };
        self.last = (number, page);
        self.total += 1;
        let counter = &mut self.pages[page as usize][(value & (PAGE as i64 - 1)) as usize];
        if *counter == u16::MAX {
            self.carry_over(value);
        } else {
            *counter += 1;
        }
    }

    /// Counts `value` `times` times.
    pub(crate) fn add_many(&mut self, value: i64, times: u64) {
        if times == 0 {
            return;
        }
        self.add(value);
        let rest = times - 1;
        self.total += rest;
        let counter = &mut self.pages[self.last.1 as usize][(value & (PAGE as i64 - 1)) as usize];
        match u16::try_from(rest).ok().and_then(|rest| counter.checked_add(rest)) {
            Some(sum) => *counter = sum,
            None => self.carried_over.push((value, rest)),
        }
    }

    /// Adds what `next` has more, so many times.
    pub(crate) fn extrapolate(&mut self, next: &Self, times: u64) {
        let before = self.ascending();
        for (value, count) in next.ascending() {
            let own =
                before.binary_search_by_key(&value, |(value, _)| *value).map_or(0, |place| before[place].1);
            self.add_many(value, count.saturating_sub(own).saturating_mul(times));
        }
    }

    #[cold]
    fn carry_over(&mut self, value: i64) {
        self.carried_over.push((value, u64::from(u16::MAX)));
        let page = self.last.1 as usize;
        self.pages[page][(value & (PAGE as i64 - 1)) as usize] = 1;
    }

    fn page(&mut self, number: i64) -> u32 {
        if self.pages.len() * 2 >= self.index.len() {
            self.grow();
        }
        let place = find(&self.index, number);
        if self.index[place].0 == FREE {
            #[expect(clippy::cast_possible_truncation, reason = "2^32 pages are a terabyte")]
            let page = self.pages.len() as u32;
            self.index[place] = (number, page);
            self.pages.push([0; PAGE]);
        }
        self.index[place].1
    }

    #[cold]
    fn grow(&mut self) {
        let mut index = vec![(FREE, 0); (self.index.len() * 2).max(16)];
        for entry in self.index.iter().filter(|entry| entry.0 != FREE) {
            let place = find(&index, entry.0);
            index[place] = *entry;
        }
        self.index = index;
    }

    /// Every value that occurred with its number of occurrences, ascending.
    pub(crate) fn ascending(&self) -> Vec<(i64, u64)> {
        let mut numbers: Vec<_> = self.index.iter().filter(|entry| entry.0 != FREE).copied().collect();
        numbers.sort_unstable();
        let mut values = Vec::new();
        for (number, page) in numbers {
            for (place, count) in
                self.pages[page as usize].iter().enumerate().filter(|(_, count)| **count > 0)
            {
                values.push(((number << SHIFT) + place as i64, u64::from(*count)));
            }
        }
        for (value, count) in &self.carried_over {
            if let Ok(place) = values.binary_search_by_key(value, |(value, _)| *value) {
                values[place].1 += count;
            }
        }
        values
    }
}

/// The slot of `number` in the index, or the free slot where it belongs.
#[inline]
fn find(index: &[(i64, u32)], number: i64) -> usize {
    let mask = index.len() - 1;
    let mut place = (number.cast_unsigned().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize & mask;
    while index[place].0 != number && index[place].0 != FREE {
        place = (place + 1) & mask;
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn counts_as_a_sorted_map_does(
            values in prop::collection::vec(
                prop_oneof![Just(i64::MIN), Just(i64::MAX), any::<i64>(), -300_i64..300, 0_i64..1_000_000],
                0..400,
            ),
            times in 1_u64..5,
        ) {
            let mut counts = Histogram::default();
            let mut expected = BTreeMap::new();
            for (place, value) in values.iter().enumerate() {
                if place % 3 == 0 {
                    counts.add_many(*value, times);
                    *expected.entry(*value).or_insert(0) += times;
                } else {
                    counts.add(*value);
                    *expected.entry(*value).or_insert(0) += 1;
                }
            }
            prop_assert_eq!(counts.total(), expected.values().sum::<u64>());
            prop_assert_eq!(counts.ascending(), expected.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_counter_that_is_full_goes_on() {
        const FULL: u64 = u16::MAX as u64;
        let mut counts = Histogram::default();
        counts.add_many(5, FULL);
        for (more, value) in [(1, 5), (2, 5), (2, 6)] {
            counts.add(value);
            assert_eq!(counts.ascending()[0], (5, FULL + more));
        }
        counts.add_many(5, 10_000_000_000);
        for _ in 0..3 * FULL {
            counts.add(5);
        }
        assert_eq!(counts.ascending(), [(5, 10_000_000_000 + 4 * FULL + 2), (6, 1)]);
        assert_eq!(counts.total(), 10_000_000_000 + 4 * FULL + 3);
    }
}
