//! A network that repeats: from when on its whole state comes again after each period, and how often.
//!
//! When the state is equal at two multiples of the hyperperiod, everything between them happens again and again until
//! the talkers stop. One period is then simulated for all of them: a run of a shorter Plan, from which the longer one
//! follows exactly ([`Steady`]).

mod obstacle;
mod state;

use crate::error::SimError;
use crate::kernel::simulation::{Progress, Simulation};
use std::ops::ControlFlow;
use tsn_bridge::State;
use tsn_observation::{Repeats, Sighting, Sink};
use tsn_plan::{Plan, duration};
use tsn_units::{BitRate, Duration, Instant, Octets};

/// Most hyperperiods of which the states are compared.
const MOST_PERIODS: i64 = 1 << 13;
/// Part of a run that is searched for a repetition: a run without one is longer by this.
const SEARCHED: i64 = 8;
/// Hyperperiods that are searched in any case.
const ALWAYS_SEARCHED: i64 = 8;
/// Fewer repetitions than this are simulated.
const FEWEST: i64 = 4;
/// Longer than any frame: a run's end affects what happens less than this before it.
const LONGEST_FRAME: Octets = Octets(1 << 16);

/// A run that repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steady {
    /// From when on every period is like the one before.
    pub from: Instant,
    /// The period.
    pub period: Duration,
    /// Periods that are not simulated.
    pub times: u64,
    /// Where the period begins that stands for them: the one before is already the same.
    pub window: Instant,
}

/// What the search for a repetition found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// A repetition.
    Steady(Steady),
    /// None, and why.
    Not(String),
}

/// Frames over links that a Plan's streams send, about: what its simulation costs.
#[must_use]
pub fn expected_frame_hops(plan: &Plan) -> u64 {
    let of = |stream: &tsn_plan::Stream| match stream.pattern {
        tsn_plan::Pattern::Periodic { period_ns, .. } => {
            let span = stream.stop_ns.min(plan.duration_ns).saturating_sub(stream.start_ns);
            (span / period_ns.max(1)).saturating_mul(stream.route.len() as u64)
        }
        tsn_plan::Pattern::Saturating { .. } => {
            // As if it had its first link alone, with frames of 1,500 octets.
            let rate = stream.route.first().map_or(0, |hop| plan.ports[hop.port as usize].rate_bps);
            let frames = u128::from(plan.duration_ns) * u128::from(rate) / 12_000_000_000_000;
            u64::try_from(frames).unwrap_or(u64::MAX).saturating_mul(stream.route.len() as u64)
        }
        _ => 0,
    };
    plan.streams.iter().map(of).fold(0, u64::saturating_add)
}

struct Ignored;

impl Sink for Ignored {
    fn sight(&mut self, _: Sighting) -> std::io::Result<()> {
        Ok(())
    }
}

/// How long before the end of a run nothing depends on the end: three periods, and a frame on the slowest link.
fn margin(plan: &Plan, period: i64) -> i64 {
    let link = |port: &tsn_plan::Port| {
        let frame = BitRate(port.rate_bps.max(1)).time(LONGEST_FRAME).ps();
        frame.saturating_add(i64::try_from(port.propagation_ps).unwrap_or(i64::MAX))
    };
    let longest = plan.ports.iter().map(link).max().unwrap_or(0);
    period.saturating_mul(3).saturating_add(longest)
}

/// Searches a Plan for a repetition: simulates until the state at one multiple of the hyperperiod is that at an earlier
/// one. The earlier ones are the first, second, fourth, … as in Brent's search for cycles.
///
/// # Errors
/// [`SimError::Plan`] and [`SimError::TooMany`].
pub fn find(plan: &Plan, watch: &mut dyn FnMut(Progress) -> ControlFlow<()>) -> Result<Found, SimError> {
    let hyperperiod = match obstacle::hyperperiod(plan) {
        Ok(hyperperiod) => hyperperiod,
        Err(reason) => return Ok(Found::Not(reason)),
    };
    let end = duration(plan.duration_ns).ps();
    let begin = obstacle::ahead(plan).div_euclid(hyperperiod).saturating_add(1).saturating_mul(hyperperiod);
    let searched = end.saturating_sub(begin) / SEARCHED / hyperperiod;
    let most = searched.clamp(ALWAYS_SEARCHED, MOST_PERIODS);
    let mut simulation = Simulation::new(plan)?;
    let mut kept: Option<(i64, State)> = None;
    for number in 0..=most {
        let at = begin.saturating_add(number.saturating_mul(hyperperiod));
        if at.saturating_add(margin(plan, hyperperiod)) > end {
            return Ok(Found::Not("it ends before its state could come again".into()));
        }
        if simulation.advance(Instant::from_ps(at - 1), &mut Ignored, watch)? {
            return Ok(Found::Not("it was interrupted".into()));
        }
        let state = match simulation.state(Instant::from_ps(at)) {
            Ok(state) => state,
            Err(reason) => return Ok(Found::Not(reason.into())),
        };
        if let Some((earlier, _)) = kept.as_ref().filter(|(_, earlier)| *earlier == state) {
            return Ok(repeat(plan, *earlier, at - earlier));
        }
        if kept.is_none() || (number as u64).is_power_of_two() {
            kept = Some((at, state));
        }
    }
    let searched = Duration::from_ps(most.saturating_mul(hyperperiod)).floor_ns();
    Ok(Found::Not(format!("its state did not come again within {searched} ns of simulated time")))
}

/// The repetition of a Plan whose state at `from` comes again after each period.
fn repeat(plan: &Plan, from: i64, period: i64) -> Found {
    let window = from.saturating_add(period);
    let left = duration(plan.duration_ns)
        .ps()
        .saturating_sub(window)
        .saturating_sub(period)
        .saturating_sub(margin(plan, period));
    if left / period < FEWEST {
        return Found::Not("it has too few periods".into());
    }
    Found::Steady(Steady {
        from: Instant::from_ps(from),
        period: Duration::from_ps(period),
        times: (left / period).unsigned_abs(),
        window: Instant::from_ps(window),
    })
}

impl Steady {
    /// The Plan that is simulated: shorter by the periods that are not.
    #[must_use]
    pub fn shortened(&self, plan: &Plan) -> Plan {
        let skipped = self.skipped_ns().unsigned_abs();
        let mut shorter = plan.clone();
        shorter.duration_ns = shorter.duration_ns.saturating_sub(skipped);
        shorter.hash = None;
        shorter
    }

    /// The time that is not simulated.
    #[must_use]
    pub fn skipped_ns(&self) -> i64 {
        self.period.floor_ns().saturating_mul(i64::try_from(self.times).unwrap_or(i64::MAX))
    }
}

/// Passes sightings on; those behind the period that repeats as the whole run has them.
pub(crate) struct Repeating<S> {
    pub inner: S,
    /// Sightings so far.
    pub rows: u64,
    /// What is added to times, and to the sequence numbers of each stream.
    pub later: Option<(i64, Vec<u64>)>,
}

impl<S: Sink> Sink for Repeating<S> {
    #[inline]
    fn sight(&mut self, mut sighting: Sighting) -> std::io::Result<()> {
        self.rows += 1;
        if let Some((ns, numbers)) = &self.later {
            sighting.t_ns = sighting.t_ns.map(|at| at.saturating_add(*ns));
            sighting.seq += numbers.get(sighting.stream as usize).copied().unwrap_or(0);
        }
        self.inner.sight(sighting)
    }
}

/// A run in which one period stands for many.
#[derive(Debug)]
pub(crate) struct Repeated {
    pub counters: crate::RunCounters,
    /// None if the run was interrupted before the end of that period.
    pub repeats: Option<Repeats>,
}

impl Simulation<'_> {
    /// Runs a shortened Plan ([`Steady::shortened`]): counters and sightings are those of the whole Plan, of which the
    /// sightings of one period stand for all that are not simulated.
    pub(crate) fn run_repeating<S: Sink>(
        mut self,
        steady: &Steady,
        sink: S,
        watch: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(S, Repeated), SimError> {
        let just_before = |at: Instant| Instant::from_ps(at.ps() - 1);
        let mut out = Repeating { inner: sink, rows: 0, later: None };
        if self.advance(just_before(steady.window), &mut out, watch)? {
            return Ok((out.inner, Repeated { counters: self.count(true), repeats: None }));
        }
        let (first_row, before, first) = (out.rows, self.count(false), self.numbers());
        if self.advance(just_before(steady.window + steady.period), &mut out, watch)? {
            return Ok((out.inner, Repeated { counters: self.count(true), repeats: None }));
        }
        let (rows, after) = (out.rows - first_row, self.count(false));
        let frames: Vec<u64> = self.numbers().iter().zip(&first).map(|(now, then)| now - then).collect();
        out.later = Some((steady.skipped_ns(), frames.iter().map(|one| one * steady.times).collect()));
        let end = self.end;
        let interrupted = self.advance(end, &mut out, watch)?;
        let mut counters = self.count(interrupted);
        counters.extrapolate((&before, &after), steady.times);
        let repeats = Repeats {
            steady_from_ns: steady.from.ticked_ns(1),
            from_ns: steady.window.ticked_ns(1),
            period_ns: steady.period.floor_ns(),
            times: steady.times,
            first_row,
            rows,
            first,
            frames,
        };
        Ok((out.inner, Repeated { counters, repeats: Some(repeats) }))
    }

    fn numbers(&self) -> Vec<u64> {
        self.talkers.iter().map(crate::talkers::talker::Talker::number).collect()
    }
}
