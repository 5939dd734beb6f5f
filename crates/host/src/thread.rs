//! A talker's thread: it sleeps until its timer, prepares a frame and calls `send`, one frame at a time.
//!
//! OCORA Fig. 9.

use tsn_units::{Duration, Instant};

/// One thread with one socket.
#[derive(Copy, Clone, Debug)]
pub struct Thread {
    /// The thread is busy until this instant.
    free: Instant,
}

/// When one frame passes the stages of the talker's thread.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Passage {
    /// The thread runs.
    pub wakeup: Instant,
    /// The thread calls `send`.
    pub send: Instant,
    /// The frame is at the queueing discipline, and the call is about to return.
    pub qdisc: Instant,
}

impl Default for Thread {
    fn default() -> Self {
        Self { free: Instant::from_ps(i64::MIN) }
    }
}

impl Thread {
    /// The stages of a frame whose timer was set for `start`. A thread that is still busy then does not sleep, and
    /// continues as soon as it is free; so frames of one socket never overtake.
    pub fn pass(&mut self, start: Instant, wakeup: Duration, send: Duration, qdisc: Duration) -> Passage {
        let wakeup = if self.free > start { self.free } else { start + wakeup };
        let send = wakeup + send;
        let qdisc = send + qdisc;
        self.free = qdisc;
        Passage { wakeup, send, qdisc }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_wakeup_delays_the_frames_behind_it() {
        let us = |us: i64| Duration::from_ns(us * 1_000);
        let at = |time: i64| Instant::EPOCH + us(time);
        let mut thread = Thread::default();
        // Wakes 250 us late: the next two periods of 100 us have begun by then.
        let first = thread.pass(at(0), us(250), us(2), us(3));
        assert_eq!(first, Passage { wakeup: at(250), send: at(252), qdisc: at(255) });
        assert_eq!(thread.pass(at(100), us(4), us(2), us(3)).wakeup, at(255));
        assert_eq!(thread.pass(at(200), us(4), us(2), us(3)).wakeup, at(260));
        assert_eq!(thread.pass(at(300), us(4), us(2), us(3)).wakeup, at(304));
    }
}
