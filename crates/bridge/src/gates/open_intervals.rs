//! When the gate of one class is open within the cycle of a gate control list.

use tsn_plan::{GateEntry, duration};

/// An interval of the cycle in which the gate is open, in picoseconds from the start of the cycle.
#[derive(Copy, Clone, Debug)]
pub(super) struct Interval {
    pub from: i64,
    pub to: i64,
    /// Open time in this cycle before `from`.
    pub before: i64,
}

/// The open intervals of one class, which repeat in every cycle.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenIntervals {
    /// The traffic class, or `HOLD_RELEASE`.
    pub class: u8,
    /// Whether the gate is open for ever.
    pub always: bool,
    /// The intervals in order, none touching the next; cut at the end of the cycle.
    pub intervals: Vec<Interval>,
    /// Whether the last interval continues in the first one of the next cycle.
    pub wraps: bool,
    /// Open time in every cycle.
    pub per_cycle: i64,
    /// The longest window, also across the end of the cycle.
    pub longest: i64,
}

impl OpenIntervals {
    pub fn new(entries: &[GateEntry], cycle: i64, class: u8, open: impl Fn(usize) -> bool) -> Self {
        let mut intervals: Vec<Interval> = Vec::new();
        let (mut at, mut before) = (0, 0);
        for (index, entry) in entries.iter().enumerate() {
            let to = at + duration(entry.interval_ns).ps();
            if open(index) {
                match intervals.last_mut() {
                    Some(last) if last.to == at => last.to = to,
                    _ => intervals.push(Interval { from: at, to, before }),
                }
                before += to - at;
            }
            at = to;
        }
        let wraps =
            intervals.len() > 1 && intervals[0].from == 0 && intervals[intervals.len() - 1].to == cycle;
        let longest = intervals.iter().map(|interval| interval.to - interval.from).max().unwrap_or(0);
        let around = if wraps { intervals[0].to + cycle - intervals[intervals.len() - 1].from } else { 0 };
        Self {
            class,
            always: before == cycle,
            wraps,
            per_cycle: before,
            longest: longest.max(around),
            intervals,
        }
    }

    /// Open time of one cycle up to `phase`.
    pub fn open_until(&self, phase: i64) -> i64 {
        match self.intervals.partition_point(|interval| interval.from < phase) {
            0 => 0,
            next => {
                let interval = self.intervals[next - 1];
                interval.before + phase.min(interval.to) - interval.from
            }
        }
    }
}
