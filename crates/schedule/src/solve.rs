//! Places all streams of a problem: first fit in several orders, then ejecting streams to make room for others.

use crate::engine::Engine;
use crate::placement::{Placed, Refusal};
use crate::problem::{Problem, ProblemError};
use crate::shape::Shape;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{HashSet, VecDeque};

/// The effort of a search. Effort is counted, not timed, so that a problem always has the same schedule.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Effort {
    /// How many paths to try for each stream.
    pub paths: u32,
    /// Search steps for each stream after the first round, before streams without a place are given up.
    pub steps: u64,
    /// Seed of the random draws.
    pub seed: u64,
    /// Whether frames may wait behind others in one queue, for streams that have no other place.
    pub share: bool,
}

impl Default for Effort {
    fn default() -> Self {
        Self { paths: 4, steps: 200, seed: 1, share: false }
    }
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// The place of each stream; none if it has no place.
    pub placed: Vec<Option<Placed>>,
    /// The streams without a place, each with the reason.
    pub refused: Vec<(u32, Refusal)>,
    /// The streams of an earlier plan that have another place now, or none.
    pub moved: Vec<u32>,
    /// How many times a stream was ejected to make room.
    pub ejections: u64,
}

/// Places all streams of a problem, or as many as possible.
///
/// # Errors
/// When the problem does not pass [`Problem::check`].
pub fn solve(problem: Problem, effort: &Effort) -> Result<Outcome, ProblemError> {
    solve_keeping(problem, &[], effort)
}

/// Places all streams of a problem and keeps the places that an earlier plan gave to the first ones. Such a stream
/// moves only if its place is no longer possible, or if another stream would have no place.
///
/// # Errors
/// When the problem does not pass [`Problem::check`].
pub fn solve_keeping(
    problem: Problem,
    earlier: &[Option<Placed>],
    effort: &Effort,
) -> Result<Outcome, ProblemError> {
    problem.check()?;
    let mut engine = Engine::new(problem);
    // A stream that cannot keep its place gets a new one with the others.
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

/// Extra price of ejecting a stream that an earlier plan placed.
const KEPT: u32 = 1_000;

/// Places streams beside those that are placed already. Returns the streams without a place, each with the reason, and
/// the number of ejections.
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
            match engine.place_no_wait(number, effort.paths) {
                Ok(()) => {}
                Err(Refusal::NoRoom) => waiting.push(number),
                Err(reason) => refused.push((number, reason)),
            }
            if waiting.len() >= most {
                // This order is no better than the best one so far.
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
    waiting.retain(|number| engine.place(*number, effort.paths).is_err());
    let mut search = Search {
        draws: ChaCha8Rng::seed_from_u64(effort.seed),
        ejected: kept.iter().map(|placed| if placed.is_some() { KEPT } else { 0 }).collect(),
        paths: effort.paths,
        ejections: 0,
    };
    let end = engine.steps + effort.steps.saturating_mul(engine.problem().streams.len() as u64 + 100);
    let mut waiting: VecDeque<u32> = waiting.into();
    // Stop when no stream without a place has found one for many attempts in succession.
    let mut failures = 0;
    while engine.steps < end && failures < ATTEMPTS * waiting.len() {
        let Some(number) = waiting.pop_front() else { break };
        let (settled, left) = search.make_room(engine, number);
        failures = if settled { 0 } else { failures + 1 };
        waiting.extend(left);
    }
    waiting.extend(engine.take_out_left_alone());
    let mut waiting: Vec<u32> = waiting.into();
    if effort.share && !waiting.is_empty() {
        let never: HashSet<u32> = refused.iter().map(|(number, _)| *number).collect();
        waiting = share(engine, waiting, &kept, &never, effort.paths);
    }
    refused.extend(waiting.into_iter().map(|number| (number, Refusal::NoRoom)));
    refused.sort_unstable_by_key(|(number, _)| *number);
    (refused, search.ejections)
}

/// Places the remaining streams with frames that may wait behind others: beside the placed streams, or all streams
/// anew. Returns the streams without a place.
fn share(
    engine: &mut Engine,
    waiting: Vec<u32>,
    kept: &[Option<Placed>],
    never: &HashSet<u32>,
    paths: u32,
) -> Vec<u32> {
    let mut left = waiting;
    left.retain(|number| engine.place_behind(*number, paths).is_err());
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
            engine.place(*number, paths).is_err() && engine.place_behind(*number, paths).is_err()
        });
        if anew.len() < left.len() {
            left = anew;
        } else {
            engine.restore(before);
        }
    }
    left
}

/// Streams that must be released first.
fn by_release(problem: &Problem) -> Vec<u32> {
    sorted(problem, |number| {
        let stream = &problem.streams[*number as usize];
        (stream.latest_ns, stream.latest_ns + stream.deadline_ns, *number)
    })
}

/// Sort keys of a stream: whether its release window is narrow, its octets per period, its period.
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

/// Narrow release windows first, then short periods, then long frames.
fn by_period(problem: &Problem) -> Vec<u32> {
    sorted(problem, |number| first_of(problem, *number))
}

/// The order in which streams are placed first.
pub(crate) fn first_of(problem: &Problem, number: u32) -> impl Ord + use<> {
    let (bound, octets, period) = traits(problem, number);
    (Reverse(bound), period, Reverse(octets), number)
}

/// Streams that are hard to place first: narrow release windows, then long frames with short periods. A long frame
/// finds a gap less often than its share of the link suggests, so its length counts more than its period.
fn by_area(problem: &Problem) -> Vec<u32> {
    sorted(problem, |number| {
        let (bound, octets, period) = traits(problem, *number);
        (Reverse(bound), Reverse(octets.saturating_pow(3) / period), *number)
    })
}

/// Frames of similar length one after the other: they stay together over any number of hops.
fn by_size(problem: &Problem) -> Vec<u32> {
    sorted(problem, |number| {
        let (bound, octets, period) = traits(problem, *number);
        (Reverse(bound), Reverse(octets / 100), period, Reverse(octets), *number)
    })
}

struct Search {
    draws: ChaCha8Rng,
    /// How many times each stream was ejected.
    ejected: Vec<u32>,
    paths: u32,
    ejections: u64,
}

/// How many releases are tried when room is made for a stream.
const POINTS: usize = 24;
/// Failed attempts for each stream without a place before the search stops.
const ATTEMPTS: usize = 40;

impl Search {
    /// Places a stream at the release where it ejects the fewest streams, counting earlier ejections. Keeps the change
    /// if all ejected streams but at most one find another place, so the number of placed streams never falls.
    /// Returns whether one more stream is placed, and the stream that has no place now.
    fn make_room(&mut self, engine: &mut Engine, number: u32) -> (bool, Option<u32>) {
        let Some((placed, met)) = self.least(engine, number) else { return (false, Some(number)) };
        let gone: Vec<(u32, Placed)> =
            met.iter().filter_map(|other| Some((*other, engine.remove(*other)?))).collect();
        engine.put(number, placed);
        let mut left = None;
        for (at, (other, _)) in gone.iter().enumerate() {
            self.ejected[*other as usize] += 1;
            self.ejections += 1;
            if engine.place(*other, self.paths).is_ok() {
                continue;
            }
            if left.is_none() && gone.len() < SWAPPED {
                left = Some(*other);
                continue;
            }
            // Two or more ejected streams have no place: undo all.
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

    /// The release with the lowest price of the streams to eject.
    fn least(&mut self, engine: &mut Engine, number: u32) -> Option<(Placed, Vec<u32>)> {
        let attempt = self.draws.next_u32() % self.paths.max(1);
        let tree = engine.path(number, attempt)?;
        let stream = &engine.problem().streams[number as usize];
        let queue = stream.queue.unwrap_or(0);
        let shape = Shape::new(engine.problem(), stream, &tree, &[], &[]);
        engine.possible(stream, &shape).ok()?;
        let mut points = engine.candidates(number, &shape);
        engine.steps += points.len() as u64 / 4;
        while points.len() > POINTS {
            let gone = self.draws.next_u32() as usize % points.len();
            points.swap_remove(gone);
        }
        engine.steps += 2 * (POINTS * shape.uses.len()) as u64;
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

/// If fewer streams than this are ejected, one of them may stay without a place.
const SWAPPED: usize = 3;
