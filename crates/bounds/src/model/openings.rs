//! When a class with gates may start frames, from the worst moment to begin waiting.
//!
//! IEEE 802.1Q-2022, 8.6.8.4: a frame starts only if its last bit leaves before its gate closes.

use crate::curve::{Curve, Data, Ps, Rate, ps};
use std::sync::Arc;
use tsn_plan::{Gates, MacOperation, Port, Preemption};

/// A span of a cycle; `to` may lie in the next one.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub from: Ps,
    pub to: Ps,
}

impl Window {
    pub fn length(&self) -> Ps {
        self.to - self.from
    }

    /// The same span, later by `by`.
    pub fn moved(&self, by: Ps) -> Self {
        Self { from: self.from + by, to: self.to + by }
    }
}

/// When the gate of one class is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Openings {
    Always,
    /// Windows of one cycle, in order of their begins and of their ends; none closes when the next one opens.
    Windows {
        cycle: Ps,
        windows: Arc<[Window]>,
    },
}

impl Openings {
    /// The openings of a class; none if times are too long to count.
    pub fn of(gates: Option<&Gates>, class: u8) -> Option<Self> {
        let Some(gates) = gates else { return Some(Self::Always) };
        Self::when(gates, gates.entries.iter().map(|entry| entry.open >> class & 1 == 1))
    }

    /// The openings of some classes. Those of classes that open together share their windows.
    pub fn of_all(gates: Option<&Gates>, classes: usize) -> Vec<Option<Self>> {
        let mut found: Vec<Option<Self>> = Vec::with_capacity(classes);
        for class in 0..classes {
            let together = |other: &usize| {
                let differs = |open: u8| open >> class & 1 != open >> other & 1;
                gates.is_none_or(|gates| !gates.entries.iter().any(|entry| differs(entry.open)))
            };
            found.push(match (0..class).find(together) {
                Some(other) => found[other].clone(),
                None => Self::of(gates, class as u8),
            });
        }
        found
    }

    /// The windows of a list in whose entries something is `open`.
    fn when(gates: &Gates, open: impl Iterator<Item = bool>) -> Option<Self> {
        // A few cycles must fit into 64 bits.
        let cycle = Some(ps(gates.cycle_ns)).filter(|cycle| *cycle < Ps::MAX / 8)?;
        let mut windows: Vec<Window> = Vec::new();
        let mut at = 0;
        for (entry, open) in gates.entries.iter().zip(open) {
            let to = at + ps(entry.interval_ns);
            if open {
                match windows.last_mut() {
                    Some(last) if last.to == at => last.to = to,
                    _ => windows.push(Window { from: at, to }),
                }
            }
            at = to;
        }
        if windows.len() == 1 && windows[0].length() == cycle {
            return Some(Self::Always);
        }
        // The last window may continue in the first one of the next cycle.
        if windows.len() > 1 && windows[0].from == 0 && windows[windows.len() - 1].to == cycle {
            let first = windows.remove(0);
            if let Some(last) = windows.last_mut() {
                last.to += first.to;
            }
        }
        Some(Self::Windows { cycle, windows: windows.into() })
    }

    /// When preemptable frames are not held: from a release request to a hold request, both earlier than the entries
    /// by their advances; none if times are too long to count, or if holds are shorter than the advances.
    ///
    /// IEEE 802.1Q-2022, 8.6.8.4 and 12.30.
    pub fn released(gates: Option<&Gates>, preemption: Option<&Preemption>) -> Option<Self> {
        let (Some(gates), Some(preemption)) = (gates.filter(|gates| gates.holds()), preemption) else {
            return Some(Self::Always);
        };
        let last = gates.entries.iter().rev().find_map(|entry| entry.mac);
        let mut held = last == Some(MacOperation::Hold);
        let released = gates.entries.iter().map(|entry| {
            held = entry.mac.map_or(held, |mac| mac == MacOperation::Hold);
            !held
        });
        let found = Self::when(gates, released.collect::<Vec<_>>().into_iter())?;
        let Self::Windows { cycle, windows } = found else { return Some(found) };
        let (hold, release) = (ps(preemption.hold_advance_ns), ps(preemption.release_advance_ns));
        let earlier = |window: &Window| {
            let from = (window.from - release).rem_euclid(cycle);
            Window { from, to: from + window.length() + release - hold }
        };
        let mut windows: Vec<Window> = windows.iter().map(earlier).filter(|one| one.from < one.to).collect();
        windows.sort_unstable_by_key(|window| window.from);
        let next = |n: usize| windows.get(n + 1).map_or(windows[0].from + cycle, |next| next.from);
        let apart = (0..windows.len()).all(|n| windows[n].to < next(n));
        (apart && hold.max(release) < cycle).then(|| Self::Windows { cycle, windows: windows.into() })
    }

    /// The openings with these windows, which may be in other cycles.
    pub fn of_windows(cycle: Ps, windows: Vec<Window>) -> Self {
        let within = |own: Window| own.moved(own.from.rem_euclid(cycle) - own.from);
        let mut windows: Vec<Window> = windows.into_iter().map(within).collect();
        windows.sort_unstable_by_key(|window| window.from);
        Self::Windows { cycle, windows: windows.into() }
    }

    pub fn always(&self) -> bool {
        matches!(self, Self::Always)
    }

    /// The longest window; none for one without an end.
    pub fn longest(&self) -> Option<Ps> {
        match self {
            Self::Always => None,
            Self::Windows { windows, .. } => Some(windows.iter().map(Window::length).max().unwrap_or(0)),
        }
    }

    /// How long after `at` the link may still be busy with a frame of this class that started before `at`, where a
    /// frame takes at most `occupied` and its inter-frame gap, which may pass a closed gate, takes `gap`. Windows that
    /// begin less than `lead` before `at` do not count.
    pub fn overhang(&self, at: Ps, occupied: Ps, gap: Ps, lead: Ps) -> Ps {
        match self {
            Self::Always => occupied,
            Self::Windows { cycle, windows } => {
                let last = last_around(windows, *cycle, |own| own.from + lead < at);
                last.map_or(0, |to| (to + gap - at).clamp(0, occupied))
            }
        }
    }

    /// How long after `at` the link may still be busy with something that takes at most `occupied`, begins while the
    /// gate is open, and goes on when it closes, or `slip` later.
    pub fn run_on(&self, at: Ps, occupied: Ps, slip: Ps) -> Ps {
        match self {
            Self::Always => occupied,
            Self::Windows { cycle, windows } => {
                let last = last_around(windows, *cycle, |own| own.from < at);
                last.map_or(0, |to| (to + occupied + slip - at).clamp(0, occupied))
            }
        }
    }

    /// Whether the gate is open at some time from `from` on, before `to`.
    pub fn open_within(&self, from: Ps, to: Ps) -> bool {
        match self {
            Self::Always => true,
            Self::Windows { cycle, windows } => {
                last_around(windows, *cycle, |own| own.from < to).is_some_and(|closes| from < closes)
            }
        }
    }

    /// How long after `at` the inter-frame gap of a frame may still last that ended with a window before `at`.
    pub fn gap_after(&self, at: Ps, gap: Ps) -> Ps {
        let Self::Windows { cycle, windows } = self else { return 0 };
        last_around(windows, *cycle, |own| own.to <= at).map_or(0, |end| (end + gap - at).max(0))
    }
}

/// When the last of some windows ends that are `before` an instant, in the cycles around the first one.
fn last_around(windows: &[Window], cycle: Ps, before: impl Fn(&Window) -> bool) -> Option<Ps> {
    let last = |by: Ps| {
        let count = windows.partition_point(|own| before(&own.moved(by)));
        count.checked_sub(1).map(|last| windows[last].to + by)
    };
    [-cycle, 0, cycle].into_iter().filter_map(last).max()
}

/// The share of some windows that others cover, per cycle and as a bound for any span of time.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Share {
    /// Covered time of every cycle, ps.
    pub per_cycle: Ps,
    pub cycle: Ps,
    /// Greatest covered time of a span beyond its average, ps.
    pub excess: Ps,
}

impl Share {
    /// As a token bucket on a link of `rate`: `rate` times the share, for any span of time.
    pub fn curve(&self, rate: Rate) -> Curve {
        let rate = Data::from(rate);
        let slope = -(-rate * Data::from(self.per_cycle)).div_euclid(Data::from(self.cycle.max(1)));
        Curve::affine(rate * Data::from(self.excess), Rate::try_from(slope).unwrap_or(Rate::MAX))
    }

    /// The share that `others`, each longer by `gap`, have of `windows`.
    pub fn of(windows: &[Window], others: &[Window], gap: Ps, cycle: Ps) -> Self {
        let mut parts: Vec<Window> = Vec::new();
        for window in windows {
            for by in [-cycle, 0, cycle] {
                // Windows are in order of their begins and ends.
                let first = others.partition_point(|other| other.to + by + gap <= window.from);
                for other in others[first..].iter().take_while(|other| other.from + by < window.to) {
                    let from = window.from.max(other.from + by);
                    let to = window.to.min(other.to + by + gap);
                    if from < to {
                        parts.push(Window { from, to });
                    }
                }
            }
        }
        parts.sort_unstable_by_key(|part| part.from);
        let mut apart: Vec<Window> = Vec::new();
        for part in parts {
            match apart.last_mut() {
                Some(last) if part.from <= last.to => last.to = last.to.max(part.to),
                _ => apart.push(part),
            }
        }
        let per_cycle = apart.iter().map(Window::length).sum::<Ps>().min(cycle);
        // The largest rise of (time in the parts) - (average share) over any span: from a beginning to an end.
        let mut excess: Data = 0;
        let (mut before, mut lowest) = (0, Data::MAX);
        for by in [0, cycle] {
            for part in &apart {
                let level = |at: Ps, had: Ps| {
                    Data::from(had) * Data::from(cycle) - Data::from(at + by) * Data::from(per_cycle)
                };
                lowest = lowest.min(level(part.from, before));
                before += part.length();
                excess = excess.max(level(part.to, before) - lowest);
            }
        }
        let excess =
            Ps::try_from((excess + Data::from(cycle) - 1) / Data::from(cycle.max(1))).unwrap_or(Ps::MAX / 4);
        Self { per_cycle, cycle, excess }
    }
}

/// Windows in which starts are possible, in sequence from the end of one of them on.
#[derive(Clone, Debug)]
pub(crate) struct Starts {
    pub cycle: Ps,
    /// Each from the first to the last moment at which the class may start its largest frame; some have a length of
    /// 0.
    pub windows: Vec<Window>,
    /// By window, the greatest wait of a frame that arrives within it, finds a lower class's frame that began within
    /// it, and then misses it.
    pub before: Vec<Ps>,
    /// By window, how long after its opening a lower class's frame may still occupy the link.
    pub late: Vec<Ps>,
    /// By window, how long a lower class's frame that began while the gate was open occupies the link.
    pub blocked: Vec<Ps>,
}

impl Starts {
    /// The windows as spans: their last moment counts, so that others can also cover a window of one moment.
    pub fn windows_in_time(&self) -> Vec<Window> {
        self.windows.iter().map(|window| Window { to: window.to + 1, ..*window }).collect()
    }
}

/// The gates of a port, if the bounds cover them: one list for ever. Other gates are not assumed to delay any frame, or
/// to be too short for one.
pub(crate) fn covered(port: &Port) -> Option<&Gates> {
    let lasts = |gates: &&Gates| gates.changes.is_empty() && gates.initial.is_none();
    port.gates.as_ref().filter(lasts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tsn_plan::GateEntry;

    fn gates(entries: &[(u8, u64)]) -> Gates {
        Gates {
            base_time_ns: 0,
            cycle_ns: entries.iter().map(|entry| entry.1).sum(),
            entries: entries
                .iter()
                .map(|(open, ns)| GateEntry { open: *open, interval_ns: *ns, mac: None })
                .collect(),
            ..Gates::default()
        }
    }

    #[test]
    fn windows_join_around_the_cycle() {
        let list = gates(&[(1, 10), (3, 20), (2, 30), (0, 20), (1, 20)]);
        let windows = |class| Openings::of(Some(&list), class);
        let found =
            Openings::Windows { cycle: 100_000, windows: [Window { from: 80_000, to: 130_000 }].into() };
        assert_eq!(windows(0), Some(found));
        let found =
            Openings::Windows { cycle: 100_000, windows: [Window { from: 10_000, to: 60_000 }].into() };
        assert_eq!(windows(1), Some(found));
        assert_eq!(Openings::of(Some(&gates(&[(1, 10), (3, 20)])), 0), Some(Openings::Always));
    }

    #[test]
    fn a_frame_hangs_over_at_most_until_its_own_gate_and_gap() {
        let lower = Openings::Windows { cycle: 100, windows: [Window { from: 50, to: 100 }].into() };
        // (moment, longest frame) -> how long the link may still be busy then.
        for (at, occupied, rest) in
            [(0, 30, 5), (3, 30, 2), (60, 30, 30), (90, 30, 15), (50, 30, 0), (10, 30, 0)]
        {
            assert_eq!(lower.overhang(at, occupied, 5, 0), rest, "{at}");
        }
        // Frames that begin from 50 on are on the link at 56, unless the window begins together with that of 56.
        assert_eq!([5, 6].map(|lead| lower.overhang(56, 30, 5, lead)), [30, 0]);
    }

    /// Looked at one by one: windows of the cycle before, of this one and of the next.
    #[test]
    fn the_last_window_before_an_instant_is_that_of_three_cycles() {
        let lists = [&[(50, 100)][..], &[(0, 10), (20, 21), (60, 90)], &[(30, 40), (80, 130)], &[]];
        for list in lists {
            let windows: Vec<Window> =
                list.iter().map(|(from, to)| Window { from: *from, to: *to }).collect();
            let own = Openings::of_windows(100, windows.clone());
            let around: Vec<Window> =
                windows.iter().flat_map(|own| [-100, 0, 100].map(|by| own.moved(by))).collect();
            let most =
                |found: &dyn Fn(&Window) -> Option<Ps>| around.iter().filter_map(found).max().unwrap_or(0);
            for at in -20..220 {
                let hangs = |own: &Window| (own.from + 3 < at).then(|| (own.to + 5 - at).clamp(0, 30));
                assert_eq!(own.overhang(at, 30, 5, 3), most(&hangs), "{at}");
                let runs = |own: &Window| (own.from < at).then(|| (own.to + 32 - at).clamp(0, 30));
                assert_eq!(own.run_on(at, 30, 2), most(&runs), "{at}");
                let gap = |own: &Window| (own.to <= at).then(|| (own.to + 5 - at).max(0));
                assert_eq!(own.gap_after(at, 5), most(&gap), "{at}");
                let open = around.iter().any(|own| own.from < at + 15 && at < own.to);
                assert_eq!(own.open_within(at, at + 15), open, "{at}");
            }
        }
    }

    /// Classes 0 and 2 open together, and share their windows.
    #[test]
    fn classes_that_open_together_have_the_same_windows() {
        let list = gates(&[(5, 10), (2, 20), (7, 30), (0, 20)]);
        let found = Openings::of_all(Some(&list), 4);
        assert_eq!(found, (0..4).map(|class| Openings::of(Some(&list), class)).collect::<Vec<_>>());
        let windows = |class: usize| match &found[class] {
            Some(Openings::Windows { windows, .. }) => windows,
            _ => panic!("windows"),
        };
        assert!(Arc::ptr_eq(windows(0), windows(2)) && !Arc::ptr_eq(windows(0), windows(1)));
        assert_eq!(Openings::of_all(None, 2), [Some(Openings::Always), Some(Openings::Always)]);
    }

    #[test]
    fn shares_bound_every_span() {
        let (windows, others) =
            ([Window { from: 0, to: 60 }], [Window { from: 40, to: 55 }, Window { from: 90, to: 110 }]);
        let share = Share::of(&windows, &others, 0, 100);
        assert_eq!(share.per_cycle, 25);
        let inside = |t: Ps| matches!(t.rem_euclid(100), 40..55 | 0..10);
        let curve = share.curve(1);
        for from in 0..100 {
            let mut had = 0;
            for span in 1..300 {
                had += Data::from(inside(from + span - 1));
                assert!(had <= curve.value(span), "{from} {span}");
            }
        }
    }

    #[test]
    fn a_gate_is_open_within_a_span_that_meets_a_window() {
        let list = Openings::Windows { cycle: 200, windows: [Window { from: 50, to: 100 }].into() };
        for (from, to, open) in
            [(100, 120, false), (99, 120, true), (20, 50, false), (20, 51, true), (240, 251, true)]
        {
            assert_eq!(list.open_within(from, to), open, "{from} {to}");
        }
        // The gap of 10 after the last frame of a window, also of one that goes on in the next cycle.
        for (at, rest) in [(99, 0), (100, 10), (105, 5), (110, 0), (300, 10)] {
            assert_eq!(list.gap_after(at, 10), rest, "{at}");
        }
        let around = Openings::Windows { cycle: 200, windows: [Window { from: 180, to: 220 }].into() };
        assert_eq!([around.gap_after(25, 10), around.gap_after(19, 10)], [5, 0]);
    }

    /// 25 of 100; from 40 to 55 there are 15, 3.75 of them its part; from 0 to 55 there are 25, 13.75 of them its part.
    #[test]
    fn what_a_span_has_beyond_its_part_of_the_cycle() {
        let window = |from, to| Window { from, to };
        let share = |windows: &[Window], others: &[Window], gap| {
            let found = Share::of(windows, others, gap, 100);
            (found.per_cycle, found.excess)
        };
        let others = [window(40, 55), window(90, 110)];
        assert_eq!(share(&[window(0, 60)], &others, 0), (25, 12));
        // With a gap of 5 every span is longer by 5, up to the window's end: 35 per cycle. From 0 to 60 there are 35,
        // of which 21 are the average of the cycle.
        assert_eq!(share(&[window(0, 60)], &others, 5), (35, 14));
        // From 10 to 50 there are 30, of which 12 are the average of the cycle.
        let all = [window(0, 100)];
        assert_eq!(share(&all, &[window(10, 20), window(30, 50)], 0), (30, 18));
        // Overlapping spans count once.
        assert_eq!(share(&all, &[window(10, 30), window(20, 50)], 0), (40, 24));
        assert_eq!(share(&all, &[window(10, 20), window(15, 18)], 0), (10, 9));
        let all_of_it = Share { per_cycle: 25, cycle: 100, excess: 12 };
        assert_eq!(all_of_it.curve(10), Curve::affine(120, 3));
    }
}
