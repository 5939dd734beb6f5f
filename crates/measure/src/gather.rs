//! Paths to reports, one by one and pooled by group and listener.

use crate::frames::PathName;
use crate::pair::Path;
use crate::report::{Count, DelayPercentile, Jitter, LostAfter, PathReport, Rate};
use crate::stat::{Distribution, Extreme, Stat};
use crate::tally::Tally;

/// What is known of a path besides its frames.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) stream: String,
    pub(crate) group: String,
    pub(crate) listener: String,
    pub(crate) tx_tap: Option<String>,
    pub(crate) rx_tap: Option<String>,
    pub(crate) tx_clock: Option<String>,
    pub(crate) rx_clock: Option<String>,
    /// Taps by their place on the path.
    pub(crate) taps: Vec<String>,
    pub(crate) period_ns: Option<u64>,
    pub(crate) deadline_ns: Option<u64>,
    /// Shares of the frames whose delay is asked for, in parts per million.
    pub(crate) shares_ppm: Vec<u32>,
    /// Whether gaps in the numbers are frames that were never sent.
    pub(crate) is_sequence: bool,
    pub(crate) before_first: u64,
    pub(crate) in_network_at_end: u64,
}

impl Facts {
    pub(crate) fn name(&self) -> PathName<'_> {
        PathName { stream: &self.stream, group: &self.group, listener: &self.listener }
    }
}

/// One report per path, then one per group and listener.
pub(crate) fn reports(paths: &[(Facts, Path)]) -> (Vec<PathReport>, Vec<PathReport>) {
    let mut single = Vec::with_capacity(paths.len());
    let mut groups: Vec<(&Facts, Vec<usize>)> = Vec::new();
    for (place, (facts, path)) in paths.iter().enumerate() {
        let intervals = intervals(&path.tally, facts.period_ns);
        single.push(report(facts, &path.tally, &intervals, &|_| None));
        let member = |group: &&mut (&Facts, Vec<usize>)| {
            group.0.group == facts.group && group.0.listener == facts.listener
        };
        match groups.iter_mut().find(member) {
            Some(group) => group.1.push(place),
            None => groups.push((facts, vec![place])),
        }
    }
    let pooled = groups.into_iter().map(|(facts, members)| pool(paths, facts, &members)).collect();
    (single, pooled)
}

/// The paths of one group at one listener together.
fn pool(paths: &[(Facts, Path)], facts: &Facts, members: &[usize]) -> PathReport {
    let mut tally = Tally::default();
    let mut gaps = Distribution::default();
    let mut facts =
        Facts { stream: facts.group.clone(), before_first: 0, in_network_at_end: 0, ..facts.clone() };
    for place in members {
        let (member, path) = &paths[*place];
        tally.merge(&path.tally);
        gaps.merge(&intervals(&path.tally, member.period_ns));
        facts.is_sequence &= member.is_sequence;
        facts.before_first += member.before_first;
        facts.in_network_at_end += member.in_network_at_end;
        // What the flows do not share, the group does not have.
        for (kept, theirs) in [
            (&mut facts.tx_tap, &member.tx_tap),
            (&mut facts.rx_tap, &member.rx_tap),
            (&mut facts.tx_clock, &member.tx_clock),
            (&mut facts.rx_clock, &member.rx_clock),
        ] {
            if kept != theirs {
                *kept = None;
            }
        }
        if facts.taps != member.taps {
            facts.taps.clear();
            tally.lost_after.clear();
        }
        facts.period_ns = facts.period_ns.filter(|period| member.period_ns == Some(*period));
    }
    let only = if let [only] = members { Some(*only) } else { None };
    let stream = |extreme: Extreme| {
        paths.get(only.unwrap_or(extreme.path as usize)).map(|(facts, _)| facts.stream.clone())
    };
    let mut pooled = report(&facts, &tally, &gaps, &stream);
    pooled.flows = Some(members.len());
    pooled
}

/// Distances of the gaps between arrivals from the period, or from the mean gap.
fn intervals(tally: &Tally, period_ns: Option<u64>) -> Distribution {
    let period = period_ns.and_then(|period| i64::try_from(period).ok());
    period
        .or_else(|| tally.arrivals.mean_rounded())
        .map(|centre| tally.arrivals.distances(centre))
        .unwrap_or_default()
}

fn percentile(tally: &Tally, share_ppm: u32) -> Option<DelayPercentile> {
    let delay_ns = tally.delay.quantile(u64::from(share_ppm), 1_000_000)?;
    Some(DelayPercentile { share_ppm, delay_ns })
}

fn report(
    facts: &Facts,
    tally: &Tally,
    intervals: &Distribution,
    stream: &dyn Fn(Extreme) -> Option<String>,
) -> PathReport {
    let stat = |of: &Distribution| -> Option<Stat> {
        let mut stat = of.stat()?;
        stat.min_stream = of.min().filter(|min| min.seq.is_some()).and_then(stream);
        stat.max_stream = of.max().and_then(stream);
        Some(stat)
    };
    let delay = stat(&tally.delay);
    let deviation = tally.delay.mean_rounded().map(|mean| tally.delay.distances(mean)).unwrap_or_default();
    let lost_where = tally.lost_after.iter().enumerate().filter(|(_, frames)| **frames > 0);
    let lost_where = lost_where.filter_map(|(tap, frames)| {
        Some(LostAfter { after_tap: facts.taps.get(tap)?.clone(), frames: *frames })
    });
    PathReport {
        stream: facts.stream.clone(),
        group: facts.group.clone(),
        listener: facts.listener.clone(),
        tx_tap: facts.tx_tap.clone(),
        rx_tap: facts.rx_tap.clone(),
        tx_clock: facts.tx_clock.clone(),
        rx_clock: facts.rx_clock.clone(),
        flows: None,
        count: Count {
            never_sent: facts.is_sequence.then_some(tally.never_sent),
            sent: tally.sent,
            received: tally.received,
            lost: tally.lost.saturating_sub(facts.in_network_at_end),
            late: facts.deadline_ns.map(|_| tally.late),
            duplicate: tally.duplicate,
            reordered: tally.reordered,
            unmatched_rx: tally.unmatched_rx,
            missing_timestamp: tally.missing_timestamp,
            duplicate_tx: tally.duplicate_tx,
            before_first: facts.before_first,
            in_network_at_end: facts.in_network_at_end,
            restarts: tally.restarts,
        },
        lost_where: lost_where.collect(),
        spread: delay.as_ref().map(|delay| delay.std),
        delay,
        delay_percentiles: facts.shares_ppm.iter().filter_map(|share| percentile(tally, *share)).collect(),
        jitter: Jitter {
            delay_step: stat(&tally.step),
            delay_step_abs: stat(&tally.step_abs),
            deviation: stat(&deviation),
            interval: stat(intervals),
        },
        period_ns: facts.period_ns,
        deadline_ns: facts.deadline_ns,
        rate: Rate { sent_bps: tally.sent_flow.rate_bps(), received_bps: tally.received_flow.rate_bps() },
        send_to_tx: stat(&tally.send_to_tx),
        release_delay: stat(&tally.release_delay),
        departures: stat(&tally.departures),
        arrivals: stat(&tally.arrivals),
    }
}
