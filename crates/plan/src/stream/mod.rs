//! Streams: talker, listeners, pattern, sizes, path and requirements.

mod priorities;
mod redundancy;
mod rewriting;
mod token_bucket;

pub use redundancy::{
    Active, Algorithm, Identification, LatentErrors, Merge, R_TAG_OCTETS, Recovery, Redundancy, Rewritten,
    Span,
};
pub use token_bucket::TokenBucket;

use crate::omitted::is_default;
use serde::{Deserialize, Serialize};

/// One stream: a talker's sequence of frames to one or more listeners.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// Unique; the flows of one scenario stream are `name.1`, `name.2`, ….
    pub name: String,
    /// The scenario stream that it belongs to.
    pub group: String,
    /// The talker's node.
    pub talker: u32,
    /// Priority code point, 0 to 7.
    pub pcp: u8,
    /// VLAN identifier, 1 to 4094; absent for untagged frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vid: Option<u16>,
    /// Destination MAC address.
    pub destination_mac: String,
    /// Destination IPv4 address.
    pub destination_ipv4: String,
    /// UDP source and destination port.
    pub udp_port: u16,
    /// Type of service of the IPv4 header.
    #[serde(default, skip_serializing_if = "is_default")]
    pub type_of_service: u8,
    /// The TRDP telegram that each frame carries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trdp: Option<Box<Trdp>>,
    /// The times of releases. For a stream that answers: the request's period, and the jitter of its own.
    pub pattern: Pattern,
    /// Whether its talker begins anywhere in its period: each run draws how much later than the pattern says, below one
    /// period. An answer has that of its request.
    #[serde(default, skip_serializing_if = "is_default")]
    pub any_phase: bool,
    /// The stream whose frames release its data units; absent if the talker has a timetable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<Answers>,
    /// The sizes of data units.
    pub size: Size,
    /// There is no release before this, in ns.
    pub start_ns: u64,
    /// There is no release at or after this, in ns.
    pub stop_ns: u64,
    /// The path, as a tree of egress ports.
    pub route: Vec<Route>,
    /// The part of the route that is not a tree: member streams, or a standby path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redundancy: Option<Box<crate::Redundancy>>,
    /// Where bridges flood its frames until they have learned the listener's port: more entries after those of
    /// `route`, which parents count first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flood: Vec<Route>,
    /// The talker's thread and socket, if the talker is a host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub socket: Option<Box<crate::Socket>>,
    /// The listeners.
    pub listeners: Vec<Destination>,
    /// The requirements.
    #[serde(default)]
    pub requirements: Requirements,
    /// The planned times of its frames, if the stream is scheduled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduled: Option<Box<Scheduled>>,
}

/// The request that a stream answers: one data unit for each frame of it that reaches the talker.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answers {
    /// The stream, of which the talker is a listener.
    pub stream: u32,
    /// From the last bit of the request, or its reception by the program of a host, to the release; ns.
    pub after_ns: u64,
}

/// TRDP process data or message data. IEC 61375-2-3, Annex A.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trdp {
    /// Communication identifier; 0 in a confirmation.
    pub com_id: u32,
    /// The purpose of the telegram.
    #[serde(default, skip_serializing_if = "is_default")]
    pub kind: TelegramKind,
    /// Of a request: the communication identifier of the reply.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reply_com_id: u32,
    /// Octets of the header: 40 (version 1), 20 or 16 (version 2, for TSN), 116 (message data).
    pub header_octets: u8,
    /// Octets of the data set, without the padding to a multiple of four.
    pub data_set_octets: u32,
    /// Time-out, ns: of the subscribers of process data, of the caller of a request, or of the replier that expects a
    /// confirmation. 0 for other message data.
    pub time_out_ns: u64,
    /// Of replies and errors of message data: below 0 an error, otherwise a value of the replier's own.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reply_status: i32,
    /// Topography counter of the Ethernet train backbone; 0 within a consist.
    #[serde(default, skip_serializing_if = "is_default")]
    pub etb_topo_count: u32,
    /// Topography counter of the operational train.
    #[serde(default, skip_serializing_if = "is_default")]
    pub op_trn_topo_count: u32,
    /// Service identifier.
    #[serde(default, skip_serializing_if = "is_default")]
    pub service_id: u32,
}

/// The kinds of telegrams.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TelegramKind {
    /// Sent in every cycle (`Pd`, or of version 2).
    #[default]
    Push,
    /// Requests a telegram (`Pr`).
    Request,
    /// Answers a request (`Pp`).
    Reply,
    /// Message data that has no reply (`Mn`).
    MessageNotify,
    /// Begins a session of message data: the caller expects a reply (`Mr`).
    MessageRequest,
    /// Answers a request of message data (`Mp`).
    MessageReply,
    /// Answers a request of message data; the replier expects a confirmation (`Mq`).
    MessageReplyQuery,
    /// Confirms a reply (`Mc`).
    MessageConfirm,
    /// Answers a request of message data with an error (`Me`).
    MessageError,
}

impl TelegramKind {
    /// Whether the telegram is message data.
    #[must_use]
    pub const fn is_message(self) -> bool {
        !matches!(self, Self::Push | Self::Request | Self::Reply)
    }

    /// The kind of the telegram that a telegram of message data answers; none for those that begin a session.
    #[must_use]
    pub const fn answers(self) -> Option<Self> {
        match self {
            Self::MessageReply | Self::MessageReplyQuery | Self::MessageError => Some(Self::MessageRequest),
            Self::MessageConfirm => Some(Self::MessageReplyQuery),
            Self::Push | Self::Request | Self::Reply | Self::MessageNotify | Self::MessageRequest => None,
        }
    }
}

impl Trdp {
    /// Octets of the UDP payload.
    #[must_use]
    pub const fn payload_octets(&self) -> u32 {
        (self.header_octets as u32).saturating_add(self.data_set_octets.next_multiple_of(4))
    }

    /// Octets of the longest data set; of message data in one datagram that is not fragmented.
    #[must_use]
    pub const fn longest(&self) -> u32 {
        match self.header_octets {
            40 => 1432,
            116 => 1356,
            _ => 1458,
        }
    }
}

/// The times that were planned for a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scheduled {
    /// By entry of the route: the first frame's first bit out, counted from its release, in ps. There is more than
    /// one after a merge point, as a frame may come by any of the paths.
    pub starts_ps: Vec<Vec<u64>>,
    /// Greatest deviation of a frame's time, earlier or later, by the difference between clocks; ps.
    #[serde(default, skip_serializing_if = "is_default")]
    pub margin_ps: u64,
    /// Entries of the route at which its frames wait, with an open gate, for earlier frames in the queue. If such an
    /// earlier frame is missing, its frames are earlier by its time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub behind: Vec<u32>,
}

/// One egress port of a stream's tree. Parents come before children; the first entries are the talker's own ports.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// The egress port.
    pub port: u32,
    /// The previous entry (index into the same list); none at the talker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<u32>,
}

/// A listener, and the entry of the route by which its frames arrive.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Destination {
    /// The node.
    pub node: u32,
    /// The last entry of the route.
    pub route: u32,
}

/// The times at which a talker releases its data units.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Pattern {
    /// The n-th data unit at `start_ns + offset_ns + n * period_ns`, plus a draw uniform in `[0, jitter_ns]`.
    Periodic {
        /// ns.
        period_ns: u64,
        /// ns.
        offset_ns: u64,
        /// ns; 0 for none.
        jitter_ns: u64,
    },
    /// Independent exponential gaps.
    Poisson {
        /// Mean gap in ps (finer than ns, so that a rate is exact).
        mean_interval_ps: u64,
    },
    /// There is always a frame ready: as fast as the port sends (iperf3 without `-b`).
    Saturating {
        /// Frames that the talker keeps in its port's queue.
        backlog: u32,
    },
    /// Single frames that conform to a token bucket, which is full at `start_ns`. The talker sends the most that it
    /// allows: the burst at once, then each frame as soon as the bucket has it.
    TokenBucket {
        /// What the bucket holds: octets on the link, with preamble and inter-frame gap.
        burst_octets: u64,
        /// How fast it fills: bit/s on the link, with preamble and inter-frame gap.
        rate_bps: u64,
    },
    /// A recording: `passes` times the same releases, a new pass every `cycle_ns` from `start_ns` on.
    Trace {
        /// Gaps from the begin of a pass to its first release, then from each release to the next, in ns.
        gaps_ns: Vec<u64>,
        /// Time from the begin of one pass to that of the next, in ns; not less than the sum of the gaps.
        cycle_ns: u64,
        /// Number of passes.
        passes: u32,
    },
}

/// The sizes of data units.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Size {
    /// Every data unit is one frame of this size.
    Frame {
        /// Octets from destination address to FCS, tag included.
        octets: u32,
    },
    /// Every data unit is drawn from this list, each entry equally likely, and cut into frames sent back to back.
    Units {
        /// Application octets, ascending.
        octets: Vec<u32>,
        /// Most application octets in one frame.
        most_per_frame: u32,
        /// Octets that each frame adds to its application octets (Ethernet, tag, IPv4, UDP, FCS).
        overhead: u32,
    },
    /// Every data unit is one frame, and the n-th has the n-th of these sizes; after the last one the list repeats.
    List {
        /// Octets from destination address to FCS, tag included.
        octets: Vec<u32>,
    },
}

/// The requirements of a stream at each of its listeners.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requirements {
    /// Highest delay, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ns: Option<u64>,
    /// Highest delay from the release, when the application hands a frame over, to its last bit at the listener, ns;
    /// it includes the wait in the talker's own port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release_delay_ns: Option<u64>,
    /// Delays that a share of the frames must not exceed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub delay_percentiles: Vec<Percentile>,
    /// Limits of jitter, each by its named kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jitter: Vec<Jitter>,
    /// Most frames lost on the path, in parts per million of those sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_ppm: Option<u64>,
    /// Least rate received, in bit/s of frames (destination address to FCS).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<u64>,
    /// Oldest that the newest value at a listener may become, ns: from its sending to the arrival of the next one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age_ns: Option<u64>,
    /// Longest time from one arrival to the next, ns: a subscriber's time-out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_out_ns: Option<u64>,
    /// Of a stream that answers: longest time from the sending of the first request of its chain to the arrival of the
    /// answer, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_trip_ns: Option<u64>,
    /// Failures that must lose no frame, each of these kinds alone; of each number of failures one at most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub survives: Vec<Survives>,
    /// Whether the worst case must also keep these limits: one run is not enough.
    #[serde(default, skip_serializing_if = "is_default")]
    pub worst_case: bool,
}

/// Links and nodes of which any few may fail at once, at any time, without the loss of a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Survives {
    /// How many of them fail at once.
    pub failures: u32,
    /// Links, each by one of its ports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<u32>,
    /// Nodes. The talker and the listener at which frames arrive never fail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<u32>,
}

/// A delay that a share of the frames must not exceed.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Percentile {
    /// The share, in parts per million: 999 000 for p99.9.
    pub share_ppm: u32,
    /// ns.
    pub delay_ns: u64,
}

/// A limit of one named kind of jitter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jitter {
    /// `delay-step-abs`, `deviation`, `spread` or `interval`; see the measures.
    pub kind: String,
    /// ns.
    pub limit_ns: u64,
}
