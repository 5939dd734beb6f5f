//! The credit-based shaper of one traffic class, exact.
//!
//! IEEE 802.1Q-2022, 8.6.8.2. The unit of credit inside is 1e-12 bit: bit/s times picoseconds, so that no
//! division ever rounds it.

use crate::Gate;
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
/// - While the class's gate is closed, credit stands still: with a gate control list, the idle slope in force
///   has to be the reserved one scaled by cycle time over open time, which is for whoever plans to do. The slope
///   may be another one with every list that comes into force; the credit itself is kept. Some hardware knows
///   nothing of gates: then credit runs on.
/// - While a frame is interrupted, it waits like one in the queue: credit rises. Every part of it costs what it takes
///   on the wire.
#[derive(Clone, Debug)]
pub struct CreditBasedShaper {
    idle_slope: i64,
    send_slope: i64,
    highest: i128,
    lowest: i128,
    runs_while_closed: bool,
    credit: i128,
    /// When `credit` is or was right; after a transmission, its end.
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
        let gained = || self.minded(gate).gained(self.idle_slope, self.at, now);
        match (waiting, self.credit) {
            (true, credit) if credit >= self.highest => credit,
            (true, credit) => (credit + gained()).min(self.highest),
            (false, 0..) => 0,
            (false, credit) => (credit + gained()).min(0),
        }
    }

    /// Brings the credit up to `now`; see [`Self::credit`].
    #[inline]
    pub fn advance(&mut self, now: Instant, waiting: bool, gate: Gate<'_>) {
        if now > self.at {
            self.credit = self.credit(now, waiting, gate);
            self.at = now;
        }
    }

    /// Spends what a transmission from `now` on costs; the credit then is the one at its end.
    #[inline]
    pub fn spend(&mut self, now: Instant, wire: Duration, gate: Gate<'_>) {
        let mut slope = self.send_slope;
        if gate.has_slopes() {
            slope += self.minded(gate).slope(self.idle_slope, now) - self.idle_slope;
        }
        let spent = i128::from(slope) * i128::from(wire.ps());
        self.credit = (self.credit + spent).max(self.lowest);
        self.at = now + wire;
    }

    /// Before something is spent: what [`Self::spend_less`] goes back to.
    pub(crate) fn save(&self) -> i128 {
        self.credit
    }

    /// What was to be on the wire from `begun` on is cut: it costs only this.
    pub(crate) fn spend_less(&mut self, saved: i128, begun: Instant, wire: Duration, gate: Gate<'_>) {
        self.credit = saved;
        self.spend(begun, wire, gate);
    }

    /// The gate as far as credit minds it.
    #[inline]
    fn minded<'a>(&self, gate: Gate<'a>) -> Gate<'a> {
        if self.runs_while_closed { Gate::ALWAYS_OPEN } else { gate }
    }

    /// From when on a frame that waits may start.
    #[inline]
    #[must_use]
    pub fn eligible_from(&self, gate: Gate<'_>) -> Instant {
        if self.credit >= 0 {
            return self.at;
        }
        let gate = self.minded(gate);
        if gate.has_slopes() {
            return gate.after_gain(self.idle_slope, self.at, -self.credit);
        }
        let slope = self.idle_slope.max(1);
        let needed = match i64::try_from(-self.credit) {
            // The usual case, some 2^43 bit and less, spares the division in 128 bits.
            Ok(debt) => (debt - 1) / slope + 1,
            Err(_) => i64::try_from((-self.credit - 1) / i128::from(slope) + 1).unwrap_or(i64::MAX),
        };
        gate.after_open(self.at, Duration::from_ps(needed))
    }
}
