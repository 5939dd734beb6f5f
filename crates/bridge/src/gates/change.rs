//! Which gate control list is in force when: the list configuration and cycle timer machines, run ahead.
//!
//! IEEE 802.1Q-2022, 8.6.9.1 and 8.6.9.3. Everything is on the clock of the port's node, so that all of it follows
//! from the Plan.

use tsn_plan::{GateList, Gates};

/// What the gates go by.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Schedule {
    /// The states before any list (`AdminGateStates`).
    Initial,
    /// A list of the Plan: 0 for the first, n for the n-th change.
    List(usize),
    /// The last states of a list: its last cycle is extended.
    Extended(usize),
}

/// From when on, in ns; until the next one.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct InForce {
    /// `i64::MIN` for the first.
    pub from_ns: i64,
    /// What.
    pub schedule: Schedule,
}

/// A change that is asked for and not yet made.
struct Pending {
    /// `ConfigChangeTime`.
    change_ns: i64,
    list: usize,
    requested_ns: i64,
}

/// Everything that is ever in force, and how often a list was asked for too late (`ConfigChangeError`): one that
/// runs had to be replaced, and the base time was past.
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
    for (place, change) in gates.changes.iter().enumerate() {
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
        pending = Some(Pending { change_ns, list: place + 1, requested_ns: now });
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
    /// When the one that runs came into force.
    since: i64,
}

impl History<'_> {
    fn put(&mut self, from_ns: i64, schedule: Schedule) {
        // What would begin when the next begins, too, never is in force.
        while self.schedules.last().is_some_and(|last| last.from_ns >= from_ns) {
            self.schedules.pop();
        }
        self.schedules.push(InForce { from_ns, schedule });
    }

    /// The start of a cycle of the list that runs, not before `from_ns`.
    fn next_cycle(&self, number: usize, from_ns: i64) -> i64 {
        let list = &self.lists[number];
        let cycle = i64::try_from(list.cycle_ns).unwrap_or(i64::MAX).max(1);
        from_ns.saturating_add(list.base_time_ns.saturating_sub(from_ns).rem_euclid(cycle))
    }

    /// When the cycle that is extended should have ended: cycles that would begin no longer than the extension before
    /// the change do not begin, if the change was known then and there is a cycle to extend.
    fn extended(&self, due: &Pending) -> Option<(usize, i64)> {
        let number = self.running?;
        let most = i64::try_from(self.lists[number].cycle_extension_ns).unwrap_or(i64::MAX);
        let not_before =
            due.requested_ns.max(self.since.saturating_add(1)).max(due.change_ns.saturating_sub(most));
        let from = self.next_cycle(number, not_before);
        (from < due.change_ns).then_some((number, from))
    }

    /// A change that is pending is replaced by another one at `now`: a cycle that was being extended for it ends with
    /// the next regular one.
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
