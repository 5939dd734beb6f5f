//! A gate control list in force, as windows per traffic class.
//!
//! IEEE 802.1Q-2022, 8.6.8.4 and 8.6.9.

pub mod change;
mod eras;

use eras::Eras;
use tsn_plan::{GateEntry, Gates, MacOperation};
use tsn_units::{Clock, ClockMap, Duration, Instant, Local, True};

/// An opening of one class's gate. Adjacent open entries are one window, also across the end of the cycle.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Window {
    /// When the gate opens.
    pub opens: Instant,
    /// When it closes.
    pub closes: Instant,
}

impl Window {
    /// No opening: nothing fits into it.
    pub const NONE: Self = Self { opens: Instant::MAX, closes: Instant::MAX };
}

/// Open time within the cycle, in picoseconds from its start.
#[derive(Copy, Clone, Debug)]
struct Span {
    from: i64,
    to: i64,
    /// Open time in this cycle before `from`.
    before: i64,
}

/// One class's part of the list.
#[derive(Clone, Debug, Default)]
struct Openings {
    /// Which: a traffic class, or [`RELEASED`].
    class: u8,
    /// Open for ever: no window has an end.
    always: bool,
    /// In order and apart; cut at the end of the cycle.
    spans: Vec<Span>,
    /// The last span goes on in the first one of the next cycle.
    wraps: bool,
    /// Open time in every cycle.
    per_cycle: i64,
    /// The longest window.
    longest: i64,
}

/// The place behind the classes' of a gate that is open while preemptable frames are not held back.
const RELEASED: u8 = 8;

/// The gates of one port; cycles reach back before the base time, unless there are others before or after.
#[derive(Clone, Debug)]
pub struct GateControlList {
    base: i64,
    cycle: i64,
    classes: [Openings; 9],
    /// What is in force when, where that changes.
    eras: Option<Box<Eras>>,
    /// The node's clock, which the list goes by; none where that is true time.
    clock: Option<ClockMap<True, Local>>,
}

impl GateControlList {
    /// The list of a Plan whose consistency is proved (see [`tsn_plan::Plan::check`]).
    #[must_use]
    pub fn new(gates: &Gates) -> Self {
        let mut list = Self::steady(gates.base_time_ns, gates.cycle_ns, &gates.entries);
        if gates.initial.is_some() || !gates.changes.is_empty() {
            let eras = Eras::new(gates);
            for (class, openings) in list.classes.iter_mut().enumerate() {
                openings.always = eras.all_the_same(class);
            }
            list.eras = Some(Box::new(eras));
        }
        list
    }

    /// One list, for ever.
    fn steady(base_time_ns: i64, cycle_ns: u64, entries: &[GateEntry]) -> Self {
        let cycle = Duration::from_ns(i64::try_from(cycle_ns).unwrap_or(i64::MAX)).ps().max(1);
        // What the last operation of a cycle leaves goes on in the next one.
        let mut held =
            entries.iter().rev().find_map(|entry| entry.mac).is_some_and(|mac| mac == MacOperation::Hold);
        let released: Vec<bool> = entries
            .iter()
            .map(|entry| {
                held = entry.mac.map_or(held, |mac| mac == MacOperation::Hold);
                !held
            })
            .collect();
        let open = |class: u8, place: usize| {
            if class == RELEASED { released[place] } else { entries[place].open >> class & 1 == 1 }
        };
        Self {
            base: Instant::<True>::from_ns(base_time_ns).ps(),
            cycle,
            classes: std::array::from_fn(|class| {
                Openings::new(entries, cycle, class as u8, |place| open(class as u8, place))
            }),
            eras: None,
            clock: None,
        }
    }

    /// From now on the list goes by this clock.
    pub fn set_clock(&mut self, clock: ClockMap<True, Local>) {
        self.clock = Some(clock);
    }

    /// The gate of one class.
    #[must_use]
    pub fn gate(&self, class: u8) -> Gate<'_> {
        let openings = &self.classes[usize::from(class & 7)];
        Gate(if openings.always { None } else { Some((self, openings)) })
    }

    /// The gate that is open while preemptable frames are not held back.
    #[must_use]
    pub fn released(&self) -> Gate<'_> {
        let openings = &self.classes[usize::from(RELEASED)];
        Gate(if openings.always { None } else { Some((self, openings)) })
    }

    /// The states in force: bit n is the gate of class n.
    #[must_use]
    pub fn at(&self, now: Instant) -> u8 {
        (0..8).fold(0, |states, class| states | u8::from(self.gate(class).is_open(now)) << class)
    }

    /// Start of the cycle that `now` is in, and how far in.
    fn phase<C: Clock>(&self, now: Instant<C>) -> (i64, i64) {
        let phase = (now.ps() - self.base).rem_euclid(self.cycle);
        (now.ps() - phase, phase)
    }
}

impl Openings {
    fn new(entries: &[GateEntry], cycle: i64, class: u8, open: impl Fn(usize) -> bool) -> Self {
        let mut spans: Vec<Span> = Vec::new();
        let (mut at, mut before) = (0, 0);
        for (place, entry) in entries.iter().enumerate() {
            let to = at + Duration::from_ns(i64::try_from(entry.interval_ns).unwrap_or(i64::MAX)).ps();
            if open(place) {
                match spans.last_mut() {
                    Some(last) if last.to == at => last.to = to,
                    _ => spans.push(Span { from: at, to, before }),
                }
                before += to - at;
            }
            at = to;
        }
        let wraps = spans.len() > 1 && spans[0].from == 0 && spans[spans.len() - 1].to == cycle;
        let longest = spans.iter().map(|span| span.to - span.from).max().unwrap_or(0);
        let around = if wraps { spans[0].to + cycle - spans[spans.len() - 1].from } else { 0 };
        Self { class, always: before == cycle, wraps, per_cycle: before, longest: longest.max(around), spans }
    }

    /// Open time of one cycle up to `phase`.
    fn open_until(&self, phase: i64) -> i64 {
        match self.spans.partition_point(|span| span.from < phase) {
            0 => 0,
            next => {
                let span = self.spans[next - 1];
                span.before + phase.min(span.to) - span.from
            }
        }
    }
}

/// The gate of one class: open for ever, or as its list says.
#[derive(Copy, Clone, Debug)]
pub struct Gate<'a>(Option<(&'a GateControlList, &'a Openings)>);

impl Gate<'_> {
    /// A gate without a list.
    pub const ALWAYS_OPEN: Self = Self(None);

    /// Whether it never closes.
    #[inline]
    #[must_use]
    pub fn is_always_open(&self) -> bool {
        self.0.is_none()
    }

    /// Whether any window, from `now` on, has room for something that takes this long.
    #[inline]
    #[must_use]
    pub fn ever_fits(&self, now: Instant, needs: Duration) -> bool {
        self.0.is_none_or(|(list, openings)| match &list.eras {
            None => list.at_least(needs).ps() <= openings.longest,
            Some(_) => self.next_window(now, needs).is_some(),
        })
    }

    /// Whether it is open.
    #[must_use]
    pub fn is_open(&self, now: Instant) -> bool {
        self.next_window(now, Duration::from_ps(1)).is_some_and(|window| window.opens <= now)
    }

    /// How many windows may have to be looked at before one is known to be long enough, or none to be.
    #[must_use]
    pub fn windows(&self) -> usize {
        self.0.map_or(1, |(list, openings)| match &list.eras {
            None => 2 * openings.spans.len() + 2,
            Some(eras) => 2 * eras.windows(openings.class),
        })
    }

    /// Whether slopes of shapers change with the list.
    #[inline]
    #[must_use]
    pub fn has_slopes(&self) -> bool {
        self.0.is_some_and(|(list, _)| list.eras.as_ref().is_some_and(|eras| eras.slopes()))
    }

    /// The slope in force at `now`, for a class whose own slope is this.
    #[cold]
    #[must_use]
    pub fn slope(&self, own: i64, now: Instant) -> i64 {
        match self.0 {
            Some((GateControlList { eras: Some(eras), clock, .. }, openings)) => {
                eras.slope(openings.class, own, there(clock.as_ref(), now))
            }
            _ => own,
        }
    }

    /// What a slope gains between two instants while the gate is open, in 1e-12 of its unit.
    #[inline]
    #[must_use]
    pub fn gained(&self, slope: i64, from: Instant, to: Instant) -> i128 {
        match self.0 {
            Some((GateControlList { eras: Some(eras), clock, .. }, openings)) => {
                let clock = clock.as_ref();
                eras.gained(openings.class, Some(slope), there(clock, from), there(clock, to))
            }
            _ => i128::from(slope) * i128::from(self.open_between(from, to).ps()),
        }
    }

    /// When a slope that changes with the list will have gained `needed`, which is more than nothing.
    #[cold]
    #[must_use]
    pub fn after_gain(&self, slope: i64, from: Instant, needed: i128) -> Instant {
        let Some((GateControlList { eras: Some(eras), clock, .. }, openings)) = self.0 else {
            return Instant::MAX;
        };
        let at = eras.after_gain(openings.class, Some(slope), there(clock.as_ref(), from), needed);
        match clock {
            Some(clock) if at < i64::MAX => clock.inverse(Instant::from_ps(at)),
            _ => Instant::from_ps(at),
        }
    }

    /// The first window that has room for `needs` at or after `now`; the whole of it, so it may have begun before.
    ///
    /// None where no window ever has. The work is at most one pass over the list, however long until then; where the
    /// list goes by a clock, a pass for every window that is too short by the picosecond that clocks round to.
    #[must_use]
    pub fn next_window(&self, now: Instant, needs: Duration) -> Option<Window> {
        let Some((list, openings)) = self.0 else {
            return Some(Window { opens: Instant::from_ps(i64::MIN), closes: Instant::MAX });
        };
        match &list.clock {
            None => {
                let (opens, closes) = list.next_opening(openings, now, needs)?;
                Some(Window { opens, closes })
            }
            Some(clock) => list.next_window_by(clock, openings, now, needs),
        }
    }

    /// How long it is open between two instants; by the list's clock.
    #[must_use]
    pub fn open_between(&self, from: Instant, to: Instant) -> Duration {
        match self.0 {
            None => to - from,
            Some((list, openings)) => match &list.clock {
                None => list.open_between(openings, from, to),
                Some(clock) => list.open_between(openings, clock.forward(from), clock.forward(to)),
            },
        }
    }

    /// When it will have been open for `needed` since `from`; [`Instant::MAX`] for never.
    #[must_use]
    pub fn after_open(&self, from: Instant, needed: Duration) -> Instant {
        let Some((list, openings)) = self.0 else {
            return Instant::from_ps(from.ps().saturating_add(needed.ps()));
        };
        match &list.clock {
            None => list.after_open(openings, from, needed),
            Some(_) if needed <= Duration::ZERO => from,
            Some(clock) => {
                let at = list.after_open(openings, clock.forward(from), needed);
                if at == Instant::MAX { Instant::MAX } else { clock.inverse(at) }
            }
        }
    }
}

/// What the list's clock shows.
fn there(clock: Option<&ClockMap<True, Local>>, at: Instant) -> i64 {
    clock.map_or(at.ps(), |clock| clock.forward(at).ps())
}

/// The list on whatever clock it goes by.
impl GateControlList {
    /// The shortest that something which takes `needs` can be on the list's clock.
    #[inline]
    fn at_least(&self, needs: Duration) -> Duration {
        match &self.clock {
            None => needs,
            Some(clock) => clock.frequency().scale(needs) - Duration::from_ps(1),
        }
    }

    #[inline]
    fn next_opening<C: Clock>(
        &self,
        openings: &Openings,
        now: Instant<C>,
        needs: Duration,
    ) -> Option<(Instant<C>, Instant<C>)> {
        if let Some(eras) = &self.eras {
            let (opens, closes) = eras.next_opening(openings.class, now.ps(), needs.ps())?;
            return Some((Instant::from_ps(opens), Instant::from_ps(closes)));
        }
        if needs.ps() > openings.longest {
            return None;
        }
        let (mut cycle_start, phase) = self.phase(now);
        let spans = &openings.spans;
        let count = spans.len();
        let mut next = spans.partition_point(|span| span.to <= phase);
        // Every window comes past once in one cycle and the one that a wrap splits; two laps are more than enough.
        for _ in 0..=2 * count + 1 {
            if next >= count {
                next = 0;
                cycle_start = cycle_start.checked_add(self.cycle)?;
            }
            let Span { from, to, .. } = *spans.get(next)?;
            let (mut opens, mut closes) = (cycle_start + from, cycle_start + to);
            if openings.wraps && next == 0 {
                opens = cycle_start - self.cycle + spans[count - 1].from;
            }
            if openings.wraps && next == count - 1 {
                closes = cycle_start.checked_add(self.cycle)? + spans[0].to;
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
        openings: &Openings,
        now: Instant,
        needs: Duration,
    ) -> Option<Window> {
        let at_least = self.at_least(needs);
        let mut from = clock.forward(now);
        for _ in 0..=Gate(Some((self, openings))).windows() {
            let (opens, closes) = self.next_opening(openings, from, at_least)?;
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

    fn open_between<C: Clock>(&self, openings: &Openings, from: Instant<C>, to: Instant<C>) -> Duration {
        if let Some(eras) = &self.eras {
            return Duration::from_ps(eras.gained(openings.class, None, from.ps(), to.ps()) as i64);
        }
        let ((from_cycle, from_phase), (to_cycle, to_phase)) = (self.phase(from), self.phase(to));
        let cycles = (to_cycle - from_cycle) / self.cycle;
        Duration::from_ps(
            cycles * openings.per_cycle + openings.open_until(to_phase) - openings.open_until(from_phase),
        )
    }

    fn after_open<C: Clock>(&self, openings: &Openings, from: Instant<C>, needed: Duration) -> Instant<C> {
        if needed.ps() <= 0 {
            return from;
        }
        if let Some(eras) = &self.eras {
            let needed = i128::from(needed.ps());
            return Instant::from_ps(eras.after_gain(openings.class, None, from.ps(), needed));
        }
        if openings.per_cycle == 0 {
            return Instant::MAX;
        }
        let (cycle_start, phase) = self.phase(from);
        let total = openings.open_until(phase).saturating_add(needed.ps());
        let cycles = (total - 1) / openings.per_cycle;
        let rest = total - cycles * openings.per_cycle;
        let last = openings.spans.partition_point(|span| span.before < rest).saturating_sub(1);
        let span = openings.spans[last];
        let at = cycles
            .checked_mul(self.cycle)
            .and_then(|whole| cycle_start.checked_add(whole))
            .and_then(|start| start.checked_add(span.from + rest - span.before));
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

    /// From `at` on another list, which is asked for at 0.
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
        assert_eq!(list.gate(7).after_open(at(5), ns(7)), at(12));
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
                list.gate(class).after_open(at(from), ns(needed)),
                at(until),
                "class {class}: {needed} from {from}"
            );
        }
        assert_eq!(list.gate(2).after_open(at(0), ns(1)), Instant::MAX);
        assert_eq!(list.gate(2).after_open(at(0), ns(0)), at(0));
        assert_eq!(list.gate(0).after_open(at(0), Duration::MAX), Instant::MAX);
    }

    /// The clock shows 500 ns more than true time: everything comes so much earlier.
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
        assert_eq!(gate.after_open(at(3_500), ns(1)), at(6_501));
        assert_eq!(gate.after_open(at(3_500), ns(0)), at(3_500));
        assert_eq!(list.gate(2).after_open(at(0), ns(1)), Instant::MAX);
        // It runs a tenth slower: a window of 7,000 ns on it is one of 7,777.7 ns of true time.
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
        assert_eq!(gate.after_open(at(10_000), ns(4_000)), at(14_000));
        assert_eq!(gate.after_open(at(10_000), ns(4_001)), at(21_001));
        assert_eq!(gate.after_open(at(21_500), ns(2_000)), at(26_500));
        assert!(!gate.has_slopes());
    }

    /// Where a gate is open at the end of one list and at the beginning of the next, that is one window.
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

    /// A window is as long as all lists together leave it open, and ends where one of them does not.
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
        // The second closes at 22,000 of every 5,000: the third has nothing to do with that.
        let mut three = then(first(), 20_000, &[(1, 2_000), (0, 3_000)]);
        three = then(three, 30_000, &[(1, 1_000), (0, 4_000)]);
        three.changes[1].at_ns = 25_000;
        let list = GateControlList::new(&three);
        assert_eq!(window(list.gate(0), 16_000, 6_000), Some((16_000, 22_000)));
        assert_eq!(window(list.gate(0), 16_000, 6_001), None);
        assert_eq!(list.gate(0).after_open(at(16_000), ns(4_000 + 2_000 + 2_000 + 1)), at(30_001));
    }

    /// Where no list ever closes a gate, none of them is anything to it, but for a slope.
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
        // By a clock that is 500 ns ahead: 9 bit/s until 19,500 ns, 5 behind it.
        let mut list = list;
        list.set_clock(ClockMap::new(Instant::EPOCH, Instant::from_ns(500), Frequency::NOMINAL));
        let gate = list.gate(0);
        assert_eq!((gate.slope(9, at(19_499)), gate.slope(9, at(19_500))), (9, 5));
        assert_eq!(gate.gained(9, at(19_000), at(20_000)), (500 * 9 + 500 * 5) * 1_000);
        assert_eq!(gate.after_gain(9, at(19_000), (500 * 9 + 500 * 5) * 1_000), at(20_000));
        assert_eq!(gate.after_gain(1, at(30_000), i128::MAX), Instant::MAX);
        let window = gate.next_window(at(0), ns(1)).expect("it is open");
        assert_eq!((window.opens, window.closes), (Instant::from_ps(i64::MIN), Instant::MAX));
    }

    /// Before the base time the initial states; in a cycle that is extended the last ones; whatever cycles there were.
    #[test]
    fn initial_and_extended_states() {
        let mut gates = then(gates(5_000, &[(0, 6_000), (1, 4_000)]), 28_000, &[(0, 5_000)]);
        (gates.initial, gates.changes[0].at_ns) = (Some(2), 6_000);
        let list = GateControlList::new(&gates);
        for (ns, open) in [(0, 2), (4_999, 2), (5_000, 0), (11_000, 1), (25_000, 0), (27_999, 0), (28_000, 0)]
        {
            assert_eq!(list.at(at(ns)), open, "at {ns} ns");
        }
        // A cycle would begin at 25,000, 3,000 ns before the change: the one before it is extended.
        gates.cycle_extension_ns = 3_000;
        let list = GateControlList::new(&gates);
        for (ns, open) in [(21_000, 1), (25_000, 1), (27_999, 1), (28_000, 0)] {
            assert_eq!(list.at(at(ns)), open, "at {ns} ns, extended");
        }
        assert_eq!(window(list.gate(0), 0, 7_000), Some((21_000, 28_000)));
        let initial = list.gate(1).next_window(at(0), ns(5_000));
        assert_eq!(initial, Some(Window { opens: Instant::from_ps(i64::MIN), closes: at(5_000) }));
    }

    /// Held back from the entry of a hold to that of a release; what a cycle leaves goes on in the next one.
    #[test]
    fn preemptable_frames_are_released_between_release_and_hold() {
        let entry = |interval_ns, mac| GateEntry { open: 0xff, interval_ns, mac };
        let (hold, release) = (Some(MacOperation::Hold), Some(MacOperation::Release));
        let entries = vec![entry(1_000, None), entry(2_000, release), entry(3_000, None), entry(4_000, hold)];
        let list = GateControlList::new(&Gates { cycle_ns: 10_000, entries, ..Gates::default() });
        let gate = list.released();
        assert_eq!(window(gate, 0, 1), Some((1_000, 6_000)));
        assert_eq!(window(gate, 1_000, 5_000), Some((1_000, 6_000)));
        assert_eq!(window(gate, 1_001, 5_000), Some((11_000, 16_000)));
        assert!(list.gate(0).is_always_open());
        // Without any hold, they always are.
        let open = GateControlList::new(&gates(0, &[(1, 1_000), (0, 1_000)]));
        assert!(open.released().is_always_open());
        let held = vec![entry(1_000, hold)];
        let held = GateControlList::new(&Gates { cycle_ns: 1_000, entries: held, ..Gates::default() });
        assert_eq!(window(held.released(), 0, 1), None);
    }
}
