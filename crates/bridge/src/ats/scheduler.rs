//! ATS schedulers, and the groups in which frames keep their order.
//!
//! IEEE 802.1Q-2022, 8.6.11.3.

use crate::StateTaker;
use tsn_plan::{Policing, duration};
use tsn_units::{Free, Instant, PHY_OVERHEAD};

/// One bit at 1 bit/s, in ps.
const SECOND: i128 = 1_000_000_000_000;

/// When a frame becomes eligible for transmission.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Eligibility {
    /// At this instant, and not before the frame's arrival.
    At(Instant<Free>),
    /// Never: the frame would stay longer than `MaximumResidenceTime`, and is dropped.
    Never,
}

#[derive(Clone, Debug)]
struct Scheduler {
    /// `CommittedInformationRate`, bit/s.
    rate: i128,
    /// `emptyToFullDuration` times the rate.
    empty_to_full: i128,
    /// `BucketEmptyTime` in ps times the rate, so that nothing is rounded.
    bucket_empty: i128,
    group: usize,
}

#[derive(Clone, Debug)]
struct Group {
    /// `MaximumResidenceTime`, ps.
    residence: i64,
    /// `GroupEligibilityTime`, ps.
    eligibility: i64,
    discarded: u64,
}

/// The schedulers of one node. Buckets are full at the beginning of the run.
#[derive(Clone, Debug)]
pub struct Schedulers {
    schedulers: Vec<Scheduler>,
    groups: Vec<Group>,
}

impl Schedulers {
    /// The schedulers of a checked Plan (see [`tsn_plan::Plan::check`]).
    #[must_use]
    pub fn new(policing: &Policing) -> Self {
        let schedulers = policing.schedulers.iter().map(|own| {
            let empty_to_full = i128::from(own.cbs_bits) * SECOND;
            let rate = i128::from(own.cir_bps.max(1));
            Scheduler { rate, empty_to_full, bucket_empty: -empty_to_full, group: own.group as usize }
        });
        let groups = policing.groups.iter().map(|own| Group {
            residence: duration(own.max_residence_ns).ps(),
            eligibility: i64::MIN,
            discarded: 0,
        });
        Self { schedulers: schedulers.collect(), groups: groups.collect() }
    }

    /// Processes an arriving frame; its length includes the overhead on the wire, inter-frame gap included.
    pub fn process(&mut self, arrival: Instant<Free>, scheduler: usize, octets: u32) -> Eligibility {
        let Some(own) = self.schedulers.get_mut(scheduler) else { return Eligibility::At(arrival) };
        let Some(group) = self.groups.get_mut(own.group) else { return Eligibility::At(arrival) };
        let length = i128::from(octets + PHY_OVERHEAD.0) * 8 * SECOND;
        let scheduler_eligibility = own.bucket_empty + length;
        let bucket_full = own.bucket_empty + own.empty_to_full;
        let needed = -(-scheduler_eligibility).div_euclid(own.rate);
        let needed = i64::try_from(needed).unwrap_or(i64::MAX);
        let eligibility = arrival.ps().max(group.eligibility).max(needed);
        if eligibility > arrival.ps().saturating_add(group.residence) {
            group.discarded += 1;
            return Eligibility::Never;
        }
        group.eligibility = eligibility;
        let late = i128::from(eligibility) * own.rate - bucket_full;
        own.bucket_empty = scheduler_eligibility + late.max(0);
        Eligibility::At(Instant::from_ps(eligibility))
    }

    /// Adds the buckets and the groups' eligibility times. No frame is longer than `longest` octets: a bucket that has
    /// room for it and is full is as full as one that has been for long.
    pub(crate) fn put_state(&self, state: &mut StateTaker, longest: u32) {
        let now = i128::from(state.now().ps());
        for own in &self.schedulers {
            let empty = own.bucket_empty - now * own.rate;
            let fits = i128::from(longest.saturating_add(PHY_OVERHEAD.0)) * 8 * SECOND <= own.empty_to_full;
            state.put(if fits { empty.max(-own.empty_to_full) } else { empty });
        }
        for group in &self.groups {
            state.put_future(Instant::<Free>::from_ps(group.eligibility));
        }
    }

    /// Frames that would have stayed too long, by group.
    pub fn discarded(&self) -> impl Iterator<Item = u64> {
        self.groups.iter().map(|group| group.discarded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tsn_plan::{AtsGroup, AtsScheduler};

    /// `rates`: bit/s and bit of each scheduler of one group.
    fn schedulers(rates: &[(u64, u64)], max_residence_ns: u64) -> Schedulers {
        Schedulers::new(&Policing {
            schedulers: rates
                .iter()
                .map(|(cir_bps, cbs_bits)| AtsScheduler { cir_bps: *cir_bps, cbs_bits: *cbs_bits, group: 0 })
                .collect(),
            groups: vec![AtsGroup { name: "all".into(), max_residence_ns }],
            ..Policing::default()
        })
    }

    fn until(ns: i64) -> Eligibility {
        Eligibility::At(Instant::from_ns(ns))
    }

    /// 1 000 bit of a frame with its overhead, at 1 Mbit/s a millisecond.
    const FRAME: u32 = 125 - 20;

    #[test]
    fn frames_of_one_stream_come_at_its_rate() {
        let mut own = schedulers(&[(1_000_000, 2_000)], 1_000_000_000);
        let at = |ns: i64| Instant::from_ns(ns);
        for (arrival, eligible) in
            [(0, 0), (0, 0), (0, 1_000_000), (500_000, 2_000_000), (2_500_000, 3_000_000)]
        {
            assert_eq!(own.process(at(arrival), 0, FRAME), until(eligible));
        }
        // After a long pause the bucket is full, and not fuller: two frames are eligible at once, the third waits.
        for (arrival, eligible) in
            [(90_000_000, 90_000_000), (90_000_000, 90_000_000), (90_000_000, 91_000_000)]
        {
            assert_eq!(own.process(at(arrival), 0, FRAME), until(eligible));
        }
    }

    #[test]
    fn a_group_keeps_its_order() {
        let mut own = schedulers(&[(1_000_000, 1_000), (1_000_000, 1_000)], 1_000_000_000);
        let at = |ns: i64| Instant::from_ns(ns);
        assert_eq!(own.process(at(0), 0, FRAME), until(0));
        assert_eq!(own.process(at(1_000), 0, FRAME), until(1_000_000));
        // The first frame of scheduler 1 finds its bucket full, but waits for the frame of scheduler 0 in its group.
        // A full bucket does not fill further, so the second frame waits for another 1 ms.
        assert_eq!(own.process(at(2_000), 1, FRAME), until(1_000_000));
        assert_eq!(own.process(at(3_000), 1, FRAME), until(2_000_000));
    }

    #[test]
    fn who_would_stay_too_long_leaves_no_trace() {
        let mut own = schedulers(&[(1_000_000, 1_000)], 1_000_000);
        let at = |ns: i64| Instant::from_ns(ns);
        assert_eq!(own.process(at(0), 0, FRAME), until(0));
        assert_eq!(own.process(at(0), 0, FRAME), until(1_000_000));
        assert_eq!(own.process(at(10), 0, FRAME), Eligibility::Never);
        assert_eq!(own.process(at(1_000_000), 0, FRAME), until(2_000_000));
        assert_eq!(own.discarded().collect::<Vec<_>>(), [1]);
    }

    /// A bit at 3 Gbit/s takes 333.3 ps: a frame is eligible with the first picosecond in which its tokens are there.
    #[test]
    fn eligibility_is_rounded_up() {
        let mut own = schedulers(&[(3_000_000_000, 2_000)], 1_000_000_000);
        // 1,000 bit take 333,333.3 ps. No rounding is lost: two of these times are 666,666.7 ps.
        for eligible in [0, 0, 333_334, 666_667, 1_000_000] {
            assert_eq!(own.process(Instant::EPOCH, 0, FRAME), Eligibility::At(Instant::from_ps(eligible)));
        }
    }

    /// A frame may stay for the whole of the maximum residence time, and no picosecond longer.
    #[test]
    fn the_maximum_residence_time_itself_is_allowed() {
        // The second frame is eligible at 1 ms. If it arrives at 1 ns, it waits for just the maximum residence time; if
        // it arrives at 0 ns, it would wait for too long.
        for (arrival, waiting) in [(1, Eligibility::At(Instant::from_ns(1_000_000))), (0, Eligibility::Never)]
        {
            let mut own = schedulers(&[(1_000_000, 1_000)], 999_999);
            assert_eq!(own.process(Instant::EPOCH, 0, FRAME), until(0));
            assert_eq!(own.process(Instant::from_ns(arrival), 0, FRAME), waiting);
        }
    }

    /// Groups do not wait for each other, and a scheduler index out of range delays nothing.
    #[test]
    fn each_group_has_its_own_order() {
        let scheduler = |group| AtsScheduler { cir_bps: 1_000_000, cbs_bits: 1_000, group };
        let group = |name: &str, max_residence_ns| AtsGroup { name: name.into(), max_residence_ns };
        let mut own = Schedulers::new(&Policing {
            schedulers: vec![scheduler(0), scheduler(1)],
            groups: vec![group("one", 5_000_000), group("other", 0)],
            ..Policing::default()
        });
        assert_eq!(own.process(Instant::EPOCH, 0, FRAME), until(0));
        assert_eq!(own.process(Instant::EPOCH, 0, FRAME), until(1_000_000));
        assert_eq!(own.process(Instant::EPOCH, 1, FRAME), until(0));
        assert_eq!(own.process(Instant::EPOCH, 1, FRAME), Eligibility::Never);
        assert_eq!(own.process(Instant::from_ns(7), 2, FRAME), until(7));
        assert_eq!(own.discarded().collect::<Vec<_>>(), [0, 1]);
    }

    proptest! {
        /// The recursion of the interleaved regulator, independently: level of each bucket and order within the queue.
        #[test]
        fn the_interleaved_shaper(
            rates in prop::collection::vec((1u64..5_000, 1u64..50), 1..4),
            frames in prop::collection::vec((0i64..2_000_000, any::<prop::sample::Index>(), 64u32..1_523), 1..60),
        ) {
            // An octet of 8 bit at 8 kbit/s times n is 1/n ms; bursts hold at least the largest frame.
            let rates: Vec<(u64, u64)> = rates.iter().map(|(rate, burst)| (rate * 8_000, burst * 1_000 + 12_336)).collect();
            let mut own = schedulers(&rates, 900_000_000_000);
            let mut level: Vec<i128> = rates.iter().map(|(_, burst)| i128::from(*burst) * SECOND).collect();
            let mut seen: Vec<i64> = vec![0; rates.len()];
            let (mut now, mut last) = (0, 0);
            let mut released: Vec<Vec<(i64, i128)>> = vec![Vec::new(); rates.len()];
            for (gap, stream, octets) in frames {
                now += gap * 1_000;
                let stream = stream.index(rates.len());
                let (rate, burst) = (i128::from(rates[stream].0), i128::from(rates[stream].1) * SECOND);
                let bits = i128::from(octets + 20) * 8 * SECOND;
                // The frame is at the head of the queue once the previous one has left; it leaves once its bucket
                // contains its bits.
                let head = now.max(last);
                let full = (level[stream] + i128::from(head - seen[stream]) * rate).min(burst);
                let out = head + i64::try_from((bits - full).max(0) / rate + i128::from((bits - full).max(0) % rate > 0)).unwrap();
                level[stream] = (level[stream] + i128::from(out - seen[stream]) * rate).min(burst) - bits;
                (seen[stream], last) = (out, out);
                prop_assert_eq!(own.process(Instant::from_ps(now), stream, octets), Eligibility::At(Instant::from_ps(out)));
                released[stream].push((out, bits));
            }
            for (stream, frames) in released.iter().enumerate() {
                for first in 0..frames.len() {
                    let mut bits = 0;
                    for (out, more) in &frames[first..] {
                        bits += more;
                        let span = i128::from(out - frames[first].0);
                        let bucket = i128::from(rates[stream].1) * SECOND + span * i128::from(rates[stream].0);
                        prop_assert!(bits <= bucket, "more than its bucket holds");
                    }
                }
            }
        }
    }
}
