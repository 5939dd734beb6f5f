//! A processor that the software of several hosts shares: interrupts first, one after the other, then programs.
//!
//! Linux has softirqs before threads, and among softirqs those of queueing disciplines (`NET_TX`) before those of
//! received frames (`NET_RX`, `handle_softirqs` of `kernel/softirq.c`). What runs is not interrupted by its like.

use crate::thread::{Passage, Takes, Thread};
use std::collections::VecDeque;
use tsn_units::{Duration, Instant};

/// One processor. `W` is work of an interrupt that waits for an earlier one.
#[derive(Clone, Debug)]
pub struct Processor<W> {
    /// Interrupts have work until then.
    busy: Instant,
    /// How long interrupts have worked until then, in all: programs stood still meanwhile.
    worked: Duration,
    timers: VecDeque<W>,
    forwarded: VecDeque<W>,
    received: VecDeque<W>,
    /// All programs, in their own time: that of the processor without the work of interrupts.
    programs: Thread,
    /// The number of the program that ran last.
    last: Option<u32>,
}

impl<W> Default for Processor<W> {
    fn default() -> Self {
        Self {
            busy: Instant::from_ps(0),
            worked: Duration::ZERO,
            timers: VecDeque::new(),
            forwarded: VecDeque::new(),
            received: VecDeque::new(),
            programs: Thread::default(),
            last: None,
        }
    }
}

impl<W> Processor<W> {
    /// The timer of a queueing discipline has expired.
    pub fn expired(&mut self, work: W) {
        self.timers.push_back(work);
    }

    /// A frame that was received is forwarded.
    pub fn forwards(&mut self, work: W) {
        self.forwarded.push_back(work);
    }

    /// A frame was received.
    pub fn received(&mut self, work: W) {
        self.received.push_back(work);
    }

    /// The next work of an interrupt, to be begun at [`Processor::busy`] or later.
    pub fn take(&mut self) -> Option<W> {
        let Self { timers, forwarded, received, .. } = self;
        [timers, forwarded, received].into_iter().find_map(VecDeque::pop_front)
    }

    /// All work that waits.
    pub fn waiting(&self) -> impl Iterator<Item = &W> {
        self.timers.iter().chain(&self.forwarded).chain(&self.received)
    }

    /// When interrupts have no more work, as far as it is known.
    #[must_use]
    pub fn busy(&self) -> Instant {
        self.busy
    }

    /// An interrupt works until that instant, from now on or from the end of what interrupts already do.
    pub fn work(&mut self, now: Instant, until: Instant) {
        let from = self.busy.max(now);
        if until > from {
            self.worked += until - from;
            self.busy = until;
        }
    }

    /// The stages of a frame of a program whose timer expires now, in the time of programs.
    pub fn pass(&mut self, now: Instant, program: u32, takes: Takes) -> Passage {
        let turn = if self.last == Some(program) { Duration::ZERO } else { takes.turn };
        self.last = Some(program);
        self.programs.pass(self.busy.max(now) - self.worked, Takes { turn, ..takes })
    }

    /// When an instant of the time of programs is, unless more interrupts come before it.
    #[must_use]
    pub fn at(&self, programs: Instant) -> Instant {
        programs + self.worked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: i64) -> Duration {
        Duration::from_ns(us * 1_000)
    }

    fn at(time: i64) -> Instant {
        Instant::EPOCH + us(time)
    }

    #[test]
    fn programs_stand_still_while_interrupts_work() {
        let mut processor = Processor::<()>::default();
        let takes = Takes { send: us(4), qdisc: us(6), turn: us(5), ..Takes::default() };
        let first = processor.pass(at(100), 1, takes);
        assert_eq!(processor.at(first.qdisc), at(110));
        // 3 us of an interrupt at 105, and 2 us right behind it.
        processor.work(at(105), at(108));
        processor.work(at(107), at(110));
        assert_eq!(processor.at(first.qdisc), at(115));
        // The same program goes on at once, the other one needs its turn.
        let (same, other) = (processor.pass(at(105), 1, takes), processor.pass(at(105), 2, takes));
        assert_eq!((processor.at(same.qdisc), processor.at(other.qdisc)), (at(125), at(140)));
        // A program that begins while an interrupt works begins at its end.
        processor.work(at(200), at(230));
        let later = processor.pass(at(210), 2, takes);
        assert_eq!(processor.at(later.wakeup), at(230));
    }

    #[test]
    fn timers_come_before_frames() {
        let mut processor = Processor::default();
        processor.received("first");
        processor.received("second");
        processor.expired("timer");
        let all: Vec<_> = std::iter::from_fn(|| processor.take()).collect();
        assert_eq!(all, ["timer", "first", "second"]);
    }
}
