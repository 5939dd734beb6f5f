//! Checks of gate control lists, of their changes, and of the frames that they hold.

use crate::check::{Check, ensure, time};
use crate::{GateChange, GateList, MacOperation, Plan, Port};

/// Most lists of one port, and most entries of one list: a greater number is most likely a mistake.
const MOST_LISTS: usize = 4_096;
const MOST_ENTRIES: usize = 65_536;
/// Largest idle slope, bit/s.
const MOST_SLOPE: i64 = 1_000_000_000_000;
/// Largest advance: far longer than any frame.
const MOST_ADVANCE_NS: u64 = 1_000_000_000;

impl Plan {
    pub(crate) fn check_gates(&self, number: usize, port: &Port) -> Check {
        let path = |field: &str| format!("ports[{number}].{field}");
        for (class, own) in port.classes.iter().enumerate() {
            ensure(
                own.max_sdu_octets != Some(0),
                || path(&format!("classes[{class}].max_sdu_octets")),
                || "must be more than 0".into(),
            )?;
        }
        if let Some(own) = &port.preemption {
            let most = own.hold_advance_ns.max(own.release_advance_ns);
            ensure(
                most <= MOST_ADVANCE_NS,
                || path("preemption"),
                || format!("an advance of {most} ns is more than 1 s"),
            )?;
        }
        let Some(gates) = &port.gates else { return Ok(()) };
        ensure(
            gates.changes.len() < MOST_LISTS,
            || path("gates.changes"),
            || format!("more than {MOST_LISTS}"),
        )?;
        for (place, list) in gates.lists().enumerate() {
            let at = place.checked_sub(1).map_or_else(String::new, |change| format!("changes[{change}]."));
            check_list(&list, |field| path(&format!("gates.{at}{field}")))?;
        }
        ensure(
            !gates.holds() || port.preemption.is_some(),
            || path("gates"),
            || "holds preemptable frames back on a port without pre-emption".into(),
        )?;
        for (place, change) in gates.changes.iter().enumerate() {
            check_change(change, port, |field| path(&format!("gates.changes[{place}].{field}")))?;
        }
        let in_order = gates.changes.windows(2).all(|pair| pair[0].at_ns <= pair[1].at_ns);
        ensure(in_order, || path("gates.changes"), || "are not in order of time".into())
    }
}

fn check_list(list: &GateList<'_>, path: impl Fn(&str) -> String) -> Check {
    let total: u128 = list.entries.iter().map(|entry| u128::from(entry.interval_ns)).sum();
    time(list.cycle_ns, || path("cycle_ns"))?;
    time(list.cycle_extension_ns, || path("cycle_extension_ns"))?;
    time(list.base_time_ns.unsigned_abs(), || path("base_time_ns"))?;
    ensure(
        list.cycle_ns > 0 && total == u128::from(list.cycle_ns),
        || path("cycle_ns"),
        || format!("the entries last {total} ns, the cycle {} ns", list.cycle_ns),
    )?;
    let count = list.entries.len();
    ensure(count <= MOST_ENTRIES, || path("entries"), || format!("{count} are more than {MOST_ENTRIES}"))?;
    for (entry, gate) in list.entries.iter().enumerate() {
        ensure(
            gate.interval_ns > 0,
            || path(&format!("entries[{entry}].interval_ns")),
            || "must be more than 0".into(),
        )?;
    }
    let has = |operation| list.entries.iter().any(|entry| entry.mac == Some(operation));
    ensure(
        !has(MacOperation::Hold) || has(MacOperation::Release),
        || path("entries"),
        || "hold preemptable frames back and never release them".into(),
    )
}

fn check_change(change: &GateChange, port: &Port, path: impl Fn(&str) -> String) -> Check {
    time(change.at_ns.unsigned_abs(), || path("at_ns"))?;
    for own in &change.idle_slopes {
        let class = port.classes.get(usize::from(own.class));
        ensure(
            class.is_some_and(|class| class.cbs.is_some()) && (1..=MOST_SLOPE).contains(&own.bps),
            || path("idle_slopes"),
            || format!("class {} has no shaper, or {} bit/s is out of range", own.class, own.bps),
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::check::broken::{refuses, with};
    use serde_json::json;

    #[test]
    fn gate_control_lists_are_checked() {
        let holds = with(&[
            (
                "/ports/0/gates",
                json!({"base_time_ns": 0, "cycle_ns": 10, "entries": [{"open": 1, "interval_ns": 4}, {"open": 2, "interval_ns": 6}], "changes": [{"at_ns": 5, "base_time_ns": 0, "cycle_ns": 3, "entries": [{"open": 1, "interval_ns": 3}]}]}),
            ),
            ("/ports/2/preemption", json!({"express": 128})),
        ]);
        refuses(
            &holds,
            &[
                (
                    "/ports/0/gates/cycle_ns",
                    json!(11),
                    "ports[0].gates.cycle_ns: the entries last 10 ns, the cycle 11 ns",
                ),
                (
                    "/ports/0/gates/entries/1/interval_ns",
                    json!(0),
                    "ports[0].gates.cycle_ns: the entries last 4 ns, the cycle 10 ns",
                ),
                (
                    "/ports/0/gates/entries",
                    json!([{"open": 1, "interval_ns": 0}, {"open": 2, "interval_ns": 10}]),
                    "ports[0].gates.entries[0].interval_ns: must be more than 0",
                ),
                (
                    "/ports/0/gates/base_time_ns",
                    json!(-864_000_000_000_001_i64),
                    "ports[0].gates.base_time_ns: 864000000000001 ns is more than ten days",
                ),
                (
                    "/ports/0/gates/cycle_extension_ns",
                    json!(864_000_000_000_001_u64),
                    "ports[0].gates.cycle_extension_ns: 864000000000001 ns is more than ten days",
                ),
                (
                    "/ports/0/gates/changes/0/cycle_ns",
                    json!(4),
                    "ports[0].gates.changes[0].cycle_ns: the entries last 3 ns, the cycle 4 ns",
                ),
                (
                    "/ports/0/gates/changes/0/at_ns",
                    json!(864_000_000_000_001_i64),
                    "ports[0].gates.changes[0].at_ns: 864000000000001 ns is more than ten days",
                ),
                (
                    "/ports/0/gates/changes/0/idle_slopes",
                    json!([{"class": 3, "bps": 1_000}]),
                    "ports[0].gates.changes[0].idle_slopes: class 3 has no shaper, or 1000 bit/s is out of range",
                ),
                (
                    "/ports/0/gates/changes/1",
                    json!({"at_ns": 4, "base_time_ns": 0, "cycle_ns": 3, "entries": [{"open": 1, "interval_ns": 3}]}),
                    "ports[0].gates.changes: are not in order of time",
                ),
                (
                    "/ports/0/gates/entries/0/mac",
                    json!("hold"),
                    "ports[0].gates.entries: hold preemptable frames back and never release them",
                ),
                (
                    "/ports/0/gates/entries",
                    json!([{"open": 1, "interval_ns": 4, "mac": "hold"}, {"open": 2, "interval_ns": 6, "mac": "release"}]),
                    "ports[0].gates: holds preemptable frames back on a port without pre-emption",
                ),
                (
                    "/ports/0/classes/2/max_sdu_octets",
                    json!(0),
                    "ports[0].classes[2].max_sdu_octets: must be more than 0",
                ),
                (
                    "/ports/2/preemption/hold_advance_ns",
                    json!(1_000_000_001),
                    "ports[2].preemption: an advance of 1000000001 ns is more than 1 s",
                ),
            ],
        );
    }
}
