//! What is known of the nodes' clocks: how fast they run, and how far any two of them are apart.
//!
//! Thomas & Le Boudec 2020 (arXiv 2002.04269). Of clocks that run free the Plan says everything. Of others the scenario
//! promises the greatest difference; then each clock follows the one whose oscillator nothing steers.

use crate::curve::arrival::recorded;
use crate::curve::{LONGEST, Ps, ps};
use crate::model::span::Span;
use tsn_plan::{Bmca, ClockFault, Clocks, NodeClock, Pattern, Plan, Stream};

/// What is rounded between two readings.
const ROUNDED: Ps = 4;
/// Parts of a deviation.
pub(crate) const WHOLE: i128 = 1_000_000_000_000;
/// The greatest frequency by which linuxptp steers a clock unless it is told otherwise, parts of 10^9.
const MOST_STEERED_PPB: i64 = 62_499_999;

/// What is known of a Plan's clocks.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// All that they show: there is no servo, no random walk and no fault.
    RunFree,
    /// No clock differs from that of `reference`, which nothing steers, by more than `within_ns`. Faults set the
    /// reference itself by `steps_ns` at most.
    Promised { reference: u32, within_ns: u64, steps_ns: u64 },
}

impl Known {
    /// None without clocks, or if the Plan neither determines what the clocks show nor promises how far they are apart.
    pub fn of(plan: &Plan) -> Option<Self> {
        let clocks = plan.clocks.as_ref()?;
        let free = clocks.gptp.is_none() && clocks.faults.is_empty();
        if free && clocks.nodes.iter().all(|clock| clock.wander.is_none()) {
            return Some(Self::RunFree);
        }
        let reference = match &clocks.gptp {
            Some(gptp) => {
                Some(gptp.grandmaster).filter(|best| gptp.bmca.iter().all(|own| wins(plan, own, *best)))?
            }
            None => (0..clocks.nodes.len() as u32).min_by_key(|node| deviation(plan, clocks, *node))?,
        };
        let steps = clocks.faults.iter().map(|fault| match fault {
            ClockFault::ClockStep { node, by_ns, .. } if *node == reference => by_ns.unsigned_abs(),
            _ => 0,
        });
        Some(Self::Promised { reference, within_ns: clocks.within_ns?, steps_ns: steps.sum() })
    }
}

impl Known {
    /// By how much any talker's time deviates from true time, parts of 10^12.
    fn deviation(self, plan: &Plan, clocks: &Clocks) -> i128 {
        let of = |node: u32| deviation(plan, clocks, node);
        match self {
            Self::RunFree => (0..clocks.nodes.len() as u32).map(of).max().unwrap_or(0),
            Self::Promised { reference, .. } => of(reference),
        }
    }

    /// How far a node's clock may be from one that runs as the reference does and is never set, in ns.
    pub(crate) fn apart_ns(self, node: u32) -> u64 {
        match self {
            Self::RunFree => 0,
            Self::Promised { reference, steps_ns, .. } if node == reference => steps_ns,
            Self::Promised { within_ns, steps_ns, .. } => within_ns.saturating_add(steps_ns),
        }
    }
}

/// Whether a node wins each election that it takes part in, so that no servo steers its clock.
fn wins(plan: &Plan, bmca: &Bmca, best: u32) -> bool {
    let rank = |node: u32| {
        let own = bmca.clocks[node as usize];
        (own.priority1, own.class, own.accuracy, own.variance, own.priority2, node)
    };
    bmca.ports.iter().all(|port| rank(best) <= rank(plan.ports[*port as usize].node))
}

/// The greatest deviation of a node's oscillator from its nominal frequency in the run, parts of 10^12.
pub(crate) fn deviation(plan: &Plan, clocks: &Clocks, node: u32) -> i128 {
    let clock: &NodeClock = &clocks.nodes[node as usize];
    let changes = clock.changes.iter().map(|change| change.deviation_ppt);
    let own = changes.chain([clock.deviation_ppt]).map(|ppt| i128::from(ppt).abs()).max().unwrap_or(0);
    let wandered = clock.wander.map_or(0, |wander| {
        let steps = plan.duration_ns.saturating_add(plan.drain_ns) / wander.every_ns.max(1) + 1;
        i128::from(steps) * i128::from(wander.most_ppt)
    });
    let jumps = clocks.faults.iter().map(|fault| match fault {
        ClockFault::FrequencyJump { node: other, by_ppt, .. } if *other == node => i128::from(*by_ppt).abs(),
        _ => 0,
    });
    together(own + wandered, jumps.sum())
}

/// The deviation of a frequency that deviates by `other` from one that deviates by `one`, rounded up.
fn together(one: i128, other: i128) -> i128 {
    if one == 0 || other == 0 { one + other } else { one + other + one * other / WHOLE + 1 }
}

/// By how much the clock of a node runs faster than true time at most, with what its servo adds; parts of 10^12.
pub(crate) fn fastest(plan: &Plan, clocks: &Clocks, node: u32) -> i128 {
    let steered = clocks.gptp.as_ref().filter(|gptp| gptp.grandmaster != node);
    let most = steered.map_or(0, |gptp| gptp.servo.map_or(MOST_STEERED_PPB, |own| own.max_frequency_ppb));
    together(deviation(plan, clocks, node), i128::from(most) * 1_000)
}

/// A span of a clock in true time if the clock is fast by at most `most`, in parts of 10^12; rounded down.
pub(crate) fn shorter(ns: u64, most: i128) -> u64 {
    u64::try_from(i128::from(ns) * WHOLE / (WHOLE + most)).unwrap_or(ns)
}

/// A span of a clock in true time if the clock is slow by at most `most`, in parts of 10^12; rounded up.
fn longer(ns: u64, most: i128) -> u64 {
    let more = i128::from(ns) * most / (WHOLE - most).max(1);
    ns.saturating_add(u64::try_from(more).unwrap_or(u64::MAX)).saturating_add(u64::from(more > 0))
}

/// A rate by a clock that is fast by at most `most`, in parts of 10^12, in true time; rounded up.
pub(crate) fn faster(bps: u64, most: i128) -> u64 {
    u64::try_from((i128::from(bps) * (WHOLE + most) + WHOLE - 1) / WHOLE).unwrap_or(u64::MAX)
}

/// What a token bucket gains in a time, in octets; rounded up.
fn gained(bps: u64, ns: u64) -> u64 {
    u64::try_from((i128::from(bps) * i128::from(ns)).div_euclid(8_000_000_000) + 1).unwrap_or(u64::MAX)
}

/// The Plan with releases in true time: periods as short, and jitter as long, as any of the clocks makes them.
/// Sequence recovery remembers for as short a time.
pub(crate) fn in_true_time(plan: &Plan, known: Known) -> Plan {
    let Some(clocks) = &plan.clocks else { return plan.clone() };
    let most = known.deviation(plan, clocks);
    // An instant of a node's clock is so much before or behind that of the reference.
    let apart = |node: u32| known.apart_ns(node).saturating_mul(2);
    let furthest = (0..clocks.nodes.len() as u32).map(apart).max().unwrap_or(0);
    let adapted = |stream: &Stream| {
        let mut stream = stream.clone();
        // A talker whose clock is ahead when the run begins releases at once what is due.
        let ahead = u64::try_from(clocks.nodes[stream.talker as usize].offset_ns).unwrap_or(0);
        let due = ahead.saturating_sub(stream.start_ns);
        let late = due.saturating_add(apart(stream.talker));
        // An instant on a clock is a whole picosecond in true time: a nanosecond is enough for two of them.
        let later = |jitter_ns: u64| longer(jitter_ns.saturating_add(late), most).saturating_add(1);
        if let Pattern::Trace { gaps_ns, cycle_ns, .. } = &stream.pattern {
            let (period, jitter) = recorded(gaps_ns, *cycle_ns);
            let [period_ns, jitter_ns] = [period / 1_000, jitter.div_euclid(1_000) + 1].map(Ps::unsigned_abs);
            stream.pattern = Pattern::Periodic { period_ns, offset_ns: 0, jitter_ns };
        }
        match &mut stream.pattern {
            Pattern::Periodic { period_ns, jitter_ns, .. } => {
                *period_ns = shorter(*period_ns, most).max(1);
                // Answers are released some true time after their requests.
                if stream.answers.is_none() {
                    *jitter_ns = later(*jitter_ns);
                }
            }
            Pattern::TokenBucket { burst_octets, rate_bps } => {
                *rate_bps = faster(*rate_bps, most);
                *burst_octets = burst_octets.saturating_add(gained(*rate_bps, later(0)));
            }
            Pattern::Poisson { .. } | Pattern::Saturating { .. } | Pattern::Trace { .. } => {}
        }
        if let Some(recovery) = stream.redundancy.as_mut().and_then(|own| own.recovery.as_mut()) {
            recovery.reset_ns = shorter(recovery.reset_ns.saturating_sub(furthest), most);
        }
        stream
    };
    Plan { streams: plan.streams.iter().map(adapted).collect(), ..plan.clone() }
}

/// The longest true time between two instants that are a period apart on a talker's clock, from that period as
/// [`in_true_time`] makes it, rounded up; none if nothing is known of the clocks.
pub(crate) fn longest_period(plan: &Plan, shortest: Ps) -> Option<Ps> {
    let Some(clocks) = &plan.clocks else { return Some(shortest) };
    let deviates = Known::of(plan)?.deviation(plan, clocks);
    // The shortest period is rounded down to a nanosecond, and is that of the fastest clock.
    let longest = (i128::from(shortest) + 1_000) * (WHOLE + deviates) / (WHOLE - deviates).max(1) + 1;
    Ps::try_from(longest).ok()
}

/// The earliest instant in true time at which the clock of a talker shows `start_ns`.
pub(crate) fn earliest_start(plan: &Plan, start_ns: u64) -> Ps {
    let (Some(clocks), Some(known)) = (&plan.clocks, Known::of(plan)) else { return ps(start_ns) };
    let nodes = 0..clocks.nodes.len() as u32;
    let ahead = clocks.nodes.iter().map(|clock| clock.offset_ns.max(0).unsigned_abs()).max().unwrap_or(0);
    let apart = nodes.clone().map(|node| known.apart_ns(node)).max().unwrap_or(0);
    let most = nodes.map(|node| deviation(plan, clocks, node)).max().unwrap_or(0);
    ps(shorter(start_ns.saturating_sub(ahead.saturating_add(apart)), most))
}

/// The least and the greatest true time between two readings of a node's clock that are `span` apart.
pub(crate) fn in_true_time_of(plan: &Plan, node: u32, span: Ps) -> Span {
    let (Some(clocks), Some(known)) = (&plan.clocks, Known::of(plan)) else {
        return Span { least: span, most: span };
    };
    let deviates = match known {
        Known::RunFree => deviation(plan, clocks, node),
        Known::Promised { reference, .. } => deviation(plan, clocks, reference),
    };
    let apart = ps(known.apart_ns(node)).saturating_mul(2).saturating_add(ROUNDED);
    let fast = i128::from(span.saturating_sub(apart).max(0)) * WHOLE / (WHOLE + deviates);
    let slow = span.saturating_add(apart);
    let slow = i128::from(slow) + i128::from(slow) * deviates / (WHOLE - deviates).max(1) + 1;
    let [least, most] = [fast, slow].map(|span| Ps::try_from(span).unwrap_or(LONGEST));
    Span { least, most }
}

/// By how much true time differs at most, if a clock keeps its rate for `span` in place of one that is as it should be.
pub(crate) fn turns(plan: &Plan, node: u32, span: Ps) -> Ps {
    let Some(clocks) = &plan.clocks else { return 0 };
    let most = fastest(plan, clocks, node);
    Ps::try_from(2 * i128::from(span) * most / (WHOLE - most).max(1)).unwrap_or(LONGEST)
}

/// What stamps of two clocks add to a delay, in ps: least and greatest lead of the second clock over the first one at
/// any time of the run, and what the first clock gains during `delay`. Zero where what clocks show is not known.
///
/// `passing`: for how long at most a frame passes the link at each of the two. A clock may be steered or set meanwhile,
/// and a stamp may then be what the clock would have shown without that.
pub(crate) fn between_stamps(plan: &Plan, nodes: [u32; 2], passing: [Ps; 2], delay: Ps) -> (Ps, Ps) {
    let (Some(clocks), Some(known)) = (&plan.clocks, Known::of(plan)) else { return (0, 0) };
    let most = known.deviation(plan, clocks);
    let (least, greatest) = match known {
        Known::RunFree => leads(plan, clocks, nodes),
        Known::Promised { .. } => {
            let ends = nodes.iter().zip(passing).map(|(node, passing)| {
                let rates = fastest(plan, clocks, *node) + most;
                i128::from(known.apart_ns(*node)) * 1_000 + i128::from(passing) * rates / WHOLE + 1
            });
            let apart: i128 = ends.sum();
            (-apart, apart)
        }
    };
    let gains = i128::from(delay) * most / WHOLE + 2;
    let in_ps = |lead: i128| Ps::try_from(lead).unwrap_or(LONGEST);
    (in_ps(least - gains), in_ps(greatest + gains))
}

/// The least and the greatest lead of the second clock over the first one, where both run free; ps.
fn leads(plan: &Plan, clocks: &Clocks, nodes: [u32; 2]) -> (i128, i128) {
    let end = plan.duration_ns.saturating_add(plan.drain_ns);
    let pair = nodes.map(|node| &clocks.nodes[node as usize]);
    let changes = pair.iter().flat_map(|clock| clock.changes.iter().map(|change| change.at_ns));
    let leads = || {
        changes.clone().chain([0, end]).map(|at| shows(pair[1], at.min(end)) - shows(pair[0], at.min(end)))
    };
    let round = 1_000_000_000;
    let (least, greatest) = (leads().min().unwrap_or(0), leads().max().unwrap_or(0));
    (least.div_euclid(round), (greatest + round - 1).div_euclid(round))
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
