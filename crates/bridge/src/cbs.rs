//! The credit-based shaper of one traffic class, exact.
//!
//! IEEE 802.1Q-2022, 8.6.8.2. The unit of credit inside is 1e-12 bit: bit/s times picoseconds, so that no
//! division ever rounds it.

use crate::{Gate, StateTaker};
use tsn_plan::Cbs;
use tsn_units::{Duration, Instant};

/// Credit units in one bit.
const PER_BIT: i128 = 1_000_000_000_000;

/// Credit and the slopes that move it.
///
/// - A frame may start when credit is not negative.
/// - While a frame of the class passes, credit falls at the send slope, for everything the frame costs on the
///   wire: preamble to inter-frame gap.
/// - While frames wait, credit rises at the idle slope, up to the highest credit.
/// - While none waits, positive credit is lost, and negative credit recovers to zero.
/// - While the class's gate is closed, credit is frozen: with a gate control list, the planner must multiply the
///   reserved idle slope by cycle time over open time. Every list that comes into force may set another slope; the
///   credit itself is kept. Some hardware ignores gates in its credit: then credit keeps changing.
/// - While a frame is interrupted, it counts as waiting: credit rises. Every fragment costs its own time on the wire.
#[derive(Clone, Debug)]
pub struct CreditBasedShaper {
    idle_slope: i64,
    send_slope: i64,
    highest: i128,
    lowest: i128,
    runs_while_closed: bool,
    credit: i128,
    /// The instant for which `credit` is valid; after a transmission, its end.
    at: Instant,
}

impl CreditBasedShaper {
    /// A shaper without credit.
    #[must_use]
    pub fn new(cbs: &Cbs) -> Self {
        Self {
            idle_slope: cbs.idle_slope_bps,
            send_slope: cbs.send_slope_bps,
            highest: i128::from(cbs.hi_credit_bits) * PER_BIT,
            lowest: i128::from(cbs.lo_credit_bits) * PER_BIT,
            runs_while_closed: cbs.runs_while_closed,
            credit: 0,
            at: Instant::EPOCH,
        }
    }

    /// The credit at `now` in 1e-12 bit; while a frame of the class passes, the credit at its end. `waiting`:
    /// whether frames waited since the last change.
    #[must_use]
    pub fn credit(&self, now: Instant, waiting: bool, gate: Gate<'_>) -> i128 {
        if now < self.at || (now == self.at && waiting) {
            return self.credit;
        }
        let gained = || self.effective_gate(gate).credit_gain(self.idle_slope, self.at, now);
        match (waiting, self.credit) {
            (true, credit) if credit >= self.highest => credit,
            (true, credit) => (credit + gained()).min(self.highest),
            (false, 0..) => 0,
            (false, credit) => (credit + gained()).min(0),
        }
    }

    /// Updates the credit to `now`; see [`Self::credit`].
    #[inline]
    pub fn advance(&mut self, now: Instant, waiting: bool, gate: Gate<'_>) {
        if now > self.at {
            self.credit = self.credit(now, waiting, gate);
            self.at = now;
        }
    }

    /// Charges a transmission that begins at `now`; afterwards the credit is that at its end.
    #[inline]
    pub fn charge(&mut self, now: Instant, wire: Duration, gate: Gate<'_>) {
        let mut slope = self.send_slope;
        if gate.has_slopes() {
            slope += self.effective_gate(gate).slope(self.idle_slope, now) - self.idle_slope;
        }
        let spent = i128::from(slope) * i128::from(wire.ps());
        self.credit = (self.credit + spent).max(self.lowest);
        self.at = now + wire;
    }

    /// Adds the credit as it is now, and from when on it is valid: credit moves alike whether it was brought up to date
    /// before or not.
    pub(crate) fn put_state(&self, state: &mut StateTaker, waiting: bool, gate: Gate<'_>) {
        state.put(self.credit(state.now(), waiting, gate));
        state.put_future(self.at);
    }

    /// The credit before a transmission is charged: [`Self::refund`] goes back to it.
    pub(crate) fn saved(&self) -> i128 {
        self.credit
    }

    /// Refunds a transmission that began at `begun` and is cut: only the time that it occupied the wire is charged.
    pub(crate) fn refund(&mut self, saved: i128, begun: Instant, wire: Duration, gate: Gate<'_>) {
        self.credit = saved;
        self.charge(begun, wire, gate);
    }

    /// The gate as credit sees it: always open where the hardware ignores gates.
    #[inline]
    fn effective_gate<'a>(&self, gate: Gate<'a>) -> Gate<'a> {
        if self.runs_while_closed { Gate::ALWAYS_OPEN } else { gate }
    }

    /// The earliest instant at which a waiting frame may start.
    #[inline]
    #[must_use]
    pub fn eligible_from(&self, gate: Gate<'_>) -> Instant {
        if self.credit >= 0 {
            return self.at;
        }
        let gate = self.effective_gate(gate);
        if gate.has_slopes() {
            return gate.when_gained(self.idle_slope, self.at, -self.credit);
        }
        let slope = self.idle_slope.max(1);
        let needed = match i64::try_from(-self.credit) {
            // The usual case, some 2^43 bit and less, spares the division in 128 bits.
            Ok(debt) => (debt - 1) / slope + 1,
            Err(_) => i64::try_from((-self.credit - 1) / i128::from(slope) + 1).unwrap_or(i64::MAX),
        };
        gate.when_open_for(self.at, Duration::from_ps(needed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GateControlList;
    use tsn_plan::{GateChange, GateEntry, Gates, IdleSlope};

    /// A quarter of 1 Gbit/s: 0.25 bit per ns of waiting, -0.75 bit per ns of sending, between -9,000 and 2,000 bit.
    fn cbs() -> Cbs {
        Cbs {
            idle_slope_bps: 250_000_000,
            send_slope_bps: -750_000_000,
            hi_credit_bits: 2_000,
            lo_credit_bits: -9_000,
            ..Cbs::default()
        }
    }

    fn at(ns: i64) -> Instant {
        Instant::from_ns(ns)
    }

    fn ns(ns: i64) -> Duration {
        Duration::from_ns(ns)
    }

    const OPEN: Gate<'_> = Gate::ALWAYS_OPEN;

    /// Thousandths of a bit.
    fn credit(shaper: &CreditBasedShaper, ns: i64, waiting: bool, gate: Gate<'_>) -> i128 {
        let credit = shaper.credit(at(ns), waiting, gate);
        assert_eq!(credit % (PER_BIT / 1_000), 0);
        credit / (PER_BIT / 1_000)
    }

    /// Class 0 open for 5,000 ns of every 10,000.
    fn half() -> Gates {
        let entry = |open, interval_ns| GateEntry { open, interval_ns, mac: None };
        Gates { cycle_ns: 10_000, entries: vec![entry(1, 5_000), entry(0, 5_000)], ..Gates::default() }
    }

    #[test]
    fn credit_rises_while_frames_wait_up_to_the_highest() {
        let mut shaper = CreditBasedShaper::new(&cbs());
        for (ns, bits) in [
            (0, 0),
            (1, 250),
            (4_000, 1_000_000),
            (7_999, 1_999_750),
            (8_000, 2_000_000),
            (50_000, 2_000_000),
        ] {
            assert_eq!(credit(&shaper, ns, true, OPEN), bits, "at {ns} ns");
        }
        shaper.advance(at(8_000), true, OPEN);
        assert_eq!(credit(&shaper, 8_000, true, OPEN), 2_000_000);
        assert_eq!(credit(&shaper, 9_000, true, OPEN), 2_000_000);
        // No frame waits: positive credit is lost at once.
        assert_eq!(credit(&shaper, 8_000, false, OPEN), 0);
        shaper.advance(at(8_500), false, OPEN);
        assert_eq!(credit(&shaper, 9_500, true, OPEN), 250_000, "from zero again");
    }

    #[test]
    fn a_frame_costs_the_send_slope_for_its_time_on_the_wire() {
        let mut shaper = CreditBasedShaper::new(&cbs());
        shaper.advance(at(4_000), true, OPEN);
        assert_eq!(shaper.eligible_from(OPEN), at(4_000));
        shaper.charge(at(4_000), ns(2_000), OPEN);
        // 1,000 bit less 1,500 at the end of the frame at 6,000 ns; before the end, the credit is already that at the
        // end.
        for (ns, waiting, bits) in [
            (5_000, true, -500_000),
            (6_000, true, -500_000),
            (6_400, true, -400_000),
            (8_000, true, 0),
            (9_000, true, 250_000),
        ] {
            assert_eq!(credit(&shaper, ns, waiting, OPEN), bits, "at {ns} ns");
        }
        assert_eq!(shaper.eligible_from(OPEN), at(8_000));
        // While no frame waits, credit recovers to zero and not beyond.
        for (ns, bits) in [(7_000, -250_000), (8_000, 0), (9_000, 0)] {
            assert_eq!(credit(&shaper, ns, false, OPEN), bits, "at {ns} ns");
        }
    }

    #[test]
    fn credit_does_not_fall_below_the_lowest() {
        let mut shaper = CreditBasedShaper::new(&cbs());
        shaper.charge(at(0), ns(12_000), OPEN);
        assert_eq!(credit(&shaper, 12_000, true, OPEN), -9_000_000);
        let mut shaper = CreditBasedShaper::new(&cbs());
        shaper.charge(at(0), ns(12_001), OPEN);
        assert_eq!(credit(&shaper, 12_001, true, OPEN), -9_000_000);
        assert_eq!(shaper.eligible_from(OPEN), at(12_001 + 36_000));
    }

    /// The first picosecond in which credit is not negative, not the one before.
    #[test]
    fn eligibility_is_rounded_up() {
        for (idle_slope_bps, needed) in [(3, 4), (10, 1), (11, 1), (9, 2), (5, 2), (1, 10)] {
            let slopes = Cbs { idle_slope_bps, send_slope_bps: -10, ..cbs() };
            let mut shaper = CreditBasedShaper::new(&slopes);
            shaper.charge(Instant::EPOCH, Duration::from_ps(1), OPEN);
            let eligible = shaper.eligible_from(OPEN);
            assert_eq!(eligible, Instant::from_ps(1 + needed), "{idle_slope_bps} bit/s");
            assert!(shaper.credit(eligible, true, OPEN) >= 0);
            assert!(shaper.credit(Instant::from_ps(needed), true, OPEN) < 0);
        }
        // Within one instant no credit is lost, although no frame waits.
        let mut shaper = CreditBasedShaper::new(&cbs());
        shaper.advance(at(4_000), true, OPEN);
        shaper.advance(at(4_000), false, OPEN);
        assert_eq!(credit(&shaper, 5_000, true, OPEN), 1_250_000);
        // A debt of more than 2^63 units: 10 Mbit.
        for (idle_slope_bps, needed) in [(3, 3_333_333_333_333_333_334), (5, 2_000_000_000_000_000_000)] {
            let slopes = Cbs { idle_slope_bps, send_slope_bps: -10, lo_credit_bits: -10_000_000, ..cbs() };
            let mut shaper = CreditBasedShaper::new(&slopes);
            shaper.charge(Instant::EPOCH, Duration::from_ps(1_000_000_000_000_000_000), OPEN);
            let eligible = Instant::from_ps(1_000_000_000_000_000_000 + needed);
            assert_eq!(shaper.eligible_from(OPEN), eligible, "{idle_slope_bps} bit/s");
        }
    }

    #[test]
    fn credit_stands_still_while_the_gate_is_closed() {
        let list = GateControlList::new(&half());
        let gate = list.gate(0);
        let mut shaper = CreditBasedShaper::new(&cbs());
        for (ns, bits) in [(4_000, 1_000_000), (5_000, 1_250_000), (9_999, 1_250_000), (12_000, 1_750_000)] {
            assert_eq!(credit(&shaper, ns, true, gate), bits, "at {ns} ns");
        }
        // 1,000 bit less 1,500 at 6,000 ns. The next 2,000 ns of open gate end at 12,000.
        shaper.advance(at(4_000), true, gate);
        shaper.charge(at(4_000), ns(2_000), gate);
        for (ns, bits) in [(6_000, -500_000), (10_000, -500_000), (11_000, -250_000), (12_000, 0)] {
            assert_eq!(credit(&shaper, ns, true, gate), bits, "at {ns} ns");
        }
        assert_eq!(shaper.eligible_from(gate), at(12_000));
    }

    #[test]
    fn credit_that_knows_no_gates_runs_on() {
        let list = GateControlList::new(&half());
        let gate = list.gate(0);
        let mut shaper = CreditBasedShaper::new(&Cbs { runs_while_closed: true, ..cbs() });
        assert_eq!(credit(&shaper, 7_000, true, gate), 1_750_000);
        shaper.advance(at(4_000), true, gate);
        shaper.charge(at(4_000), ns(2_000), gate);
        assert_eq!(shaper.eligible_from(gate), at(8_000));
    }

    #[test]
    fn a_frame_that_is_cut_costs_less() {
        let mut shaper = CreditBasedShaper::new(&cbs());
        shaper.advance(at(4_000), true, OPEN);
        let saved = shaper.saved();
        shaper.charge(at(4_000), ns(8_000), OPEN);
        assert_eq!(credit(&shaper, 12_000, true, OPEN), -5_000_000);
        shaper.refund(saved, at(4_000), ns(1_000), OPEN);
        assert_eq!(credit(&shaper, 5_000, true, OPEN), 250_000);
        assert_eq!(credit(&shaper, 6_000, true, OPEN), 500_000);
    }

    /// A second list from 20,000 ns on makes the idle slope half as steep; the send slope follows it.
    #[test]
    fn a_slope_of_another_list_holds_from_its_first_cycle_on() {
        let open = vec![GateEntry { open: 1, interval_ns: 10_000, mac: None }];
        let change = GateChange {
            at_ns: 0,
            base_time_ns: 20_000,
            cycle_ns: 10_000,
            entries: open.clone(),
            cycle_extension_ns: 0,
            idle_slopes: vec![IdleSlope { class: 0, bps: 125_000_000 }],
        };
        let gates = Gates { cycle_ns: 10_000, entries: open, changes: vec![change], ..Gates::default() };
        let list = GateControlList::new(&gates);
        let gate = list.gate(0);
        let mut shaper = CreditBasedShaper::new(&Cbs { hi_credit_bits: 100_000, ..cbs() });
        shaper.advance(at(16_000), false, gate);
        for (ns, bits) in [(18_000, 500_000), (20_000, 1_000_000), (24_000, 1_500_000)] {
            assert_eq!(credit(&shaper, ns, true, gate), bits, "at {ns} ns");
        }
        // Before the change a frame of 2,000 ns costs 1,500 bit, after it 1,750.
        let mut before = shaper.clone();
        before.charge(at(16_000), ns(2_000), gate);
        assert_eq!(credit(&before, 18_000, true, gate), -1_500_000);
        // Of 1,500 bit, 500 are regained until 20,000 ns and 1,000 in the 8,000 ns after it.
        assert_eq!(before.eligible_from(gate), at(28_000));
        shaper.advance(at(20_000), false, gate);
        shaper.charge(at(20_000), ns(2_000), gate);
        assert_eq!(credit(&shaper, 22_000, true, gate), -1_750_000);
        assert_eq!(shaper.eligible_from(gate), at(36_000));
        // Credit that ignores gates also ignores lists.
        let mut own = CreditBasedShaper::new(&Cbs { runs_while_closed: true, ..cbs() });
        own.charge(at(20_000), ns(2_000), gate);
        assert_eq!(credit(&own, 22_000, true, gate), -1_500_000);
        assert_eq!(own.eligible_from(gate), at(28_000));
    }
}
