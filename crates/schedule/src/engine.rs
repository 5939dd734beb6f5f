//! The schedule under construction: places streams in it and removes them, one at a time.

use crate::line::Line;
use crate::paths::{Routes, WHOLE};
use crate::periods::Periods;
use crate::placement::{Placed, Refusal};
use crate::problem::{Problem, ProblemError, Stream, Tree};
use crate::shape::Shape;

/// Whether frames of a stream may wait at bridges.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Fit {
    /// Every bridge forwards the frames at once (no-wait).
    NoWait,
    /// Frames may wait at bridges for a planned instant.
    Waiting,
}

/// A schedule under construction: the placed streams, and when they occupy each link.
#[derive(Clone, Debug)]
pub struct Engine {
    problem: Problem,
    periods: Periods,
    lines: Vec<Line>,
    routes: Routes,
    placed: Vec<Option<Placed>>,
    /// How many list entries were examined so far. [`crate::Effort`] is counted in these.
    pub(crate) steps: u64,
}

/// A copy of the engine's state, for [`Engine::restore`].
pub(crate) struct Taken {
    lines: Vec<Line>,
    load: Vec<i64>,
    placed: Vec<Option<Placed>>,
}

impl Engine {
    /// An engine without placed streams. The problem must have passed [`Problem::check`].
    #[must_use]
    pub fn new(mut problem: Problem) -> Self {
        // Room for streams that are added later, so that adding one does not copy all others.
        problem.streams.reserve(problem.streams.len() / 8 + 16);
        let periods = Periods::new(problem.streams.iter().map(|stream| stream.period_ns));
        let lines = problem.links.iter().map(|link| Line::new(periods.all(), link.queues)).collect();
        let mut placed = Vec::with_capacity(problem.streams.capacity());
        placed.resize(problem.streams.len(), None);
        Self { routes: Routes::new(&problem), periods, lines, placed, problem, steps: 0 }
    }

    /// The problem that the engine was made for, with all streams added since.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The decisions so far, by stream number; none where a stream has no place.
    #[must_use]
    pub fn placed(&self) -> &[Option<Placed>] {
        &self.placed
    }

    /// Adds a stream to the problem and returns its number. [`Self::place`] gives it a place.
    ///
    /// # Errors
    /// When the stream does not pass [`Problem::check_stream`], or its period has too little in common with others.
    pub fn add(&mut self, stream: Stream) -> Result<u32, ProblemError> {
        self.problem.check_stream(&stream).map_err(|problem| ProblemError {
            what: "stream",
            number: self.placed.len(),
            problem,
        })?;
        if self.periods.find(stream.period_ns).is_none() {
            let periods = self.problem.streams.iter().chain([&stream]).map(|stream| stream.period_ns);
            let periods = Periods::new(periods);
            crate::problem::check_periods(periods.all())?;
            self.periods = periods;
            for (line, link) in self.lines.iter_mut().zip(&self.problem.links) {
                *line = Line::new(self.periods.all(), link.queues);
            }
            for number in 0..self.placed.len() as u32 {
                let Some((placed, shape)) = self.shape_of(number) else { continue };
                let placed = placed.clone();
                self.take(number, &placed, &shape, true);
            }
        }
        self.problem.streams.push(stream);
        self.placed.push(None);
        Ok(self.placed.len() as u32 - 1)
    }

    /// Puts another stream where one has no place, and returns its number.
    ///
    /// # Errors
    /// As for [`Self::add`].
    pub(crate) fn replace(&mut self, number: u32, stream: Stream) -> Result<u32, ProblemError> {
        let last = self.add(stream)?;
        self.problem.streams.swap_remove(number as usize);
        self.placed.swap_remove(number as usize);
        debug_assert_eq!(last as usize, self.placed.len());
        Ok(number)
    }

    /// Removes the streams from a number on.
    pub(crate) fn truncate(&mut self, first: u32) {
        (first..self.placed.len() as u32).for_each(|number| drop(self.remove(number)));
        self.problem.streams.truncate(first as usize);
        self.placed.truncate(first as usize);
    }

    /// Removes a stream's place and returns it; the stream stays in the problem.
    pub fn remove(&mut self, number: u32) -> Option<Placed> {
        self.placed.get(number as usize)?;
        let (_, shape) = self.shape_of(number)?;
        let placed = self.placed[number as usize].take()?;
        self.take(number, &placed, &shape, false);
        self.carry(number, &shape, -1);
        Some(placed)
    }

    /// Removes the places of all streams.
    pub fn clear(&mut self) {
        for (line, link) in self.lines.iter_mut().zip(&self.problem.links) {
            *line = Line::new(self.periods.all(), link.queues);
        }
        self.routes.load.fill(0);
        self.placed.fill(None);
    }

    /// Saves all places, for [`Self::restore`].
    pub(crate) fn taken(&self) -> Taken {
        Taken { lines: self.lines.clone(), load: self.routes.load.clone(), placed: self.placed.clone() }
    }

    /// Restores the places that [`Self::taken`] saved.
    pub(crate) fn restore(&mut self, taken: Taken) {
        (self.lines, self.routes.load, self.placed) = (taken.lines, taken.load, taken.placed);
    }

    /// Gives a stream the place that it had in an earlier plan.
    ///
    /// # Errors
    /// [`Refusal::NoRoom`] when other streams occupy the place, [`Refusal::Deadline`] when the place would miss the
    /// stream's deadline of today, [`Refusal::Changed`] when path, times or release no longer suit the stream.
    pub fn keep(&mut self, number: u32, placed: Placed) -> Result<(), Refusal> {
        let Some(stream) = self.problem.streams.get(number as usize) else { return Err(Refusal::Changed) };
        let released = (stream.earliest_ns..=stream.latest_ns).contains(&placed.offset_ns);
        let tree_is_free = stream.tree.as_ref().is_none_or(|tree| *tree == placed.tree);
        let on_grid = placed.offset_ns % self.problem.granularity_ns == 0;
        if !released || !on_grid || !tree_is_free || self.problem.check_tree(stream, &placed.tree).is_err() {
            return Err(Refusal::Changed);
        }
        let shape = Shape::new(&self.problem, stream, &placed.tree, &placed.starts_ps, &placed.behind);
        let given = |link: u32| !self.problem.links[link as usize].limits.waiting;
        let waits = |place: usize| shape.uses[place].held > 0 || shape.behind.contains(&(place as u32));
        if (0..shape.uses.len()).any(|place| waits(place) && given(shape.uses[place].link)) {
            return Err(Refusal::Changed);
        }
        self.possible(stream, &shape)?;
        let kept = self.placed_by(&placed.tree, &shape, placed.queue, placed.offset_ns * 1_000);
        if !kept.same(&placed) {
            return Err(Refusal::Changed);
        }
        if self.placed[number as usize].is_some() {
            return Err(Refusal::Changed);
        }
        let (begun, mut meets) = (placed.offset_ns * 1_000, !shape.behind.is_empty());
        self.conflicts(number, &shape, begun, placed.queue, |_| meets = true);
        if meets && !self.fits_behind(number, &shape, begun, placed.queue) {
            return Err(Refusal::NoRoom);
        }
        self.enter(number, kept, &shape);
        Ok(())
    }

    /// Places a stream on the first of up to `paths` paths that has room, at the first instant when all its links
    /// are free.
    ///
    /// # Errors
    /// The reason why the stream has no place.
    pub fn place(&mut self, number: u32, paths: u32) -> Result<(), Refusal> {
        self.place_by(number, paths, &[Fit::NoWait, Fit::Waiting])
    }

    /// Places a stream like [`Self::place`], but only where every bridge forwards its frames at once.
    ///
    /// # Errors
    /// The reason why the stream has no place.
    pub fn place_no_wait(&mut self, number: u32, paths: u32) -> Result<(), Refusal> {
        self.place_by(number, paths, &[Fit::NoWait])
    }

    fn place_by(&mut self, number: u32, paths: u32, fits: &[Fit]) -> Result<(), Refusal> {
        let mut refusal = Refusal::Unreachable;
        let copies = self.problem.streams[number as usize].copies > 1;
        // Member streams may not wait: a member stream that waits would leave in the window of another one.
        for fit in fits.iter().filter(|fit| !copies || **fit == Fit::NoWait) {
            let mut last: Option<Tree> = None;
            for attempt in 0..paths.max(1) {
                let Some(tree) = self.path(number, attempt) else { break };
                if last.as_ref() == Some(&tree) {
                    continue;
                }
                match self.try_tree(number, &tree, *fit) {
                    Ok(placed) => {
                        self.put(number, placed);
                        return Ok(());
                    }
                    // If any path has no room, this is the reported refusal: ejecting other streams may help.
                    Err(Refusal::NoRoom) => refusal = Refusal::NoRoom,
                    Err(other) if attempt == 0 && *fit == Fit::NoWait => refusal = other,
                    Err(_) => {}
                }
                let stream = &self.problem.streams[number as usize];
                if stream.tree.is_some() || stream.copies > 1 {
                    break;
                }
                last = Some(tree);
            }
            if refusal != Refusal::NoRoom {
                break;
            }
        }
        Err(refusal)
    }

    pub(crate) fn path(&mut self, number: u32, attempt: u32) -> Option<Tree> {
        let stream = &self.problem.streams[number as usize];
        self.routes.tree(&self.problem, stream, attempt)
    }

    fn try_tree(&mut self, number: u32, tree: &Tree, fit: Fit) -> Result<Placed, Refusal> {
        let stream = &self.problem.streams[number as usize];
        let shape = Shape::new(&self.problem, stream, tree, &[], &[]);
        self.possible(stream, &shape)?;
        let (earliest, latest) = (stream.earliest_ns * 1_000, stream.latest_ns * 1_000);
        let mut steps = 0;
        let mut found = None;
        for queue in self.queues_of(number, tree) {
            let one = match fit {
                Fit::NoWait => {
                    let period = stream.period_ns * 1_000;
                    let aligned = self.routes.aligned(&self.problem, &shape.uses) - earliest;
                    let middle = earliest + aligned.rem_euclid(period);
                    let mut within = |from, to| self.first_fit(stream, &shape, queue, from, to, &mut steps);
                    within(middle, latest).or_else(|| within(earliest, latest.min(middle)))
                }
                Fit::Waiting => None,
            };
            let one = one.map(|offset| self.placed_by(tree, &shape, queue, offset)).or_else(|| {
                if fit == Fit::NoWait {
                    return None;
                }
                let (offset, shape) = self.fit_waiting(stream, tree, queue, earliest, &mut steps)?;
                Some(self.placed_by(tree, &shape, queue, offset))
            });
            if one.is_some() {
                found = one;
                break;
            }
        }
        self.steps += steps;
        found.ok_or(Refusal::NoRoom)
    }

    /// The queues that a stream may use on every link of a path.
    pub(crate) fn queues_of(&self, number: u32, tree: &Tree) -> std::ops::Range<u8> {
        let links = tree.iter().map(|entry| self.problem.links[entry.link as usize].queues);
        let queues = links.min().unwrap_or(1);
        let own = self.problem.streams[number as usize].queue;
        own.map_or(0..queues, |queue| queue.min(queues - 1)..(queue + 1).min(queues))
    }

    pub(crate) fn placed_by(&self, tree: &Tree, shape: &Shape, queue: u8, offset: i64) -> Placed {
        let margin = |link: u32| self.problem.links[link as usize].margin_ps;
        Placed {
            offset_ns: offset / 1_000,
            tree: tree.clone(),
            starts_ps: shape.uses.iter().map(|part| part.at + margin(part.link)).collect(),
            queue,
            behind: shape.behind.clone(),
            delay_ps: shape.delay,
        }
    }

    /// How hard a stream is to place elsewhere: its releases within the longest period.
    pub(crate) fn weight(&self, number: u32) -> u64 {
        let longest = self.periods.all().last().copied().unwrap_or(1);
        (longest / (self.problem.streams[number as usize].period_ns * 1_000)).max(1).unsigned_abs()
    }

    pub(crate) fn class(&self, stream: &Stream) -> Option<usize> {
        self.periods.find(stream.period_ns)
    }

    pub(crate) fn line(&self, link: u32) -> &Line {
        &self.lines[link as usize]
    }

    /// The next multiple of the problem's granularity, ps.
    pub(crate) fn up(&self, point: i64) -> i64 {
        let step = self.problem.granularity_ns * 1_000;
        (point + step - 1).div_euclid(step) * step
    }

    pub(crate) fn possible(&self, stream: &Stream, shape: &Shape) -> Result<(), Refusal> {
        let octets = stream.frames.iter().max().copied().unwrap_or(0);
        let most = |link: u32| self.problem.links[link as usize].limits.longest_frame;
        if let Some(part) = shape.uses.iter().find(|part| most(part.link) < octets) {
            return Err(Refusal::Frame { link: part.link, octets, most: most(part.link) });
        }
        let delay = shape.delay + shape.late;
        if delay > stream.deadline_ns * 1_000 {
            return Err(Refusal::Deadline { smallest_ps: delay });
        }
        if stream.jitter_ns.is_some_and(|limit| shape.jitter() > limit * 1_000) {
            let spread_ps = shape.spread + shape.early;
            return Err(Refusal::Jitter { spread_ps, margins_ps: 2 * shape.late });
        }
        let period = stream.period_ns * 1_000;
        match shape.uses.iter().find(|part| part.len > period) {
            Some(part) => Err(Refusal::Period { link: part.link, needs_ps: part.len }),
            None => Ok(()),
        }
    }

    /// The first release (ps) in `[from, to]` at which every link is free for frames that do not wait.
    fn first_fit(
        &self,
        stream: &Stream,
        shape: &Shape,
        queue: u8,
        from: i64,
        to: i64,
        steps: &mut u64,
    ) -> Option<i64> {
        let class = self.class(stream)?;
        let mut offset = self.up(from);
        let (mut free_in_a_row, mut place) = (0, 0);
        while free_in_a_row < shape.uses.len() {
            if offset > to {
                return None;
            }
            *steps += 1;
            let part = &shape.uses[place];
            let line = self.line(part.link);
            let mut late = line.wire_free_in(class, offset + part.at, part.len)?;
            if late == 0 && self.problem.links[part.link as usize].queues > 1 {
                late = line.queue_free_in(class, queue, offset + part.at, part.len)?;
            }
            if late > 0 {
                offset = self.up(offset + late);
                free_in_a_row = 0;
            } else {
                free_in_a_row += 1;
                place = (place + 1) % shape.uses.len();
            }
        }
        (offset <= to).then_some(offset)
    }

    /// Calls `found` with the streams that a release at `offset` (ps) would collide with; some of them repeatedly.
    pub(crate) fn conflicts(
        &self,
        number: u32,
        shape: &Shape,
        offset: i64,
        queue: u8,
        mut found: impl FnMut(u32),
    ) {
        let Some(class) = self.class(&self.problem.streams[number as usize]) else { return };
        for part in &shape.uses {
            self.line(part.link).meets(class, part, offset, queue, &mut found);
        }
    }

    /// Releases (ns) at which one of the stream's links has just become free.
    pub(crate) fn candidates(&self, number: u32, shape: &Shape) -> Vec<i64> {
        let stream = &self.problem.streams[number as usize];
        let period = stream.period_ns * 1_000;
        let Some(class) = self.class(stream) else { return Vec::new() };
        let first = self.up(stream.earliest_ns * 1_000) / 1_000;
        let mut offsets = if first <= stream.latest_ns { vec![first] } else { Vec::new() };
        for part in &shape.uses {
            for end in self.line(part.link).ends(class) {
                let after = (end - part.at - stream.earliest_ns * 1_000).rem_euclid(period);
                let offset = self.up(stream.earliest_ns * 1_000 + after) / 1_000;
                if offset <= stream.latest_ns {
                    offsets.push(offset);
                }
            }
        }
        offsets
    }

    pub(crate) fn put(&mut self, number: u32, placed: Placed) {
        let stream = &self.problem.streams[number as usize];
        let shape = Shape::new(&self.problem, stream, &placed.tree, &placed.starts_ps, &placed.behind);
        self.enter(number, placed, &shape);
    }

    /// Gives a stream a place with this shape.
    fn enter(&mut self, number: u32, placed: Placed, shape: &Shape) {
        self.take(number, &placed, shape, true);
        self.carry(number, shape, 1);
        self.placed[number as usize] = Some(placed);
    }

    pub(crate) fn shape_of(&self, number: u32) -> Option<(&Placed, Shape)> {
        let placed = self.placed[number as usize].as_ref()?;
        let stream = &self.problem.streams[number as usize];
        Some((placed, Shape::new(&self.problem, stream, &placed.tree, &placed.starts_ps, &placed.behind)))
    }

    /// Enters a placed stream into the lists of its links, or removes it from them.
    fn take(&mut self, number: u32, placed: &Placed, shape: &Shape, enter: bool) {
        let own = self.problem.streams[number as usize].period_ns * 1_000;
        let (begun, queue) = (placed.offset_ns * 1_000, placed.queue);
        for part in &shape.uses {
            self.lines[part.link as usize].take(part, begun, own, queue, number, enter);
        }
    }

    fn carry(&mut self, number: u32, shape: &Shape, sign: i64) {
        let own = self.problem.streams[number as usize].period_ns * 1_000;
        for part in &shape.uses {
            self.routes.load[part.link as usize] += sign * (part.len * WHOLE / own);
        }
    }
}
