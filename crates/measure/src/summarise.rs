//! The statistics of paths to reports, one by one and pooled by group and listener.

use crate::frame_table::PathName;
use crate::pair::Path;
use crate::report::{Count, DelayPercentile, Jitter, LostAfter, PathReport, Rate, Uncertainty};
use crate::statistics::distribution::{Distribution, Extreme, Stat};
use crate::statistics::path_statistics::PathStatistics;
use crate::statistics::scale::Scale;
use rustc_hash::FxHashMap;

/// The part of a report about a path that does not depend on its frames.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathInfo {
    pub(crate) stream: String,
    pub(crate) group: String,
    pub(crate) listener: String,
    pub(crate) tx_tap: Option<String>,
    pub(crate) rx_tap: Option<String>,
    pub(crate) tx_clock: Option<String>,
    pub(crate) rx_clock: Option<String>,
    /// Taps by their position on the path.
    pub(crate) taps: Vec<String>,
    pub(crate) period_ns: Option<u64>,
    pub(crate) deadline_ns: Option<u64>,
    /// Shares of the frames whose delay is reported, in parts per million.
    pub(crate) shares_ppm: Vec<u32>,
    /// Whether gaps in the numbers are frames that were never sent.
    pub(crate) is_sequence: bool,
    /// The meaning of the numbers, if they do not simply count up.
    pub(crate) numbers: Option<Scale>,
    pub(crate) before_first: u64,
    pub(crate) in_network_at_end: u64,
    /// The uncertainty of the path's times, if it is known.
    pub(crate) uncertainty: Option<Uncertainty>,
}

impl PathInfo {
    pub(crate) fn name(&self) -> PathName<'_> {
        PathName { stream: &self.stream, group: &self.group, listener: &self.listener }
    }
}

/// One report per path, then one per group and listener.
pub(crate) fn reports(paths: &[(PathInfo, Path)]) -> (Vec<PathReport>, Vec<PathReport>) {
    let mut single = Vec::with_capacity(paths.len());
    let mut groups: Vec<(&PathInfo, Vec<usize>)> = Vec::new();
    let mut known: FxHashMap<(&str, &str), usize> = FxHashMap::default();
    for (place, (info, path)) in paths.iter().enumerate() {
        let intervals = intervals(&path.statistics, info.period_ns);
        single.push(report(info, &path.statistics, &intervals, &|_| None));
        let group = *known.entry((&info.group, &info.listener)).or_insert_with(|| {
            groups.push((info, vec![]));
            groups.len() - 1
        });
        groups[group].1.push(place);
    }
    let pooled = groups.into_iter().map(|(info, members)| pool(paths, info, &members)).collect();
    (single, pooled)
}

/// The paths of one group at one listener together.
fn pool(paths: &[(PathInfo, Path)], info: &PathInfo, members: &[usize]) -> PathReport {
    let mut statistics = PathStatistics::default();
    let mut gaps = Distribution::default();
    let mut info =
        PathInfo { stream: info.group.clone(), before_first: 0, in_network_at_end: 0, ..info.clone() };
    for place in members {
        let (member, path) = &paths[*place];
        statistics.merge(&path.statistics);
        gaps.merge(&intervals(&path.statistics, member.period_ns));
        info.is_sequence &= member.is_sequence;
        info.before_first += member.before_first;
        info.in_network_at_end += member.in_network_at_end;
        // The group's times have no known uncertainty if one of its flows has none.
        info.uncertainty = info.uncertainty.zip(member.uncertainty).map(|(one, other)| one.or_more(other));
        // A property on which the flows differ is not one of the group.
        for (kept, theirs) in [
            (&mut info.tx_tap, &member.tx_tap),
            (&mut info.rx_tap, &member.rx_tap),
            (&mut info.tx_clock, &member.tx_clock),
            (&mut info.rx_clock, &member.rx_clock),
        ] {
            if kept != theirs {
                *kept = None;
            }
        }
        if info.taps != member.taps {
            info.taps.clear();
            statistics.lost_after.clear();
        }
        info.period_ns = info.period_ns.filter(|period| member.period_ns == Some(*period));
    }
    let only = if let [only] = members { Some(*only) } else { None };
    let stream = |extreme: Extreme| {
        paths.get(only.unwrap_or(extreme.path as usize)).map(|(info, _)| info.stream.clone())
    };
    let mut pooled = report(&info, &statistics, &gaps, &stream);
    pooled.flows = Some(members.len());
    pooled
}

/// Distances of the gaps between arrivals from the period, or from the mean gap.
fn intervals(statistics: &PathStatistics, period_ns: Option<u64>) -> Distribution {
    let period = period_ns.and_then(|period| i64::try_from(period).ok());
    period
        .or_else(|| statistics.arrivals.mean_rounded())
        .map(|centre| statistics.arrivals.distances(centre))
        .unwrap_or_default()
}

fn percentile(statistics: &PathStatistics, share_ppm: u32) -> Option<DelayPercentile> {
    let delay_ns = statistics.delay.quantile(u64::from(share_ppm), 1_000_000)?;
    Some(DelayPercentile { share_ppm, delay_ns })
}

fn report(
    info: &PathInfo,
    statistics: &PathStatistics,
    intervals: &Distribution,
    stream: &dyn Fn(Extreme) -> Option<String>,
) -> PathReport {
    let stat = |of: &Distribution| -> Option<Stat> {
        let mut stat = of.stat()?;
        stat.min_stream = of.min().filter(|min| min.seq.is_some()).and_then(stream);
        stat.max_stream = of.max().and_then(stream);
        Some(stat)
    };
    let delay = stat(&statistics.delay);
    let deviation =
        statistics.delay.mean_rounded().map(|mean| statistics.delay.distances(mean)).unwrap_or_default();
    let lost_where = statistics.lost_after.iter().enumerate().filter(|(_, frames)| **frames > 0);
    let lost_where = lost_where.filter_map(|(tap, frames)| {
        Some(LostAfter { after_tap: info.taps.get(tap)?.clone(), frames: *frames })
    });
    PathReport {
        stream: info.stream.clone(),
        group: info.group.clone(),
        listener: info.listener.clone(),
        tx_tap: info.tx_tap.clone(),
        rx_tap: info.rx_tap.clone(),
        tx_clock: info.tx_clock.clone(),
        rx_clock: info.rx_clock.clone(),
        flows: None,
        count: Count {
            never_sent: info.is_sequence.then_some(statistics.never_sent),
            sent: statistics.sent,
            received: statistics.received,
            lost: statistics.lost.saturating_sub(info.in_network_at_end),
            late: info.deadline_ns.map(|_| statistics.late),
            duplicate: statistics.duplicate,
            reordered: statistics.reordered,
            unmatched_rx: statistics.unmatched_rx,
            missing_timestamp: statistics.missing_timestamp,
            duplicate_tx: statistics.duplicate_tx,
            before_first: info.before_first,
            in_network_at_end: info.in_network_at_end,
            restarts: statistics.restarts,
        },
        numbers: info.numbers,
        gaps: if info.is_sequence { statistics.gaps.clone() } else { Vec::new() },
        lost_where: lost_where.collect(),
        spread: delay.as_ref().map(|delay| delay.std),
        delay,
        delay_percentiles: info
            .shares_ppm
            .iter()
            .filter_map(|share| percentile(statistics, *share))
            .collect(),
        jitter: Jitter {
            delay_step: stat(statistics.steps.signed()),
            delay_step_abs: stat(&statistics.steps.magnitudes()),
            deviation: stat(&deviation),
            interval: stat(intervals),
        },
        period_ns: info.period_ns,
        deadline_ns: info.deadline_ns,
        rate: Rate {
            sent_bps: statistics.sent_rate.rate_bps(),
            received_bps: statistics.received_rate.rate_bps(),
        },
        send_to_tx: stat(&statistics.send_to_tx),
        release_delay: stat(&statistics.release_delay),
        uncertainty: info.uncertainty,
        departures: stat(&statistics.departures),
        arrivals: stat(&statistics.arrivals),
        silence_ns: statistics.silence,
        age: stat(&statistics.age),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::path_statistics::PathOptions;

    /// A path of flow `place` of group "g" from its own tap "t0", "t1" to tap "r". Frames leave 1,000 ns apart and
    /// arrive after these delays, or never.
    fn path(place: u32, delays: &[Option<i64>]) -> (PathInfo, Path) {
        let info = PathInfo {
            stream: format!("g/{place}"),
            group: "g".into(),
            listener: "l".into(),
            tx_tap: Some(format!("t{place}")),
            rx_tap: Some("r".into()),
            tx_clock: Some("true".into()),
            rx_clock: Some(format!("c{place}")),
            taps: vec![format!("t{place}")],
            period_ns: Some(1_000),
            deadline_ns: None,
            shares_ppm: Vec::new(),
            is_sequence: true,
            numbers: None,
            before_first: u64::from(place) + 2,
            in_network_at_end: 1,
            uncertainty: None,
        };
        let mut path = Path::from_zero(PathOptions { path: place, ..PathOptions::default() });
        for (seq, delay) in delays.iter().enumerate() {
            let sent = seq as i64 * 1_000;
            path.tx(seq as u64, Some(sent), 64, &mut ());
            if let Some(delay) = delay {
                path.rx(seq as u64, Some(sent + delay), 64, &mut ());
            }
        }
        path.finish(&mut ());
        (info, path)
    }

    #[test]
    fn flows_of_one_group_at_one_listener_are_pooled() {
        let mut paths = vec![
            path(0, &[Some(100), Some(200), None, None]),
            path(1, &[Some(50), Some(300), None]),
            path(2, &[Some(7)]),
            path(3, &[Some(9)]),
        ];
        paths[2].0.listener = "other".into();
        paths[3].0.group = "other".into();
        let (single, groups) = reports(&paths);
        assert_eq!(groups.iter().map(|group| group.flows).collect::<Vec<_>>(), [Some(2), Some(1), Some(1)]);
        let only = &single[0];
        assert_eq!((only.stream.as_str(), only.flows, only.lost_where.len()), ("g/0", None, 1));
        assert_eq!((only.lost_where[0].after_tap.as_str(), only.lost_where[0].frames), ("t0", 2));
        assert_eq!((only.count.lost, only.count.in_network_at_end, only.count.before_first), (1, 1, 2));
        assert_eq!(only.delay.as_ref().map(|delay| delay.max_stream.clone()), Some(None));
        let group = &groups[0];
        assert_eq!((group.stream.as_str(), group.listener.as_str()), ("g", "l"));
        // Two and one are lost, of which two were still under way.
        let count = &group.count;
        assert_eq!((count.sent, count.received, count.lost), (7, 4, 1));
        assert_eq!((count.in_network_at_end, count.before_first), (2, 5));
        // A property on which the flows differ is not one of the group.
        assert_eq!((&group.tx_tap, group.rx_tap.as_deref()), (&None, Some("r")));
        assert_eq!((group.tx_clock.as_deref(), &group.rx_clock), (Some("true"), &None));
        assert_eq!((group.lost_where.len(), group.period_ns), (0, Some(1_000)));
        let delay = group.delay.as_ref().unwrap();
        assert_eq!((delay.count, delay.min, delay.max), (4, 50, 300));
        assert_eq!((delay.min_stream.as_deref(), delay.max_stream.as_deref()), (Some("g/1"), Some("g/1")));
        // Gaps of 1,100 and 1,250 ns.
        let interval = group.jitter.interval.as_ref().unwrap();
        assert_eq!((interval.count, interval.min, interval.max), (2, 100, 250));
        assert_eq!((interval.min_stream.as_deref(), interval.max_stream.as_deref()), (None, Some("g/1")));
        // Flows that leave by one tap lose their frames after that tap; two flows with different periods have no
        // common one.
        (paths[1].0.taps, paths[1].0.period_ns) = (vec!["t0".into()], Some(2_000));
        let group = &reports(&paths).1[0];
        assert_eq!((group.lost_where[0].after_tap.as_str(), group.lost_where[0].frames), ("t0", 3));
        assert_eq!((group.lost_where.len(), group.period_ns), (1, None));
        let interval = group.jitter.interval.as_ref().unwrap();
        assert_eq!((interval.count, interval.min, interval.max), (2, 100, 750), "each from its own period");
        // A group of one flow has the flow's name at its figures.
        let delay = reports(&paths).1[1].delay.clone().unwrap();
        assert_eq!(delay.max_stream.as_deref(), Some("g/2"));
    }
}
