//! The kernel's credit-based shaper: credit counts octets of frames without preamble, gap and check sequence.
//!
//! tc-cbs(8) without offload. It computes in nanoseconds and whole octets, as the kernel does.

use crate::HostTime;
use std::collections::VecDeque;
use tsn_units::Duration;

const NS_PER_S: i128 = 1_000_000_000;

/// One queue with its credit.
#[derive(Clone, Debug)]
pub struct CreditBasedQdisc<T> {
    /// Octets per second.
    idle: i128,
    send: i128,
    high: i128,
    low: i128,
    rate: i128,
    limit: usize,
    queue: VecDeque<(T, u32)>,
    credits: i128,
    /// Credit is counted up to this instant; the frame sent last is on the wire until then.
    last: HostTime,
    wake: Option<HostTime>,
}

/// The numbers of `tc qdisc … cbs`.
#[derive(Copy, Clone, Debug)]
pub struct Numbers {
    /// kbit/s.
    pub idleslope: i64,
    /// kbit/s.
    pub sendslope: i64,
    /// Octets.
    pub hicredit: i64,
    /// Octets.
    pub locredit: i64,
}

impl<T> CreditBasedQdisc<T> {
    /// An empty queue without credit, at a port of `rate_bps`.
    #[must_use]
    pub fn new(numbers: Numbers, rate_bps: u64, limit: u32) -> Self {
        Self {
            idle: i128::from(numbers.idleslope) * 125,
            send: i128::from(numbers.sendslope) * 125,
            high: i128::from(numbers.hicredit),
            low: i128::from(numbers.locredit),
            rate: i128::from(rate_bps / 8).max(1),
            limit: limit as usize,
            queue: VecDeque::new(),
            credits: 0,
            last: HostTime::from_ps(0),
            wake: None,
        }
    }

    /// Takes a frame, or gives it back where the queue is full.
    ///
    /// # Errors
    /// The frame.
    pub fn enqueue(&mut self, now: HostTime, item: T, octets: u32) -> Result<(), T> {
        if self.queue.len() >= self.limit {
            return Err(item);
        }
        if self.queue.is_empty() && self.credits > 0 {
            self.credits = 0;
            self.last = now;
        }
        self.queue.push_back((item, octets));
        Ok(())
    }

    /// The first frame, once the credit is not negative.
    pub fn dequeue(&mut self, now: HostTime) -> Option<T> {
        self.wake = None;
        if self.queue.is_empty() {
            return None;
        }
        // The previous frame is still being sent.
        if now < self.last {
            self.wake = Some(self.last);
            return None;
        }
        if self.credits < 0 {
            let passed = i128::from((now - self.last).ps() / 1_000);
            self.credits = (self.credits + passed * self.idle / NS_PER_S).min(self.high);
            if self.credits < 0 {
                // The wait is rounded up. The kernel rounds it down, but its timer is always later than that.
                let wait = (-self.credits * NS_PER_S + self.idle - 1) / self.idle.max(1);
                self.last = now;
                self.wake = Some(now + nanoseconds(wait.max(1)));
                return None;
            }
        }
        let (item, octets) = self.queue.pop_front()?;
        let octets = i128::from(octets);
        self.credits = (self.credits + octets * self.send / self.rate).max(self.low);
        self.last = now + nanoseconds(octets * NS_PER_S / self.rate);
        Some(item)
    }

    /// Takes out all frames that wait. Credit is counted as if the wire had been idle.
    pub fn flush(&mut self) -> Vec<T> {
        self.wake = None;
        std::mem::take(&mut self.queue).into_iter().map(|(item, _)| item).collect()
    }

    /// When the qdisc's timer expires.
    #[must_use]
    pub fn wake(&self) -> Option<HostTime> {
        self.wake
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

fn nanoseconds(ns: i128) -> Duration {
    Duration::from_ns(i64::try_from(ns).unwrap_or(i64::MAX / 8_000).min(i64::MAX / 8_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credit_is_lost_when_nothing_waits() {
        let at = |us: i64| HostTime::from_ps(us * 1_000_000);
        let numbers =
            Numbers { idleslope: 500_000, sendslope: -500_000, hicredit: 10_000, locredit: -10_000 };
        let mut cbs = CreditBasedQdisc::new(numbers, 1_000_000_000, 10);
        let mut send =
            |us: i64, item: char| cbs.enqueue(at(us), item, 1_000).is_ok().then(|| cbs.dequeue(at(us)));
        // The second frame leaves with the greatest possible credit, and most of that credit is left afterwards.
        assert_eq!(
            [(0, 'a'), (1_000, 'b'), (2_000, 'c')].map(|(us, item)| send(us, item)),
            [Some(Some('a')), Some(Some('b')), Some(Some('c'))]
        );
        // So the third frame leaves at once, and the next frame waits for the credit that the third one spent.
        assert_eq!(send(2_008, 'd'), Some(None));
    }
}
