//! A gate control list that other lists replace: one list after the other, each for its time.
//!
//! IEEE 802.1Q-2022, 8.6.9. Windows that touch where one list replaces another are one window.

use super::GateControlList;
use super::open_intervals::OpenIntervals;
use tsn_plan::{GateEntry, Gates, InForce, MacOperation, Schedule, in_force};
use tsn_units::{Duration, Instant, True};

/// One list, and the period in which it is in force.
#[derive(Clone, Debug)]
pub(super) struct ListPeriod {
    /// The begin on the list's clock, ps.
    from: i64,
    list: GateControlList,
    /// Idle slopes that the list sets; 0 for classes that keep their own.
    slopes: [i64; 8],
}

/// The lists of a port in the order in which they are in force; the first one begins at the beginning of time.
#[derive(Clone, Debug)]
pub(super) struct ListSequence(Vec<ListPeriod>);

impl ListSequence {
    pub fn new(gates: &Gates) -> Self {
        let lists: Vec<_> = gates.lists().collect();
        let period = |one: &InForce| {
            let list = match one.schedule {
                Schedule::Initial => constant(gates.initial.unwrap_or(u8::MAX), false),
                Schedule::List(number) => {
                    let list = &lists[number];
                    GateControlList::cyclic(list.base_time_ns, list.cycle_ns, list.entries)
                }
                Schedule::Extended(number) => {
                    let entries = lists[number].entries;
                    let open = entries.last().map_or(u8::MAX, |last| last.open);
                    let mac = entries.iter().rev().find_map(|entry| entry.mac);
                    constant(open, mac == Some(MacOperation::Hold))
                }
            };
            let mut slopes = [0; 8];
            if let Schedule::List(number) | Schedule::Extended(number) = one.schedule
                && let Some(change) = number.checked_sub(1).and_then(|change| gates.changes.get(change))
            {
                for own in &change.idle_slopes {
                    slopes[usize::from(own.class & 7)] = own.bps;
                }
            }
            let from =
                if one.from_ns == i64::MIN { i64::MIN } else { Instant::<True>::from_ns(one.from_ns).ps() };
            ListPeriod { from, list, slopes }
        };
        Self(in_force(gates).0.iter().map(period).collect())
    }

    /// Whether no list affects a class: its gate never closes, and its idle slope is always its own.
    pub fn always_open(&self, class: usize) -> bool {
        let sloping = |period: &ListPeriod| period.slopes.get(class).is_some_and(|slope| *slope != 0);
        self.0.iter().all(|period| period.list.classes[class].always && !sloping(period))
    }

    /// An upper bound for the windows of one cycle of every list.
    pub fn windows(&self, class: u8) -> usize {
        self.0.iter().map(|period| period.openings(class).intervals.len() + 1).sum()
    }

    /// Whether idle slopes change.
    pub fn slopes(&self) -> bool {
        self.0.iter().any(|period| period.slopes != [0; 8])
    }

    /// The idle slope of a class at `at`.
    pub fn slope(&self, class: u8, own: i64, at: i64) -> i64 {
        self.0[self.index(at)].slope(class, Some(own))
    }

    fn index(&self, at: i64) -> usize {
        self.0.partition_point(|period| period.from <= at).saturating_sub(1)
    }

    /// The end of a period.
    fn end(&self, index: usize) -> i64 {
        self.0.get(index + 1).map_or(i64::MAX, |next| next.from)
    }

    /// See [`GateControlList::next_opening`].
    #[cold]
    #[inline(never)]
    pub fn next_opening(&self, class: u8, now: i64, needs: i64) -> Option<(i64, i64)> {
        let mut at = now;
        for index in self.index(now)..self.0.len() {
            let (period, end) = (&self.0[index], self.end(index));
            at = at.max(period.from);
            let window = |found: Option<(i64, i64)>| {
                let (opens, closes) = found.filter(|(opens, _)| *opens < end)?;
                let closes = if closes >= end { self.open_beyond(class, index, closes) } else { closes };
                let opens = opens.max(period.from);
                (opens.max(at).checked_add(needs)? <= closes).then_some((opens, closes))
            };
            if let Some(found) = window(period.window(class, at, needs)) {
                return Some(found);
            }
            // A window that is too short by itself may continue in the next list.
            if end < i64::MAX
                && let Some(found) = window(period.window(class, at.max(end - 1), 0))
            {
                return Some(found);
            }
        }
        None
    }

    /// The closing of a window that is open at the end of a period.
    fn open_beyond(&self, class: u8, mut index: usize, mut closes: i64) -> i64 {
        while closes >= self.end(index) && index + 1 < self.0.len() {
            index += 1;
            let from = self.0[index].from;
            match self.0[index].window(class, from, 0) {
                Some((opens, to)) if opens <= from && to > from => closes = to,
                _ => return from,
            }
        }
        closes
    }

    /// The credit that a class gains between two instants, at its own idle slope unless the list sets another one;
    /// without a slope, how long its gate is open.
    pub fn credit_gain(&self, class: u8, own: Option<i64>, from: i64, to: i64) -> i128 {
        let mut credit_gain = 0;
        for index in self.index(from)..=self.index(to) {
            let period = &self.0[index];
            let (from, to) = (from.max(period.from), to.min(self.end(index)));
            credit_gain +=
                i128::from(period.slope(class, own)) * i128::from(period.open_between(class, from, to).ps());
        }
        credit_gain
    }

    /// When a class will have gained `needed` credit.
    pub fn when_gained(&self, class: u8, own: Option<i64>, from: i64, mut needed: i128) -> i64 {
        for index in self.index(from)..self.0.len() {
            let (period, end) = (&self.0[index], self.end(index));
            let (from, slope) = (from.max(period.from), i128::from(period.slope(class, own).max(1)));
            if end < i64::MAX {
                let here = slope * i128::from(period.open_between(class, from, end).ps());
                if needed > here {
                    needed -= here;
                    continue;
                }
            }
            let open = i64::try_from((needed - 1) / slope + 1).unwrap_or(i64::MAX);
            let openings = period.openings(class);
            return period
                .list
                .when_open_for(openings, Instant::<True>::from_ps(from), Duration::from_ps(open))
                .ps();
        }
        i64::MAX
    }
}

impl ListPeriod {
    fn openings(&self, class: u8) -> &OpenIntervals {
        &self.list.classes[usize::from(class)]
    }

    fn slope(&self, class: u8, own: Option<i64>) -> i64 {
        match (own, self.slopes.get(usize::from(class))) {
            (None, _) => 1,
            (Some(own), None | Some(0)) => own,
            (Some(_), Some(slope)) => *slope,
        }
    }

    /// The first window with room, as if the period had neither begin nor end.
    fn window(&self, class: u8, now: i64, needs: i64) -> Option<(i64, i64)> {
        let openings = self.openings(class);
        if openings.always {
            return Some((i64::MIN, i64::MAX));
        }
        let now = Instant::<True>::from_ps(now);
        let (opens, closes) = self.list.next_opening(openings, now, Duration::from_ps(needs))?;
        Some((opens.ps(), closes.ps()))
    }

    fn open_between(&self, class: u8, from: i64, to: i64) -> Duration {
        let instant = Instant::<True>::from_ps;
        self.list.open_between(self.openings(class), instant(from), instant(to))
    }
}

fn constant(open: u8, held: bool) -> GateControlList {
    let mac = held.then_some(MacOperation::Hold);
    GateControlList::cyclic(0, 1, &[GateEntry { open, interval_ns: 1, mac }])
}
