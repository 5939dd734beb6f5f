//! The arrivals of a class against its service: each lower bound on the service holds, so the best one counts.

use crate::curve::deviation::{Rises, busy_until, longest_wait, most_waiting};
use crate::curve::{Curve, Data, Ps, Rate};
use crate::reason::Reason;
use crate::service::Service;

/// The excess of drifting clocks is at most one part in so many.
const SLIGHTLY: Rate = 1_000;

/// Arrivals, and all lower bounds on their service.
pub(crate) struct DelayAndBacklog<'a> {
    arrivals: &'a Curve,
    rate: Rate,
    services: Vec<Vec<Moment<'a>>>,
}

/// Service from a moment on at which waiting may begin.
struct Moment<'a> {
    service: &'a Curve,
    rises: Rises,
    /// The instant at which a backlogged period has ended for certain.
    until: Option<Ps>,
    /// Whether the long-run arrivals do not exceed the service.
    steady: bool,
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
        let moment = |service: &'a Curve| {
            let slope = service.tail().slope;
            // No backlogged period is longer than the run.
            let drifts = rate > slope && rate - slope <= slope / SLIGHTLY;
            // A frame that is still being sent belongs to the earlier arrivals.
            let until = busy_until(arrivals, service)
                .map(|until| until.saturating_add(longest))
                .or(run.filter(|_| drifts));
            let rises = Rises::until(service, until.map_or(Data::MAX, |until| arrivals.most(until)));
            Moment { service, rises, until, steady: rate <= slope }
        };
        let services = services.iter().map(|moments| moments.iter().map(moment).collect()).collect();
        Self { arrivals, rate, services }
    }

    /// The longest period in which the class always has frames to send.
    pub fn longest_busy(&self) -> Option<Ps> {
        let longest =
            |moments: &Vec<Moment<'_>>| moments.iter().try_fold(0, |most, at| Some(at.until?.max(most)));
        self.services.iter().filter_map(longest).min()
    }

    /// The longest wait of a frame of this size, from its arrival until it starts.
    pub fn max_wait(&self, frame: Data) -> Result<Ps, Reason> {
        self.best(|at| longest_wait(self.arrivals, &at.rises, frame, at.until, at.steady))
    }

    /// The largest amount of data that waits.
    pub fn backlog(&self) -> Result<Data, Reason> {
        self.best(|at| most_waiting(self.arrivals, at.service, at.until, at.steady))
    }

    fn best<T: Ord + Default>(&self, found: impl Fn(&Moment<'_>) -> Option<T>) -> Result<T, Reason> {
        let mut best = Err(Reason::NoWindow);
        for moments in &self.services {
            let one = moments.iter().try_fold(T::default(), |most, moment| {
                found(moment).map(|one| most.max(one)).ok_or_else(|| self.reason(moment))
            });
            best = match (best, one) {
                (Ok(a), Ok(b)) => Ok(T::min(a, b)),
                (Ok(found), Err(_)) | (Err(_), Ok(found)) => Ok(found),
                (Err(a), Err(b)) => Err(most_served(a, b)),
            };
        }
        best
    }

    fn reason(&self, moment: &Moment<'_>) -> Reason {
        if moment.steady || moment.until.is_some() {
            return Reason::TooLarge;
        }
        Reason::Overload { coming_bps: self.rate, served_bps: moment.service.tail().slope.max(0) }
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

    /// Of two guarantees of 3 and 5 bit/s the better one is what 10 bit/s have, in any order.
    #[test]
    fn the_reason_names_the_service_that_leaves_the_most() {
        let arrivals = Curve::affine(1, 10);
        let served = |rates: [Rate; 2]| {
            let services = rates.map(|rate| vec![Curve::affine(0, rate)]);
            DelayAndBacklog::new(&arrivals, 10, &services, 0, None).backlog()
        };
        let best = Err(Reason::Overload { coming_bps: 10, served_bps: 5 });
        assert_eq!([served([3, 5]), served([5, 3])], [best.clone(), best]);
    }
}
