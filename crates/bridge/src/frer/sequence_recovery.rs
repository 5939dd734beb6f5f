//! One sequence recovery function: accepts each sequence number once.
//!
//! IEEE 802.1CB-2017, 7.4.3.

use crate::StateTaker;
use std::collections::VecDeque;
use tsn_plan::Algorithm;
use tsn_units::{Duration, Instant, Local};

/// The sequence number in an R-TAG, which wraps around. IEEE 802.1CB-2017, 7.8.
pub type Sequence = u16;

/// The decision about a frame.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The frame passes.
    Accepted {
        /// Whether its number is not the successor of the highest accepted one.
        out_of_order: bool,
        /// Number of entries that leave the history without having been received.
        lost: u32,
    },
    /// A frame with this number was accepted before.
    Duplicate,
    /// The number is too far from the expected numbers.
    Rogue,
}

/// The variables of 7.4.3.2.
#[derive(Clone, Debug)]
pub struct SequenceRecovery {
    algorithm: Algorithm,
    reset: Duration,
    individual: bool,
    /// When the reset timer expires; none while any number is accepted (`TakeAny`).
    expires: Option<Instant<Local>>,
    /// `RecovSeqNum`.
    highest: Sequence,
    /// `SequenceHistory`: whether `highest - n` was accepted.
    history: VecDeque<bool>,
    /// Number of entries at the end of the history that are from before the last reset: they are not received, but
    /// not lost.
    unknown: usize,
    /// How often the timer expired.
    resets: u64,
}

impl SequenceRecovery {
    /// Begins in the reset state: any number is accepted first. `individual`: the function of one member stream,
    /// whose timer is restarted also by frames that are not accepted.
    #[must_use]
    pub fn new(algorithm: Algorithm, reset: Duration, individual: bool) -> Self {
        let length = match algorithm {
            Algorithm::Vector { history } => history as usize,
            Algorithm::Match => 0,
        };
        let history = std::iter::repeat_n(false, length).collect();
        Self { algorithm, reset, individual, expires: None, highest: 0, history, unknown: 0, resets: 0 }
    }

    /// Handles a frame with this number.
    pub fn receive(&mut self, now: Instant<Local>, number: Sequence) -> Verdict {
        self.advance(now);
        let verdict = match self.algorithm {
            Algorithm::Vector { .. } => self.vector(number),
            Algorithm::Match => self.matching(number),
        };
        if self.individual || matches!(verdict, Verdict::Accepted { .. }) {
            self.expires = Some(now + self.reset);
        }
        verdict
    }

    /// `SequenceRecoveryReset`: accepts any number next.
    pub fn restart(&mut self) {
        self.expires = None;
    }

    /// Adds the timer, and the accepted numbers as distances from `next`, the number that the talker sends next.
    pub(super) fn put_state(&self, state: &mut StateTaker, next: Sequence) {
        let now = state.now().on_perfect_clock();
        let Some(expires) = self.expires.filter(|expires| *expires >= now) else {
            // After the expiry any number is accepted; that it has come is a counter, which is brought up to date later.
            return state.put(i64::from(self.expires.is_some()) - 2);
        };
        state.put_time(expires);
        state.put(next.wrapping_sub(self.highest));
        state.put_length(self.unknown);
        self.history.iter().for_each(|seen| state.put(u8::from(*seen)));
    }

    /// How often the function was reset until `now`, because no frame arrived.
    pub fn resets(&mut self, now: Instant<Local>) -> u64 {
        self.advance(now);
        self.resets
    }

    /// Runs the timer. A frame at the very instant of the expiry comes after the reset.
    fn advance(&mut self, now: Instant<Local>) {
        if self.expires.is_some_and(|expires| expires <= now) {
            self.expires = None;
            self.resets += 1;
        }
    }

    /// 7.4.3.4.
    fn vector(&mut self, number: Sequence) -> Verdict {
        if self.expires.is_none() {
            self.highest = number;
            self.history.iter_mut().for_each(|seen| *seen = false);
            self.unknown = self.history.len().saturating_sub(1);
            self.mark_seen(0);
            return Verdict::Accepted { out_of_order: false, lost: 0 };
        }
        let ahead = self.distance(number);
        let back = usize::from(ahead.unsigned_abs());
        if back >= self.history.len() {
            return Verdict::Rogue;
        }
        if ahead <= 0 {
            if self.history.get(back).copied().unwrap_or(false) {
                return Verdict::Duplicate;
            }
            self.mark_seen(back);
            return Verdict::Accepted { out_of_order: true, lost: 0 };
        }
        let mut lost = 0;
        for _ in 0..ahead {
            let seen = self.history.pop_back().unwrap_or(true);
            if self.unknown > 0 {
                self.unknown -= 1;
            } else if !seen {
                lost += 1;
            }
            self.history.push_front(false);
        }
        self.highest = number;
        self.mark_seen(0);
        Verdict::Accepted { out_of_order: ahead != 1, lost }
    }

    /// 7.4.3.5.
    fn matching(&mut self, number: Sequence) -> Verdict {
        let first = self.expires.is_none();
        let ahead = self.distance(number);
        if !first && ahead == 0 {
            return Verdict::Duplicate;
        }
        self.highest = number;
        Verdict::Accepted { out_of_order: !first && ahead != 1, lost: 0 }
    }

    fn mark_seen(&mut self, back: usize) {
        if let Some(seen) = self.history.get_mut(back) {
            *seen = true;
        }
    }

    /// Distance of `number` from the highest accepted one, the shorter way around.
    fn distance(&self, number: Sequence) -> i16 {
        number.wrapping_sub(self.highest).cast_signed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Duplicate, Rogue};

    const MS: i64 = 1_000_000;

    fn vector(history: u32) -> SequenceRecovery {
        SequenceRecovery::new(Algorithm::Vector { history }, Duration::from_ns(10 * MS), false)
    }

    fn accepted(out_of_order: bool, lost: u32) -> Verdict {
        Verdict::Accepted { out_of_order, lost }
    }

    /// Every number that arrives at 1 ms apart, and what becomes of it.
    fn run(recovery: &mut SequenceRecovery, steps: &[(Sequence, Verdict)]) {
        for (place, (number, verdict)) in steps.iter().enumerate() {
            let now = Instant::from_ns(place as i64 * MS);
            assert_eq!(recovery.receive(now, *number), *verdict, "number {number} at place {place}");
        }
    }

    #[test]
    fn vector_recovery_takes_each_number_once() {
        let steps = [
            (65_534, accepted(false, 0)),
            (65_534, Duplicate),
            (65_535, accepted(false, 0)),
            (0, accepted(false, 0)),
            (65_535, Duplicate),
            (2, accepted(true, 0)),
            (1, accepted(true, 0)),
            (1, Duplicate),
            (65_533, Rogue),
            (6, Rogue),
            (5, accepted(true, 0)),
            (6, accepted(false, 0)),
            (7, accepted(false, 1)),
            (8, accepted(false, 1)),
        ];
        run(&mut vector(4), &steps);
    }

    #[test]
    fn a_late_copy_from_before_the_first_frame_is_taken() {
        run(&mut vector(4), &[(9, accepted(false, 0)), (7, accepted(true, 0)), (10, accepted(false, 0))]);
        // 8 was before the first frame, so it is not lost when it leaves the history.
        let mut recovery = vector(2);
        run(&mut recovery, &[(9, accepted(false, 0)), (10, accepted(false, 0)), (11, accepted(false, 0))]);
    }

    #[test]
    fn match_recovery_knows_the_last_number_only() {
        let mut recovery = SequenceRecovery::new(Algorithm::Match, Duration::from_ns(10 * MS), false);
        let steps = [
            (7, accepted(false, 0)),
            (7, Duplicate),
            (8, accepted(false, 0)),
            (7, accepted(true, 0)),
            (8, accepted(false, 0)),
            (30_000, accepted(true, 0)),
        ];
        run(&mut recovery, &steps);
    }

    /// A talker that restarts from 0 is rogue until the reset timer has expired; in an individual function, so is a
    /// stuck one.
    #[test]
    fn the_reset_timer_lets_a_restarted_talker_in_again() {
        let at = |ms: i64| Instant::from_ns(ms * MS);
        let mut recovery = vector(4);
        assert_eq!(recovery.receive(at(0), 1_000), accepted(false, 0));
        assert_eq!(recovery.receive(at(9), 0), Rogue);
        assert_eq!(recovery.receive(at(10), 1), accepted(false, 0));
        assert_eq!((recovery.resets(at(19)), recovery.resets(at(20))), (1, 2));
        // The timer of an individual function restarts with every frame: a sender that repeats its frames stays
        // excluded.
        let mut own =
            SequenceRecovery::new(Algorithm::Vector { history: 4 }, Duration::from_ns(10 * MS), true);
        let verdicts: Vec<Verdict> = (0..5).map(|place| own.receive(at(place * 9), 3)).collect();
        assert_eq!(verdicts, [accepted(false, 0), Duplicate, Duplicate, Duplicate, Duplicate]);
    }
}
