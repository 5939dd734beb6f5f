//! A subscription: which telegrams its subscriber takes, which it misses, and when it gives up waiting.
//! IEC 61375-2-3, Annex A.

/// Address and type: telegrams of different sources and types are numbered each by themselves.
pub type Source = ([u8; 4], u16);

/// Most sources of one subscription that are told apart; behind them the oldest is forgotten.
const MOST_SOURCES: usize = 64;

/// What became of a telegram.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Newer than the last one.
    Taken {
        /// Numbers between the last one and it.
        missed: u32,
    },
    /// Taken as the first of a publisher that has begun again: number 0, or any number after a time-out.
    Restarted,
    /// Ignored: the last one's number again.
    Repeated,
    /// Ignored: a lower number than the last one's.
    Old,
    /// Ignored: topography counters that are not the subscription's.
    Topography,
}

/// What a subscription has counted.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Telegrams that were taken.
    pub taken: u64,
    /// Gaps in the numbers.
    pub gaps: u64,
    /// Telegrams that the gaps were long.
    pub missed: u64,
    /// Telegrams that were ignored because they had the last one's number.
    pub repeated: u64,
    /// Telegrams that were ignored because they had a lower number.
    pub old: u64,
    /// Times that a publisher began again.
    pub restarted: u64,
    /// Times that no telegram came in time.
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
    /// The highest number since the last restart, of any source: what gaps are counted from.
    current: u32,
    taken_at_ns: Option<i64>,
    timed_out: bool,
    counts: Counts,
}

impl Subscription {
    /// With a time-out in ns; none: the last value stays good for ever. Its topography counters are 0: any.
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

    /// Takes telegrams of these topography counters alone; 0: of any.
    #[must_use]
    pub fn with_topography(self, etb_topo_count: u32, op_trn_topo_count: u32) -> Self {
        Self { etb_topo_count, op_trn_topo_count, ..self }
    }

    /// A telegram with these topography counters came; see [`Self::receive`].
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

    /// A telegram came. What [`Self::look`] would have said at this moment is counted first.
    pub fn receive(&mut self, now_ns: i64, source: Source, sequence: u32) -> Arrival {
        self.look(now_ns);
        let again = sequence == 0 || self.timed_out;
        let known = self.last.iter_mut().find(|(known, _)| *known == source);
        let mut restarted = false;
        match known {
            Some((_, last)) => {
                // Number 0 is taken whatever was before; a second 0 is one more restart.
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

    /// Looks whether the time-out passed by `now_ns`; whether it did just now. The time counts from the first telegram.
    pub fn look(&mut self, now_ns: i64) -> bool {
        let over = self.due_ns().is_some_and(|due| now_ns > due);
        if over {
            self.timed_out = true;
            self.counts.time_outs += 1;
        }
        over
    }

    /// When the time-out will pass unless a telegram comes; none before the first telegram, and after a time-out.
    #[must_use]
    pub fn due_ns(&self) -> Option<i64> {
        let waits = self.taken_at_ns.filter(|_| !self.timed_out);
        waits.zip(self.time_out_ns).map(|(taken, time_out)| taken.saturating_add(time_out))
    }

    /// How old the last value is, ns; none before the first.
    #[must_use]
    pub fn age_ns(&self, now_ns: i64) -> Option<i64> {
        self.taken_at_ns.map(|taken| now_ns.saturating_sub(taken))
    }

    /// What was counted so far.
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
