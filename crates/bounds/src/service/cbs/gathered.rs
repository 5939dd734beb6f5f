//! The highest credit that a class with a shaper can gather.
//!
//! IEEE 802.1Q-2022, 8.6.8.2. The derivations are in `docs/concepts/bounds.md`.

use super::Credit;
use crate::curve::{Curve, Data, Ps, Rate, ratio_up};
use crate::model::openings::Window;

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

impl Credit {
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
        // It may begin at a moment, and end within a window whose idle slope is higher than before.
        for begin in &moments {
            let until = begin.starts.saturating_add(blocked);
            let next = moments.partition_point(|moment| moment.starts <= until);
            if let Some(end) = moments.get(next) {
                let idle = self.idle_at(moments[next - 1].at);
                most = most.max(gained(*begin, end.rewound_to(until, idle)));
            }
        }
        Some(most + self.carried)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::BIT;
    use crate::service::cbs::tests::{credit, small};
    use tsn_plan::Cbs;

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
        // Of 25 that are selected, the class has 20: it spends 8 per ps, and credit stays at 16 if others take 5 per ps.
        let beside = Credit { beside: Some((20, 5)), ..small() };
        let crowded = |slope| beside.gathered(10, 20, &Curve::affine(0, slope));
        assert_eq!((crowded(5), crowded(6)), (Some(16), None));
        assert_eq!(Credit { carried: 7, ..small() }.gathered(10, 20, &Curve::zero()), Some(15));
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
        assert_eq!(gated(&Credit { carried: 7, ..small() }, 0, (62 * 400, 0)), Some(62 * 400 + 47));
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
        // 9 per ps, 1 spent: 20 more than it spends. From 130 on, 10 of others and 10 until the window closes.
        let nine = Credit { idle: 9, slowest: 9, send: 1, least: 1, slopes: vec![(0, 9)], ..small() };
        assert_eq!(gathered(&nine), Some(9 * 20));
        // Others have the link for 7,000, which is longer than all windows: 30 at 4 and 50 at 2.
        let long = own.gathered_with_gates(10, (200, true), &open, &starts, (70_000, 0));
        assert_eq!(long, Some(30 * 4 + 50 * 2));
        // The slope changes at 120, within a window: 10 at 4 from 110 on, or 20 at 2 until 150.
        let within = Credit { slopes: vec![(0, 4), (120, 2)], ..own.clone() };
        let one = within.gathered_with_gates(10, (200, true), &open[1..], &starts[1..], (100, 0));
        assert_eq!(one, Some(40));
        // From 30 on no frame fits for 10, at 2; from 100 on others have the link for 10, at 4.
        let faster = Credit { slopes: vec![(0, 2), (100, 4)], ..own.clone() };
        let (open, starts) = ([window(0, 40), window(100, 140)], [window(0, 30), window(100, 140)]);
        let most = faster.gathered_with_gates(10, (200, true), &open, &starts, (100, 0));
        assert_eq!(most, Some(10 * 2 + 10 * 4));
        let pieces = own.pieces(&[window(0, 30), window(90, 150)]);
        assert_eq!(pieces, [(window(0, 30), 4), (window(90, 100), 4), (window(100, 150), 2)]);
        assert_eq!(small().pieces(&open), open.map(|open| (open, 4)));
        // 100 gained and 900 spent, or 80 and 920; a frame of 10 ps that begins before the change gains 20 too much.
        let cbs = Cbs { idle_slope_bps: 100, send_slope_bps: -900, lo_credit_bits: -9, ..Cbs::default() };
        let found = Credit::of(&cbs, 10, vec![(0, 100), (5, 80)], None);
        assert_eq!((found.idle, found.slowest, found.send, found.carried), (100, 80, 920, 200));
        assert_eq!((found.drain(), found.debt), (1_000, 9_200));
    }
}
