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
            Some(clock) if at < i64::MAX => clock.back(Instant::from_ps(at)),
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
                Some(clock) => list.open_between(openings, clock.there(from), clock.there(to)),
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
                let at = list.after_open(openings, clock.there(from), needed);
                if at == Instant::MAX { Instant::MAX } else { clock.back(at) }
            }
        }
    }
}

/// What the list's clock shows.
fn there(clock: Option<&ClockMap<True, Local>>, at: Instant) -> i64 {
    clock.map_or(at.ps(), |clock| clock.there(at).ps())
}

/// The list on whatever clock it goes by.
impl GateControlList {
    /// The shortest that something which takes `needs` can be on the list's clock.
    #[inline]
    fn at_least(&self, needs: Duration) -> Duration {
        match &self.clock {
            None => needs,
            Some(clock) => clock.pace().scale(needs) - Duration::from_ps(1),
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
        let mut from = clock.there(now);
        for _ in 0..=Gate(Some((self, openings))).windows() {
            let (opens, closes) = self.next_opening(openings, from, at_least)?;
            let back = |at: Instant<Local>| match at.ps() {
                i64::MIN | i64::MAX => Instant::from_ps(at.ps()),
                _ => clock.back(at),
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
