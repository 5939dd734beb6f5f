//! Future events, the next one first: a heap while there are few, and buckets of time beyond that.
//!
//! In a heap of thousands of events, each step down is a cache miss, and nothing is known about the event after the
//! next. A bucket is sorted when its turn comes; the loop then knows which hops and ports it will need, and loads them
//! together. The order of events is the total order of [`Event::key`] in both cases.

mod buckets;
mod heap;
mod wheel;

use crate::kernel::event::{Event, EventKind};
use buckets::Buckets;
use heap::Heap;
use tsn_units::Duration;

/// Up to this number of pending events a heap is as fast as buckets, or faster: `gptp` of the benchmarks takes 1.15
/// times as long in buckets.
const FEW: usize = 256;

/// The pending events, in order of [`Event::key`].
#[derive(Debug)]
pub(crate) struct Calendar {
    /// All events; with buckets, the events that were scheduled into the current bucket.
    heap: Heap,
    /// None as long as there were few events.
    buckets: Option<Box<Buckets>>,
    /// The requested width of a bucket.
    width: Duration,
}

impl Calendar {
    /// An empty calendar. A bucket is at most `width` wide, and a power of two of picoseconds.
    pub fn new(width: Duration) -> Self {
        Self { heap: Heap::default(), buckets: None, width }
    }

    /// Takes the next event. `touch` is called with the events of each new bucket.
    #[inline]
    pub fn next(&mut self, touch: impl Fn(&[Event])) -> Option<Event> {
        self.heap.close_hole();
        // Both return a reference: the event is then copied once, into registers.
        let next = match &mut self.buckets {
            None => self.heap.take(),
            Some(buckets) => buckets.next(&mut self.heap, touch),
        };
        next.copied()
    }

    /// Whether the next event has the same turn as `event`, the event taken last. Events that were scheduled since come
    /// after `event`.
    #[inline]
    pub fn has_same_turn_next(&self, event: &Event) -> bool {
        // Events of one instant are in one bucket, and the bucket of `event` is the current bucket.
        self.heap.has_same_turn_next(event)
            || self.buckets.as_ref().is_some_and(|buckets| buckets.has_same_turn_next(event))
    }

    /// Puts back the event taken last; nothing may have been scheduled since.
    pub fn put_back(&mut self) {
        match &mut self.buckets {
            Some(buckets) if !self.heap.has_hole() => buckets.put_back(),
            _ => self.heap.put_back(),
        }
    }

    /// Schedules an event.
    #[inline]
    pub fn push(&mut self, event: Event) {
        match &mut self.buckets {
            None if self.heap.has_hole() => self.heap.push(event),
            None => self.add(event),
            Some(buckets) => buckets.place(event, &mut self.heap),
        }
    }

    /// The pending events, in any order.
    pub fn iter(&self) -> impl Iterator<Item = &Event> {
        self.heap.iter().chain(self.buckets.iter().flat_map(|buckets| buckets.iter()))
    }

    /// Number of frames among the events.
    pub fn frames(&self) -> u64 {
        self.iter()
            .filter(|event| matches!(event.kind(), EventKind::Arrive(_) | EventKind::Ingress(_)))
            .count() as u64
    }

    /// Adds one more event to the heap, and goes to buckets if there are too many.
    #[inline(never)]
    fn add(&mut self, event: Event) {
        self.heap.push(event);
        if self.heap.len() <= FEW {
            return;
        }
        let mut buckets = Box::new(Buckets::new(self.width, self.heap.first()));
        for event in self.heap.drain() {
            buckets.place(event, &mut self.heap);
        }
        self.buckets = Some(buckets);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{HopId, NodeId, StreamId};
    use crate::kernel::event::Frame;
    use proptest::prelude::*;
    use std::cell::RefCell;
    use std::collections::BTreeMap;
    use tsn_units::Instant;

    /// Buckets of 16 ps: a turn of the fine wheel is 4,096 ps, one of the coarse wheel 4,194,304 ps.
    const WIDTH: Duration = Duration::from_ps(16);

    /// Delays within a bucket, a turn of the fine wheel, a turn of the coarse wheel, and beyond.
    fn delay() -> impl Strategy<Value = i64> {
        prop_oneof![0..3i64, 0..64i64, 0..9_000i64, 0..9_000_000i64, 0..40_000_000i64]
    }

    fn event(ps: i64, counter: u64) -> Event {
        let kind = if counter.is_multiple_of(3) {
            EventKind::Arrive(Frame::new(counter, HopId(0), 64))
        } else {
            EventKind::Release { stream: StreamId(0) }
        };
        Event::new(Instant::from_ps(ps), NodeId(counter as u32 % 2), counter, kind)
    }

    proptest! {
        /// Any mix of taking, putting back and scheduling returns the events in order, as a sorted list would.
        #[test]
        fn gives_events_in_order(
            first in prop::collection::vec(delay(), 0..2 * FEW),
            steps in prop::collection::vec((prop::collection::vec(delay(), 0..9), any::<bool>()), 1..200)
        ) {
            let mut calendar = Calendar::new(WIDTH);
            let mut sorted: BTreeMap<u128, Event> = BTreeMap::new();
            let touched = RefCell::new(Vec::new());
            let touch = |events: &[Event]| touched.borrow_mut().extend(events.iter().map(Event::key));
            let (mut now, mut counter) = (0, 0);
            for (delays, back) in std::iter::once((first, false)).chain(steps) {
                for delay in delays {
                    counter += 1;
                    let event = event(now + delay, counter);
                    calendar.push(event);
                    sorted.insert(event.key(), event);
                }
                let frames = sorted.values().filter(|event| matches!(event.kind(), EventKind::Arrive(_)));
                prop_assert_eq!(calendar.frames(), frames.count() as u64);
                let Some(event) = calendar.next(touch) else {
                    prop_assert!(sorted.is_empty());
                    continue;
                };
                if back {
                    calendar.put_back();
                    prop_assert_eq!(calendar.next(touch).map(|event| event.key()), Some(event.key()));
                }
                let (key, _) = sorted.pop_first().unwrap();
                prop_assert_eq!(event.key(), key);
                now = event.at().ps();
                let same = |sorted: &BTreeMap<_, Event>| {
                    sorted.first_key_value().is_some_and(|(_, next)| next.same_turn(&event))
                };
                prop_assert_eq!(calendar.has_same_turn_next(&event), same(&sorted));
                // An event that is scheduled now, for this node or a later one, may be the next one of this turn.
                counter += 1;
                let again = Event::new(event.at(), NodeId(1), counter, event.kind());
                calendar.push(again);
                sorted.insert(again.key(), again);
                prop_assert_eq!(calendar.has_same_turn_next(&event), same(&sorted));
                // A second event is taken, because one was added: otherwise the calendar would never be empty.
                prop_assert_eq!(calendar.next(touch).map(|event| event.key()), sorted.pop_first().map(|it| it.0));
            }
            while let Some(event) = calendar.next(touch) {
                prop_assert_eq!(Some(event.key()), sorted.pop_first().map(|it| it.0));
            }
            prop_assert!(sorted.is_empty());
            let mut touched = touched.take();
            let count = touched.len();
            touched.sort_unstable();
            touched.dedup();
            prop_assert_eq!(touched.len(), count, "an event was in two buckets");
        }
    }

    #[test]
    fn many_events_go_to_buckets_and_few_do_not() {
        let mut calendar = Calendar::new(WIDTH);
        for counter in 0..FEW as u64 {
            calendar.push(event(counter as i64 * 1000, counter));
        }
        assert!(calendar.buckets.is_none());
        calendar.push(event(5, 1000));
        assert!(calendar.buckets.is_some());
        let touched = RefCell::new(0);
        let count =
            std::iter::from_fn(|| calendar.next(|events| *touched.borrow_mut() += events.len())).count();
        assert_eq!(count, FEW + 1);
        // All but the events of the first bucket, 0 and 5 ps, which stayed in the heap.
        assert_eq!(touched.take(), FEW - 1);
    }

    /// An event that was far away when it was scheduled comes before one that was scheduled later and is near then.
    #[test]
    fn an_event_that_was_far_away_keeps_its_place() {
        let mut calendar = Calendar::new(WIDTH);
        let early = (0..FEW as i64).map(|count| count * 30_000);
        let far = [10_000_000, 12_000_000];
        for (counter, ps) in early.clone().chain(far).enumerate() {
            calendar.push(event(ps, counter as u64));
        }
        for ps in early {
            assert_eq!(calendar.next(|_| ()).map(|event| event.at().ps()), Some(ps));
        }
        calendar.push(event(10_300_000, 100));
        let rest = std::iter::from_fn(|| calendar.next(|_| ())).map(|event| event.at().ps());
        assert_eq!(rest.collect::<Vec<_>>(), [10_000_000, 10_300_000, 12_000_000]);
    }

    #[test]
    fn a_width_of_zero_is_one_picosecond() {
        let mut calendar = Calendar::new(Duration::ZERO);
        for counter in (0..200).rev() {
            calendar.push(event(counter * 7, counter as u64));
        }
        let times: Vec<i64> =
            std::iter::from_fn(|| calendar.next(|_| ())).map(|event| event.at().ps()).collect();
        assert_eq!(times, (0..200).map(|counter| counter * 7).collect::<Vec<_>>());
    }
}
