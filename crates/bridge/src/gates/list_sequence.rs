//! A gate control list that other lists replace: one list after the other, each for its time.
//!
//! IEEE 802.1Q-2022, 8.6.9. Windows that meet where one list replaces another are one window.

use super::change::{InForce, Schedule, in_force};
use super::{GateControlList, Openings};
use tsn_plan::{GateEntry, Gates, MacOperation};
use tsn_units::{Duration, Instant, True};

/// One list for its time.
#[derive(Clone, Debug)]
pub(super) struct Era {
    /// On the list's clock, ps.
    from: i64,
    list: GateControlList,
    /// Idle slopes of classes that have others in this time; 0 for those that do not.
    slopes: [i64; 8],
}

/// All of them, in order of time; the first one begins at the beginning of time.
#[derive(Clone, Debug)]
pub(super) struct Eras(Vec<Era>);

impl Eras {
    pub fn new(gates: &Gates) -> Self {
        let lists: Vec<_> = gates.lists().collect();
        let era = |one: &InForce| {
            let list = match one.schedule {
                Schedule::Initial => constant(gates.initial.unwrap_or(u8::MAX), false),
                Schedule::List(number) => {
                    let list = &lists[number];
                    GateControlList::steady(list.base_time_ns, list.cycle_ns, list.entries)
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
            Era { from, list, slopes }
        };
        Self(in_force(gates).0.iter().map(era).collect())
    }

    /// Whether no list is anything to a class: its gate never closes, and its slope is always its own.
    pub fn all_the_same(&self, class: usize) -> bool {
        let sloping = |era: &Era| era.slopes.get(class).is_some_and(|slope| *slope != 0);
        self.0.iter().all(|era| era.list.classes[class].always && !sloping(era))
    }

    /// More than the windows of one cycle of every list.
    pub fn windows(&self, class: u8) -> usize {
        self.0.iter().map(|era| era.openings(class).spans.len() + 1).sum()
    }

    /// Whether idle slopes change.
    pub fn slopes(&self) -> bool {
        self.0.iter().any(|era| era.slopes != [0; 8])
    }

    /// The slope of a class at `at`.
    pub fn slope(&self, class: u8, own: i64, at: i64) -> i64 {
        self.0[self.place(at)].slope(class, Some(own))
    }

    fn place(&self, at: i64) -> usize {
        self.0.partition_point(|era| era.from <= at).saturating_sub(1)
    }

    /// When an era ends.
    fn end(&self, place: usize) -> i64 {
        self.0.get(place + 1).map_or(i64::MAX, |next| next.from)
    }

    /// See [`GateControlList::next_opening`].
    #[cold]
    #[inline(never)]
    pub fn next_opening(&self, class: u8, now: i64, needs: i64) -> Option<(i64, i64)> {
        let mut at = now;
        for place in self.place(now)..self.0.len() {
            let (era, end) = (&self.0[place], self.end(place));
            at = at.max(era.from);
            let window = |found: Option<(i64, i64)>| {
                let (opens, closes) = found.filter(|(opens, _)| *opens < end)?;
                let closes = if closes >= end { self.open_beyond(class, place, closes) } else { closes };
                let opens = opens.max(era.from);
                (opens.max(at).checked_add(needs)? <= closes).then_some((opens, closes))
            };
            if let Some(found) = window(era.window(class, at, needs)) {
                return Some(found);
            }
            // One that is too short by itself may go on in the next list.
            if end < i64::MAX
                && let Some(found) = window(era.window(class, at.max(end - 1), 0))
            {
                return Some(found);
            }
        }
        None
    }

    /// When a window closes that is open to the end of an era.
    fn open_beyond(&self, class: u8, mut place: usize, mut closes: i64) -> i64 {
        while closes >= self.end(place) && place + 1 < self.0.len() {
            place += 1;
            let from = self.0[place].from;
            match self.0[place].window(class, from, 0) {
                Some((opens, to)) if opens <= from && to > from => closes = to,
                _ => return from,
            }
        }
        closes
    }

    /// What a class gains between two instants, at a slope of its own where the era has no other; without one, how
    /// long its gate is open.
    pub fn gained(&self, class: u8, own: Option<i64>, from: i64, to: i64) -> i128 {
        let mut gained = 0;
        for place in self.place(from)..=self.place(to) {
            let era = &self.0[place];
            let (from, to) = (from.max(era.from), to.min(self.end(place)));
            gained += i128::from(era.slope(class, own)) * i128::from(era.open_between(class, from, to).ps());
        }
        gained
    }

    /// When a class will have gained `needed`.
    pub fn after_gain(&self, class: u8, own: Option<i64>, from: i64, mut needed: i128) -> i64 {
        for place in self.place(from)..self.0.len() {
            let (era, end) = (&self.0[place], self.end(place));
            let (from, slope) = (from.max(era.from), i128::from(era.slope(class, own).max(1)));
            if end < i64::MAX {
                let here = slope * i128::from(era.open_between(class, from, end).ps());
                if needed > here {
                    needed -= here;
                    continue;
                }
            }
            let open = i64::try_from((needed - 1) / slope + 1).unwrap_or(i64::MAX);
            let openings = era.openings(class);
            return era
                .list
                .after_open(openings, Instant::<True>::from_ps(from), Duration::from_ps(open))
                .ps();
        }
        i64::MAX
    }
}

impl Era {
    fn openings(&self, class: u8) -> &Openings {
        &self.list.classes[usize::from(class)]
    }

    fn slope(&self, class: u8, own: Option<i64>) -> i64 {
        match (own, self.slopes.get(usize::from(class))) {
            (None, _) => 1,
            (Some(own), None | Some(0)) => own,
            (Some(_), Some(slope)) => *slope,
        }
    }

    /// The first window with room, as if the era had neither beginning nor end.
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
    GateControlList::steady(0, 1, &[GateEntry { open, interval_ns: 1, mac }])
}
