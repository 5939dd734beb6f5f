//! All streams of a problem: an order, first fit, and, where that is not enough, others make room.

use crate::engine::Engine;
use crate::placement::{Placed, Refusal};
use crate::problem::{Problem, ProblemError};
use crate::shape::Shape;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{HashSet, VecDeque};

/// How much to try. Counted, not timed: the same problem always gives the same schedule.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Effort {
    /// Ways per stream.
    pub ways: u32,
    /// Looks at links' lists per stream, beyond the first round, before what has found no room is given up.
    pub looks: u64,
    /// For the draws.
    pub seed: u64,
    /// Whether frames may wait behind others in one queue, where there is no place else.
    pub share: bool,
}

impl Default for Effort {
    fn default() -> Self {
        Self { ways: 4, looks: 200, seed: 1, share: false }
    }
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// By stream.
    pub placed: Vec<Option<Placed>>,
    /// Who was not placed, and why.
    pub refused: Vec<(u32, Refusal)>,
    /// Who was kept at first and is elsewhere now, or nowhere.
    pub moved: Vec<u32>,
    /// How often a stream was taken out again to make room.
    pub ejections: u64,
}

/// Places all streams, or as many as it can.
///
/// # Errors
/// When the problem is none.
pub fn solve(problem: Problem, effort: &Effort) -> Result<Outcome, ProblemError> {
    solve_keeping(problem, &[], effort)
}

/// The same, with what an earlier plan decided for the first streams: that stays, unless it cannot, or others
/// find no room without.
///
/// # Errors
/// When the problem is none.
pub fn solve_keeping(
    problem: Problem,
    earlier: &[Option<Placed>],
    effort: &Effort,
) -> Result<Outcome, ProblemError> {
    problem.check()?;
    let mut engine = Engine::new(problem);
    // What cannot be kept is placed anew with the others.
    let _ = engine.keep_all(earlier);
    let (refused, ejections) = place_all(&mut engine, effort);
    let placed = engine.placed().to_vec();
    let changed = |(number, before): (usize, &Option<Placed>)| {
        let now = placed.get(number)?.as_ref();
        let same = now.is_some_and(|now| before.as_ref().is_some_and(|before| before.same(now)));
        (before.is_some() && !same).then_some(number as u32)
    };
    let moved = earlier.iter().enumerate().filter_map(changed).collect();
    Ok(Outcome { placed, refused, moved, ejections })
}

fn put_all(engine: &mut Engine, placed: &[Option<Placed>]) {
    engine.clear();
    for (number, placed) in placed.iter().enumerate() {
        if let Some(placed) = placed {
            engine.put(number as u32, placed.clone());
        }
    }
}

/// What a kept stream's place costs beyond others'.
const KEPT: u32 = 1_000;

/// Places what it can beside what is placed already; gives who was not placed and why, and how often a stream was
/// taken out to make room.
pub(crate) fn place_all(engine: &mut Engine, effort: &Effort) -> (Vec<(u32, Refusal)>, u64) {
    let kept = engine.placed().to_vec();
    let fixed: HashSet<u32> = (0..kept.len()).filter(|n| kept[*n].is_some()).map(|n| n as u32).collect();
    let mut refused: Vec<(u32, Refusal)> = Vec::new();
    let mut waiting: Vec<u32> = Vec::new();
    let orders = [by_period, by_area, by_size];
    for (attempt, order) in orders.iter().enumerate() {
        let order = order(engine.problem());
        let before = (attempt > 0).then(|| {
            let all = (engine.taken(), std::mem::take(&mut refused), std::mem::take(&mut waiting));
            put_all(engine, &kept);
            all
        });
        let most = before.as_ref().map_or(usize::MAX, |(_, _, left)| left.len());
        for number in order.into_iter().filter(|number| !fixed.contains(number)) {
            match engine.place_no_wait(number, effort.ways) {
                Ok(()) => {}
                Err(Refusal::NoRoom) => waiting.push(number),
                Err(reason) => refused.push((number, reason)),
            }
            if waiting.len() >= most {
                // No better than what is known.
                break;
            }
        }
        if let Some((taken, known, left)) = before.filter(|_| waiting.len() >= most) {
            (refused, waiting) = (known, left);
            engine.restore(taken);
        }
        if waiting.is_empty() {
            break;
        }
    }
    waiting.retain(|number| engine.place(*number, effort.ways).is_err());
    let mut search = Search {
        draws: ChaCha8Rng::seed_from_u64(effort.seed),
        ejected: kept.iter().map(|placed| if placed.is_some() { KEPT } else { 0 }).collect(),
        ways: effort.ways,
        ejections: 0,
    };
    let end = engine.looks + effort.looks.saturating_mul(engine.problem().streams.len() as u64 + 100);
    let mut waiting: VecDeque<u32> = waiting.into();
    // In vain for each of those that wait, many times over: there will be no more.
    let mut in_vain = 0;
    while engine.looks < end && in_vain < TURNS * waiting.len() {
        let Some(number) = waiting.pop_front() else { break };
        let (settled, left) = search.make_room(engine, number);
        in_vain = if settled { 0 } else { in_vain + 1 };
        waiting.extend(left);
    }
    waiting.extend(engine.take_out_left_alone());
    let mut waiting: Vec<u32> = waiting.into();
    if effort.share && !waiting.is_empty() {
        let never: HashSet<u32> = refused.iter().map(|(number, _)| *number).collect();
        waiting = share(engine, waiting, &kept, &never, effort.ways);
    }
    refused.extend(waiting.into_iter().map(|number| (number, Refusal::NoRoom)));
    refused.sort_unstable_by_key(|(number, _)| *number);
    (refused, search.ejections)
}

/// Places who is left where frames may wait behind others: beside all who have a place, or all anew. Gives who is left.
fn share(
    engine: &mut Engine,
    waiting: Vec<u32>,
    kept: &[Option<Placed>],
    never: &HashSet<u32>,
    ways: u32,
) -> Vec<u32> {
    let mut left = waiting;
    left.retain(|number| engine.place_behind(*number, ways).is_err());
    for order in [by_release, by_period, by_size] {
        if left.is_empty() {
            break;
        }
        let before = engine.taken();
        put_all(engine, kept);
        engine.take_out_left_alone();
        let mut anew = order(engine.problem());
        anew.retain(|number| !never.contains(number) && engine.placed()[*number as usize].is_none());
        anew.retain(|number| {
            engine.place(*number, ways).is_err() && engine.place_behind(*number, ways).is_err()
        });
        if anew.len() < left.len() {
            left = anew;
        } else {
            engine.restore(before);
        }
    }
    left
}

/// Who has to be released first.
fn by_release(problem: &Problem) -> Vec<u32> {
    sorted(problem, |number| {
        let stream = &problem.streams[*number as usize];
        (stream.latest_ns, stream.latest_ns + stream.deadline_ns, *number)
    })
}

/// What one stream is, for orders: restricted in its release, octets, period.
fn traits(problem: &Problem, number: u32) -> (bool, u64, u64) {
    let stream = &problem.streams[number as usize];
    let octets: u64 = stream.frames.iter().map(|octets| u64::from(*octets)).sum();
    (2 * (stream.latest_ns - stream.earliest_ns) < stream.period_ns, octets, stream.period_ns.unsigned_abs())
}

fn sorted<K: Ord>(problem: &Problem, key: impl Fn(&u32) -> K) -> Vec<u32> {
    let mut order: Vec<u32> = (0..problem.streams.len() as u32).collect();
    order.sort_by_cached_key(key);
    order
}

/// Bound to a release first, then short periods, which later ones fill up, and long frames.
fn by_period(problem: &Problem) -> Vec<u32> {
    sorted(problem, |number| {
        let (bound, octets, period) = traits(problem, *number);
        (Reverse(bound), period, Reverse(octets), *number)
    })
}

/// Hard ones first: bound to a release, then long frames and short periods. A long frame finds a gap more seldom
/// than its share of the link says, so its length counts more than its period.
fn by_area(problem: &Problem) -> Vec<u32> {
    sorted(problem, |number| {
        let (bound, octets, period) = traits(problem, *number);
        (Reverse(bound), Reverse(octets.saturating_pow(3) / period), *number)
    })
}

/// Frames of much the same length side by side: they stay so over any number of hops.
fn by_size(problem: &Problem) -> Vec<u32> {
    sorted(problem, |number| {
        let (bound, octets, period) = traits(problem, *number);
        (Reverse(bound), Reverse(octets / 100), period, Reverse(octets), *number)
    })
}

struct Search {
    draws: ChaCha8Rng,
    /// How often each stream had to go.
    ejected: Vec<u32>,
    ways: u32,
    ejections: u64,
}

/// Points that are looked at when room is made.
const POINTS: usize = 24;
/// How often in vain for each that waits.
const TURNS: usize = 40;

impl Search {
    /// Places a stream where those in the way are few, and were seldom sent away before, if all of these but one
    /// find another place: never are fewer placed than before. Gives whether that one more is placed now, and who waits.
    fn make_room(&mut self, engine: &mut Engine, number: u32) -> (bool, Option<u32>) {
        let Some((placed, met)) = self.least(engine, number) else { return (false, Some(number)) };
        let gone: Vec<(u32, Placed)> =
            met.iter().filter_map(|other| Some((*other, engine.remove(*other)?))).collect();
        engine.put(number, placed);
        let mut left = None;
        for (at, (other, _)) in gone.iter().enumerate() {
            self.ejected[*other as usize] += 1;
            self.ejections += 1;
            if engine.place(*other, self.ways).is_ok() {
                continue;
            }
            if left.is_none() && gone.len() < SWAPPED {
                left = Some(*other);
                continue;
            }
            // Not worth it: all as before.
            for (other, _) in &gone[..at] {
                engine.remove(*other);
            }
            engine.remove(number);
            for (other, placed) in gone {
                engine.put(other, placed);
            }
            return (false, Some(number));
        }
        (left.is_none(), left)
    }

    /// The point where those in the way weigh least.
    fn least(&mut self, engine: &mut Engine, number: u32) -> Option<(Placed, Vec<u32>)> {
        let attempt = self.draws.next_u32() % self.ways.max(1);
        let tree = engine.way(number, attempt)?;
        let stream = &engine.problem().streams[number as usize];
        let queue = stream.queue.unwrap_or(0);
        let shape = Shape::new(engine.problem(), stream, &tree, &[], &[]);
        engine.possible(stream, &shape).ok()?;
        let mut points = engine.candidates(number, &shape);
        engine.looks += points.len() as u64 / 4;
        while points.len() > POINTS {
            let gone = self.draws.next_u32() as usize % points.len();
            points.swap_remove(gone);
        }
        engine.looks += 2 * (POINTS * shape.uses.len()) as u64;
        let mut best: Option<(u64, i64, Vec<u32>)> = None;
        for point in points {
            let mut met = Vec::new();
            engine.conflicts(number, &shape, point * 1_000, queue, |other| met.push(other));
            met.sort_unstable();
            met.dedup();
            let price = met
                .iter()
                .map(|other| (1 + u64::from(self.ejected[*other as usize])) * engine.weight(*other));
            let price = price.sum();
            if best.as_ref().is_none_or(|(least, ..)| price < *least) {
                best = Some((price, point, met));
            }
        }
        let (_, point, met) = best?;
        Some((engine.placed_by(&tree, &shape, queue, point * 1_000), met))
    }
}

/// With fewer than so many in the way, one of them may be left without a place instead.
const SWAPPED: usize = 3;
