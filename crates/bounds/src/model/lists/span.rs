//! One list of a port, and the time for which it is in force.
//!
//! IEEE 802.1Q-2022, 8.6.9.

use tsn_plan::{GateEntry, Gates, IdleSlope, MacOperation, Schedule};

/// One list, and the period of the run in which it is in force, ns.
#[derive(Clone)]
pub(super) struct Span {
    pub from: i64,
    pub to: i64,
    /// Time that is left out of its middle.
    pub without: i64,
    pub base: i64,
    pub cycle: i64,
    pub entries: Vec<GateEntry>,
    /// By entry, the gates that may be open, where it is not known which of two lists is in force: then those of `entries`
    /// are open in both. Empty for one list.
    pub possible: Vec<u8>,
    pub slopes: Vec<IdleSlope>,
}

impl Span {
    pub fn of(gates: &Gates, schedule: Schedule, from: i64, to: i64) -> Self {
        let lists: Vec<_> = gates.lists().collect();
        let constant = |open: u8, held: bool| {
            let mac = held.then_some(MacOperation::Hold);
            (0, 1, vec![GateEntry { open, interval_ns: 1, mac }])
        };
        let (base, cycle, entries) = match schedule {
            Schedule::Initial => constant(gates.initial.unwrap_or(u8::MAX), false),
            Schedule::List(n) => (
                lists[n].base_time_ns,
                i64::try_from(lists[n].cycle_ns).unwrap_or(i64::MAX),
                lists[n].entries.to_vec(),
            ),
            Schedule::Extended(n) => {
                let mac = lists[n].entries.iter().rev().find_map(|entry| entry.mac);
                let open = lists[n].entries.last().map_or(u8::MAX, |last| last.open);
                constant(open, mac == Some(MacOperation::Hold))
            }
        };
        let change = match schedule {
            Schedule::List(n) | Schedule::Extended(n) => n.checked_sub(1),
            Schedule::Initial => None,
        };
        let slopes = change.map(|change| gates.changes[change].idle_slopes.clone()).unwrap_or_default();
        let (from, possible) = (from.max(0), Vec::new());
        Self { from, to, without: 0, base, cycle: cycle.max(1), entries, possible, slopes }
    }

    /// The part between two instants, if there is one.
    pub fn within(&self, from: i64, to: i64) -> Option<Self> {
        let (from, to) = (self.from.max(from), self.to.min(to));
        (from < to).then(|| Self { from, to, ..self.clone() })
    }

    /// The same time with all gates open that may be open.
    pub fn possible(&self) -> Self {
        let mut span = self.clone();
        span.entries.iter_mut().zip(&self.possible).for_each(|(entry, open)| entry.open = *open);
        span
    }

    /// Bit n: the list never closes the gate of class n.
    pub fn always(&self) -> u8 {
        self.entries.iter().fold(u8::MAX, |all, entry| all & entry.open)
    }

    /// Bit n: the list never closes the gate of class n, nor sets its idle slope.
    pub fn open(&self) -> u8 {
        let set =
            self.slopes.iter().fold(0, |set, own| set | 1_u8.checked_shl(own.class.into()).unwrap_or(0));
        self.always() & !set
    }

    pub fn constant(&self) -> bool {
        self.entries.len() == 1
    }

    /// Leaves out whole cycles, so that at most this number is left.
    pub fn shorten(&mut self, cycles: i64) {
        if self.to == i64::MAX {
            // Behind the last list nothing comes.
            let cycle = if self.constant() { 1_000_000 } else { self.cycle };
            self.to = self.from.saturating_add(cycle.saturating_mul(cycles));
        } else if !self.constant() {
            self.without = ((self.to - self.from) / self.cycle - cycles).max(0) * self.cycle;
        }
    }

    pub fn length(&self) -> i64 {
        self.to - self.from - self.without
    }

    /// The longest busy period for which the cycles that are left stand for all; none without an end.
    pub fn trusted(&self, last: bool) -> Option<i64> {
        if self.constant() {
            return None;
        }
        (last || self.without > 0).then(|| self.length() - 3 * self.cycle)
    }

    /// The entries from the begin to the end of the period, each with its state of holding.
    pub fn states(&self, holds: bool) -> Vec<GateEntry> {
        let mut held = self
            .entries
            .iter()
            .rev()
            .find_map(|entry| entry.mac)
            .is_some_and(|mac| mac == MacOperation::Hold);
        let state = |entry: &GateEntry| {
            held = entry.mac.map_or(held, |mac| mac == MacOperation::Hold);
            let mac = if held { MacOperation::Hold } else { MacOperation::Release };
            GateEntry { mac: holds.then_some(mac), ..*entry }
        };
        let entries: Vec<GateEntry> = self.entries.iter().map(state).collect();
        if let [only] = entries[..] {
            return vec![GateEntry { interval_ns: self.length().unsigned_abs(), ..only }];
        }
        let mut found = Vec::new();
        let (mut left, mut skipped) = (self.length(), (self.from - self.base).rem_euclid(self.cycle));
        while left > 0 {
            for entry in &entries {
                let own = i64::try_from(entry.interval_ns).unwrap_or(i64::MAX);
                let now = (own - skipped).max(0).min(left);
                skipped = (skipped - own).max(0);
                if now > 0 {
                    found.push(GateEntry { interval_ns: now.unsigned_abs(), ..*entry });
                }
                left -= now;
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list that closes no gate, and sets the slopes of classes 2 and 5, one of them twice.
    #[test]
    fn a_class_whose_slope_a_list_sets_is_not_open_as_without_it() {
        let entries = vec![GateEntry { open: u8::MAX, interval_ns: 1, mac: None }];
        let slopes = [2, 5, 2].map(|class| IdleSlope { class, bps: 1 }).to_vec();
        let span =
            Span { from: 0, to: 1, without: 0, base: 0, cycle: 1, entries, possible: Vec::new(), slopes };
        assert_eq!((span.always(), span.open()), (u8::MAX, 0b1101_1011));
    }
}
