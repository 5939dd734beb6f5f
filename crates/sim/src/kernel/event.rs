//! Events, and the frames they carry.

use crate::ids::{FaultId, HopId, NodeId, PortId, StreamId};
use tsn_bridge as bridge;
use tsn_units::{Instant, Octets};

/// A frame in transit, and the hop of its route that it is at.
///
/// Two words, which stay in registers: a third field would be written and read as another number of octets at a time,
/// and the processor would wait for each such read.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Frame {
    /// The talker's sequence number.
    pub seq: u64,
    /// The frame's octets above the number of its hop.
    place: u64,
}

/// Bit of [`Frame::seq`] that marks a damaged frame. Sequence numbers of talkers do not reach this bit.
const DAMAGED: u64 = 1 << 63;

impl Frame {
    /// A frame at a hop.
    #[inline]
    pub fn new(seq: u64, hop: HopId, octets: u32) -> Self {
        Self { seq, place: u64::from(octets) << 32 | u64::from(hop.0) }
    }

    /// Index into [`crate::network::tables::Network::hops`], which contains the stream.
    #[inline]
    pub fn hop(&self) -> HopId {
        HopId(self.place as u32)
    }

    /// Octets from destination address to FCS.
    #[inline]
    pub fn octets(&self) -> u32 {
        (self.place >> 32) as u32
    }

    /// This frame at another hop.
    #[inline]
    pub fn at_hop(self, hop: HopId) -> Self {
        Self::new(self.seq, hop, self.octets())
    }

    /// Whether the frame is damaged; a cut-through node forwards it before it can check that.
    #[inline]
    pub fn is_damaged(&self) -> bool {
        self.seq & DAMAGED != 0
    }

    /// The talker's sequence number, also of a damaged frame.
    pub fn number(&self) -> u64 {
        self.seq & !DAMAGED
    }

    /// A copy of this frame with a wrong check sequence.
    pub fn damaged(self) -> Self {
        Self { seq: self.seq | DAMAGED, ..self }
    }
}

impl bridge::Frame for Frame {
    #[inline]
    fn octets(&self) -> Octets {
        Octets(Self::octets(self))
    }
}

/// The order of events at one instant.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    /// Frames arrive at a place where the order of arrival matters: member streams merge, filters match, bridges
    /// learn.
    Ingress = 0,
    /// Frames reach queues.
    Reach = 1,
    /// Ports choose among queues.
    Choose = 2,
    /// Clocks change, and PTP messages are handled.
    Timing = 3,
}

/// Number of bits of an [`Event`]'s order that count a node's events; the bits above them are the node.
const COUNTER_BITS: u32 = 40;
const NODE_BITS: u32 = 22;

/// Most nodes that the order of events has room for, besides the number that is none of theirs.
pub(crate) const MOST_NODES: usize = (1 << NODE_BITS) - 1;

/// The kind of an event of [`Phase::Reach`] or [`Phase::Ingress`] without a frame, stored instead of the frame's
/// sequence number.
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
    /// All kinds, in the order of their numbers.
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

/// A future event: two numbers of 128 bits, which are copied in registers.
///
/// Four fields would be written one by one and copied in pairs, and the processor would wait for each such copy.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Event {
    /// The time in ps, above phase, node and counter.
    key: u128,
    /// [`Frame::seq`] above [`Frame::place`]. For an event without a frame, its kind above the index of a stream or a
    /// port.
    content: u128,
}

/// The kinds of events.
#[derive(Copy, Clone, Debug)]
pub(crate) enum EventKind {
    /// A frame reaches the queue of its hop.
    Arrive(Frame),
    /// A frame arrives at a place where the order of arrival matters: see [`Phase::Ingress`].
    Ingress(Frame),
    /// A babbling talker releases one more data unit.
    Babble {
        /// The fault.
        fault: FaultId,
    },
    /// A fault of a node or a schedule begins or ends.
    Fault {
        /// The fault.
        fault: FaultId,
        /// Whether it begins.
        begins: bool,
    },
    /// A talker releases a data unit.
    Release {
        /// The talker's stream.
        stream: StreamId,
    },
    /// A frame reaches its queue before it is eligible.
    Hold {
        /// The number of the frame among those that [`crate::policing::state`] holds.
        number: u32,
    },
    /// A frame that waited in its queue becomes eligible.
    Eligible {
        /// The frame's number among those that [`crate::policing::state`] holds.
        number: u32,
    },
    /// An event in a host's software.
    Host {
        /// The number of the event in [`crate::hosts::state`].
        number: u32,
    },
    /// A port wakes up, as it requested.
    Wake {
        /// The port.
        port: PortId,
    },
    /// An event of clocks or PTP messages.
    Timing {
        /// The number of the event in [`crate::clocks::state`].
        number: u32,
    },
}

impl Event {
    /// The `counter`-th event of a node.
    #[inline]
    pub fn new(at: Instant, node: NodeId, counter: u64, kind: EventKind) -> Self {
        let frameless = |kind: Frameless, id: u32| (Phase::Reach, kind as u64, u64::from(id));
        let (phase, seq, place) = match kind {
            EventKind::Arrive(frame) => (Phase::Reach, frame.seq, frame.place),
            EventKind::Ingress(frame) => (Phase::Ingress, frame.seq, frame.place),
            EventKind::Release { stream } => frameless(Frameless::Release, stream.0),
            EventKind::Babble { fault } => frameless(Frameless::Babble, fault.0),
            EventKind::Fault { fault, begins: true } => frameless(Frameless::FaultBegins, fault.0),
            EventKind::Fault { fault, begins: false } => frameless(Frameless::FaultEnds, fault.0),
            EventKind::Hold { number } => frameless(Frameless::Hold, number),
            EventKind::Eligible { number } => frameless(Frameless::Eligible, number),
            EventKind::Host { number } => frameless(Frameless::Host, number),
            EventKind::Wake { port } => (Phase::Choose, 0, u64::from(port.0)),
            EventKind::Timing { number } => (Phase::Timing, 0, u64::from(number)),
        };
        let order = (phase as u64) << (COUNTER_BITS + NODE_BITS)
            | u64::from(node.0) << COUNTER_BITS
            | counter & ((1 << COUNTER_BITS) - 1);
        Self {
            key: u128::from(at.ps().cast_unsigned()) << 64 | u128::from(order),
            content: u128::from(seq) << 64 | u128::from(place),
        }
    }

    /// The instant of the event.
    #[inline]
    pub fn at(&self) -> Instant {
        Instant::from_ps(((self.key >> 64) as u64).cast_signed())
    }

    /// The number of the event's node.
    pub fn node(&self) -> u32 {
        (self.key as u64 >> COUNTER_BITS) as u32 & ((1 << NODE_BITS) - 1)
    }

    /// The total order as one number.
    #[inline]
    pub fn key(&self) -> u128 {
        self.key
    }

    /// Whether both events have the same phase, node and instant, so that only the counter orders them.
    #[inline]
    pub fn same_turn(&self, other: &Self) -> bool {
        self.key >> COUNTER_BITS == other.key >> COUNTER_BITS
    }

    /// The kind of the event.
    #[inline]
    pub fn kind(&self) -> EventKind {
        let phase = self.key as u64 >> (COUNTER_BITS + NODE_BITS);
        let frame = Frame { seq: (self.content >> 64) as u64, place: self.content as u64 };
        let id = frame.place as u32;
        if phase == Phase::Choose as u64 {
            EventKind::Wake { port: PortId(id) }
        } else if phase == Phase::Timing as u64 {
            EventKind::Timing { number: id }
        } else if frame.octets() > 0 {
            if phase == Phase::Reach as u64 { EventKind::Arrive(frame) } else { EventKind::Ingress(frame) }
        } else {
            // Most frameless events are releases, so they take no jump table.
            if frame.seq == Frameless::Release as u64 {
                return EventKind::Release { stream: StreamId(id) };
            }
            match Frameless::ALL[frame.seq as usize % Frameless::ALL.len()] {
                Frameless::Release => EventKind::Release { stream: StreamId(id) },
                Frameless::Babble => EventKind::Babble { fault: FaultId(id) },
                Frameless::FaultBegins => EventKind::Fault { fault: FaultId(id), begins: true },
                Frameless::FaultEnds => EventKind::Fault { fault: FaultId(id), begins: false },
                Frameless::Hold => EventKind::Hold { number: id },
                Frameless::Eligible => EventKind::Eligible { number: id },
                Frameless::Host => EventKind::Host { number: id },
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
        let frame = Frame::new(7, HopId(8), 64);
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
