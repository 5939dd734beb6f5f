//! Frames that wait for others ahead of them in one queue, at an open gate.
//!
//! IEEE 802.1Q-2022, 8.6.6: a queue is first in, first out. A frame may wait behind another where it is certain which of
//! them comes first, clocks and missing frames included. Whoever waits may find nobody ahead, for a frame can be lost
//! or its talker not yet have begun: then it goes at once. So a link is kept free from when the frame comes, and
//! the frame may be as much earlier on every link that follows, until a closed gate holds it.

use crate::engine::Engine;
use crate::periods::gcd;
use crate::placement::{Placed, Refusal};
use crate::problem::{Stream, TreeEntry};
use crate::shape::{Shape, Use};

/// More steps than this are not worth it.
const STEPS: u32 = 400;

/// One stream's part on a link, at its release (ps).
#[derive(Copy, Clone)]
struct Part<'a> {
    part: &'a Use,
    begun: i64,
    period: i64,
    queue: u8,
    /// Some of its frames are eliminated: nobody can count on them.
    copies: bool,
}

/// What another stream means for one that is to be placed, ps.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Stand {
    /// It is not in the way, or ahead in the queue and gone in time.
    Clear,
    /// It is ahead in the queue: no first bit out before this.
    From(i64),
    /// It is in the way; less so, if the stream comes later by this.
    Later(i64),
}

impl Part<'_> {
    /// When the first frame comes at the earliest; the link is kept free from then on.
    fn comes(&self) -> i64 {
        self.begun + self.part.begins()
    }

    fn starts(&self, margin: i64) -> i64 {
        self.begun + self.part.at + margin
    }
}

/// How one stream stands to another one on a link.
fn stand(own: Part<'_>, other: Part<'_>, queues: u8, margin: i64, root: bool) -> Stand {
    let common = gcd(own.period, other.period);
    let same_queue = own.queue.min(queues - 1) == other.queue.min(queues - 1);
    // Without a queue in common the wire is all that counts.
    let held = |part: &Use| if same_queue { part.held } else { 0 };
    let (from, until) = (own.comes() - held(own.part), own.comes() + own.part.whole());
    let (begin, end) = (other.comes() - held(other.part), other.comes() + other.part.whole());
    let may_share = same_queue && !root && !own.copies && !other.copies && own.part.held == 0;
    // It is there in each of the stream's periods.
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
    /// The first release from `from` (ps) on with which frames go on at once, or wait behind others in their queue.
    pub(crate) fn fit_behind(
        &self,
        number: u32,
        tree: &[TreeEntry],
        queue: u8,
        looks: &mut u64,
    ) -> Option<(i64, Shape)> {
        let stream = &self.problem().streams[number as usize];
        let latest = stream.latest_ns * 1_000;
        let mut release = self.up(stream.earliest_ns * 1_000);
        // First bits out, on the axis of the release.
        let mut floors = vec![i64::MIN; tree.len()];
        let mut behind: Vec<u32> = Vec::new();
        for _ in 0..STEPS {
            if release > latest {
                return None;
            }
            *looks += 4 * tree.len() as u64;
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
                    // What waits on the way can as well wait at the talker.
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

    /// The first entry at which somebody is in the way, or ahead.
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

    /// The others that it would meet.
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
            let root = self.problem().streams[number as usize].talker == link.from;
            let one = stand(own, theirs, link.queues, link.margin_ps, root);
            worst = match (one, worst) {
                (Stand::Later(by), Stand::Later(most)) => Stand::Later(by.max(most)),
                (_, Stand::Later(_)) | (Stand::Clear, _) => worst,
                _ => one,
            };
        });
        worst
    }

    /// Calls `each` with a stream's part on a link, and every one of another stream's there.
    fn with_parts(
        &self,
        number: u32,
        part: &Use,
        begun: i64,
        queue: u8,
        other: u32,
        mut each: impl FnMut(Part<'_>, Part<'_>),
    ) {
        let Some((placed, theirs)) = self.shape_of(other) else { return };
        let stream = |number: u32| &self.problem().streams[number as usize];
        let of = |number: u32| (stream(number).period_ns * 1_000, stream(number).copies > 1);
        let ((period, copies), (their_period, their_copies)) = (of(number), of(other));
        let own = Part { part, begun, period, queue, copies };
        for use_there in theirs.uses.iter().filter(|there| there.link == part.link) {
            let begun = placed.offset_ns * 1_000;
            let (period, queue, copies) = (their_period, placed.queue, their_copies);
            each(own, Part { part: use_there, begun, period, queue, copies });
        }
    }

    /// Whether a stream can be there beside those that are placed: they are out of its way, or ahead of it in the queue.
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

    /// Places a stream where its frames may wait behind others, whatever becomes of these.
    ///
    /// # Errors
    /// Why not.
    pub fn place_behind(&mut self, number: u32, ways: u32) -> Result<(), Refusal> {
        if self.problem().streams[number as usize].copies > 1 {
            return Err(Refusal::NoRoom);
        }
        let mut last = None;
        for attempt in 0..ways.max(1) {
            let Some(tree) = self.way(number, attempt) else { break };
            if last.as_ref() == Some(&tree) {
                continue;
            }
            let mut looks = 0;
            for queue in self.queues_of(number, &tree) {
                if let Some((release, shape)) = self.fit_behind(number, &tree, queue, &mut looks) {
                    self.looks += looks;
                    let placed = self.placed_by(&tree, &shape, queue, release);
                    self.put(number, placed);
                    return Ok(());
                }
            }
            self.looks += looks;
            if self.problem().streams[number as usize].tree.is_some() {
                break;
            }
            last = Some(tree);
        }
        Err(Refusal::NoRoom)
    }

    /// Places streams as an earlier plan did: first those that wait behind nobody. Gives who could not be, and why.
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

    /// Takes out whoever waits behind frames that are not there any more; gives who that is.
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

/// By how much delay or jitter are beyond a stream's limits, ps.
fn too_much(stream: &Stream, shape: &Shape) -> i64 {
    let late = shape.delay + shape.late - stream.deadline_ns * 1_000;
    let shaky = stream.jitter_ns.map_or(0, |limit| shape.jitter() - limit * 1_000);
    let long = shape.uses.iter().map(|part| part.whole() - stream.period_ns * 1_000).max().unwrap_or(0);
    late.max(shaky).max(long).max(0)
}
