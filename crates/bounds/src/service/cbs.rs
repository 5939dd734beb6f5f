//! Credit-based shapers: the service that they guarantee, and the most that they send.
//!
//! IEEE 802.1Q-2022, 8.6.8.2; De Azua & Boyer 2014. The derivations are in `docs/concepts/bounds.md`.

mod gathered;

use crate::curve::{BIT, Curve, Data, Ps, Rate, ratio_up};
use crate::model::openings::Window;
use tsn_plan::Cbs;

/// A shaper in data units, and the port it works at.
#[derive(Clone, Debug)]
pub(crate) struct Credit {
    /// Idle slope, bit/s; the highest one, if gate control lists change it.
    pub idle: Rate,
    /// The lowest idle slope.
    pub slowest: Rate,
    /// From when on in the cycle of the port's gates there is which idle slope; empty if it does not change.
    slopes: Vec<(Ps, Rate)>,
    /// In front of a transmit buffer: for each frame of the class, of at least so much data, another one of at most so
    /// much may be selected while it counts as being sent.
    beside: Option<(Data, Data)>,
    /// Send slope beside the lowest idle slope, bit/s. The sum of both is the same in every list.
    pub send: Rate,
    pub highest: Data,
    /// What sending costs at least, bit/s: the lowest credit cuts off a part of the debt of long frames.
    least: Rate,
    /// The most that the longest frame leaves as debt.
    debt: Data,
    /// How far credit may be below zero when the class begins to wait, and how far at any time.
    owed: Data,
    deepest: Data,
    /// What frames may gain that begin before an idle slope changes, and are charged as if it did not.
    carried: Data,
}

impl Credit {
    /// `longest`: how long the longest frame of the class occupies the link; `slopes`: from when on lists set which
    /// idle slope, if they set several; `beside`: see [`Self::beside`].
    pub fn of(cbs: &Cbs, longest: Ps, slopes: Vec<(Ps, Rate)>, beside: Option<(Data, Data)>) -> Self {
        let each = || slopes.iter().map(|(_, idle)| *idle);
        let own = cbs.idle_slope_bps;
        let (idle, slowest) = (each().max().unwrap_or(own), each().min().unwrap_or(own));
        let send = cbs.send_slope_bps.saturating_neg() + (own - slowest);
        let changes = Data::try_from(slopes.len()).unwrap_or(0).saturating_sub(1).max(0);
        let deepest = -(Data::from(cbs.lo_credit_bits) * BIT).min(0);
        let kept = Rate::try_from(deepest / Data::from(longest.max(1))).unwrap_or(Rate::MAX);
        Self {
            idle,
            slowest,
            beside,
            carried: changes * Data::from(idle - slowest) * Data::from(longest),
            slopes,
            send,
            highest: Data::from(cbs.hi_credit_bits) * BIT,
            least: send.min(kept),
            debt: deepest.min(Data::from(send) * Data::from(longest)),
            owed: 0,
            deepest,
        }
    }

    /// The same shaper, seen from any moment on: its credit may be the lowest one.
    pub fn owing(&self) -> Self {
        Self { owed: self.deepest, ..self.clone() }
    }

    /// The idle slope at an instant of the cycle of the port's gates.
    fn idle_at(&self, at: Ps) -> Rate {
        let number = self.slopes.partition_point(|(from, _)| *from <= at);
        number.checked_sub(1).map_or(self.idle, |number| self.slopes[number].1)
    }

    /// The windows, each with one idle slope.
    pub fn pieces(&self, windows: &[Window]) -> Vec<(Window, Rate)> {
        let mut found = Vec::new();
        for window in windows {
            let within =
                self.slopes.iter().map(|(at, _)| *at).filter(|at| window.from < *at && *at < window.to);
            let mut edges = vec![window.from];
            edges.extend(within);
            edges.push(window.to);
            let piece = |pair: &[Ps]| (Window { from: pair[0], to: pair[1] }, self.idle_at(pair[0]));
            found.extend(edges.windows(2).map(piece));
        }
        found
    }

    /// Decrease of credit per ps of sending, relative to its gain per ps: idle slope minus send slope.
    pub fn drain(&self) -> Data {
        Data::from(self.slowest) + Data::from(self.send)
    }

    /// The decrease of credit that is certain, whatever the lowest credit cuts off.
    fn least_drain(&self) -> Data {
        Data::from(self.slowest) + Data::from(self.least)
    }

    /// The most data sent within any span of time on a link of `rate` that begins with at most `credit`.
    pub fn sent(&self, rate: Rate, credit: Data) -> Option<Curve> {
        let rate = Data::from(rate);
        let slope = ratio_up(Data::from(self.idle), rate, self.least_drain())?;
        let burst = ratio_up(self.debt + credit, rate, self.least_drain())?;
        Some(Curve::affine(burst, Rate::try_from(slope).ok()?))
    }

    /// The most data that arrives at the other end within any span of time; `largest` is the largest frame's data.
    pub fn arriving(&self, rate: Rate, credit: Data, largest: Data, rounded: bool) -> Option<Curve> {
        let exact = Data::from(rate);
        let slope = ratio_up(Data::from(self.idle), exact, self.least_drain())?;
        let burst = ratio_up(credit, exact, self.least_drain())? + largest;
        let slack = if rounded { exact } else { 0 };
        Some(Curve::affine(burst + slack, Rate::try_from(slope).ok()?))
    }

    /// The guaranteed service of the class, if it can gather at most `gathered`; `open` is what its idle slopes yield
    /// while its gate is open, each at the rate that it is worth.
    ///
    /// If that exceeds the highest credit, each loss counts: at most once per frame of `smallest` (if none is
    /// interrupted), and not before the highest credit has been spent.
    pub fn service(
        &self,
        rate: Rate,
        gathered: Data,
        smallest: Option<Data>,
        open: impl Fn(&dyn Fn(Rate) -> Rate) -> Vec<Curve>,
    ) -> Option<Vec<Curve>> {
        let (line, drain) = (Data::from(rate), self.drain());
        let lost = (gathered - self.highest).max(0);
        let per_frame = match smallest {
            Some(smallest) => Some(ratio_up(line, lost, smallest)?),
            None => None,
        };
        // A frame in fragments is on the wire for at most 7/5 of its time.
        let spent = if smallest.is_some() { drain } else { drain * 7 / 5 + 1 };
        let per_credit = if self.highest > 0 { ratio_up(spent, lost, self.highest) } else { None };
        let cost = match (per_frame, per_credit) {
            _ if lost == 0 => drain,
            (Some(a), Some(b)) => drain + a.min(b),
            (a, b) => drain + a.or(b)?,
        };
        let worth = |idle: Rate| Rate::try_from(Data::from(idle) * line / cost).unwrap_or(0);
        let missing = Curve::affine(-ratio_up(gathered + self.owed, line, cost)?, 0);
        Some(open(&worth).iter().map(|served| served.add(&missing)).collect())
    }

    /// [`Self::service`] where the gate never closes.
    pub fn service_always(&self, rate: Rate, gathered: Data, smallest: Option<Data>) -> Option<Curve> {
        let open = |worth: &dyn Fn(Rate) -> Rate| vec![Curve::affine(0, worth(self.slowest))];
        self.service(rate, gathered, smallest, open)?.pop()
    }

    /// The guaranteed service without any knowledge of credit, if every frame pays its debt (at most the lowest credit)
    /// before the next one and a frame of a lower class (at most `lower`) comes between each two: a part of `service`.
    pub fn service_without_memory(
        &self,
        rate: Rate,
        service: &Curve,
        lower: Data,
        smallest: Data,
    ) -> Option<Curve> {
        let (idle, line) = (Data::from(self.slowest), Data::from(rate));
        let (lower, smallest) = ((lower + BIT - 1) / BIT, (smallest / BIT).max(1));
        // Per bit, a small frame owes the most.
        let debt = (self.deepest + BIT - 1) / BIT;
        let debt = Data::from(self.send).checked_mul(smallest)?.min(debt.checked_mul(line)?);
        let paid = idle.checked_mul(smallest)?.checked_add(debt)?;
        let whole = paid.checked_add(lower.checked_mul(idle)?)?;
        let part = (idle.checked_mul(smallest)?.checked_mul(1 << 24)?) / whole;
        let mut segments = Vec::with_capacity(service.segments().len());
        let owed = ratio_up(self.owed, line, idle)?;
        for segment in service.segments() {
            let value = (segment.value - owed).checked_mul(part)? >> 24;
            let slope = Rate::try_from((Data::from(segment.slope) * part) >> 24).ok()?;
            segments.push(crate::curve::Segment { at: segment.at, value, slope });
        }
        Some(Curve::of(segments))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub fn credit(idle: i64, rate: i64, hi: i64, lo: i64, longest: Ps) -> Credit {
        let cbs = Cbs {
            idle_slope_bps: idle,
            send_slope_bps: idle - rate,
            hi_credit_bits: hi,
            lo_credit_bits: lo,
            ..Cbs::default()
        };
        Credit::of(&cbs, longest, Vec::new(), None)
    }

    /// 4 gained and 6 spent, on a link of 10.
    pub fn small() -> Credit {
        Credit {
            idle: 4,
            slowest: 4,
            slopes: Vec::new(),
            beside: None,
            send: 6,
            highest: 0,
            least: 6,
            debt: 60,
            owed: 0,
            deepest: 60,
            carried: 0,
        }
    }

    /// Sending spends 900 bit/s: in 10 ms this is 9 bit, the lowest credit. In 20 ms it would be 18, so that sending
    /// costs 450 bit/s at least; without any debt it costs nothing, and the class is not shaped.
    #[test]
    fn what_the_lowest_credit_cuts_off_is_sent_sooner() {
        let shaper = |longest, lowest| credit(100, 1_000, 7, lowest, longest);
        // The sum is the debt, the earlier credit, and the largest frame if whole frames count.
        let exact = shaper(10_000_000_000, -9);
        assert_eq!(exact.sent(1_000, 5 * BIT), Some(Curve::affine(14 * BIT, 100)));
        let arriving = |rounded| exact.arriving(1_000, 5 * BIT, 12 * BIT, rounded);
        assert_eq!(arriving(false), Some(Curve::affine(17 * BIT, 100)));
        assert_eq!(arriving(true), Some(Curve::affine(17 * BIT + 1_000, 100)));
        // 100 * 1,000 / 550 bit/s, and (9 + 5) * 1,000 / 550 bit.
        let cut = shaper(20_000_000_000, -9);
        assert_eq!(cut.sent(1_000, 5 * BIT), Some(Curve::affine(14 * BIT * 20 / 11 + 1, 182)));
        assert_eq!(
            cut.arriving(1_000, 5 * BIT, 12 * BIT, false),
            Some(Curve::affine(5 * BIT * 20 / 11 + 1 + 12 * BIT, 182))
        );
        let none = shaper(20_000_000_000, 0);
        assert_eq!(none.sent(1_000, 5 * BIT), Some(Curve::affine(50 * BIT, 1_000)));
        // Behind 20 bit in the way, others send 850 bit/s: 100 * 20 / 150 bit are gained while the class may not send.
        // What is left of the link costs 150 * 1,000 bit/s against a gain of 850 * 100, but only 150 * 550 with the cut
        // debt: then credit grows without end.
        let gathered = |own: &Credit| own.gathered(1_000, 20 * BIT, &Curve::affine(0, 850));
        assert_eq!(gathered(&exact), Some(40 * BIT / 3 + 1));
        assert_eq!(gathered(&cut), None);
    }

    /// If 20 of 50 are kept, 30 are lost: once per frame, or once per 20.
    #[test]
    fn credit_that_is_cut_off_costs_service() {
        let service = |highest, gathered, smallest| {
            let own = Credit { idle: 4_000, slowest: 4_000, send: 6_000, highest, ..small() };
            own.service_always(10_000, gathered, Some(smallest))
        };
        // Nothing lost.
        assert_eq!(service(50, 50, 100), Some(Curve::affine(-50, 4_000)));
        // Another list has 5,000: the lowest one counts.
        let own = Credit { idle: 5_000, slowest: 4_000, send: 6_000, highest: 50, ..small() };
        assert_eq!(own.service_always(10_000, 50, Some(100)), Some(Curve::affine(-50, 4_000)));
        // 30 are lost with every frame of 100: 4,000 * 10 / 13, and 50 * 10 / 13.
        assert_eq!(service(20, 50, 100), Some(Curve::affine(-39, 3_076)));
        assert_eq!(service(0, 30, 100), Some(Curve::affine(-24, 3_076)));
        // 30 are lost with every 200 of credit, not with every 30 sent: 4,000 * 10 / 11.5, and 230 * 10 / 11.5.
        assert_eq!(service(200, 230, 30), Some(Curve::affine(-200, 3_478)));
        // In fragments, 200 of credit are 200 / 14,000 of time: 30 cost 2,101 more, 4,000 * 10,000 / 12,101.
        let own = Credit { idle: 4_000, slowest: 4_000, send: 6_000, highest: 200, ..small() };
        let service = |credit: Credit| credit.service_always(10_000, 230, None);
        assert_eq!(service(own.clone()), Some(Curve::affine(-191, 3_305)));
        // 60 more are owed at any moment: 290 * 10,000 / 12,101.
        let owing = Credit { debt: 30, ..own.clone() }.owing();
        assert_eq!(service(owing), Some(Curve::affine(-240, 3_305)));
        assert_eq!(service(Credit { highest: 0, ..own.clone() }), None);
    }

    /// Frames of 100 bit regain their cost in 4,000 of 10,000, and wait for 150 bit each time: a quarter.
    #[test]
    fn without_memory_every_frame_pays_for_itself() {
        let own = Credit { idle: 4_000, slowest: 4_000, send: 6_000, deepest: 60_000 * BIT, ..small() };
        let served = |own: &Credit, lower| {
            own.service_without_memory(10, &Curve::affine(3_000, 9_000), lower, 100 * BIT)
        };
        let service = |lower| served(&own, lower);
        assert_eq!(service(150 * BIT), Some(Curve::affine(750, 2_250)));
        // A part of a bit counts as a whole bit.
        assert_eq!(service(149 * BIT + 1), Some(Curve::affine(750, 2_250)));
        assert_eq!(service(0), Some(Curve::affine(1_199, 3_599)));
        // A debt of 20,000 bit at most is a third: 4,000 * 100 of 400,000 + 200,000 + 600,000.
        let cut = Credit { deepest: 20_000 * BIT, ..own.clone() };
        assert_eq!(served(&cut, 150 * BIT), Some(Curve::affine(999, 2_999)));
    }
}
