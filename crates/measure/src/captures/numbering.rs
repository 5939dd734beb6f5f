//! The numbers of one stream: its format, and whole numbers where the frames have some bits of them only.

use super::End;
use crate::statistics::scale::Scale;
use std::collections::VecDeque;
use tsn_wire::recognise::Format;

/// States of a GOOSE control block that are remembered.
const MOST_STATES: usize = 16;

/// The format of a stream's frames, and the state that is needed to number them.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Numbering {
    pub(super) format: Format,
    pub(super) frames_per_cycle: u32,
    pub(super) scale: Scale,
}

/// Makes whole numbers of a stream's numbers, which begin again.
#[derive(Default)]
pub(super) struct WholeNumbers {
    /// The last whole number of each side.
    last: [Option<u64>; 2],
    /// GOOSE: the last states with the numbers of their first frames.
    states: VecDeque<(u32, u64)>,
}

impl WholeNumbers {
    /// The whole number of a frame with this number; learns where the samples of a second end.
    pub(super) fn of(&mut self, numbering: &mut Numbering, number: u64, end: End) -> Option<u64> {
        let Numbering { format, scale, .. } = numbering;
        if *format == Format::Goose {
            return self.of_state(number, end);
        }
        let mut number = number;
        if *format == Format::EtherCat {
            number = number.checked_sub(scale.first).filter(|number| *number < scale.modulus)?;
        }
        if *format == Format::SampledValues
            && scale.modulus == format.modulus()
            && let Some(last) = self.last[end as usize].filter(|last| number < last / 2)
        {
            // The second ended here.
            scale.modulus = last.saturating_add(scale.step);
        }
        self.nearest(number, scale.modulus, end)
    }

    /// The whole number of a GOOSE message: the numbers of a new state follow those of the state before. A state that
    /// was not observed counts as one missing message.
    fn of_state(&mut self, number: u64, end: End) -> Option<u64> {
        let (state, sequence) = ((number >> 32) as u32, number & 0xffff_ffff);
        let known = self.states.iter().find(|(known, _)| *known == state).map(|(_, begin)| *begin);
        // A device that begins again counts from 1, in state 1.
        let again = |begin: &u64| {
            sequence < 2
                && self.last[end as usize].is_some_and(|last| last > begin.saturating_add(sequence + 1))
        };
        let begin = match known.filter(|begin| !again(begin)) {
            Some(begin) => begin,
            None => {
                let highest = self.last.iter().flatten().max().copied();
                let before = self.states.back().map_or(state, |(last, _)| *last);
                let skipped = state.saturating_sub(before.saturating_add(1));
                let next = highest.map_or(0, |highest| highest.saturating_add(1 + u64::from(skipped)));
                let begin = if state > before { next } else { next.saturating_sub(sequence) };
                self.states.retain(|(known, _)| *known != state);
                self.states.push_back((state, begin));
                if self.states.len() > MOST_STATES {
                    self.states.pop_front();
                }
                begin
            }
        };
        let whole = begin.checked_add(sequence)?;
        let last = &mut self.last[end as usize];
        *last = (*last).max(Some(whole));
        Some(whole)
    }

    /// Notes that the last frame of a side has this many following numbers, too.
    pub(super) fn skip(&mut self, more: u32, end: End) {
        if let Some(last) = &mut self.last[end as usize] {
            *last = last.saturating_add(more.into());
        }
    }

    /// The whole number of a number that begins again with 0 at `modulus` (0: 2^64): the nearest one to the last number
    /// of its side (or else of the other side).
    #[inline(always)]
    pub(super) fn nearest(&mut self, number: u64, modulus: u64, end: End) -> Option<u64> {
        if modulus == 0 {
            return Some(number);
        }
        let reference = self.last[end as usize].or(self.last[1 - end as usize]);
        let whole = match reference {
            None => number,
            Some(last) if modulus.is_power_of_two() => {
                let unused = modulus.leading_zeros() + 1;
                let step = (number.wrapping_sub(last) << unused).cast_signed() >> unused;
                last.checked_add_signed(step)?
            }
            Some(last) => {
                let number = number % modulus;
                let ahead = (number + modulus - last % modulus) % modulus;
                if ahead > modulus / 2 {
                    last.checked_sub(modulus - ahead)?
                } else {
                    last.checked_add(ahead)?
                }
            }
        };
        self.last[end as usize] = Some(whole);
        Some(whole)
    }
}
