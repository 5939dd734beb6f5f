//! Keeps what is placed; takes streams in and out, one at a time.

use crate::busy::Busy;
use crate::periods::{Periods, gcd};
use crate::problem::{Problem, Stream, Tree};
use crate::routes::{Routes, WHOLE};
use crate::shape::Shape;

/// What was decided for one stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// When it is released in its period, ns.
    pub offset_ns: i64,
    /// Its way.
    pub tree: Tree,
    /// Release to last bit in at the listener that is reached last, ps.
    pub delay_ps: i64,
}

/// Why a stream was not placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No way leads to a listener.
    Unreachable,
    /// Even in an empty network it takes longer than it may.
    Deadline {
        /// The smallest delay that was found, ps.
        smallest_ps: i64,
    },
    /// One link needs longer for it than its period is.
    Period {
        /// The link.
        link: u32,
        /// What it takes of it, ps.
        needs_ps: i64,
    },
    /// Others are in the way at every point of its release window.
    NoRoom,
}

/// Links, and when they are taken.
#[derive(Clone, Debug)]
pub struct Engine {
    problem: Problem,
    periods: Periods,
    /// By link and period.
    busy: Vec<Vec<Busy>>,
    routes: Routes,
    placed: Vec<Option<Placed>>,
}

impl Engine {
    /// An empty network for a problem that was checked.
    #[must_use]
    pub fn new(problem: Problem) -> Self {
        let periods = Periods::new(problem.streams.iter().map(|stream| stream.period_ns));
        let busy =
            problem.links.iter().map(|_| periods.all().iter().map(|p| Busy::new(*p)).collect()).collect();
        let placed = vec![None; problem.streams.len()];
        Self { routes: Routes::new(&problem), periods, busy, placed, problem }
    }

    /// The problem.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// By stream, what was decided so far.
    #[must_use]
    pub fn placed(&self) -> &[Option<Placed>] {
        &self.placed
    }

    /// One more stream, checked with [`Problem::check_stream`]; gives its number. It is not placed yet.
    pub fn add(&mut self, stream: Stream) -> u32 {
        if self.periods.find(stream.period_ns).is_none() {
            let periods = self.problem.streams.iter().chain([&stream]).map(|stream| stream.period_ns);
            self.periods = Periods::new(periods);
            for lists in &mut self.busy {
                *lists = self.periods.all().iter().map(|period| Busy::new(*period)).collect();
            }
            for number in 0..self.placed.len() as u32 {
                if self.placed[number as usize].is_some() {
                    self.take(number, true);
                }
            }
        }
        self.problem.streams.push(stream);
        self.placed.push(None);
        self.placed.len() as u32 - 1
    }

    /// Takes a placed stream out again.
    pub fn remove(&mut self, number: u32) -> Option<Placed> {
        self.placed.get(number as usize)?.as_ref()?;
        self.take(number, false);
        self.carry(number, -1);
        self.placed[number as usize].take()
    }

    /// Places a stream by a way and an offset that are known to fit, such as an earlier plan's.
    ///
    /// # Errors
    /// [`Refusal::NoRoom`] when they do not.
    pub fn keep(&mut self, number: u32, offset_ns: i64, tree: Tree) -> Result<(), Refusal> {
        let stream = &self.problem.streams[number as usize];
        let shape = Shape::new(&self.problem, stream, &tree);
        let mut meets = false;
        self.conflicts(number, &shape, offset_ns * 1_000, |_| meets = true);
        if meets {
            return Err(Refusal::NoRoom);
        }
        self.put(number, offset_ns, tree, shape.delay);
        Ok(())
    }

    /// Places a stream at the first point where all its links are free, by the first of `ways` ways that has one.
    ///
    /// # Errors
    /// Why not.
    pub fn place(&mut self, number: u32, ways: u32) -> Result<(), Refusal> {
        self.place_from(number, ways, None)
    }

    /// The same, with the search beginning at a point of the release window, and going round.
    pub(crate) fn place_from(&mut self, number: u32, ways: u32, from_ns: Option<i64>) -> Result<(), Refusal> {
        let mut refusal = Refusal::Unreachable;
        let mut last: Option<Tree> = None;
        for attempt in 0..ways.max(1) {
            let Some(tree) = self.way(number, attempt) else { break };
            if last.as_ref() == Some(&tree) {
                continue;
            }
            match self.try_tree(number, &tree, from_ns) {
                Ok((offset_ns, delay)) => {
                    self.put(number, offset_ns, tree, delay);
                    return Ok(());
                }
                // A longer way does not help against these.
                Err(Refusal::NoRoom) => refusal = Refusal::NoRoom,
                Err(other) if attempt == 0 => refusal = other,
                Err(_) => {}
            }
            if self.problem.streams[number as usize].tree.is_some() {
                break;
            }
            last = Some(tree);
        }
        Err(refusal)
    }

    pub(crate) fn way(&mut self, number: u32, attempt: u32) -> Option<Tree> {
        let stream = &self.problem.streams[number as usize];
        self.routes.tree(&self.problem, stream, attempt)
    }

    fn try_tree(&self, number: u32, tree: &Tree, from_ns: Option<i64>) -> Result<(i64, i64), Refusal> {
        let stream = &self.problem.streams[number as usize];
        let shape = Shape::new(&self.problem, stream, tree);
        self.possible(stream, &shape)?;
        let (earliest, latest) = (stream.earliest_ns * 1_000, stream.latest_ns * 1_000);
        let middle = from_ns.map_or(earliest, |ns| (ns * 1_000).clamp(earliest, latest));
        let found = self.first_fit(stream, &shape, middle, latest).or_else(|| {
            if middle > earliest { self.first_fit(stream, &shape, earliest, middle) } else { None }
        });
        found.map(|offset| (offset / 1_000, shape.delay)).ok_or(Refusal::NoRoom)
    }

    pub(crate) fn possible(&self, stream: &Stream, shape: &Shape) -> Result<(), Refusal> {
        if shape.delay > stream.deadline_ns * 1_000 {
            return Err(Refusal::Deadline { smallest_ps: shape.delay });
        }
        let period = stream.period_ns * 1_000;
        match shape.uses.iter().find(|part| part.len > period) {
            Some(part) => Err(Refusal::Period { link: part.link, needs_ps: part.len }),
            None => Ok(()),
        }
    }

    /// The first offset in `[from, to]` at which every link is free; ps.
    fn first_fit(&self, stream: &Stream, shape: &Shape, from: i64, to: i64) -> Option<i64> {
        let period = stream.period_ns * 1_000;
        let step = self.problem.granularity_ns * 1_000;
        let class = self.periods.find(stream.period_ns)?;
        let up = |point: i64| (point + step - 1).div_euclid(step) * step;
        let mut offset = up(from);
        let (mut free_in_a_row, mut place) = (0, 0);
        while free_in_a_row < shape.uses.len() {
            if offset > to {
                return None;
            }
            let part = &shape.uses[place];
            let at = (offset + part.at).rem_euclid(period);
            let free = self.busy[part.link as usize][class].free_from(at, part.len)?;
            if free > at {
                offset = up(offset + free - at);
                free_in_a_row = 0;
            } else {
                free_in_a_row += 1;
                place = (place + 1) % shape.uses.len();
            }
        }
        (offset <= to).then_some(offset)
    }

    /// Who would be met with this offset (ps); some more than once.
    pub(crate) fn conflicts(&self, number: u32, shape: &Shape, offset: i64, mut found: impl FnMut(u32)) {
        let stream = &self.problem.streams[number as usize];
        let period = stream.period_ns * 1_000;
        let Some(class) = self.periods.find(stream.period_ns) else { return };
        for part in &shape.uses {
            let at = (offset + part.at).rem_euclid(period);
            self.busy[part.link as usize][class].meets(at, part.len, &mut found);
        }
    }

    /// Offsets (ns) at which one of the stream's links has just become free.
    pub(crate) fn candidates(&self, number: u32, shape: &Shape) -> Vec<i64> {
        let stream = &self.problem.streams[number as usize];
        let period = stream.period_ns * 1_000;
        let step = self.problem.granularity_ns * 1_000;
        let Some(class) = self.periods.find(stream.period_ns) else { return Vec::new() };
        let mut offsets = vec![stream.earliest_ns];
        for part in &shape.uses {
            for end in self.busy[part.link as usize][class].ends() {
                let after = (end - part.at - stream.earliest_ns * 1_000).rem_euclid(period);
                let offset = stream.earliest_ns + (after + step - 1) / step * self.problem.granularity_ns;
                if offset <= stream.latest_ns {
                    offsets.push(offset);
                }
            }
        }
        offsets
    }

    pub(crate) fn put(&mut self, number: u32, offset_ns: i64, tree: Tree, delay_ps: i64) {
        self.placed[number as usize] = Some(Placed { offset_ns, tree, delay_ps });
        self.take(number, true);
        self.carry(number, 1);
    }

    /// Enters a placed stream into its links' lists, or strikes it out.
    fn take(&mut self, number: u32, enter: bool) {
        let stream = &self.problem.streams[number as usize];
        let Some(placed) = &self.placed[number as usize] else { return };
        let shape = Shape::new(&self.problem, stream, &placed.tree);
        let own = stream.period_ns * 1_000;
        for part in &shape.uses {
            let at = placed.offset_ns * 1_000 + part.at;
            for (list, period) in self.busy[part.link as usize].iter_mut().zip(self.periods.all()) {
                let common = gcd(own, *period);
                if enter {
                    list.insert(at, part.len, common, number);
                } else {
                    list.remove(at, part.len, common, number);
                }
            }
        }
    }

    fn carry(&mut self, number: u32, sign: i64) {
        let stream = &self.problem.streams[number as usize];
        let Some(placed) = &self.placed[number as usize] else { return };
        let shape = Shape::new(&self.problem, stream, &placed.tree);
        for part in &shape.uses {
            self.routes.load[part.link as usize] += sign * (part.len * WHOLE / (stream.period_ns * 1_000));
        }
    }
}
