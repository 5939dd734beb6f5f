//! The arrivals of a class against its service: each lower bound on the service holds, so the best one counts.

use crate::curve::deviation::{Rises, busy_until, longest_wait, most_waiting};
use crate::curve::{Curve, Data, Ps, Rate, Segments, time_of};
use crate::reason::Reason;
use crate::service::{Served, Service};
use std::cell::OnceCell;
use std::cmp::Reverse;

/// The excess of drifting clocks is at most one part in so many.
const SLIGHTLY: Rate = 1_000;

/// What is added to limits of waits, ps, so that no rounding counts.
const ROUNDED: Ps = 4;

/// Arrivals, and all lower bounds on their service.
pub(crate) struct DelayAndBacklog<'a> {
    arrivals: &'a Curve,
    rate: Rate,
    /// The time of the class's longest frame on the link.
    longest: Ps,
    run: Option<Ps>,
    services: Vec<Moments<'a>>,
}

/// Service from all moments on at which waiting may begin.
struct Moments<'a> {
    all: Vec<Moment<'a>>,
    /// If the services of all moments have one slope, which the arrivals do not exceed: that slope, and how far the
    /// arrivals are above its line. Then the moments are in order: service that is behind the most comes first.
    line: Option<(Rate, Data)>,
}

/// Service from a moment on at which waiting may begin.
struct Moment<'a> {
    service: &'a Served,
    behind: Data,
    /// Whether the long-run arrivals do not exceed the service.
    steady: bool,
    busy: OnceCell<Busy>,
}

/// A backlogged period.
struct Busy {
    rises: Rises,
    /// The instant at which it has ended for certain.
    until: Option<Ps>,
}

impl<'a> Moments<'a> {
    fn of(services: &'a Service, arrivals: &Curve, rate: Rate) -> Self {
        let slope = services.first().map_or(0, Segments::slope);
        let rises = services.len() > 1 && slope > 0 && rate.max(arrivals.tail().slope) <= slope;
        let alike = rises && services.iter().all(|own| own.slope() == slope);
        let behind: Option<Vec<Data>> =
            if alike { services.iter().map(Segments::behind).collect() } else { None };
        let line = behind.is_some().then(|| (slope, arrivals.above(slope)));
        let behind = behind.unwrap_or_else(|| vec![0; services.len()]);
        let moment = |(service, behind): (&'a Served, Data)| Moment {
            service,
            behind,
            steady: rate <= service.slope(),
            busy: OnceCell::new(),
        };
        let mut all: Vec<Moment<'a>> = services.iter().zip(behind).map(moment).collect();
        all.sort_by_key(|moment| Reverse(moment.behind));
        Self { all, line }
    }

    /// The greatest of what is `found` from each moment on; the error is a moment with none. `limit`: what a service
    /// cannot exceed that is so far behind a line, below arrivals that are so far above it.
    fn most<T: Ord + Default>(
        &self,
        limit: impl Fn((Rate, Data), Data) -> T,
        found: impl Fn(&Moment<'_>) -> Option<T>,
    ) -> Result<T, &Moment<'a>> {
        let mut most = T::default();
        for moment in &self.all {
            // The others are not so far behind.
            if self.line.is_some_and(|line| limit(line, moment.behind) <= most) {
                break;
            }
            most = most.max(found(moment).ok_or(moment)?);
        }
        Ok(most)
    }
}

impl<'a> DelayAndBacklog<'a> {
    /// `rate`: the long-run rate of `arrivals`; `longest`: the time of the class's longest frame on the link; `run`:
    /// the length of the run, where drifting clocks may make the rate a little higher than the service.
    pub fn new(
        arrivals: &'a Curve,
        rate: Rate,
        services: &'a [Service],
        longest: Ps,
        run: Option<Ps>,
    ) -> Self {
        let services = services.iter().map(|moments| Moments::of(moments, arrivals, rate)).collect();
        Self { arrivals, rate, longest, run, services }
    }

    fn busy<'m>(&self, moment: &'m Moment<'_>) -> &'m Busy {
        moment.busy.get_or_init(|| {
            let slope = moment.service.slope();
            // No backlogged period is longer than the run.
            let drifts = self.rate > slope && self.rate - slope <= slope / SLIGHTLY;
            // A frame that is still being sent belongs to the earlier arrivals.
            let until = busy_until(self.arrivals, moment.service)
                .map(|until| until.saturating_add(self.longest))
                .or(self.run.filter(|_| drifts));
            let enough = until.map_or(Data::MAX, |until| self.arrivals.most(until));
            Busy { rises: Rises::until(moment.service, enough), until }
        })
    }

    /// The longest period in which the class always has frames to send.
    pub fn longest_busy(&self) -> Option<Ps> {
        let (burst, rate) = self.arrivals.bucket();
        let limit = |(slope, _), behind| {
            let ends = time_of(burst + behind + 1, slope - rate);
            ends.map_or(Ps::MAX, |ends| ends.saturating_add(self.longest).saturating_add(ROUNDED))
        };
        let longest = |moments: &Moments<'_>| moments.most(limit, |at| self.busy(at).until).ok();
        self.services.iter().filter_map(longest).min()
    }

    /// The longest wait of a frame of this size, from its arrival until it starts.
    pub fn max_wait(&self, frame: Data) -> Result<Ps, Reason> {
        let limit = |(slope, above): (Rate, Data), behind: Data| {
            let waits = time_of((above - frame).max(0) + behind, slope);
            waits.map_or(Ps::MAX, |waits| waits.saturating_add(ROUNDED))
        };
        self.best(limit, |at| {
            let busy = self.busy(at);
            longest_wait(self.arrivals, &busy.rises, frame, busy.until, at.steady)
        })
    }

    /// The largest amount of data that waits.
    pub fn backlog(&self) -> Result<Data, Reason> {
        let limit = |(slope, above), behind| above + behind + Data::from(ROUNDED) * Data::from(slope);
        self.best(limit, |at| most_waiting(self.arrivals, at.service, self.busy(at).until, at.steady))
    }

    fn best<T: Ord + Default>(
        &self,
        limit: impl Fn((Rate, Data), Data) -> T,
        found: impl Fn(&Moment<'_>) -> Option<T>,
    ) -> Result<T, Reason> {
        let mut best = Err(Reason::NoWindow);
        for moments in &self.services {
            let one = moments.most(&limit, &found).map_err(|moment| self.reason(moment));
            best = match (best, one) {
                (Ok(a), Ok(b)) => Ok(T::min(a, b)),
                (Ok(found), Err(_)) | (Err(_), Ok(found)) => Ok(found),
                (Err(a), Err(b)) => Err(most_served(a, b)),
            };
        }
        best
    }

    fn reason(&self, moment: &Moment<'_>) -> Reason {
        if moment.steady || self.busy(moment).until.is_some() {
            return Reason::TooLarge;
        }
        Reason::Overload { coming_bps: self.rate, served_bps: moment.service.slope().max(0) }
    }
}

/// Of two reasons the one that leaves the class the most: each service is guaranteed, so the best one counts.
fn most_served(a: Reason, b: Reason) -> Reason {
    match (&a, &b) {
        (Reason::Overload { served_bps: one, .. }, Reason::Overload { served_bps: other, .. })
            if one > other =>
        {
            a
        }
        _ => b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::openings::{Starts, Window};
    use crate::service::laps::{Laps, Serving};
    use proptest::prelude::*;

    /// The longest busy period, the longest wait and the largest backlog.
    type Found = (Option<Ps>, Option<Ps>, Option<Data>);

    /// Windows and their gaps, and how long waiting may begin before the end of each.
    fn starts() -> impl Strategy<Value = Starts> {
        let window = (1..60i64, 0..25i64, 0..15i64);
        (prop::collection::vec(window, 1..6), 1..40i64).prop_map(|(drawn, rest)| {
            let (mut at, mut windows, mut before) = (0, Vec::new(), Vec::new());
            for (gap, length, waited) in drawn {
                windows.push(Window { from: at + gap, to: at + gap + length });
                at += gap + length;
                before.push(waited.min(length));
            }
            let none = vec![0; windows.len()];
            Starts { cycle: at + rest, windows, before, late: none.clone(), blocked: none }
        })
    }

    proptest! {
        /// Moments that are left out are not the worst: each moment alone gives no more than all together.
        #[test]
        fn the_worst_of_all_moments_is_that_of_each_alone(
            starts in starts(),
            stairs in prop::collection::vec((1..90i64, 20..900i64, 0..300i64), 1..5),
            (line, lower, frame) in (prop::option::of((1..90i64, 1..4i64)), 0..50i64, 1..40i64),
            whole in any::<bool>(),
        ) {
            use crate::curve::arrival::{Stair, rate, sum};
            let stair = |(unit, period, jitter)| Stair { unit: Data::from(unit), period, jitter };
            let stairs: Vec<Stair> = stairs.into_iter().map(stair).collect();
            let mut arrivals = sum(&stairs, 2_000).unwrap();
            if let Some((burst, slope)) = line {
                arrivals = arrivals.min(&Curve::affine(Data::from(burst), slope));
            }
            let serving = if whole { Serving::Frames(30) } else { Serving::Time };
            let laps = Laps::of(&starts, 3, serving);
            let mut all: Service =
                (0..starts.windows.len()).map(|place| Served::Windows(starts.missed(&laps, place))).collect();
            all.iter_mut().for_each(|own| own.lower(Data::from(lower)));
            let curves: Vec<Curve> = all.iter().map(|own| match own {
                Served::Curve(own) => own.clone(),
                Served::Windows(own) => own.curve(),
            }).collect();
            let found = |services: Service| {
                let services = [services];
                let own = DelayAndBacklog::new(&arrivals, rate(&stairs), &services, 7, None);
                (own.longest_busy(), own.max_wait(Data::from(frame)).ok(), own.backlog().ok())
            };
            let alone: Vec<_> = all.iter().map(|own| found(vec![own.clone()])).collect();
            let most = |of: &dyn Fn(&Found) -> Option<Data>| {
                alone.iter().try_fold(0, |most: Data, own| Some(most.max(of(own)?)))
            };
            let (busy, wait, backlog) = found(all);
            prop_assert_eq!(busy.map(Data::from), most(&|own| own.0.map(Data::from)));
            prop_assert_eq!(wait.map(Data::from), most(&|own| own.1.map(Data::from)));
            prop_assert_eq!(backlog, most(&|own| own.2));
            // Curves are as far behind a line as the windows that they are made of.
            prop_assert_eq!((busy, wait, backlog), found(curves.into_iter().map(Served::Curve).collect()));
        }
    }

    /// Of two guarantees of 3 and 5 bit/s the better one is what 10 bit/s have, in any order.
    #[test]
    fn the_reason_names_the_service_that_leaves_the_most() {
        let arrivals = Curve::affine(1, 10);
        let served = |rates: [Rate; 2]| {
            let services = rates.map(|rate| vec![Served::Curve(Curve::affine(0, rate))]);
            DelayAndBacklog::new(&arrivals, 10, &services, 0, None).backlog()
        };
        let best = Err(Reason::Overload { coming_bps: 10, served_bps: 5 });
        assert_eq!([served([3, 5]), served([5, 3])], [best.clone(), best]);
    }
}
