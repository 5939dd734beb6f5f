//! A stream gate: passes frames or drops them, and chooses their queue, by its control list.
//!
//! IEEE 802.1Q-2022, 8.6.5.4 and 8.6.10.

use crate::StateTaker;
use tsn_plan::duration;
use tsn_units::{Instant, Local};

/// The decision of a stream gate.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Passing {
    /// The frame passes.
    Open {
        /// The internal priority value that chooses the queue instead of the frame's priority.
        ipv: Option<u8>,
    },
    /// The frame is dropped.
    Closed,
}

#[derive(Copy, Clone, Debug)]
struct Entry {
    /// The end of the entry, in ps from the start of the cycle.
    until: i64,
    open: bool,
    ipv: Option<u8>,
    octets_max: Option<u64>,
}

/// One gate and its list; cycles extend to before the base time.
#[derive(Clone, Debug)]
pub struct StreamGate {
    base: i64,
    cycle: i64,
    entries: Vec<Entry>,
    close_on_invalid_rx: bool,
    close_on_octets_exceeded: bool,
    /// Whether the gate is closed for ever.
    closed: bool,
    /// The interval of the last frame: when it began, and how many octets have passed in it.
    interval: Option<(i64, u64)>,
}

impl StreamGate {
    /// The gate of a checked Plan (see [`tsn_plan::Plan::check`]).
    #[must_use]
    pub fn new(gate: &tsn_plan::StreamGate) -> Self {
        let mut until = 0_i64;
        let entries = gate.entries.iter().map(|entry| {
            until = until.saturating_add(duration(entry.interval_ns).ps());
            Entry { until, open: entry.open, ipv: entry.ipv, octets_max: entry.octets_max }
        });
        Self {
            entries: entries.collect(),
            base: gate.base_time_ns.saturating_mul(1_000),
            cycle: duration(gate.cycle_ns).ps().max(1),
            close_on_invalid_rx: gate.close_on_invalid_rx,
            close_on_octets_exceeded: gate.close_on_octets_exceeded,
            closed: false,
            interval: None,
        }
    }

    /// Adds whether the gate is closed, and what has passed in the interval of the last frame.
    pub(super) fn put_state(&self, state: &mut StateTaker) {
        state.put(u8::from(self.closed));
        let now = state.now().ps();
        let current = self.interval.filter(|interval| interval.0 + self.cycle > now);
        state.put(current.map_or(i64::MIN, |interval| interval.0 - now));
        state.put(current.map_or(0, |interval| interval.1));
    }

    /// Handles a frame that arrives when the node's clock shows `now`.
    pub fn pass(&mut self, now: Instant<Local>, sdu_octets: u32) -> Passing {
        let phase = (now.ps() - self.base).rem_euclid(self.cycle);
        let place = self.entries.partition_point(|entry| entry.until <= phase);
        let Some(entry) = self.entries.get(place).copied() else { return Passing::Closed };
        if self.closed || !entry.open {
            self.closed |= self.close_on_invalid_rx;
            return Passing::Closed;
        }
        if let Some(most) = entry.octets_max {
            let before = place.checked_sub(1).and_then(|place| self.entries.get(place));
            let began = now.ps() - phase + before.map_or(0, |entry| entry.until);
            let passed =
                self.interval.filter(|interval| interval.0 == began).map_or(0, |interval| interval.1);
            let passed = passed + u64::from(sdu_octets);
            if passed > most {
                self.closed |= self.close_on_octets_exceeded;
                return Passing::Closed;
            }
            self.interval = Some((began, passed));
        }
        Passing::Open { ipv: entry.ipv }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tsn_plan::StreamGateEntry;

    fn gate(close_on_invalid_rx: bool, close_on_octets_exceeded: bool) -> StreamGate {
        let entry =
            |open, ipv, interval_ns, octets_max| StreamGateEntry { open, ipv, interval_ns, octets_max };
        StreamGate::new(&tsn_plan::StreamGate {
            base_time_ns: 10,
            cycle_ns: 100,
            entries: vec![
                entry(true, Some(7), 30, None),
                entry(false, None, 20, None),
                entry(true, None, 50, Some(1_000)),
            ],
            close_on_invalid_rx,
            close_on_octets_exceeded,
        })
    }

    fn at(ns: i64) -> Instant<Local> {
        Instant::from_ps(ns * 1_000)
    }

    #[test]
    fn entries_follow_each_other_and_begin_with_their_first_instant() {
        let mut gate = gate(false, false);
        let seven = Passing::Open { ipv: Some(7) };
        for (ns, passing) in [
            (10, seven),
            (39, seven),
            (40, Passing::Closed),
            (59, Passing::Closed),
            (60, Passing::Open { ipv: None }),
            (109, Passing::Open { ipv: None }),
            (110, seven),
            (-90, seven),
            (9, Passing::Open { ipv: None }),
        ] {
            assert_eq!(gate.pass(at(ns), 1), passing, "{ns}");
        }
    }

    #[test]
    fn an_interval_passes_its_octets_and_the_next_one_again() {
        let mut gate = gate(false, false);
        let open = Passing::Open { ipv: None };
        for (ns, octets, passing) in [
            (60, 600, open),
            (70, 401, Passing::Closed),
            (71, 400, open),
            (72, 1, Passing::Closed),
            (160, 1_000, open),
            (161, 1, Passing::Closed),
            (1_060, 600, open),
            (1_100, 401, Passing::Closed),
        ] {
            assert_eq!(gate.pass(at(ns), octets), passing, "{ns}");
        }
    }

    #[test]
    fn closed_for_good() {
        let mut invalid = gate(true, false);
        assert_eq!(invalid.pass(at(45), 1), Passing::Closed);
        assert_eq!(invalid.pass(at(110), 1), Passing::Closed);
        let mut exceeded = gate(false, true);
        assert_eq!(exceeded.pass(at(45), 1), Passing::Closed);
        assert_ne!(exceeded.pass(at(110), 1), Passing::Closed);
        assert_eq!(exceeded.pass(at(160), 1_001), Passing::Closed);
        assert_eq!(exceeded.pass(at(210), 1), Passing::Closed);
    }
}
