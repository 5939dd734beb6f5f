//! What is added up of every frame of one path.

use crate::stat::Distribution;

/// One frame of a path with all its sightings.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Where it was sighted, and which stamps exist.
    pub marks: Marks,
    /// The last tap that sighted it, as its place on the path.
    pub last_tap: u8,
    /// Octets from destination address to FCS.
    pub octets: u32,
    /// Stamp of handing over to the talker's queue.
    send_ns: i64,
    /// Stamp at the first tap.
    tx_ns: i64,
    /// Stamp at the last tap.
    rx_ns: i64,
}

/// A set of facts about a frame.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks(u8);

impl Marks {
    /// Sighted at the first tap.
    pub const TX: Self = Self(1);
    /// Sighted at the last tap.
    pub const RX: Self = Self(2);
    const TX_STAMP: Self = Self(4);
    const RX_STAMP: Self = Self(8);
    const SEND_STAMP: Self = Self(16);

    /// Whether all of `other` is in here.
    #[must_use]
    #[inline]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both together.
    #[must_use]
    #[inline]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    const fn set(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl Frame {
    /// The stamp at the first tap.
    #[must_use]
    #[inline]
    pub fn tx(&self) -> Option<i64> {
        self.marks.has(Marks::TX_STAMP).then_some(self.tx_ns)
    }

    /// The stamp at the last tap.
    #[must_use]
    #[inline]
    pub fn rx(&self) -> Option<i64> {
        self.marks.has(Marks::RX_STAMP).then_some(self.rx_ns)
    }

    /// The stamp of handing over.
    #[must_use]
    pub fn send(&self) -> Option<i64> {
        self.marks.has(Marks::SEND_STAMP).then_some(self.send_ns)
    }

    /// Notes the sighting at the first tap.
    #[inline]
    pub fn sight_tx(&mut self, t_ns: Option<i64>, octets: u32) {
        self.marks.set(Marks::TX);
        self.octets = octets;
        if let Some(stamp) = t_ns {
            self.marks.set(Marks::TX_STAMP);
            self.tx_ns = stamp;
        }
    }

    /// Notes the sighting at the last tap.
    #[inline]
    pub fn sight_rx(&mut self, t_ns: Option<i64>, octets: u32) {
        self.marks.set(Marks::RX);
        if !self.marks.has(Marks::TX) {
            self.octets = octets;
        }
        if let Some(stamp) = t_ns {
            self.marks.set(Marks::RX_STAMP);
            self.rx_ns = stamp;
        }
    }

    /// Notes the handing over.
    pub fn sight_send(&mut self, t_ns: Option<i64>) {
        if let Some(stamp) = t_ns {
            self.marks.set(Marks::SEND_STAMP);
            self.send_ns = stamp;
        }
    }

    /// `t_rx − t_tx − offset`, where both stamps exist.
    #[must_use]
    #[inline]
    pub fn delay(&self, offset_ns: i64) -> Option<i64> {
        const BOTH: Marks = Marks::TX_STAMP.and(Marks::RX_STAMP);
        if self.marks.has(BOTH) { self.rx_ns.checked_sub(self.tx_ns)?.checked_sub(offset_ns) } else { None }
    }
}

/// Octets and the time in which they passed a tap.
#[derive(Copy, Clone, Debug, Default)]
pub struct Flow {
    first: Option<(i64, u32)>,
    last_ns: i64,
    octets: u64,
}

impl Flow {
    #[inline]
    fn pass(&mut self, t_ns: Option<i64>, octets: u32) {
        self.octets += u64::from(octets);
        let Some(stamp) = t_ns else { return };
        match self.first {
            None => (self.first, self.last_ns) = (Some((stamp, octets)), stamp),
            Some(_) => self.last_ns = self.last_ns.max(stamp),
        }
    }

    /// Bit/s of frames (destination address to FCS): what came after the first frame, from its stamp to the last one's.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "the last step")]
    pub fn rate_bps(&self) -> Option<f64> {
        let (stamp, octets) = self.first?;
        let span = self.last_ns.checked_sub(stamp).filter(|span| *span > 0)?;
        Some((self.octets - u64::from(octets)) as f64 * 8e9 / span as f64)
    }

    fn merge(&mut self, other: &Self) {
        self.octets += other.octets;
        self.last_ns = match (self.first, other.first) {
            (Some(_), Some(_)) => self.last_ns.max(other.last_ns),
            (None, _) => other.last_ns,
            (_, None) => self.last_ns,
        };
        self.first = [self.first, other.first].into_iter().flatten().min();
    }
}

/// What was counted of one path, or of several together.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Numbers missing at the first tap.
    pub never_sent: u64,
    /// Sighted at the first tap.
    pub sent: u64,
    /// Sighted at both.
    pub received: u64,
    /// Sighted at the first tap only.
    pub lost: u64,
    /// Received, but later than the deadline.
    pub late: u64,
    /// Arrived again.
    pub duplicate: u64,
    /// Left again: the first tap saw the same number twice.
    pub duplicate_tx: u64,
    /// Arrived after a higher number.
    pub reordered: u64,
    /// Sighted at the last tap only.
    pub unmatched_rx: u64,
    /// Received, but a stamp is missing.
    pub missing_timestamp: u64,
    /// Jumps in the numbers so large that they mean a new beginning.
    pub restarts: u64,
    /// Lost frames by the last tap that sighted them.
    pub lost_after: Vec<u64>,
    /// Delays.
    pub delay: Distribution,
    /// Signed steps of delay.
    pub step: Distribution,
    /// Magnitudes of those steps.
    pub step_abs: Distribution,
    /// Gaps between departures.
    pub departures: Distribution,
    /// Gaps between arrivals.
    pub arrivals: Distribution,
    /// From handing over to the first tap.
    pub send_to_tx: Distribution,
    /// From handing over to the last tap.
    pub release_delay: Distribution,
    /// Rate at the first tap.
    pub sent_flow: Flow,
    /// Rate at the last tap.
    pub received_flow: Flow,
    previous_delay: Option<i64>,
    previous_tx: Option<i64>,
}

/// What a path measures against.
#[derive(Copy, Clone, Debug, Default)]
pub struct Against {
    /// The path's place in the report.
    pub path: u32,
    /// Taken off every delay, in ns.
    pub offset_ns: i64,
    /// Delay above which a frame is late.
    pub deadline_ns: Option<i64>,
}

impl Tally {
    /// Adds a frame that will not be sighted again. Frames come in order of their numbers.
    #[inline]
    pub fn add(&mut self, seq: u64, frame: &Frame, against: &Against) {
        if !frame.marks.has(Marks::TX) {
            if frame.marks.has(Marks::RX) {
                self.unmatched_rx += 1;
            } else {
                self.never_sent += 1;
            }
            return;
        }
        self.sent += 1;
        self.sent_flow.pass(frame.tx(), frame.octets);
        if let Some(tx) = frame.tx() {
            if let Some(gap) = self.previous_tx.and_then(|previous| tx.checked_sub(previous)) {
                self.departures.add(gap, seq, against.path);
            }
            self.previous_tx = Some(tx);
            if let Some(wait) = frame.send().and_then(|send| tx.checked_sub(send)) {
                self.send_to_tx.add(wait, seq, against.path);
            }
        }
        if !frame.marks.has(Marks::RX) {
            self.lost += 1;
            let tap = usize::from(frame.last_tap);
            if self.lost_after.len() <= tap {
                self.lost_after.resize(tap + 1, 0);
            }
            self.lost_after[tap] += 1;
            return;
        }
        self.received += 1;
        self.received_flow.pass(frame.rx(), frame.octets);
        if let (Some(send), Some(rx)) = (frame.send(), frame.rx())
            && let Some(delay) = rx.checked_sub(send).and_then(|delay| delay.checked_sub(against.offset_ns))
        {
            self.release_delay.add(delay, seq, against.path);
        }
        let Some(delay) = frame.delay(against.offset_ns) else {
            self.missing_timestamp += 1;
            return;
        };
        self.delay.add(delay, seq, against.path);
        if against.deadline_ns.is_some_and(|deadline| delay > deadline) {
            self.late += 1;
        }
        if let Some(step) = self.previous_delay.and_then(|previous| delay.checked_sub(previous)) {
            self.step.add(step, seq, against.path);
            self.step_abs.add(step.saturating_abs(), seq, against.path);
        }
        self.previous_delay = Some(delay);
    }

    /// Adds another path's tally.
    pub fn merge(&mut self, other: &Self) {
        for (sum, part) in [
            (&mut self.never_sent, other.never_sent),
            (&mut self.sent, other.sent),
            (&mut self.received, other.received),
            (&mut self.lost, other.lost),
            (&mut self.late, other.late),
            (&mut self.duplicate, other.duplicate),
            (&mut self.duplicate_tx, other.duplicate_tx),
            (&mut self.reordered, other.reordered),
            (&mut self.unmatched_rx, other.unmatched_rx),
            (&mut self.missing_timestamp, other.missing_timestamp),
            (&mut self.restarts, other.restarts),
        ] {
            *sum += part;
        }
        self.lost_after.resize(self.lost_after.len().max(other.lost_after.len()), 0);
        for (sum, part) in self.lost_after.iter_mut().zip(&other.lost_after) {
            *sum += part;
        }
        self.delay.merge(&other.delay);
        self.step.merge(&other.step);
        self.step_abs.merge(&other.step_abs);
        self.departures.merge(&other.departures);
        self.arrivals.merge(&other.arrivals);
        self.send_to_tx.merge(&other.send_to_tx);
        self.release_delay.merge(&other.release_delay);
        self.sent_flow.merge(&other.sent_flow);
        self.received_flow.merge(&other.received_flow);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(passed: &[(Option<i64>, u32)]) -> Flow {
        let mut flow = Flow::default();
        for (t_ns, octets) in passed {
            flow.pass(*t_ns, *octets);
        }
        flow
    }

    /// From the first frame's stamp on, what follows it: its own octets came before that stamp's time began.
    #[test]
    fn a_rate_is_of_what_came_after_the_first_frame() {
        // 1,000 and 500 octets, 12,000 bit, in 12 us.
        assert_eq!(
            flow(&[(Some(7_000), 64), (Some(15_000), 1_000), (Some(19_000), 500)]).rate_bps(),
            Some(1e9)
        );
        // In another order of arrival: the span ends with the latest stamp.
        assert_eq!(
            flow(&[(Some(7_000), 64), (Some(19_000), 1_000), (Some(15_000), 500)]).rate_bps(),
            Some(1e9)
        );
        assert_eq!(flow(&[(Some(7_000), 64)]).rate_bps(), None, "one frame has no rate");
        assert_eq!(
            flow(&[(Some(7_000), 64), (Some(7_000), 64)]).rate_bps(),
            None,
            "nor have two at one instant"
        );
        assert_eq!(flow(&[(None, 64), (None, 64)]).rate_bps(), None, "nor have frames without stamps");
    }

    #[test]
    fn a_rate_of_two_flows_is_of_what_came_after_the_first_frame_of_both() {
        let one = [(Some(1_000), 100), (Some(5_000), 400)];
        let other = [(Some(2_000), 300), (Some(9_000), 500)];
        for (first, second) in [(one, other), (other, one)] {
            let mut both = flow(&first);
            both.merge(&flow(&second));
            // 400, 300 and 500 octets, 9,600 bit, in 8 us.
            assert_eq!(both.rate_bps(), Some(1.2e9));
        }
        // A flow without a stamp changes no time.
        let mut both = flow(&one);
        both.merge(&Flow::default());
        assert_eq!(both.rate_bps(), Some(8e8));
        let mut both = Flow::default();
        both.merge(&flow(&one));
        assert_eq!(both.rate_bps(), Some(8e8));
    }

    /// A frame of 100 octets that left at 1,000 ns and arrived `delay` later, handed over 50 ns before it left.
    fn arrived(delay: i64) -> Frame {
        let mut frame = Frame::default();
        frame.sight_send(Some(950));
        frame.sight_tx(Some(1_000), 100);
        frame.sight_rx(Some(1_000 + delay), 104);
        frame
    }

    #[test]
    fn a_frame_is_late_above_its_deadline() {
        let against = Against { path: 0, offset_ns: 10, deadline_ns: Some(300) };
        let mut tally = Tally::default();
        for (seq, delay) in [(0, 309), (1, 310), (2, 311)] {
            tally.add(seq, &arrived(delay), &against);
        }
        assert_eq!((tally.received, tally.late), (3, 1));
        let delay = tally.delay.stat().unwrap();
        assert_eq!((delay.min, delay.max, delay.max_seq), (299, 301, Some(2)));
        let wait = tally.send_to_tx.stat().unwrap();
        assert_eq!((wait.count, wait.min, wait.max), (3, 50, 50));
    }

    #[test]
    fn steps_and_gaps_are_from_one_frame_to_the_next() {
        let mut tally = Tally::default();
        for (seq, tx, rx) in
            [(0, 0, Some(100)), (1, 1_000, Some(1_130)), (2, 2_100, None), (3, 2_900, Some(2_990))]
        {
            let mut frame = Frame::default();
            frame.sight_tx(Some(tx), 64);
            if let Some(rx) = rx {
                frame.sight_rx(Some(rx), 64);
            }
            tally.add(seq, &frame, &Against::default());
        }
        // Delays 100, 130, lost, 90: steps of 30 and -40. Departures 1,000, 1,100 and 800 apart.
        let step = tally.step.stat().unwrap();
        assert_eq!((step.count, step.min, step.max), (2, -40, 30));
        let step = tally.step_abs.stat().unwrap();
        assert_eq!((step.count, step.min, step.max, step.max_seq), (2, 30, 40, Some(3)));
        let gaps = tally.departures.stat().unwrap();
        assert_eq!((gaps.count, gaps.min, gaps.max, gaps.sum), (3, 800, 1_100, 2_900));
        assert_eq!(tally.lost_after, [1]);
    }

    /// A frame that the first tap has not sighted has its octets from the last one.
    #[test]
    fn octets_are_those_of_the_first_tap() {
        let mut frame = Frame::default();
        frame.sight_rx(Some(5), 104);
        assert_eq!((frame.octets, frame.tx(), frame.rx(), frame.send()), (104, None, Some(5), None));
        let frame = arrived(1);
        assert_eq!(
            (frame.octets, frame.tx(), frame.rx(), frame.send()),
            (100, Some(1_000), Some(1_001), Some(950))
        );
        assert_eq!(frame.delay(0), Some(1));
        let mut unstamped = Frame::default();
        unstamped.sight_tx(None, 64);
        unstamped.sight_rx(Some(5), 64);
        unstamped.sight_send(None);
        assert_eq!((unstamped.delay(0), unstamped.tx(), unstamped.send()), (None, None, None));
    }

    /// Every count has its own number, so that none can stand for another.
    #[test]
    fn counts_of_two_paths_are_added_up() {
        let tally = |base: u64, lost_after: &[u64]| Tally {
            never_sent: base + 1,
            sent: base + 2,
            received: base + 3,
            lost: base + 4,
            late: base + 5,
            duplicate: base + 6,
            duplicate_tx: base + 7,
            reordered: base + 8,
            unmatched_rx: base + 9,
            missing_timestamp: base + 10,
            restarts: base + 11,
            lost_after: lost_after.to_vec(),
            ..Tally::default()
        };
        for (one, other) in [(&[1_u64][..], &[10_u64, 20][..]), (&[10, 20], &[1])] {
            let mut sum = tally(100, one);
            sum.merge(&tally(1_000, other));
            let counts = [sum.never_sent, sum.sent, sum.received, sum.lost, sum.late, sum.duplicate];
            assert_eq!(counts, [1_102, 1_104, 1_106, 1_108, 1_110, 1_112]);
            let counts =
                [sum.duplicate_tx, sum.reordered, sum.unmatched_rx, sum.missing_timestamp, sum.restarts];
            assert_eq!(counts, [1_114, 1_116, 1_118, 1_120, 1_122]);
            assert_eq!(sum.lost_after, [11, 20]);
        }
    }

    #[test]
    fn every_distribution_of_two_paths_is_merged() {
        let mut sum = Tally::default();
        for path in 0..2 {
            let mut tally = Tally::default();
            let of = |tally: &mut Tally, value: i64| tally.arrivals.add(value, 0, path);
            of(&mut tally, 7);
            for seq in 0..3 {
                tally.add(seq, &arrived(100), &Against { path, ..Against::default() });
            }
            sum.merge(&tally);
        }
        let counts = [&sum.delay, &sum.step, &sum.step_abs, &sum.departures, &sum.arrivals, &sum.send_to_tx];
        assert_eq!(counts.map(|of| of.count()), [6, 4, 4, 4, 2, 6]);
    }
}
