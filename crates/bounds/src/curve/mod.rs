//! Piecewise linear functions of time, exact in integers.
//!
//! Time is in ps and data in 1e-12 bit, so that a rate in bit/s times a time in ps is data without any rounding.
//! Only where two curves cross must a time be rounded, and then the result stays on the safe side.

pub(crate) mod arrival;
pub(crate) mod bucket;
pub(crate) mod deviation;

use tsn_plan::duration;

/// A time, or span of time, in ps.
pub(crate) type Ps = i64;
/// An amount of data in 1e-12 bit.
pub(crate) type Data = i128;
/// A slope in bit/s.
pub(crate) type Rate = i64;

/// Data units in one bit.
pub(crate) const BIT: Data = 1_000_000_000_000;
/// More than any curve may contain: ten thousand times the data that all ports of a Plan can send in ten days.
pub(crate) const MOST: Data = 1 << 112;

/// From `at` on, until the next segment: `value + slope * (t - at)`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub at: Ps,
    pub value: Data,
    pub slope: Rate,
}

impl Segment {
    pub fn value_at(&self, t: Ps) -> Data {
        let grown = Data::from(self.slope) * Data::from(t - self.at);
        (self.value + grown).clamp(-MOST, MOST)
    }

    /// The same from a later instant on.
    fn since(&self, t: Ps) -> Self {
        Self { at: t, value: self.value_at(t), slope: self.slope }
    }
}

/// A function whose segments may be made as they are read.
pub(crate) trait Segments {
    /// The segment of a number; none behind the last one, which never ends.
    fn get(&self, number: usize) -> Option<Segment>;

    /// The slope of the last one.
    fn slope(&self) -> Rate;

    /// How far the function is below a line from 0 on with that slope, at most; none if this is not known.
    fn behind(&self) -> Option<Data>;
}

impl Segments for Curve {
    fn get(&self, number: usize) -> Option<Segment> {
        self.0.get(number).copied()
    }

    fn slope(&self) -> Rate {
        self.tail().slope
    }

    fn behind(&self) -> Option<Data> {
        self.latency().map(|(_, missing)| missing)
    }
}

/// Every segment with the time where it ends; none for the last.
pub(crate) fn spans(of: &impl Segments) -> impl Iterator<Item = (Segment, Option<Ps>)> {
    let (mut number, mut next) = (0, of.get(0));
    std::iter::from_fn(move || {
        let now = next?;
        number += 1;
        next = of.get(number);
        Some((now, next.map(|next| next.at)))
    })
}

/// A function on `[0, ∞)`, continuous from the right. The first segment starts at 0, the last one never ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Curve(Vec<Segment>);

impl Curve {
    /// `burst + rate * t`: a token bucket.
    pub fn affine(burst: Data, rate: Rate) -> Self {
        Self(vec![Segment { at: 0, value: burst.clamp(-MOST, MOST), slope: rate }])
    }

    pub fn zero() -> Self {
        Self::affine(0, 0)
    }

    /// Of segments in order of time; the first one must start at 0.
    pub fn of(segments: Vec<Segment>) -> Self {
        if segments.is_empty() { Self::zero() } else { Self(segments) }
    }

    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// The segment that holds for ever.
    pub fn tail(&self) -> Segment {
        self.0[self.0.len() - 1]
    }

    /// Every segment with the time where it ends; none for the last.
    pub fn spans(&self) -> impl Iterator<Item = (Segment, Option<Ps>)> + '_ {
        spans(self)
    }

    /// The greatest value up to `until`.
    pub fn most(&self, until: Ps) -> Data {
        let here = self.spans().take_while(|(segment, _)| segment.at <= until);
        let top = |(segment, end): (Segment, Option<Ps>)| {
            segment.value.max(segment.value_at(end.map_or(until, |end| end.min(until))))
        };
        here.map(top).max().unwrap_or(0)
    }

    #[cfg(test)]
    pub fn value(&self, t: Ps) -> Data {
        let next = self.0.partition_point(|segment| segment.at <= t);
        self.0[next.saturating_sub(1)].value_at(t)
    }

    pub fn add(&self, other: &Self) -> Self {
        self.merge(other, |a, b, _| (a.value.saturating_add(b.value), a.slope.saturating_add(b.slope)))
    }

    pub fn sub(&self, other: &Self) -> Self {
        self.merge(other, |a, b, _| (a.value.saturating_sub(b.value), a.slope.saturating_sub(b.slope)))
    }

    /// Takes the same from all values.
    pub fn lower(&mut self, by: Data) {
        self.0.iter_mut().for_each(|own| own.value = own.value.saturating_sub(by).clamp(-MOST, MOST));
    }

    /// `numerator / denominator` of the curve, rounded up.
    pub fn part(&self, numerator: Data, denominator: Data) -> Self {
        let up = |value: Data| ratio_up(value, numerator, denominator).unwrap_or(Data::MAX / 2);
        let segments = self.0.iter().map(|segment| Segment {
            at: segment.at,
            value: up(segment.value),
            slope: Rate::try_from(up(Data::from(segment.slope))).unwrap_or(Rate::MAX),
        });
        Self::of(segments.collect())
    }

    fn merge(&self, other: &Self, join: impl Fn(Segment, Segment, Ps) -> (Data, Rate)) -> Self {
        let mut merged: Vec<Segment> = Vec::with_capacity(self.0.len() + other.0.len());
        for (at, _, a, b) in pieces(self, other) {
            let (value, slope) = join(a, b, at);
            let continues =
                merged.last().is_some_and(|last: &Segment| last.slope == slope && last.value_at(at) == value);
            if !continues {
                merged.push(Segment { at, value: value.clamp(-MOST, MOST), slope });
            }
        }
        Self::of(merged)
    }

    /// The lesser of two curves; where they cross between two ps, never below it.
    pub fn min(&self, other: &Self) -> Self {
        let mut least: Vec<Segment> = Vec::with_capacity(self.0.len() + other.0.len());
        let mut push = |segment: Segment| {
            let continues = least.last().is_some_and(|last| {
                last.slope == segment.slope && last.value_at(segment.at) == segment.value
            });
            if !continues {
                least.push(segment);
            }
        };
        for (at, end, a, b) in pieces(self, other) {
            let (low, high) = if (a.value, a.slope) <= (b.value, b.slope) { (a, b) } else { (b, a) };
            push(low);
            if low.slope > high.slope {
                let crossing = time_of(high.value - low.value, low.slope - high.slope);
                let Some(crossing) = crossing.and_then(|span| at.checked_add(span)) else { continue };
                // After `at`: of two equal values, the one that grows less is the lower one.
                if end.is_none_or(|end| crossing < end) {
                    push(Segment { at: crossing, value: high.value_at(crossing), slope: high.slope });
                }
            }
        }
        Self::of(least)
    }

    /// The greatest line with the slope of the tail that is nowhere above the curve: the slope, and how far below 0 it
    /// begins; none without a service in the long run.
    pub fn latency(&self) -> Option<(Rate, Data)> {
        let slope = self.tail().slope;
        let below = |at: Ps, value: Data| Data::from(slope) * Data::from(at) - value;
        let ends = self.spans().filter_map(|(segment, end)| Some(below(end?, segment.value_at(end?))));
        let missing = self.0.iter().map(|segment| below(segment.at, segment.value)).chain(ends).max()?;
        (slope > 0).then_some((slope, missing.max(0)))
    }

    /// The curve shifted: `t` to `self(t + by)`.
    pub fn ahead(&self, by: Ps) -> Self {
        let first = self.0.partition_point(|segment| segment.at <= by).saturating_sub(1);
        let moved = self.0[first..].iter().map(|segment| match segment.at.checked_sub(by) {
            Some(at) if at > 0 => Segment { at, ..*segment },
            _ => Segment { at: 0, value: segment.value_at(by), slope: segment.slope },
        });
        Self(moved.collect())
    }
}

/// Two curves cut where either has a segment's start: start, end, and both as segments that begin there.
pub(crate) fn pieces<'a>(
    a: &'a impl Segments,
    b: &'a impl Segments,
) -> impl Iterator<Item = (Ps, Option<Ps>, Segment, Segment)> + 'a {
    let (mut one, mut other) = (Steps::of(a), Steps::of(b));
    let mut at = Some(0);
    std::iter::from_fn(move || {
        let now = at?;
        let here = (one.now?.since(now), other.now?.since(now));
        let next = match (one.ends(), other.ends()) {
            (Some(x), Some(y)) => Some(x.min(y)),
            (x, y) => x.or(y),
        };
        at = next;
        if let Some(next) = next {
            one.pass(next);
            other.pass(next);
        }
        Some((now, next, here.0, here.1))
    })
}

/// A segment, and the one behind it.
struct Steps<'a, S> {
    of: &'a S,
    number: usize,
    now: Option<Segment>,
    next: Option<Segment>,
}

impl<'a, S: Segments> Steps<'a, S> {
    fn of(of: &'a S) -> Self {
        Self { of, number: 1, now: of.get(0), next: of.get(1) }
    }

    fn ends(&self) -> Option<Ps> {
        self.next.map(|next| next.at)
    }

    /// Goes on if the next segment begins at this instant.
    fn pass(&mut self, at: Ps) {
        if self.ends() == Some(at) {
            self.number += 1;
            (self.now, self.next) = (self.next, self.of.get(self.number));
        }
    }
}

/// Time of `data` at `rate`, rounded up; none if it never ends.
pub(crate) fn time_of(data: Data, rate: Rate) -> Option<Ps> {
    if data <= 0 {
        return Some(0);
    }
    if rate <= 0 {
        return None;
    }
    // Nearly all amounts fit into 64 bits, where divisions are faster.
    match u64::try_from(data - 1) {
        Ok(data) => Ps::try_from(data / rate.unsigned_abs()).ok()?.checked_add(1),
        Err(_) => Ps::try_from((data - 1) / Data::from(rate) + 1).ok(),
    }
}

/// `a * b / c` rounded up, for positive numbers; none if it is too large.
pub(crate) fn ratio_up(a: Data, b: Data, c: Data) -> Option<Data> {
    let product = a.checked_mul(b)?;
    if c <= 0 { None } else { Some(-(-product).div_euclid(c)) }
}

/// The lesser of two limits, each of which may be missing.
pub(crate) fn lesser(a: Option<Curve>, b: Option<Curve>) -> Option<Curve> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(&b)),
        (a, b) => a.or(b),
    }
}

/// Longest time that is computed: about three hours.
pub(crate) const LONGEST: Ps = 10_000_000_000_000_000;

/// Nanoseconds of a Plan as picoseconds.
pub(crate) fn ps(ns: u64) -> Ps {
    duration(ns).ps()
}

/// The greatest common divisor.
pub(crate) fn common_divisor(mut a: u32, mut b: u32) -> u32 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lesser_of_two_is_never_below_where_they_cross() {
        let steep = Curve::affine(10, 7);
        let flat = Curve::affine(25, 3);
        let least = steep.min(&flat);
        for t in 0..12 {
            let exact = (10 + 7 * t).min(25 + 3 * t);
            let found = least.value(t as Ps);
            assert_eq!(found, exact, "at whole ps nothing is lost, {t}");
        }
        // They cross at 3.75: until 4 the steep one applies.
        assert_eq!(least.segments()[1], Segment { at: 4, value: 37, slope: 3 });
        assert_eq!(least.segments()[0], Segment { at: 0, value: 10, slope: 7 });
    }

    #[test]
    fn sums_keep_jumps() {
        let stair =
            Curve::of(vec![Segment { at: 0, value: 5, slope: 0 }, Segment { at: 10, value: 9, slope: 0 }]);
        let sum = stair.add(&Curve::affine(1, 2));
        assert_eq!([sum.value(0), sum.value(9), sum.value(10), sum.value(11)], [6, 24, 30, 32]);
        let ahead = sum.ahead(9);
        assert_eq!([ahead.value(0), ahead.value(1), ahead.value(2)], [24, 30, 32]);
    }

    #[test]
    fn a_curve_is_lowered_as_a_whole() {
        let mut curve = Curve::affine(5, 1).min(&Curve::affine(9, 0));
        let less = curve.sub(&Curve::affine(7, 0));
        curve.lower(7);
        assert_eq!(curve, less);
    }

    /// 5 + t until 10, then 9 for 10 ps, then 40 - 2 t.
    #[test]
    fn the_greatest_value_may_be_before_the_end() {
        let segment = |at, value, slope| Segment { at, value, slope };
        let curve = Curve::of(vec![segment(0, 5, 1), segment(10, 9, 0), segment(20, 40, -2)]);
        assert_eq!([0, 4, 10, 15, 19].map(|until| curve.most(until)), [5, 9, 15, 15, 15]);
        assert_eq!([20, 30].map(|until| curve.most(until)), [40, 40]);
    }

    #[test]
    fn rounding_is_up() {
        assert_eq!(time_of(10, 3), Some(4));
        assert_eq!(time_of(9, 3), Some(3));
        assert_eq!(time_of(1, 0), None);
        assert_eq!(ratio_up(10, 10, 3), Some(34));
    }

    /// There is no crossing where one curve jumps before the two meet, nor where it falls at that instant.
    #[test]
    fn curves_cross_only_before_they_change() {
        let segment = |at, value, slope| Segment { at, value, slope };
        let jumps = Curve::of(vec![segment(0, 0, 10), segment(5, 100, 0)]);
        // They would meet at 6.67; at 40 the other one has 100.
        let least = jumps.min(&Curve::affine(60, 1));
        assert_eq!(least.segments(), [segment(0, 0, 10), segment(5, 65, 1), segment(40, 100, 0)]);
        // They meet within the fifth ps, at whose end one of them falls.
        let falls = Curve::of(vec![segment(0, 0, 10), segment(5, 10, 0)]);
        let least = falls.min(&Curve::affine(41, 1));
        assert_eq!(least.segments(), [segment(0, 0, 10), segment(5, 10, 0)]);
    }

    #[test]
    fn looking_ahead_begins_at_0() {
        let segment = |at, value, slope| Segment { at, value, slope };
        let curve = Curve::of(vec![segment(0, 1, 2), segment(10, 50, 3)]);
        assert_eq!(curve.ahead(4).segments(), [segment(0, 9, 2), segment(6, 50, 3)]);
        assert_eq!(curve.ahead(10).segments(), [segment(0, 50, 3)]);
        assert_eq!(curve.ahead(12).segments(), [segment(0, 56, 3)]);
    }
}
