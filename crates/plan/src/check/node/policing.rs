//! Checks of a node's filters, stream gates, meters and schedulers.

use crate::check::{Check, ensure, index, time};
use crate::{Plan, Policing, StreamGate};

/// Most entries of a stream gate's list.
const MOST_ENTRIES: usize = 4_096;
/// Highest rate of meters and schedulers, bit/s.
const HIGHEST_RATE: u64 = 1_000_000_000_000;
/// Largest bucket, octets.
const LARGEST_BUCKET: u64 = 1 << 32;

impl Plan {
    pub(crate) fn check_policing(&self) -> Check {
        let mut nodes = std::collections::HashSet::new();
        for (number, policing) in self.policing.iter().enumerate() {
            let path = |field: &str| format!("policing[{number}].{field}");
            index(policing.node, self.nodes.len(), || path("node"))?;
            ensure(nodes.insert(policing.node), || path("node"), || "has two tables".into())?;
            self.check_filters(policing, path)?;
            for (gate, own) in policing.gates.iter().enumerate() {
                check_gate(own, |field| path(&format!("gates[{gate}].{field}")))?;
            }
            for (meter, own) in policing.meters.iter().enumerate() {
                let path = |field: &str| path(&format!("meters[{meter}].{field}"));
                let rates = own.cir_bps <= HIGHEST_RATE && own.eir_bps <= HIGHEST_RATE;
                ensure(rates, || path("cir_bps"), || "a rate is above 1 Tbit/s".into())?;
                let sizes = own.cbs_octets <= LARGEST_BUCKET && own.ebs_octets <= LARGEST_BUCKET;
                ensure(sizes, || path("cbs_octets"), || format!("more than {LARGEST_BUCKET} octets"))?;
            }
            let software = self.nodes.get(policing.node as usize).is_some_and(|node| node.host.is_some());
            let problem = "asynchronous shaping in a host's software is not modelled yet";
            ensure(!software || policing.schedulers.is_empty(), || path("schedulers"), || problem.into())?;
            for (scheduler, own) in policing.schedulers.iter().enumerate() {
                let path = |field: &str| path(&format!("schedulers[{scheduler}].{field}"));
                index(own.group, policing.groups.len(), || path("group"))?;
                let possible = (1..=HIGHEST_RATE).contains(&own.cir_bps);
                ensure(possible, || path("cir_bps"), || "is not 1 bit/s to 1 Tbit/s".into())?;
                let possible = (1..=LARGEST_BUCKET * 8).contains(&own.cbs_bits);
                ensure(possible, || path("cbs_bits"), || format!("is not 1 to {}", LARGEST_BUCKET * 8))?;
            }
            for (group, own) in policing.groups.iter().enumerate() {
                time(own.max_residence_ns, || path(&format!("groups[{group}].max_residence_ns")))?;
            }
            let mut ports = std::collections::HashSet::new();
            for (table, own) in policing.regeneration.iter().enumerate() {
                let path = |field: &str| path(&format!("regeneration[{table}].{field}"));
                self.own_port(policing, own.port, || path("port"))?;
                ensure(ports.insert(own.port), || path("port"), || "has two tables".into())?;
                ensure(own.pcp.iter().all(|pcp| *pcp < 8), || path("pcp"), || "is not 0 to 7".into())?;
            }
        }
        self.check_merged_priorities()
    }

    fn own_port(&self, policing: &Policing, port: u32, path: impl Fn() -> String) -> Check {
        index(port, self.ports.len(), &path)?;
        ensure(self.ports[port as usize].node == policing.node, path, || "is another node's port".into())
    }

    fn check_filters(&self, policing: &Policing, path: impl Fn(&str) -> String) -> Check {
        for (number, filter) in policing.filters.iter().enumerate() {
            let path = |field: &str| path(&format!("filters[{number}].{field}"));
            for port in &filter.ports {
                self.own_port(policing, *port, || path("ports"))?;
            }
            for stream in &filter.streams {
                index(*stream, self.streams.len(), || path("streams"))?;
            }
            ensure(
                filter.priority.is_none_or(|own| own < 8),
                || path("priority"),
                || "is not 0 to 7".into(),
            )?;
            let tables = [
                ("gate", filter.gate, policing.gates.len()),
                ("meter", filter.meter, policing.meters.len()),
                ("scheduler", filter.scheduler, policing.schedulers.len()),
            ];
            for (name, entry, length) in tables {
                if let Some(entry) = entry {
                    index(entry, length, || path(name))?;
                }
            }
        }
        Ok(())
    }

    /// Frames after a merge point must have one priority, on whichever path they came.
    fn check_merged_priorities(&self) -> Check {
        if self.policing.iter().all(|policing| policing.regeneration.is_empty()) {
            return Ok(());
        }
        for (number, stream) in self.streams.iter().enumerate() {
            let Some(redundancy) = &stream.redundancy else { continue };
            let pcp = self.priorities(stream);
            let after = |entry: u32| {
                let port = self.ports[stream.route[entry as usize].port as usize].peer;
                self.regenerated(port, pcp[entry as usize])
            };
            for merge in &redundancy.merges {
                let first = merge.from.first().map(|entry| after(*entry));
                ensure(
                    merge.from.iter().all(|entry| Some(after(*entry)) == first),
                    || format!("streams[{number}].redundancy"),
                    || "its paths meet with different regenerated priorities".into(),
                )?;
            }
        }
        Ok(())
    }
}

fn check_gate(gate: &StreamGate, path: impl Fn(&str) -> String) -> Check {
    let total: u128 = gate.entries.iter().map(|entry| u128::from(entry.interval_ns)).sum();
    time(gate.cycle_ns, || path("cycle_ns"))?;
    time(gate.base_time_ns.unsigned_abs(), || path("base_time_ns"))?;
    ensure(
        gate.cycle_ns > 0 && total == u128::from(gate.cycle_ns),
        || path("cycle_ns"),
        || format!("the entries last {total} ns, the cycle {} ns", gate.cycle_ns),
    )?;
    let count = gate.entries.len();
    ensure(count <= MOST_ENTRIES, || path("entries"), || format!("{count} entries, not {MOST_ENTRIES}"))?;
    for (number, entry) in gate.entries.iter().enumerate() {
        let path = || path(&format!("entries[{number}]"));
        ensure(entry.interval_ns > 0, path, || "lasts no time".into())?;
        ensure(entry.ipv.is_none_or(|ipv| ipv < 8), path, || "its ipv is not 0 to 7".into())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::check::broken::{refuses, with};
    use serde_json::json;

    #[test]
    fn policing_is_checked() {
        let holds = with(&[(
            "/policing",
            json!([{"node": 1, "filters": [{"name": "f", "ports": [1], "streams": [0], "priority": 7, "gate": 0, "meter": 0, "scheduler": 0}], "gates": [{"base_time_ns": 0, "cycle_ns": 5, "entries": [{"open": true, "interval_ns": 5}]}], "meters": [{"cir_bps": 1, "cbs_octets": 1, "eir_bps": 0, "ebs_octets": 0}], "schedulers": [{"cir_bps": 1, "cbs_bits": 1, "group": 0}], "groups": [{"name": "g", "max_residence_ns": 5}], "regeneration": [{"port": 1, "pcp": [0, 0, 0, 0, 0, 0, 0, 0]}]}]),
        )]);
        refuses(
            &holds,
            &[
                ("/policing/0/node", json!(4), "policing[0].node: 4 is not the index of one of 4"),
                ("/policing/1", json!({"node": 1}), "policing[1].node: has two tables"),
                (
                    "/policing/0/filters/0/ports/0",
                    json!(8),
                    "policing[0].filters[0].ports: 8 is not the index of one of 8",
                ),
                (
                    "/policing/0/filters/0/ports/0",
                    json!(0),
                    "policing[0].filters[0].ports: is another node's port",
                ),
                (
                    "/policing/0/filters/0/streams/0",
                    json!(1),
                    "policing[0].filters[0].streams: 1 is not the index of one of 1",
                ),
                (
                    "/policing/0/filters/0/priority",
                    json!(8),
                    "policing[0].filters[0].priority: is not 0 to 7",
                ),
                (
                    "/policing/0/filters/0/gate",
                    json!(1),
                    "policing[0].filters[0].gate: 1 is not the index of one of 1",
                ),
                (
                    "/policing/0/filters/0/meter",
                    json!(1),
                    "policing[0].filters[0].meter: 1 is not the index of one of 1",
                ),
                (
                    "/policing/0/filters/0/scheduler",
                    json!(1),
                    "policing[0].filters[0].scheduler: 1 is not the index of one of 1",
                ),
                (
                    "/policing/0/gates/0/cycle_ns",
                    json!(6),
                    "policing[0].gates[0].cycle_ns: the entries last 5 ns, the cycle 6 ns",
                ),
                (
                    "/policing/0/gates/0/entries/0/ipv",
                    json!(8),
                    "policing[0].gates[0].entries[0]: its ipv is not 0 to 7",
                ),
                (
                    "/policing/0/meters/0/eir_bps",
                    json!(1_000_000_000_001_u64),
                    "policing[0].meters[0].cir_bps: a rate is above 1 Tbit/s",
                ),
                (
                    "/policing/0/meters/0/ebs_octets",
                    json!(4_294_967_297_u64),
                    "policing[0].meters[0].cbs_octets: more than 4294967296 octets",
                ),
                (
                    "/policing/0/schedulers/0/group",
                    json!(1),
                    "policing[0].schedulers[0].group: 1 is not the index of one of 1",
                ),
                (
                    "/policing/0/schedulers/0/cir_bps",
                    json!(0),
                    "policing[0].schedulers[0].cir_bps: is not 1 bit/s to 1 Tbit/s",
                ),
                (
                    "/policing/0/schedulers/0/cbs_bits",
                    json!(0),
                    "policing[0].schedulers[0].cbs_bits: is not 1 to 34359738368",
                ),
                (
                    "/policing/0/groups/0/max_residence_ns",
                    json!(864_000_000_000_001_u64),
                    "policing[0].groups[0].max_residence_ns: 864000000000001 ns is more than ten days",
                ),
                (
                    "/policing/0/regeneration/0/port",
                    json!(0),
                    "policing[0].regeneration[0].port: is another node's port",
                ),
                (
                    "/policing/0/regeneration/1",
                    json!({"port": 1, "pcp": [0, 0, 0, 0, 0, 0, 0, 0]}),
                    "policing[0].regeneration[1].port: has two tables",
                ),
                (
                    "/policing/0/regeneration/0/pcp/3",
                    json!(8),
                    "policing[0].regeneration[0].pcp: is not 0 to 7",
                ),
            ],
        );
    }
}
