//! The journal of a run that is replayed: when each frame came, was processed, queued and sent, at every port.
//!
//! It exists only where the sink wants passages, and remembers only frames that are in the network.

use crate::ids::HopId;
use crate::kernel::event::Frame;
use std::collections::{HashMap, VecDeque};
use tsn_observation::Passage;
use tsn_units::Instant;

/// A place in a host's software.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Place {
    /// The frame reaches the queueing discipline.
    Qdisc,
    /// The queueing discipline hands it to the driver.
    Handed,
    /// The driver has loaded it into the hardware.
    Loaded,
}

/// A frame between its arrival at a node and its transmission there.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Waiting {
    pub before: Option<u64>,
    pub came: Instant,
    /// By [`Place`].
    pub software: [Option<Instant>; 3],
    pub queued: Option<Instant>,
    /// Known once transmission selection could select the frame.
    pub eligible: Option<Instant>,
}

impl Waiting {
    fn since(came: Instant, before: Option<u64>) -> Self {
        Self { before, came, software: [None; 3], queued: None, eligible: None }
    }
}

/// The frames of a run that are in the network.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    /// By hop and sequence number; duplicates of a frame are in the order in which they come.
    pub waiting: HashMap<(HopId, u64), VecDeque<Waiting>>,
    /// Frames that are handled when they arrive: by hop, sequence number and arrival. A duplicate has no passage of
    /// its own, but the number of the frame's passage.
    pub landing: HashMap<(HopId, u64, Instant), (u64, Option<Passage>)>,
    /// The passage that began last, until it is known how it ends.
    pub open: Option<Passage>,
    /// The passage of the frame that is forwarded now.
    pub current: Option<u64>,
    pub passages: u64,
}

impl Journal {
    /// A frame will be put into the queue of its hop, or into the software before it; `queued` is known beforehand if
    /// it then waits there until it is eligible.
    ///
    /// This is told when the frame begins to leave the node before. Of duplicates over two links, the one that is told
    /// last may come first.
    pub fn expect(&mut self, frame: Frame, came: Instant, queued: Option<Instant>, at_talker: bool) {
        let before = if at_talker { None } else { self.current };
        let list = self.waiting.entry((frame.hop(), frame.seq)).or_default();
        let later = list.iter().position(|one| one.eligible.is_none() && one.came > came);
        list.insert(later.unwrap_or(list.len()), Waiting { queued, ..Waiting::since(came, before) });
    }

    /// A frame may be selected from now on.
    pub fn queue(&mut self, frame: Frame, now: Instant) {
        let list = self.waiting.entry((frame.hop(), frame.seq)).or_default();
        if !list.iter().any(|one| one.eligible.is_none()) {
            list.push_back(Waiting::since(now, None));
        }
        if let Some(one) = list.iter_mut().find(|one| one.eligible.is_none()) {
            one.queued.get_or_insert(now);
            one.eligible = Some(now);
        }
    }

    /// A frame leaves its queue.
    pub fn leave(&mut self, frame: Frame, now: Instant) -> Waiting {
        let key = (frame.hop(), frame.seq);
        let list = self.waiting.get_mut(&key);
        let found = list.and_then(VecDeque::pop_front).unwrap_or_else(|| Waiting::since(now, None));
        self.tidy(key);
        found
    }

    /// A frame is dropped or lost before it is sent.
    pub fn forget(&mut self, frame: Frame, now: Instant) {
        let key = (frame.hop(), frame.seq);
        if let Some(list) = self.waiting.get_mut(&key) {
            let last = list.iter().rposition(|one| one.came <= now).or_else(|| list.len().checked_sub(1));
            last.and_then(|place| list.remove(place));
        }
        self.tidy(key);
    }

    fn tidy(&mut self, key: (HopId, u64)) {
        if self.waiting.get(&key).is_some_and(VecDeque::is_empty) {
            self.waiting.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Over a slow link a frame begins to leave first and comes last; its duplicate over a fast link is queued first.
    #[test]
    fn a_duplicate_that_comes_first_is_queued_first() {
        let at = |ps| Instant::from_ps(ps);
        let frame = Frame::new(7, HopId(3), 64);
        let mut journal = Journal::default();
        journal.expect(frame, at(900), None, true);
        journal.expect(frame, at(500), None, true);
        journal.queue(frame, at(510));
        assert_eq!(journal.leave(frame, at(520)).came, at(500));
        journal.queue(frame, at(910));
        assert_eq!(journal.leave(frame, at(920)).came, at(900));
        assert!(journal.waiting.is_empty());
    }

    #[test]
    fn a_frame_that_is_lost_is_one_that_has_come() {
        let at = |ps| Instant::from_ps(ps);
        let frame = Frame::new(7, HopId(3), 64);
        let mut journal = Journal::default();
        journal.expect(frame, at(900), None, true);
        journal.expect(frame, at(500), None, true);
        journal.forget(frame, at(510));
        journal.queue(frame, at(910));
        assert_eq!(journal.leave(frame, at(920)).came, at(900));
    }
}
