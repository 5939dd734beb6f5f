//! Clocks that run free: how much faster than true time they run, and how far two of them are apart.
//!
//! Thomas & Le Boudec 2020 (arXiv 2007.01048): a flow that keeps a period on a clock that is fast by at most ρ keeps the
//! period divided by 1 + ρ in true time.

use crate::curve::{LONGEST, Ps};
use tsn_plan::{Clocks, NodeClock, Pattern, Plan, Stream};

/// Parts of a deviation.
const WHOLE: i128 = 1_000_000_000_000;

/// Whether the Plan alone says what the clocks show: there is no servo, no random walk and no fault.
pub(crate) fn run_free(clocks: &Clocks) -> bool {
    clocks.gptp.is_none()
        && clocks.faults.is_empty()
        && clocks.nodes.iter().all(|clock| clock.wander.is_none())
}

/// The greatest deviation of a clock from true time in either direction, parts of 10^12.
fn greatest_deviation(clocks: &Clocks) -> i128 {
    let own = |clock: &NodeClock| {
        let later = clock.changes.iter().map(|change| change.deviation_ppt);
        later.chain([clock.deviation_ppt]).map(|ppt| i128::from(ppt).abs()).max()
    };
    clocks.nodes.iter().filter_map(own).max().unwrap_or(0)
}

/// The Plan with releases in true time: periods as short, and jitter as long, as any of the clocks makes them.
/// Sequence recovery remembers for as short a time.
pub(crate) fn in_true_time(plan: &Plan, clocks: &Clocks) -> Plan {
    let most = greatest_deviation(clocks);
    let shorter = |ns: u64| u64::try_from(i128::from(ns) * WHOLE / (WHOLE + most)).unwrap_or(ns);
    let longer =
        |ns: u64| ns.saturating_add(u64::try_from(i128::from(ns) * most / (WHOLE - most)).unwrap_or(ns));
    let adapted = |stream: &Stream| {
        let mut stream = stream.clone();
        // A talker whose clock is ahead when the run begins releases at once what is due.
        let ahead = u64::try_from(clocks.nodes[stream.talker as usize].offset_ns).unwrap_or(0);
        let due = ahead.saturating_sub(stream.start_ns);
        if let Pattern::Periodic { period_ns, jitter_ns, .. } = &mut stream.pattern {
            // An instant on a clock is a whole picosecond in true time: one more nanosecond is enough for two of them.
            (*period_ns, *jitter_ns) =
                (shorter(*period_ns).max(1), longer(jitter_ns.saturating_add(due)).saturating_add(2));
        }
        if let Some(recovery) = stream.redundancy.as_mut().and_then(|own| own.recovery.as_mut()) {
            recovery.reset_ns = shorter(recovery.reset_ns);
        }
        stream
    };
    Plan { streams: plan.streams.iter().map(adapted).collect(), ..plan.clone() }
}

/// What stamps of two clocks add to a delay, in ps: least and greatest lead of the second clock over the first one at
/// any time of the run, and what the first clock gains during `delay`. Zero where what clocks show is not known.
pub(crate) fn between_stamps(plan: &Plan, nodes: [u32; 2], delay: Ps) -> (Ps, Ps) {
    let Some(clocks) = plan.clocks.as_ref().filter(|clocks| run_free(clocks)) else { return (0, 0) };
    let end = plan.duration_ns.saturating_add(plan.drain_ns);
    let pair = nodes.map(|node| &clocks.nodes[node as usize]);
    let changes = pair.iter().flat_map(|clock| clock.changes.iter().map(|change| change.at_ns));
    let mut leads: Vec<i128> =
        changes.chain([0, end]).map(|at| shows(pair[1], at.min(end)) - shows(pair[0], at.min(end))).collect();
    leads.sort_unstable();
    let gains = (i128::from(delay) * greatest_deviation(clocks)).div_euclid(WHOLE) + 1;
    let in_ps = |lead: i128| Ps::try_from(lead).unwrap_or(LONGEST);
    let round = 1_000_000_000;
    (
        in_ps(leads[0].div_euclid(round) - gains),
        in_ps((leads[leads.len() - 1] + round - 1).div_euclid(round) + gains),
    )
}

/// The lead of a clock over true time at an instant, in ps / 10^9.
fn shows(clock: &NodeClock, at_ns: u64) -> i128 {
    let (mut since, mut deviation, mut gained) =
        (0, clock.deviation_ppt, i128::from(clock.offset_ns) * WHOLE);
    for change in clock.changes.iter().filter(|change| change.at_ns < at_ns) {
        gained += i128::from(deviation) * i128::from(change.at_ns - since);
        (since, deviation) = (change.at_ns, change.deviation_ppt);
    }
    gained + i128::from(deviation) * i128::from(at_ns - since)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tsn_plan::Change;

    /// 100 ns at first; 10 ppm for 1 ms are 10 ns, then -20 ppm for 2 ms are -40 ns.
    #[test]
    fn a_clock_shows_what_it_has_gained() {
        let changes = vec![Change { at_ns: 1_000_000, deviation_ppt: -20_000_000 }];
        let clock = NodeClock { offset_ns: 100, deviation_ppt: 10_000_000, changes, ..NodeClock::default() };
        let at = |ns| shows(&clock, ns) / 1_000_000_000;
        assert_eq!([0, 500_000, 1_000_000, 3_000_000].map(at), [100_000, 105_000, 110_000, 70_000]);
    }
}
