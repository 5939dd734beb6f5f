//! The queue of one traffic class, its limits and its counters.
//!
//! IEEE 802.1Q-2022, 8.6.6 and 8.6.7.

use crate::{DropCause, SharedBuffer, StateTaker};
use std::collections::VecDeque;
use tsn_units::Octets;

/// The properties of a frame that a port needs. All other properties concern only the driver, which is why ports are
/// generic.
pub trait Frame: Copy {
    /// Octets from destination address to FCS, tags included.
    fn octets(&self) -> Octets;
}

/// The greatest number of frames and octets that may wait in a queue.
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

/// The counters of a queue. A frame that starts at once is counted as having waited for no time.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Counters {
    pub enqueued_frames: u64,
    pub enqueued_octets: u64,
    pub dropped_frames: u64,
    pub dropped_octets: u64,
    pub sent_frames: u64,
    pub sent_octets: u64,
    /// Dropped frames that were larger than the class allows.
    pub over_max_sdu_frames: u64,
    /// Dropped frames that had waited for the longest time of the queue. They were enqueued before.
    pub delay_exceeded_frames: u64,
    /// Frames that were still on the wire when the gate closed.
    pub transmission_overruns: u64,
    /// Greatest number of waiting frames.
    pub most_frames: u64,
    /// Greatest number of waiting octets.
    pub most_octets: u64,
}

/// A queue, first in, first out.
#[derive(Clone, Debug)]
pub struct Queue<F> {
    waiting: VecDeque<F>,
    octets: u64,
    /// The limits of [`Self::fits`]: zero with a shared memory, so that only such queues check further.
    limits: Limits,
    shared: Option<Box<Shared>>,
    counters: Counters,
    /// Room reserved for frames that are not eligible yet; the limits are lowered by as much.
    reserved: Limits,
}

/// Memory that the queue shares with others.
#[derive(Clone, Debug)]
struct Shared {
    own: Limits,
    buffer: SharedBuffer,
    /// Whether the next frame had reserved room until now, so that no threshold applies to it.
    admitted: bool,
}

impl Shared {
    #[cold]
    fn pass(&mut self, octets: u64) {
        self.buffer.allocate(octets);
        self.buffer.free(octets);
        self.admitted = false;
    }
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
            reserved: Limits { frames: 0, octets: 0 },
        }
    }

    /// From now on frames of this queue wait in this memory.
    pub fn set_shared_buffer(&mut self, buffer: &SharedBuffer) {
        let own = std::mem::replace(&mut self.limits, Limits { frames: 0, octets: 0 });
        self.shared = Some(Box::new(Shared { own, buffer: buffer.clone(), admitted: false }));
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
        let own = self.octets + self.reserved.octets;
        let room = |shared: &Shared| {
            self.fits(&shared.own, frame) && (shared.admitted || shared.buffer.has_room(own, frame))
        };
        self.shared.as_deref().is_some_and(room)
    }

    /// Why a frame of this size finds no room.
    #[cold]
    #[must_use]
    pub fn drop_cause(&self, frame: Octets) -> DropCause {
        match &self.shared {
            Some(shared) if self.fits(&shared.own, frame) => {
                shared.buffer.count_drop(frame);
                DropCause::BufferFull
            }
            _ => DropCause::QueueFull,
        }
    }

    /// Appends a frame that has room.
    #[inline(always)]
    pub fn push(&mut self, frame: F) {
        let octets = u64::from(frame.octets().0);
        self.waiting.push_back(frame);
        self.octets += octets;
        if let Some(shared) = &mut self.shared {
            shared.buffer.allocate(octets);
            shared.admitted = false;
        }
        self.counters.enqueued_frames += 1;
        self.counters.enqueued_octets += octets;
        self.record_maximum();
    }

    /// Appends a frame that has room to the empty queue and takes it out again.
    #[inline(always)]
    pub fn pass(&mut self, frame: F) {
        let octets = u64::from(frame.octets().0);
        if let Some(shared) = &mut self.shared {
            shared.pass(octets);
        }
        self.counters.enqueued_frames += 1;
        self.counters.enqueued_octets += octets;
        self.counters.sent_frames += 1;
        self.counters.sent_octets += octets;
        self.counters.most_frames = self.counters.most_frames.max(1 + self.reserved.frames);
        self.counters.most_octets = self.counters.most_octets.max(octets + self.reserved.octets);
    }

    /// Reserves room for a frame that is not eligible yet, or counts it as dropped and returns false.
    #[cold]
    pub fn reserve(&mut self, frame: Octets) -> bool {
        if !self.has_room(frame) {
            let cause = self.drop_cause(frame);
            self.count_drop(frame, cause);
            return false;
        }
        let octets = u64::from(frame.0);
        if let Some(shared) = &self.shared {
            shared.buffer.allocate(octets);
        }
        let limits = self.own_limits();
        *limits = Limits { frames: limits.frames - 1, octets: limits.octets - octets };
        self.reserved = Limits { frames: self.reserved.frames + 1, octets: self.reserved.octets + octets };
        self.record_maximum();
        true
    }

    /// Updates the maxima; frames that are not eligible yet also wait.
    #[inline]
    fn record_maximum(&mut self) {
        let (frames, octets) =
            (self.waiting.len() as u64 + self.reserved.frames, self.octets + self.reserved.octets);
        self.counters.most_frames = self.counters.most_frames.max(frames);
        self.counters.most_octets = self.counters.most_octets.max(octets);
    }

    /// Frees the room that was reserved for a frame.
    #[cold]
    pub fn unreserve(&mut self, frame: Octets) {
        if self.reserved.frames == 0 {
            return;
        }
        self.free_reserved(1, u64::from(frame.0).min(self.reserved.octets));
        if let Some(shared) = &mut self.shared {
            shared.admitted = true;
        }
    }

    /// Frees reserved room of this many frames and octets.
    #[cold]
    fn free_reserved(&mut self, frames: u64, octets: u64) {
        if let Some(shared) = &self.shared {
            shared.buffer.free(octets);
        }
        let limits = self.own_limits();
        *limits = Limits { frames: limits.frames + frames, octets: limits.octets + octets };
        self.reserved =
            Limits { frames: self.reserved.frames - frames, octets: self.reserved.octets - octets };
    }

    fn own_limits(&mut self) -> &mut Limits {
        match &mut self.shared {
            Some(shared) => &mut shared.own,
            None => &mut self.limits,
        }
    }

    /// Counts a frame that was dropped, before the queue or from it.
    #[inline]
    pub fn count_drop(&mut self, octets: Octets, cause: DropCause) {
        self.counters.over_max_sdu_frames += u64::from(cause == DropCause::OverMaxSdu);
        self.counters.delay_exceeded_frames += u64::from(cause == DropCause::DelayExceeded);
        self.counters.dropped_frames += 1;
        self.counters.dropped_octets += u64::from(octets.0);
        if let Some(shared) = &mut self.shared {
            shared.admitted = false;
        }
    }

    /// Counts a frame whose gate closed during its transmission.
    #[cold]
    pub fn count_overrun(&mut self) {
        self.counters.transmission_overruns += 1;
    }

    /// The first frame.
    #[inline]
    #[must_use]
    pub fn head(&self) -> Option<&F> {
        self.waiting.front()
    }

    /// Takes the first frame, which is sent.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<F> {
        let frame = self.take()?;
        self.counters.sent_frames += 1;
        self.counters.sent_octets += u64::from(frame.octets().0);
        Some(frame)
    }

    /// Takes the first frame, which is dropped.
    #[cold]
    pub fn expire(&mut self) -> Option<F> {
        let frame = self.take()?;
        self.count_drop(frame.octets(), DropCause::DelayExceeded);
        Some(frame)
    }

    #[inline(always)]
    fn take(&mut self) -> Option<F> {
        let frame = self.waiting.pop_front()?;
        if self.waiting.is_empty() {
            // The next frame goes to the beginning, which is in the cache, instead of through all of the memory that
            // the longest queue so far has left.
            self.waiting.clear();
        }
        let octets = u64::from(frame.octets().0);
        self.octets -= octets;
        if let Some(shared) = &self.shared {
            shared.buffer.free(octets);
        }
        Some(frame)
    }

    /// Takes all frames out, unsent; frees all reserved room.
    pub fn clear(&mut self) -> impl Iterator<Item = F> + '_ {
        self.free_reserved(self.reserved.frames, self.reserved.octets);
        if let Some(shared) = &self.shared {
            shared.buffer.free(self.octets);
        }
        self.octets = 0;
        self.waiting.drain(..)
    }

    /// Number of waiting frames.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether the queue is empty.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Adds the waiting frames and the reserved room.
    pub(crate) fn put_state(&self, state: &mut StateTaker, put_frame: &mut impl FnMut(&F, &mut StateTaker)) {
        state.put_length(self.waiting.len());
        for frame in &self.waiting {
            put_frame(frame, state);
        }
        state.put(self.reserved.frames);
        state.put(self.reserved.octets);
    }

    /// The counters so far.
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

    /// Appends a frame, or counts it as dropped and returns false.
    fn offer(queue: &mut Queue<Sized>, frame: Sized) -> bool {
        let fits = queue.has_room(Octets(frame.0));
        if fits {
            queue.push(frame);
        } else {
            queue.count_drop(Octets(frame.0), DropCause::QueueFull);
        }
        fits
    }

    fn waiting(queue: &Queue<Sized>) -> Vec<u32> {
        queue.waiting.iter().map(|frame| frame.0).collect()
    }

    #[test]
    fn what_comes_first_goes_first() {
        let mut queue = Queue::new(Limits::NONE);
        assert!(queue.is_empty() && queue.head().is_none() && queue.pop().is_none());
        for octets in [64, 1_500, 100] {
            assert!(offer(&mut queue, Sized(octets)));
        }
        assert_eq!((waiting(&queue), queue.len(), queue.is_empty()), (vec![64, 1_500, 100], 3, false));
        assert_eq!(
            (queue.head().map(|frame| frame.0), queue.pop().map(|frame| frame.0)),
            (Some(64), Some(64))
        );
        assert!(offer(&mut queue, Sized(65)));
        assert_eq!(waiting(&queue), [1_500, 100, 65]);
        let counted = Counters {
            enqueued_frames: 4,
            enqueued_octets: 64 + 1_500 + 100 + 65,
            sent_frames: 1,
            sent_octets: 64,
            most_frames: 3,
            most_octets: 1_500 + 100 + 65,
            ..Counters::default()
        };
        assert_eq!(*queue.counters(), counted);
        assert_eq!(queue.clear().map(|frame| frame.0).collect::<Vec<_>>(), [1_500, 100, 65]);
        assert_eq!((queue.len(), queue.octets, queue.counters().sent_frames), (0, 0, 1));
        // A frame that has waited for too long is dropped in place of being sent.
        assert!(offer(&mut queue, Sized(70)) && offer(&mut queue, Sized(80)));
        assert_eq!(queue.expire().map(|frame| frame.0), Some(70));
        let counted = Counters {
            enqueued_frames: 6,
            enqueued_octets: counted.enqueued_octets + 150,
            dropped_frames: 1,
            dropped_octets: 70,
            delay_exceeded_frames: 1,
            ..counted
        };
        assert_eq!((queue.len(), queue.octets, *queue.counters()), (1, 80, counted));
    }

    #[test]
    fn what_is_beyond_a_limit_is_dropped_and_counted() {
        for (limits, taken) in [
            (Limits { frames: 2, octets: u64::MAX }, [true, true, false, false]),
            (Limits { frames: u64::MAX, octets: 400 }, [true, true, false, true]),
            (Limits { frames: 3, octets: 399 }, [true, true, false, false]),
            (Limits { frames: 0, octets: 0 }, [false; 4]),
        ] {
            let mut queue = Queue::new(limits);
            let frames = [100, 200, 101, 100].map(Sized);
            assert_eq!(frames.map(|frame| offer(&mut queue, frame)), taken, "{limits:?}");
            let octets = |wanted: bool| -> u64 {
                let of = frames.iter().zip(taken).filter(|(_, taken)| *taken == wanted);
                of.map(|(frame, _)| u64::from(frame.0)).sum()
            };
            let dropped = taken.iter().filter(|taken| !**taken).count() as u64;
            let counters = queue.counters();
            assert_eq!((counters.dropped_frames, counters.dropped_octets), (dropped, octets(false)));
            assert_eq!((counters.enqueued_frames, counters.enqueued_octets), (4 - dropped, octets(true)));
            assert_eq!((counters.most_frames, counters.most_octets), (4 - dropped, octets(true)));
            assert_eq!(queue.drop_cause(Octets(1_000)), DropCause::QueueFull);
        }
        let mut queue = Queue::<Sized>::new(Limits::NONE);
        queue.count_drop(Octets(2_000), DropCause::OverMaxSdu);
        queue.count_overrun();
        queue.count_overrun();
        let counted = Counters {
            dropped_frames: 1,
            dropped_octets: 2_000,
            over_max_sdu_frames: 1,
            transmission_overruns: 2,
            ..Counters::default()
        };
        assert_eq!(*queue.counters(), counted);
    }

    /// A frame that an ATS scheduler delays has its room until it becomes eligible.
    #[test]
    fn room_is_held() {
        let mut queue = Queue::new(Limits { frames: 2, octets: 500 });
        assert!(queue.reserve(Octets(300)));
        assert!(!queue.has_room(Octets(201)) && queue.has_room(Octets(200)));
        assert!(offer(&mut queue, Sized(200)));
        assert!(!queue.has_room(Octets(0)), "two frames");
        assert!(!queue.reserve(Octets(0)));
        assert_eq!((queue.counters().most_frames, queue.counters().most_octets), (2, 500));
        assert_eq!((queue.len(), queue.counters().dropped_frames), (1, 1));
        queue.unreserve(Octets(300));
        assert!(offer(&mut queue, Sized(300)));
        assert_eq!(waiting(&queue), [200, 300]);
        // No room is reserved any more, so none is freed.
        queue.unreserve(Octets(300));
        assert!(!queue.has_room(Octets(0)));
        assert_eq!(queue.clear().count(), 2);
        assert!(queue.has_room(Octets(500)) && !queue.has_room(Octets(501)));
    }

    /// A frame that passes is counted like one that waits for no time, in the queue and in the shared memory.
    #[test]
    fn a_frame_that_passes_counts_as_one_that_waits_for_no_time() {
        for (reserved, is_shared) in [(None, false), (Some(300), false), (None, true), (Some(300), true)] {
            let buffer =
                || SharedBuffer::new(&tsn_plan::Buffer { octets: 1_000, alpha_permille: Some(1_000) });
            let buffers = [(); 2].map(|()| buffer());
            let mut queues = [(); 2].map(|()| Queue::new(Limits { frames: 3, octets: 900 }));
            for (queue, buffer) in queues.iter_mut().zip(&buffers).filter(|_| is_shared) {
                queue.set_shared_buffer(buffer);
            }
            let [waits, passes] = &mut queues;
            for octets in [64, 500, 200] {
                if let Some(octets) = reserved {
                    assert!(waits.reserve(Octets(octets)) && passes.reserve(Octets(octets)));
                    waits.unreserve(Octets(octets));
                    passes.unreserve(Octets(octets));
                    // Frames that become eligible later still have room.
                    assert!(waits.reserve(Octets(octets)) && passes.reserve(Octets(octets)));
                }
                waits.push(Sized(octets));
                assert_eq!(waits.pop().map(|frame| frame.0), Some(octets));
                passes.pass(Sized(octets));
                assert_eq!(waits.counters(), passes.counters());
                for size in [1, 400, 600, 601, 700, 900, 901] {
                    assert_eq!(waits.has_room(Octets(size)), passes.has_room(Octets(size)), "{size}");
                }
                waits.clear().for_each(drop);
                passes.clear().for_each(drop);
            }
            assert_eq!(buffers[0].counters(), buffers[1].counters());
            assert_eq!(buffers[0].counters().most_octets > 0, is_shared);
        }
    }

    /// 1,000 octets; a queue may hold as much as is free.
    #[test]
    fn shared_memory_takes_what_is_within_the_threshold() {
        let plan = |octets, alpha_permille| tsn_plan::Buffer { octets, alpha_permille };
        let buffer = SharedBuffer::new(&plan(1_000, Some(1_000)));
        let mut queues = [(); 2].map(|()| Queue::<Sized>::new(Limits { frames: 3, octets: u64::MAX }));
        queues.iter_mut().for_each(|queue| queue.set_shared_buffer(&buffer));
        let [one, other] = &mut queues;
        assert!(offer(one, Sized(400)));
        // 600 octets are free: 200 more are allowed, 201 are not.
        assert!(!one.has_room(Octets(201)) && one.has_room(Octets(200)));
        assert!(other.has_room(Octets(600)) && !other.has_room(Octets(601)));
        assert!(!offer(one, Sized(201)));
        assert_eq!(one.drop_cause(Octets(201)), DropCause::BufferFull);
        assert!(offer(other, Sized(100)) && offer(other, Sized(100)) && offer(other, Sized(100)));
        assert!(!other.has_room(Octets(1)));
        assert_eq!(other.drop_cause(Octets(1)), DropCause::QueueFull);
        let counters = crate::BufferCounters { most_octets: 700, dropped_frames: 1, dropped_octets: 201 };
        assert_eq!(buffer.counters(), counters);
        // A frame that leaves makes room.
        assert!(!one.has_room(Octets(1)));
        assert!(
            other.pop().is_some()
                && other.pop().is_some()
                && one.has_room(Octets(100))
                && !one.has_room(Octets(101))
        );
        // Without a threshold, the queue may use all free octets; with half of them, a third.
        for (alpha, most) in [(None, 900), (Some(500), 300), (Some(2_000), 600)] {
            let buffer = SharedBuffer::new(&plan(900, alpha));
            let mut queue = Queue::<Sized>::new(Limits::NONE);
            queue.set_shared_buffer(&buffer);
            while offer(&mut queue, Sized(1)) {}
            assert_eq!(queue.len(), most, "{alpha:?}");
        }
    }

    #[test]
    fn held_room_is_kept_in_shared_memory_too() {
        let buffer = SharedBuffer::new(&tsn_plan::Buffer { octets: 1_000, alpha_permille: Some(1_000) });
        let mut queues = [Queue::<Sized>::new(Limits::NONE), Queue::new(Limits::NONE)];
        queues.iter_mut().for_each(|queue| queue.set_shared_buffer(&buffer));
        let [one, other] = &mut queues;
        assert!(one.reserve(Octets(400)));
        assert!(!one.reserve(Octets(400)), "more than what is free");
        assert!(offer(other, Sized(300)));
        // By now 300 octets are free; the threshold for 400 was checked when they were reserved.
        one.unreserve(Octets(400));
        assert!(offer(one, Sized(400)));
        assert!(!offer(one, Sized(400)), "the next one has kept nothing");
        assert_eq!(buffer.counters().most_octets, 700);
        // After a restart of the node all memory is free again.
        assert!(one.pop().is_some() && one.reserve(Octets(100)));
        assert_eq!((one.clear().count(), other.clear().count()), (0, 1));
        assert!(one.reserve(Octets(500)) && one.counters().dropped_frames == 2);
    }
}
