//! Checks that the margins of scheduled streams cover the differences between clocks.

use crate::{Known, Report, Violation};
use tsn_plan::{ClockFault, Clocks, Plan};

/// The largest difference between the clocks of two nodes. Free-running clocks differ by their initial offsets, by their
/// drift until the end and by what faults add; with a servo or a random walk, it is what the scenario promises.
pub(crate) fn covered(plan: &Plan, known: &Known, report: &mut Report) {
    let Some(clocks) = &plan.clocks else { return };
    let servo = clocks.gptp.is_some() || clocks.nodes.iter().any(|clock| clock.wander.is_some());
    let free = || {
        let seconds = (plan.duration_ns + plan.drain_ns).div_ceil(1_000_000_000);
        let all = |most| (0..clocks.nodes.len()).map(move |node| shown(clocks, node, seconds, most));
        let (least, most) = (all(false).min().unwrap_or(0), all(true).max().unwrap_or(0));
        u64::try_from(most - least).unwrap_or(u64::MAX)
    };
    let promised = || clocks.within_ns.map(|ns| ns.saturating_mul(1_000));
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
fn shown(clocks: &Clocks, node: usize, seconds: u64, most: bool) -> i128 {
    let clock = &clocks.nodes[node];
    let further = |ps: i128| if most { ps.max(0) } else { ps.min(0) };
    let gained = |ppt: i64| further(i128::from(ppt) * i128::from(seconds));
    let deviations = clock.changes.iter().map(|change| change.deviation_ppt).chain([clock.deviation_ppt]);
    let drift = deviations.map(gained);
    let drift = if most { drift.max() } else { drift.min() }.unwrap_or(0);
    let faults = clocks.faults.iter().map(|fault| match fault {
        ClockFault::ClockStep { node: other, by_ns, .. } if *other as usize == node => {
            further(i128::from(*by_ns) * 1_000)
        }
        // A jump multiplies with the deviation: at most a thousandth more.
        ClockFault::FrequencyJump { node: other, by_ppt, .. } if *other as usize == node => {
            gained(*by_ppt) + gained(*by_ppt) / 1_000
        }
        _ => 0,
    });
    i128::from(clock.offset_ns) * 1_000 + drift + faults.sum::<i128>()
}
