//! Frames that wait at an open gate behind other frames of the same queue.
//!
//! IEEE 802.1Q-2022, 8.6.6: a queue is first in, first out. A frame may wait behind another frame where their order is
//! certain, also with clock errors and missing frames. The frame ahead may be missing, because it was lost or because
//! its talker has not begun; then the waiting frame leaves at once. So the schedule keeps the link free from the
//! frame's arrival on, and the frame may be early by the same time on every following link, until a closed gate
//! holds it.

use crate::engine::Engine;
use crate::periods::gcd;
use crate::placement::{Placed, Refusal};
use crate::problem::{Stream, TreeEntry};
use crate::shape::{Shape, Use};

/// The search for one release gives up after this many steps.
const STEPS: u32 = 400;

/// The use that one stream makes of a link, with the stream's release (ps).
#[derive(Copy, Clone)]
struct PlacedUse<'a> {
    part: &'a Use,
    begun: i64,
    period: i64,
    queue: u8,
    /// Whether some of its frames are eliminated, so that no frame can count on waiting behind them.
    copies: bool,
}

/// The effect of a placed stream on a stream that is to be placed, ps.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Stand {
    /// No effect: the two do not meet, or the placed one is ahead in the queue and leaves in time.
    Clear,
    /// The placed stream is ahead in the queue: no first bit out before this instant.
    From(i64),
    /// The two collide; a release that is later by this may avoid it.
    Later(i64),
}

impl PlacedUse<'_> {
    /// The earliest arrival of the first frame; the link is kept free from then on.
    fn comes(&self) -> i64 {
        self.begun + self.part.begins()
    }

    fn starts(&self, margin: i64) -> i64 {
        self.begun + self.part.at + margin
    }
}

/// The effect of the placed stream `other` on `own` on one link.
fn stand(own: PlacedUse<'_>, other: PlacedUse<'_>, queues: u8, margin: i64, at_once: bool) -> Stand {
    let common = gcd(own.period, other.period);
    let same_queue = own.queue.min(queues - 1) == other.queue.min(queues - 1);
    // Streams of different queues share only the wire.
    let held = |part: &Use| if same_queue { part.held } else { 0 };
    let (from, until) = (own.comes() - held(own.part), own.comes() + own.part.whole());
    let (begin, end) = (other.comes() - held(other.part), other.comes() + other.part.whole());
    let may_share = same_queue && !at_once && !own.copies && !other.copies && own.part.held == 0;
    // The placed stream has a frame in each period of the other.
    let always = common == other.period;
    let mut moved = ((from - end).div_euclid(common) + 1) * common;
    let mut found = Stand::Clear;
    while begin + moved < until {
        let past = Stand::Later(end + moved - from);
        if !may_share {
            return past;
        }
        let mut late = other.begun + other.part.comes[1] + margin + moved + 1;
        if other.part.held > 0 {
            late = late.max(other.starts(margin) + moved);
        }
        let gone = other.begun + other.part.at + other.part.len - margin + moved;
        if own.comes() < late {
            return if always { Stand::Later(late - own.comes()) } else { past };
        }
        if own.starts(margin) < gone {
            if !always {
                return past;
            }
            found = match found {
                Stand::From(at) => Stand::From(at.max(gone)),
                _ => Stand::From(gone),
            };
        }
        moved += common;
    }
    found
}

impl Engine {
    /// The first release from `from` (ps) on with which frames leave at once or wait behind others in their queue.
    pub(crate) fn fit_behind(
        &self,
        number: u32,
        tree: &[TreeEntry],
        queue: u8,
        steps: &mut u64,
    ) -> Option<(i64, Shape)> {
        let stream = &self.problem().streams[number as usize];
        let latest = stream.latest_ns * 1_000;
        let mut release = self.up(stream.earliest_ns * 1_000);
        // The earliest first bit out at each entry; as the release, it is an absolute instant.
        let mut floors = vec![i64::MIN; tree.len()];
        let mut behind: Vec<u32> = Vec::new();
        for _ in 0..STEPS {
            if release > latest {
                return None;
            }
            *steps += 4 * tree.len() as u64;
            let relative: Vec<i64> = floors.iter().map(|floor| floor.saturating_sub(release)).collect();
            let shape = Shape::new(self.problem(), stream, tree, &relative, &behind);
            let late = match self.obstacle(number, &shape, release, queue) {
                Some((place, Stand::From(at))) => {
                    floors[place] = at;
                    behind.push(place as u32);
                    continue;
                }
                Some((_, Stand::Later(by))) => by,
                _ => match too_much(stream, &shape) {
                    0 => return Some((release, shape)),
                    // A frame that waits on its path can wait at the talker instead, which shortens its delay.
                    much if !behind.is_empty() => much,
                    _ => return None,
                },
            };
            release = self.up(release + late);
            floors.fill(i64::MIN);
            behind.clear();
        }
        None
    }

    /// The first entry at which a placed stream collides with this one or is ahead of it.
    fn obstacle(&self, number: u32, shape: &Shape, begun: i64, queue: u8) -> Option<(usize, Stand)> {
        shape.uses.iter().enumerate().find_map(|(place, part)| {
            let mut worst = Stand::Clear;
            for other in self.met(number, part, begun, queue) {
                match (self.stand(number, part, begun, queue, other), worst) {
                    (Stand::Later(by), Stand::Later(most)) => worst = Stand::Later(by.max(most)),
                    (Stand::Later(by), _) => worst = Stand::Later(by),
                    (Stand::From(at), Stand::From(most)) => worst = Stand::From(at.max(most)),
                    (Stand::From(at), Stand::Clear) => worst = Stand::From(at),
                    _ => {}
                }
            }
            (worst != Stand::Clear).then_some((place, worst))
        })
    }

    /// The placed streams that would collide with this one.
    fn met(&self, number: u32, part: &Use, begun: i64, queue: u8) -> Vec<u32> {
        let mut met = Vec::new();
        if let Some(class) = self.class(&self.problem().streams[number as usize]) {
            self.line(part.link).meets(class, part, begun, queue, |other| met.push(other));
        }
        met.sort_unstable();
        met.dedup();
        met.retain(|other| *other != number);
        met
    }

    fn stand(&self, number: u32, part: &Use, begun: i64, queue: u8, other: u32) -> Stand {
        let mut worst = Stand::Clear;
        self.with_parts(number, part, begun, queue, other, |own, theirs| {
            let link = &self.problem().links[part.link as usize];
            // Frames wait neither at their talker nor at gates that are given.
            let at_once = self.problem().streams[number as usize].talker == link.from || !link.limits.waiting;
            let one = stand(own, theirs, link.queues, link.margin_ps, at_once);
            worst = match (one, worst) {
                (Stand::Later(by), Stand::Later(most)) => Stand::Later(by.max(most)),
                (_, Stand::Later(_)) | (Stand::Clear, _) => worst,
                _ => one,
            };
        });
        worst
    }

    /// Calls `each` with a stream's use of a link and with every use that another stream makes of the link.
    fn with_parts(
        &self,
        number: u32,
        part: &Use,
        begun: i64,
        queue: u8,
        other: u32,
        mut each: impl FnMut(PlacedUse<'_>, PlacedUse<'_>),
    ) {
        let Some((placed, theirs)) = self.shape_of(other) else { return };
        let stream = |number: u32| &self.problem().streams[number as usize];
        let of = |number: u32| (stream(number).period_ns * 1_000, stream(number).copies > 1);
        let ((period, copies), (their_period, their_copies)) = (of(number), of(other));
        let own = PlacedUse { part, begun, period, queue, copies };
        for use_there in theirs.uses.iter().filter(|there| there.link == part.link) {
            let begun = placed.offset_ns * 1_000;
            let (period, queue, copies) = (their_period, placed.queue, their_copies);
            each(own, PlacedUse { part: use_there, begun, period, queue, copies });
        }
    }

    /// Whether a stream fits beside the placed ones: each of these leaves its links free, or is ahead in its queue.
    pub(crate) fn fits_behind(&self, number: u32, shape: &Shape, begun: i64, queue: u8) -> bool {
        self.obstacle(number, shape, begun, queue).is_none()
            && shape.behind.iter().all(|place| {
                let part = &shape.uses[*place as usize];
                self.met(number, part, begun, queue).into_iter().any(|other| {
                    let mut ends = false;
                    self.with_parts(number, part, begun, queue, other, |own, theirs| {
                        let margin = self.problem().links[part.link as usize].margin_ps;
                        let gone = theirs.begun + theirs.part.at + theirs.part.len - margin;
                        let divides = own.period % theirs.period == 0 && theirs.queue == own.queue;
                        ends |= divides && (own.starts(margin) - gone).rem_euclid(theirs.period) == 0;
                    });
                    ends
                })
            })
    }

    /// Places a stream whose frames may wait behind others, and keep their limits if those frames are missing.
    ///
    /// # Errors
    /// The reason why the stream has no place.
    pub fn place_behind(&mut self, number: u32, paths: u32) -> Result<(), Refusal> {
        if self.problem().streams[number as usize].copies > 1 {
            return Err(Refusal::NoRoom);
        }
        let mut last = None;
        for attempt in 0..paths.max(1) {
            let Some(tree) = self.path(number, attempt) else { break };
            if last.as_ref() == Some(&tree) {
                continue;
            }
            let mut steps = 0;
            for queue in self.queues_of(number, &tree) {
                if let Some((release, shape)) = self.fit_behind(number, &tree, queue, &mut steps) {
                    self.steps += steps;
                    let placed = self.placed_by(&tree, &shape, queue, release);
                    self.put(number, placed);
                    return Ok(());
                }
            }
            self.steps += steps;
            if self.problem().streams[number as usize].tree.is_some() {
                break;
            }
            last = Some(tree);
        }
        Err(Refusal::NoRoom)
    }

    /// Gives streams the places of an earlier plan, first those that wait behind no others. Returns the streams that
    /// could not keep their place, each with the reason.
    pub fn keep_all(&mut self, earlier: &[Option<Placed>]) -> Vec<(u32, Refusal)> {
        let all = earlier.iter().enumerate();
        let all = all.filter_map(|(number, placed)| Some((number as u32, placed.as_ref()?)));
        let (mut left, mut refused): (Vec<_>, Vec<_>) = (Vec::new(), Vec::new());
        for (number, placed) in all {
            if !placed.behind.is_empty() {
                left.push((number, placed));
            } else if let Err(refusal) = self.keep(number, placed.clone()) {
                refused.push((number, refusal));
            }
        }
        loop {
            let before = left.len();
            left.retain(|(number, placed)| self.keep(*number, (*placed).clone()).is_err());
            if left.is_empty() || left.len() == before {
                break;
            }
        }
        refused.extend(left.into_iter().map(|(number, _)| (number, Refusal::NoRoom)));
        refused.sort_unstable_by_key(|(number, _)| *number);
        refused
    }

    /// Removes the streams that waited behind frames that no longer exist, and returns their numbers.
    pub(crate) fn take_out_left_alone(&mut self) -> Vec<u32> {
        let mut out = Vec::new();
        loop {
            let alone = |number: &u32| {
                let waits =
                    self.placed()[*number as usize].as_ref().is_some_and(|own| !own.behind.is_empty());
                waits
                    && self.shape_of(*number).is_some_and(|(placed, shape)| {
                        !self.fits_behind(*number, &shape, placed.offset_ns * 1_000, placed.queue)
                    })
            };
            let Some(number) = (0..self.placed().len() as u32).find(alone) else { return out };
            self.remove(number);
            out.push(number);
        }
    }
}

/// By how much delay or jitter exceed a stream's limits, ps.
fn too_much(stream: &Stream, shape: &Shape) -> i64 {
    let late = shape.delay + shape.late - stream.deadline_ns * 1_000;
    let shaky = stream.jitter_ns.map_or(0, |limit| shape.jitter() - limit * 1_000);
    let long = shape.uses.iter().map(|part| part.whole() - stream.period_ns * 1_000).max().unwrap_or(0);
    late.max(shaky).max(long).max(0)
}
