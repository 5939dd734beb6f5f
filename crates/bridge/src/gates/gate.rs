//! The gate of one traffic class as a frame and a shaper see it: in true time.
//!
//! IEEE 802.1Q-2022, 8.6.8.4.

use super::GateControlList;
use super::open_intervals::OpenIntervals;
use tsn_units::{ClockMap, Duration, Instant, Local, True};

/// An opening of one class's gate. Adjacent open entries are one window, also across the end of the cycle.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Window {
    /// When the gate opens.
    pub opens: Instant,
    /// When it closes.
    pub closes: Instant,
}

impl Window {
    /// No opening: no frame fits into it.
    pub const NONE: Self = Self { opens: Instant::MAX, closes: Instant::MAX };
}

/// The gate of one class: open for ever, or controlled by a gate control list.
#[derive(Copy, Clone, Debug)]
pub struct Gate<'a>(pub(super) Option<(&'a GateControlList, &'a OpenIntervals)>);

impl Gate<'_> {
    /// A gate without a list.
    pub const ALWAYS_OPEN: Self = Self(None);

    /// Whether the gate never closes.
    #[inline]
    #[must_use]
    pub fn is_always_open(&self) -> bool {
        self.0.is_none()
    }

    /// Whether any window, from `now` on, is long enough for `needs`.
    #[inline]
    #[must_use]
    pub fn ever_fits(&self, now: Instant, needs: Duration) -> bool {
        self.0.is_none_or(|(list, openings)| match &list.sequence {
            None => list.shortest(needs).ps() <= openings.longest,
            Some(_) => self.next_window(now, needs).is_some(),
        })
    }

    /// Whether the gate is open at `now`.
    #[must_use]
    pub fn is_open(&self, now: Instant) -> bool {
        self.next_window(now, Duration::from_ps(1)).is_some_and(|window| window.opens <= now)
    }

    /// The greatest number of windows to examine before a long enough one is found, or none exists.
    #[must_use]
    pub fn windows(&self) -> usize {
        self.0.map_or(1, |(list, openings)| match &list.sequence {
            None => 2 * openings.intervals.len() + 2,
            Some(sequence) => 2 * sequence.windows(openings.class),
        })
    }

    /// Whether idle slopes change with the list.
    #[inline]
    #[must_use]
    pub fn has_slopes(&self) -> bool {
        self.0.is_some_and(|(list, _)| list.sequence.as_ref().is_some_and(|sequence| sequence.slopes()))
    }

    /// The slope in force at `now` for a class whose own slope is `own`.
    #[cold]
    #[must_use]
    pub fn slope(&self, own: i64, now: Instant) -> i64 {
        match self.0 {
            Some((GateControlList { sequence: Some(sequence), clock, .. }, openings)) => {
                sequence.slope(openings.class, own, list_time(clock.as_ref(), now))
            }
            _ => own,
        }
    }

    /// The credit that an idle slope gains between two instants, while the gate is open; in 1e-12 bit.
    #[inline]
    #[must_use]
    pub fn credit_gain(&self, slope: i64, from: Instant, to: Instant) -> i128 {
        match self.0 {
            Some((GateControlList { sequence: Some(sequence), clock, .. }, openings)) => {
                let clock = clock.as_ref();
                sequence.credit_gain(
                    openings.class,
                    Some(slope),
                    list_time(clock, from),
                    list_time(clock, to),
                )
            }
            _ => i128::from(slope) * i128::from(self.open_between(from, to).ps()),
        }
    }

    /// When a class whose idle slope changes with the list will have gained `needed` credit, which must be positive.
    #[cold]
    #[must_use]
    pub fn when_gained(&self, slope: i64, from: Instant, needed: i128) -> Instant {
        let Some((GateControlList { sequence: Some(sequence), clock, .. }, openings)) = self.0 else {
            return Instant::MAX;
        };
        let at = sequence.when_gained(openings.class, Some(slope), list_time(clock.as_ref(), from), needed);
        match clock {
            Some(clock) if at < i64::MAX => clock.inverse(Instant::from_ps(at)),
            _ => Instant::from_ps(at),
        }
    }

    /// The first window with room for `needs` at or after `now`; the whole window, so it may have begun before.
    ///
    /// None if no window ever has room. The search takes at most one pass over the list; if the list follows a clock,
    /// one pass for every window that is too short by the picosecond to which clocks round.
    #[must_use]
    pub fn next_window(&self, now: Instant, needs: Duration) -> Option<Window> {
        let Some((list, openings)) = self.0 else {
            return Some(Window { opens: Instant::from_ps(i64::MIN), closes: Instant::MAX });
        };
        match &list.clock {
            None => {
                let (opens, closes) = list.next_opening(openings, now, needs)?;
                Some(Window { opens, closes })
            }
            Some(clock) => list.next_window_by(clock, openings, now, needs),
        }
    }

    /// How long the gate is open between two instants, on the list's clock.
    #[must_use]
    pub fn open_between(&self, from: Instant, to: Instant) -> Duration {
        match self.0 {
            None => to - from,
            Some((list, openings)) => match &list.clock {
                None => list.open_between(openings, from, to),
                Some(clock) => list.open_between(openings, clock.forward(from), clock.forward(to)),
            },
        }
    }

    /// When the gate will have been open for `needed` since `from`; [`Instant::MAX`] for never.
    #[must_use]
    pub fn when_open_for(&self, from: Instant, needed: Duration) -> Instant {
        let Some((list, openings)) = self.0 else {
            return Instant::from_ps(from.ps().saturating_add(needed.ps()));
        };
        match &list.clock {
            None => list.when_open_for(openings, from, needed),
            Some(_) if needed <= Duration::ZERO => from,
            Some(clock) => {
                let at = list.when_open_for(openings, clock.forward(from), needed);
                if at == Instant::MAX { Instant::MAX } else { clock.inverse(at) }
            }
        }
    }
}

/// The time of the list's clock at a true instant, ps.
fn list_time(clock: Option<&ClockMap<True, Local>>, at: Instant) -> i64 {
    clock.map_or(at.ps(), |clock| clock.forward(at).ps())
}
