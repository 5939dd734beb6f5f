//! A whole recovery point: individual functions for the members, then one for all, with their counters.
//!
//! IEEE 802.1CB-2017, 7.4.2 and 10.8.

use super::{LatentErrorDetection, Sequence, SequenceRecovery, Verdict};
use crate::StateTaker;
use tsn_plan::{Recovery, duration};
use tsn_units::{Instant, Local};

/// Counters of a recovery point.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct RecoveryCounters {
    /// Frames that passed.
    pub passed: u64,
    /// Frames that were discarded, rogue ones included (`frerCpsSeqRcvyDiscardedPackets`).
    pub discarded: u64,
    /// Discarded frames whose number was too far from the expected ones.
    pub rogue: u64,
    /// Frames discarded by the individual recovery function of their member stream.
    pub individual: u64,
    /// Passed frames whose number did not follow the highest one.
    pub out_of_order: u64,
    /// Numbers that left the history without being received.
    pub lost: u64,
    /// How often the reset timer expired.
    pub resets: u64,
    /// How often latent error detection raised an alarm.
    pub latent_errors: u64,
}

/// The recovery point of one compound stream: its member streams merge here.
#[derive(Clone, Debug)]
pub struct BaseRecovery {
    members: Vec<SequenceRecovery>,
    stream: SequenceRecovery,
    latent: Option<LatentErrorDetection>,
    counters: RecoveryCounters,
}

impl BaseRecovery {
    /// A recovery point of this number of member streams.
    #[must_use]
    pub fn new(parameters: &Recovery, paths: usize) -> Self {
        let reset = duration(parameters.reset_ns);
        let function = |individual| SequenceRecovery::new(parameters.algorithm, reset, individual);
        let members = if parameters.individual { paths } else { 0 };
        Self {
            members: std::iter::repeat_with(|| function(true)).take(members).collect(),
            stream: function(false),
            latent: parameters.latent.as_ref().map(|latent| LatentErrorDetection::new(latent, paths)),
            counters: RecoveryCounters::default(),
        }
    }

    /// Handles a frame of the member stream with this index; returns whether it passes.
    pub fn receive(&mut self, now: Instant<Local>, path: usize, number: Sequence) -> bool {
        self.advance(now);
        let counters = &mut self.counters;
        if let Some(own) = self.members.get_mut(path)
            && !matches!(own.receive(now, number), Verdict::Accepted { .. })
        {
            counters.individual += 1;
            counters.discarded += 1;
            return false;
        }
        match self.stream.receive(now, number) {
            Verdict::Accepted { out_of_order, lost } => {
                counters.passed += 1;
                counters.out_of_order += u64::from(out_of_order);
                counters.lost += u64::from(lost);
                return true;
            }
            Verdict::Duplicate => {}
            Verdict::Rogue => counters.rogue += 1,
        }
        counters.discarded += 1;
        false
    }

    /// Adds the state of all functions of a node with a perfect clock; `next` is the number that the talker sends next.
    pub fn put_state(&self, state: &mut StateTaker, next: Sequence) {
        self.members.iter().chain([&self.stream]).for_each(|function| function.put_state(state, next));
        if let Some(latent) = &self.latent {
            latent.put_state(state, self.counters.passed, self.counters.discarded);
        }
    }

    /// Accepts any number next, as after a restart of the node; the counters stay.
    pub fn restart(&mut self) {
        self.members.iter_mut().for_each(SequenceRecovery::restart);
        self.stream.restart();
    }

    /// The counters up to `now`.
    pub fn counters(&mut self, now: Instant<Local>) -> RecoveryCounters {
        self.advance(now);
        let resets = self.stream.resets(now);
        let latent_errors = self.latent.as_ref().map_or(0, LatentErrorDetection::alarms);
        RecoveryCounters { resets, latent_errors, ..self.counters }
    }

    fn advance(&mut self, now: Instant<Local>) {
        if let Some(latent) = &mut self.latent {
            latent.advance(now, self.counters.passed, self.counters.discarded);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tsn_plan::{Algorithm, Identification};

    fn recovery(individual: bool) -> BaseRecovery {
        let parameters = Recovery {
            identification: Identification::Null,
            algorithm: Algorithm::Vector { history: 8 },
            reset_ns: 1_000_000_000,
            individual,
            latent: None,
        };
        BaseRecovery::new(&parameters, 2)
    }

    #[test]
    fn whichever_copy_comes_first_goes_on() {
        let mut recovery = recovery(false);
        let arrivals = [(0, 0), (1, 0), (1, 1), (0, 1), (1, 2), (1, 3), (0, 3), (0, 2)];
        let passed: Vec<bool> =
            arrivals.iter().map(|(path, number)| recovery.receive(Instant::EPOCH, *path, *number)).collect();
        assert_eq!(passed, [true, false, true, false, true, true, false, false]);
        let counters = recovery.counters(Instant::EPOCH);
        assert_eq!((counters.passed, counters.discarded, counters.rogue), (4, 4, 0));
    }

    /// Two members with a history of 4, a reset timer of 10 ms, and a test of latent errors every 20 ms.
    #[test]
    fn everything_is_counted_once() {
        let parameters = Recovery {
            identification: Identification::Null,
            algorithm: Algorithm::Vector { history: 4 },
            reset_ns: 10_000_000,
            individual: false,
            latent: Some(tsn_plan::LatentErrors {
                period_ns: 20_000_000,
                reset_ns: 1_000_000_000,
                difference: 2,
            }),
        };
        let mut recovery = BaseRecovery::new(&parameters, 2);
        let ms = |ms: i64| Instant::from_ns(ms * 1_000_000);
        // 5 begins; 7 skips 6, which arrives late; 5 is repeated; 20 and 30 are too far; 8 follows; 12 and later
        // numbers are also too far. In the other function, 11 skips 10, which 14 removes from the history.
        let numbers = [5, 7, 6, 5, 20, 30, 8, 12, 13, 14, 15, 16];
        let passed = numbers.map(|number| recovery.receive(ms(1), 0, number));
        assert_eq!(passed, [true, true, true, false, false, false, true, false, false, false, false, false]);
        let passed = [9, 11, 12, 13, 14].map(|number| recovery.receive(ms(2), 1, number));
        assert_eq!(passed, [true; 5]);
        let counted = RecoveryCounters {
            passed: 9,
            discarded: 8,
            rogue: 7,
            out_of_order: 3,
            lost: 1,
            ..RecoveryCounters::default()
        };
        assert_eq!(recovery.counters(ms(3)), counted);
        // The timer expires 10 ms after the last accepted frame, and any number is accepted. The test at 20 ms finds
        // one copy missing, that at 40 ms 13.
        assert_eq!(recovery.counters(ms(12)), RecoveryCounters { resets: 1, ..counted });
        assert!((0..12).all(|number| recovery.receive(ms(30), 0, 700 + number)));
        let counted = RecoveryCounters { passed: 21, resets: 2, latent_errors: 1, ..counted };
        assert_eq!(recovery.counters(ms(41)), counted);
    }

    #[test]
    fn any_number_is_taken_after_a_restart() {
        for individual in [false, true] {
            let mut recovery = recovery(individual);
            assert!(recovery.receive(Instant::EPOCH, 0, 700) && !recovery.receive(Instant::EPOCH, 0, 3));
            recovery.restart();
            assert!(recovery.receive(Instant::EPOCH, 0, 3), "individual: {individual}");
            assert_eq!(recovery.counters(Instant::EPOCH).resets, 0);
        }
    }

    /// A relay repeats a frame: its individual function discards the repetitions, so the counters of the others stay
    /// correct.
    #[test]
    fn a_stuck_member_is_held_back_by_its_own_function() {
        for (individual, held) in [(true, 3), (false, 0)] {
            let mut recovery = recovery(individual);
            for _ in 0..4 {
                recovery.receive(Instant::EPOCH, 1, 5);
            }
            let counters = recovery.counters(Instant::EPOCH);
            assert_eq!((counters.passed, counters.discarded, counters.individual), (1, 3, held));
        }
    }
}
