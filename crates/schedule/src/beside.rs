//! A schedule that streams join and leave, one change after the other, while all others stay.

use crate::engine::Engine;
use crate::gates::{GateList, gate_lists_of};
use crate::placement::Placed;
use crate::problem::{Problem, Stream};
use crate::solve::{Effort, first_of};

/// Streams with their places, as [`crate::solve_keeping`] would keep them.
#[derive(Debug)]
pub struct Resident {
    engine: Engine,
    /// Numbers of streams that left.
    free: Vec<u32>,
}

impl Resident {
    /// The schedule of a problem whose streams have these places; none if one cannot be kept.
    #[must_use]
    pub fn new(problem: Problem, placed: Vec<Placed>) -> Option<Self> {
        problem.check().ok()?;
        let mut engine = Engine::new(problem);
        for (number, placed) in (0..).zip(placed) {
            engine.keep(number, placed).ok()?;
        }
        Some(Self { engine, free: Vec::new() })
    }

    /// Adds a stream with its place, and returns its number; none if the place cannot be kept.
    pub fn add(&mut self, stream: Stream, placed: Placed) -> Option<u32> {
        let number = match self.free.pop() {
            Some(number) => self.engine.replace(number, stream),
            None => self.engine.add(stream),
        };
        let number = number.ok()?;
        self.engine.keep(number, placed).ok()?;
        Some(number)
    }

    /// Removes a stream.
    pub fn remove(&mut self, number: u32) {
        if self.engine.remove(number).is_some() {
            self.free.push(number);
        }
    }

    /// The places of further streams where no bridge lets their frames wait, beside all but those that `left`, and the
    /// gate lists of the links that are `wanted`, which at most the streams `near` pass; none if [`crate::solve_keeping`]
    /// has to find others. The schedule is as before afterwards.
    pub fn place(
        &mut self,
        new: Vec<Stream>,
        left: &[u32],
        near: &[u32],
        wanted: impl Fn(u32) -> bool,
    ) -> Option<(Vec<Placed>, Vec<GateList>)> {
        let gone = |number: &u32| Some((*number, self.engine.remove(*number)?));
        let out: Vec<(u32, Placed)> = left.iter().filter_map(gone).collect();
        let first = self.engine.placed().len() as u32;
        let known = new.into_iter().all(|stream| self.engine.add(stream).is_ok());
        let found = if known { self.placed(first, near, wanted) } else { None };
        self.engine.truncate(first);
        out.into_iter().for_each(|(number, placed)| self.engine.put(number, placed));
        found
    }

    fn placed(
        &mut self,
        first: u32,
        near: &[u32],
        wanted: impl Fn(u32) -> bool,
    ) -> Option<(Vec<Placed>, Vec<GateList>)> {
        let new = first..self.engine.placed().len() as u32;
        let mut order: Vec<u32> = new.clone().collect();
        order.sort_by_cached_key(|number| first_of(self.engine.problem(), *number));
        for number in order {
            self.engine.place_no_wait(number, Effort::default().paths).ok()?;
        }
        let placed = |number: u32| Some((number, self.engine.placed()[number as usize].as_ref()?));
        let all: Option<Vec<_>> = near.iter().copied().chain(new.clone()).map(placed).collect();
        let lists = gate_lists_of(self.engine.problem(), all?.into_iter(), wanted);
        let lists: Result<_, _> = lists.into_iter().collect();
        let places: Option<_> = new.map(|number| Some(placed(number)?.1.clone())).collect();
        Some((places?, lists.ok()?))
    }
}
