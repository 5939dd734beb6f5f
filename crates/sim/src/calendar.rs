//! What will happen, the next first: a heap of events.

use crate::event::{Event, What};

/// Children per parent. Wide, so that a run with thousands of pending events touches fewer cache lines.
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

    /// The event that will be taken next.
    #[inline]
    pub fn peek(&self) -> Option<&Event> {
        if self.hole {
            let children = self.heap.get(1..self.heap.len().min(1 + ARITY))?;
            children.iter().min_by_key(|event| event.key())
        } else {
            self.heap.first()
        }
    }

    /// Puts back the event taken last; nothing may have been scheduled since.
    pub fn put_back(&mut self) {
        self.hole = false;
    }

    /// Schedules.
    #[inline]
    pub fn push(&mut self, event: Event) {
        if self.hole {
            self.hole = false;
            self.sift_down(event);
        } else {
            self.sift_up(event);
        }
    }

    /// How many frames are among the events.
    pub fn frames(&self) -> u64 {
        let pending = self.heap.iter().skip(usize::from(self.hole));
        pending.filter(|event| matches!(event.what(), What::Arrive(_))).count() as u64
    }

    fn close_hole(&mut self) {
        self.hole = false;
        if let Some(last) = self.heap.pop()
            && !self.heap.is_empty()
        {
            self.sift_down(last);
        }
    }

    #[inline]
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

    #[inline]
    fn sift_down(&mut self, event: Event) {
        let heap = self.heap.as_mut_slice();
        let key = event.key();
        let mut at = 0;
        loop {
            let first = at * ARITY + 1;
            if first >= heap.len() {
                break;
            }
            let children = &heap[first..heap.len().min(first + ARITY)];
            let (mut least, mut least_key) = (first, children[0].key());
            for (child, event) in children.iter().enumerate().skip(1) {
                if event.key() < least_key {
                    (least, least_key) = (first + child, event.key());
                }
            }
            if key <= least_key {
                break;
            }
            heap[at] = heap[least];
            at = least;
        }
        heap[at] = event;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tsn_units::Instant;

    proptest! {
        /// Any mix of taking and scheduling gives the events in order, as a sorted list would.
        #[test]
        fn gives_events_in_order(steps in prop::collection::vec((0..50i64, 0..4usize), 1..200)) {
            let mut calendar = Calendar::default();
            let mut sorted: Vec<u128> = Vec::new();
            let mut now = 0;
            let mut counter = 0;
            for (delay, pushes) in steps {
                for extra in 0..pushes {
                    let at = Instant::from_ps(now + delay + extra as i64);
                    let event = Event::new(at, 0, counter, What::Release { stream: 0 });
                    counter += 1;
                    calendar.push(event);
                    sorted.push(event.key());
                }
                sorted.sort_unstable();
                prop_assert_eq!(calendar.peek().map(Event::key), sorted.first().copied());
                if let Some(event) = calendar.next() {
                    prop_assert_eq!(event.key(), sorted.remove(0));
                    now = event.at().ps();
                }
                prop_assert_eq!(calendar.peek().map(Event::key), sorted.first().copied());
            }
            while let Some(event) = calendar.next() {
                prop_assert_eq!(event.key(), sorted.remove(0));
            }
            prop_assert!(sorted.is_empty());
        }
    }
}
