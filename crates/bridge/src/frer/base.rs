//! A whole recovery point: individual functions for the members, then one for all, with their counters.
//!
//! IEEE 802.1CB-2017, 7.4.2 and 10.8.

use super::{LatentErrorDetection, Sequence, SequenceRecovery, Verdict};
use tsn_plan::Recovery;
use tsn_units::{Duration, Instant};

/// What passed a recovery point.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct RecoveryCounters {
    /// Frames that went on.
    pub passed: u64,
    /// Frames that did not, rogue ones included (`frerCpsSeqRcvyDiscardedPackets`).
    pub discarded: u64,
    /// Of the discarded, those that were too far from what was expected.
    pub rogue: u64,
    /// Of the discarded, those that their own member's recovery held back.
    pub individual: u64,
    /// Of the passed, those that did not follow the highest number.
    pub out_of_order: u64,
    /// Numbers that fell out of the history unseen.
    pub lost: u64,
    /// How often the reset timer ran out.
    pub resets: u64,
    /// How often latent error detection raised an alarm.
    pub latent_errors: u64,
}

/// Where the copies of one stream meet.
#[derive(Clone, Debug)]
pub struct BaseRecovery {
    members: Vec<SequenceRecovery>,
    all: SequenceRecovery,
    latent: Option<LatentErrorDetection>,
    counters: RecoveryCounters,
}

impl BaseRecovery {
    /// For as many ways as meet.
    #[must_use]
    pub fn new(parameters: &Recovery, ways: usize) -> Self {
        let reset = Duration::from_ns(i64::try_from(parameters.reset_ns).unwrap_or(i64::MAX / 2_000));
        let function = |individual| SequenceRecovery::new(parameters.algorithm, reset, individual);
        let members = if parameters.individual { ways } else { 0 };
        Self {
            members: std::iter::repeat_with(|| function(true)).take(members).collect(),
            all: function(false),
            latent: parameters.latent.as_ref().map(|latent| LatentErrorDetection::new(latent, ways)),
            counters: RecoveryCounters::default(),
        }
    }

    /// A copy arrives by the way with this place; whether it goes on.
    pub fn receive(&mut self, now: Instant, way: usize, number: Sequence) -> bool {
        self.advance(now);
        let counters = &mut self.counters;
        if let Some(own) = self.members.get_mut(way)
            && !matches!(own.receive(now, number), Verdict::Accepted { .. })
        {
            counters.individual += 1;
            counters.discarded += 1;
            return false;
        }
        match self.all.receive(now, number) {
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

    /// Any number is taken next, as after the node was switched on; what was counted stays.
    pub fn restart(&mut self) {
        self.members.iter_mut().for_each(SequenceRecovery::restart);
        self.all.restart();
    }

    /// What passed until `now`.
    pub fn counters(&mut self, now: Instant) -> RecoveryCounters {
        self.advance(now);
        let resets = self.all.resets(now);
        let latent_errors = self.latent.as_ref().map_or(0, LatentErrorDetection::alarms);
        RecoveryCounters { resets, latent_errors, ..self.counters }
    }

    fn advance(&mut self, now: Instant) {
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
            arrivals.iter().map(|(way, number)| recovery.receive(Instant::EPOCH, *way, *number)).collect();
        assert_eq!(passed, [true, false, true, false, true, true, false, false]);
        let counters = recovery.counters(Instant::EPOCH);
        assert_eq!((counters.passed, counters.discarded, counters.rogue), (4, 4, 0));
    }

    /// A relay that repeats a frame: its own function tells, so the others' counts are not spoilt.
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
