//! The mean path delay to a master by the delay request-response mechanism.
//!
//! IEEE 1588-2019, 11.3; FlexTest eq. 1.

use crate::Stamp;
use crate::median::Median;
use std::collections::VecDeque;
use tsn_units::{Duration, Free, Frequency, Instant, Local};

/// Number of Sync intervals over which the master's rate ratio is measured.
const SYNCS: usize = 7;

/// A greater rate offset of the master means that its clock was set: 2000 ppm.
const MAX_RATE_OFFSET: Frequency = Frequency::from_ppt(2_000_000_000);

/// When a Sync left the master (t1), and when it arrived (t2).
type SyncTimes = (Instant<Local>, Instant<Free>);

/// The requesting side of a slave port.
#[derive(Clone, Debug, Default)]
pub struct EndToEnd {
    sequence: u16,
    /// The last Sync: when it left the master, with the residence times in transparent clocks added (t1), and when it
    /// arrived (t2).
    sync: Option<SyncTimes>,
    /// The times of earlier Syncs.
    past: VecDeque<SyncTimes>,
    /// The open request: its Sync, and when it left (t3).
    request: Option<(SyncTimes, Option<Instant<Free>>)>,
    delays: Median,
    master_rate: Frequency,
}

impl EndToEnd {
    /// Handles a Sync whose origin timestamp is known.
    pub fn sync(&mut self, left: Instant<Local>, at: Stamp) {
        self.sync = Some((left, at.free));
        self.past.push_back((left, at.free));
        if self.past.len() > SYNCS + 1 {
            self.past.pop_front();
        }
        if let Some((first_left, first_at)) = self.past.front().copied()
            && let Some(frequency) = Frequency::of(left - first_left, at.free - first_at)
        {
            if frequency.units().abs() < MAX_RATE_OFFSET.units() {
                self.master_rate = frequency;
            } else {
                // The rate is too far off: the master's clock was set, so earlier samples are discarded.
                self.past.drain(..self.past.len() - 1);
                self.request = None;
            }
        }
    }

    /// Makes a new request; none before the first Sync. An open request is given up.
    pub fn new_request(&mut self) -> Option<u16> {
        let sync = self.sync?;
        self.sequence = self.sequence.wrapping_add(1);
        self.request = Some((sync, None));
        Some(self.sequence)
    }

    /// The request has left.
    pub fn request_sent(&mut self, sequence: u16, at: Instant<Free>) {
        if let Some((_, sent)) = self.request.as_mut().filter(|_| sequence == self.sequence) {
            *sent = Some(at);
        }
    }

    /// Handles the response: `received` (t4) is on the master's clock, with the residence times in transparent clocks
    /// subtracted.
    pub fn response(&mut self, sequence: u16, received: Instant<Local>) {
        if sequence != self.sequence {
            return;
        }
        let Some(((left, at), Some(sent))) = self.request.take() else { return };
        // ((t2 - t1) + (t4 - t3)) / 2, with t3 - t2 in the master's time.
        let turnaround = self.master_rate.scale(sent - at);
        self.delays.put(Duration::from_ps((received - left - turnaround).ps().div_euclid(2)));
    }

    /// The mean path delay (`meanPathDelay`): the median of the last measurements.
    #[must_use]
    pub fn mean_path_delay(&self) -> Option<Duration> {
        self.delays.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Paths of different lengths and a master that is 10 s ahead and 100 ppm faster: the mean is exact to the
    /// nanosecond.
    #[test]
    fn the_mean_is_equation_1() {
        for (there, back) in [(500, 500), (500, 900), (12_345, 5)] {
            let mut slave = EndToEnd::default();
            let master = |ns: i64| Instant::<Local>::from_ns(10_000_000_000 + ns + ns / 10_000);
            let stamp = |ns: i64| Stamp { free: Instant::from_ns(ns), local: Instant::from_ns(ns) };
            for round in 0..10 {
                let start = round * 1_000_000_000;
                slave.sync(master(start), stamp(start + there));
                let sequence = slave.new_request().expect("a Sync was there");
                slave.request_sent(sequence, Instant::from_ns(start + 100_000_000));
                slave.response(sequence.wrapping_sub(1), master(0));
                slave.response(sequence, master(start + 100_000_000 + back));
            }
            let delay = slave.mean_path_delay().map(Duration::floor_ns);
            let mean = (there + back) / 2;
            assert!(delay.is_some_and(|ns| (ns - mean).abs() <= 2), "{delay:?}, not {mean}");
        }
    }

    /// Sends one Sync a second; returns the master's rate ratio after each in parts of 10^9. `noise_ns`: the delay of
    /// each Sync's origin timestamp.
    fn frequencies(slave: &mut EndToEnd, noise_ns: &[i64]) -> Vec<i64> {
        let sync = |(place, noise): (usize, &i64)| {
            let at = place as i64 * 1_000_000_000;
            slave.sync(
                Instant::from_ns(at + noise),
                Stamp { free: Instant::from_ns(at), local: Instant::EPOCH },
            );
            (slave.master_rate.ppt() + 500).div_euclid(1_000)
        };
        noise_ns.iter().enumerate().map(sync).collect()
    }

    #[test]
    fn the_masters_pace_is_over_seven_syncs() {
        let found = frequencies(&mut EndToEnd::default(), &[-2_100, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(found, [0, 2_100, 1_050, 700, 525, 420, 350, 300, 0]);
    }

    /// 2,000 ppm and more is no rate ratio: the master's clock was set, and its earlier Sync messages are forgotten.
    #[test]
    fn a_master_whose_clock_was_set_begins_anew() {
        let mut slave = EndToEnd::default();
        assert_eq!(frequencies(&mut slave, &[0, 1_999_000]), [0, 1_999_000], "1,999 ppm are believed");
        // Over two seconds: 1,999,999 parts of 10^9 are accepted, 2,000,000 are not.
        for (noise, frequency, known) in
            [(3_999_998, 1_999_999, 3), (4_000_000, 300, 1), (-4_000_002, 300, 1), (5_000_000_000, 300, 1)]
        {
            let mut slave = EndToEnd::default();
            assert_eq!(frequencies(&mut slave, &[0, 300, noise]), [0, 300, frequency], "{noise} ns");
            assert_eq!(slave.past.len(), known, "{noise} ns");
        }
        let mut slave = EndToEnd::default();
        assert_eq!(frequencies(&mut slave, &[0, 0, 0, 7_000_000_000]), [0; 4]);
        assert_eq!(slave.past.len(), 1);
    }

    #[test]
    fn an_exchange_that_lost_a_message_says_nothing() {
        let mut slave = EndToEnd::default();
        assert_eq!(slave.new_request(), None);
        slave.sync(Instant::EPOCH, Stamp { free: Instant::EPOCH, local: Instant::EPOCH });
        let sequence = slave.new_request().expect("a Sync was there");
        slave.response(sequence, Instant::EPOCH);
        assert_eq!(slave.mean_path_delay(), None);
    }
}
