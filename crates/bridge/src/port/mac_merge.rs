//! Frame pre-emption: how express frames interrupt preemptable ones, and how interrupted frames continue.
//!
//! IEEE 802.3-2022, clause 99; IEEE 802.1Q-2022, 6.7.2; OCORA 3.2.2.

use super::{Actions, EgressPort, Event, Transmission};
use crate::{Frame, Line};
use tsn_plan::Preemption;
use tsn_units::{Instant, Octets, PREAMBLE, START_FRAME_DELIMITER};

/// Smallest mPacket, its check sequence included. IEEE 802.3-2022, 99.4.4.
const SMALLEST_FRAGMENT: u32 = 64;
/// The check sequence at the end of every mPacket: mCRC, or, at the end of the frame, its FCS.
const CHECK: u32 = 4;

/// Counters of the MAC merge sublayer of one port.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeCounters {
    /// How often an express frame cut a preemptable one.
    pub preemptions: u64,
    /// mPackets that continued a frame (`aMACMergeFragCountTx`).
    pub continuations: u64,
    /// Frames that were sent in more than one fragment (`aMACMergeFrameAssOkCount` at the other end).
    pub fragmented_frames: u64,
    /// How often a preemptable frame was cut because a gate entry held it (`aMACMergeHoldCount`).
    pub holds: u64,
}

/// A preemptable frame that is not yet sent completely.
#[derive(Clone, Debug)]
pub(super) struct PartialFrame<F> {
    frame: F,
    pub class: u8,
    /// The first bit of its first mPacket.
    first_bit: Instant,
    /// The start of the current or last mPacket.
    pub started: Instant,
    /// Octets, FCS included, that no earlier mPacket carried.
    rest: u32,
    /// Whether an mPacket with the whole rest is on the wire, and may still be cut.
    pub running: bool,
    fragmented: bool,
    /// The class's credit before the current or last mPacket.
    pub credit: i128,
    /// Whether a part of it was on the wire while its gate was closed.
    overran: bool,
}

/// The MAC merge sublayer of one port.
#[derive(Clone, Debug)]
pub(super) struct MacMerge<F> {
    /// Bit n: class n is express.
    express: u8,
    /// Whether gate entries hold preemptable frames (`Set-And-Hold-MAC`).
    holding: bool,
    pub partial: Option<PartialFrame<F>>,
    counters: MergeCounters,
    /// First and last bit of each mPacket, if somebody wants them.
    fragments: Option<Box<Fragments>>,
}

/// The mPackets of interrupted frames.
#[derive(Clone, Debug, Default)]
struct Fragments {
    /// Of the frame that is not yet sent completely.
    partial: Vec<(Instant, Instant)>,
    /// Of the frame that was sent completely last, until it is taken.
    whole: Vec<(Instant, Instant)>,
}

impl<F> MacMerge<F> {
    pub fn new(own: &Preemption, holding: bool) -> Self {
        Self {
            express: own.express,
            holding,
            partial: None,
            counters: MergeCounters::default(),
            fragments: None,
        }
    }

    pub fn holds(&self) -> usize {
        usize::from(self.partial.is_some())
    }

    /// Discards the frame that is not yet sent completely.
    pub fn clear(&mut self) -> Option<F> {
        if let Some(fragments) = &mut self.fragments {
            fragments.partial.clear();
        }
        self.partial.take().map(|partial| partial.frame)
    }

    pub fn counters(&self) -> MergeCounters {
        self.counters
    }
}

impl<F> PartialFrame<F> {
    /// The number of octets of the rest that are sent if it is cut as early as possible; none if it cannot be cut, as
    /// both the sent and the remaining part must fill an mPacket.
    fn cut(&self, now: Instant, line: &Line) -> Option<u32> {
        let elapsed = i128::from((now - self.started).ps()) * i128::from(line.rate().0);
        let started = u32::try_from((elapsed + 7_999_999_999_999) / 8_000_000_000_000).ok()?;
        let sent =
            started.saturating_sub(PREAMBLE.0 + START_FRAME_DELIMITER.0).max(SMALLEST_FRAGMENT - CHECK);
        (sent.checked_add(SMALLEST_FRAGMENT)? <= self.rest).then_some(sent)
    }
}

impl<F: Frame> EgressPort<F> {
    /// From now on the mPackets of interrupted frames are kept for [`Self::take_fragments`].
    pub fn keep_fragments(&mut self) {
        if let Some(merge) = &mut self.merge {
            merge.fragments = Some(Box::default());
        }
    }

    /// First and last bit of each mPacket of the frame whose transmission was reported last; empty if it was not
    /// interrupted.
    pub fn take_fragments(&mut self) -> Vec<(Instant, Instant)> {
        let merge = self.merge.as_mut();
        let kept = merge.and_then(|merge| merge.fragments.as_mut());
        kept.map_or_else(Vec::new, |fragments| std::mem::take(&mut fragments.whole))
    }

    /// [`EgressPort::handle`] of a port with pre-emption.
    pub(super) fn handle_merging(&mut self, now: Instant, event: Event<F>) -> Actions<F> {
        let mut actions = Actions::default();
        let Some(mut merge) = self.merge.take() else { return actions };
        match event {
            Event::Arrive { class, frame, .. } => {
                self.gain_while_interrupted(&merge, now);
                if self.accept(now, class, frame, &mut actions).is_some() {
                    self.request_wake(now, &mut actions);
                }
            }
            Event::Wake if now == self.wake => {
                self.wake = Instant::MAX;
                self.step(&mut merge, now, &mut actions);
            }
            Event::Wake => {}
        }
        self.merge = Some(merge);
        actions
    }

    fn step(&mut self, merge: &mut MacMerge<F>, now: Instant, actions: &mut Actions<F>) {
        if let Some(partial) = merge.partial.as_mut().filter(|partial| partial.running) {
            let ends = partial.started + self.line.until_last_bit(Octets(partial.rest));
            if now >= ends {
                merge.counters.fragmented_frames += u64::from(partial.fragmented);
                let PartialFrame { frame, class, first_bit, .. } = *partial;
                if partial.overran || self.overruns(class, partial.started, ends) {
                    self.classes[usize::from(class)].queue.count_overrun();
                }
                if let Some(fragments) = merge.fragments.as_mut().filter(|_| partial.fragmented) {
                    fragments.partial.push((partial.started, ends));
                    fragments.whole = std::mem::take(&mut fragments.partial);
                }
                actions.start = Some(Transmission { frame, class, first_bit, last_bit: ends });
                merge.partial = None;
            } else {
                // If the frame cannot be cut now, it cannot be cut later: the next event is its end.
                let Some(sent) = partial.cut(now, &self.line) else {
                    return self.request_wake(ends, actions);
                };
                let hold = if merge.holding { self.hold_begins(now) } else { Instant::MAX };
                let express = self.earliest_of(merge.express, now).1;
                if express.min(hold) > now {
                    return self.request_wake(ends.min(express).min(hold), actions);
                }
                let free = partial.started + self.line.until_free(Octets(sent + CHECK));
                if hold > now {
                    // When the cut mPacket has been sent, the window of the express frame may already be closed.
                    let express = self.earliest_of(merge.express, free).1;
                    if express > free {
                        return self.request_wake(ends.min(express).min(hold), actions);
                    }
                    merge.counters.preemptions += 1;
                } else {
                    merge.counters.holds += 1;
                }
                let cut = partial.started + self.line.until_last_bit(Octets(sent + CHECK));
                partial.overran |= self.overruns(partial.class, partial.started, cut);
                if let Some(fragments) = &mut merge.fragments {
                    fragments.partial.push((partial.started, cut));
                }
                self.refund(partial, free);
                partial.rest -= sent;
                partial.running = false;
                partial.fragmented = true;
                self.free = free;
            }
        }
        if now < self.free {
            return self.request_wake(self.free, actions);
        }
        match self.earliest_of(merge.express, now) {
            (class, start) if start <= now => {
                self.transmit(now, class, actions);
                if merge.partial.is_some() {
                    self.request_wake(self.free, actions);
                }
                return;
            }
            _ => {}
        }
        let goes_on = if merge.holding { self.release_begins(now) } else { now };
        if goes_on > now {
            // Frames wait for their windows in `earliest_of`; the rest of a frame waits only for its release.
            let partial = if merge.partial.is_some() { goes_on } else { Instant::MAX };
            let next = self.earliest_of(u8::MAX, now).1.max(now + super::SHORTEST_WINDOW);
            return self.request_wake(next.min(partial), actions);
        }
        if let Some(partial) = &mut merge.partial {
            merge.counters.continuations += 1;
            partial.started = now;
            partial.running = true;
            let wire = self.line.until_free(Octets(partial.rest));
            partial.credit = self.charge(now, partial.class, wire);
        } else {
            match self.earliest_of(!merge.express, now) {
                (class, start) if start <= now => merge.partial = self.start_preemptable(now, class),
                _ => {
                    let next = self.earliest_of(u8::MAX, now).1;
                    return self.request_wake(next, actions);
                }
            }
        }
        let Some(partial) = &merge.partial else { return };
        self.free = now + self.line.until_free(Octets(partial.rest));
        let ends = now + self.line.until_last_bit(Octets(partial.rest));
        let express = self.earliest_of(merge.express, now).1;
        let hold = if merge.holding { self.hold_begins(now) } else { Instant::MAX };
        self.request_wake(ends.min(express).min(hold), actions);
    }

    /// Takes the first frame of a preemptable class from its queue.
    fn start_preemptable(&mut self, now: Instant, class: u8) -> Option<PartialFrame<F>> {
        let queue = &mut self.classes[usize::from(class)].queue;
        let frame = queue.pop()?;
        if queue.is_empty() {
            self.waiting &= !(1 << class);
        }
        let rest = frame.octets().0;
        let credit = self.charge(now, class, self.line.until_free(frame.octets()));
        Some(PartialFrame {
            frame,
            class,
            first_bit: now,
            started: now,
            rest,
            running: true,
            fragmented: false,
            credit,
            overran: false,
        })
    }

    /// The class in `mask` whose waiting frame may start first, the highest among equals.
    pub(super) fn earliest_of(&mut self, mask: u8, from: Instant) -> (u8, Instant) {
        let mut earliest = (0, Instant::MAX);
        let mut rest = self.waiting & mask;
        while rest != 0 && earliest.1 > from {
            let class = 7 - rest.leading_zeros() as u8;
            rest ^= 1 << class;
            let start = self.earliest_start(class, from);
            if start < earliest.1 {
                earliest = (class, start);
            }
        }
        earliest
    }
}
