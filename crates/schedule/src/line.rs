//! One link: the times at which its wire and its queues are occupied.

use crate::occupancy::Occupancy;
use crate::periods::gcd;
use crate::shape::Use;

/// The occupancy of a link, folded onto each period of the problem.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    queues: u8,
    /// By period: the times at which the wire is occupied.
    wire: Vec<Occupancy>,
    /// By queue, then by period: the times from the arrival of a first frame to the end of its interval. Empty if the
    /// link has one queue, whose frames occupy the wire while they wait. Only frames that wait behind others in a
    /// queue conflict with these times.
    queued: Vec<Occupancy>,
}

impl Line {
    pub fn new(periods: &[i64], queues: u8) -> Self {
        let empty: Vec<Occupancy> = periods.iter().map(|period| Occupancy::new(*period)).collect();
        let times = if queues > 1 { usize::from(queues) } else { 0 };
        let queued = empty.iter().cloned().cycle().take(times * empty.len()).collect();
        Self { queues, wire: empty, queued }
    }

    /// The delay of an interval that begins at `at` until the wire is free for it; `class` is the index of the period.
    pub fn wire_free_in(&self, class: usize, at: i64, len: i64) -> Option<i64> {
        let at = self.wire[class].fold(at);
        Some(self.wire[class].free_from(at, len)? - at)
    }

    /// The delay of a frame that enters a queue at `at` and has left the wire `len` later, until the queue is free for
    /// it.
    pub fn queue_free_in(&self, class: usize, queue: u8, at: i64, len: i64) -> Option<i64> {
        let list = self.list(class, queue);
        let at = list.fold(at);
        Some(list.free_from(at, len)? - at)
    }

    fn list(&self, class: usize, queue: u8) -> &Occupancy {
        let place = usize::from(queue.min(self.queues - 1)) * self.wire.len() + class;
        self.queued.get(place).unwrap_or(&self.wire[class])
    }

    /// Adds a stream's interval, or removes it. `own` is its period, `begun` its release; ps.
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

    /// The streams whose intervals overlap; some appear more than once.
    pub fn meets(&self, class: usize, part: &Use, begun: i64, queue: u8, mut found: impl FnMut(u32)) {
        let (at, len) = (begun + part.begins(), part.whole());
        let wire = &self.wire[class];
        wire.meets(wire.fold(at), len, &mut found);
        let list = self.list(class, queue);
        list.meets(list.fold(at - part.held), len + part.held, &mut found);
    }

    /// The ends of intervals, where other streams may fit.
    pub fn ends(&self, class: usize) -> impl Iterator<Item = i64> {
        self.wire[class].ends()
    }
}
