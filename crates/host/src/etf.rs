//! The earliest-transmission-time-first queueing discipline.
//!
//! tc-etf(8). Strict mode: a frame is handed on from `delta` before its transmission time on, and dropped once that
//! time has passed. Deadline mode: a frame is handed on as soon as possible, and its transmission time becomes the
//! present.

use crate::{DropCause, HostTime, SocketOptions};
use std::collections::BTreeMap;
use tsn_units::Duration;

/// One queue in the order of transmission times; frames with equal times leave in the order of their arrival.
#[derive(Clone, Debug)]
pub struct Etf<T> {
    delta: Duration,
    deadline: bool,
    skip_sock_check: bool,
    queue: BTreeMap<(HostTime, u64), T>,
    /// The transmission time of the frame that was handed on last.
    last: HostTime,
    arrivals: u64,
}

impl<T> Etf<T> {
    /// An empty queue.
    #[must_use]
    pub fn new(delta: Duration, deadline: bool, skip_sock_check: bool) -> Self {
        let last = HostTime::from_ps(i64::MIN);
        Self { delta, deadline, skip_sock_check, queue: BTreeMap::new(), last, arrivals: 0 }
    }

    /// Takes a frame, or gives it back with the cause of its drop. `socket` is none for frames that are forwarded.
    ///
    /// # Errors
    /// The frame and the cause of its drop.
    pub fn enqueue(
        &mut self,
        now: HostTime,
        txtime: Option<HostTime>,
        socket: Option<SocketOptions>,
        item: T,
    ) -> Result<(), (T, DropCause)> {
        let fits =
            |socket: SocketOptions| socket.txtime && !socket.other_clock && socket.deadline == self.deadline;
        if !self.skip_sock_check && !socket.is_some_and(fits) {
            return Err((item, DropCause::Socket));
        }
        // A frame without a transmission time has the transmission time 0 (1970), which has passed.
        let Some(txtime) = txtime.filter(|txtime| *txtime >= now && *txtime >= self.last) else {
            return Err((item, DropCause::Late));
        };
        self.queue.insert((txtime, self.arrivals), item);
        self.arrivals += 1;
        Ok(())
    }

    /// Hands on the first frame with its transmission time, or drops it as expired; none while there is nothing to
    /// do. The caller repeats the call until the result is none.
    pub fn dequeue(&mut self, now: HostTime) -> Option<Result<(T, HostTime), T>> {
        let (txtime, _) = *self.queue.first_key_value()?.0;
        if txtime < now {
            return self.queue.pop_first().map(|(_, item)| Err(item));
        }
        let handed = if self.deadline {
            now
        } else if txtime - self.delta <= now {
            txtime
        } else {
            return None;
        };
        self.last = handed;
        self.queue.pop_first().map(|(_, item)| Ok((item, handed)))
    }

    /// Takes out all frames that wait, and starts anew.
    pub fn flush(&mut self) -> Vec<T> {
        self.last = HostTime::from_ps(i64::MIN);
        std::mem::take(&mut self.queue).into_values().collect()
    }

    /// When the qdisc's timer expires.
    #[must_use]
    pub fn wake(&self) -> Option<HostTime> {
        self.queue.first_key_value().map(|(key, _)| key.0 - self.delta)
    }

    /// Number of waiting frames.
    #[must_use]
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether the queue is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_taken_for_before_what_was_handed_on() {
        let at = |ns: i64| HostTime::from_ps(ns * 1_000);
        let mut etf = Etf::new(Duration::from_ns(10), false, true);
        assert!(etf.enqueue(at(0), Some(at(100)), None, 'a').is_ok());
        assert_eq!(etf.dequeue(at(89)), None);
        assert_eq!(etf.dequeue(at(90)), Some(Ok(('a', at(100)))));
        assert_eq!(etf.enqueue(at(91), Some(at(99)), None, 'b'), Err(('b', DropCause::Late)));
        assert!(etf.enqueue(at(91), Some(at(100)), None, 'c').is_ok());
    }
}
