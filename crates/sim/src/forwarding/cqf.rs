//! Cyclic queues: whether a frame leaves in the cycle that its queue has next.
//!
//! IEEE 802.1Q-2022, annex T.

use crate::ids::{HopId, PortId};
use std::collections::HashMap;
use tsn_plan::{Gates, Plan, duration};
use tsn_units::{Instant, Local};

/// Frames in queues that a stream gate has chosen, and how many of them left too late.
#[derive(Debug, Default)]
pub(crate) struct CyclicQueues {
    /// By hop and sequence number: when the frame reached its queue, in its node's time.
    queued: HashMap<(HopId, u64), Instant<Local>>,
    /// Number of late frames by port and class.
    late: HashMap<(PortId, u8), u64>,
}

impl CyclicQueues {
    /// Records a frame that reaches the queue that a stream gate has chosen for it.
    pub fn queue(&mut self, hop: HopId, seq: u64, at: Instant<Local>) {
        self.queued.insert((hop, seq), at);
    }

    /// Counts a frame that leaves too late; frames without a queue chosen by a stream gate are ignored.
    pub fn leave(
        &mut self,
        plan: &Plan,
        (hop, seq): (HopId, u64),
        (port, class): (PortId, u8),
        at: Instant<Local>,
    ) {
        if self.queued.is_empty() {
            return;
        }
        let Some(queued) = self.queued.remove(&(hop, seq)) else { return };
        let gates = plan.ports.get(port.index()).and_then(|port| port.gates.as_ref());
        if gates.is_some_and(|gates| leaves_late(gates, class, queued.ps(), at.ps())) {
            *self.late.entry((port, class)).or_default() += 1;
        }
    }

    /// The frames in the queues: hop, sequence number, and when they reached the queue in ps, twice.
    pub fn waiting(&self) -> impl Iterator<Item = (HopId, u64, [i64; 2])> {
        self.queued.iter().map(|((hop, seq), at)| (*hop, *seq, [at.ps(); 2]))
    }

    /// Number of late frames of a class of a port.
    pub fn late(&self, port: PortId, class: u8) -> u64 {
        self.late.get(&(port, class)).copied().unwrap_or(0)
    }
}

/// Whether the gate of a class closed and another one opened between the first opening at or after `queued` and
/// `sent`.
fn leaves_late(gates: &Gates, class: u8, queued: i64, sent: i64) -> bool {
    let ps = |ns: u64| duration(ns).ps();
    let cycle = ps(gates.cycle_ns);
    let opens = |entry: &tsn_plan::GateEntry| entry.open >> (class & 7) & 1 == 1;
    if cycle <= 0 || gates.entries.iter().all(opens) || !gates.changes.is_empty() || gates.initial.is_some() {
        return false;
    }
    let phase = queued.saturating_sub(gates.base_time_ns.saturating_mul(1_000)).rem_euclid(cycle);
    let (mut from, mut was_open) = (0_i64, false);
    // Two cycles and the begin of a third one contain a whole turn of the queue, at whatever phase a frame arrived.
    for entry in gates.entries.iter().cycle().take(3 * gates.entries.len()) {
        let is_open = opens(entry);
        if was_open && !is_open && from > phase {
            return sent - queued >= from - phase;
        }
        was_open = is_open;
        from = from.saturating_add(ps(entry.interval_ns));
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use tsn_plan::GateEntry;

    #[test]
    fn a_frame_has_the_turn_that_is_or_comes_next() {
        let entry = |open, interval_ns| GateEntry { open, interval_ns, mac: None };
        // Class 6 is open from 100 to 200, class 7 from 200 on and until 100 of the next cycle.
        let gates = Gates {
            base_time_ns: 0,
            cycle_ns: 300,
            entries: vec![entry(0x80, 100), entry(0x40, 100), entry(0x80, 100)],
            ..Gates::default()
        };
        for (class, queued, end) in [
            (6, 0, 200),
            (6, 99, 200),
            (6, 100, 200),
            (6, 199, 200),
            (6, 200, 500),
            (6, 299, 500),
            (7, 0, 100),
            (7, 100, 400),
            (7, 250, 400),
            (7, 300, 400),
        ] {
            let missed = |sent: i64| leaves_late(&gates, class, queued * 1_000, sent * 1_000);
            assert!(!missed(end - 1) && missed(end), "class {class}, queued at {queued}");
        }
        assert!(!leaves_late(&gates, 5, 0, 1_000_000), "never open");
    }
}
