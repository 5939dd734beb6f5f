//! Future events, the next one first: a heap.

use crate::kernel::event::{Event, EventKind};

/// Children per parent. A wide heap touches fewer cache lines in a run with thousands of pending events.
const ARITY: usize = 4;

/// A heap in order of [`Event::key`].
///
/// Taking an event leaves a hole at the top. Nearly every event schedules one more, which then goes into the hole,
/// so that taking and scheduling cost one pass through the heap, not two.
#[derive(Debug, Default)]
pub(crate) struct Calendar {
    heap: Vec<Event>,
    hole: bool,
}

impl Calendar {
    /// Takes the next event.
    #[inline]
    pub fn next(&mut self) -> Option<Event> {
        if self.hole {
            self.close_hole();
        }
        let event = *self.heap.first()?;
        self.hole = true;
        Some(event)
    }

    /// Whether the next event has the same turn as `event`, the event taken last.
    #[inline]
    pub fn has_same_turn_next(&self, event: &Event) -> bool {
        // With a hole at the top, the next event is among its children; by the total order, no event of another turn
        // comes before an event of the same turn.
        let candidates =
            if self.hole { 1..self.heap.len().min(1 + ARITY) } else { 0..self.heap.len().min(1) };
        self.heap.get(candidates).is_some_and(|events| events.iter().any(|next| next.same_turn(event)))
    }

    /// Puts back the event taken last; nothing may have been scheduled since.
    pub fn put_back(&mut self) {
        self.hole = false;
    }

    /// Schedules an event.
    #[inline]
    pub fn push(&mut self, event: Event) {
        if self.hole {
            self.hole = false;
            self.sift_down(event);
        } else {
            self.sift_up(event);
        }
    }

    /// Number of frames among the events.
    pub fn frames(&self) -> u64 {
        let pending = self.heap.iter().skip(usize::from(self.hole));
        pending.filter(|event| matches!(event.kind(), EventKind::Arrive(_) | EventKind::Ingress(_))).count()
            as u64
    }

    fn close_hole(&mut self) {
        self.hole = false;
        if let Some(last) = self.heap.pop()
            && !self.heap.is_empty()
        {
            self.sift_down(last);
        }
    }

    #[inline(never)]
    fn sift_up(&mut self, event: Event) {
        let mut at = self.heap.len();
        self.heap.push(event);
        while at > 0 {
            let parent = (at - 1) / ARITY;
            if self.heap[parent].key() <= event.key() {
                break;
            }
            self.heap[at] = self.heap[parent];
            at = parent;
        }
        self.heap[at] = event;
    }

    #[inline(never)]
    fn sift_down(&mut self, event: Event) {
        let heap = self.heap.as_mut_slice();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{NodeId, StreamId};
    use proptest::prelude::*;
    use tsn_units::Instant;

    proptest! {
        /// Any mix of taking and scheduling returns the events in order, as a sorted list would.
        #[test]
        fn gives_events_in_order(steps in prop::collection::vec((0..50i64, 0..4usize), 1..200)) {
            let mut calendar = Calendar::default();
            let mut sorted: Vec<u128> = Vec::new();
            let mut now = 0;
            let mut counter = 0;
            for (delay, pushes) in steps {
                for extra in 0..pushes {
                    let at = Instant::from_ps(now + delay + extra as i64);
                    let event = Event::new(at, NodeId(0), counter, EventKind::Release { stream: StreamId(0) });
                    counter += 1;
                    calendar.push(event);
                    sorted.push(event.key());
                }
                sorted.sort_unstable();
                if let Some(event) = calendar.next() {
                    prop_assert_eq!(event.key(), sorted.remove(0));
                    now = event.at().ps();
                    let has_same_turn_next = sorted.first().is_some_and(|next| (next >> 64) as i64 == now);
                    prop_assert_eq!(calendar.has_same_turn_next(&event), has_same_turn_next);
                }
            }
            while let Some(event) = calendar.next() {
                prop_assert_eq!(event.key(), sorted.remove(0));
            }
            prop_assert!(sorted.is_empty());
        }
    }
}
