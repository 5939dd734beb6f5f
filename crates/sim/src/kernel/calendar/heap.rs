//! Events in a heap, the next one first.

use crate::kernel::event::Event;

/// Children per parent. A wide heap touches fewer cache lines in a run with thousands of pending events.
const ARITY: usize = 4;

/// Up to this number, events are a list in order: the next events of a frame are mostly soon, so that few of the
/// others move. A heap becomes a list again at half this number.
const SHORT: usize = 32;

/// The events in order of [`Event::key`]: a list while they are few, and a heap beyond that.
///
/// Taking an event leaves a hole where the next event is. Nearly every event schedules one more, which then goes into
/// the hole, so that taking and scheduling cost one pass through the events, not two.
#[derive(Debug, Default)]
pub(super) struct Heap {
    /// The list, the next event last; or the heap, the next event first.
    events: Vec<Event>,
    hole: bool,
    /// Whether the events are a heap.
    long: bool,
}

impl Heap {
    /// Number of events, if there is no hole.
    #[inline]
    pub fn len(&self) -> usize {
        debug_assert!(!self.hole);
        self.events.len()
    }

    /// The next event, if there is no hole (see [`Self::close_hole`]).
    #[inline]
    pub fn first(&self) -> Option<&Event> {
        debug_assert!(!self.hole);
        self.top()
    }

    #[inline]
    fn top(&self) -> Option<&Event> {
        if self.long { self.events.first() } else { self.events.last() }
    }

    /// Takes the next event, if there is no hole, and leaves a hole.
    #[inline]
    pub fn take(&mut self) -> Option<&Event> {
        self.hole = !self.events.is_empty();
        self.top()
    }

    /// Whether the event taken last came from here, and nothing was pushed since.
    #[inline]
    pub fn has_hole(&self) -> bool {
        self.hole
    }

    /// Puts back the event that left the hole.
    pub fn put_back(&mut self) {
        self.hole = false;
    }

    /// Whether one of the events has the same turn as `event`, which comes before all of them.
    #[inline]
    pub fn has_same_turn_next(&self, event: &Event) -> bool {
        if !self.long {
            return self.list().last().is_some_and(|next| next.same_turn(event));
        }
        // With a hole at the top, the next event is among its children; by the total order, no event of another turn
        // comes before an event of the same turn.
        let candidates =
            if self.hole { 1..self.events.len().min(1 + ARITY) } else { 0..self.events.len().min(1) };
        self.events.get(candidates).is_some_and(|events| events.iter().any(|next| next.same_turn(event)))
    }

    /// Adds an event.
    #[inline]
    pub fn push(&mut self, event: Event) {
        if !self.long {
            self.insert(event);
        } else if self.hole {
            self.hole = false;
            self.sift_down(event);
        } else {
            self.sift_up(event);
        }
    }

    /// The events of the list, without its hole.
    #[inline]
    fn list(&self) -> &[Event] {
        &self.events[..self.events.len() - usize::from(self.hole)]
    }

    /// The events, in any order.
    pub fn iter(&self) -> impl Iterator<Item = &Event> {
        if self.long { self.events[usize::from(self.hole)..].iter() } else { self.list().iter() }
    }

    /// Takes out all events, in any order, if there is no hole.
    pub fn drain(&mut self) -> Vec<Event> {
        debug_assert!(!self.hole);
        self.long = false;
        std::mem::take(&mut self.events)
    }

    /// Removes the hole.
    #[inline]
    pub fn close_hole(&mut self) {
        if self.hole {
            self.fill_hole();
        }
    }

    fn fill_hole(&mut self) {
        self.hole = false;
        let last = self.events.pop();
        if !self.long {
            return;
        }
        if let Some(last) = last
            && !self.events.is_empty()
        {
            self.sift_down(last);
        }
        if self.events.len() <= SHORT / 2 {
            self.events.sort_unstable_by_key(|event| std::cmp::Reverse(event.key()));
            self.long = false;
        }
    }

    /// Inserts an event into the list, from its end on.
    #[inline(never)]
    fn insert(&mut self, event: Event) {
        if self.hole {
            self.hole = false;
        } else if self.events.len() < SHORT {
            self.events.push(event);
        } else {
            // A list in order is a heap.
            self.events.reverse();
            self.long = true;
            return self.sift_up(event);
        }
        let events = self.events.as_mut_slice();
        let key = event.key();
        let mut at = events.len() - 1;
        while at > 0 && events[at - 1].key() < key {
            events[at] = events[at - 1];
            at -= 1;
        }
        events[at] = event;
    }

    fn sift_up(&mut self, event: Event) {
        let mut at = self.events.len();
        self.events.push(event);
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if self.events[parent].key() <= event.key() {
                break;
            }
            self.events[at] = self.events[parent];
            at = parent;
        }
        self.events[at] = event;
    }

    #[inline(never)]
    fn sift_down(&mut self, event: Event) {
        let heap = self.events.as_mut_slice();
        let key = event.key();
        let mut at = 0;
        loop {
            let first = at * ARITY + 1;
            let (least, least_key) = match heap.get(first..).and_then(<[Event]>::first_chunk::<ARITY>) {
                Some(children) => least_of(children),
                None => match heap
                    .get(first..)
                    .unwrap_or_default()
                    .iter()
                    .map(Event::key)
                    .enumerate()
                    .min_by_key(|it| it.1)
                {
                    Some(least) => least,
                    None => break,
                },
            };
            if key <= least_key {
                break;
            }
            heap[at] = heap[first + least];
            at = first + least;
        }
        heap[at] = event;
    }
}

/// The index and key of the least of a full set of children, by knock-out, so that few comparisons depend on others.
#[inline]
fn least_of(children: &[Event; ARITY]) -> (usize, u128) {
    let keys = children.each_ref().map(Event::key);
    let one = if keys[1] < keys[0] { (1, keys[1]) } else { (0, keys[0]) };
    let other = if keys[3] < keys[2] { (3, keys[3]) } else { (2, keys[2]) };
    if other.1 < one.1 { other } else { one }
}
