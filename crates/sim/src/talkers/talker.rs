//! Talkers: when a stream releases data units, and into which frames each is cut.

use crate::random::Draws;
use crate::talkers::trace::Trace;
use tsn_bridge::StateTaker;
use tsn_plan::{Pattern, Plan, Size, Stream, TokenBucket, duration};
use tsn_units::{Duration, Instant, Local};

/// Smallest frame; shorter ones are padded. IEEE 802.3-2022, 4.2.3.3.
const SMALLEST_FRAME: u32 = 64;

/// One stream's talker.
#[derive(Debug)]
pub(crate) struct Talker {
    pattern: ReleasePattern,
    segmenter: Segmenter,
    /// There is no release at or after this instant.
    stop: Instant<Local>,
    /// The sequence number of the next frame.
    seq: u64,
}

#[derive(Debug)]
enum ReleasePattern {
    Periodic {
        next: Instant<Local>,
        period: Duration,
        jitter_ps: u64,
        draws: Option<Box<Draws>>,
    },
    Poisson {
        last: Instant<Local>,
        /// The next gap. It is drawn one release ahead, so that no event waits for its logarithm.
        gap_ps: u64,
        mean_ps: u64,
        draws: Box<Draws>,
    },
    Saturating {
        start: Instant<Local>,
        backlog: u32,
    },
    Trace(Box<Trace>),
    TokenBucket {
        start: Instant<Local>,
        bucket: TokenBucket,
        number: u64,
    },
    /// Frames of another stream release its data units: see [`crate::talkers::answers`].
    Answers,
}

/// The frame sizes of a data unit.
#[derive(Debug)]
enum Segmenter {
    Frame { octets: u32 },
    Units { octets: Vec<u32>, most_per_frame: u32, overhead: u32, draws: Box<Draws>, rest: Option<u32> },
    List { octets: Vec<u32>, next: usize },
}

impl Talker {
    /// The talker of a stream; randomness is addressed by the stream's name.
    pub fn new(plan: &Plan, stream: &Stream) -> Self {
        let draws = |what: &str| Box::new(Draws::new(plan.seed, &format!("stream/{}/{what}", stream.name)));
        let phase = |period_ns: Option<u64>| {
            duration(period_ns.map_or(0, |period_ns| draws("phase").below(period_ns.max(1))))
        };
        let start = Instant::EPOCH + duration(stream.start_ns);
        let pattern = match &stream.pattern {
            _ if stream.answers.is_some() => ReleasePattern::Answers,
            Pattern::Trace { gaps_ns, cycle_ns, passes } => {
                ReleasePattern::Trace(Box::new(Trace::new(start, gaps_ns, *cycle_ns, *passes)))
            }
            // Sizes that differ have no token bucket: the check of the Plan refuses them.
            Pattern::TokenBucket { .. } => stream.token_bucket().map_or(ReleasePattern::Answers, |bucket| {
                ReleasePattern::TokenBucket { start, bucket, number: 0 }
            }),
            &Pattern::Periodic { period_ns, offset_ns, jitter_ns } => ReleasePattern::Periodic {
                next: start + duration(offset_ns) + phase(stream.any_phase.then_some(period_ns)),
                period: duration(period_ns),
                jitter_ps: jitter_ns.saturating_mul(1_000),
                draws: (jitter_ns > 0).then(|| draws("jitter")),
            },
            &Pattern::Poisson { mean_interval_ps } => {
                let mut draws = draws("gap");
                let gap_ps = draws.exponential(mean_interval_ps);
                ReleasePattern::Poisson { last: start, gap_ps, mean_ps: mean_interval_ps, draws }
            }
            &Pattern::Saturating { backlog } => ReleasePattern::Saturating { start, backlog },
        };
        let segmenter = match &stream.size {
            Size::Frame { octets } => Segmenter::Frame { octets: *octets },
            Size::List { octets } => Segmenter::List { octets: octets.clone(), next: 0 },
            Size::Units { octets, most_per_frame, overhead } => Segmenter::Units {
                octets: octets.clone(),
                most_per_frame: *most_per_frame,
                overhead: *overhead,
                draws: draws("size"),
                rest: None,
            },
        };
        Self {
            pattern,
            segmenter,
            stop: Instant::EPOCH + duration(stream.stop_ns.min(plan.duration_ns)),
            seq: 0,
        }
    }

    /// The next release, not before `now`: a talker releases in sequence, also if its jitter is longer than its
    /// period. None after the last release. A saturating talker returns its start, once.
    #[inline]
    pub fn next_release(&mut self, now: Instant<Local>) -> Option<Instant<Local>> {
        let next = match &mut self.pattern {
            ReleasePattern::Periodic { next, period, jitter_ps, draws } => {
                let nominal = *next;
                *next = Instant::from_ps(nominal.ps().saturating_add(period.ps()));
                match draws {
                    None => nominal,
                    Some(draws) => later(nominal, draws.below(jitter_ps.saturating_add(1))).max(now),
                }
            }
            ReleasePattern::Poisson { last, gap_ps, mean_ps, draws } => {
                *last = later(*last, *gap_ps);
                *gap_ps = draws.exponential(*mean_ps);
                *last
            }
            ReleasePattern::Saturating { start, .. } => std::mem::replace(start, Instant::MAX),
            ReleasePattern::Trace(trace) => trace.next(),
            ReleasePattern::TokenBucket { start, bucket, number } => {
                let after = bucket.earliest_ps(*number);
                *number += 1;
                Instant::from_ps(start.ps().saturating_add(after))
            }
            ReleasePattern::Answers => return None,
        };
        (next < self.stop).then_some(next)
    }

    /// Whether the talker may still release at `now`.
    pub fn talks(&self, now: Instant<Local>) -> bool {
        now < self.stop
    }

    /// Number of frames that a saturating talker keeps queued; 0 for others.
    pub fn backlog(&self) -> u32 {
        if let ReleasePattern::Saturating { backlog, .. } = self.pattern { backlog } else { 0 }
    }

    /// The sequence number of the next frame.
    pub fn number(&self) -> u64 {
        self.seq
    }

    /// Adds what the talker does next, if it is periodic and nothing of it is drawn; of other talkers the
    /// state is never compared.
    pub fn put_state(&self, state: &mut StateTaker) {
        if let ReleasePattern::Periodic { next, .. } = &self.pattern {
            state.put_future(*next);
        }
        match &self.segmenter {
            Segmenter::Frame { .. } => {}
            Segmenter::Units { rest, .. } => state.put(rest.map_or(-1, i64::from)),
            Segmenter::List { next, .. } => state.put_length(*next),
        }
    }

    /// Whether the current data unit is not yet sent in full.
    #[inline]
    pub fn in_unit(&self) -> bool {
        matches!(self.segmenter, Segmenter::Units { rest: Some(_), .. })
    }

    /// The size of the next frame; draws a new data unit if the last one is sent in full.
    #[inline]
    pub fn next_size(&mut self) -> u32 {
        match &mut self.segmenter {
            Segmenter::Frame { octets } => *octets,
            Segmenter::List { octets, next } => octets.get(*next).copied().unwrap_or(SMALLEST_FRAME),
            Segmenter::Units { octets, most_per_frame, overhead, draws, rest } => {
                let unsent = *rest.get_or_insert_with(|| {
                    octets.get(draws.below(octets.len() as u64) as usize).copied().unwrap_or(0)
                });
                unsent.min(*most_per_frame).saturating_add(*overhead).max(SMALLEST_FRAME)
            }
        }
    }

    /// Takes the next frame, of [`Self::next_size`]. Returns its sequence number.
    #[inline]
    pub fn take(&mut self) -> u64 {
        match &mut self.segmenter {
            Segmenter::Frame { .. } => {}
            Segmenter::Units { most_per_frame, rest, .. } => {
                *rest =
                    rest.and_then(|unsent| unsent.checked_sub(*most_per_frame)).filter(|unsent| *unsent > 0);
            }
            Segmenter::List { octets, next } => *next = if *next + 1 < octets.len() { *next + 1 } else { 0 },
        }
        self.seq += 1;
        self.seq - 1
    }
}

fn later(from: Instant<Local>, ps: u64) -> Instant<Local> {
    Instant::from_ps(from.ps().saturating_add(i64::try_from(ps).unwrap_or(i64::MAX)))
}
