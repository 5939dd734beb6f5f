//! Checks between the parts of a Plan, so that no backend has to repeat them.

mod beside;
#[cfg(test)]
mod broken;
mod clocks;
mod fault;
mod node;
mod stream;

use crate::{MeasureFrom, Plan, PlanError};

/// Largest time that a Plan may name: ten days, far inside what picoseconds in 64 bits can hold.
const LONGEST_NS: u64 = 10 * 86_400 * 1_000_000_000;
/// Largest frame that a Plan may name (jumbo).
pub(crate) const LARGEST_FRAME: u32 = 65_535;
/// Octets of a frame that a bridge needs to choose port and queue: addresses, VLAN tag and type.
const SMALLEST_CUT: u32 = 18;

/// The error of one part, or none.
pub(crate) type Check = Result<(), PlanError>;

pub(crate) fn ensure(holds: bool, path: impl FnOnce() -> String, problem: impl FnOnce() -> String) -> Check {
    if holds { Ok(()) } else { Err(PlanError::Inconsistent { path: path(), problem: problem() }) }
}

pub(crate) fn index(value: u32, length: usize, path: impl FnOnce() -> String) -> Check {
    ensure((value as usize) < length, path, || format!("{value} is not the index of one of {length}"))
}

pub(crate) fn time(value: u64, path: impl FnOnce() -> String) -> Check {
    ensure(value <= LONGEST_NS, path, || format!("{value} ns is more than ten days"))
}

impl Plan {
    /// Checks that every reference is valid and every number is in its range.
    ///
    /// # Errors
    /// [`PlanError::Inconsistent`] with the path of the first contradiction.
    pub fn check(&self) -> Check {
        ensure(self.duration_ns > 0, || "duration_ns".into(), || "must be more than 0".into())?;
        time(self.duration_ns, || "duration_ns".into())?;
        time(self.drain_ns, || "drain_ns".into())?;
        if let Some(MeasureFrom::At { ns }) = self.measure_from {
            let late = || format!("{ns} ns is not before the end of the talkers");
            ensure(ns < self.duration_ns, || "measure_from.ns".into(), late)?;
        }
        for (number, node) in self.nodes.iter().enumerate() {
            time(node.processing_ns, || format!("nodes[{number}].processing_ns"))?;
            if let Some(octets) = node.cut_through_octets {
                ensure(
                    (SMALLEST_CUT..=LARGEST_FRAME).contains(&octets),
                    || format!("nodes[{number}].cut_through_octets"),
                    || format!("{octets} is not between {SMALLEST_CUT} and {LARGEST_FRAME}"),
                )?;
            }
        }
        for (number, port) in self.ports.iter().enumerate() {
            self.check_port(number, port)?;
        }
        let mut names = std::collections::HashSet::new();
        for (number, stream) in self.streams.iter().enumerate() {
            self.check_stream(number, stream)?;
            ensure(
                names.insert(stream.name.as_str()),
                || format!("streams[{number}].name"),
                || format!("{:?} is used twice", stream.name),
            )?;
        }
        for (number, fault) in self.faults.iter().enumerate() {
            self.check_fault(number, fault)?;
        }
        self.check_policing()?;
        self.check_taps()?;
        if let Some(clocks) = &self.clocks {
            self.check_clocks(clocks)?;
        }
        self.check_hosts()?;
        self.check_bridging()?;
        self.check_learning()?;
        self.check_identification()
    }

    fn check_taps(&self) -> Check {
        for (number, tap) in self.taps.iter().enumerate() {
            let path = |field: &str| format!("taps[{number}].{field}");
            index(tap.port, self.ports.len(), || path("port"))?;
            let granularity = tap.granularity_ns;
            ensure(
                (1..=1_000_000_000).contains(&granularity),
                || path("granularity_ns"),
                || format!("{granularity} is not between 1 ns and 1 s"),
            )?;
        }
        ensure(self.taps.len() < 1 << 16, || "taps".into(), || "more than 65535".into())
    }
}

#[cfg(test)]
mod tests {
    use crate::check::broken::{plan, refuses};
    use serde_json::json;

    #[test]
    fn the_whole_plan_is_checked() {
        let holds = plan();
        refuses(
            &holds,
            &[
                ("/duration_ns", json!(0), "duration_ns: must be more than 0"),
                (
                    "/duration_ns",
                    json!(864_000_000_000_001_u64),
                    "duration_ns: 864000000000001 ns is more than ten days",
                ),
                (
                    "/drain_ns",
                    json!(864_000_000_000_001_u64),
                    "drain_ns: 864000000000001 ns is more than ten days",
                ),
                (
                    "/measure_from",
                    json!({"kind": "at", "ns": 1_000_000}),
                    "measure_from.ns: 1000000 ns is not before the end of the talkers",
                ),
                (
                    "/nodes/1/processing_ns",
                    json!(864_000_000_000_001_u64),
                    "nodes[1].processing_ns: 864000000000001 ns is more than ten days",
                ),
                (
                    "/nodes/1/cut_through_octets",
                    json!(17),
                    "nodes[1].cut_through_octets: 17 is not between 18 and 65535",
                ),
                ("/taps/0/port", json!(8), "taps[0].port: 8 is not the index of one of 8"),
                ("/taps/0/granularity_ns", json!(0), "taps[0].granularity_ns: 0 is not between 1 ns and 1 s"),
            ],
        );
    }
}
