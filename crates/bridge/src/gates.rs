//! A gate control list in force, as windows per traffic class.
//!
//! IEEE 802.1Q-2022, 8.6.8.4 and 8.6.9.

mod gate;
mod list_sequence;
mod open_intervals;

pub use gate::{Gate, Window};

use list_sequence::ListSequence;
use open_intervals::{Interval, OpenIntervals};
use tsn_plan::{GateEntry, Gates, MacOperation, duration};
use tsn_units::{Clock, ClockMap, Duration, Instant, Local, True};

/// The index, after those of the traffic classes, of a gate that is open while preemptable frames are not held.
const HOLD_RELEASE: u8 = 8;

/// The gates of one port; cycles extend to before the base time, unless other lists come before or after.
#[derive(Clone, Debug)]
pub struct GateControlList {
    base: i64,
    cycle: i64,
    classes: [OpenIntervals; 9],
    /// The lists that replace each other, if more than one is ever in force.
    sequence: Option<Box<ListSequence>>,
    /// The node's clock, which the list follows; none if the list follows true time.
    clock: Option<ClockMap<True, Local>>,
}

impl GateControlList {
    /// The list of a checked Plan (see [`tsn_plan::Plan::check`]).
    #[must_use]
    pub fn new(gates: &Gates) -> Self {
        let mut list = Self::cyclic(gates.base_time_ns, gates.cycle_ns, &gates.entries);
        if gates.initial.is_some() || !gates.changes.is_empty() {
            let sequence = ListSequence::new(gates);
            for (class, openings) in list.classes.iter_mut().enumerate() {
                openings.always = sequence.always_open(class);
            }
            list.sequence = Some(Box::new(sequence));
        }
        list
    }

    /// One list that repeats for ever.
    fn cyclic(base_time_ns: i64, cycle_ns: u64, entries: &[GateEntry]) -> Self {
        let cycle = duration(cycle_ns).ps().max(1);
        // The last operation of a cycle stays in effect in the next one.
        let mut held =
            entries.iter().rev().find_map(|entry| entry.mac).is_some_and(|mac| mac == MacOperation::Hold);
        let released: Vec<bool> = entries
            .iter()
            .map(|entry| {
                held = entry.mac.map_or(held, |mac| mac == MacOperation::Hold);
                !held
            })
            .collect();
        let open = |class: u8, index: usize| {
            if class == HOLD_RELEASE { released[index] } else { entries[index].open >> class & 1 == 1 }
        };
        Self {
            base: Instant::<True>::from_ns(base_time_ns).ps(),
            cycle,
            classes: std::array::from_fn(|class| {
                OpenIntervals::new(entries, cycle, class as u8, |index| open(class as u8, index))
            }),
            sequence: None,
            clock: None,
        }
    }

    /// From now on the list follows this clock.
    pub fn set_clock(&mut self, clock: ClockMap<True, Local>) {
        self.clock = Some(clock);
    }

    /// The gate of one class.
    #[must_use]
    pub fn gate(&self, class: u8) -> Gate<'_> {
        let openings = &self.classes[usize::from(class & 7)];
        Gate(if openings.always { None } else { Some((self, openings)) })
    }

    /// The gate that is open while preemptable frames are not held.
    #[must_use]
    pub fn hold_release(&self) -> Gate<'_> {
        let openings = &self.classes[usize::from(HOLD_RELEASE)];
        Gate(if openings.always { None } else { Some((self, openings)) })
    }

    /// The states in force: bit n is the gate of class n.
    #[must_use]
    pub fn at(&self, now: Instant) -> u8 {
        (0..8).fold(0, |states, class| states | u8::from(self.gate(class).is_open(now)) << class)
    }

    /// The start of the cycle that `now` is in, and the time since then.
    fn phase<C: Clock>(&self, now: Instant<C>) -> (i64, i64) {
        let phase = (now.ps() - self.base).rem_euclid(self.cycle);
        (now.ps() - phase, phase)
    }
}

/// Methods on the clock that the list follows.
impl GateControlList {
    /// The least duration on the list's clock of something that takes `needs` of true time.
    #[inline]
    fn shortest(&self, needs: Duration) -> Duration {
        match &self.clock {
            None => needs,
            Some(clock) => clock.frequency().scale(needs) - Duration::from_ps(1),
        }
    }

    #[inline]
    fn next_opening<C: Clock>(
        &self,
        openings: &OpenIntervals,
        now: Instant<C>,
        needs: Duration,
    ) -> Option<(Instant<C>, Instant<C>)> {
        if let Some(sequence) = &self.sequence {
            let (opens, closes) = sequence.next_opening(openings.class, now.ps(), needs.ps())?;
            return Some((Instant::from_ps(opens), Instant::from_ps(closes)));
        }
        if needs.ps() > openings.longest {
            return None;
        }
        let (mut cycle_start, phase) = self.phase(now);
        let intervals = &openings.intervals;
        let count = intervals.len();
        let mut next = intervals.partition_point(|interval| interval.to <= phase);
        // One cycle contains every window, one of them split by the wrap; two passes are more than enough.
        for _ in 0..=2 * count + 1 {
            if next >= count {
                next = 0;
                cycle_start = cycle_start.checked_add(self.cycle)?;
            }
            let Interval { from, to, .. } = *intervals.get(next)?;
            let (mut opens, mut closes) = (cycle_start + from, cycle_start + to);
            if openings.wraps && next == 0 {
                opens = cycle_start - self.cycle + intervals[count - 1].from;
            }
            if openings.wraps && next == count - 1 {
                closes = cycle_start.checked_add(self.cycle)? + intervals[0].to;
            }
            if opens.max(now.ps()).checked_add(needs.ps())? <= closes {
                return Some((Instant::from_ps(opens), Instant::from_ps(closes)));
            }
            next += 1;
        }
        None
    }

    #[cold]
    #[inline(never)]
    fn next_window_by(
        &self,
        clock: &ClockMap<True, Local>,
        openings: &OpenIntervals,
        now: Instant,
        needs: Duration,
    ) -> Option<Window> {
        let shortest = self.shortest(needs);
        let mut from = clock.forward(now);
        for _ in 0..=Gate(Some((self, openings))).windows() {
            let (opens, closes) = self.next_opening(openings, from, shortest)?;
            let back = |at: Instant<Local>| match at.ps() {
                i64::MIN | i64::MAX => Instant::from_ps(at.ps()),
                _ => clock.inverse(at),
            };
            let window = Window { opens: back(opens), closes: back(closes) };
            if now.max(window.opens).ps().checked_add(needs.ps())? <= window.closes.ps() {
                return Some(window);
            }
            from = closes;
        }
        None
    }

    fn open_between<C: Clock>(&self, openings: &OpenIntervals, from: Instant<C>, to: Instant<C>) -> Duration {
        if let Some(sequence) = &self.sequence {
            return Duration::from_ps(sequence.credit_gain(openings.class, None, from.ps(), to.ps()) as i64);
        }
        let ((from_cycle, from_phase), (to_cycle, to_phase)) = (self.phase(from), self.phase(to));
        let cycles = (to_cycle - from_cycle) / self.cycle;
        Duration::from_ps(
            cycles * openings.per_cycle + openings.open_until(to_phase) - openings.open_until(from_phase),
        )
    }

    fn when_open_for<C: Clock>(
        &self,
        openings: &OpenIntervals,
        from: Instant<C>,
        needed: Duration,
    ) -> Instant<C> {
        if needed.ps() <= 0 {
            return from;
        }
        if let Some(sequence) = &self.sequence {
            let needed = i128::from(needed.ps());
            return Instant::from_ps(sequence.when_gained(openings.class, None, from.ps(), needed));
        }
        if openings.per_cycle == 0 {
            return Instant::MAX;
        }
        let (cycle_start, phase) = self.phase(from);
        let total = openings.open_until(phase).saturating_add(needed.ps());
        let cycles = (total - 1) / openings.per_cycle;
        let rest = total - cycles * openings.per_cycle;
        let last = openings.intervals.partition_point(|interval| interval.before < rest).saturating_sub(1);
        let interval = openings.intervals[last];
        let at = cycles
            .checked_mul(self.cycle)
            .and_then(|whole| cycle_start.checked_add(whole))
            .and_then(|start| start.checked_add(interval.from + rest - interval.before));
        at.map_or(Instant::MAX, Instant::from_ps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tsn_plan::GateChange;
    use tsn_units::Frequency;

    fn entry(open: u8, interval_ns: u64) -> GateEntry {
        GateEntry { open, interval_ns, mac: None }
    }

    fn gates(base_time_ns: i64, entries: &[(u8, u64)]) -> Gates {
        let entries: Vec<_> = entries.iter().map(|(open, interval_ns)| entry(*open, *interval_ns)).collect();
        let cycle_ns = entries.iter().map(|entry| entry.interval_ns).sum();
        Gates { base_time_ns, cycle_ns, entries, ..Gates::default() }
    }

    /// Adds a list that is requested at 0 and in force from `at` on.
    fn then(mut gates: Gates, at: i64, entries: &[(u8, u64)]) -> Gates {
        let Gates { entries, cycle_ns, .. } = self::gates(0, entries);
        gates.changes.push(GateChange {
            at_ns: 0,
            base_time_ns: at,
            cycle_ns,
            entries,
            ..GateChange::default()
        });
        gates
    }

    /// Class 0 from 7,000 to 14,000, across the end of the cycle; class 1 from 4,000 to 6,000; class 2 never; class 7
    /// always; every 10,000 ns.
    fn list() -> GateControlList {
        GateControlList::new(&gates(1_000, &[(0x81, 3_000), (0x82, 2_000), (0x80, 1_000), (0x81, 4_000)]))
    }

    fn at(ns: i64) -> Instant {
        Instant::from_ns(ns)
    }

    fn ns(ns: i64) -> Duration {
        Duration::from_ns(ns)
    }

    /// Opening and closing of the first window with room, in ns.
    fn window(gate: Gate<'_>, now: i64, needs: i64) -> Option<(i64, i64)> {
        let window = gate.next_window(at(now), ns(needs))?;
        assert_eq!((window.opens.ps() % 1_000, window.closes.ps() % 1_000), (0, 0));
        Some((window.opens.ps() / 1_000, window.closes.ps() / 1_000))
    }

    #[test]
    fn states_repeat_with_the_cycle_before_the_base_time_and_after_it() {
        let list = list();
        for (ns, open) in [
            (1_000, 0x81),
            (3_999, 0x81),
            (4_000, 0x82),
            (5_999, 0x82),
            (6_000, 0x80),
            (6_999, 0x80),
            (7_000, 0x81),
            (10_999, 0x81),
            (11_000, 0x81),
            (14_000, 0x82),
            (999, 0x81),
            (-9_000, 0x81),
            (-6_001, 0x81),
            (-6_000, 0x82),
            (1_234_000_004_000, 0x82),
        ] {
            assert_eq!(list.at(at(ns)), open, "at {ns} ns");
        }
    }

    #[test]
    fn the_next_window_is_the_first_that_has_room() {
        let list = list();
        let gate = list.gate(0);
        for (now, needs, found) in [
            (1_000, 1, (-3_000, 4_000)),
            (3_999, 1, (-3_000, 4_000)),
            (3_999, 2, (7_000, 14_000)),
            (4_000, 0, (7_000, 14_000)),
            (6_500, 1, (7_000, 14_000)),
            (7_000, 7_000, (7_000, 14_000)),
            (7_001, 7_000, (17_000, 24_000)),
            (12_000, 2_000, (7_000, 14_000)),
            (12_000, 2_001, (17_000, 24_000)),
            (-20_000, 7_000, (-13_000, -6_000)),
        ] {
            assert_eq!(window(gate, now, needs), Some(found), "{needs} ns from {now} ns on");
        }
        assert_eq!(window(gate, 0, 7_001), None);
        let gate = list.gate(1);
        assert_eq!(window(gate, 5_000, 1_000), Some((4_000, 6_000)));
        assert_eq!(window(gate, 5_000, 1_001), Some((14_000, 16_000)));
        assert_eq!((window(gate, 5_000, 2_001), window(list.gate(2), 0, 1)), (None, None));
        for (class, most) in [(0, 7_000), (1, 2_000)] {
            let gate = list.gate(class);
            assert!(gate.ever_fits(at(0), ns(most)) && !gate.ever_fits(at(0), ns(most + 1)));
        }
        assert!(!list.gate(2).ever_fits(at(0), ns(1)) && !list.gate(2).is_open(at(0)));
    }

    #[test]
    fn a_gate_that_is_open_in_every_entry_never_closes() {
        let list = list();
        assert!(list.gate(7).is_always_open() && !list.gate(0).is_always_open());
        assert!(list.gate(7).is_open(at(5)) && list.gate(7).ever_fits(at(0), Duration::MAX));
        assert_eq!(list.gate(7).open_between(at(5), at(50_005)), ns(50_000));
        assert_eq!(list.gate(7).when_open_for(at(5), ns(7)), at(12));
        assert_eq!(list.gate(7).next_window(at(5), ns(1)).map(|window| window.closes), Some(Instant::MAX));
    }

    #[test]
    fn open_time_between_two_instants() {
        let list = list();
        for (class, from, to, open) in [
            (0, 1_000, 11_000, 7_000),
            (0, 2_000, 8_000, 3_000),
            (0, 4_000, 7_000, 0),
            (0, 6_200, 6_800, 0),
            (0, 5_000, 25_000, 14_000),
            (0, 13_000, 17_500, 1_500),
            (0, -10_000, 2_000, 4_000 + 5_000),
            (1, 4_500, 5_500, 1_000),
            (1, 0, 100_000, 20_000),
            (2, 0, 100_000, 0),
        ] {
            assert_eq!(
                list.gate(class).open_between(at(from), at(to)),
                ns(open),
                "class {class}: {from} to {to}"
            );
        }
    }

    #[test]
    fn when_a_gate_has_been_open_for_long_enough() {
        let list = list();
        for (class, from, needed, until) in [
            (0, 4_000, 0, 4_000),
            (0, 4_000, 1, 7_001),
            (0, 4_000, 7_000, 14_000),
            (0, 4_000, 7_001, 17_001),
            (0, 2_000, 2_000, 4_000),
            (0, 2_000, 2_001, 7_001),
            (0, 8_000, 500, 8_500),
            (0, 4_000, 70_000, 104_000),
            (0, -10_000, 4_000, -6_000),
            (0, -10_000, 4_001, -2_999),
            (1, 0, 2_000, 6_000),
            (1, 5_000, 2_000, 15_000),
        ] {
            assert_eq!(
                list.gate(class).when_open_for(at(from), ns(needed)),
                at(until),
                "class {class}: {needed} from {from}"
            );
        }
        assert_eq!(list.gate(2).when_open_for(at(0), ns(1)), Instant::MAX);
        assert_eq!(list.gate(2).when_open_for(at(0), ns(0)), at(0));
        assert_eq!(list.gate(0).when_open_for(at(0), Duration::MAX), Instant::MAX);
    }

    /// The clock is 500 ns ahead of true time: everything happens 500 ns earlier.
    #[test]
    fn a_list_goes_by_its_clock() {
        let mut list = list();
        let ahead = ClockMap::new(Instant::EPOCH, Instant::from_ns(500), Frequency::NOMINAL);
        list.set_clock(ahead);
        let gate = list.gate(0);
        assert_eq!(window(gate, 6_499, 7_000), Some((6_500, 13_500)));
        assert_eq!(window(gate, 6_501, 7_000), Some((16_500, 23_500)));
        assert_eq!((list.at(at(3_499)), list.at(at(3_500))), (0x81, 0x82));
        assert_eq!(gate.open_between(at(1_500), at(7_500)), ns(3_000));
        assert_eq!(gate.when_open_for(at(3_500), ns(1)), at(6_501));
        assert_eq!(gate.when_open_for(at(3_500), ns(0)), at(3_500));
        assert_eq!(list.gate(2).when_open_for(at(0), ns(1)), Instant::MAX);
        // The clock is a tenth slower: a window of 7,000 ns on it lasts 7,777.7 ns of true time.
        list.set_clock(ClockMap::new(Instant::EPOCH, Instant::EPOCH, Frequency::from_ppt(-100_000_000_000)));
        assert!(list.gate(0).ever_fits(at(0), ns(7_777)) && !list.gate(0).ever_fits(at(0), ns(7_779)));
        let window = list.gate(0).next_window(at(4_500), ns(7_777)).expect("it has room");
        assert!((window.opens - at(7_777)).ps().abs() <= 1_000, "{window:?}");
        assert!(list.gate(0).next_window(at(0), ns(7_779)).is_none());
    }

    #[test]
    fn one_list_after_the_other() {
        // Open for 4,000 of 10,000 ns until 20,000, then from 1,000 to 3,000 of every 5,000.
        let list = GateControlList::new(&then(
            gates(0, &[(1, 4_000), (0, 6_000)]),
            20_000,
            &[(0, 1_000), (1, 2_000), (0, 2_000)],
        ));
        let gate = list.gate(0);
        for (now, needs, found) in [
            (10_000, 4_000, (10_000, 14_000)),
            (10_000, 1, (10_000, 14_000)),
            (14_000, 1, (21_000, 23_000)),
            (10_001, 2_000, (10_000, 14_000)),
            (12_001, 2_000, (21_000, 23_000)),
            (21_001, 2_000, (26_000, 28_000)),
        ] {
            assert_eq!(window(gate, now, needs), Some(found), "{needs} ns from {now} ns on");
        }
        assert!(gate.ever_fits(at(10_000), ns(4_000)) && !gate.ever_fits(at(10_001), ns(4_000)));
        assert_eq!(window(gate, 10_001, 4_000), None);
        for (ns, open) in
            [(13_999, 1), (14_000, 0), (19_999, 0), (20_000, 0), (21_000, 1), (23_000, 0), (26_000, 1)]
        {
            assert_eq!(list.at(at(ns)), open, "at {ns} ns");
        }
        assert_eq!(gate.open_between(at(10_000), at(26_500)), ns(6_500));
        assert_eq!(gate.open_between(at(19_000), at(22_000)), ns(1_000));
        assert_eq!(gate.when_open_for(at(10_000), ns(4_000)), at(14_000));
        assert_eq!(gate.when_open_for(at(10_000), ns(4_001)), at(21_001));
        assert_eq!(gate.when_open_for(at(21_500), ns(2_000)), at(26_500));
        assert!(!gate.has_slopes());
    }

    /// A gate that is open at the end of one list and at the begin of the next has one window there.
    #[test]
    fn a_window_goes_on_where_lists_meet() {
        let list = GateControlList::new(&then(
            gates(0, &[(0, 6_000), (1, 4_000)]),
            20_000,
            &[(1, 1_000), (0, 4_000)],
        ));
        let gate = list.gate(0);
        assert_eq!(window(gate, 16_000, 5_000), Some((16_000, 21_000)));
        assert_eq!(window(gate, 12_000, 5_000), Some((16_000, 21_000)));
        assert_eq!(window(gate, 16_001, 5_000), None);
        assert_eq!(window(gate, 20_500, 500), Some((20_000, 21_000)));
        assert_eq!(window(gate, 20_500, 501), Some((25_000, 26_000)));
        assert_eq!(gate.open_between(at(0), at(30_000)), ns(4_000 + 4_000 + 1_000 + 1_000));
    }

    /// A window is as long as all lists together leave it open, and ends in the first list that closes the gate.
    #[test]
    fn a_window_over_three_lists() {
        let first = || gates(0, &[(0, 6_000), (1, 4_000)]);
        // Open to the end at 20,000; the next list opens at 21,000 only.
        let list = GateControlList::new(&then(first(), 20_000, &[(0, 1_000), (1, 2_000), (0, 2_000)]));
        assert_eq!(window(list.gate(0), 16_000, 4_000), Some((16_000, 20_000)));
        assert_eq!(window(list.gate(0), 16_000, 4_001), None);
        // Open all through the second list, from 20,000 to 30,000, and for 1,000 of the third.
        let mut three = then(first(), 20_000, &[(1, 5_000)]);
        three = then(three, 30_000, &[(1, 1_000), (0, 4_000)]);
        three.changes[1].at_ns = 25_000;
        let list = GateControlList::new(&three);
        assert_eq!(window(list.gate(0), 0, 15_000), Some((16_000, 31_000)));
        assert_eq!(window(list.gate(0), 26_000, 5_000), Some((20_000, 31_000)));
        assert_eq!(window(list.gate(0), 26_000, 5_001), None);
        // The second list closes the gate at 22,000 of every 5,000: the third list has no effect on that window.
        let mut three = then(first(), 20_000, &[(1, 2_000), (0, 3_000)]);
        three = then(three, 30_000, &[(1, 1_000), (0, 4_000)]);
        three.changes[1].at_ns = 25_000;
        let list = GateControlList::new(&three);
        assert_eq!(window(list.gate(0), 16_000, 6_000), Some((16_000, 22_000)));
        assert_eq!(window(list.gate(0), 16_000, 6_001), None);
        assert_eq!(list.gate(0).when_open_for(at(16_000), ns(4_000 + 2_000 + 2_000 + 1)), at(30_001));
    }

    /// Lists that never close a gate have no effect on it, except for a slope.
    #[test]
    fn a_gate_that_is_open_in_every_list_never_closes() {
        let mut open = then(gates(0, &[(3, 1_000), (1, 1_000)]), 20_000, &[(1, 5_000)]);
        let list = GateControlList::new(&open);
        assert!(list.gate(0).is_always_open() && !list.gate(1).is_always_open());
        assert!(!list.gate(0).has_slopes());
        open.changes[0].idle_slopes = vec![tsn_plan::IdleSlope { class: 0, bps: 5 }];
        let list = GateControlList::new(&open);
        assert!(!list.gate(0).is_always_open() && list.gate(0).has_slopes() && list.gate(0).is_open(at(0)));
        assert_eq!((list.gate(0).slope(9, at(19_999)), list.gate(0).slope(9, at(20_000))), (9, 5));
        assert_eq!(list.gate(1).slope(9, at(20_000)), 9);
        // On a clock that is 500 ns ahead: 9 bit/s until 19,500 ns, 5 afterwards.
        let mut list = list;
        list.set_clock(ClockMap::new(Instant::EPOCH, Instant::from_ns(500), Frequency::NOMINAL));
        let gate = list.gate(0);
        assert_eq!((gate.slope(9, at(19_499)), gate.slope(9, at(19_500))), (9, 5));
        assert_eq!(gate.credit_gain(9, at(19_000), at(20_000)), (500 * 9 + 500 * 5) * 1_000);
        assert_eq!(gate.when_gained(9, at(19_000), (500 * 9 + 500 * 5) * 1_000), at(20_000));
        assert_eq!(gate.when_gained(1, at(30_000), i128::MAX), Instant::MAX);
        let window = gate.next_window(at(0), ns(1)).expect("it is open");
        assert_eq!((window.opens, window.closes), (Instant::from_ps(i64::MIN), Instant::MAX));
    }

    /// Before the base time the initial states apply; in an extended cycle the last ones; whatever cycles there were.
    #[test]
    fn initial_and_extended_states() {
        let mut gates = then(gates(5_000, &[(0, 6_000), (1, 4_000)]), 28_000, &[(0, 5_000)]);
        (gates.initial, gates.changes[0].at_ns) = (Some(2), 6_000);
        let list = GateControlList::new(&gates);
        for (ns, open) in [(0, 2), (4_999, 2), (5_000, 0), (11_000, 1), (25_000, 0), (27_999, 0), (28_000, 0)]
        {
            assert_eq!(list.at(at(ns)), open, "at {ns} ns");
        }
        // A cycle would begin at 25,000, 3,000 ns before the change: the previous one is extended.
        gates.cycle_extension_ns = 3_000;
        let list = GateControlList::new(&gates);
        for (ns, open) in [(21_000, 1), (25_000, 1), (27_999, 1), (28_000, 0)] {
            assert_eq!(list.at(at(ns)), open, "at {ns} ns, extended");
        }
        assert_eq!(window(list.gate(0), 0, 7_000), Some((21_000, 28_000)));
        let initial = list.gate(1).next_window(at(0), ns(5_000));
        assert_eq!(initial, Some(Window { opens: Instant::from_ps(i64::MIN), closes: at(5_000) }));
    }

    /// Frames are held from the entry of a hold to that of a release; the state at the end of a cycle continues in
    /// the next one.
    #[test]
    fn preemptable_frames_are_released_between_release_and_hold() {
        let entry = |interval_ns, mac| GateEntry { open: 0xff, interval_ns, mac };
        let (hold, release) = (Some(MacOperation::Hold), Some(MacOperation::Release));
        let entries = vec![entry(1_000, None), entry(2_000, release), entry(3_000, None), entry(4_000, hold)];
        let list = GateControlList::new(&Gates { cycle_ns: 10_000, entries, ..Gates::default() });
        let gate = list.hold_release();
        assert_eq!(window(gate, 0, 1), Some((1_000, 6_000)));
        assert_eq!(window(gate, 1_000, 5_000), Some((1_000, 6_000)));
        assert_eq!(window(gate, 1_001, 5_000), Some((11_000, 16_000)));
        assert!(list.gate(0).is_always_open());
        // Without any hold, preemptable frames are always released.
        let open = GateControlList::new(&gates(0, &[(1, 1_000), (0, 1_000)]));
        assert!(open.hold_release().is_always_open());
        let held = vec![entry(1_000, hold)];
        let held = GateControlList::new(&Gates { cycle_ns: 1_000, entries: held, ..Gates::default() });
        assert_eq!(window(held.hold_release(), 0, 1), None);
    }
}
