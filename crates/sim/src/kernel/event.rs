//! Events, and the frames they carry.

use crate::ids::{FaultId, HopId, NodeId, PortId, StreamId};
use tsn_bridge as bridge;
use tsn_units::{Instant, Octets};

/// A frame in transit: which frame, and at which hop of its route.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Frame {
    /// The talker's sequence number.
    pub seq: u64,
    /// Index into [`crate::network::tables::Network::hops`], which knows the stream.
    pub hop: HopId,
    /// From destination address to FCS.
    pub octets: u32,
}

/// Bit of [`Frame::seq`]: the check sequence tells that the frame is not whole. Talkers do not count so far.
const DAMAGED: u64 = 1 << 63;

impl Frame {
    /// Whether the frame is damaged; cut-through nodes forward it before they can know.
    #[inline]
    pub fn is_damaged(&self) -> bool {
        self.seq & DAMAGED != 0
    }

    /// This frame with a check sequence that tells of damage.
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

/// The order of what happens at one instant.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// Frames arrive where the order of arrival decides: member streams merge, filters match, bridges learn.
    Ingress = 0,
    /// Frames reach queues.
    Reach = 1,
    /// Ports choose among queues.
    Choose = 2,
    /// Clocks change, and PTP messages are handled.
    Timing = 3,
}

/// Bits of an [`Event`]'s order that count a node's events, and above them those that name the node.
const COUNTER_BITS: u32 = 40;
const NODE_BITS: u32 = 22;

/// How many nodes the order of events has room for.
pub(crate) const MOST_NODES: usize = 1 << NODE_BITS;

/// What an event of [`Phase::Reach`] or [`Phase::Ingress`] without a frame is, in the place of the frame's sequence number.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u64)]
enum Frameless {
    Release,
    Babble,
    FaultBegins,
    FaultEnds,
    Hold,
    Eligible,
    Host,
}

impl Frameless {
    /// By their numbers.
    const ALL: [Self; 7] = [
        Self::Release,
        Self::Babble,
        Self::FaultBegins,
        Self::FaultEnds,
        Self::Hold,
        Self::Eligible,
        Self::Host,
    ];
}

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

/// The kinds of events.
#[derive(Copy, Clone, Debug)]
pub(crate) enum EventKind {
    /// A frame reaches the queue of its hop.
    Arrive(Frame),
    /// A frame arrives whose order among others decides what becomes of it: see [`Phase::Ingress`].
    Ingress(Frame),
    /// A talker that babbles releases one more.
    Babble {
        /// The fault.
        fault: FaultId,
    },
    /// A fault begins, or ends, that is more than what links do to frames.
    Fault {
        /// The fault.
        fault: FaultId,
        /// Whether it begins.
        begins: bool,
    },
    /// A talker releases.
    Release {
        /// Its stream.
        stream: StreamId,
    },
    /// A frame reaches its queue that is not eligible yet.
    Hold {
        /// The number of the frame among those that [`crate::policing::state`] holds.
        number: u32,
    },
    /// A frame that waited in its queue becomes eligible.
    Eligible {
        /// The frame's number among those that [`crate::policing::state`] holds.
        number: u32,
    },
    /// Something happens in a host's software.
    Host {
        /// The number of what happens among those that [`crate::hosts::state`] has pending.
        number: u32,
    },
    /// A port asked to be woken.
    Wake {
        /// The port.
        port: PortId,
    },
    /// Something happens to clocks or PTP messages.
    Timing {
        /// The number of what happens among those that [`crate::clocks::state`] has pending.
        number: u32,
    },
}

impl Event {
    /// An event at a node, the `counter`-th one there.
    #[inline]
    pub fn new(at: Instant, node: NodeId, counter: u64, kind: EventKind) -> Self {
        let frameless = |kind: Frameless, id: u32| (Phase::Reach, kind as u64, id, 0);
        let (phase, seq, id, octets) = match kind {
            EventKind::Arrive(frame) => (Phase::Reach, frame.seq, frame.hop.0, frame.octets),
            EventKind::Ingress(frame) => (Phase::Ingress, frame.seq, frame.hop.0, frame.octets),
            EventKind::Release { stream } => frameless(Frameless::Release, stream.0),
            EventKind::Babble { fault } => frameless(Frameless::Babble, fault.0),
            EventKind::Fault { fault, begins: true } => frameless(Frameless::FaultBegins, fault.0),
            EventKind::Fault { fault, begins: false } => frameless(Frameless::FaultEnds, fault.0),
            EventKind::Hold { number } => frameless(Frameless::Hold, number),
            EventKind::Eligible { number } => frameless(Frameless::Eligible, number),
            EventKind::Host { number } => frameless(Frameless::Host, number),
            EventKind::Wake { port } => (Phase::Choose, 0, port.0, 0),
            EventKind::Timing { number } => (Phase::Timing, 0, number, 0),
        };
        let order = (phase as u64) << (COUNTER_BITS + NODE_BITS)
            | u64::from(node.0) << COUNTER_BITS
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

    /// Which kind of event this is.
    #[inline]
    pub fn kind(&self) -> EventKind {
        let phase = self.order >> (COUNTER_BITS + NODE_BITS);
        let frame = Frame { seq: self.seq, hop: HopId(self.id), octets: self.octets };
        if phase == Phase::Choose as u64 {
            EventKind::Wake { port: PortId(self.id) }
        } else if phase == Phase::Timing as u64 {
            EventKind::Timing { number: self.id }
        } else if self.octets > 0 {
            if phase == Phase::Reach as u64 { EventKind::Arrive(frame) } else { EventKind::Ingress(frame) }
        } else {
            match Frameless::ALL[self.seq as usize % Frameless::ALL.len()] {
                Frameless::Release => EventKind::Release { stream: StreamId(self.id) },
                Frameless::Babble => EventKind::Babble { fault: FaultId(self.id) },
                Frameless::FaultBegins => EventKind::Fault { fault: FaultId(self.id), begins: true },
                Frameless::FaultEnds => EventKind::Fault { fault: FaultId(self.id), begins: false },
                Frameless::Hold => EventKind::Hold { number: self.id },
                Frameless::Eligible => EventKind::Eligible { number: self.id },
                Frameless::Host => EventKind::Host { number: self.id },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_time_then_phase_then_node_then_counter() {
        let event = |ps, node, counter, kind| Event::new(Instant::from_ps(ps), NodeId(node), counter, kind);
        let (release, wake) =
            (EventKind::Release { stream: StreamId(0) }, EventKind::Wake { port: PortId(0) });
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

    #[test]
    fn every_kind_comes_back_as_it_was() {
        let frame = Frame { seq: 7, hop: HopId(8), octets: 64 };
        for kind in [
            EventKind::Arrive(frame),
            EventKind::Ingress(frame),
            EventKind::Release { stream: StreamId(1) },
            EventKind::Babble { fault: FaultId(2) },
            EventKind::Fault { fault: FaultId(3), begins: true },
            EventKind::Fault { fault: FaultId(3), begins: false },
            EventKind::Hold { number: 4 },
            EventKind::Eligible { number: 4 },
            EventKind::Host { number: 5 },
            EventKind::Wake { port: PortId(6) },
            EventKind::Timing { number: 9 },
        ] {
            let event = Event::new(Instant::EPOCH, NodeId(1), 0, kind);
            assert_eq!(format!("{:?}", event.kind()), format!("{kind:?}"));
        }
        assert_eq!(size_of::<Event>(), 32);
    }
}
