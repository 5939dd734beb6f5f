//! The deviation of service from arrivals: in time (delay) and in data (backlog).
//!
//! Le Boudec & Thiran, Network Calculus, section 1.4, for service curves that may fall: strict priority minus
//! interference that jumps.

use crate::curve::{Curve, Data, Ps, Rate, Segments, pieces, spans, time_of};

/// A stretch in which service reaches new heights: `value + slope * (t - from)`, up to `top`.
#[derive(Copy, Clone, Debug)]
struct Rise {
    from: Ps,
    value: Data,
    slope: Rate,
    /// Value at the end; none when it never ends.
    top: Option<Data>,
}

/// The values that a service curve reaches for the first time, and when.
#[derive(Clone, Debug)]
pub(crate) struct Rises(Vec<Rise>);

impl Rises {
    pub fn of(service: &impl Segments) -> Self {
        Self::until(service, Data::MAX)
    }

    /// Those until more than `enough` is served.
    pub fn until(service: &impl Segments, enough: Data) -> Self {
        let mut rises = Vec::new();
        // Negative values of a service curve serve nothing, so the highest value begins at 0.
        let mut highest: Data = 0;
        for (segment, end) in spans(service) {
            if highest > enough {
                break;
            }
            let top = end.map(|end| segment.value_at(end));
            if segment.value > highest {
                // A jump: everything up to the new height at this instant.
                rises.push(Rise {
                    from: segment.at,
                    value: segment.value,
                    slope: 0,
                    top: Some(segment.value),
                });
                highest = segment.value;
            }
            if segment.slope <= 0 || top.is_some_and(|top| top <= highest) {
                continue;
            }
            let Some(from) = time_of(highest - segment.value, segment.slope) else { continue };
            let Some(from) = segment.at.checked_add(from) else { continue };
            rises.push(Rise { from, value: highest, slope: segment.slope, top });
            if let Some(top) = top {
                highest = top;
            }
        }
        Self(rises)
    }

    /// When more than `data` is served; none for never.
    pub fn after(&self, data: Data) -> Option<Ps> {
        self.after_from(data, &mut 0)
    }

    /// When more than `data` is served; none for never. `place`: that of other data, where the search begins.
    fn after_from(&self, data: Data, place: &mut usize) -> Option<Ps> {
        let served = |rise: &Rise| rise.top.is_some_and(|top| top <= data);
        if !self.0[..*place].last().is_none_or(served) {
            *place = 0;
        }
        let rest = &self.0[*place..];
        let mut far = 1;
        while rest.get(far - 1).is_some_and(served) {
            far *= 2;
        }
        *place += rest[..far.min(rest.len())].partition_point(served);
        let rise = self.0.get(*place)?;
        if rise.slope == 0 {
            return Some(rise.from);
        }
        rise.from.checked_add(time_of(data - rise.value, rise.slope)?)
    }

    /// Values at which service pauses: the time at which a little more is served jumps there.
    fn pauses_between(&self, low: Data, high: Data) -> impl Iterator<Item = Data> + '_ {
        let first = self.0.partition_point(|rise| rise.value <= low);
        self.0[first..].iter().map(|rise| rise.value).take_while(move |value| *value < high)
    }
}

/// When a backlogged period that begins at 0 has certainly ended; none if it may last for ever.
pub(crate) fn busy_until(arrivals: &Curve, service: &impl Segments) -> Option<Ps> {
    for (at, end, coming, going) in pieces(arrivals, service) {
        if going.value > coming.value {
            return Some(at);
        }
        // One ps and one unit are added, so that the result is strictly greater, whatever was rounded.
        if let Some(span) = time_of(coming.value - going.value + 1, going.slope.saturating_sub(coming.slope))
        {
            let when = at.checked_add(span)?;
            if end.is_none_or(|end| when < end) {
                return Some(when);
            }
        }
    }
    None
}

/// The longest time from a frame's arrival until it starts, where `frame` is the frame's own data.
///
/// `arrivals` counts the frame itself; `until` ends the backlogged period. Without it, `steady` means that the
/// long-run arrivals do not exceed the service, so that delays do not grow after the last change of either curve.
pub(crate) fn longest_wait(
    arrivals: &Curve,
    rises: &Rises,
    frame: Data,
    until: Option<Ps>,
    steady: bool,
) -> Option<Ps> {
    if until.is_none() && !steady {
        return None;
    }
    let (mut longest, mut place) = (0, 0);
    let mut consider = |ahead: Data, at: Ps| -> Option<()> {
        longest = longest.max(rises.after_from(ahead.max(0), &mut place)?.saturating_sub(at));
        Some(())
    };
    for (segment, end) in arrivals.spans() {
        if until.is_some_and(|until| segment.at > until) {
            break;
        }
        consider(segment.value - frame, segment.at)?;
        if segment.slope <= 0 {
            continue;
        }
        let end = match (end, until) {
            (Some(end), Some(until)) => Some(end.min(until)),
            (end, until) => end.or(until),
        };
        let top = end.map_or(Data::MAX, |end| segment.value_at(end) - frame);
        for height in rises.pauses_between(segment.value - frame, top) {
            let span = (height + frame - segment.value) / Data::from(segment.slope);
            let Ok(span) = Ps::try_from(span) else { break };
            consider(height, segment.at.saturating_add(span))?;
        }
        if let Some(end) = end {
            consider(top, end)?;
        }
    }
    Some(longest)
}

/// The greatest backlog at any time within `until`.
pub(crate) fn most_waiting(
    arrivals: &Curve,
    service: &impl Segments,
    until: Option<Ps>,
    steady: bool,
) -> Option<Data> {
    if until.is_none() && !steady {
        return None;
    }
    let mut most = 0;
    // A service curve may fall, but served data does not come back: the highest value so far counts.
    let mut served: Data = 0;
    for (at, end, coming, going) in pieces(arrivals, service) {
        if until.is_some_and(|until| at > until) {
            break;
        }
        most = most.max(coming.value - served);
        served = served.max(going.value);
        if let Some(end) = end {
            let top = going.value_at(end);
            if top > served {
                // Service passes its earlier maximum within this piece: examine that point, too.
                if let Some(span) = time_of(served - going.value, going.slope) {
                    most = most.max(coming.value_at(at.saturating_add(span)) - served);
                }
                served = top;
            }
            most = most.max(coming.value_at(end) - served);
        } else if let Some(span) = time_of(served - going.value, going.slope) {
            let span = until.map_or(span, |until| span.min((until - at).max(0)));
            most = most.max(coming.value_at(at.saturating_add(span)) - served);
        }
    }
    Some(most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::Segment;

    #[test]
    fn token_bucket_against_rate_and_latency() {
        // Le Boudec & Thiran, section 1.4.2: delay T + b/R, backlog b + rT.
        let arrivals = Curve::affine(100, 2);
        let service = Curve::affine(-50, 10);
        let until = busy_until(&arrivals, &service);
        assert_eq!(until, Some(19));
        assert_eq!(longest_wait(&arrivals, &Rises::of(&service), 0, until, false), Some(15));
        assert_eq!(most_waiting(&arrivals, &service, until, false), Some(110));
    }

    #[test]
    fn as_much_coming_as_going_is_bounded_when_steady() {
        let (arrivals, service) = (Curve::affine(100, 10), Curve::affine(-50, 10));
        assert_eq!(busy_until(&arrivals, &service), None);
        assert_eq!(longest_wait(&arrivals, &Rises::of(&service), 0, None, false), None);
        assert_eq!(longest_wait(&arrivals, &Rises::of(&service), 0, None, true), Some(15));
        assert_eq!(most_waiting(&arrivals, &service, None, true), Some(150));
    }

    #[test]
    fn service_that_falls_back_delays_what_it_had_not_reached() {
        // Service rises to 50, falls by 30 at t = 5 because of other traffic, and reaches 50 again at t = 8.
        let service =
            Curve::of(vec![Segment { at: 0, value: 0, slope: 10 }, Segment { at: 5, value: 20, slope: 10 }]);
        let rises = Rises::of(&service);
        assert_eq!(rises.after(49), Some(5));
        assert_eq!(rises.after(40), Some(4));
        assert_eq!(rises.after(50), Some(8));
        assert_eq!(rises.after(60), Some(9));
        // Arrivals with a slope: the worst case is just before the pause.
        let arrivals = Curve::affine(10, 5);
        assert_eq!(longest_wait(&arrivals, &rises, 0, Some(100), false), Some(1));
    }

    fn curve(segments: &[(Ps, Data, Rate)]) -> Curve {
        Curve::of(
            segments
                .iter()
                .map(|(at, value, slope)| Segment { at: *at, value: *value, slope: *slope })
                .collect(),
        )
    }

    /// 10 at once, which is forgotten at 5; from there on 1 per ps until 12, then 3: 10 again at 13.
    #[test]
    fn what_does_not_reach_new_heights_serves_nothing() {
        let rises = Rises::of(&curve(&[(0, 10, 0), (5, 0, 1), (12, 7, 3)]));
        assert_eq!([9, 10, 12, 13].map(|data| rises.after(data)), [0, 13, 14, 14].map(Some));
        let ends = Rises::of(&Curve::affine(5, 0));
        assert_eq!([4, 5].map(|data| ends.after(data)), [Some(0), None]);
    }

    /// 50 until 5, then 20 again and 15 per ps: 50 at 7, and 95 at 10, from where there is nothing more.
    #[test]
    fn rises_that_are_enough_tell_the_same() {
        let service = curve(&[(0, 0, 10), (5, 20, 15), (10, 95, 0)]);
        let all = Rises::of(&service);
        for enough in 0..100 {
            let rises = Rises::until(&service, enough);
            assert!((0..=enough).all(|data| rises.after(data) == all.after(data)), "{enough}");
        }
        let kept = [49, 50, 94, 95].map(|enough| Rises::until(&service, enough).0.len());
        assert_eq!(kept, [1, 2, 2, 2]);
    }

    #[test]
    fn a_search_finds_the_same_wherever_it_begins() {
        let rises = Rises::of(&curve(&[(0, 0, 10), (5, 20, 15), (10, 95, 0), (20, 100, 1), (30, 110, 0)]));
        for (data, first) in (0..120).flat_map(|data| (0..120).map(move |first| (data, first))) {
            let mut place = 0;
            rises.after_from(first, &mut place);
            assert_eq!(rises.after_from(data, &mut place), rises.after(data), "{data} behind {first}");
        }
        assert_eq!([94, 95, 109, 110].map(|data| rises.after(data)), [Some(10), Some(20), Some(29), None]);
    }

    #[test]
    fn a_busy_period_ends_when_more_has_been_served_than_came() {
        // 100 + 2 t and -52 + 10 t are equal at 19.
        assert_eq!(busy_until(&Curve::affine(100, 2), &Curve::affine(-52, 10)), Some(20));
        // With 15 at t = 5, both stay equal, and the busy period does not end. With 16 it ends at t = 5.
        let level = |value| busy_until(&Curve::affine(10, 1), &curve(&[(0, 0, 0), (5, value, 1)]));
        assert_eq!((level(15), level(16)), (None, Some(5)));
        // 2 t is first more than 10 at t = 6, but at this time service falls back to 0.
        assert_eq!(busy_until(&Curve::affine(10, 0), &curve(&[(0, 0, 2), (6, 0, 2)])), Some(12));
    }

    /// Service of 10 per ps falls from 50 to 20 at 5 and has 15 per ps then: 50 again at 7. A frame with 50 before it
    /// arrives at 2 (40 + 5 t) and waits for 5; the first one, with 40 before it, waits for 4.
    #[test]
    fn a_pause_of_service_delays_most_just_before_it() {
        let rises = Rises::of(&curve(&[(0, 0, 10), (5, 20, 15)]));
        assert_eq!(longest_wait(&Curve::affine(50, 5), &rises, 10, Some(10), false), Some(5));
        assert_eq!(longest_wait(&Curve::affine(50, 0), &rises, 10, Some(10), false), Some(4));
    }

    /// 90 more at the end of the busy period still find its remaining backlog.
    #[test]
    fn the_end_of_a_busy_period_belongs_to_it() {
        let (arrivals, service) = (curve(&[(0, 10, 0), (5, 100, 0)]), Curve::affine(0, 10));
        assert_eq!(longest_wait(&arrivals, &Rises::of(&service), 0, Some(5), false), Some(5));
        assert_eq!(longest_wait(&arrivals, &Rises::of(&service), 0, Some(4), false), Some(1));
        assert_eq!(most_waiting(&arrivals, &service, Some(5), false), Some(50));
        assert_eq!(most_waiting(&arrivals, &service, Some(4), false), Some(10));
    }

    /// The greatest backlog is where service exceeds its earlier maximum: 10 + 5 t less that.
    #[test]
    fn most_waits_where_service_has_been_in_vain() {
        // Nothing is served until t = 2 (20 have arrived). Service is 20 at t = 4, falls to 0, and is 20 again at t = 6
        // (40 have arrived).
        let service = curve(&[(0, -20, 10), (4, 0, 10), (8, 40, 10)]);
        assert_eq!(most_waiting(&Curve::affine(10, 5), &service, Some(100), false), Some(20));
        // The same curve without a fall: 20 wait at t = 2.
        let kept = curve(&[(0, -20, 10), (4, 20, 10)]);
        assert_eq!(most_waiting(&Curve::affine(10, 5), &kept, Some(100), false), Some(20));
        // Nothing is served until t = 6: 40 have arrived by then, and 35 by t = 5.
        let late = curve(&[(0, -20, 0), (4, -20, 10)]);
        assert_eq!(most_waiting(&Curve::affine(10, 5), &late, Some(100), false), Some(40));
        assert_eq!(most_waiting(&Curve::affine(10, 5), &late, Some(5), false), Some(35));
        // Service is 40 at t = 4, and again at t = 6, when 60 have arrived: 20 wait, fewer than the 30 at the begin.
        let falls = curve(&[(0, 0, 10), (4, 20, 10)]);
        assert_eq!(most_waiting(&Curve::affine(30, 5), &falls, Some(100), false), Some(30));
        assert_eq!(most_waiting(&Curve::affine(5, 9), &falls, Some(100), false), Some(19));
    }
}
