//! The buckets of a calendar: the current one in order, and two wheels of later ones.

use super::heap::Heap;
use super::wheel::Wheel;
use crate::kernel::event::Event;
use tsn_units::Duration;

/// Buckets of the fine wheel; together they are one bucket of the coarse wheel.
const FINE_BITS: u32 = 8;
type Fine = Wheel<4>;
type Coarse = Wheel<16>;
const _: () = assert!(Fine::BUCKETS == 1 << FINE_BITS);

/// The events of the current bucket and of later ones.
///
/// Events that are scheduled into the current bucket, or before it, belong into a heap of the caller: thousands of
/// them at one instant would otherwise move each other.
#[derive(Debug)]
pub(super) struct Buckets {
    /// The current bucket, the last event first.
    sorted: Vec<Event>,
    /// Number of events of the current bucket that were not taken, which are the first ones.
    left: usize,
    /// The number of an event's bucket is its time in ps, shifted by this.
    shift: u32,
    /// Number of the current bucket.
    now: u64,
    /// Later buckets within the current coarse bucket.
    fine: Fine,
    /// Later coarse buckets, less than a turn away.
    coarse: Coarse,
    /// Events of coarse buckets that were a turn away or more.
    far: Heap,
    /// Memory of buckets that are empty now.
    spare: Vec<Vec<Event>>,
}

impl Buckets {
    /// Empty buckets, at most `width` wide. The current bucket is that of `first`.
    pub fn new(width: Duration, first: Option<&Event>) -> Self {
        let shift = u64::try_from(width.ps()).unwrap_or(0).max(1).ilog2();
        Self {
            sorted: Vec::new(),
            left: 0,
            shift,
            now: first.map_or(0, |first| bucket(first, shift)),
            fine: Wheel::default(),
            coarse: Wheel::default(),
            far: Heap::default(),
            spare: Vec::new(),
        }
    }

    /// Takes the next of these events and those of `late`, which has no hole. `touch` is called with the events of
    /// each new bucket.
    ///
    /// Not inlined, like [`Self::place`]: that would slow down networks with few events, which need neither.
    #[inline(never)]
    pub fn next<'a>(&'a mut self, late: &'a mut Heap, touch: impl Fn(&[Event])) -> Option<&'a Event> {
        loop {
            match (self.current().last(), late.first()) {
                (Some(event), other) if other.is_none_or(|other| event.key() < other.key()) => {
                    self.left -= 1;
                    return self.sorted.get(self.left);
                }
                (_, Some(_)) => return late.take(),
                _ => {
                    if !self.turn() {
                        return None;
                    }
                    touch(&self.sorted);
                }
            }
        }
    }

    /// Whether the next event of the current bucket has the same turn as `event`.
    #[inline]
    pub fn has_same_turn_next(&self, event: &Event) -> bool {
        self.current().last().is_some_and(|next| next.same_turn(event))
    }

    /// Puts back the event taken last.
    pub fn put_back(&mut self) {
        self.left += 1;
    }

    /// The events of the current bucket that were not taken, the next one last.
    #[inline]
    fn current(&self) -> &[Event] {
        self.sorted.get(..self.left).unwrap_or_default()
    }

    /// Puts an event into its bucket, or into `late` if that is the current one or before it.
    #[inline(never)]
    pub fn place(&mut self, event: Event, late: &mut Heap) {
        let number = bucket(&event, self.shift);
        let (coarse, current) = (number >> FINE_BITS, self.now >> FINE_BITS);
        if number <= self.now {
            late.push(event);
        } else if coarse == current {
            self.fine.push(number, event, &mut self.spare);
        } else if coarse - current < Coarse::BUCKETS as u64 {
            self.coarse.push(coarse, event, &mut self.spare);
        } else {
            self.far.push(event);
        }
    }

    /// The events, in any order.
    pub fn iter(&self) -> impl Iterator<Item = &Event> {
        self.current().iter().chain(self.fine.iter()).chain(self.coarse.iter()).chain(self.far.iter())
    }

    /// Makes the next bucket with events the current one, if there is one. The current one is empty.
    #[inline(never)]
    fn turn(&mut self) -> bool {
        let place = self.now % Fine::BUCKETS as u64;
        let Some(ahead) =
            self.fine.next(place).or_else(|| self.turn_coarse().then(|| self.fine.next(0)).flatten())
        else {
            return false;
        };
        self.now += ahead;
        let events = self.fine.take(self.now);
        let mut past = std::mem::replace(&mut self.sorted, events);
        past.clear();
        self.spare.push(past);
        self.left = self.sorted.len();
        self.sorted.sort_unstable_by_key(|event| std::cmp::Reverse(event.key()));
        true
    }

    /// Makes the next coarse bucket with events the current one, if there is one, and deals its events out to the
    /// fine wheel, which is empty.
    fn turn_coarse(&mut self) -> bool {
        let current = self.now >> FINE_BITS;
        let near = self.coarse.next(current).map(|ahead| current + ahead);
        let far = self.far.first().map(|event| bucket(event, self.shift) >> FINE_BITS);
        let Some(coarse) = near.into_iter().chain(far).min() else { return false };
        self.now = coarse << FINE_BITS;
        if near == Some(coarse) {
            let mut events = self.coarse.take(coarse);
            for event in events.drain(..) {
                self.fine.push(bucket(&event, self.shift), event, &mut self.spare);
            }
            self.spare.push(events);
        }
        while let Some(&event) = self.far.first() {
            let number = bucket(&event, self.shift);
            if number >> FINE_BITS != coarse {
                break;
            }
            let _ = self.far.take();
            self.far.close_hole();
            self.fine.push(number, event, &mut self.spare);
        }
        true
    }
}

/// The number of an event's bucket. Buckets and [`Event::key`] have the same order.
#[inline]
fn bucket(event: &Event, shift: u32) -> u64 {
    event.at().ps() as u64 >> shift
}
