//! Windows that a class has to itself, and when its frames start in them.
//!
//! IEEE 802.1Q-2022, 8.6.8.4.

use crate::curve::{Data, Ps, time_of};
use crate::model::openings::Starts;

/// Number of windows that a frame may wait for.
const MOST_WINDOWS: usize = 4_096;

/// Windows in which a class has the link alone, except for earlier lower frames.
pub(crate) struct Slots {
    pub base: Ps,
    pub cycle: Ps,
    pub starts: Starts,
    rate: i64,
    grain: Data,
    /// The data that windows serve before each one, and in the whole cycle, in whole frames of multiples of `grain`.
    before: Vec<Data>,
}

impl Slots {
    pub fn new(base: Ps, starts: Starts, rate: i64, grain: Data) -> Self {
        let mut before = vec![0];
        for window in &starts.windows {
            before.push(before[before.len() - 1] + whole_frames(window.from, window.to, rate, grain));
        }
        Self { base, cycle: starts.cycle, starts, rate, grain, before }
    }

    /// When a frame starts that has waited since `since` for `ahead`, all in whole frames.
    pub fn start(&self, since: Ps, ahead: Data) -> Option<Ps> {
        let mut ahead = ahead;
        let phase = (since - self.base).rem_euclid(self.cycle);
        let cycle = since - phase;
        let count = self.starts.windows.len();
        // A window of the previous cycle may extend into this one.
        let windows = &self.starts.windows;
        let begin = windows.partition_point(|window| window.to - self.cycle < phase);
        let passed = || windows.partition_point(|window| window.to < phase);
        let first = if begin == count { count + passed() } else { begin };
        // When a frame may start in a window, at the earliest and at the latest.
        let window = |step: usize| {
            let lap = Ps::try_from(step / count).ok()? - 1;
            let window = self.starts.windows[step % count];
            let by = cycle.checked_add(lap.checked_mul(self.cycle)?)?;
            Some((window.from.checked_add(by)?, window.to.checked_add(by)?))
        };
        // It waits before the gate opens of all windows behind these two.
        for step in [first, first + 1] {
            let (from, last) = window(step)?;
            // A frame that arrives while the gate is open may find a lower frame that began just before.
            let opened = from - self.starts.late[step % count];
            let begin = if since > opened {
                from.max(since.saturating_add(self.starts.blocked[step % count]))
            } else {
                from
            };
            if begin > last {
                continue;
            }
            let fits = whole_frames(begin, last, self.rate, self.grain);
            if ahead < fits {
                return begin.checked_add(time_of(ahead, self.rate)?);
            }
            ahead -= fits;
        }
        let (next, per_cycle) = (first + 2, self.per_cycle());
        ahead += self.before[next % count];
        let cycles = if ahead < per_cycle { 0 } else { ahead / per_cycle };
        ahead -= cycles * per_cycle;
        let place = self.before[1..].partition_point(|served| *served <= ahead);
        let step = (next / count + usize::try_from(cycles).ok()?).checked_mul(count)? + place;
        if step >= begin + MOST_WINDOWS {
            return None;
        }
        window(step)?.0.checked_add(time_of(ahead - self.before[place], self.rate)?)
    }

    /// Data that the windows of one cycle serve.
    pub fn per_cycle(&self) -> Data {
        self.before[self.before.len() - 1]
    }
}

/// Data of the frames that may start from `begin` until `last`.
fn whole_frames(begin: Ps, last: Ps, rate: i64, grain: Data) -> Data {
    let data = Data::from(last - begin) * Data::from(rate);
    // Nearly all amounts fit into 64 bits, where divisions are faster.
    let frames = match (u64::try_from(data), u64::try_from(grain)) {
        (Ok(data), Ok(grain)) => Data::from(data / grain),
        _ => data / grain,
    };
    (frames + 1) * grain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::openings::Window;

    /// Frames of 30 units take 10 ps: three may start in a window of 20, as the last one may start at its end.
    fn slots(windows: &[(Ps, Ps)], late: Ps, blocked: Ps) -> Slots {
        let count = windows.len();
        let windows = windows.iter().map(|(from, to)| Window { from: *from, to: *to }).collect();
        let starts = Starts {
            cycle: 100,
            windows,
            before: vec![0; count],
            late: vec![late; count],
            blocked: vec![blocked; count],
        };
        Slots::new(0, starts, 3, 30)
    }

    #[test]
    fn a_frame_starts_in_the_first_window_with_room_for_what_is_ahead() {
        let start = |since, ahead| slots(&[(10, 30), (60, 80)], 0, 7).start(since, ahead);
        // With two frames ahead, a frame starts in the first window, with three in the second one. The windows of two
        // cycles have room for twelve frames.
        assert_eq!([0, 60, 90, 150, 180].map(|ahead| start(0, ahead)), [10, 30, 60, 80, 110].map(Some));
        assert_eq!(start(-200, 360), Some(10));
        // A frame that arrives in an open window waits for a lower frame, which takes 7. From 24 on this is too late
        // for the window.
        assert_eq!([10, 15, 23, 24].map(|since| start(since, 0)), [10, 22, 30, 60].map(Some));
        // In the rest of the window, from 22 to 30, only one frame can start.
        assert_eq!(start(15, 30), Some(60));
        // The gate opens 5 before a frame may start. A frame that arrives at 6 may find a lower frame: 6 + 7.
        let late = |since| slots(&[(10, 30)], 5, 7).start(since, 0);
        assert_eq!([5, 6, 2].map(late), [10, 13, 10].map(Some));
    }

    /// One window after the other, from a cycle before on.
    fn one_by_one(own: &Slots, since: Ps, ahead: Data) -> Option<Ps> {
        let (mut ahead, first) = (ahead, (since - own.base).div_euclid(own.cycle) - 1);
        for lap in first..first + 300 {
            for (number, window) in own.starts.windows.iter().enumerate() {
                let by = own.base + lap * own.cycle;
                let opened = window.from + by - own.starts.late[number];
                let after = if since > opened { since + own.starts.blocked[number] } else { Ps::MIN };
                let begin = after.max(window.from + by);
                if begin > window.to + by {
                    continue;
                }
                let fits = whole_frames(begin, window.to + by, own.rate, own.grain);
                if ahead < fits {
                    return begin.checked_add(time_of(ahead, own.rate)?);
                }
                ahead -= fits;
            }
        }
        None
    }

    #[test]
    fn windows_that_are_passed_over_at_once_serve_as_much_as_one_by_one() {
        for (late, blocked) in [(0, 0), (4, 7)] {
            for windows in [&[(10, 30), (40, 41), (60, 80)][..], &[(15, 25)], &[(60, 80), (90, 105)]] {
                let own = slots(windows, late, blocked);
                for (since, ahead) in (-150..250).flat_map(|since| (0..40).map(move |n| (since, n * 10))) {
                    assert_eq!(own.start(since, ahead), one_by_one(&own, since, ahead), "{since} {ahead}");
                }
            }
        }
    }

    #[test]
    fn a_window_goes_on_in_the_next_cycle() {
        let start = |since, blocked| slots(&[(60, 80), (90, 120)], 0, blocked).start(since, 0);
        assert_eq!(start(105, 7), Some(112));
        assert_eq!([119, 120, 121].map(|since| start(since, 0)), [119, 120, 160].map(Some));
        let alone = |since| slots(&[(90, 120)], 0, 0).start(since, 0);
        assert_eq!([105, 121].map(alone), [105, 190].map(Some));
    }
}
