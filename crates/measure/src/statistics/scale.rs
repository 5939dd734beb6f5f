//! What the numbers of a stream's frames mean: where they begin again, and how far they are apart.
//!
//! A PROFINET frame counts time, a frame with several samples counts these, and samples are counted per second: distance
//! and wrap-around follow from the first frames of the stream.

use rustc_hash::FxHashMap;
use serde::Serialize;
use tsn_wire::recognise::Format;

/// Numbers of one stream that are kept to learn from.
const MOST_NUMBERS: usize = 20_000;

/// How the numbers of frames become consecutive ones.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Scale {
    /// The number after which numbers begin again with 0; 0 stands for 2^64.
    pub modulus: u64,
    /// The distance of consecutive frames.
    pub step: u64,
    /// The remainder of the numbers, divided by the step.
    pub residue: u64,
    /// The number in a frame that counts as 0.
    pub first: u64,
    /// Whether a gap is a frame that was never sent.
    #[serde(skip)]
    pub is_sequence: bool,
}

impl Scale {
    /// The scale of a format, as long as nothing was learned.
    pub(crate) fn of(format: Format) -> Self {
        let first = u64::from(format == Format::SomeIp);
        Self { modulus: format.modulus(), step: 1, residue: 0, first, is_sequence: format.is_sequence() }
    }

    /// The consecutive number of a frame, from a number that does not begin again.
    #[inline]
    pub(crate) fn consecutive(&self, whole: u64) -> u64 {
        if self.step == 1 {
            return whole;
        }
        whole.saturating_add(self.step / 2).saturating_sub(self.residue) / self.step
    }
}

/// The numbers of a stream's first frames, in order, and how many follow in the same frame.
#[derive(Default)]
pub(crate) struct Numbers(Vec<(u64, u32)>);

impl Numbers {
    pub(crate) fn see(&mut self, number: u64, more: u32) {
        if self.0.len() < MOST_NUMBERS {
            self.0.push((number, more));
        }
    }

    /// What the numbers show; `None` if they do not count frames at all.
    pub(crate) fn scale(&self, format: Format) -> Option<Scale> {
        if format == Format::EtherCat && self.0.len() > 1 {
            return self.scale_of_indices();
        }
        let mut scale = Scale::of(format);
        if !(format.has_steps() || format.is_doubtful()) || self.0.len() < 2 {
            return Some(scale);
        }
        let mut differences: FxHashMap<u64, u32> = FxHashMap::default();
        for pair in self.0.windows(2) {
            let pair = [last_of(pair[0]), pair[1].0];
            // The number of a copy, or a number that began again at an unknown place, shows no distance.
            let distance = if scale.modulus.is_power_of_two() {
                pair[1].wrapping_sub(pair[0]) & (scale.modulus - 1)
            } else {
                pair[1].saturating_sub(pair[0])
            };
            if distance > 0 && distance <= scale.modulus / 2 {
                *differences.entry(distance).or_default() += 1;
            }
        }
        let Some((most, times)) = most_frequent(&differences) else {
            scale.is_sequence = false;
            return Some(scale);
        };
        let all: u32 = differences.values().sum();
        let step = if format.has_steps() { most } else { 1 };
        if format.is_doubtful() && (most != step || times * 2 < all) {
            scale.is_sequence = false;
            return Some(scale);
        }
        scale.step = step;
        let mut residues: FxHashMap<u64, u32> = FxHashMap::default();
        self.0.iter().for_each(|(number, _)| *residues.entry(number % step).or_default() += 1);
        scale.residue = most_frequent(&residues).map_or(0, |(residue, _)| residue);
        if format == Format::SampledValues && self.0.windows(2).any(|pair| pair[1].0 < last_of(pair[0]) / 2) {
            scale.modulus =
                self.0.iter().copied().map(last_of).max().map_or(scale.modulus, |highest| highest + step);
        }
        Some(scale)
    }

    /// What the indices of EtherCAT show. Masters count in ranges of their own: SOEM from 0 to 15, TwinCAT from 0x80 to
    /// 0xef. `None` if they do not count frames.
    fn scale_of_indices(&self) -> Option<Scale> {
        let whole = Scale::of(Format::EtherCat);
        let distance = |last: u64, next: u64| next.wrapping_sub(last) & (whole.modulus - 1);
        let mut differences: FxHashMap<u64, u32> = FxHashMap::default();
        let mut descents: FxHashMap<(u64, u64), u32> = FxHashMap::default();
        for pair in self.0.windows(2) {
            let (last, next) = (last_of(pair[0]) % whole.modulus, pair[1].0);
            if last > next {
                *descents.entry((last, next)).or_default() += 1;
            }
            if (1..=whole.modulus / 2).contains(&distance(last, next)) {
                *differences.entry(distance(last, next)).or_default() += 1;
            }
        }
        let (step, mut regular) = most_frequent(&differences)?;
        let mut scale = Scale { step, ..whole };
        let again = descents.into_iter().max_by_key(|((last, next), times)| (*times, *last, u64::MAX - next));
        if let Some(((last, first), times)) = again
            && times > 1
            && distance(last, first) != step
        {
            (scale.first, scale.modulus) = (first, last - first + step);
            regular += times;
        }
        let range = scale.first..scale.first + scale.modulus;
        let pairs = self.0.len() - 1;
        if regular as usize * 2 < pairs.max(4) || self.0.iter().any(|(number, _)| !range.contains(number)) {
            return None;
        }
        let mut residues: FxHashMap<u64, u32> = FxHashMap::default();
        self.0
            .iter()
            .for_each(|(number, _)| *residues.entry((number - scale.first) % step).or_default() += 1);
        scale.residue = most_frequent(&residues).map_or(0, |(residue, _)| residue);
        Some(scale)
    }
}

/// The last number of a frame.
fn last_of((number, more): (u64, u32)) -> u64 {
    number.saturating_add(more.into())
}

/// The most frequent value, of several the smallest, and how often it is there.
fn most_frequent(counts: &FxHashMap<u64, u32>) -> Option<(u64, u32)> {
    counts
        .iter()
        .map(|(value, count)| (*value, *count))
        .max_by_key(|(value, count)| (*count, u64::MAX - value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(format: Format, numbers: impl IntoIterator<Item = u64>) -> Option<(u64, u64, u64, bool)> {
        let mut seen = Numbers::default();
        numbers.into_iter().for_each(|number| seen.see(number, 0));
        seen.scale(format).map(|scale| (scale.modulus, scale.step, scale.residue, scale.is_sequence))
    }

    #[test]
    fn a_step_is_the_most_frequent_distance() {
        // Every 2 ms, across the wrap-around; every fifth frame is missing.
        let cycles = (0..1100).filter(|n| n % 5 != 3).map(|n| (n * 64 + 7) % 65_536);
        assert_eq!(scale(Format::Profinet, cycles), Some((65_536, 64, 7, true)));
        // A cycle that does not divide 65536.
        let cycles = (0..3000).map(|n| n * 48 % 65_536);
        assert_eq!(scale(Format::Profinet, cycles).map(|(_, step, ..)| step), Some(48));
        assert_eq!(scale(Format::Profinet, [5]), Some((65_536, 1, 0, true)));
        // AVTP counts frames, whatever is missing.
        assert_eq!(scale(Format::Avtp, [0, 2, 4, 6]), Some((256, 1, 0, true)));
    }

    #[test]
    fn samples_begin_again_after_a_second() {
        let samples = |asdus: u64| (3000..9000).step_by(asdus as usize).map(|n| n % 4000);
        assert_eq!(scale(Format::SampledValues, samples(1)), Some((4000, 1, 0, true)));
        assert_eq!(scale(Format::SampledValues, samples(2)), Some((4000, 2, 0, true)));
        assert_eq!(scale(Format::SampledValues, 0..900), Some((65_536, 1, 0, true)));
    }

    #[test]
    fn distances_are_those_between_frames() {
        let mut seen = Numbers::default();
        // Three, one and two numbers in a frame, over and over.
        let mut next: u64 = 250;
        for more in [2, 0, 1].into_iter().cycle().take(30) {
            seen.see(next % 256, more);
            next += u64::from(more) + 1;
        }
        let found = seen.scale(Format::EtherCat).unwrap();
        assert_eq!((found.modulus, found.step, found.is_sequence), (256, 1, true));
        // A master that sends 255 and 0 in each frame counts nothing.
        let mut seen = Numbers::default();
        (0..9).for_each(|_| seen.see(255, 1));
        assert_eq!(seen.scale(Format::EtherCat), None);
    }

    #[test]
    fn indices_count_in_the_range_of_their_master() {
        let range = |first: u64, last: u64| {
            let indices: Vec<u64> = (first..=last).cycle().take(300).collect();
            let mut seen = Numbers::default();
            indices.iter().for_each(|index| seen.see(*index, 0));
            seen.scale(Format::EtherCat).map(|found| (found.first, found.modulus, found.step))
        };
        assert_eq!(range(0, 15), Some((0, 16, 1)));
        assert_eq!(range(0x80, 0xef), Some((0x80, 112, 1)));
        assert_eq!(range(0, 255), Some((0, 256, 1)));
        // Once is no rule, and neither is a range with exceptions.
        assert_eq!(scale(Format::EtherCat, (0..16).chain(0..9)), Some((256, 1, 0, true)));
        assert_eq!(scale(Format::EtherCat, [0x41].into_iter().chain((0x80..0x90).cycle().take(90))), None);
        assert_eq!(scale(Format::EtherCat, [65, 163]), None, "one distance");
        assert_eq!(scale(Format::EtherCat, [5, 5, 5, 5, 6, 6, 6, 7, 7, 7]), None, "mostly the same index");
    }

    #[test]
    fn numbers_that_may_count_something_else_have_to_show_it() {
        assert_eq!(scale(Format::SomeIp, [5, 6, 7, 9, 9, 10]), Some((65_535, 1, 0, true)));
        assert_eq!(scale(Format::SomeIp, [5, 9, 14, 20]), Some((65_535, 1, 0, false)));
        assert_eq!(scale(Format::SomeIp, [5, 5, 5]), Some((65_535, 1, 0, false)));
        assert_eq!(scale(Format::EtherCat, [254, 0, 2, 4]), Some((256, 2, 0, true)));
        assert_eq!(scale(Format::EtherCat, [3, 3, 3]), None);
        assert_eq!(scale(Format::EtherCat, [3, 7, 9, 14, 2]), None);
    }

    #[test]
    fn consecutive_numbers_are_the_nearest_ones() {
        let scale = Scale { modulus: 65_536, step: 64, residue: 7, first: 0, is_sequence: true };
        assert_eq!([7, 71, 65 + 70, 60, 65_543].map(|whole| scale.consecutive(whole)), [0, 1, 2, 1, 1024]);
    }
}
