//! The age of the newest value that a listener has: from its sending until a newer one arrives.
//!
//! The age is greatest just before each arrival of a newer frame ("peak age of information"). Frames come in the order
//! of their numbers; a frame that arrives after one with a higher number brings nothing new.

use std::collections::VecDeque;

/// Number of frames that wait, so that those which a newer frame overtook are recognised.
const KEPT: usize = 64;

#[derive(Copy, Clone, Debug)]
struct Arrival {
    seq: u64,
    tx: i64,
    rx: i64,
}

/// An age in ns, and the frame that ended it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Age {
    pub(crate) ns: i64,
    pub(crate) seq: u64,
}

/// The frames of which it is not yet known whether a newer one overtook them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ages(VecDeque<Arrival>);

impl Ages {
    /// Adds a frame that has arrived, and gives an age that no newer frame can change. The offset of the listener's
    /// clock is in ns.
    pub(crate) fn arrived(&mut self, seq: u64, (tx, rx): (i64, i64), offset_ns: i64) -> Option<Age> {
        while self.0.back().is_some_and(|older| older.rx >= rx) {
            self.0.pop_back();
        }
        self.0.push_back(Arrival { seq, tx, rx });
        if self.0.len() > KEPT { self.next(offset_ns) } else { None }
    }

    /// The ages that are left on a path that was observed until `ends`: until then the last value became older, too.
    /// The last frame sent has the number `seq`.
    pub(crate) fn end(&mut self, seq: u64, ends: i64, offset_ns: i64) -> impl Iterator<Item = Age> {
        let mut ages: Vec<Age> = std::iter::from_fn(|| self.next(offset_ns)).collect();
        let last = self.0.pop_front();
        ages.extend(
            last.filter(|last| ends > last.rx.saturating_sub(offset_ns))
                .map(|last| Age { ns: ends.saturating_sub(last.tx), seq }),
        );
        ages.into_iter()
    }

    fn next(&mut self, offset_ns: i64) -> Option<Age> {
        if self.0.len() < 2 {
            return None;
        }
        let older = self.0.pop_front()?;
        let newer = self.0.front()?;
        Some(Age { ns: newer.rx.saturating_sub(older.tx).saturating_sub(offset_ns), seq: newer.seq })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ages(arrivals: &[(i64, i64)], ends: i64, offset_ns: i64) -> Vec<(i64, u64)> {
        let mut ages = Ages::default();
        let mut all: Vec<Age> =
            (0..).zip(arrivals).filter_map(|(seq, arrival)| ages.arrived(seq, *arrival, offset_ns)).collect();
        all.extend(ages.end(99, ends, offset_ns));
        all.into_iter().map(|age| (age.ns, age.seq)).collect()
    }

    #[test]
    fn a_value_ages_until_the_next_one_arrives() {
        assert_eq!(ages(&[(0, 30), (100, 120), (200, 290)], 200, 0), [(120, 1), (190, 2)]);
    }

    #[test]
    fn a_lost_frame_leaves_the_old_value() {
        assert_eq!(ages(&[(0, 30), (200, 230)], 200, 0), [(230, 1)]);
    }

    #[test]
    fn a_frame_that_was_overtaken_brings_nothing_new() {
        // Frame 1 arrives after frame 2: the value of frame 0 ages until frame 2 is there.
        assert_eq!(ages(&[(0, 30), (100, 250), (200, 230), (300, 330)], 300, 0), [(230, 2), (130, 3)]);
        // Frames 0 to 2 arrive behind frame 3.
        assert_eq!(ages(&[(0, 500), (100, 500), (200, 480), (300, 470), (400, 600)], 400, 0), [(300, 4)]);
    }

    #[test]
    fn at_the_end_a_value_is_as_old_as_the_last_frame_sent_is_later() {
        assert_eq!(ages(&[(0, 30), (100, 130)], 900, 0), [(130, 1), (800, 99)]);
        // Under way when it ended: nothing newer was sent.
        assert_eq!(ages(&[(0, 30), (100, 130)], 129, 0), [(130, 1)]);
    }

    #[test]
    fn an_offset_of_the_listeners_clock_is_no_age() {
        assert_eq!(ages(&[(0, 5_030), (100, 5_130)], 900, 5_000), [(130, 1), (800, 99)]);
        assert_eq!(ages(&[(0, 5_030), (100, 5_130)], 130, 5_000), [(130, 1)]);
    }

    #[test]
    fn long_paths_settle_as_they_go() {
        let arrivals: Vec<(i64, i64)> = (0..1_000).map(|n| (n * 100, n * 100 + 30)).collect();
        let all = ages(&arrivals, 0, 0);
        assert_eq!(all.len(), 999);
        assert!(all.iter().all(|(age, _)| *age == 130));
    }
}
