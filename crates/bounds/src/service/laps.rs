//! The service of windows lap after lap: what the service from all moments of a cycle has in common is made once.

use crate::curve::{Curve, Data, MOST, Ps, Rate, Segment, Segments};
use crate::model::openings::Starts;
use std::rc::Rc;

/// Number of windows that a curve follows one by one; after them their average holds.
const MOST_WINDOWS: usize = 512;

/// The unit of service in one window.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Serving<'a> {
    /// The duration of the window.
    Time,
    /// Whole frames, whose wire data are multiples of this: the last one may start at the window's end.
    Frames(Data),
    /// The duration of the window, at the rate of its number in place of that of the link.
    Rates(&'a [Rate]),
}

/// Windows from the begin of the first cycle on.
#[derive(Debug)]
pub(crate) struct Laps {
    /// Windows of one cycle, and cycles that are followed from any window on.
    count: usize,
    laps: usize,
    /// By window, when it begins and ends, the data served before it, and its first segment.
    windows: Vec<Lap>,
    segments: Vec<Segment>,
    /// Service in the long run.
    per_cycle: Data,
    slope: Rate,
    /// By window of the first two laps, the most by which service is behind the long run from there on, counted from the
    /// begin of the first one.
    behind: Vec<Data>,
}

#[derive(Copy, Clone, Debug)]
struct Lap {
    from: Ps,
    to: Ps,
    before: Data,
    segment: usize,
}

impl Laps {
    /// The laps of some windows on a link of `rate`.
    pub fn of(starts: &Starts, rate: Rate, serving: Serving<'_>) -> Rc<Self> {
        let (count, cycle) = (starts.windows.len(), starts.cycle);
        let rate = |number: usize| match serving {
            Serving::Rates(rates) => rates[number],
            Serving::Time | Serving::Frames(_) => rate,
        };
        let served = |number: usize| {
            let time = Data::from(starts.windows[number].length()) * Data::from(rate(number));
            match serving {
                Serving::Time | Serving::Rates(_) => time,
                Serving::Frames(grain) => (time / grain + 1) * grain,
            }
        };
        let served: Vec<Data> = (0..count).map(served).collect();
        let per_cycle: Data = served.iter().sum();
        let laps = (MOST_WINDOWS / count).clamp(2, 64);
        let mut windows = Vec::with_capacity(count * (laps + 1));
        let mut segments = Vec::with_capacity(2 * count * (laps + 1));
        let mut total = 0;
        for lap in 0..=laps {
            let by = cycle.saturating_mul(lap as Ps);
            for (number, window) in starts.windows.iter().enumerate() {
                let (from, to) = (window.from.saturating_add(by), window.to.saturating_add(by));
                windows.push(Lap { from, to, before: total, segment: segments.len() });
                if window.length() > 0 {
                    segments.push(Segment { at: from, value: total, slope: rate(number) });
                }
                total += served[number];
                segments.push(Segment { at: to, value: total, slope: 0 });
            }
        }
        let slope = Rate::try_from(per_cycle / Data::from(cycle.max(1))).unwrap_or(0);
        // From one lap to the next one, service falls behind no further.
        let mut behind = vec![Data::MIN; 2 * count];
        let mut most = Data::MIN;
        for number in (0..2 * count).rev() {
            let (own, length) = (&windows[number], starts.windows[number % count].length());
            let line = |at: Ps| Data::from(slope) * Data::from(at) - own.before;
            let served = Data::from(length) * Data::from(rate(number % count));
            most = most.max(line(own.from)).max(line(own.to) - served);
            behind[number] = most;
        }
        Rc::new(Self { count, laps, windows, segments, per_cycle, slope, behind })
    }

    /// The service from a moment on, in the windows from number `first` on.
    pub fn since(self: &Rc<Self>, first: usize, since: Ps) -> Since {
        let all = self.count * self.laps;
        let end = |step: usize| self.windows[first + step].to.saturating_sub(since);
        // Times have to fit into 64 bits.
        let fits = |step: &usize| end(*step) < Ps::MAX / 4;
        let steps = if fits(&(all - 1)) { all } else { (0..all).take_while(fits).count() };
        let segment =
            |step: usize| self.windows.get(first + step).map_or(self.segments.len(), |own| own.segment);
        let before = self.windows[first].before;
        let last = self.windows.get(first + steps).map_or_else(
            || self.windows[0].before + self.per_cycle * Data::from(self.laps as i64 + 1),
            |own| own.before,
        );
        Since {
            laps: Rc::clone(self),
            first,
            since,
            segments: (segment(0), segment(steps)),
            steps,
            total: last - before,
            lower: 0,
        }
    }
}

/// Service from one moment on.
#[derive(Clone, Debug)]
pub(crate) struct Since {
    laps: Rc<Laps>,
    /// The first window, and the moment.
    first: usize,
    since: Ps,
    /// The first segment, and the one behind the last.
    segments: (usize, usize),
    /// Windows that are followed, and what they serve.
    steps: usize,
    total: Data,
    /// By how much all values are lower.
    lower: Data,
}

impl Since {
    /// Takes the same from all values.
    pub fn lower(&mut self, by: Data) {
        self.lower += by;
    }

    /// All segments.
    pub fn curve(&self) -> Curve {
        Curve::of((0..).map_while(|number| self.get(number)).collect())
    }

    /// The average begins here: the highest line that is at no opening above what was served before it. Each later
    /// cycle serves at least as much as the line rises.
    fn average(&self) -> Segment {
        let own = &*self.laps;
        let all = own.count * own.laps;
        let windows = &own.windows[self.first..];
        let end = windows[self.steps.min(all - 1)].to.saturating_sub(self.since);
        let at = end.saturating_add(1);
        let line = |lap: &Lap| {
            let from = lap.from.saturating_sub(self.since);
            lap.before - windows[0].before + Data::from(own.slope) * Data::from(at - from)
        };
        let last = windows[all - own.count..all].iter().map(line).min().filter(|_| self.steps == all);
        Segment { at, value: last.unwrap_or(self.total - own.per_cycle), slope: own.slope }
    }
}

impl Segments for Since {
    fn get(&self, number: usize) -> Option<Segment> {
        let found = match number.checked_sub(1).map(|number| self.segments.0 + number) {
            None => Segment { at: 0, value: 0, slope: 0 },
            Some(place) if place < self.segments.1 => {
                let own = self.laps.segments[place];
                let value = own.value - self.laps.windows[self.first].before;
                Segment { at: own.at.saturating_sub(self.since), value, ..own }
            }
            Some(place) if place == self.segments.1 => self.average(),
            Some(_) => return None,
        };
        Some(match self.lower {
            0 => found,
            by => Segment { value: (found.value - by).clamp(-MOST, MOST), ..found },
        })
    }

    fn slope(&self) -> Rate {
        self.laps.slope
    }

    fn behind(&self) -> Option<Data> {
        let own = &*self.laps;
        let begun = Data::from(own.slope) * Data::from(self.since) - own.windows[self.first].before;
        let behind = own.behind.get(self.first).filter(|_| self.steps == own.count * own.laps)?;
        Some((behind - begun).max(0) + self.lower)
    }
}

impl Starts {
    /// Service in `laps` of these windows for a frame that just misses window `place`, after waiting for `before` it.
    pub fn missed(&self, laps: &Rc<Laps>, place: usize) -> Since {
        laps.since(place + 1, self.windows[place].to - self.before[place])
    }

    /// Service from a moment within a window on, at which a frame of a lower class has just begun; none outside of
    /// windows.
    pub fn service_within(&self, at: Ps, rate: Rate, serving: Serving<'_>) -> Option<Since> {
        let place = self.windows.iter().position(|window| window.from <= at && at < window.to)?;
        let mut rest = self.clone();
        rest.windows[place].from = at.saturating_add(self.blocked[place]).min(self.windows[place].to);
        Some(Laps::of(&rest, rate, serving).since(place, at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::deviation::Rises;
    use crate::model::openings::Window;

    /// Frames of 30 units at 3 units per ps take 10 ps: three may start in the first window, one in the second.
    #[test]
    fn whole_frames_start_until_the_last_moment_of_a_window() {
        let windows = vec![Window { from: 10, to: 30 }, Window { from: 60, to: 60 }];
        let starts =
            Starts { cycle: 100, windows, before: vec![7, 7], late: vec![0, 0], blocked: vec![7, 7] };
        let served = |place, serving| Rises::of(&starts.missed(&Laps::of(&starts, 3, serving), place));
        let frames = |place| served(place, Serving::Frames(30));
        let time = |place| served(place, Serving::Time);
        let nth = |rises: &Rises| (0..6).map(|n| rises.after(30 * n).unwrap()).collect::<Vec<Ps>>();
        // The worst frame has waited for 7 and misses the start at 30. Frames start at 60, 110, 120, 130, 160, 210.
        assert_eq!(nth(&frames(0)), [60, 110, 120, 130, 160, 210].map(|at| at - 30 + 7));
        assert_eq!(nth(&frames(1)), [110, 120, 130, 160, 210, 220].map(|at| at - 60 + 7));
        // Counted as time, a start at a window's last moment is not guaranteed, and the short window gives nothing.
        assert_eq!(nth(&time(0)), [110, 120, 210, 220, 310, 320].map(|at| at - 30 + 7));
        // In the long run the result is exact as long as single windows are followed; later it is never too early.
        let exact = |n: Data| (110 - 60 + 7) + (n / 4 * 100) as Ps;
        assert_eq!(frames(1).after(30 * 200), Some(exact(200)));
        assert!(frames(1).after(30 * 100_000).is_some_and(|found| found >= exact(100_000)));
    }

    /// 120 in 100 ps: after 64 cycles, at 6,407, the average holds, 1 per ps. Before the last opening but one, at 6,357,
    /// 63 * 120 were served: the line is there, and at 6,408 it has 51 more.
    #[test]
    fn behind_the_last_window_that_is_followed_the_average_goes_on() {
        let windows = vec![Window { from: 10, to: 30 }, Window { from: 60, to: 60 }];
        let starts =
            Starts { cycle: 100, windows, before: vec![7, 7], late: vec![0, 0], blocked: vec![7, 7] };
        let rises = Rises::of(&starts.missed(&Laps::of(&starts, 3, Serving::Frames(30)), 1));
        assert_eq!(rises.after(64 * 120 - 1), Some(6_407));
        assert_eq!(rises.after(64 * 120), Some(6_408 + 120 - 51));
    }
}
