//! The time-aware priority queueing discipline, where its work is the kernel's.
//!
//! tc-taprio(8). With `flags 0x1` ([`Schedule`]) every frame is given a launch time; with `flags 0x0`
//! ([`SoftwareGates`]) the kernel's timer opens gates, and what it lets through goes to the hardware at once. Full
//! offload (`flags 0x2`) is the port's own gates.

use crate::HostTime;
use crate::window::{Cycle, Window};
use tsn_plan::{Taprio, duration};
use tsn_units::Duration;

/// Longest time that is computed with; launch times beyond make a frame wait for ever, and it is dropped.
const FAR: HostTime = HostTime::from_ps(i64::MAX / 4);

fn cycle(taprio: &Taprio) -> Cycle {
    Cycle { base: HostTime::from_ns(taprio.base_time_ns), length: duration(taprio.cycle_ns) }
}

/// One entry: which gates are open, when, and from when on it has room.
#[derive(Clone, Debug)]
struct Entry {
    open: u8,
    window: Window,
    /// What was given a launch time here has left by then.
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
    /// The one of a Plan whose consistency is proved.
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

    /// The launch time of a frame that comes now: not before the delay, within an entry that has its gate open and
    /// room for all of it, behind the frames launched in that entry before. None where no entry is long enough.
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

    /// Whether a frame that its socket gave a launch time would be sent while its gate is open.
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
    /// By class: the end of the window that was used last, and how many more octets may go in it.
    budgets: Vec<(HostTime, i64)>,
    /// Picoseconds per octet.
    octet: Duration,
}

impl SoftwareGates {
    /// The gates of a Plan whose consistency is proved, at a port of this rate.
    #[must_use]
    pub fn new(taprio: &Taprio, classes: usize, octet: Duration) -> Self {
        let windows: Vec<Vec<Window>> = (0..classes).map(|class| windows_of(taprio, class)).collect();
        let budgets = vec![(HostTime::from_ps(i64::MIN), 0); classes];
        Self { cycle: cycle(taprio), windows, budgets, octet }
    }

    /// When a frame may be handed on, from `from` on; none where no window is long enough.
    #[must_use]
    pub fn opens(&self, from: HostTime, class: u8, octets: u32) -> Option<HostTime> {
        if from < self.cycle.base {
            return Some(from);
        }
        let needs = self.needs(octets);
        let (end, budget) = *self.budgets.get(usize::from(class))?;
        // A window whose budget is spent lets nothing more through.
        let from = if i64::from(octets) > budget && from < end { end } else { from };
        let windows = self.windows.get(usize::from(class))?.iter();
        windows.filter_map(|window| self.cycle.earliest(*window, from, needs)).min().filter(|at| *at < FAR)
    }

    /// A frame is handed on.
    pub fn spend(&mut self, now: HostTime, class: u8, octets: u32) {
        if now < self.cycle.base {
            return;
        }
        let this = now - self.cycle.elapsed(now);
        let Some(windows) = self.windows.get(usize::from(class)) else { return };
        // One that goes over the end of a cycle may have begun in the one before.
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

/// A class's gate as windows; neighbouring entries that have it open are one.
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
    // One that goes over the end of the cycle is one, too.
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
