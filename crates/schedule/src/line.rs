//! One link: when its wire is taken, and when its queues are.

use crate::occupancy::Occupancy;
use crate::periods::gcd;
use crate::shape::Use;

/// Folded onto each period of the problem.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    queues: u8,
    /// The wire: by period.
    wire: Vec<Occupancy>,
    /// From a first frame's arrival to the end of its interval: by queue, then period. Empty where there is one
    /// queue, whose frames then take the wire while they wait. Only who waits behind others in a queue meets them.
    queued: Vec<Occupancy>,
}

impl Line {
    pub fn new(periods: &[i64], queues: u8) -> Self {
        let empty: Vec<Occupancy> = periods.iter().map(|period| Occupancy::new(*period)).collect();
        let times = if queues > 1 { usize::from(queues) } else { 0 };
        let queued = empty.iter().cloned().cycle().take(times * empty.len()).collect();
        Self { queues, wire: empty, queued }
    }

    /// How long what begins at `at` has to be put off until the wire is free; `class` is the period.
    pub fn wire_free_in(&self, class: usize, at: i64, len: i64) -> Option<i64> {
        let at = self.wire[class].fold(at);
        Some(self.wire[class].free_from(at, len)? - at)
    }

    /// How long what would come into a queue at `at`, and has left the wire `len` later, has to be put off.
    pub fn queue_free_in(&self, class: usize, queue: u8, at: i64, len: i64) -> Option<i64> {
        let list = self.list(class, queue);
        let at = list.fold(at);
        Some(list.free_from(at, len)? - at)
    }

    fn list(&self, class: usize, queue: u8) -> &Occupancy {
        let place = usize::from(queue.min(self.queues - 1)) * self.wire.len() + class;
        self.queued.get(place).unwrap_or(&self.wire[class])
    }

    /// Enters a stream's part, or strikes it out. `own` is its period, `begun` its release; ps.
    pub fn take(&mut self, part: &Use, begun: i64, own: i64, queue: u8, stream: u32, enter: bool) {
        let (at, len) = (begun + part.begins(), part.whole());
        let (early, whole) = (at - part.held, len + part.held);
        let periods = self.wire.len();
        let change = |list: &mut Occupancy, at, len| {
            let common = gcd(own, list.period());
            if enter { list.insert(at, len, common, stream) } else { list.remove(at, len, common, stream) }
        };
        let alone = self.queued.is_empty();
        for list in &mut self.wire {
            if alone { change(list, early, whole) } else { change(list, at, len) }
        }
        if !alone {
            let from = usize::from(queue.min(self.queues - 1)) * periods;
            for list in &mut self.queued[from..from + periods] {
                change(list, early, whole);
            }
        }
    }

    /// Whose parts would be met; some more than once.
    pub fn meets(&self, class: usize, part: &Use, begun: i64, queue: u8, mut found: impl FnMut(u32)) {
        let (at, len) = (begun + part.begins(), part.whole());
        let wire = &self.wire[class];
        wire.meets(wire.fold(at), len, &mut found);
        let list = self.list(class, queue);
        list.meets(list.fold(at - part.held), len + part.held, &mut found);
    }

    /// Where something ends: from there on others may fit.
    pub fn ends(&self, class: usize) -> impl Iterator<Item = i64> {
        self.wire[class].ends()
    }
}
