//! Checks that the margins of scheduled streams cover the differences between clocks.

use crate::{Known, Report, Violation};
use tsn_plan::Plan;

/// The largest difference between the clocks of two nodes. Free-running clocks differ by their initial offsets and by
/// their drift until the end; with a servo, a random walk or a fault, the difference is what the scenario promises.
pub(crate) fn covered(plan: &Plan, known: &Known, report: &mut Report) {
    let Some(clocks) = &plan.clocks else { return };
    let servo = clocks.gptp.is_some()
        || !clocks.faults.is_empty()
        || clocks.nodes.iter().any(|clock| clock.wander.is_some());
    let promised = || clocks.within_ns.map(|ns| ns.saturating_mul(1_000));
    let free = || {
        let seconds = (plan.duration_ns + plan.drain_ns).div_ceil(1_000_000_000);
        let least = clocks.nodes.iter().map(|clock| shown(clock, seconds, false)).min().unwrap_or(0);
        let most = clocks.nodes.iter().map(|clock| shown(clock, seconds, true)).max().unwrap_or(0);
        u64::try_from(most - least).unwrap_or(u64::MAX)
    };
    let Some(error_ps) = known.clock_error_ps.or_else(|| (!servo).then(free)).or_else(promised) else {
        report.margins_assumed = true;
        return;
    };
    for (number, stream) in plan.streams.iter().enumerate() {
        let Some(own) = &stream.scheduled else { continue };
        if own.margin_ps < error_ps {
            let short = Violation::Margin { stream: number as u32, margin_ps: own.margin_ps, error_ps };
            report.violations.push(short);
        }
    }
}

/// The largest (or smallest) lead of a clock, ps: the deviation in parts of 10^12 is a deviation in ps per second.
fn shown(clock: &tsn_plan::NodeClock, seconds: u64, most: bool) -> i128 {
    let offset = i128::from(clock.offset_ns) * 1_000;
    let deviations = clock.changes.iter().map(|change| change.deviation_ppt).chain([clock.deviation_ppt, 0]);
    let gained = deviations.map(|ppt| i128::from(ppt) * i128::from(seconds));
    offset + if most { gained.max() } else { gained.min() }.unwrap_or(0)
}
