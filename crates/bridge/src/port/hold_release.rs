//! Pre-emption with gates and shapers: when preemptable frames are held and released, and the credit that their
//! fragments cost.
//!
//! IEEE 802.1Q-2022, 8.6.8.2, 8.6.8.4 and 12.30; IEEE 802.3-2022, clause 99.

use super::mac_merge::{MacMerge, PartialFrame};
use super::{EgressPort, SHORTEST_WINDOW};
use crate::{Frame, Gate, Window};
use tsn_units::{Duration, Instant, Octets};

/// The longest frame that cannot be cut. OCORA 3.2.2.
const LARGEST_UNCUT: u32 = 123;

impl<F: Frame> EgressPort<F> {
    /// The first window from `now` on in which preemptable frames are not held: from a release request to a hold
    /// request.
    fn release_window(&self, now: Instant) -> Option<Window> {
        let always = Window { opens: Instant::from_ps(i64::MIN), closes: Instant::MAX };
        let Some(list) = &self.gates else { return Some(always) };
        let gate = list.hold_release();
        let (hold, release) = self.merge_advances;
        let mut from = now + hold;
        for _ in 0..=gate.windows() {
            let Window { opens, closes } = gate.next_window(from, SHORTEST_WINDOW)?;
            let earlier = |at: Instant, by: Duration| match at.ps() {
                i64::MIN | i64::MAX => at,
                _ => at - by,
            };
            let window = Window { opens: earlier(opens, release), closes: earlier(closes, hold) };
            if window.opens.max(now) < window.closes {
                return Some(window);
            }
            from = closes;
        }
        None
    }

    /// When preemptable frames are held: `now`, or later.
    pub(super) fn hold_begins(&self, now: Instant) -> Instant {
        match self.release_window(now) {
            Some(window) if window.opens <= now => window.closes,
            _ => now,
        }
    }

    /// When preemptable frames are released: `now`, or later; [`Instant::MAX`] for never.
    pub(super) fn release_begins(&self, now: Instant) -> Instant {
        self.release_window(now).map_or(Instant::MAX, |window| window.opens.max(now))
    }

    /// The earliest start, not before `from`, of a preemptable frame that a hold can cut.
    ///
    /// The guard: the whole frame fits its window, or the window ends in a hold, and the part that cannot be cut is
    /// off the wire by then.
    #[cold]
    #[inline(never)]
    pub(super) fn preemptable_start(&self, class: u8, from: Instant, frame: Octets) -> Instant {
        let gate = self.gate(class);
        let tries = gate.windows() + self.gates.as_ref().map_or(1, |list| list.hold_release().windows());
        let (whole, least) =
            (self.line.until_last_bit(frame), self.line.until_last_bit(Octets(frame.0.min(LARGEST_UNCUT))));
        let mut at = from;
        for _ in 0..=2 * tries {
            let Some(released) = self.release_window(at) else { return Instant::MAX };
            at = at.max(released.opens);
            let Some(window) = gate.next_window(at, SHORTEST_WINDOW) else { return Instant::MAX };
            if window.opens.max(at) >= released.closes {
                at = window.opens.max(at);
                continue;
            }
            at = at.max(window.opens);
            let fits = |window_needed: Duration| {
                at.ps().checked_add(window_needed.ps()).is_some_and(|end| end <= window.closes.ps())
            };
            let cut = || {
                released.closes <= window.closes
                    && fits(least)
                    && self.release_window(released.closes).is_none_or(|next| next.opens >= window.closes)
            };
            if self.unguarded || fits(whole) || cut() {
                return at;
            }
            at = released.closes.min(window.closes);
        }
        Instant::MAX
    }

    /// Whether any part of an mPacket is on the wire while the gate of its class is closed.
    pub(super) fn overruns(&self, class: u8, started: Instant, ends: Instant) -> bool {
        let gate = self.gate(class);
        !gate.is_always_open()
            && gate
                .next_window(started, SHORTEST_WINDOW)
                .is_none_or(|window| window.opens > started || window.closes < ends)
    }

    /// Charges the class of an mPacket that begins. Returns the credit before.
    pub(super) fn charge(&mut self, now: Instant, class: u8, wire: Duration) -> i128 {
        let gate = self.gates.as_ref().map_or(Gate::ALWAYS_OPEN, |list| list.gate(class));
        let Some(shaper) = &mut self.classes[usize::from(class)].shaper else { return 0 };
        shaper.advance(now, true, gate);
        let saved = shaper.saved();
        shaper.charge(now, wire, gate);
        saved
    }

    /// Refunds a part of the charge of an mPacket that is cut and leaves the medium free from `free` on.
    pub(super) fn refund(&mut self, partial: &PartialFrame<F>, free: Instant) {
        let gate = self.gates.as_ref().map_or(Gate::ALWAYS_OPEN, |list| list.gate(partial.class));
        if let Some(shaper) = &mut self.classes[usize::from(partial.class)].shaper {
            shaper.refund(partial.credit, partial.started, free - partial.started, gate);
        }
    }

    /// The rest of an interrupted frame waits: its class gains credit as if a frame were in its queue.
    pub(super) fn gain_while_interrupted(&mut self, merge: &MacMerge<F>, now: Instant) {
        let Some(partial) = merge.partial.as_ref().filter(|partial| !partial.running) else { return };
        let gate = self.gates.as_ref().map_or(Gate::ALWAYS_OPEN, |list| list.gate(partial.class));
        if let Some(shaper) = &mut self.classes[usize::from(partial.class)].shaper {
            shaper.advance(now, true, gate);
        }
    }
}
