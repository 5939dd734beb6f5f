//! A search for offsets with long delays: how near to the bound of one flow a simulation comes.

use crate::common::{random::Everywhere, run};
use proptest::prelude::Rng;
use proptest::test_runner::TestRng;
use std::collections::HashMap;
use tsn_plan::{Pattern, Plan};

/// What a run shows of the frame of one flow that has the longest delay.
struct Seen {
    longest: i64,
    /// By port: when this frame came into its queue.
    passes: HashMap<u32, i64>,
    /// By stream and place of its route: when each of its frames came into the queue there.
    queued: HashMap<(usize, usize), HashMap<u64, i64>>,
}

fn seen(plan: &Plan, victim: usize) -> Option<Seen> {
    let mut plan = plan.clone();
    crate::watch::tap_everywhere(&mut plan);
    let (sightings, _) = run(&plan);
    let mut queued: HashMap<(usize, usize), HashMap<u64, i64>> = HashMap::new();
    let mut ends: Vec<(u64, i64)> = Vec::new();
    for one in &sightings {
        let (port, place) = Everywhere::place(one.tap);
        let (stream, t) = (one.stream as usize, one.t_ns?);
        let route = &plan.streams[stream].route;
        let arrives = |hop: &tsn_plan::Route| plan.ports[hop.port as usize].peer as usize == port;
        let node = &plan.nodes[plan.ports[port].node as usize];
        let (place, at) = match place {
            0 if route[0].port as usize == port => (0, t),
            3 => (route.iter().position(arrives)? + 1, t + node.processing_ns as i64),
            _ => continue,
        };
        if place < route.len() {
            queued.entry((stream, place)).or_default().insert(one.seq, at);
        } else if stream == victim {
            ends.push((one.seq, t));
        }
    }
    let begun = queued.get(&(victim, 0))?;
    let (longest, seq) = ends.iter().map(|(seq, end)| (end - begun[seq], *seq)).max()?;
    let route = plan.streams[victim].route.iter().enumerate();
    let passes = route.filter_map(|(place, hop)| Some((hop.port, *queued.get(&(victim, place))?.get(&seq)?)));
    Some(Seen { longest, passes: passes.collect(), queued })
}

impl Seen {
    /// When a frame should come into the queue of a port to delay the pursued frame, or one that may meet it later.
    fn target(&self, plan: &Plan, stream: usize, port: u32, victim: usize, rng: &mut TestRng) -> Option<i64> {
        let passes = self.passes.get(&port).filter(|_| stream != victim);
        if let Some(at) = passes {
            return Some(*at);
        }
        let here =
            |(own, place): &(usize, usize)| *own != stream && plan.streams[*own].route[*place].port == port;
        let others = self.queued.iter().filter(|(own, _)| here(own)).flat_map(|(_, all)| all.values());
        let end = self.passes.values().max()?;
        let mut near: Vec<(i64, i64)> = others.map(|at| ((at - end).abs(), *at)).collect();
        near.sort_unstable();
        near.truncate(4);
        let one = rng.next_u32() as usize % near.len().max(1);
        near.get(one).map(|(_, at)| *at)
    }
}

/// The longest delay of one flow that `steps` steps from these offsets find, in ns. In each step, one stream's frame moves
/// to just before, or after, one that it meets; what makes the delay less is taken back.
fn pursued(mut plan: Plan, victim: usize, steps: usize, rng: &mut TestRng) -> Option<i64> {
    let mut found = seen(&plan, victim)?;
    for _ in 0..steps {
        let stream = rng.next_u32() as usize % plan.streams.len();
        let route = &plan.streams[stream].route;
        let place = rng.next_u32() as usize % route.len();
        let early = if rng.next_u32().is_multiple_of(4) { -1 } else { 1 };
        let target = found.target(&plan, stream, route[place].port, victim, rng);
        let (Some(target), Some(own)) = (target, found.queued.get(&(stream, place))) else { continue };
        let by = own.values().map(|at| target - early - at).min_by_key(|by| (by.abs(), *by));
        let mut tried = plan.clone();
        let (Pattern::Periodic { period_ns, offset_ns, .. }, Some(by)) =
            (&mut tried.streams[stream].pattern, by)
        else {
            continue;
        };
        *offset_ns = (*offset_ns as i64 + by).rem_euclid(*period_ns as i64) as u64;
        if let Some(now) = seen(&tried, victim).filter(|now| now.longest >= found.longest) {
            (found, plan) = (now, tried);
        }
    }
    Some(found.longest)
}

/// What [`tightness`] compares.
pub const KINDS: [&str; 3] =
    ["bound by the sum of hops", "given releases by bound", "found releases by bound"];

/// One flow that was pursued.
pub struct Found {
    pub hops: usize,
    /// Those of [`KINDS`].
    pub ratios: [f64; 3],
}

/// Pursues one flow, from the slowest of some runs on; an error if a frame is beyond its bound.
pub fn tightness(
    runs: &[Plan],
    victim: usize,
    steps: usize,
    rng: &mut TestRng,
) -> Result<Option<Found>, String> {
    let flow = &tsn_bounds::bounds(&runs[0]).flows[victim];
    let sum: Option<i64> = flow.hops.iter().map(|hop| hop.upper_ps).sum();
    let begun = runs.iter().filter_map(|run| Some((seen(run, victim)?.longest, run)));
    let slowest = begun.max_by_key(|one| one.0);
    let (Some(bound), Some(sum), Some((longest, run))) = (flow.release_upper_ps, sum, slowest) else {
        return Ok(None);
    };
    let Some(found) = pursued(run.clone(), victim, steps, rng) else { return Ok(None) };
    crate::watch::within(found, flow.release_lower_ps, Some(bound))
        .map_err(|text| format!("{}: {text}\n{}", flow.stream, crate::draw::text(run)))?;
    let by_bound = |ns: i64| (ns * 1_000) as f64 / bound as f64;
    let ratios = [bound as f64 / sum as f64, by_bound(longest), by_bound(found)];
    Ok(Some(Found { hops: flow.hops.len(), ratios }))
}
