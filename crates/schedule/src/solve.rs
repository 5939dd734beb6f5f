//! All streams of a problem: an order, first fit, and, where that is not enough, others make room.

use crate::engine::{Engine, Placed, Refusal};
use crate::problem::{Problem, ProblemError};
use crate::shape::Shape;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::collections::VecDeque;

/// How much to try. Counted, not timed: the same problem always gives the same schedule.
#[derive(Copy, Clone, Debug)]
pub struct Effort {
    /// Ways per stream.
    pub ways: u32,
    /// Looks at links' lists per stream, beyond the first round, before what has found no room is given up.
    pub looks: u64,
    /// For the draws.
    pub seed: u64,
}

impl Default for Effort {
    fn default() -> Self {
        Self { ways: 4, looks: 1_000, seed: 1 }
    }
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// By stream.
    pub placed: Vec<Option<Placed>>,
    /// Who was not placed, and why.
    pub refused: Vec<(u32, Refusal)>,
    /// How often a stream was taken out again to make room.
    pub ejections: u64,
}

/// Places all streams, or as many as it can.
///
/// # Errors
/// When the problem is none.
pub fn solve(problem: Problem, effort: &Effort) -> Result<Outcome, ProblemError> {
    problem.check()?;
    let mut engine = Engine::new(problem);
    let (refused, ejections) = place_all(&mut engine, effort);
    Ok(Outcome { placed: engine.placed().to_vec(), refused, ejections })
}

pub(crate) fn place_all(engine: &mut Engine, effort: &Effort) -> (Vec<(u32, Refusal)>, u64) {
    let mut refused = Vec::new();
    let mut waiting = VecDeque::new();
    for number in order(engine.problem()) {
        match engine.place(number, effort.ways) {
            Ok(()) => {}
            Err(Refusal::NoRoom) => waiting.push_back(number),
            Err(reason) => refused.push((number, reason)),
        }
    }
    let mut search = Search {
        draws: ChaCha8Rng::seed_from_u64(effort.seed),
        ejected: vec![0; engine.problem().streams.len()],
        ejections: 0,
    };
    let first = engine.looks;
    let budget = effort.looks.saturating_mul(engine.problem().streams.len() as u64 + 100);
    while let Some(number) = waiting.pop_front() {
        if engine.place(number, effort.ways).is_ok() {
            continue;
        }
        if engine.looks - first > budget {
            refused.push((number, Refusal::NoRoom));
            continue;
        }
        match search.make_room(engine, number) {
            Some(out) => waiting.extend(out),
            None => refused.push((number, Refusal::NoRoom)),
        }
    }
    (refused, search.ejections)
}

/// Hard ones first: little slack, then short periods, then much to send.
fn order(problem: &Problem) -> Vec<u32> {
    let mut order: Vec<u32> = (0..problem.streams.len() as u32).collect();
    let key = |number: &u32| {
        let stream = &problem.streams[*number as usize];
        let octets: u64 = stream.frames.iter().map(|octets| u64::from(*octets)).sum();
        let window = stream.latest_ns - stream.earliest_ns;
        (window, stream.period_ns, std::cmp::Reverse(octets))
    };
    order.sort_by_key(key);
    order
}

struct Search {
    draws: ChaCha8Rng,
    /// How often each stream had to go.
    ejected: Vec<u32>,
    ejections: u64,
}

/// Points that are looked at when room is made.
const POINTS: usize = 48;

impl Search {
    /// Places a stream where those in the way are few, and were seldom sent away before; gives who had to go.
    fn make_room(&mut self, engine: &mut Engine, number: u32) -> Option<Vec<u32>> {
        let attempt = self.draws.next_u32() % 4;
        let tree = engine.way(number, attempt)?;
        let stream = &engine.problem().streams[number as usize];
        let shape = Shape::new(engine.problem(), stream, &tree, &[]);
        engine.possible(stream, &shape).ok()?;
        let mut points = engine.candidates(number, &shape);
        while points.len() > POINTS {
            let gone = self.draws.next_u32() as usize % points.len();
            points.swap_remove(gone);
        }
        let mut best: Option<(u64, i64, Vec<u32>)> = None;
        for point in points {
            let mut met = Vec::new();
            engine.looks += 2 * shape.uses.len() as u64;
            engine.conflicts(number, &shape, point * 1_000, 0, |other| met.push(other));
            met.sort_unstable();
            met.dedup();
            let price = met.iter().map(|other| 1 + u64::from(self.ejected[*other as usize])).sum();
            if best.as_ref().is_none_or(|(least, ..)| price < *least) {
                best = Some((price, point, met));
            }
        }
        let (_, point, met) = best?;
        for other in &met {
            engine.remove(*other);
            self.ejected[*other as usize] += 1;
            self.ejections += 1;
        }
        let placed = engine.placed_by(&tree, &shape, 0, point * 1_000);
        engine.put(number, placed);
        Some(met)
    }
}
