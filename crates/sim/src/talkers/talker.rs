//! Talkers: when a stream releases data units, and into which frames each is cut.

use crate::random::Draws;
use crate::talkers::trace::Trace;
use tsn_plan::{Pattern, Plan, Size, Stream};
use tsn_units::{Duration, Instant, Local};

/// Smallest frame; shorter ones are padded. IEEE 802.3-2022, 4.2.3.3.
const SMALLEST_FRAME: u32 = 64;

/// One stream's talker.
#[derive(Debug)]
pub(crate) struct Talker {
    pace: Pace,
    cutter: Cutter,
    /// No release at or after this.
    stop: Instant<Local>,
    /// The next frame's sequence number.
    seq: u64,
}

#[derive(Debug)]
enum Pace {
    Periodic { next: Instant<Local>, period: Duration, jitter_ps: u64, draws: Option<Box<Draws>> },
    Poisson { last: Instant<Local>, mean_ps: u64, draws: Box<Draws> },
    Saturating { start: Instant<Local>, backlog: u32 },
    Trace(Box<Trace>),
}

/// Makes frame sizes.
#[derive(Debug)]
enum Cutter {
    Frame { octets: u32 },
    Units { octets: Vec<u32>, most_per_frame: u32, overhead: u32, draws: Box<Draws>, rest: Option<u32> },
    List { octets: Vec<u32>, next: usize },
}

impl Talker {
    /// The talker of a stream; randomness is addressed by the stream's name.
    pub fn new(plan: &Plan, stream: &Stream) -> Self {
        let draws = |what: &str| Box::new(Draws::new(plan.seed, &format!("stream/{}/{what}", stream.name)));
        let ns = |ns: u64| i64::try_from(ns).map_or(Instant::MAX, Instant::from_ns);
        let start = ns(stream.start_ns);
        let pace = match &stream.pattern {
            Pattern::Trace { gaps_ns, cycle_ns, passes } => {
                Pace::Trace(Box::new(Trace::new(start, gaps_ns, *cycle_ns, *passes)))
            }
            &Pattern::Periodic { period_ns, offset_ns, jitter_ns } => Pace::Periodic {
                next: ns(stream.start_ns.saturating_add(offset_ns)),
                period: ns(period_ns) - Instant::EPOCH,
                jitter_ps: jitter_ns.saturating_mul(1_000),
                draws: (jitter_ns > 0).then(|| draws("jitter")),
            },
            &Pattern::Poisson { mean_interval_ps } => {
                Pace::Poisson { last: start, mean_ps: mean_interval_ps, draws: draws("gap") }
            }
            &Pattern::Saturating { backlog } => Pace::Saturating { start, backlog },
        };
        let cutter = match &stream.size {
            Size::Frame { octets } => Cutter::Frame { octets: *octets },
            Size::List { octets } => Cutter::List { octets: octets.clone(), next: 0 },
            Size::Units { octets, most_per_frame, overhead } => Cutter::Units {
                octets: octets.clone(),
                most_per_frame: *most_per_frame,
                overhead: *overhead,
                draws: draws("size"),
                rest: None,
            },
        };
        Self { pace, cutter, stop: ns(stream.stop_ns.min(plan.duration_ns)), seq: 0 }
    }

    /// When it releases next, not before `now`: a talker releases in sequence, also where its jitter is longer
    /// than its period. None when it is over. A saturating talker names its start, once.
    #[inline]
    pub fn next_release(&mut self, now: Instant<Local>) -> Option<Instant<Local>> {
        let next = match &mut self.pace {
            Pace::Periodic { next, period, jitter_ps, draws } => {
                let nominal = *next;
                *next = Instant::from_ps(nominal.ps().saturating_add(period.ps()));
                match draws {
                    None => nominal,
                    Some(draws) => later(nominal, draws.below(jitter_ps.saturating_add(1))).max(now),
                }
            }
            Pace::Poisson { last, mean_ps, draws } => {
                *last = later(*last, draws.exponential(*mean_ps));
                *last
            }
            Pace::Saturating { start, .. } => std::mem::replace(start, Instant::MAX),
            Pace::Trace(trace) => trace.next(),
        };
        (next < self.stop).then_some(next)
    }

    /// Whether it may still release at `now`.
    pub fn talks(&self, now: Instant<Local>) -> bool {
        now < self.stop
    }

    /// How many frames a saturating talker keeps queued; 0 for others.
    pub fn backlog(&self) -> u32 {
        if let Pace::Saturating { backlog, .. } = self.pace { backlog } else { 0 }
    }

    /// Whether a data unit is cut and not yet sent in full.
    #[inline]
    pub fn in_unit(&self) -> bool {
        matches!(self.cutter, Cutter::Units { rest: Some(_), .. })
    }

    /// The size of the next frame; draws a new data unit where the last one is sent in full.
    #[inline]
    pub fn next_size(&mut self) -> u32 {
        match &mut self.cutter {
            Cutter::Frame { octets } => *octets,
            Cutter::List { octets, next } => octets.get(*next).copied().unwrap_or(SMALLEST_FRAME),
            Cutter::Units { octets, most_per_frame, overhead, draws, rest } => {
                let unsent = *rest.get_or_insert_with(|| {
                    octets.get(draws.below(octets.len() as u64) as usize).copied().unwrap_or(0)
                });
                unsent.min(*most_per_frame).saturating_add(*overhead).max(SMALLEST_FRAME)
            }
        }
    }

    /// The next frame, of [`Self::next_size`], is sent. Returns its sequence number.
    #[inline]
    pub fn take(&mut self) -> u64 {
        match &mut self.cutter {
            Cutter::Frame { .. } => {}
            Cutter::Units { most_per_frame, rest, .. } => {
                *rest =
                    rest.and_then(|unsent| unsent.checked_sub(*most_per_frame)).filter(|unsent| *unsent > 0);
            }
            Cutter::List { octets, next } => *next = if *next + 1 < octets.len() { *next + 1 } else { 0 },
        }
        self.seq += 1;
        self.seq - 1
    }
}

fn later(from: Instant<Local>, ps: u64) -> Instant<Local> {
    Instant::from_ps(from.ps().saturating_add(i64::try_from(ps).unwrap_or(i64::MAX)))
}
