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
        self.sent_flow.merge(&other.sent_flow);
        self.received_flow.merge(&other.received_flow);
    }
}
