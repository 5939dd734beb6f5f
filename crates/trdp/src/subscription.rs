//! A subscription: accepted and missing telegrams, and its time-out.
//! IEC 61375-2-3, Annex A.

/// Address and type of a sender: each pair has sequence numbers of its own.
pub type Source = ([u8; 4], u16);

/// Limit of senders that one subscription distinguishes; the oldest is forgotten first.
const MOST_SOURCES: usize = 64;

/// The result for one telegram.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The telegram was accepted: its number is higher than the last one.
    Taken {
        /// Number of missing telegrams between the last one and this one.
        missed: u32,
    },
    /// The telegram was accepted as the first one of a restarted publisher: number 0, or any number after a time-out.
    Restarted,
    /// The telegram was ignored: its number equals the last one.
    Repeated,
    /// The telegram was ignored: its number is lower than the last one.
    Old,
    /// The telegram was ignored: its topography counters differ from those of the subscription.
    Topography,
}

/// Counters of a subscription.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Accepted telegrams.
    pub taken: u64,
    /// Gaps in the sequence numbers.
    pub gaps: u64,
    /// Missing telegrams in all gaps.
    pub missed: u64,
    /// Telegrams that were ignored because their number equals the last one.
    pub repeated: u64,
    /// Telegrams that were ignored because their number is lower than the last one.
    pub old: u64,
    /// Restarts of publishers.
    pub restarted: u64,
    /// Time-outs.
    pub time_outs: u64,
    /// Telegrams that were ignored because of their topography counters.
    pub topography: u64,
}

/// The receiver's state machine of one communication identifier.
#[derive(Clone, Debug)]
pub struct Subscription {
    time_out_ns: Option<i64>,
    etb_topo_count: u32,
    op_trn_topo_count: u32,
    last: Vec<(Source, u32)>,
    /// The highest number since the last restart, of any sender; gaps are counted from it.
    current: u32,
    taken_at_ns: Option<i64>,
    timed_out: bool,
    counts: Counts,
}

impl Subscription {
    /// A subscription with a time-out in ns; without a time-out, the last value never expires. Its topography counters
    /// are 0, which accepts all.
    #[must_use]
    pub fn new(time_out_ns: Option<i64>) -> Self {
        Self {
            time_out_ns: time_out_ns.filter(|ns| *ns > 0),
            etb_topo_count: 0,
            op_trn_topo_count: 0,
            last: Vec::new(),
            current: 0,
            taken_at_ns: None,
            timed_out: false,
            counts: Counts::default(),
        }
    }

    /// Accepts only telegrams with these topography counters; 0 accepts all.
    #[must_use]
    pub fn with_topography(self, etb_topo_count: u32, op_trn_topo_count: u32) -> Self {
        Self { etb_topo_count, op_trn_topo_count, ..self }
    }

    /// Receives a telegram with these topography counters; see [`Self::receive`].
    pub fn receive_with_topography(
        &mut self,
        now_ns: i64,
        source: Source,
        sequence: u32,
        (etb, op_trn): (u32, u32),
    ) -> Arrival {
        let fits = |own: u32, theirs: u32| own == 0 || theirs == 0 || own == theirs;
        if fits(self.etb_topo_count, etb) && fits(self.op_trn_topo_count, op_trn) {
            return self.receive(now_ns, source, sequence);
        }
        self.counts.topography += 1;
        Arrival::Topography
    }

    /// Receives a telegram. A time-out that has passed by then is counted first.
    pub fn receive(&mut self, now_ns: i64, source: Source, sequence: u32) -> Arrival {
        self.look(now_ns);
        let again = sequence == 0 || self.timed_out;
        let known = self.last.iter_mut().find(|(known, _)| *known == source);
        let mut restarted = false;
        match known {
            Some((_, last)) => {
                // Number 0 is always accepted; a second 0 is another restart.
                if !again && sequence <= *last {
                    let repeated = sequence == *last;
                    *(if repeated { &mut self.counts.repeated } else { &mut self.counts.old }) += 1;
                    return if repeated { Arrival::Repeated } else { Arrival::Old };
                }
                restarted = again && sequence <= *last;
                *last = sequence;
            }
            None => {
                if self.last.len() == MOST_SOURCES {
                    self.last.remove(0);
                }
                self.last.push((source, sequence));
            }
        }
        let missed =
            if self.counts.taken > 0 { sequence.saturating_sub(self.current).saturating_sub(1) } else { 0 };
        if restarted || sequence > self.current {
            self.current = sequence;
        }
        self.counts.taken += 1;
        self.counts.gaps += u64::from(missed > 0);
        self.counts.missed += u64::from(missed);
        self.counts.restarted += u64::from(restarted);
        self.taken_at_ns = Some(now_ns);
        self.timed_out = false;
        if restarted { Arrival::Restarted } else { Arrival::Taken { missed } }
    }

    /// Returns whether the time-out has just passed at `now_ns`. The time counts from the first telegram.
    pub fn look(&mut self, now_ns: i64) -> bool {
        let over = self.due_ns().is_some_and(|due| now_ns > due);
        if over {
            self.timed_out = true;
            self.counts.time_outs += 1;
        }
        over
    }

    /// When the time-out passes if no telegram arrives; `None` before the first telegram, and after a time-out.
    #[must_use]
    pub fn due_ns(&self) -> Option<i64> {
        let waits = self.taken_at_ns.filter(|_| !self.timed_out);
        waits.zip(self.time_out_ns).map(|(taken, time_out)| taken.saturating_add(time_out))
    }

    /// Age of the last value, ns; `None` before the first telegram.
    #[must_use]
    pub fn age_ns(&self, now_ns: i64) -> Option<i64> {
        self.taken_at_ns.map(|taken| now_ns.saturating_sub(taken))
    }

    /// The counters.
    #[must_use]
    pub const fn counts(&self) -> Counts {
        self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Source = ([10, 0, 0, 1], 0x5064);
    const B: Source = ([10, 0, 0, 2], 0x5064);
    const MS: i64 = 1_000_000;

    #[test]
    fn numbers_gaps_repeats_and_restarts() {
        let taken = |missed| Arrival::Taken { missed };
        let mut one = Subscription::new(None);
        for (sequence, expected) in [
            (5, taken(0)),
            (6, taken(0)),
            (6, Arrival::Repeated),
            (9, taken(2)),
            (8, Arrival::Old),
            (0, Arrival::Restarted),
            (1, taken(0)),
            (0, Arrival::Restarted),
            (0, Arrival::Restarted),
            (u32::MAX, taken(u32::MAX - 1)),
            (0, Arrival::Restarted),
        ] {
            assert_eq!(one.receive(0, A, sequence), expected, "{sequence}");
        }
        let expected = Counts {
            taken: 9,
            gaps: 2,
            missed: 2 + u64::from(u32::MAX - 1),
            repeated: 1,
            old: 1,
            restarted: 4,
            ..Counts::default()
        };
        assert_eq!(one.counts(), expected);
    }

    #[test]
    fn each_source_and_type_counts_by_itself() {
        let mut one = Subscription::new(None);
        assert_eq!(one.receive(0, A, 7), Arrival::Taken { missed: 0 });
        assert_eq!(one.receive(0, B, 3), Arrival::Taken { missed: 0 }, "another source");
        assert_eq!(one.receive(0, (A.0, 0x5070), 2), Arrival::Taken { missed: 0 }, "another type");
        assert_eq!(one.receive(0, A, 7), Arrival::Repeated);
        for number in 0..1000_u32 {
            one.receive(0, (number.to_be_bytes(), 0), number);
        }
        assert!(one.last.len() <= MOST_SOURCES);
    }

    #[test]
    fn the_oldest_source_is_forgotten() {
        let mut one = Subscription::new(None);
        let source = |number: u32| (number.to_be_bytes(), 0);
        for number in 0..=MOST_SOURCES as u32 {
            one.receive(0, source(number), 5);
        }
        assert_eq!(one.receive(0, source(MOST_SOURCES as u32), 5), Arrival::Repeated, "the newest");
        assert_eq!(one.receive(0, source(1), 5), Arrival::Repeated, "the oldest that is left");
        assert_eq!(one.receive(0, source(0), 5), Arrival::Taken { missed: 0 }, "forgotten");
    }

    #[test]
    fn a_time_out_is_counted_once_and_ends_with_any_number() {
        let mut one = Subscription::new(Some(100 * MS));
        assert_eq!((one.due_ns(), one.look(i64::MAX)), (None, false), "nothing has come yet");
        one.receive(0, A, 50);
        assert_eq!((one.due_ns(), one.age_ns(30 * MS)), (Some(100 * MS), Some(30 * MS)));
        assert!(!one.look(100 * MS));
        assert!(one.look(100 * MS + 1));
        assert!(!one.look(900 * MS), "once");
        assert_eq!(one.receive(950 * MS, A, 20), Arrival::Restarted, "a lower number after a time-out");
        assert_eq!(one.receive(960 * MS, A, 20), Arrival::Repeated);
        assert_eq!(one.receive(1050 * MS, A, 23), Arrival::Taken { missed: 2 }, "just in time");
        assert_eq!(one.receive(1151 * MS, A, 24), Arrival::Taken { missed: 0 }, "late, and counted as such");
        assert_eq!(one.counts().time_outs, 2);
        assert_eq!(Subscription::new(Some(0)).time_out_ns, None);
    }

    #[test]
    fn topography_counters_fit_or_are_zero() {
        let mut one = Subscription::new(None).with_topography(5, 0);
        for (counters, fits) in [((5, 0), true), ((5, 9), true), ((0, 0), true), ((6, 0), false)] {
            let arrival = one.receive_with_topography(0, A, 0, counters);
            assert_eq!(arrival != Arrival::Topography, fits, "{counters:?}");
        }
        assert_eq!((one.counts().topography, one.counts().taken), (1, 3));
        let mut both = Subscription::new(None).with_topography(5, 7);
        for (counters, fits) in
            [((5, 7), true), ((5, 8), false), ((0, 8), false), ((6, 7), false), ((5, 0), true)]
        {
            let arrival = both.receive_with_topography(0, A, 0, counters);
            assert_eq!(arrival != Arrival::Topography, fits, "{counters:?}");
        }
    }
}
