//! The gate control list in force at each time: the list configuration and cycle timer state machines, computed
//! ahead.
//!
//! IEEE 802.1Q-2022, 8.6.9.1 and 8.6.9.3. All times are on the clock of the port's node, so that the Plan determines
//! all of them.

use super::{GateList, Gates};

/// The source of the gate states.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Schedule {
    /// The states before any list (`AdminGateStates`).
    Initial,
    /// A list of the Plan: 0 for the first, n for the n-th change.
    List(usize),
    /// The last states of a list: its last cycle is extended.
    Extended(usize),
}

/// The schedule that is in force from an instant on, until the next one.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct InForce {
    /// From when on, ns; `i64::MIN` for the first.
    pub from_ns: i64,
    /// The source of the gate states from then on.
    pub schedule: Schedule,
}

/// A change that is configured and not yet made (`ConfigPending`).
struct Pending {
    /// `ConfigChangeTime`.
    change_ns: i64,
    list: usize,
    requested_ns: i64,
}

/// All schedules that are ever in force, and how often a list was configured too late (`ConfigChangeError`), with a
/// base time in the past while another list ran.
#[must_use]
pub fn in_force(gates: &Gates) -> (Vec<InForce>, u64) {
    let lists: Vec<GateList<'_>> = gates.lists().collect();
    let mut past = History { lists: &lists, schedules: Vec::new(), running: None, since: i64::MIN };
    let mut errors = 0;
    let mut pending: Option<Pending> = None;
    if gates.initial.is_some() {
        past.put(i64::MIN, Schedule::Initial);
        pending = Some(Pending { change_ns: gates.base_time_ns, list: 0, requested_ns: i64::MIN });
    } else {
        past.put(i64::MIN, Schedule::List(0));
        past.running = Some(0);
    }
    for (index, change) in gates.changes.iter().enumerate() {
        let now = change.at_ns;
        if let Some(due) = pending.take_if(|due| due.change_ns <= now) {
            past.install(&due);
        }
        if let Some(replaced) = pending.take() {
            past.resume(&replaced, now);
        }
        let late = change.base_time_ns < now;
        errors += u64::from(late && past.running.is_some());
        let cycle = i64::try_from(change.cycle_ns).unwrap_or(i64::MAX).max(1);
        let wait = if late { (change.base_time_ns - now).rem_euclid(cycle) } else { 0 };
        let change_ns = if late { now.saturating_add(wait) } else { change.base_time_ns };
        pending = Some(Pending { change_ns, list: index + 1, requested_ns: now });
    }
    if let Some(due) = pending {
        past.install(&due);
    }
    (past.schedules, errors)
}

struct History<'a> {
    lists: &'a [GateList<'a>],
    schedules: Vec<InForce>,
    running: Option<usize>,
    /// When the running list came into force.
    since: i64,
}

impl History<'_> {
    fn put(&mut self, from_ns: i64, schedule: Schedule) {
        // A schedule whose successor begins at the same time is never in force.
        while self.schedules.last().is_some_and(|last| last.from_ns >= from_ns) {
            self.schedules.pop();
        }
        self.schedules.push(InForce { from_ns, schedule });
    }

    /// The start of a cycle of the running list, not before `from_ns`.
    fn next_cycle(&self, number: usize, from_ns: i64) -> i64 {
        let list = &self.lists[number];
        let cycle = i64::try_from(list.cycle_ns).unwrap_or(i64::MAX).max(1);
        from_ns.saturating_add(list.base_time_ns.saturating_sub(from_ns).rem_euclid(cycle))
    }

    /// When the extended cycle should have ended: cycles that would begin within the extension before the change do
    /// not begin, if the change was known by then and there is a cycle to extend.
    fn extended(&self, due: &Pending) -> Option<(usize, i64)> {
        let number = self.running?;
        let most = i64::try_from(self.lists[number].cycle_extension_ns).unwrap_or(i64::MAX);
        let not_before =
            due.requested_ns.max(self.since.saturating_add(1)).max(due.change_ns.saturating_sub(most));
        let from = self.next_cycle(number, not_before);
        (from < due.change_ns).then_some((number, from))
    }

    /// A pending change is replaced by another one at `now`: a cycle that was being extended for it ends with the
    /// next regular one.
    fn resume(&mut self, replaced: &Pending, now: i64) {
        if let Some((number, from)) = self.extended(replaced).filter(|(_, from)| *from <= now) {
            self.put(from, Schedule::Extended(number));
            self.put(self.next_cycle(number, now), Schedule::List(number));
        }
    }

    fn install(&mut self, due: &Pending) {
        if let Some((number, from)) = self.extended(due) {
            self.put(from, Schedule::Extended(number));
        }
        self.put(due.change_ns, Schedule::List(due.list));
        self.running = Some(due.list);
        self.since = due.change_ns;
    }
}

#[cfg(test)]
mod tests {
    use super::Schedule::{Extended, Initial, List};
    use super::*;
    use crate::{GateChange, GateEntry};

    const BEGINNING: i64 = i64::MIN;

    fn entries(cycle_ns: u64) -> Vec<GateEntry> {
        vec![GateEntry { open: 1, interval_ns: cycle_ns, mac: None }]
    }

    /// The schedules of a list with a cycle of 100 ns from 0 on, whose last cycle may be `extension` ns longer, and
    /// these changes of it.
    fn found(extension: u64, changes: &[GateChange]) -> (Vec<(i64, Schedule)>, u64) {
        let gates = Gates {
            cycle_ns: 100,
            entries: entries(100),
            cycle_extension_ns: extension,
            changes: changes.to_vec(),
            ..Gates::default()
        };
        of(&gates)
    }

    fn of(gates: &Gates) -> (Vec<(i64, Schedule)>, u64) {
        let (found, errors) = in_force(gates);
        (found.iter().map(|one| (one.from_ns, one.schedule)).collect(), errors)
    }

    /// A change requested at `at_ns`: a list with a cycle of 70 ns from `base_time_ns` on.
    fn change(at_ns: i64, base_time_ns: i64) -> GateChange {
        GateChange { at_ns, base_time_ns, cycle_ns: 70, entries: entries(70), ..GateChange::default() }
    }

    #[test]
    fn one_list_is_in_force_for_ever() {
        assert_eq!(found(0, &[]), (vec![(BEGINNING, List(0))], 0));
        let initial = Gates {
            initial: Some(0),
            base_time_ns: 40,
            cycle_ns: 100,
            entries: entries(100),
            ..Gates::default()
        };
        assert_eq!(of(&initial), (vec![(BEGINNING, Initial), (40, List(0))], 0));
    }

    #[test]
    fn a_change_comes_at_its_base_time() {
        assert_eq!(found(0, &[change(10, 250)]), (vec![(BEGINNING, List(0)), (250, List(1))], 0));
        assert_eq!(found(0, &[change(250, 250)]), (vec![(BEGINNING, List(0)), (250, List(1))], 0));
    }

    /// The base time is past: the new list begins with its next cycle, counted from the base time, and an error is
    /// counted.
    #[test]
    fn a_change_that_comes_too_late_begins_with_a_cycle_of_its_own() {
        assert_eq!(found(0, &[change(251, 250)]), (vec![(BEGINNING, List(0)), (320, List(1))], 1));
        assert_eq!(found(0, &[change(320, 250)]), (vec![(BEGINNING, List(0)), (320, List(1))], 1));
        assert_eq!(found(0, &[change(321, 250)]), (vec![(BEGINNING, List(0)), (390, List(1))], 1));
        // Before the first list is in force, a late change is not an error.
        let initial = Gates {
            initial: Some(0),
            base_time_ns: 1_000,
            cycle_ns: 100,
            entries: entries(100),
            changes: vec![change(10, -70)],
            ..Gates::default()
        };
        assert_eq!(of(&initial), (vec![(BEGINNING, Initial), (70, List(1))], 0));
    }

    /// A cycle that would begin no longer than the extension before the change does not begin.
    #[test]
    fn the_last_cycle_is_extended() {
        let (whole, extended) = (
            vec![(BEGINNING, List(0)), (250, List(1))],
            vec![(BEGINNING, List(0)), (200, Extended(0)), (250, List(1))],
        );
        assert_eq!(found(49, &[change(10, 250)]).0, whole);
        assert_eq!(found(50, &[change(10, 250)]).0, extended);
        assert_eq!(found(149, &[change(10, 250)]).0, extended);
        // From 100 on if it may be 150 ns longer, and the change is known then.
        let earlier = vec![(BEGINNING, List(0)), (100, Extended(0)), (250, List(1))];
        assert_eq!(found(150, &[change(100, 250)]).0, earlier);
        assert_eq!(found(150, &[change(101, 250)]).0, extended);
        assert_eq!(found(150, &[change(201, 250)]).0, whole);
        // A change at a cycle's end extends no cycle.
        assert_eq!(found(99, &[change(10, 300)]).0, [(BEGINNING, List(0)), (300, List(1))]);
        assert_eq!(
            found(100, &[change(10, 300)]).0,
            [(BEGINNING, List(0)), (200, Extended(0)), (300, List(1))]
        );
    }

    /// The second list comes into force at 250 ns with cycles of 70 ns; its own extension applies to it.
    #[test]
    fn every_list_is_extended_by_its_own() {
        let second = |extension| GateChange { cycle_extension_ns: extension, ..change(10, 250) };
        let (first, third) = ((BEGINNING, List(0)), (400, List(2)));
        assert_eq!(found(0, &[second(0), change(260, 400)]).0, [first, (250, List(1)), third]);
        // Cycles begin at 250, 320 and 390.
        assert_eq!(
            found(0, &[second(10), change(260, 400)]).0,
            [first, (250, List(1)), (390, Extended(1)), third]
        );
        assert_eq!(
            found(0, &[second(500), change(260, 400)]).0,
            [first, (250, List(1)), (320, Extended(1)), third]
        );
    }

    /// A pending change is replaced; a cycle that was being extended for it ends with the next regular one.
    #[test]
    fn a_change_that_is_replaced_never_comes() {
        let changes = [change(10, 250), change(90, 500)];
        assert_eq!(found(0, &changes).0, [(BEGINNING, List(0)), (500, List(2))]);
        assert_eq!(found(50, &changes).0, [(BEGINNING, List(0)), (500, List(2))], "not begun yet");
        let changes = [change(10, 250), change(230, 550)];
        let expected =
            [(BEGINNING, List(0)), (200, Extended(0)), (300, List(0)), (500, Extended(0)), (550, List(2))];
        assert_eq!(found(50, &changes).0, expected);
        // The first change takes effect at the instant at which the second change is requested.
        let changes = [change(10, 250), change(250, 600)];
        assert_eq!(found(0, &changes).0, [(BEGINNING, List(0)), (250, List(1)), (600, List(2))]);
        // Two changes at one instant: the first is never in force.
        let changes = [change(10, 250), change(250, 250)];
        assert_eq!(found(0, &changes).0, [(BEGINNING, List(0)), (250, List(2))]);
    }
}
