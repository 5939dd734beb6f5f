//! The open gates at an instant, from the lists in force.

use tsn_plan::Gates;

/// The open gates at an instant of the port's clock, by the state machines of one change after the other.
pub fn gates_at(gates: &Gates, at: i64) -> u8 {
    let in_force = tsn_plan::in_force(gates).0;
    let now = in_force.iter().rev().find(|one| one.from_ns <= at).unwrap();
    let lists: Vec<_> = gates.lists().collect();
    match now.schedule {
        tsn_plan::Schedule::Initial => gates.initial.unwrap(),
        tsn_plan::Schedule::Extended(list) => lists[list].entries.last().unwrap().open,
        tsn_plan::Schedule::List(list) => {
            let mut left = (at - lists[list].base_time_ns).rem_euclid(lists[list].cycle_ns as i64);
            let entry = lists[list].entries.iter().find(|entry| {
                left -= entry.interval_ns as i64;
                left < 0
            });
            entry.unwrap().open
        }
    }
}
