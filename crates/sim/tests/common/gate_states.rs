//! Which gates are open when, told one list after the other.

use tsn_plan::Gates;

/// Which gates are open at an instant of the port's clock: the state machines, one change after the other.
pub fn gates_at(gates: &Gates, at: i64) -> u8 {
    let in_force = tsn_bridge::in_force(gates).0;
    let now = in_force.iter().rev().find(|one| one.from_ns <= at).unwrap();
    let lists: Vec<_> = gates.lists().collect();
    match now.schedule {
        tsn_bridge::Schedule::Initial => gates.initial.unwrap(),
        tsn_bridge::Schedule::Extended(list) => lists[list].entries.last().unwrap().open,
        tsn_bridge::Schedule::List(list) => {
            let mut left = (at - lists[list].base_time_ns).rem_euclid(lists[list].cycle_ns as i64);
            let entry = lists[list].entries.iter().find(|entry| {
                left -= entry.interval_ns as i64;
                left < 0
            });
            entry.unwrap().open
        }
    }
}
