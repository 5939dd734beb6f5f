//! The delay of a link and the neighbour's rate ratio by the peer-to-peer delay mechanism.
//!
//! IEEE 802.1AS-2020, 11.2.19 and 11.2.20; EnGINE eq. 1.

use crate::median::Median;
use std::collections::VecDeque;
use tsn_units::{Duration, Free, Frequency, Instant};

/// Number of exchanges over which the neighbour's rate ratio is measured.
const EXCHANGES: usize = 7;

/// The four timestamps of one exchange, and the resulting delay.
///
/// `request_sent` and `response_received` are on the requester's oscillator, the other two on the neighbour's.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct LinkDelay {
    /// t1.
    pub request_sent: Instant<Free>,
    /// t2.
    pub request_received: Instant<Free>,
    /// t3.
    pub response_sent: Instant<Free>,
    /// t4.
    pub response_received: Instant<Free>,
}

impl LinkDelay {
    /// EnGINE eq. 1, ((t2 - t1) + (t4 - t3)) / 2, in the neighbour's time: `neighbour` is the neighbour's rate
    /// offset.
    #[must_use]
    pub fn mean(&self, neighbour: Frequency) -> Duration {
        let round_trip = neighbour.scale(self.response_received - self.request_sent);
        let turnaround = self.response_sent - self.request_received;
        Duration::from_ps((round_trip - turnaround).ps().div_euclid(2))
    }
}

/// The requesting side of one port.
#[derive(Clone, Debug, Default)]
pub struct Pdelay {
    sequence: u16,
    /// t1 of the open exchange.
    request_sent: Option<Instant<Free>>,
    /// t2 and t4 of the open exchange.
    response: Option<(Instant<Free>, Instant<Free>)>,
    /// t3 and t4 of past exchanges.
    past: VecDeque<(Instant<Free>, Instant<Free>)>,
    delays: Median,
    neighbour_rate: Frequency,
}

impl Pdelay {
    /// Begins a new exchange; returns its number. An open exchange is given up.
    pub fn new_request(&mut self) -> u16 {
        self.sequence = self.sequence.wrapping_add(1);
        self.request_sent = None;
        self.response = None;
        self.sequence
    }

    /// The request has left.
    pub fn request_sent(&mut self, sequence: u16, at: Instant<Free>) {
        if sequence == self.sequence {
            self.request_sent = Some(at);
        }
    }

    /// Handles the response, which contains the arrival of the request.
    pub fn response(&mut self, sequence: u16, request_received: Instant<Free>, at: Instant<Free>) {
        if sequence == self.sequence {
            self.response = Some((request_received, at));
        }
    }

    /// Handles the follow-up, which contains the departure of the response and completes the exchange.
    pub fn follow_up(&mut self, sequence: u16, response_sent: Instant<Free>) {
        let (Some(request_sent), Some((request_received, response_received)), true) =
            (self.request_sent.take(), self.response.take(), sequence == self.sequence)
        else {
            return;
        };
        self.past.push_back((response_sent, response_received));
        if self.past.len() > EXCHANGES + 1 {
            self.past.pop_front();
        }
        if let Some((first_sent, first_received)) = self.past.front().copied()
            && let Some(frequency) =
                Frequency::of(response_sent - first_sent, response_received - first_received)
        {
            self.neighbour_rate = frequency;
        }
        let times = LinkDelay { request_sent, request_received, response_sent, response_received };
        self.delays.put(times.mean(self.neighbour_rate));
    }

    /// The rate offset of the neighbour's oscillator (`neighborRateRatio`, less one).
    #[must_use]
    pub fn neighbour_rate(&self) -> Frequency {
        self.neighbour_rate
    }

    /// The link's delay in the neighbour's time (`meanLinkDelay`): the median of the last exchanges. None before the
    /// first exchange.
    #[must_use]
    pub fn mean_link_delay(&self) -> Option<Duration> {
        self.delays.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ns: i64) -> Instant<Free> {
        Instant::from_ns(ns)
    }

    /// Links of 500 and 700 ns and any offset of the clocks: the mean is 600, and half the difference is the error.
    #[test]
    fn the_mean_is_equation_1() {
        for offset in [0, 1_000_000, -12_345_678] {
            for (there, back, turnaround, mean) in [(500, 500, 10_000, 500), (500, 700, 1, 600), (0, 0, 0, 0)]
            {
                let sent = 1_000;
                let received = sent + there + offset;
                let times = LinkDelay {
                    request_sent: at(sent),
                    request_received: at(received),
                    response_sent: at(received + turnaround),
                    response_received: at(sent + there + turnaround + back),
                };
                assert_eq!(times.mean(Frequency::NOMINAL), Duration::from_ns(mean));
            }
        }
    }

    #[test]
    fn a_neighbours_pace_is_seen_and_allowed_for() {
        // The neighbour is 100 ppm faster and takes 10 ms to respond, which alone would be an error of 500 ns.
        let mut pdelay = Pdelay::default();
        let neighbours = |ns: i64| at(ns + ns / 10_000);
        for exchange in 0..12 {
            let start = exchange * 1_000_000_000;
            let sequence = pdelay.new_request();
            pdelay.request_sent(sequence, at(start));
            pdelay.response(sequence, neighbours(start + 500), at(start + 10_001_000));
            pdelay.follow_up(sequence, neighbours(start + 10_000_500));
            // A follow-up of another exchange is ignored.
            pdelay.follow_up(sequence.wrapping_sub(1), at(0));
        }
        assert!((pdelay.neighbour_rate().ppt() - 100_000_000).abs() < 1_000);
        let delay = pdelay.mean_link_delay().map(|delay| delay.floor_ns());
        assert!(delay.is_some_and(|ns| (ns - 500).abs() <= 1), "{delay:?}");
    }

    /// Makes one exchange a second over a link of 500 ns each way; returns the rate ratio after each in parts of
    /// 10^9. `noise_ns` is the error of every response's departure timestamp.
    fn frequencies(noise_ns: &[i64]) -> Vec<i64> {
        let mut pdelay = Pdelay::default();
        let exchange = |(place, noise): (usize, &i64)| {
            let start = place as i64 * 1_000_000_000;
            let sequence = pdelay.new_request();
            pdelay.request_sent(sequence, at(start));
            pdelay.response(sequence, at(start + 500), at(start + 1_500));
            pdelay.follow_up(sequence, at(start + 1_000 + noise));
            (pdelay.neighbour_rate().ppt() + 500).div_euclid(1_000)
        };
        noise_ns.iter().enumerate().map(exchange).collect()
    }

    /// The rate ratio is that of the oldest and the newest of eight responses, so that the noise of a timestamp
    /// counts a seventh.
    #[test]
    fn the_pace_is_over_seven_exchanges() {
        // 2,100 ns too late at the end of k seconds are 2,100 / k parts of 10^9; the ninth exchange does not depend
        // on it.
        assert_eq!(
            frequencies(&[-2_100, 0, 0, 0, 0, 0, 0, 0, 0]),
            [0, 2_100, 1_050, 700, 525, 420, 350, 300, 0]
        );
        assert_eq!(frequencies(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 2_100]), [0, 0, 0, 0, 0, 0, 0, 0, 0, 300]);
    }

    /// Messages of an older exchange are ignored.
    #[test]
    fn only_the_open_exchange_counts() {
        let mut pdelay = Pdelay::default();
        let old = pdelay.new_request();
        pdelay.request_sent(old, at(0));
        pdelay.response(old, at(500), at(1_500));
        let new = pdelay.new_request();
        assert_eq!((old, new), (1, 2));
        pdelay.follow_up(old, at(1_000));
        assert_eq!(pdelay.mean_link_delay(), None, "it was given up");
        pdelay.request_sent(new, at(10_000));
        pdelay.request_sent(old, at(0));
        pdelay.response(new, at(10_600), at(11_600));
        pdelay.response(old, at(0), at(0));
        pdelay.follow_up(new, at(11_000));
        assert_eq!(pdelay.mean_link_delay(), Some(Duration::from_ns(600)));
        pdelay.follow_up(new, at(11_000));
        assert_eq!(pdelay.past.len(), 1, "an exchange ends once");
    }

    #[test]
    fn an_exchange_that_lost_a_message_says_nothing() {
        let mut pdelay = Pdelay::default();
        let sequence = pdelay.new_request();
        pdelay.request_sent(sequence, at(1));
        pdelay.follow_up(sequence, at(2));
        assert_eq!(pdelay.mean_link_delay(), None);
    }
}
