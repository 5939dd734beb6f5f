//! Counters and distributions of the frames of one path.

use super::age::Ages;
use super::distribution::Distribution;
use super::steps::Steps;
use super::throughput::Throughput;
use crate::frame::{Frame, FrameFlags};
use crate::report::Gap;

/// Gaps of which the places are kept; all are counted.
const MOST_GAPS: usize = 100;

/// Counts and distributions of one path, or of several paths together.
#[derive(Clone, Debug, Default)]
pub struct PathStatistics {
    /// Numbers missing at the first tap.
    pub never_sent: u64,
    /// The first gaps in the numbers, if the options ask for them.
    pub gaps: Vec<Gap>,
    /// Frames observed at the first tap.
    pub sent: u64,
    /// Frames observed at both taps.
    pub received: u64,
    /// Frames observed at the first tap only.
    pub lost: u64,
    /// Frames received after their deadline.
    pub late: u64,
    /// Frames whose number arrived again.
    pub duplicate: u64,
    /// Frames whose number the first tap observed again.
    pub duplicate_tx: u64,
    /// Frames that arrived after one with a higher number.
    pub reordered: u64,
    /// Frames observed at the last tap only.
    pub unmatched_rx: u64,
    /// Received frames without one of the timestamps.
    pub missing_timestamp: u64,
    /// Jumps in the numbers that are large enough to mean a restart.
    pub restarts: u64,
    /// Lost frames, by the position of the last tap that observed them.
    pub lost_after: Vec<u64>,
    /// Delays.
    pub delay: Distribution,
    /// Steps of delay.
    pub steps: Steps,
    /// Gaps between departures.
    pub departures: Distribution,
    /// Gaps between arrivals.
    pub arrivals: Distribution,
    /// Delays from handing over to the first tap.
    pub send_to_tx: Distribution,
    /// Delays from handing over to the last tap.
    pub release_delay: Distribution,
    /// Rate at the first tap.
    pub sent_rate: Throughput,
    /// Rate at the last tap.
    pub received_rate: Throughput,
    /// Ages of the newest value at the listener, if the options ask for them.
    pub age: Distribution,
    /// From the last arrival to the end of the stream, if that came later: nothing arrived in this time.
    pub silence: Option<i64>,
    ages: Ages,
    /// The last departure, with its number, and the last arrival.
    last_tx: Option<(i64, u64)>,
    last_rx: Option<i64>,
    previous_delay: Option<i64>,
    previous_tx: Option<i64>,
}

/// The index of a path and the options for its delays.
#[derive(Copy, Clone, Debug, Default)]
pub struct PathOptions {
    /// The index of the path in the report.
    pub path: u32,
    /// The offset that is subtracted from every delay, in ns.
    pub offset_ns: i64,
    /// Delay above which a frame is late.
    pub deadline_ns: Option<i64>,
    /// Whether ages are computed.
    pub ages: bool,
    /// Whether the places of gaps are kept.
    pub gaps: bool,
    /// Until when the stream lasts, ns, if the time without arrivals counts.
    pub ends_ns: Option<i64>,
    /// The end of the warm-up, ns: the first frame that counts leaves then or later. None without warm-up.
    pub after_ns: Option<i64>,
}

impl PathOptions {
    /// Whether a sighting with this stamp comes after the warm-up; without a stamp this is unknown, and it counts.
    #[inline]
    pub(crate) fn counts(&self, t_ns: Option<i64>) -> bool {
        self.after_ns.is_none_or(|after| t_ns.is_none_or(|stamp| stamp >= after))
    }
}

impl PathStatistics {
    /// Adds a frame that will not be observed again. Frames must be added in order of their numbers.
    #[inline]
    pub fn add(&mut self, seq: u64, frame: &Frame, options: &PathOptions) {
        if !frame.flags.has(FrameFlags::TX) {
            if frame.flags.has(FrameFlags::RX) {
                self.unmatched_rx += 1;
            } else if !frame.flags.has(FrameFlags::COVERED) {
                self.never_sent += 1;
                if options.gaps {
                    self.add_gap(seq);
                }
            }
            return;
        }
        self.sent += 1;
        self.sent_rate.pass(frame.tx(), frame.octets);
        if let Some(tx) = frame.tx() {
            if let Some(gap) = self.previous_tx.and_then(|previous| tx.checked_sub(previous)) {
                self.departures.add(gap, seq, options.path);
            }
            self.previous_tx = Some(tx);
            if options.ends_ns.is_some() {
                self.last_tx = self.last_tx.max(Some((tx, seq)));
            }
            if let Some(wait) = frame.send().and_then(|send| tx.checked_sub(send)) {
                self.send_to_tx.add(wait, seq, options.path);
            }
        }
        if !frame.flags.has(FrameFlags::RX) {
            self.lost += 1;
            let tap = usize::from(frame.last_tap);
            if self.lost_after.len() <= tap {
                self.lost_after.resize(tap + 1, 0);
            }
            self.lost_after[tap] += 1;
            return;
        }
        self.received += 1;
        self.received_rate.pass(frame.rx(), frame.octets);
        if options.ends_ns.is_some() {
            self.last_rx = self.last_rx.max(frame.rx());
        }
        if options.ages
            && let (Some(tx), Some(rx)) = (frame.tx(), frame.rx())
        {
            let age = self.ages.arrived(seq, (tx, rx), options.offset_ns);
            age.into_iter().for_each(|age| self.age.add(age.ns, age.seq, options.path));
        }
        if let (Some(send), Some(rx)) = (frame.send(), frame.rx())
            && let Some(delay) = rx.checked_sub(send).and_then(|delay| delay.checked_sub(options.offset_ns))
        {
            self.release_delay.add(delay, seq, options.path);
        }
        let Some(delay) = frame.delay(options.offset_ns) else {
            self.missing_timestamp += 1;
            return;
        };
        self.delay.add(delay, seq, options.path);
        if options.deadline_ns.is_some_and(|deadline| delay > deadline) {
            self.late += 1;
        }
        if let Some(step) = self.previous_delay.and_then(|previous| delay.checked_sub(previous)) {
            self.steps.add(step, seq, options.path);
        }
        self.previous_delay = Some(delay);
    }

    #[cold]
    fn add_gap(&mut self, seq: u64) {
        let room = self.gaps.len() < MOST_GAPS;
        match self.gaps.last_mut() {
            Some(gap) if gap.after + gap.missing + 1 == seq => gap.missing += 1,
            _ if room => self.gaps.push(Gap { after: seq.saturating_sub(1), missing: 1 }),
            _ => {}
        }
    }

    /// Ends the path: no frame follows.
    pub fn end(&mut self, options: &PathOptions) {
        let (Some((tx, seq)), Some(rx), Some(ends)) = (self.last_tx, self.last_rx, options.ends_ns) else {
            return;
        };
        let ends = ends.max(tx);
        for age in self.ages.end(seq, ends, options.offset_ns) {
            self.age.add(age.ns, age.seq, options.path);
        }
        let silence = ends.saturating_sub(rx.saturating_sub(options.offset_ns));
        self.silence = (silence > 0).then_some(silence);
    }

    /// Makes these figures of a run that repeats those of a longer one: adds so many times what `next` has more, the
    /// figures of the run with one period more. Every period adds the same to counts, sums and samples.
    pub(crate) fn extrapolate(&mut self, next: &Self, times: u64) {
        for (sum, next) in [
            (&mut self.never_sent, next.never_sent),
            (&mut self.sent, next.sent),
            (&mut self.received, next.received),
            (&mut self.lost, next.lost),
            (&mut self.late, next.late),
            (&mut self.duplicate, next.duplicate),
            (&mut self.duplicate_tx, next.duplicate_tx),
            (&mut self.reordered, next.reordered),
            (&mut self.unmatched_rx, next.unmatched_rx),
            (&mut self.missing_timestamp, next.missing_timestamp),
            (&mut self.restarts, next.restarts),
        ] {
            *sum += next.saturating_sub(*sum).saturating_mul(times);
        }
        self.lost_after.resize(self.lost_after.len().max(next.lost_after.len()), 0);
        for (sum, next) in self.lost_after.iter_mut().zip(&next.lost_after) {
            *sum += next.saturating_sub(*sum).saturating_mul(times);
        }
        self.delay.extrapolate(&next.delay, times);
        self.steps.extrapolate(&next.steps, times);
        self.departures.extrapolate(&next.departures, times);
        self.arrivals.extrapolate(&next.arrivals, times);
        self.age.extrapolate(&next.age, times);
        self.send_to_tx.extrapolate(&next.send_to_tx, times);
        self.release_delay.extrapolate(&next.release_delay, times);
        self.sent_rate.extrapolate(&next.sent_rate, times);
        self.received_rate.extrapolate(&next.received_rate, times);
    }

    /// Adds another path's counts and samples.
    pub fn merge(&mut self, other: &Self) {
        for (sum, part) in [
            (&mut self.never_sent, other.never_sent),
            (&mut self.sent, other.sent),
            (&mut self.received, other.received),
            (&mut self.lost, other.lost),
            (&mut self.late, other.late),
            (&mut self.duplicate, other.duplicate),
            (&mut self.duplicate_tx, other.duplicate_tx),
            (&mut self.reordered, other.reordered),
            (&mut self.unmatched_rx, other.unmatched_rx),
            (&mut self.missing_timestamp, other.missing_timestamp),
            (&mut self.restarts, other.restarts),
        ] {
            *sum += part;
        }
        self.lost_after.resize(self.lost_after.len().max(other.lost_after.len()), 0);
        for (sum, part) in self.lost_after.iter_mut().zip(&other.lost_after) {
            *sum += part;
        }
        self.delay.merge(&other.delay);
        self.steps.merge(&other.steps);
        self.departures.merge(&other.departures);
        self.arrivals.merge(&other.arrivals);
        self.age.merge(&other.age);
        self.silence = self.silence.max(other.silence);
        self.send_to_tx.merge(&other.send_to_tx);
        self.release_delay.merge(&other.release_delay);
        self.sent_rate.merge(&other.sent_rate);
        self.received_rate.merge(&other.received_rate);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame of 100 octets that left at 1,000 ns and arrived `delay` later, handed over 50 ns before it left.
    fn arrived(delay: i64) -> Frame {
        let mut frame = Frame::default();
        frame.observe_send(Some(950));
        frame.observe_tx(Some(1_000), 100);
        frame.observe_rx(Some(1_000 + delay), 104);
        frame
    }

    #[test]
    fn a_frame_is_late_above_its_deadline() {
        let options =
            PathOptions { path: 0, offset_ns: 10, deadline_ns: Some(300), ..PathOptions::default() };
        let mut statistics = PathStatistics::default();
        for (seq, delay) in [(0, 309), (1, 310), (2, 311)] {
            statistics.add(seq, &arrived(delay), &options);
        }
        assert_eq!((statistics.received, statistics.late), (3, 1));
        let delay = statistics.delay.stat().unwrap();
        assert_eq!((delay.min, delay.max, delay.max_seq), (299, 301, Some(2)));
        let wait = statistics.send_to_tx.stat().unwrap();
        assert_eq!((wait.count, wait.min, wait.max), (3, 50, 50));
    }

    #[test]
    fn steps_and_gaps_are_from_one_frame_to_the_next() {
        let mut statistics = PathStatistics::default();
        for (seq, tx, rx) in
            [(0, 0, Some(100)), (1, 1_000, Some(1_130)), (2, 2_100, None), (3, 2_900, Some(2_990))]
        {
            let mut frame = Frame::default();
            frame.observe_tx(Some(tx), 64);
            if let Some(rx) = rx {
                frame.observe_rx(Some(rx), 64);
            }
            statistics.add(seq, &frame, &PathOptions::default());
        }
        // Delays 100, 130, lost, 90: steps of 30 and -40. Departures 1,000, 1,100 and 800 apart.
        let step = statistics.steps.signed().stat().unwrap();
        assert_eq!((step.count, step.min, step.max), (2, -40, 30));
        let step = statistics.steps.magnitudes().stat().unwrap();
        assert_eq!((step.count, step.min, step.max, step.max_seq), (2, 30, 40, Some(3)));
        let gaps = statistics.departures.stat().unwrap();
        assert_eq!((gaps.count, gaps.min, gaps.max, gaps.sum), (3, 800, 1_100, 2_900));
        assert_eq!(statistics.lost_after, [1]);
    }

    /// Every counter has another value, so that none can be taken for another.
    #[test]
    fn counts_of_two_paths_are_added_up() {
        let statistics = |base: u64, lost_after: &[u64]| PathStatistics {
            never_sent: base + 1,
            sent: base + 2,
            received: base + 3,
            lost: base + 4,
            late: base + 5,
            duplicate: base + 6,
            duplicate_tx: base + 7,
            reordered: base + 8,
            unmatched_rx: base + 9,
            missing_timestamp: base + 10,
            restarts: base + 11,
            lost_after: lost_after.to_vec(),
            ..PathStatistics::default()
        };
        for (one, other) in [(&[1_u64][..], &[10_u64, 20][..]), (&[10, 20], &[1])] {
            let mut sum = statistics(100, one);
            sum.merge(&statistics(1_000, other));
            let counts = [sum.never_sent, sum.sent, sum.received, sum.lost, sum.late, sum.duplicate];
            assert_eq!(counts, [1_102, 1_104, 1_106, 1_108, 1_110, 1_112]);
            let counts =
                [sum.duplicate_tx, sum.reordered, sum.unmatched_rx, sum.missing_timestamp, sum.restarts];
            assert_eq!(counts, [1_114, 1_116, 1_118, 1_120, 1_122]);
            assert_eq!(sum.lost_after, [11, 20]);
        }
    }

    #[test]
    fn every_distribution_of_two_paths_is_merged() {
        let mut sum = PathStatistics::default();
        for path in 0..2 {
            let mut statistics = PathStatistics::default();
            let of = |statistics: &mut PathStatistics, value: i64| statistics.arrivals.add(value, 0, path);
            of(&mut statistics, 7);
            for seq in 0..3 {
                statistics.add(seq, &arrived(100), &PathOptions { path, ..PathOptions::default() });
            }
            sum.merge(&statistics);
        }
        let counts = [
            &sum.delay,
            sum.steps.signed(),
            &sum.steps.magnitudes(),
            &sum.departures,
            &sum.arrivals,
            &sum.send_to_tx,
        ];
        assert_eq!(counts.map(|of| of.count()), [6, 4, 4, 4, 2, 6]);
    }
}
