//! Checks of talkers that repeat a recording.

use crate::Plan;
use crate::check::{Check, ensure, time};

/// Most releases, or sizes, that a Plan lists for one stream.
const MOST_LISTED: usize = 1 << 20;

impl Plan {
    /// The gaps must form a pass that fits into its cycle.
    pub(crate) fn check_trace(
        gaps_ns: &[u64],
        cycle_ns: u64,
        passes: u32,
        path: &impl Fn(&str) -> String,
    ) -> Check {
        listed(gaps_ns.len(), || path("pattern.gaps_ns"))?;
        let total: u128 = gaps_ns.iter().map(|gap| u128::from(*gap)).sum();
        ensure(
            total <= u128::from(cycle_ns),
            || path("pattern.cycle_ns"),
            || format!("{cycle_ns} ns is less than the gaps together, {total} ns"),
        )?;
        time(cycle_ns, || path("pattern.cycle_ns"))?;
        ensure(passes > 0, || path("pattern.passes"), || "must be more than 0".into())?;
        // With a cycle of 0 ns, all passes would release at the same instant.
        ensure(
            cycle_ns > 0 || passes == 1,
            || path("pattern.cycle_ns"),
            || "must be more than 0 where there are several passes".into(),
        )
    }

    pub(crate) fn check_list(octets: &[u32], path: &impl Fn(&str) -> String) -> Check {
        listed(octets.len(), || path("size.octets"))
    }
}

fn listed(found: usize, path: impl Fn() -> String) -> Check {
    ensure((1..=MOST_LISTED).contains(&found), path, || format!("lists {found}, not 1 to {MOST_LISTED}"))
}

#[cfg(test)]
mod tests {
    use crate::check::broken::{refuses, with};
    use serde_json::json;

    #[test]
    fn recorded_releases_are_checked() {
        let holds = with(&[(
            "/streams/0/pattern",
            json!({"kind": "trace", "gaps_ns": [5, 5], "cycle_ns": 20, "passes": 2}),
        )]);
        refuses(
            &holds,
            &[
                (
                    "/streams/0/pattern/gaps_ns",
                    json!([]),
                    "streams[0].pattern.gaps_ns: lists 0, not 1 to 1048576",
                ),
                (
                    "/streams/0/pattern/cycle_ns",
                    json!(9),
                    "streams[0].pattern.cycle_ns: 9 ns is less than the gaps together, 10 ns",
                ),
                (
                    "/streams/0/pattern/cycle_ns",
                    json!(864_000_000_000_001_u64),
                    "streams[0].pattern.cycle_ns: 864000000000001 ns is more than ten days",
                ),
                ("/streams/0/pattern/passes", json!(0), "streams[0].pattern.passes: must be more than 0"),
                (
                    "/streams/0/pattern",
                    json!({"kind": "trace", "gaps_ns": [0], "cycle_ns": 0, "passes": 2}),
                    "streams[0].pattern.cycle_ns: must be more than 0 where there are several passes",
                ),
                (
                    "/streams/0/size",
                    json!({"kind": "list", "octets": []}),
                    "streams[0].size.octets: lists 0, not 1 to 1048576",
                ),
                (
                    "/streams/0/size",
                    json!({"kind": "list", "octets": [64, 63]}),
                    "streams[0].size.octets: a frame of 63 octets is not between 64 and 65535",
                ),
            ],
        );
    }
}
