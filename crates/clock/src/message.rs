//! The PTP messages that carry time, and the lengths of their frames.
//!
//! IEEE 802.1AS-2020, 10.6 and 11.4; IEEE 1588-2019, 13.

use crate::{PortIdentity, PriorityVector};
use tsn_units::{Duration, Free, Frequency, Instant, Local, Octets};

/// The rate offset of the grandmaster against a node, as messages carry it: in 2^-41 (`cumulativeScaledRateOffset`).
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct RateOffset(pub i32);

/// Bits between 2^-60 and 2^-41.
const SCALE: u32 = 19;
/// Most links between a grandmaster and an instance that an Announce can report.
const MAX_STEPS: usize = 255;

impl From<Frequency> for RateOffset {
    fn from(frequency: Frequency) -> Self {
        let scaled = frequency.units() >> SCALE;
        Self(scaled.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32)
    }
}

impl From<RateOffset> for Frequency {
    fn from(offset: RateOffset) -> Self {
        Self::from_units(i64::from(offset.0) << SCALE)
    }
}

/// The PTP profile of a network.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Profile {
    /// gPTP: bridges forward time. IEEE 802.1AS-2020.
    #[default]
    TimeAware,
    /// Ordinary, boundary and transparent clocks. IEEE 1588-2019.
    Ieee1588,
}

/// The time that a Sync, or its Follow_Up, carries.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Origin {
    /// The master's time when the Sync left it (`preciseOriginTimestamp`); in gPTP, the grandmaster's.
    pub time: Instant<Local>,
    /// Delay from there to the sender of this message (`correctionField`).
    pub correction: Duration,
    /// Rate offset of the grandmaster against the sender's oscillator; 0 outside gPTP.
    pub rate: RateOffset,
}

/// An Announce. IEEE 802.1AS-2020, 10.6.3; IEEE 1588-2019, 13.5.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Announce {
    /// The sender's grandmaster, and the sender's distance from it.
    pub vector: PriorityVector,
    /// Every instance on the path from the grandmaster, with the grandmaster and the sender (`pathTrace`).
    pub path: Vec<u32>,
}

/// A message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Message {
    /// A Sync; if it is two-step, its origin timestamp follows. IEEE 802.1AS-2020, 11.4.3.
    Sync {
        /// The sending port.
        source: PortIdentity,
        /// The sequence number.
        sequence: u16,
        /// One-step: the origin timestamp, written as the Sync leaves.
        origin: Option<Origin>,
    },
    /// IEEE 802.1AS-2020, 11.4.4.
    FollowUp {
        /// The sending port.
        source: PortIdentity,
        /// The sequence number of the Sync.
        sequence: u16,
        /// When the Sync left.
        origin: Origin,
    },
    /// IEEE 802.1AS-2020, 11.4.5.
    PdelayReq {
        /// The sequence number.
        sequence: u16,
    },
    /// IEEE 802.1AS-2020, 11.4.6.
    PdelayResp {
        /// The sequence number of the request.
        sequence: u16,
        /// When the request arrived (t2).
        received: Instant<Free>,
    },
    /// IEEE 802.1AS-2020, 11.4.7.
    PdelayRespFollowUp {
        /// The sequence number of the request.
        sequence: u16,
        /// When the response left (t3).
        sent: Instant<Free>,
    },
    /// IEEE 1588-2019, 11.3: from slave to master.
    DelayReq {
        /// The sending port.
        source: PortIdentity,
        /// The sequence number.
        sequence: u16,
    },
    /// The response of the master to a slave's request.
    DelayResp {
        /// The port that sent the request.
        to: PortIdentity,
        /// The sequence number of the request.
        sequence: u16,
        /// When the request arrived (t4).
        received: Instant<Local>,
        /// The residence time of the request in transparent clocks.
        correction: Duration,
    },
    /// An Announce of a grandmaster.
    Announce(Box<Announce>),
}

/// The names of the kinds of messages, as taps use them.
pub const KINDS: [&str; 8] = [
    "sync",
    "follow-up",
    "pdelay-req",
    "pdelay-resp",
    "pdelay-resp-follow-up",
    "delay-req",
    "delay-resp",
    "announce",
];

impl Message {
    /// Whether the message is an event message, with timestamps at both ends.
    #[must_use]
    pub fn is_event(&self) -> bool {
        matches!(
            self,
            Self::Sync { .. } | Self::PdelayReq { .. } | Self::PdelayResp { .. } | Self::DelayReq { .. }
        )
    }

    /// The index of the message's kind in [`KINDS`].
    #[must_use]
    pub fn kind(&self) -> usize {
        match self {
            Self::Sync { .. } => 0,
            Self::FollowUp { .. } => 1,
            Self::PdelayReq { .. } => 2,
            Self::PdelayResp { .. } => 3,
            Self::PdelayRespFollowUp { .. } => 4,
            Self::DelayReq { .. } => 5,
            Self::DelayResp { .. } => 6,
            Self::Announce(_) => 7,
        }
    }

    /// The octets of the untagged frame, destination address to FCS: header and body, 18 octets of Ethernet, padding.
    #[must_use]
    pub fn frame(&self, profile: Profile) -> Octets {
        let gptp = profile == Profile::TimeAware;
        Octets(match self {
            // 44 octets and the Follow_Up information TLV of 32.
            Self::Sync { origin: Some(_), .. } | Self::FollowUp { .. } if gptp => 94,
            Self::Sync { .. } | Self::FollowUp { .. } | Self::DelayReq { .. } => 64,
            // 34 of header, 20 of body.
            Self::PdelayReq { .. }
            | Self::PdelayResp { .. }
            | Self::PdelayRespFollowUp { .. }
            | Self::DelayResp { .. } => 72,
            // 64 octets and the path trace TLV.
            Self::Announce(announce) => 86 + 8 * announce.path.len().min(MAX_STEPS / 2) as u32,
        })
    }
}
