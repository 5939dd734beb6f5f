//! The kernel's credit-based shaper: credit counts octets of frames without preamble, gap and check sequence, unless
//! a table of sizes adds them (`tc-stab(8)`, `overhead`).
//!
//! tc-cbs(8) without offload. It computes in nanoseconds and whole octets, as the kernel does (`cbs_dequeue_soft` of
//! `net/sched/sch_cbs.c`, Linux 6.12): a fraction of an octet is lost whenever credit is computed, also when no frame
//! waits. Credit that is not negative does not rise while a frame waits behind the shaper.

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
    overhead: u32,
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
    /// Octets that count for each frame in addition to its own (`stab overhead`).
    pub overhead: u32,
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
            overhead: numbers.overhead,
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
        self.queue.push_back((item, octets.saturating_add(self.overhead)));
        Ok(())
    }

    /// The first frame, once the credit is not negative. The kernel asks again after each frame, so the timer is also
    /// set where no frame is left.
    pub fn dequeue(&mut self, now: HostTime) -> Option<T> {
        self.wake = None;
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
        let numbers = Numbers {
            idleslope: 500_000,
            sendslope: -500_000,
            hicredit: 10_000,
            locredit: -10_000,
            overhead: 0,
        };
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

    /// `sch_cbs.c` of Linux 6.12 without offload, line by line: the oracle of this file.
    struct Kernel {
        credits: i64,
        last: i64,
        waiting: VecDeque<i64>,
        timer: Option<i64>,
    }

    /// Slopes and rate in octets per second. 10 octets per us make each wait a whole number of ns.
    const IDLE: i64 = 10_000_000;
    const SEND: i64 = -115_000_000;
    const RATE: i64 = 125_000_000;
    const HIGH: i64 = 60;
    const LOW: i64 = -700;
    const NSEC_PER_SEC: i64 = 1_000_000_000;

    impl Kernel {
        fn enqueue(&mut self, now: i64, len: i64) {
            if self.waiting.is_empty() && self.credits > 0 {
                self.credits = 0;
                self.last = now;
            }
            self.waiting.push_back(len);
        }

        fn dequeue(&mut self, now: i64) -> Option<i64> {
            self.timer = None;
            if now < self.last {
                self.timer = Some(self.last);
                return None;
            }
            if self.credits < 0 {
                let gained = (now - self.last) * IDLE / NSEC_PER_SEC;
                self.credits = (self.credits + gained).min(HIGH);
                if self.credits < 0 {
                    self.timer = Some(now + -self.credits * NSEC_PER_SEC / IDLE);
                    self.last = now;
                    return None;
                }
            }
            let len = self.waiting.pop_front()?;
            self.credits = (len * SEND / RATE + self.credits).max(LOW);
            self.last = now + len * NSEC_PER_SEC / RATE;
            Some(len)
        }
    }

    /// Numbers that look random, the same in each run (Knuth's linear congruential generator).
    fn random(state: &mut u64, below: i64) -> i64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i64::try_from(*state >> 33).unwrap_or_default() % below
    }

    /// Frames of any size at any time, and a timer that is up to 300 ns late: the same frames leave at the same ns.
    #[test]
    fn frames_leave_as_the_source_of_the_kernel_computes() {
        let mut state = 7;
        let (mut at_wakes, mut clamped) = (0, 0);
        for _ in 0..200 {
            let mut kernel = Kernel { credits: 0, last: 0, waiting: VecDeque::new(), timer: None };
            let numbers = Numbers {
                idleslope: IDLE / 125,
                sendslope: SEND / 125,
                hicredit: HIGH,
                locredit: LOW,
                overhead: 24,
            };
            let mut ours = CreditBasedQdisc::new(numbers, 1_000_000_000, 1_000);
            let (mut now, mut arrives, mut late) = (0, random(&mut state, 100_000), 0);
            for _ in 0..200 {
                let arrival = kernel.timer.is_none_or(|timer| arrives <= timer + late);
                now = if arrival { arrives } else { kernel.timer.map_or(now, |timer| timer + late) };
                let at = HostTime::from_ps(now * 1_000);
                if arrival {
                    let len = 60 + random(&mut state, 1_460);
                    kernel.enqueue(now, len + 24);
                    assert!(ours.enqueue(at, len + 24, u32::try_from(len).unwrap()).is_ok());
                    arrives = now + random(&mut state, 150_000);
                }
                loop {
                    let (theirs, own) = (kernel.dequeue(now), ours.dequeue(at));
                    assert_eq!(own, theirs);
                    at_wakes += i32::from(own.is_some() && !arrival);
                    if own.is_none() {
                        break;
                    }
                }
                clamped += i32::from(kernel.credits == LOW);
                assert_eq!(ours.wake(), kernel.timer.map(|timer| HostTime::from_ps(timer * 1_000)));
                late = random(&mut state, 300);
            }
        }
        assert!(at_wakes > 1_000 && clamped > 1_000, "{at_wakes} {clamped}");
    }
}
