//! Gates that follow the clock of their node, as windows in true time.
//!
//! IEEE 802.1Q-2022, 8.6.8.4 and 8.6.9: a list goes by the time of its node. Derived in `docs/concepts/bounds.md`. There is
//! a time `u` that runs steadily, and the node's clock is at most `apart` before or behind it: for a clock that only its
//! oscillator drives, `u` is what the clock would show without its steps; for a clock that a servo steers, the time of the
//! reference. All windows are those of the list in `u`, and stretched by the slowest rate of `u`: no wait is longer in
//! true time.

use crate::curve::{LONGEST, Ps, ps};
use crate::model::clocks::{Known, WHOLE, deviation, fastest};
use crate::model::openings::{Openings, Share, Window};
use tsn_plan::{ClockFault, Plan};

/// What is rounded where windows begin or end, on a clock and in true time.
const ROUNDED: Ps = 4;

/// What is known of the clock that a port's gates follow.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct GateClock {
    /// How far the clock may be from the steady time, ps.
    pub apart: Ps,
    /// By how much the steady time deviates from true time at most, parts of 10^12.
    pub steady: i128,
    /// By how much the clock deviates from true time at most between its steps, parts of 10^12.
    pub own: i128,
    /// The earliest time that it shows, ps.
    pub first: Ps,
    /// By how much the steady time is before true time when the run begins, ps.
    pub ahead: Ps,
}

impl GateClock {
    /// The clock of a node; none if nodes have no clocks of their own, or if nothing is known of them.
    pub fn of(plan: &Plan, node: u32) -> Option<Self> {
        let (clocks, known) = (plan.clocks.as_ref()?, Known::of(plan)?);
        let own = fastest(plan, clocks, node);
        let first = clocks.nodes.iter().map(|clock| clock.offset_ns.min(0)).min().unwrap_or(0);
        let found = |of: u32, apart_ns: u64, own: i128| {
            let (apart, steady) = (ps(apart_ns), deviation(plan, clocks, of));
            let first = first.checked_mul(1_000).unwrap_or(-LONGEST).saturating_sub(apart.saturating_mul(2));
            let ahead = clocks.nodes[of as usize].offset_ns.saturating_mul(1_000);
            Self { apart, steady, own, first, ahead }
        };
        // No servo corrects the clock.
        if clocks.gptp.is_none() || !clocks.keeps_time(node) {
            let steps = clocks.faults.iter().map(|fault| match fault {
                ClockFault::ClockStep { node: own, by_ns, .. } if *own == node => by_ns.unsigned_abs(),
                _ => 0,
            });
            // Some time in the middle of all steps is no farther from any of them.
            return Some(found(node, steps.sum::<u64>().div_ceil(2), deviation(plan, clocks, node)));
        }
        let Known::Promised { reference, .. } = known else { return None };
        Some(found(reference, known.apart_ns(node), own))
    }

    /// The times between which the clock is at an instant of true time, ns: it shows no later one before, and no earlier
    /// one behind.
    pub fn around(&self, at_ns: i64) -> (i64, i64) {
        let at = at_ns.saturating_mul(1_000);
        // A steady time in the middle of all steps may be as far from the clock at first.
        let apart = self.apart.saturating_mul(2).saturating_add(self.part(at, self.steady) + ROUNDED);
        let shown = at.saturating_add(self.ahead);
        (shown.saturating_sub(apart).div_euclid(1_000), shown.saturating_add(apart).div_euclid(1_000) + 1)
    }

    /// The windows in which something is the case for certain, by a list that is also `late` early or late. Instants of
    /// both kinds of windows are later by `apart`. `alike`: all windows end as much too early, to be compared.
    pub fn certain(&self, openings: &Openings, late: Ps, alike: bool) -> Openings {
        let Openings::Windows { cycle, windows } = openings else { return openings.clone() };
        // In true time a window may be shorter than it is here, where all is stretched.
        let shorter = |own: &Window| self.part(if alike { *cycle } else { own.length() }, 2 * self.steady);
        let window = |own: &Window| Window {
            from: self.stretched(own.from + 2 * self.apart + late).saturating_add(ROUNDED),
            to: self.stretched(own.to - late).saturating_sub(shorter(own)).saturating_sub(ROUNDED),
        };
        let windows = windows.iter().map(window).filter(|own| own.from < own.to).collect();
        Openings::of_windows(self.stretched(*cycle), windows)
    }

    /// The windows in which something may be the case.
    pub fn possible(&self, openings: &Openings, late: Ps) -> Openings {
        let Openings::Windows { cycle, windows } = openings else { return openings.clone() };
        let window = |own: &Window| Window {
            from: self.stretched(own.from - late).saturating_sub(ROUNDED),
            to: self.stretched(own.to + 2 * self.apart + late).saturating_add(ROUNDED),
        };
        let windows: Vec<Window> = windows.iter().map(window).collect();
        let cycle = self.stretched(*cycle);
        if windows.iter().any(|own| own.length() >= cycle) {
            return Openings::Always;
        }
        Openings::of_windows(cycle, windows)
    }

    /// How early or late something is by what the clock deviates in this time.
    pub fn late(&self, time: Ps) -> Ps {
        if time > 0 { self.part(time, self.own).saturating_add(ROUNDED) } else { 0 }
    }

    /// A span of the steady time in the longest true time, or an instant where all spans are as long.
    pub fn stretched(&self, span: Ps) -> Ps {
        span.saturating_add(self.part(span, self.steady))
    }

    /// How long a busy period may be, so that the steady time between its begin and its end is at most this span.
    pub fn within(&self, span: Ps) -> Ps {
        span - self.part(span, self.steady) - 2 * self.apart - ROUNDED
    }

    /// By how much the last moment of a window is before the last one at which something may start that takes so long.
    pub fn needs(&self, takes: Ps) -> Ps {
        takes.saturating_add(self.part(takes, (self.own - self.steady).max(0))).saturating_add(ROUNDED)
    }

    /// The longest span in which something fits for certain, and in which it may fit, in the time of the clock.
    pub fn room(&self, takes: Ps) -> (Ps, Ps) {
        let more = (i128::from(takes) * self.own / WHOLE) as Ps + ROUNDED;
        (takes.saturating_add(more), takes - more)
    }

    /// How much later than when its gate closes a frame that takes so long may leave: its gate closed early, because the
    /// clock was set or ran faster after the frame had begun.
    pub fn slip(&self, takes: Ps) -> Ps {
        self.part(takes, 3 * self.steady + self.own).saturating_add(ROUNDED)
    }

    /// How much later than in the steady time windows may end, in their time.
    pub fn lead(&self) -> Ps {
        self.stretched(2 * self.apart).saturating_add(2 * ROUNDED)
    }

    /// By how much the time of windows is later than the steady time.
    pub fn apart(&self) -> Ps {
        self.apart
    }

    /// A share of windows if those that are covered may pass more slowly than all others.
    pub fn share(&self, share: Share) -> Share {
        Share { per_cycle: self.denser(share.per_cycle).min(share.cycle), ..share }
    }

    /// What something gains while its windows pass as slowly as possible, and others as fast as possible.
    pub fn denser(&self, time: Ps) -> Ps {
        time.saturating_add(self.part(time, 2 * self.steady)).saturating_add(ROUNDED)
    }

    /// What a deviation makes of a span, in the slowest steady time; rounded up.
    fn part(&self, span: Ps, deviation: i128) -> Ps {
        let found = (i128::from(span) * deviation + WHOLE - self.steady - 1).div_euclid(WHOLE - self.steady);
        Ps::try_from(found).unwrap_or(LONGEST)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use tsn_plan::{Clocks, Delay, Gptp, Ieee1588, NodeClock};

    const US: Ps = 1_000_000;

    /// 3 us apart from a time that deviates by 100 ppm, and a rate that deviates by 300 ppm.
    pub const CLOCK: GateClock =
        GateClock { apart: 3 * US, steady: 100_000_000, own: 300_000_000, first: -7 * US, ahead: -US };

    /// Node 0 deviates by 100 ppm, and begins 5 us late. If nothing steers it, its steps of 3 us and 1 us are at most 2 us
    /// from their middle. Node 1 deviates by 20 ppm. Its servo keeps it within 1 us of node 0, and steers by 62,499,999 ppb;
    /// nothing steers it if it is a transparent clock.
    #[test]
    fn what_is_known_of_clocks() {
        let free = |deviation_ppt, offset_ns| NodeClock { deviation_ppt, offset_ns, ..NodeClock::default() };
        let step = |node, by_ns| ClockFault::ClockStep { node, at_ns: 1_000, by_ns };
        let with = |gptp: Option<Gptp>, faults: Vec<ClockFault>| {
            let nodes = vec![free(100_000_000, -5_000), free(-20_000_000, 0)];
            let clocks = Clocks { nodes, record_ns: 1, within_ns: Some(1_000), gptp, faults };
            let plan = Plan { clocks: Some(clocks), ..Plan::default() };
            [0, 1].map(|node| GateClock::of(&plan, node).unwrap())
        };
        let (slow, fast) = (20_000_000, 100_000_000);
        let clock =
            |ahead, apart, steady, own| GateClock { apart, steady, own, first: -5 * US - 2 * apart, ahead };
        let first = clock(-5 * US, 2 * US, fast, fast);
        let faults = vec![step(0, 3_000), step(0, -1_000), step(1, 2_000)];
        assert_eq!(with(None, faults), [first, clock(0, US, slow, slow)]);
        let gptp = |ieee_1588: Option<Ieee1588>| Gptp {
            grandmaster: 0,
            slaves: vec![1],
            sync_interval_ns: 125_000_000,
            pdelay_interval_ns: 1_000_000_000,
            pcp: 0,
            wakeup_ns: 50_000,
            ieee_1588,
            one_step: false,
            visible: false,
            servo: None,
            bmca: None,
        };
        let steady = clock(-5 * US, 0, fast, fast);
        let steered = 62_499_999_000 + slow + 62_499_999_000 * slow / WHOLE + 1;
        assert_eq!(with(Some(gptp(None)), Vec::new()), [steady, clock(-5 * US, US, fast, steered)]);
        let transparent = Ieee1588 { delay: Delay::EndToEnd, transparent: vec![1] };
        let found = with(Some(gptp(Some(transparent))), Vec::new());
        assert_eq!(found, [steady, clock(0, 0, slow, slow)]);
    }

    /// Parts of 10^4 / 9,999, rounded up, and 4 ps for each rounding.
    #[test]
    fn spans_in_true_time() {
        assert_eq!(CLOCK.stretched(1_000 * US), 1_000 * US + 100_011);
        // 200 ppm more than the steady time; and 300 ppm more than true time, or less.
        assert_eq!(CLOCK.needs(10 * US), 10 * US + 2_001 + 4);
        assert_eq!(GateClock { own: 0, ..CLOCK }.needs(10 * US), 10 * US + 4);
        assert_eq!(CLOCK.room(10 * US), (10 * US + 3_004, 10 * US - 3_004));
        assert_eq!(CLOCK.slip(10 * US), 6_001 + 4);
        assert_eq!([0, US].map(|time| CLOCK.late(time)), [0, 301 + 4]);
        assert_eq!(CLOCK.denser(US), US + 201 + 4);
        assert_eq!(CLOCK.within(1_000 * US), 1_000 * US - 100_011 - 6 * US - 4);
        assert_eq!(CLOCK.lead(), 6 * US + 601 + 8);
        // 1 us behind; twice 3 us, 100 ppm of 1 ms and 0.01 ppm more; and what is rounded.
        assert_eq!(CLOCK.around(1_000_000), (999_000 - 6_101, 999_000 + 6_101));
        let share = |per_cycle| CLOCK.share(Share { per_cycle, cycle: 10 * US, excess: 5 }).per_cycle;
        assert_eq!([US, 10 * US].map(share), [US + 205, 10 * US]);
    }

    /// Open from 20 to 50 us and from 97 to 110 us, in a cycle of 100 us. Instants are later by 3 us: windows begin then
    /// for certain 6 us later, and end as they do here; they may begin as here, and end 6 us later.
    #[test]
    fn windows_that_are_certain_and_possible() {
        let of = |windows: &[(Ps, Ps)]| {
            let windows = windows.iter().map(|(from, to)| Window { from: *from, to: *to }).collect();
            Openings::Windows { cycle: 100 * US, windows }
        };
        let found = |openings: Openings| match openings {
            Openings::Always => Vec::new(),
            Openings::Windows { cycle, windows } => {
                assert_eq!(cycle, 100 * US + 10_002);
                windows.iter().map(|window| (window.from, window.to)).collect()
            }
        };
        let list = of(&[(20 * US, 50 * US), (97 * US, 110 * US)]);
        // 103 us are 2.990303 us of the next cycle; 100 ppm more, and 200 ppm of 30 us, of 13 us or of 100 us less.
        let from = 103 * US + 10_302 + 4 - (100 * US + 10_002);
        let to = 110 * US + 11_002 - (100 * US + 10_002) - 4;
        let second = |shorter: Ps| (26 * US + 2_601 + 4, 50 * US + 5_001 - shorter - 4);
        assert_eq!(found(CLOCK.certain(&list, 0, false)), [(from, to - 2_601), second(6_001)]);
        assert_eq!(found(CLOCK.certain(&list, 0, true)), [(from, to - 20_003), second(20_003)]);
        let later = found(CLOCK.certain(&list, US, false));
        assert!((second(6_001).0 + US..second(6_001).0 + US + 200).contains(&later[1].0), "{later:?}");
        assert!((second(6_001).1 - US - 200..second(6_001).1 - US + 1).contains(&later[1].1), "{later:?}");
        let possible = found(CLOCK.possible(&list, 0));
        assert_eq!(
            possible,
            [(20 * US + 2_001 - 4, 56 * US + 5_601 + 4), (97 * US + 9_701 - 4, 116 * US + 11_602 + 4)]
        );
        let later = found(CLOCK.possible(&list, US));
        assert!((possible[0].0 - US - 200..possible[0].0 - US + 1).contains(&later[0].0), "{later:?}");
        assert!((possible[0].1 + US..possible[0].1 + US + 200).contains(&later[0].1), "{later:?}");
        // Too short to be certain; closed for too short a time to be certain of that.
        assert_eq!(found(CLOCK.certain(&of(&[(20 * US, 26 * US)]), 0, false)), []);
        assert!(CLOCK.possible(&of(&[(0, 94 * US)]), 0).always());
        assert!(!CLOCK.possible(&of(&[(0, 93 * US)]), 0).always());
    }
}
