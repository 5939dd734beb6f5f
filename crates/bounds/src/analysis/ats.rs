//! ATS schedulers: frames that pass them keep the schedulers' rates, and the wait for a scheduler is no longer than
//! the longest wait in the previous queue.
//!
//! Le Boudec 2018 (arXiv 1801.08477); Mohammadpour et al., arXiv 1804.10608; Specht & Samii 2016. Derived in
//! `docs/concepts/bounds.md`.

use crate::curve::arrival::Stair;
use crate::curve::{Data, LONGEST, Ps, Rate, ps, ratio_up};
use crate::model::clocks::{WHOLE, earliest_start};
use crate::model::flow_hop::FlowHop;
use crate::model::ptp::is_message;
use crate::model::shaped::Shaped;
use crate::model::sizes::wire;
use crate::reason::Reason;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use tsn_plan::Plan;

/// What is added between two frames of a group so that no rounding counts, for each time by which they come more slowly.
const APART: i128 = 16;

/// By how much a flow exceeds the bucket of its scheduler.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Excess {
    /// By how much slower its frames have to come to keep the bucket, parts of 10^12; none if they never do.
    slower: Option<i128>,
    /// The longest wait if the scheduler delays no other flow; none without a limit.
    alone: Option<Ps>,
}

impl Excess {
    /// The smaller one of each, as both hold.
    fn or(self, other: Self) -> Self {
        let less = |a: Option<i128>, b: Option<i128>| a.into_iter().chain(b).min();
        let waits = [self, other].map(|own| own.alone.map(i128::from));
        let alone = less(waits[0], waits[1]).and_then(|wait| Ps::try_from(wait).ok());
        Self { slower: less(self.slower, other.slower), alone }
    }
}

/// A bucket as slow as it may be, and on clocks the time from the first frame until the end of the run: its oscillator may
/// be too slow for all of it.
struct Bucket {
    fills: Data,
    holds: Data,
    span: Option<Ps>,
}

impl Bucket {
    /// The excess of the flows that share the bucket; none if nothing limits that.
    fn excess(&self, flows: &[&FlowHop]) -> Option<Excess> {
        let single = if let [flow] = flows {
            let stairs: Vec<Stair> = flow.stairs()?.collect();
            let own = if let [stair] = stairs[..] { Some(stair) } else { None };
            own.into_iter().chain(flow.released()).filter_map(|stair| self.of_stair(stair)).reduce(Excess::or)
        } else {
            None
        };
        let all = flows.iter().try_fold((0, 0), |(rates, bursts): (Data, Data), flow| {
            let (rate, burst) = bucket_of(flow)?;
            Some((rates + Data::from(rate), bursts.checked_add(burst)?))
        });
        let all = all.map(|(rate, burst)| self.of_bucket(rate, burst));
        let mut found = single.into_iter().chain(all).reduce(Excess::or)?;
        // A scheduler delays frames that are larger than its bucket, and those behind them, for longer.
        let fits = |flow: &&FlowHop| flow.sizes.is_none_or(|sizes| wire(sizes.largest) <= self.holds);
        found.alone = found.alone.filter(|_| flows.iter().all(fits));
        Some(found)
    }

    /// The excess of at most `burst`, and `rate` times the time.
    fn of_bucket(&self, rate: Data, burst: Data) -> Excess {
        let (over, more) = (rate - self.fills, (burst - self.holds).max(0));
        let grows =
            if over > 0 { self.span.map(|span| over.saturating_mul(Data::from(span))) } else { Some(0) };
        Excess {
            slower: if more == 0 { self.parts(over, self.fills) } else { None },
            alone: grows.and_then(|grows| self.waits(more.checked_add(grows)?)),
        }
    }

    /// The excess of a staircase: the greatest one is at the first steps, or at the last one.
    fn of_stair(&self, own: Stair) -> Option<Excess> {
        let (period, jitter) = (Data::from(own.period), Data::from(own.jitter));
        let first = jitter / period;
        // After so many steps: what the bucket does not hold, and the time that they take.
        let after = |steps: Data| {
            let data = own.unit.checked_mul(steps.checked_add(1)?)?.checked_sub(self.holds)?;
            Some((data, (steps.checked_mul(period)? - jitter).max(0)))
        };
        let over = |(data, time): (Data, Data)| data.checked_sub(self.fills.checked_mul(time)?);
        let grows = over((own.unit, period))?;
        let (next, next_time) = after(first + 1)?;
        let slower = self.parts(over((next, next_time))?, self.fills.checked_mul(next_time)?);
        let slower = slower.zip(self.parts(grows, self.fills.checked_mul(period)?)).map(|(a, b)| a.max(b));
        let last = match self.span {
            None if grows > 0 => None,
            Some(span) if grows > 0 => Some((Data::from(span) + jitter) / period),
            _ => Some(first),
        };
        let waits = |steps: Data| self.waits(over(after(steps)?)?);
        let alone = last.and_then(|last| {
            [first, first + 1, last.max(first)]
                .into_iter()
                .try_fold(0, |most, steps| Some(waits(steps)?.max(most)))
        });
        Some(Excess { slower: slower.filter(|_| after(first).is_some_and(|(data, _)| data <= 0)), alone })
    }

    /// A part in 10^12, rounded up; none if it is not zero without clocks.
    fn parts(&self, over: Data, of: Data) -> Option<i128> {
        if over <= 0 { Some(0) } else { ratio_up(over, WHOLE, of).filter(|_| self.span.is_some()) }
    }

    /// The time in which the bucket gains so much.
    fn waits(&self, data: Data) -> Option<Ps> {
        if data <= 0 { Some(0) } else { Ps::try_from(ratio_up(data, 1, self.fills)?).ok() }
    }
}

/// A token bucket around a flow: its rate, and its burst.
fn bucket_of(flow: &FlowHop) -> Option<(Rate, Data)> {
    if let Some(own) = &flow.shaped {
        return Some((own.rate, own.burst));
    }
    flow.stairs()?.try_fold((0, 0), |(rate, burst): (Rate, Data), stair| {
        let own = Rate::try_from(ratio_up(stair.unit, 1, Data::from(stair.period.max(1)))?).ok()?;
        Some((rate.checked_add(own)?, burst.checked_add(stair.bucket(0)?)?))
    })
}

/// The schedulers that frames reach at the end of each hop's link; also of frames that end there.
pub(crate) struct Arriving {
    /// By hop; empty without any scheduler.
    schedulers: Vec<Option<Shaped>>,
    /// By scheduler group: the ports that its frames leave by before it.
    from: HashMap<(usize, u32), BTreeSet<usize>>,
    /// By hop, if schedulers count by oscillators: the time from the first frame of the flow until the end of the run.
    spans: Vec<Option<Ps>>,
}

impl Arriving {
    pub fn new(plan: &Plan, hops: &[FlowHop]) -> Self {
        let at_end = |hop: &FlowHop| {
            let ingress = plan.ports[hop.port].peer;
            // Filters do not match messages of PTP.
            let filtered = !is_message(&plan.streams[hop.stream]);
            Shaped::of(plan, ingress, hop.stream, plan.regenerated(ingress, hop.pcp)).filter(|_| filtered)
        };
        // Only filters have schedulers.
        if plan.policing.is_empty() {
            return Self { schedulers: Vec::new(), from: HashMap::new(), spans: Vec::new() };
        }
        let schedulers: Vec<Option<Shaped>> = hops.iter().map(at_end).collect();
        let mut from: HashMap<(usize, u32), BTreeSet<usize>> = HashMap::new();
        for (hop, shaped) in hops.iter().zip(&schedulers) {
            // Frames that are dropped before reach no scheduler.
            if let Some(shaped) = shaped.filter(|_| hop.sizes.is_some()) {
                from.entry(shaped.group).or_default().insert(hop.port);
            }
        }
        let run = ps(plan.duration_ns.saturating_add(plan.drain_ns));
        let span = |hop: &FlowHop| {
            plan.clocks.as_ref()?;
            let first = earliest_start(plan, plan.streams[hop.stream].start_ns);
            Some(if hop.babbles.is_empty() { run.saturating_sub(first).max(0) } else { run })
        };
        Self { schedulers, from, spans: hops.iter().map(span).collect() }
    }

    /// Whether frames reach a scheduler at the end of a hop's link.
    pub fn shapes(&self, hop: usize) -> bool {
        self.schedulers.get(hop).is_some_and(Option::is_some)
    }

    /// The longest time from the queue of some hops until frames are eligible in the group that all of them reach.
    fn eligible(
        &self,
        members: &[(usize, Shaped, Result<Ps, Reason>)],
        hops: &[FlowHop],
    ) -> Result<Ps, Reason> {
        let span = members.iter().filter_map(|(hop, ..)| self.spans[*hop]).max();
        let mut schedulers: BTreeMap<u32, (Shaped, Vec<&FlowHop>)> = BTreeMap::new();
        let (mut longest, mut frames) = (0, 0);
        for (hop, shaper, delay) in members {
            let hop = &hops[*hop];
            schedulers.entry(shaper.scheduler).or_insert((*shaper, Vec::new())).1.push(hop);
            frames += frames_within(hop, span.unwrap_or(0)).ok_or(Reason::Shaping)?;
            longest = delay.clone()?.max(longest);
        }
        let (mut slower, mut alone) = (Some(0), None);
        for (shaper, flows) in schedulers.values() {
            let bucket = Bucket { fills: Data::from(shaper.fills), holds: shaper.holds, span };
            let excess = bucket.excess(flows).ok_or(Reason::Shaping)?;
            slower = slower.zip(excess.slower).map(|(a, b): (i128, i128)| a.max(b));
            alone = excess.alone.filter(|_| schedulers.len() == 1);
        }
        let later = slower.and_then(|parts| ratio_up(parts, Data::from(span.unwrap_or(0)), WHOLE));
        let waits = later.into_iter().chain(alone.map(Data::from)).min().ok_or(Reason::Shaping)?;
        let times = slower.map_or(1, |parts| parts / WHOLE + 2);
        let rounded = if span.is_some() { frames.saturating_mul(times.saturating_mul(APART)) } else { 0 };
        let found = waits.checked_add(rounded).and_then(|waits| waits.checked_add(longest.into()));
        found
            .and_then(|found| Ps::try_from(found).ok())
            .filter(|found| *found <= LONGEST)
            .ok_or(Reason::TooLarge)
    }
}

/// How many frames of a flow may come within a time.
fn frames_within(hop: &FlowHop, span: Ps) -> Option<Data> {
    let smallest = wire(hop.sizes?.smallest);
    hop.stairs()?.try_fold(0, |all: Data, stair| all.checked_add(stair.bucket(span)? / smallest + 1))
}

/// The delays at one port, each with the wait for the next ATS scheduler, if all frames of the scheduler's group arrive in
/// one queue.
pub(crate) fn with_schedulers(
    delays: &mut [(usize, Result<Ps, Reason>)],
    hops: &[FlowHop],
    arriving: &Arriving,
) {
    if arriving.schedulers.is_empty() {
        return;
    }
    let own = delays.to_vec();
    for (hop, delay) in delays.iter_mut() {
        let Some(group) = arriving.schedulers[*hop].map(|shaped| shaped.group) else { continue };
        let members: Vec<_> = own
            .iter()
            .filter_map(|(other, delay)| {
                let shaper = arriving.schedulers[*other].filter(|shaper| shaper.group == group)?;
                hops[*other].sizes?;
                Some((*other, shaper, delay.clone()))
            })
            .collect();
        let apart = members.iter().any(|(other, ..)| hops[*other].class != hops[*hop].class);
        if delay.is_ok() {
            *delay = if apart || arriving.from[&group].len() > 1 {
                Err(Reason::Shaping)
            } else {
                arriving.eligible(&members, hops)
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1,000 units at 100 per ps are 10 ps; a bucket of 3,000 is 30 ps, which includes the first frame if all are
    /// equal.
    #[test]
    fn what_passes_a_scheduler_is_a_staircase() {
        let jitter = |burst, equal| {
            let own = Shaped {
                rate: 100,
                burst,
                fills: 100,
                holds: burst,
                rounded: 0,
                group: (0, 0),
                scheduler: 0,
            };
            let stair = own.stair(1_000, equal).unwrap();
            assert_eq!((stair.unit, stair.period), (1_000, 10));
            stair.jitter
        };
        assert_eq!((jitter(3_000, false), jitter(3_000, true)), (30, 20));
        assert_eq!((jitter(2_901, false), jitter(500, true)), (30, 0));
    }
}
