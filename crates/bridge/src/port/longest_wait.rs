//! The longest time in a queue: a frame whose transmission has not begun so long after its arrival is dropped.
//!
//! IEEE 802.1Q-2022, 6.5.6 and 8.6.7.

use super::{Actions, Drop, EgressPort, Event};
use crate::{DropCause, Frame, Gate};
use std::collections::VecDeque;
use tsn_plan::{Port, duration};
use tsn_units::{Duration, Instant};

/// The longest times in the queues of one port.
#[derive(Clone, Debug)]
pub(super) struct LongestWaits {
    classes: Vec<Waiting>,
}

/// The frames that wait in one queue.
#[derive(Clone, Debug)]
struct Waiting {
    /// The longest wait; none: frames wait for as long as necessary.
    most: Option<Duration>,
    /// The arrivals of the waiting frames, first in, first out.
    since: VecDeque<Instant>,
}

impl LongestWaits {
    /// Those of a port; none if no class has a longest time.
    pub fn of(port: &Port) -> Option<Self> {
        let classes = port
            .classes
            .iter()
            .take(8)
            .map(|class| Waiting { most: class.longest_wait_ns.map(duration), since: VecDeque::new() });
        let own = Self { classes: classes.collect() };
        own.classes.iter().any(|class| class.most.is_some()).then_some(own)
    }

    /// All frames are gone.
    pub fn clear(&mut self) {
        self.classes.iter_mut().for_each(|class| class.since.clear());
    }

    /// When the first frame of each class has waited for its longest time: (class, instant).
    fn ends(&self) -> impl Iterator<Item = (u8, Instant)> + '_ {
        let ends =
            |(number, class): (usize, &Waiting)| Some((number as u8, *class.since.front()? + class.most?));
        self.classes.iter().enumerate().filter_map(ends)
    }

    /// Follows the queues, which have so many frames: frames arrive now, and leave in their order.
    fn follow(&mut self, now: Instant, queued: impl Iterator<Item = usize>) {
        for (class, frames) in self.classes.iter_mut().zip(queued) {
            while class.since.len() > frames {
                class.since.pop_front();
            }
            class.since.resize(frames, now);
        }
    }
}

impl<F: Frame> EgressPort<F> {
    /// [`EgressPort::handle`] of a port with a longest time in a queue.
    pub(super) fn handle_waiting(&mut self, now: Instant, event: Event<F>) -> Actions<F> {
        let Some(mut waits) = self.longest_waits.take() else { return Actions::default() };
        let woken = matches!(event, Event::Wake) && now == self.wake;
        let late = waits.ends().find(|(_, end)| woken && *end <= now);
        let mut actions = match late {
            Some((class, _)) => self.expire(now, class),
            None => self.handle_stage(now, event),
        };
        waits.follow(now, self.classes.iter().map(|class| class.queue.len()));
        if let Some(end) = waits.ends().map(|(_, end)| end).min() {
            self.request_wake(end, &mut actions);
        }
        self.longest_waits = Some(waits);
        actions
    }

    /// Drops the first frame of a class. The port selects, or drops the next frame, with the wake that this requests.
    fn expire(&mut self, now: Instant, class: u8) -> Actions<F> {
        let mut actions = Actions::default();
        let gate = self.gates.as_ref().map_or(Gate::ALWAYS_OPEN, |list| list.gate(class));
        let selector = &mut self.classes[usize::from(class)];
        if let Some(shaper) = &mut selector.shaper {
            shaper.advance(now, true, gate);
        }
        let dropped = selector.queue.expire();
        if selector.queue.is_empty() {
            self.waiting &= !(1 << class);
        }
        actions.dropped = dropped.map(|frame| Drop { frame, class, cause: DropCause::DelayExceeded });
        self.wake = Instant::MAX;
        self.request_wake(now, &mut actions);
        actions
    }
}
