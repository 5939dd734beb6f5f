//! Scheduled streams: if all releases and windows are known, so are all arrivals, apart from jitter.
//!
//! IEEE 802.1Q-2022, 8.6.8.4. The derivation is in `docs/concepts/bounds.md`.

use crate::curve::arrival::Stair;
use crate::curve::{Data, Ps};
use crate::model::flow_hop::FlowHop;
use crate::model::openings::Openings;
use crate::service::class::Class;
use crate::service::slots::Slots;

/// Most arrivals of one class that are followed one by one, and most pairs of them that are examined.
const MOST_ARRIVALS: usize = 1_000;
const MOST_PAIRS: usize = 20_000;
/// Least number of parts in which a window of arrival is examined.
const PARTS: Ps = 16;
/// The window of arrival of one data unit, in one lap of the timetable; it repeats in every lap.
#[derive(Copy, Clone, Debug)]
struct Arrival {
    first: Ps,
    last: Ps,
    unit: Data,
    /// Index into the class's flows.
    flow: usize,
}

/// All arrivals of one class.
pub(crate) struct Timetable {
    arrivals: Vec<Arrival>,
    /// Sorted remainders of first (last) instants, with the cumulative data up to each of them.
    firsts: Steps,
    lasts: Steps,
}

/// Data that has arrived by an instant, with instants that repeat in every lap.
struct Steps {
    lap: Ps,
    at: Vec<Ps>,
    /// Data of all instants before the n-th one.
    before: Vec<Data>,
    /// Data of one lap, and data of laps before the first.
    total: Data,
    shift: Data,
}

impl Steps {
    fn of(lap: Ps, instants: impl Iterator<Item = (Ps, Data)>) -> Self {
        let (mut shift, mut all) = (Data::from(0), Vec::new());
        for (at, unit) in instants {
            shift = shift.wrapping_add(unit.wrapping_mul(Data::from(at.div_euclid(lap))));
            all.push((at.rem_euclid(lap), unit));
        }
        all.sort_unstable();
        all.dedup_by(|next, one| {
            let same = next.0 == one.0;
            one.1 += if same { next.1 } else { 0 };
            same
        });
        let mut before = vec![0];
        let mut total = 0;
        for (_, unit) in &all {
            total += unit;
            before.push(total);
        }
        Self { lap, at: all.iter().map(|one| one.0).collect(), before, total, shift }
    }

    /// All data before `t`, counted from an arbitrary lap, so that only differences have a meaning: they are correct
    /// even if the count itself overflows.
    fn before(&self, t: Ps) -> Data {
        let (laps, rest) = (t.div_euclid(self.lap), t.rem_euclid(self.lap));
        let count = self.at.partition_point(|at| *at < rest);
        let all = self.total.wrapping_mul(Data::from(laps)).wrapping_add(self.before[count]);
        all.wrapping_sub(self.shift)
    }

    /// The instants in `[from, to]`, latest first.
    fn within(&self, from: Ps, to: Ps) -> impl Iterator<Item = Ps> + '_ {
        let (laps, rest) = (to.div_euclid(self.lap), to.rem_euclid(self.lap));
        let count = self.at.partition_point(|at| *at <= rest);
        let here = self.at[..count].iter().rev().map(move |at| at + laps * self.lap);
        let earlier = (1..).flat_map(move |lap| {
            self.at.iter().rev().map(move |at| at.saturating_add((laps - lap).saturating_mul(self.lap)))
        });
        here.chain(earlier).take_while(move |at| *at >= from)
    }
}

impl Timetable {
    /// The timetable of a class with known arrival times; `cycle` is that of its port's gates.
    pub fn of(flows: &[&FlowHop], cycle: Ps) -> Option<Self> {
        let flows: Vec<&FlowHop> = flows.iter().copied().filter(|flow| flow.sizes.is_some()).collect();
        let mut lap = cycle;
        for flow in &flows {
            if !flow.babbles.is_empty() {
                return None;
            }
            lap = common_multiple(lap, flow.period?)?;
        }
        let count: Ps = flows.iter().filter_map(|flow| Some(lap / flow.period?)).sum();
        if flows.is_empty() || count > MOST_ARRIVALS as Ps {
            return None;
        }
        let mut arrivals = Vec::new();
        for (number, flow) in flows.iter().enumerate() {
            let (period, begin, latest) = (flow.period?, flow.begin?, flow.latest?);
            let Stair { unit, .. } = flow.stairs()?.next()?;
            for n in 0..lap / period {
                let nominal = begin.checked_add(n * period)?;
                let (first, last) = (nominal.checked_add(flow.earliest)?, nominal.checked_add(latest)?);
                arrivals.push(Arrival { first, last, unit, flow: number });
            }
        }
        Some(Self {
            firsts: Steps::of(lap, arrivals.iter().map(|one| (one.first, one.unit))),
            lasts: Steps::of(lap, arrivals.iter().map(|one| (one.last, one.unit))),
            arrivals,
        })
    }

    /// How far back a backlogged period has to be followed; none if the windows serve less than what arrives, or if the
    /// arrivals are hardly known: in any lap.
    ///
    /// A period that began one lap earlier has one lap of arrivals more, and one lap of windows more. Only its first
    /// window may serve less, and that one is over after a cycle. So no start is later than with a period of the last
    /// two laps, also where windows serve exactly what arrives and a period may never end.
    fn far_enough(&self, slots: &Slots) -> Option<Ps> {
        let lap = self.firsts.lap;
        let served = slots.per_cycle().checked_mul(Data::from(lap / slots.cycle.max(1)))?;
        let known = self.arrivals.iter().all(|one| one.last - one.first <= lap);
        (known && self.firsts.total <= served).then(|| 2 * lap)
    }

    /// Greatest data in `[from, to]`: of all windows that overlap it.
    fn within(&self, from: Ps, to: Ps) -> Data {
        self.firsts.before(to.saturating_add(1)).wrapping_sub(self.lasts.before(from))
    }

    /// A window of arrival in parts, within which no other window begins.
    fn parts(&self, one: &Arrival) -> impl Iterator<Item = (Ps, Ps)> {
        let step = (one.last - one.first) / PARTS + 1;
        let mut begins: Vec<Ps> =
            (0..PARTS).map(|n| one.first + n * step).filter(|at| *at <= one.last).collect();
        // The list is cut off at MOST_PAIRS + 1: with so many entries the analysis ends without a bound.
        begins.extend(self.firsts.within(one.first + 1, one.last).take(MOST_PAIRS + 1));
        begins.sort_unstable();
        begins.dedup();
        let ends: Vec<Ps> = begins.iter().skip(1).map(|next| next - 1).chain([one.last]).collect();
        begins.into_iter().zip(ends)
    }

    /// By flow with frames, the longest wait until a frame starts; `busy` is the longest period in which the class
    /// waits.
    pub fn waits(&self, flows: &[&FlowHop], slots: &Slots, busy: Ps) -> Option<Vec<Ps>> {
        let frames: Vec<Data> = flows
            .iter()
            .filter_map(|flow| flow.sizes)
            .map(|s| crate::model::sizes::wire(s.smallest))
            .collect();
        let mut longest = vec![0; frames.len()];
        let mut pairs = 0;
        for one in &self.arrivals {
            for (from, to) in self.parts(one) {
                // The class has waited since the latest arrival of some unit, or since this one's arrival.
                for s in std::iter::once(to).chain(self.lasts.within(from.saturating_sub(busy), to)) {
                    pairs += 1;
                    if pairs > MOST_PAIRS {
                        return None;
                    }
                    let ahead = (self.within(s, to) - frames[one.flow]).max(0);
                    let start = slots.start(s, ahead)?;
                    longest[one.flow] = longest[one.flow].max(start.saturating_sub(from));
                }
            }
        }
        Some(longest)
    }
}

/// The waits of a gated class without interference from above, by flow with frames; `busy`: the longest time for which
/// the class always has frames to send, if that is known.
pub(crate) fn waits(class: &Class<'_>, busy: Option<Ps>) -> Option<Vec<Ps>> {
    let cycle = match class.openings().ok()? {
        Openings::Always => return None,
        Openings::Windows { cycle, .. } => *cycle,
    };
    let slots = crate::service::slots(class)?;
    let table = Timetable::of(&class.hops, cycle)?;
    let busy = [busy, table.far_enough(&slots)].into_iter().flatten().min()?;
    table.waits(&class.hops, &slots, busy)
}

/// The least wait for its gate of a frame that is in the queue `earliest` after its release.
pub(crate) fn least_wait(
    openings: Option<&Openings>,
    base: Ps,
    (begin, period): (Ps, Ps),
    earliest: Ps,
    needs: Ps,
) -> Option<Ps> {
    let Openings::Windows { cycle, windows } = openings? else { return Some(0) };
    let lap = common_multiple(*cycle, period)?;
    if lap / period > MOST_ARRIVALS as Ps || windows.is_empty() {
        return Some(0);
    }
    let wait = |n: Ps| {
        let arrives = (begin + n * period + earliest - base).rem_euclid(*cycle);
        // Windows are in order, so the first one that has room has the earliest start.
        let start = |by: Ps| {
            let ended = windows.partition_point(|own| own.to + by < arrives + needs);
            let starts = windows[ended..].iter().map(|own| (arrives.max(own.from + by), own.to + by));
            starts.into_iter().find_map(|(start, to)| (start + needs <= to).then_some(start - arrives))
        };
        [-cycle, 0, *cycle].into_iter().find_map(start)
    };
    // A frame that fits no window never starts.
    (0..lap / period).filter_map(wait).min()
}

fn common_multiple(a: Ps, b: Ps) -> Option<Ps> {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x.max(1)).checked_mul(b).filter(|lap| (1..Ps::MAX / 64).contains(lap))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::openings::Window;

    #[test]
    fn instants_come_lap_after_lap() {
        let steps = Steps::of(100, [(10, 1), (30, 2), (250, 4)].into_iter());
        let within = |from, to| steps.within(from, to).collect::<Vec<Ps>>();
        assert_eq!(within(205, 260), [250, 230, 210]);
        assert_eq!(within(120, 212), [210, 150, 130]);
        assert_eq!(within(-70, -48), [-50, -70]);
        // 7 in every lap; 250 belongs to the third one, so that 8 of them are still to arrive at 0.
        assert_eq!([110, 111, 131, 250, 251].map(|t| steps.before(t)), [-1, 0, 2, 9, 13]);
        assert_eq!(steps.before(251) - steps.before(150), 11);
    }

    /// 1,000 ps in steps of 63, each of which ends where the next one begins.
    #[test]
    fn a_window_of_arrival_is_looked_at_in_16_parts() {
        let one = Arrival { first: 0, last: 1_000, unit: 1, flow: 0 };
        let steps = || Steps::of(10_000, std::iter::once((0, 1)));
        let table = Timetable { arrivals: vec![one], firsts: steps(), lasts: steps() };
        let parts: Vec<(Ps, Ps)> = table.parts(&one).collect();
        assert_eq!((parts.len(), parts[0], parts[1], parts[15]), (16, (0, 62), (63, 125), (945, 1_000)));
    }

    /// Open from 10 to 30 of 100, for frames of 10.
    #[test]
    fn the_least_wait_of_any_release() {
        let openings = Openings::Windows { cycle: 100, windows: [Window { from: 10, to: 30 }].into() };
        let wait =
            |base, begin, period, earliest| least_wait(Some(&openings), base, (begin, period), earliest, 10);
        assert_eq!(wait(5, 0, 100, 20), Some(0));
        assert_eq!(wait(5, 0, 100, 3), Some(12));
        assert_eq!(wait(0, 0, 100, 20), Some(0));
        assert_eq!(wait(0, 0, 100, 21), Some(89));
        // At 55, and at 205: 5 before the window opens.
        assert_eq!(wait(0, 35, 150, 20), Some(5));
        assert_eq!(wait(0, 20, 100, 35), Some(55));
        assert_eq!(least_wait(Some(&Openings::Always), 0, (0, 100), 0, 10), Some(0));
        // The first window is too short; the last one goes on until 20 of the next cycle.
        let windows = [(25, 30), (40, 60), (90, 120)].map(|(from, to)| Window { from, to });
        let openings = Openings::Windows { cycle: 100, windows: windows.into() };
        for (arrives, found) in [(0, 0), (10, 0), (11, 29), (25, 15), (50, 0), (51, 39), (95, 0)] {
            assert_eq!(least_wait(Some(&openings), 0, (0, 100), arrives, 10), Some(found), "{arrives}");
        }
        assert_eq!(least_wait(Some(&openings), 0, (0, 100), 0, 31), None);
    }
}
