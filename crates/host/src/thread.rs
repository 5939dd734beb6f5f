//! A talker's thread: it sleeps until its timer, calls `send` and makes its next frame ready, one frame at a time.
//!
//! OCORA Fig. 9.

use tsn_units::{Duration, Instant};

/// One thread with one socket.
#[derive(Copy, Clone, Debug)]
pub struct Thread {
    /// The thread is busy until this instant.
    free: Instant,
}

/// How long the stages of a thread take for one frame.
#[derive(Copy, Clone, Debug, Default)]
pub struct Takes {
    /// From the timer until a thread runs that slept.
    pub wakeup: Duration,
    /// From the end of the thread's last frame until it goes on, if it did not sleep.
    pub turn: Duration,
    /// Until the call of `send`.
    pub send: Duration,
    /// From there to the queueing discipline.
    pub qdisc: Duration,
    /// From there until the next frame is ready.
    pub prepare: Duration,
}

/// When one frame passes the stages of the talker's thread.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Passage {
    /// The thread runs.
    pub wakeup: Instant,
    /// The thread calls `send`.
    pub send: Instant,
    /// The frame is at the queueing discipline.
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
    pub fn pass(&mut self, start: Instant, takes: Takes) -> Passage {
        let wakeup = if self.free > start { self.free + takes.turn } else { start + takes.wakeup };
        let send = wakeup + takes.send;
        let qdisc = send + takes.qdisc;
        self.free = qdisc + takes.prepare;
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
        let takes = |wakeup: i64| Takes { wakeup: us(wakeup), send: us(2), qdisc: us(3), ..Takes::default() };
        let first = thread.pass(at(0), takes(250));
        assert_eq!(first, Passage { wakeup: at(250), send: at(252), qdisc: at(255) });
        assert_eq!(thread.pass(at(100), takes(4)).wakeup, at(255));
        assert_eq!(thread.pass(at(200), takes(4)).wakeup, at(260));
        assert_eq!(thread.pass(at(300), takes(4)).wakeup, at(304));
    }

    #[test]
    fn the_first_frame_is_ready_before_its_timer_and_the_next_ones_are_not() {
        let us = |us: i64| Duration::from_ns(us * 1_000);
        let at = |time: i64| Instant::EPOCH + us(time);
        let mut thread = Thread::default();
        let takes = Takes { wakeup: us(4), turn: us(7), send: us(2), qdisc: us(3), prepare: us(10) };
        assert_eq!(thread.pass(at(0), takes).qdisc, at(9));
        // Ready at 19 us; another program had the processor, so the thread runs 7 us later.
        assert_eq!(thread.pass(at(0), takes).qdisc, at(31));
        assert_eq!(thread.pass(at(41), takes).wakeup, at(45), "it sleeps again");
    }
}
