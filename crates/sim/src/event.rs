//! Events, and the frames they carry.

use tsn_bridge as bridge;
use tsn_units::{Instant, Octets};

/// A frame on its way: which it is and at which branch of its route.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Frame {
    /// The talker's sequence number.
    pub seq: u64,
    /// Index into [`crate::network::Network::hops`], which knows the stream.
    pub hop: u32,
    /// From destination address to FCS.
    pub octets: u32,
}

/// Bit of [`Frame::seq`]: the check sequence tells that the frame is not whole. Talkers do not count so far.
const DAMAGED: u64 = 1 << 63;

impl Frame {
    /// Whether it was damaged on its way, and only those who pass it on before it is whole do not know.
    #[inline]
    pub fn is_damaged(&self) -> bool {
        self.seq & DAMAGED != 0
    }

    /// The same, damaged.
    pub fn damaged(self) -> Self {
        Self { seq: self.seq | DAMAGED, ..self }
    }
}

impl bridge::Frame for Frame {
    #[inline]
    fn octets(&self) -> Octets {
        Octets(self.octets)
    }
}

/// Of what happens at one instant, what comes first.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// Copies of a frame meet.
    Meet = 0,
    /// Frames reach queues.
    Reach = 1,
    /// Ports choose among queues.
    Choose = 2,
    /// Clocks change, and time is told.
    Timing = 3,
}

/// Bits of an [`Event`]'s order that count a node's events, and above them those that name the node.
const COUNTER_BITS: u32 = 40;
const NODE_BITS: u32 = 22;

/// In the place of a sequence number: which kind an event without a frame is.
const BEGINS: u64 = 20;
const ENDS: u64 = 21;
/// What tells [`What::Host`] from others of its phase.
const HOST: u64 = 10;

/// How many nodes the order of events has room for.
pub(crate) const MOST_NODES: usize = 1 << NODE_BITS;

/// What an event of [`Phase::Reach`] without a frame is, in the place of its sequence number.
const HOLD: u64 = 40;
const ELIGIBLE: u64 = 41;

/// Something that will happen: 32 octets, copied freely.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Event {
    at: i64,
    /// Phase, node, counter.
    order: u64,
    seq: u64,
    /// A hop, a stream or a port.
    id: u32,
    /// Of a frame; 0 where there is none.
    octets: u32,
}

/// What an event is.
#[derive(Copy, Clone, Debug)]
pub(crate) enum What {
    /// A frame reaches the queue of its hop.
    Arrive(Frame),
    /// A copy arrives where it meets others.
    Meet(Frame),
    /// A talker that babbles releases one more.
    Babble {
        /// The fault.
        fault: u32,
    },
    /// A fault begins, or ends, that is more than what links do to frames.
    Fault {
        /// Which.
        fault: u32,
        /// Whether it begins.
        begins: bool,
    },
    /// A talker releases.
    Release {
        /// Its stream.
        stream: u32,
    },
    /// A frame reaches its queue that is not eligible yet.
    Hold {
        /// Its place: [`crate::policing`] knows the frame.
        place: u32,
    },
    /// A frame that waited in its queue becomes eligible.
    Eligible {
        /// Its place.
        place: u32,
    },
    /// Something happens in a host's software.
    Host {
        /// Which: [`crate::hosts`] knows.
        number: u32,
    },
    /// A port asked to be woken.
    Wake {
        /// The port.
        port: u32,
    },
    /// Something happens to clocks or PTP messages.
    Timing {
        /// Which: [`crate::timing`] knows.
        number: u64,
    },
}

impl Event {
    /// An event at a node, the `counter`-th one there.
    #[inline]
    pub fn new(at: Instant, node: u32, counter: u64, what: What) -> Self {
        let (phase, seq, id, octets) = match what {
            What::Arrive(frame) => (Phase::Reach, frame.seq, frame.hop, frame.octets),
            What::Meet(frame) => (Phase::Meet, frame.seq, frame.hop, frame.octets),
            What::Release { stream } => (Phase::Reach, 0, stream, 0),
            What::Babble { fault } => (Phase::Reach, 1, fault, 0),
            What::Fault { fault, begins } => (Phase::Reach, if begins { BEGINS } else { ENDS }, fault, 0),
            What::Hold { place } => (Phase::Reach, HOLD, place, 0),
            What::Eligible { place } => (Phase::Reach, ELIGIBLE, place, 0),
            What::Host { number } => (Phase::Reach, HOST, number, 0),
            What::Wake { port } => (Phase::Choose, 0, port, 0),
            What::Timing { number } => (Phase::Timing, number, 0, 0),
        };
        let order = (phase as u64) << (COUNTER_BITS + NODE_BITS)
            | u64::from(node) << COUNTER_BITS
            | counter & ((1 << COUNTER_BITS) - 1);
        Self { at: at.ps(), order, seq, id, octets }
    }

    /// When.
    #[inline]
    pub fn at(&self) -> Instant {
        Instant::from_ps(self.at)
    }

    /// The total order, as one number.
    #[inline]
    pub fn key(&self) -> u128 {
        u128::from(self.at as u64) << 64 | u128::from(self.order)
    }

    /// Everything of the order but the counter: equal for events of one phase at one node and instant.
    #[inline]
    pub fn same_turn(&self, other: &Self) -> bool {
        self.at == other.at && self.order >> COUNTER_BITS == other.order >> COUNTER_BITS
    }

    /// What it is.
    #[inline]
    pub fn what(&self) -> What {
        let phase = self.order >> (COUNTER_BITS + NODE_BITS);
        let frame = Frame { seq: self.seq, hop: self.id, octets: self.octets };
        if phase == Phase::Choose as u64 {
            What::Wake { port: self.id }
        } else if phase == Phase::Timing as u64 {
            What::Timing { number: self.seq }
        } else if self.octets == 0 {
            match self.seq {
                0 => What::Release { stream: self.id },
                BEGINS | ENDS => What::Fault { fault: self.id, begins: self.seq == BEGINS },
                HOLD => What::Hold { place: self.id },
                ELIGIBLE => What::Eligible { place: self.id },
                HOST => What::Host { number: self.id },
                _ => What::Babble { fault: self.id },
            }
        } else if phase == Phase::Reach as u64 {
            What::Arrive(frame)
        } else {
            What::Meet(frame)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_time_then_phase_then_node_then_counter() {
        let event = |ps, node, counter, what| Event::new(Instant::from_ps(ps), node, counter, what);
        let (release, wake) = (What::Release { stream: 0 }, What::Wake { port: 0 });
        let ordered = [
            event(1, 9, 9, wake),
            event(2, 0, 5, release),
            event(2, 0, 6, release),
            event(2, 1, 0, release),
            event(2, 0, 0, wake),
            event(2, 0, 1, wake),
            event(3, 0, 0, release),
        ];
        assert!(ordered.windows(2).all(|pair| pair[0].key() < pair[1].key()));
        assert!(ordered[1].same_turn(&ordered[2]) && !ordered[2].same_turn(&ordered[3]));
    }
}
