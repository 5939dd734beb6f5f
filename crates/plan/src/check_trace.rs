//! Talkers that repeat what was recorded.

use crate::Plan;
use crate::check::{Check, ensure, time};

/// Most releases, or sizes, that a Plan lists for one stream.
const MOST_LISTED: usize = 1 << 20;

impl Plan {
    /// The gaps are a pass that fits into its cycle.
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
        // A trace of one instant would release for ever at it.
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
