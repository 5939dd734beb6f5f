//! The times at which a link is occupied, modulo one period.

/// The intervals of a link that frames with one period must avoid: each stream's intervals modulo the greatest common
/// divisor of both periods, repeated over the period. Intervals may overlap.
#[derive(Clone, Debug)]
pub(crate) struct Occupancy {
    period: i64,
    /// Starts of the intervals, ascending, in `[0, period)`; a list of their own, because the search reads only them.
    starts: Vec<i64>,
    intervals: Vec<Interval>,
    /// An upper bound on the length of the intervals.
    longest: i64,
}

/// A half-open interval in ps that ends within the period.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Interval {
    len: u32,
    stream: u32,
}

/// A longer interval is entered in parts, so that lengths fit into 32 bits.
const LONGEST: i64 = 1 << 31;

impl Occupancy {
    pub fn new(period: i64) -> Self {
        Self { period, starts: Vec::new(), intervals: Vec::new(), longest: 0 }
    }

    pub fn period(&self) -> i64 {
        self.period
    }

    /// An instant modulo the period.
    pub fn fold(&self, at: i64) -> i64 {
        at.rem_euclid(self.period)
    }

    /// The earliest instant from `at` (in `[0, period)`) on when the link is free for `len`. It may lie beyond the
    /// period, up to one period after `at`. None if the link is never free for `len`.
    pub fn free_from(&self, at: i64, len: i64) -> Option<i64> {
        if len > self.period {
            return None;
        }
        let mut point = at;
        // An interval that starts after `at - longest` may reach `at`. An interval that wraps is stored in two parts.
        let mut place = self.starts.partition_point(|start| *start <= at - self.longest);
        let mut turn = 0;
        loop {
            let (Some(start), Some(interval)) = (self.starts.get(place), self.intervals.get(place)) else {
                if turn > self.period || self.intervals.is_empty() || point + len <= turn + self.period {
                    return (point - at < self.period).then_some(point);
                }
                // The intervals at the start of the next period.
                turn += self.period;
                place = 0;
                continue;
            };
            if start + turn >= point + len {
                return (point - at < self.period).then_some(point);
            }
            point = point.max(start + i64::from(interval.len) + turn);
            if point - at >= self.period {
                return None;
            }
            place += 1;
        }
    }

    /// Occupies `[start, start + len)` for a stream; `gcd`: of its period and this one.
    pub fn insert(&mut self, start: i64, len: i64, gcd: i64, stream: u32) {
        self.each_part(start, len, gcd, |list, start, len| {
            let place = list.starts.partition_point(|known| *known < start);
            list.starts.insert(place, start);
            list.intervals.insert(place, Interval { len, stream });
            list.longest = list.longest.max(i64::from(len));
        });
    }

    /// Frees the interval that [`Self::insert`] occupied.
    pub fn remove(&mut self, start: i64, len: i64, gcd: i64, stream: u32) {
        self.each_part(start, len, gcd, |list, start, len| {
            let from = list.starts.partition_point(|known| *known < start);
            let same = list.starts[from..].iter().take_while(|known| **known == start).count();
            let gone = Interval { len, stream };
            let found = list.intervals[from..from + same].iter().position(|interval| *interval == gone);
            if let Some(place) = found {
                list.starts.remove(from + place);
                list.intervals.remove(from + place);
            }
        });
    }

    fn each_part(&mut self, start: i64, len: i64, gcd: i64, mut each: impl FnMut(&mut Self, i64, u32)) {
        let mut each = |list: &mut Self, start: i64, end: i64| {
            let mut from = start;
            while from < end {
                let part = (end - from).min(LONGEST);
                each(list, from, part as u32);
                from += part;
            }
        };
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

    /// Calls `found` with the streams whose intervals overlap `[start, start + len)`; `start` is in `[0, period)`.
    pub fn meets(&self, start: i64, len: i64, mut found: impl FnMut(u32)) {
        let mut within = |start: i64, end: i64| {
            let from = self.starts.partition_point(|known| *known <= start - self.longest);
            let within = self.starts[from..].iter().take_while(|known| **known < end);
            for (known, interval) in within.zip(&self.intervals[from..]) {
                if known + i64::from(interval.len) > start {
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

    /// The ends of the intervals, where the next stream may fit.
    pub fn ends(&self) -> impl Iterator<Item = i64> {
        self.starts.iter().zip(&self.intervals).map(|(start, interval)| start + i64::from(interval.len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, point by point: a stream of period `q` occupies `start + n q`.
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
            let mut busy = Occupancy::new(period);
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
            // After all streams have been removed, every time is free again.
            for (number, (start, own, q)) in streams.iter().enumerate() {
                busy.remove(*start, *own, crate::periods::gcd(period, *q), number as u32);
            }
            prop_assert_eq!(busy.free_from(at, len), Some(at));
        }
    }
}
