//! Credit-based shapers: the service that they guarantee, and the most that they send.
//!
//! IEEE 802.1Q-2022, 8.6.8.2; De Azua & Boyer 2014. The derivations are in `docs/concepts/bounds.md`.

use crate::curve::{BIT, Curve, Data, Ps, Rate, ratio_up};
use crate::model::openings::Window;
use tsn_plan::Cbs;

/// Number of cycles that are followed until a class has compensated a burst of other classes.
const MOST_LAPS: Data = 64;

/// A moment at which a window opens or closes, and the sums since the first one.
#[derive(Copy, Clone, Debug, Default)]
struct Moment {
    at: Ps,
    /// Credit that the class could gain while the gate was open.
    gained: Data,
    /// Time in which the class could start its largest frame.
    starts: Ps,
    /// Credit, if the class always has frames to send and has the link alone in `starts`.
    level: Data,
}

impl Moment {
    /// The moment, within the period before this one, at which `starts` was this much; `idle`: the idle slope of the
    /// period.
    fn rewound_to(self, starts: Ps, idle: Rate) -> Self {
        let span = (self.starts - starts).max(0);
        Self { at: self.at - span, gained: self.gained - Data::from(idle) * Data::from(span), ..self }
    }
}

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

    /// The highest credit that the class can gather without a limit, with gates that never close: `lower` is the
    /// largest frame of a lower class, `higher` the data that higher classes send from an idle moment on.
    pub fn gathered(&self, rate: Rate, lower: Data, higher: &Curve) -> Option<Data> {
        let (line, idle) = (Data::from(rate), Data::from(self.idle));
        let drain = match self.beside {
            None => self.least_drain(),
            Some((own, other)) => self.least_drain().checked_mul(own)? / own.checked_add(other)?,
        };
        // Two bounds on the credit, as functions of the time for which the link has been busy: the credit gained in
        // all this time, and the credit left if this class sent whenever other classes did not.
        let gained = |t: Ps| idle * Data::from(t);
        let left = |t: Ps, taken: Data| {
            let all = drain.checked_mul(lower.checked_add(taken)?)?;
            let spent = line.checked_mul(drain - idle)?.checked_mul(Data::from(t))?;
            Some((all - spent + line - 1).div_euclid(line))
        };
        let mut most = 0;
        for (segment, end) in higher.spans() {
            let falls = drain * Data::from(segment.slope) < line * (drain - idle);
            let begin = left(segment.at, segment.value)?;
            let end = match end {
                Some(end) => Some((gained(end), left(end, segment.value_at(end))?)),
                None => None,
            };
            let here = match (falls, end) {
                (false, Some((gained, left))) => gained.min(left),
                (false, None) if drain * Data::from(segment.slope) == line * (drain - idle) => begin,
                (false, None) => return None,
                (true, _) if begin <= gained(segment.at) => begin,
                (true, Some((gained, left))) if left >= gained => gained,
                (true, _) => {
                    let slope = Data::from(segment.slope);
                    let taken = lower + segment.value - slope * Data::from(segment.at);
                    ratio_up(idle, taken, line - slope)?
                }
            };
            most = most.max(here);
        }
        Some(most + self.carried)
    }

    /// The highest credit that the class can gather with gates: credit rises in `open` windows, and the class is
    /// guaranteed the link in `starts` except for the part of higher classes (at most `burst + slope * t`). `once`:
    /// the cycle comes once, and no wait is longer.
    pub fn gathered_with_gates(
        &self,
        rate: Rate,
        (cycle, once): (Ps, bool),
        open: &[Window],
        starts: &[Window],
        others: (Data, Rate),
    ) -> Option<Data> {
        let (line, drain) = (Data::from(rate), self.least_drain());
        let (burst, slope) = others;
        // In `starts`, other classes have the link for this long, and for `taken` of any further time.
        let blocked = Ps::try_from((burst + line - 1).div_euclid(line)).ok()?;
        let taken = ratio_up(drain, Data::from(slope), line)?;
        let per_cycle: Ps = starts.iter().map(Window::length).sum();
        let laps = Data::from(blocked) / Data::from(per_cycle.max(1)) + 3;
        let followed = per_cycle > 0 && (once || laps <= MOST_LAPS);
        let laps = if !followed { 2 } else { laps as Ps };
        let laps = if once { 1 } else { laps };
        let mut edges: Vec<Ps> = (0..=laps).map(|lap| lap.saturating_mul(cycle)).collect();
        edges.extend(self.slopes.iter().map(|(from, _)| *from));
        for lap in -1..=laps {
            let by = lap.saturating_mul(cycle);
            edges.extend(
                open.iter().chain(starts).flat_map(|w| [w.from.saturating_add(by), w.to.saturating_add(by)]),
            );
        }
        edges.retain(|at| (0..=laps.saturating_mul(cycle)).contains(at));
        edges.sort_unstable();
        edges.dedup();
        let within = |list: &[Window], at: Ps| {
            let at = at.rem_euclid(cycle);
            let before = list[..list.partition_point(|w| w.from <= at)].last().is_some_and(|w| at < w.to);
            before || list.last().is_some_and(|w| at + cycle < w.to)
        };
        let mut moments = vec![Moment::default()];
        for pair in edges.windows(2) {
            let (last, span) = (moments[moments.len() - 1], pair[1] - pair[0]);
            let opened = if within(open, pair[0]) { span } else { 0 };
            let sure = if within(starts, pair[0]) { span } else { 0 };
            let gained = Data::from(self.idle_at(pair[0])) * Data::from(opened);
            moments.push(Moment {
                at: pair[1],
                gained: last.gained + gained,
                starts: last.starts + sure,
                level: last.level + taken * Data::from(span) + gained - drain * Data::from(sure),
            });
        }
        if !once && moments.iter().any(|moment| moment.at == cycle && moment.level > 0) {
            return None;
        }
        if !followed {
            let rise = |lowest: &mut Data, moment: &Moment| {
                *lowest = (*lowest).min(moment.level);
                Some(moment.level - *lowest)
            };
            return Some(moments.iter().scan(0, rise).max()? + ratio_up(drain, burst, line)? + self.carried);
        }
        // Until the class was guaranteed the link for longer than `blocked`, it gains while it is open and is not
        // guaranteed to send. After that every moment of `starts` costs more than it gains.
        let gained = |from: Moment, to: Moment| to.gained - from.gained + taken * Data::from(to.at - from.at);
        let (mut most, mut lowest, mut before) = (0, Data::MAX, 0);
        for (number, end) in moments.iter().enumerate() {
            let before_that = (end.starts - blocked).max(0);
            let first = moments.partition_point(|moment| moment.starts < before_that);
            let idle = self.idle_at(moments[first.saturating_sub(1)].at);
            most = most.max(gained(moments[first].rewound_to(before_that, idle), *end));
            while before < number && end.starts - moments[before].starts >= blocked {
                lowest = lowest.min(moments[before].level);
                before += 1;
            }
            if lowest < Data::MAX {
                most = most.max(end.level - lowest + ratio_up(drain, burst, line)?);
            }
        }
        Some(most + self.carried)
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
mod tests {
    use super::*;

    fn credit(idle: i64, rate: i64, hi: i64, lo: i64, longest: Ps) -> Credit {
        let cbs = Cbs {
            idle_slope_bps: idle,
            send_slope_bps: idle - rate,
            hi_credit_bits: hi,
            lo_credit_bits: lo,
            ..Cbs::default()
        };
        Credit::of(&cbs, longest, Vec::new(), None)
    }

    /// EnGINE eq. 5: hiCredit of class A is idleSlope times the longest frame; of class B it adds what A can send.
    #[test]
    fn gathered_credit_is_the_planners_high_credit() {
        const GBIT: i64 = 1_000_000_000;
        let frame = |octets: i64| Data::from(octets * 8) * BIT;
        let a = credit(100_000_000, GBIT, 1_240, -9_000, 10_000_000);
        let lower = frame(1542);
        let high_a = a.gathered(GBIT, lower, &Curve::zero());
        assert_eq!(high_a, Some(frame(1542) / 10));
        let b = credit(200_000_000, GBIT, 10_000, -8_000, 10_000_000);
        let sent = a.sent(GBIT, 0).unwrap();
        // 0.2 (12336 / 0.9 + 10000) = 4741.33 bit.
        let high_b = b.gathered(GBIT, lower, &sent).unwrap();
        assert_eq!((high_b + BIT - 1) / BIT, 4_742);
    }

    /// With its gate open, the class waits for one lower frame and the rest of a window that its own frame does not
    /// fit; sending afterwards costs more than it gains.
    #[test]
    fn beside_gates_the_end_of_a_window_and_one_lower_frame_are_gathered() {
        const GBIT: i64 = 1_000_000_000;
        let (cycle, idle) = (500_000_000, 54_826_667);
        let open = [Window { from: 50_000_000, to: cycle }];
        let starts = [Window { from: 50_000_000, to: cycle - 12_240_000 }];
        let lower = Data::from(1542 * 8) * BIT;
        let own = credit(idle, GBIT, 1, -100_000, 12_336_000);
        let gathered = |slope| own.gathered_with_gates(GBIT, (cycle, false), &open, &starts, (lower, slope));
        assert_eq!(gathered(0), Some(Data::from(idle) * (12_240_000 + 12_336_000)));
        // Other classes also send all the time: more credit is gathered.
        let most = gathered(100_000_000).unwrap();
        assert!(most > Data::from(idle) * (12_240_000 + 12_336_000), "{most}");
        // A lower frame of 480 us is longer than the window of 450 us: the end of a window counts twice.
        let long = Data::from(60_000 * 8) * BIT;
        let long = own.gathered_with_gates(GBIT, (cycle, false), &open, &starts, (long, 0)).unwrap();
        assert_eq!(long, Data::from(idle) * (480_000_000 + 2 * 12_240_000));
        // Nothing is guaranteed if the class gains more credit than the windows let it spend.
        let greedy = credit(990_000_000, GBIT, 1, -100_000, 12_336_000);
        assert_eq!(greedy.gathered_with_gates(GBIT, (cycle, false), &open, &starts, (lower, 0)), None);
    }

    /// 4 gained and 6 spent, on a link of 10.
    fn small() -> Credit {
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

    /// The credit is the lesser of 4 t and the part of the link that others use, 20 + taken - 6 t.
    #[test]
    fn credit_grows_while_others_have_the_link() {
        let segment = |at, value, slope| crate::curve::Segment { at, value, slope };
        let gathered = |higher: &[(Ps, Data, Rate)]| {
            let segments = higher.iter().map(|(at, value, slope)| segment(*at, *value, *slope));
            small().gathered(10, 20, &Curve::of(segments.collect()))
        };
        // Others take nothing: both are equal at t = 2.
        assert_eq!(gathered(&[(0, 0, 0)]), Some(8));
        // Others take 3 per ps: both are equal at t = 20 / 7.
        assert_eq!(gathered(&[(0, 0, 3)]), Some(12));
        // Others have taken 30 at t = 2, and then take 1 per ps: both are equal at t = 48 / 9.
        assert_eq!(gathered(&[(0, 0, 3), (2, 30, 1)]), Some(22));
        // Others take 70 at t = 10: 20 + 70 - 6 * 10.
        assert_eq!(gathered(&[(0, 0, 0), (10, 70, 0)]), Some(30));
        // Others take 6 per ps for ever: credit stays at 20. With 7 per ps it grows without end.
        assert_eq!(gathered(&[(0, 0, 6)]), Some(20));
        assert_eq!(gathered(&[(0, 0, 7)]), None);
        // Others take 8 per ps until t = 2, then nothing: both are equal at t = 36 / 10.
        assert_eq!(gathered(&[(0, 0, 8), (2, 16, 0)]), Some(15));
        // On a link of 15, of which others take 9: 10 * 10 / 15, and 10 * 15 / 15.
        let faster = |lower| small().gathered(15, lower, &Curve::affine(0, 9));
        assert_eq!((faster(10), faster(15)), (Some(7), Some(10)));
    }

    /// Open for 50 of 100, of which frames may start in 40.
    fn gated(credit: &Credit, from: Ps, others: (Data, Rate)) -> Option<Data> {
        let window = |length| [Window { from, to: from + length }];
        credit.gathered_with_gates(10, (100, false), &window(50), &window(40), others)
    }

    #[test]
    fn with_gates_credit_grows_while_others_have_the_link_and_where_nothing_fits() {
        // The results are the same if the window continues in the next cycle (from 80).
        for from in [0, 80] {
            // The lower frame takes 10 ps, and no frame fits the last 10 ps of the window.
            assert_eq!(gated(&small(), from, (100, 0)), Some(4 * 20), "{from}");
            // Other classes also take 1 per ps for 70 ps, until the next window.
            assert_eq!(gated(&small(), from, (100, 1)), Some(4 * 20 + 70), "{from}");
        }
        // 8 gained and 2 spent per ps: a cycle gains as much as it spends. From the end of the starts to the end of the
        // next window: 10 ps at 8, 10 ps of the lower frame at 8, 30 ps at -2, and 10 ps at 8.
        let slopes = |idle, send| Credit { idle, slowest: idle, send, least: send, ..small() };
        let greedy = slopes(8, 2);
        assert_eq!(gated(&greedy, 0, (100, 0)), Some(80 + 80 - 60 + 80));
        assert_eq!(gated(&slopes(9, 1), 0, (100, 0)), None);
        // 6 gained and 4 spent: 300 - 400 per cycle. If sending costs 1 at least, it is 300 - 280.
        assert_eq!(gated(&slopes(6, 4), 0, (100, 0)), Some(6 * 20));
        assert_eq!(gated(&Credit { least: 1, ..slopes(6, 4) }, 0, (100, 0)), None);
        // 7 gained per ps, and other classes take 1 per ps: 350 + 100 per cycle are more than 400.
        assert_eq!(gated(&slopes(7, 3), 0, (100, 1)), None);
        // The lower frame takes 61 whole windows, after the end of the window before them. 62 windows are too many to
        // follow: the bound is then the whole lower frame, and the gain of one window's end.
        assert_eq!(gated(&small(), 0, (61 * 400, 0)), Some(4 * (61 * 50 + 10)));
        assert_eq!(gated(&small(), 0, (62 * 400, 0)), Some(62 * 400 + 40));
        // No frame fits these windows.
        let open = [Window { from: 0, to: 50 }];
        assert_eq!(
            small().gathered_with_gates(10, (100, false), &open, &[Window { from: 9, to: 9 }], (0, 0)),
            None
        );
    }

    /// Open for 30 of which all are starts, with a slope of 4; then for 50 from 100 on, with a slope of 2, and starts in 40.
    /// From 20 on, others have the link for 10, and the window closes: 40. From 130 on, it is 20 until the window closes:
    /// 40, too. Only if the lists came again would the last and the first window meet: from 135 to 150, and 5 more.
    #[test]
    fn lists_that_come_once_have_slopes_of_their_own() {
        let window = |from, to| Window { from, to };
        let own = Credit { slowest: 2, send: 8, least: 8, slopes: vec![(0, 4), (100, 2)], ..small() };
        let (open, starts) = ([window(0, 30), window(100, 150)], [window(0, 30), window(100, 140)]);
        let gathered = |own: &Credit| own.gathered_with_gates(10, (200, true), &open, &starts, (100, 0));
        assert_eq!(gathered(&own), Some(40));
        assert_eq!(gathered(&Credit { carried: 7, ..own.clone() }), Some(47));
        let pieces = own.pieces(&[window(0, 30), window(90, 150)]);
        assert_eq!(pieces, [(window(0, 30), 4), (window(90, 100), 4), (window(100, 150), 2)]);
        assert_eq!(small().pieces(&open), open.map(|open| (open, 4)));
        // 100 gained and 900 spent, or 80 and 920; a frame of 10 ps that begins before the change gains 20 too much.
        let cbs = Cbs { idle_slope_bps: 100, send_slope_bps: -900, lo_credit_bits: -9, ..Cbs::default() };
        let found = Credit::of(&cbs, 10, vec![(0, 100), (5, 80)], None);
        assert_eq!((found.idle, found.slowest, found.send, found.carried), (100, 80, 920, 200));
        assert_eq!((found.drain(), found.debt), (1_000, 9_200));
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
        assert_eq!(service(own.owing()), Some(Curve::affine(-240, 3_305)));
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
