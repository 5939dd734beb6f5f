//! The queue of one traffic class, its limits and its counters.
//!
//! IEEE 802.1Q-2022, 8.6.6 and 8.6.7.

use crate::{DropCause, SharedBuffer};
use std::collections::VecDeque;
use tsn_units::Octets;

/// What a port has to know of a frame. The rest is the driver's business, which is why ports are generic.
pub trait Frame: Copy {
    /// From destination address to FCS, tags included.
    fn octets(&self) -> Octets;
}

/// How much may wait in a queue.
#[derive(Copy, Clone, Debug)]
pub struct Limits {
    /// Most frames.
    pub frames: u64,
    /// Most octets.
    pub octets: u64,
}

impl Limits {
    /// No limits.
    pub const NONE: Self = Self { frames: u64::MAX, octets: u64::MAX };
}

/// What passed through a queue. A frame that starts at once is counted as having waited for no time.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Counters {
    pub enqueued_frames: u64,
    pub enqueued_octets: u64,
    pub dropped_frames: u64,
    pub dropped_octets: u64,
    pub sent_frames: u64,
    pub sent_octets: u64,
    /// Of the dropped frames, those larger than the class takes.
    pub over_max_sdu_frames: u64,
    /// Frames that were on the wire still when the gate closed.
    pub transmission_overruns: u64,
    /// Most frames that ever waited.
    pub most_frames: u64,
    /// Most octets that ever waited.
    pub most_octets: u64,
}

/// First in, first out.
#[derive(Clone, Debug)]
pub struct Queue<F> {
    waiting: VecDeque<F>,
    octets: u64,
    /// What [`Self::fits`] goes by: no frame at all where memory is shared, so that only such queues ask further.
    limits: Limits,
    shared: Option<Box<Shared>>,
    counters: Counters,
    /// Room kept for frames that are not eligible yet; the limits are lowered by as much.
    held: Limits,
}

/// Memory that is not the queue's own.
#[derive(Clone, Debug)]
struct Shared {
    own: Limits,
    buffer: SharedBuffer,
    /// The next frame had its room until now, which no threshold takes from it.
    due: bool,
}

impl<F: Frame> Queue<F> {
    /// An empty queue.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            waiting: VecDeque::new(),
            octets: 0,
            limits,
            shared: None,
            counters: Counters::default(),
            held: Limits { frames: 0, octets: 0 },
        }
    }

    /// From now on what waits here waits in this memory.
    pub fn share(&mut self, buffer: &SharedBuffer) {
        let own = std::mem::replace(&mut self.limits, Limits { frames: 0, octets: 0 });
        self.shared = Some(Box::new(Shared { own, buffer: buffer.clone(), due: false }));
    }

    /// Whether a frame of this size finds room.
    #[inline]
    #[must_use]
    pub fn has_room(&self, frame: Octets) -> bool {
        self.fits(&self.limits, frame) || self.has_shared_room(frame)
    }

    #[inline]
    fn fits(&self, limits: &Limits, frame: Octets) -> bool {
        (self.waiting.len() as u64) < limits.frames && self.octets + u64::from(frame.0) <= limits.octets
    }

    #[cold]
    fn has_shared_room(&self, frame: Octets) -> bool {
        let own = self.octets + self.held.octets;
        let room = |shared: &Shared| {
            self.fits(&shared.own, frame) && (shared.due || shared.buffer.has_room(own, frame))
        };
        self.shared.as_deref().is_some_and(room)
    }

    /// Why a frame of this size, which finds no room, finds none.
    #[cold]
    #[must_use]
    pub fn why_full(&self, frame: Octets) -> DropCause {
        match &self.shared {
            Some(shared) if self.fits(&shared.own, frame) => {
                shared.buffer.count_drop(frame);
                DropCause::BufferFull
            }
            _ => DropCause::QueueFull,
        }
    }

    /// Appends a frame, or counts it as dropped and returns false.
    #[inline]
    pub fn push(&mut self, frame: F) -> bool {
        let octets = u64::from(frame.octets().0);
        if !self.has_room(frame.octets()) {
            self.count_drop(frame.octets());
            return false;
        }
        self.waiting.push_back(frame);
        self.octets += octets;
        if let Some(shared) = &mut self.shared {
            shared.buffer.take(octets);
            shared.due = false;
        }
        self.counters.enqueued_frames += 1;
        self.counters.enqueued_octets += octets;
        self.counters.most_frames = self.counters.most_frames.max(self.waiting.len() as u64);
        self.counters.most_octets = self.counters.most_octets.max(self.octets);
        true
    }

    /// Keeps room for a frame that waits here until it is eligible, or counts it as dropped and returns false.
    #[cold]
    pub fn hold(&mut self, frame: Octets) -> bool {
        if !self.has_room(frame) {
            self.count_drop(frame);
            let _ = self.why_full(frame);
            return false;
        }
        let octets = u64::from(frame.0);
        if let Some(shared) = &self.shared {
            shared.buffer.take(octets);
        }
        let limits = self.own_limits();
        *limits = Limits { frames: limits.frames - 1, octets: limits.octets - octets };
        self.held = Limits { frames: self.held.frames + 1, octets: self.held.octets + octets };
        let (frames, octets) = (self.waiting.len() as u64 + self.held.frames, self.octets + self.held.octets);
        self.counters.most_frames = self.counters.most_frames.max(frames);
        self.counters.most_octets = self.counters.most_octets.max(octets);
        true
    }

    /// Gives back the room of a frame that was held.
    #[cold]
    pub fn let_go(&mut self, frame: Octets) {
        if self.held.frames == 0 {
            return;
        }
        self.give_back(1, u64::from(frame.0).min(self.held.octets));
        if let Some(shared) = &mut self.shared {
            shared.due = true;
        }
    }

    /// No room is held for so many frames any more.
    #[cold]
    fn give_back(&mut self, frames: u64, octets: u64) {
        if let Some(shared) = &self.shared {
            shared.buffer.give(octets);
        }
        let limits = self.own_limits();
        *limits = Limits { frames: limits.frames + frames, octets: limits.octets + octets };
        self.held = Limits { frames: self.held.frames - frames, octets: self.held.octets - octets };
    }

    fn own_limits(&mut self) -> &mut Limits {
        match &mut self.shared {
            Some(shared) => &mut shared.own,
            None => &mut self.limits,
        }
    }

    /// Counts a frame that never got in.
    pub fn count_drop(&mut self, octets: Octets) {
        self.counters.dropped_frames += 1;
        self.counters.dropped_octets += u64::from(octets.0);
        if let Some(shared) = &mut self.shared {
            shared.due = false;
        }
    }

    /// Counts a frame that is larger than the class takes.
    #[cold]
    pub fn count_over_max_sdu(&mut self, octets: Octets) {
        self.counters.over_max_sdu_frames += 1;
        self.count_drop(octets);
    }

    /// Counts a frame that its gate closed on.
    #[cold]
    pub fn count_overrun(&mut self) {
        self.counters.transmission_overruns += 1;
    }

    /// The frame that goes next.
    #[inline]
    #[must_use]
    pub fn head(&self) -> Option<&F> {
        self.waiting.front()
    }

    /// Takes the frame that goes next.
    #[inline]
    pub fn pop(&mut self) -> Option<F> {
        let frame = self.waiting.pop_front()?;
        let octets = u64::from(frame.octets().0);
        self.octets -= octets;
        if let Some(shared) = &self.shared {
            shared.buffer.give(octets);
        }
        self.counters.sent_frames += 1;
        self.counters.sent_octets += octets;
        Some(frame)
    }

    /// Takes everything out, unsent; no room is held any more.
    pub fn clear(&mut self) -> impl Iterator<Item = F> + '_ {
        self.give_back(self.held.frames, self.held.octets);
        if let Some(shared) = &self.shared {
            shared.buffer.give(self.octets);
        }
        self.octets = 0;
        self.waiting.drain(..)
    }

    /// How many frames wait.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether none waits.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// What passed so far.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Copy, Clone, Debug)]
    struct Sized(u32);

    impl Frame for Sized {
        fn octets(&self) -> Octets {
            Octets(self.0)
        }
    }

    #[test]
    fn held_room_is_kept_in_shared_memory_too() {
        let buffer = SharedBuffer::new(&tsn_plan::Buffer { octets: 1_000, alpha_permille: Some(1_000) });
        let mut queues = [Queue::<Sized>::new(Limits::NONE), Queue::new(Limits::NONE)];
        queues.iter_mut().for_each(|queue| queue.share(&buffer));
        let [one, other] = &mut queues;
        assert!(one.hold(Octets(400)));
        assert!(!one.hold(Octets(400)), "more than what is free");
        assert!(other.push(Sized(300)));
        // By now 300 octets are free; the threshold for 400 was passed when it was kept.
        one.let_go(Octets(400));
        assert!(one.push(Sized(400)));
        assert!(!one.push(Sized(400)), "the next one has kept nothing");
        assert_eq!(buffer.counters().most_octets, 700);
        // Switched off, all of it is free again.
        assert!(one.pop().is_some() && one.hold(Octets(100)));
        assert_eq!((one.clear().count(), other.clear().count()), (0, 1));
        assert!(one.hold(Octets(500)) && one.counters().dropped_frames == 2);
    }
}
