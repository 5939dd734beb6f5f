//! When a link is taken, folded onto one period.

/// The intervals of a link that frames of one period must keep clear of: every stream's own ones modulo the
/// greatest common divisor of both periods, repeated over the period. They may overlap.
#[derive(Clone, Debug)]
pub(crate) struct Busy {
    period: i64,
    /// Starts, ascending, in `[0, period)`.
    intervals: Vec<Interval>,
    /// No interval is longer.
    longest: i64,
}

/// Half open, in ps; does not reach beyond the period.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Interval {
    start: i64,
    end: i64,
    stream: u32,
}

impl Busy {
    pub fn new(period: i64) -> Self {
        Self { period, intervals: Vec::new(), longest: 0 }
    }

    pub fn period(&self) -> i64 {
        self.period
    }

    /// Any point as one in `[0, period)`.
    pub fn fold(&self, at: i64) -> i64 {
        at.rem_euclid(self.period)
    }

    /// The earliest point from `at` on (in `[0, period)`) where the link is free for `len`; may lie beyond the
    /// period, up to one period behind `at`.
    pub fn free_from(&self, at: i64, len: i64) -> Option<i64> {
        if len > self.period {
            return None;
        }
        let mut point = at;
        // What starts behind `at - longest` may reach to `at`, also what wraps is stored in two parts.
        let mut place = self.intervals.partition_point(|interval| interval.start <= at - self.longest);
        let mut turn = 0;
        loop {
            let Some(interval) = self.intervals.get(place) else {
                if turn > self.period || self.intervals.is_empty() || point + len <= turn + self.period {
                    return (point - at < self.period).then_some(point);
                }
                // What begins again with the next turn.
                turn += self.period;
                place = 0;
                continue;
            };
            if interval.start + turn >= point + len {
                return (point - at < self.period).then_some(point);
            }
            point = point.max(interval.end + turn);
            if point - at >= self.period {
                return None;
            }
            place += 1;
        }
    }

    /// Takes `[start, start + len)` of a stream whose period has `gcd` in common with this one.
    pub fn insert(&mut self, start: i64, len: i64, gcd: i64, stream: u32) {
        self.each_part(start, len, gcd, |list, start, end| {
            let place = list.intervals.partition_point(|interval| interval.start < start);
            list.intervals.insert(place, Interval { start, end, stream });
            list.longest = list.longest.max(end - start);
        });
    }

    /// Gives back what [`Self::insert`] took.
    pub fn remove(&mut self, start: i64, len: i64, gcd: i64, stream: u32) {
        self.each_part(start, len, gcd, |list, start, end| {
            let from = list.intervals.partition_point(|interval| interval.start < start);
            let gone = Interval { start, end, stream };
            if let Some(place) = list.intervals[from..].iter().position(|interval| *interval == gone) {
                list.intervals.remove(from + place);
            }
        });
    }

    fn each_part(&mut self, start: i64, len: i64, gcd: i64, mut each: impl FnMut(&mut Self, i64, i64)) {
        if len >= gcd {
            return each(self, 0, self.period);
        }
        let first = start.rem_euclid(gcd);
        for turn in 0..self.period / gcd {
            let (start, end) = (first + turn * gcd, first + turn * gcd + len);
            if end <= self.period {
                each(self, start, end);
            } else {
                each(self, start, self.period);
                each(self, 0, end - self.period);
            }
        }
    }

    /// Whose intervals meet `[start, start + len)`, `start` in `[0, period)`.
    pub fn meets(&self, start: i64, len: i64, mut found: impl FnMut(u32)) {
        let mut within = |start: i64, end: i64| {
            let from = self.intervals.partition_point(|interval| interval.start <= start - self.longest);
            for interval in self.intervals[from..].iter().take_while(|interval| interval.start < end) {
                if interval.end > start {
                    found(interval.stream);
                }
            }
        };
        let end = start + len;
        within(start, end.min(self.period));
        if end > self.period {
            within(0, end - self.period);
        }
    }

    /// Where intervals end: from there on others may fit.
    pub fn ends(&self) -> impl Iterator<Item = i64> {
        self.intervals.iter().map(|interval| interval.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Point by point, from the definition: a stream of period `q` takes `start + n q`.
    fn taken(streams: &[(i64, i64, i64)], period: i64, at: i64, len: i64) -> bool {
        streams.iter().any(|(start, own, q)| {
            (0..period * q).any(|point| {
                let mine = (point - at).rem_euclid(period) < len;
                let theirs = (point - start).rem_euclid(*q) < *own;
                mine && theirs
            })
        })
    }

    proptest! {
        #[test]
        fn the_first_free_point_is_the_first_free_point(
            period in prop::sample::select(vec![4_i64, 6, 8, 12]),
            streams in prop::collection::vec(
                (0_i64..24, 1_i64..3, prop::sample::select(vec![3_i64, 4, 6, 8, 12, 24])), 0..6),
            at in 0_i64..12,
            len in 1_i64..4,
        ) {
            let at = at % period;
            let mut busy = Busy::new(period);
            for (number, (start, own, q)) in streams.iter().enumerate() {
                busy.insert(*start, *own, crate::periods::gcd(period, *q), number as u32);
            }
            let first = (at..at + period).find(|point| !taken(&streams, period, *point, len));
            prop_assert_eq!(busy.free_from(at, len), first);
            for point in 0..period {
                let mut any = false;
                busy.meets(point, len, |_| any = true);
                prop_assert_eq!(any, taken(&streams, period, point, len));
            }
            // What is given back leaves nothing behind.
            for (number, (start, own, q)) in streams.iter().enumerate() {
                busy.remove(*start, *own, crate::periods::gcd(period, *q), number as u32);
            }
            prop_assert_eq!(busy.free_from(at, len), Some(at));
        }
    }
}
