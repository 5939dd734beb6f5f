//! Passages: one frame through one port, with every instant that its way through the node has.

/// One frame at one port, from its arrival at the port's node to its arrival at the next one. True time, in whole ns.
///
/// The instants are in this order: `came`, `qdisc`, `handed`, `loaded`, `queued`, `eligible`, `start`, `end`, `arrived`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Number of the passage among those of the run, in the order in which the simulator learns of them.
    pub number: u64,
    /// The passage by which the frame reached this node; `None` at its talker.
    pub before: Option<u64>,
    /// Egress port: its number in the Plan.
    pub port: u32,
    /// Stream: its number in the Plan; the number after the last one stands for PTP messages.
    pub stream: u32,
    /// Sequence number of the talker, from 0.
    pub seq: u64,
    /// Number of the member stream (FRER), from 1; 0 if the stream is not replicated.
    pub copy: u8,
    /// Octets from destination address to FCS.
    pub octets: u32,
    /// Traffic class at the port.
    pub class: u8,
    /// The talker handed the frame over, or the node had received what it needs to forward it: the last bit, or, where
    /// it cuts through, the octets of its decision.
    pub came_ns: i64,
    /// The frame reached a queueing discipline of a host's software.
    pub qdisc_ns: Option<i64>,
    /// The queueing discipline handed the frame to the driver.
    pub handed_ns: Option<i64>,
    /// The driver had loaded the frame into the hardware, which may wait for its launch time.
    pub loaded_ns: Option<i64>,
    /// The frame was in the queue of its class.
    pub queued_ns: i64,
    /// Transmission selection could select the frame: when it was queued, or at the eligibility time of ATS.
    pub eligible_ns: i64,
    /// The first bit of the preamble left.
    pub start_ns: i64,
    /// The last bit left.
    pub end_ns: i64,
    /// The last bit reached the next node; `None` if the frame was lost or damaged, or at the end of the run.
    pub arrived_ns: Option<i64>,
    /// Whether the next node received the frame: no filter dropped it, and sequence recovery did not eliminate it.
    pub accepted: bool,
    /// What the clock of this node showed when the frame passed the timestamp point, behind the start frame delimiter.
    pub sent_clock_ns: i64,
    /// What the clock of the next node showed when the last bit arrived.
    pub arrived_clock_ns: Option<i64>,
}

/// One mPacket of a frame that express frames interrupted. IEEE 802.3-2022, clause 99. True time, in whole ns.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Number of the passage.
    pub passage: u64,
    /// The first bit of its preamble.
    pub start_ns: i64,
    /// The last bit of its check sequence.
    pub end_ns: i64,
}

/// A frame that a port dropped because it had waited for the longest time of its queue. IEEE 802.1Q-2022, 8.6.7. True
/// time, in whole ns.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Expired {
    /// Egress port: its number in the Plan.
    pub port: u32,
    /// Stream: its number in the Plan; the number after the last one stands for PTP messages.
    pub stream: u32,
    /// Sequence number of the talker, from 0.
    pub seq: u64,
    /// The frame was in the queue of its class.
    pub queued_ns: i64,
    /// The port dropped it.
    pub dropped_ns: i64,
}

/// The clock of one node from an instant on, until its next line: a linear function of true time.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ClockLine {
    /// Index of the node in the Plan.
    pub node: u32,
    /// The instant in true time.
    pub from_ps: i64,
    /// What the clock shows then.
    pub shows_ps: i64,
    /// How much faster than true time it runs, in 2^-60.
    pub frequency: i64,
}
