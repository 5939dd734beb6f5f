//! Checks of clocks and of gPTP's tree.

mod ptp;

use crate::check::{Check, ensure, index, time};
use crate::{Clocks, Gptp, Plan};

/// Largest deviation: a thousandth (1000 ppm), ten times what an Ethernet oscillator may have.
pub(crate) const MOST_PPT: i64 = 1_000_000_000;
/// Largest offset: ten days, as for all times of a Plan.
pub(crate) const MOST_OFFSET_NS: i64 = 10 * 86_400 * 1_000_000_000;

impl Plan {
    pub(crate) fn check_clocks(&self, clocks: &Clocks) -> Check {
        let (found, nodes) = (clocks.nodes.len(), self.nodes.len());
        ensure(found == nodes, || "clocks.nodes".into(), || format!("{found} clocks for {nodes} nodes"))?;
        interval(clocks.record_ns, || "clocks.record_ns".into())?;
        if let Some(within_ns) = clocks.within_ns {
            let path = || "clocks.within_ns".into();
            ensure((1..=MOST_OFFSET_NS as u64).contains(&within_ns), path, || {
                format!("{within_ns} ns is not between 1 ns and ten days")
            })?;
        }
        for (number, clock) in clocks.nodes.iter().enumerate() {
            let path = |field: &str| format!("clocks.nodes[{number}].{field}");
            let deviation = |ppt: i64, field: &str| {
                ensure(
                    (-MOST_PPT..=MOST_PPT).contains(&ppt),
                    || path(field),
                    || format!("{ppt} parts of 10^12 are more than 1000 ppm"),
                )
            };
            ensure(
                (-MOST_OFFSET_NS..=MOST_OFFSET_NS).contains(&clock.offset_ns),
                || path("offset_ns"),
                || "is more than ten days".into(),
            )?;
            deviation(clock.deviation_ppt, "deviation_ppt")?;
            for change in &clock.changes {
                time(change.at_ns, || path("changes"))?;
                deviation(change.deviation_ppt, "changes")?;
            }
            ensure(
                clock.changes.windows(2).all(|pair| pair[0].at_ns < pair[1].at_ns),
                || path("changes"),
                || "are not in order of time".into(),
            )?;
            if let Some(wander) = clock.wander {
                interval(wander.every_ns, || path("wander.every_ns"))?;
                let most = i64::try_from(wander.most_ppt).unwrap_or(i64::MAX);
                deviation(most, "wander.most_ppt")?;
            }
            ensure(
                (1..=1_000_000).contains(&clock.granularity_ns) && clock.jitter_ns <= 1_000_000,
                || path("granularity_ns"),
                || "granularity and jitter are not between 1 ns and 1 ms".into(),
            )?;
        }
        self.check_clock_faults(&clocks.faults, clocks.gptp.is_some())?;
        clocks.gptp.as_ref().map_or(Ok(()), |gptp| self.check_gptp(gptp))
    }

    fn check_gptp(&self, gptp: &Gptp) -> Check {
        let path = |field: &str| format!("clocks.gptp.{field}");
        index(gptp.grandmaster, self.nodes.len(), || path("grandmaster"))?;
        interval(gptp.sync_interval_ns, || path("sync_interval_ns"))?;
        interval(gptp.pdelay_interval_ns, || path("pdelay_interval_ns"))?;
        ensure(gptp.pcp < 8, || path("pcp"), || format!("{} is not 0 to 7", gptp.pcp))?;
        ensure(gptp.wakeup_ns <= 1_000_000_000, || path("wakeup_ns"), || "is more than 1 s".into())?;
        let mut reached = vec![false; self.nodes.len()];
        reached[gptp.grandmaster as usize] = true;
        for (place, slave) in gptp.slaves.iter().enumerate() {
            let path = || path(&format!("slaves[{place}]"));
            index(*slave, self.ports.len(), path)?;
            let port = &self.ports[*slave as usize];
            let parent = self.ports[port.peer as usize].node;
            ensure(reached[parent as usize] && !reached[port.node as usize], path, || {
                "does not lead from a new node to one that time has reached before".into()
            })?;
            reached[port.node as usize] = true;
        }
        self.check_ptp(gptp)
    }
}

/// Checks an interval: between a tenth of a millisecond, below which a run would do nothing else, and an hour.
pub(crate) fn interval(ns: u64, path: impl FnOnce() -> String) -> Check {
    ensure((100_000..=3_600_000_000_000).contains(&ns), path, || {
        format!("{ns} ns is not between 100 us and 1 h")
    })
}

#[cfg(test)]
mod tests {
    use crate::check::broken::{refuses, with};
    use serde_json::json;

    #[test]
    fn clocks_and_the_tree_of_gptp_are_checked() {
        let holds = with(&[(
            "/clocks",
            json!({"record_ns": 1_000_000, "within_ns": 1_000, "nodes": vec![json!({"offset_ns": 0, "deviation_ppt": 0, "granularity_ns": 1, "jitter_ns": 0, "changes": [{"at_ns": 1, "deviation_ppt": 1}, {"at_ns": 2, "deviation_ppt": 1}], "wander": {"most_ppt": 1, "every_ns": 100_000}}); 4], "gptp": {"grandmaster": 0, "slaves": [1, 5], "sync_interval_ns": 125_000_000, "pdelay_interval_ns": 1_000_000_000, "pcp": 7, "wakeup_ns": 0}}),
        )]);
        refuses(
            &holds,
            &[
                ("/clocks/nodes", json!([]), "clocks.nodes: 0 clocks for 4 nodes"),
                ("/clocks/within_ns", json!(0), "clocks.within_ns: 0 ns is not between 1 ns and ten days"),
                (
                    "/clocks/record_ns",
                    json!(99_999),
                    "clocks.record_ns: 99999 ns is not between 100 us and 1 h",
                ),
                (
                    "/clocks/nodes/2/offset_ns",
                    json!(-864_000_000_000_001_i64),
                    "clocks.nodes[2].offset_ns: is more than ten days",
                ),
                (
                    "/clocks/nodes/2/deviation_ppt",
                    json!(-1_000_000_001),
                    "clocks.nodes[2].deviation_ppt: -1000000001 parts of 10^12 are more than 1000 ppm",
                ),
                (
                    "/clocks/nodes/2/changes/1/at_ns",
                    json!(1),
                    "clocks.nodes[2].changes: are not in order of time",
                ),
                (
                    "/clocks/nodes/2/wander/every_ns",
                    json!(1),
                    "clocks.nodes[2].wander.every_ns: 1 ns is not between 100 us and 1 h",
                ),
                (
                    "/clocks/nodes/2/wander/most_ppt",
                    json!(1_000_000_001),
                    "clocks.nodes[2].wander.most_ppt: 1000000001 parts of 10^12 are more than 1000 ppm",
                ),
                (
                    "/clocks/nodes/2/granularity_ns",
                    json!(0),
                    "clocks.nodes[2].granularity_ns: granularity and jitter are not between 1 ns and 1 ms",
                ),
                (
                    "/clocks/gptp/grandmaster",
                    json!(4),
                    "clocks.gptp.grandmaster: 4 is not the index of one of 4",
                ),
                (
                    "/clocks/gptp/sync_interval_ns",
                    json!(1),
                    "clocks.gptp.sync_interval_ns: 1 ns is not between 100 us and 1 h",
                ),
                ("/clocks/gptp/pcp", json!(8), "clocks.gptp.pcp: 8 is not 0 to 7"),
                ("/clocks/gptp/wakeup_ns", json!(1_000_000_001), "clocks.gptp.wakeup_ns: is more than 1 s"),
                ("/clocks/gptp/slaves/0", json!(8), "clocks.gptp.slaves[0]: 8 is not the index of one of 8"),
                (
                    "/clocks/gptp/slaves",
                    json!([5]),
                    "clocks.gptp.slaves[0]: does not lead from a new node to one that time has reached before",
                ),
                (
                    "/clocks/gptp/slaves",
                    json!([1, 1]),
                    "clocks.gptp.slaves[1]: does not lead from a new node to one that time has reached before",
                ),
            ],
        );
    }
}
