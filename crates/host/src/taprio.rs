//! The time-aware priority queueing discipline, where the kernel does its work.
//!
//! tc-taprio(8). With `flags 0x1` ([`Schedule`]) every frame gets a launch time; with `flags 0x0` ([`SoftwareGates`])
//! the kernel's timer opens gates, and frames that pass a gate go to the hardware at once. Full offload (`flags 0x2`)
//! is the port's own gates.

use crate::HostTime;
use crate::window::{Cycle, Window};
use tsn_plan::{Taprio, duration};
use tsn_units::Duration;

/// The latest time that is computed; frames with launch times beyond it are dropped.
const FAR: HostTime = HostTime::from_ps(i64::MAX / 4);

fn cycle(taprio: &Taprio) -> Cycle {
    Cycle { base: HostTime::from_ns(taprio.base_time_ns), length: duration(taprio.cycle_ns) }
}

/// One entry: which gates are open, when, and the first instant at which it has room.
#[derive(Clone, Debug)]
struct Entry {
    open: u8,
    window: Window,
    /// All frames whose launch time is in this entry have left by then.
    next: HostTime,
}

/// Launch times by schedule.
#[derive(Clone, Debug)]
pub struct Schedule {
    cycle: Cycle,
    entries: Vec<Entry>,
    delay: Duration,
}

impl Schedule {
    /// The schedule of a checked Plan.
    #[must_use]
    pub fn new(taprio: &Taprio) -> Self {
        let mut begin = Duration::ZERO;
        let entries = taprio.entries.iter().map(|entry| {
            let from = begin;
            begin += duration(entry.interval_ns);
            Entry {
                open: entry.open,
                window: Window { from, until: begin },
                next: HostTime::from_ps(i64::MIN / 4),
            }
        });
        Self { cycle: cycle(taprio), entries: entries.collect(), delay: duration(taprio.txtime_delay_ns) }
    }

    /// The launch time of a frame that arrives now: not before the delay, within an entry that has its gate open and
    /// room for the whole frame, and after the frames launched in that entry before. None if no entry is long enough.
    pub fn launch(&mut self, now: HostTime, class: u8, needs: Duration) -> Option<HostTime> {
        let earliest = now + self.delay;
        if earliest < self.cycle.base {
            // Until the schedule starts, all gates are open.
            return Some(earliest);
        }
        let cycle = self.cycle;
        let mut found: Option<(HostTime, usize)> = None;
        for (place, entry) in self.entries.iter().enumerate() {
            if entry.open >> (class & 7) & 1 == 0 {
                continue;
            }
            let Some(start) = cycle.earliest(entry.window, earliest.max(entry.next), needs) else { continue };
            if found.is_none_or(|(other, _)| start < other) {
                found = Some((start, place));
            }
        }
        let (start, place) = found.filter(|(start, _)| *start < FAR)?;
        self.entries[place].next = start + needs;
        Some(start)
    }

    /// Whether a frame with this launch time of its socket would be sent while its gate is open.
    #[must_use]
    pub fn admits(&self, txtime: HostTime, class: u8, needs: Duration) -> bool {
        let open = self.entries.iter().filter(|entry| entry.open >> (class & 7) & 1 == 1);
        txtime < self.cycle.base
            || open.into_iter().any(|entry| self.cycle.earliest(entry.window, txtime, needs) == Some(txtime))
    }
}

/// Gates that the kernel opens and closes.
#[derive(Clone, Debug)]
pub struct SoftwareGates {
    cycle: Cycle,
    /// By class.
    windows: Vec<Vec<Window>>,
    /// By class: the end of the window that was used last, and the number of octets that may still leave in it.
    budgets: Vec<(HostTime, i64)>,
    /// Picoseconds per octet.
    octet: Duration,
}

impl SoftwareGates {
    /// The gates of a checked Plan, at a port of this rate.
    #[must_use]
    pub fn new(taprio: &Taprio, classes: usize, octet: Duration) -> Self {
        let windows: Vec<Vec<Window>> = (0..classes).map(|class| windows_of(taprio, class)).collect();
        let budgets = vec![(HostTime::from_ps(i64::MIN), 0); classes];
        Self { cycle: cycle(taprio), windows, budgets, octet }
    }

    /// The earliest instant, from `from` on, at which a frame may be handed on; none if no window is long enough.
    #[must_use]
    pub fn opens(&self, from: HostTime, class: u8, octets: u32) -> Option<HostTime> {
        if from < self.cycle.base {
            return Some(from);
        }
        let needs = self.needs(octets);
        let (end, budget) = *self.budgets.get(usize::from(class))?;
        // If the budget of the window is used up, no further frame passes until its end.
        let from = if i64::from(octets) > budget && from < end { end } else { from };
        let windows = self.windows.get(usize::from(class))?.iter();
        windows.filter_map(|window| self.cycle.earliest(*window, from, needs)).min().filter(|at| *at < FAR)
    }

    /// Counts a frame that is handed on.
    pub fn spend(&mut self, now: HostTime, class: u8, octets: u32) {
        if now < self.cycle.base {
            return;
        }
        let this = now - self.cycle.elapsed(now);
        let Some(windows) = self.windows.get(usize::from(class)) else { return };
        // A window that crosses the end of a cycle may have begun in the previous cycle.
        let current = [this - self.cycle.length, this].into_iter().find_map(|begin| {
            let is_open = |one: &&Window| begin + one.from <= now && now < begin + one.until;
            windows.iter().find(is_open).map(|window| (begin, window))
        });
        let (Some((begin, window)), Some(budget)) = (current, self.budgets.get_mut(usize::from(class)))
        else {
            return;
        };
        let end = begin + window.until;
        if budget.0 != end {
            *budget = (end, (window.until - window.from).ps() / self.octet.ps().max(1));
        }
        budget.1 -= i64::from(octets);
    }

    fn needs(&self, octets: u32) -> Duration {
        Duration::from_ps(self.octet.ps().saturating_mul(i64::from(octets)))
    }
}

/// The open windows of a class; adjacent entries with an open gate are one window.
fn windows_of(taprio: &Taprio, class: usize) -> Vec<Window> {
    let mut windows: Vec<Window> = Vec::new();
    let mut begin = Duration::ZERO;
    for entry in &taprio.entries {
        let from = begin;
        begin += duration(entry.interval_ns);
        if entry.open >> class & 1 == 0 {
            continue;
        }
        match windows.last_mut() {
            Some(last) if last.until == from => last.until = begin,
            _ => windows.push(Window { from, until: begin }),
        }
    }
    // A window that crosses the end of the cycle is also one window.
    if let [first, .., last] = windows.as_slice()
        && first.from == Duration::ZERO
        && last.until == begin
    {
        let joined = Window { from: last.from, until: last.until + first.until };
        windows.pop();
        windows[0] = joined;
    }
    windows
}
