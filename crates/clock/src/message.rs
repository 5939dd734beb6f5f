//! The messages of PTP as far as they carry time, and how long their frames are.
//!
//! IEEE 802.1AS-2020, 10.6 and 11.4; IEEE 1588-2019, 13.

use crate::{PortIdentity, PriorityVector};
use tsn_units::{Duration, Free, Frequency, Instant, Local, Octets};

/// How much faster the grandmaster runs than a node, as messages carry it: in 2^-41 (`cumulativeScaledRateOffset`).
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct RateOffset(pub i32);

/// Bits between 2^-60 and 2^-41.
const SCALE: u32 = 19;
/// Most links between a grandmaster and who follows it that an Announce tells of.
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
    /// gPTP: bridges pass time on. IEEE 802.1AS-2020.
    #[default]
    TimeAware,
    /// Ordinary, boundary and transparent clocks. IEEE 1588-2019.
    Ieee1588,
}

/// The time that a Sync, or its Follow_Up, carries.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Origin {
    /// The master's time when the Sync left it (`preciseOriginTimestamp`): gPTP's grandmaster's.
    pub time: Instant<Local>,
    /// How much later it left the sender of this (`correctionField`).
    pub correction: Duration,
    /// How much faster than the sender's oscillator the grandmaster runs; 0 outside gPTP.
    pub rate: RateOffset,
}

/// An Announce. IEEE 802.1AS-2020, 10.6.3; IEEE 1588-2019, 13.5.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Announce {
    /// The sender's grandmaster, and how far it is from there.
    pub vector: PriorityVector,
    /// Every instance on the way from the grandmaster, its own and the sender's included (`pathTrace`).
    pub path: Vec<u32>,
}

/// A message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Message {
    /// Two-step: its time of sending follows. IEEE 802.1AS-2020, 11.4.3.
    Sync {
        /// Whose.
        source: PortIdentity,
        /// Which.
        sequence: u16,
        /// One-step: its time, written as it leaves.
        origin: Option<Origin>,
    },
    /// IEEE 802.1AS-2020, 11.4.4.
    FollowUp {
        /// Whose.
        source: PortIdentity,
        /// Of the Sync.
        sequence: u16,
        /// When the Sync left.
        origin: Origin,
    },
    /// IEEE 802.1AS-2020, 11.4.5.
    PdelayReq {
        /// Which.
        sequence: u16,
    },
    /// IEEE 802.1AS-2020, 11.4.6.
    PdelayResp {
        /// Of the request.
        sequence: u16,
        /// When the request arrived (t2).
        received: Instant<Free>,
    },
    /// IEEE 802.1AS-2020, 11.4.7.
    PdelayRespFollowUp {
        /// Of the request.
        sequence: u16,
        /// When the response left (t3).
        sent: Instant<Free>,
    },
    /// IEEE 1588-2019, 11.3: from slave to master.
    DelayReq {
        /// Whose.
        source: PortIdentity,
        /// Which.
        sequence: u16,
    },
    /// From master to slave.
    DelayResp {
        /// Whose request this answers.
        to: PortIdentity,
        /// Of the request.
        sequence: u16,
        /// When the request arrived (t4).
        received: Instant<Local>,
        /// How long transparent clocks held the request.
        correction: Duration,
    },
    /// How good a grandmaster is known.
    Announce(Box<Announce>),
}

/// What kind of message one is, by the names that taps give them.
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
    /// Whether its passing of the timestamp point is noted at both ends.
    #[must_use]
    pub fn is_event(&self) -> bool {
        matches!(
            self,
            Self::Sync { .. } | Self::PdelayReq { .. } | Self::PdelayResp { .. } | Self::DelayReq { .. }
        )
    }

    /// Its place in [`KINDS`].
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

    /// The untagged frame, destination address to FCS: header and body, 18 octets of Ethernet, padding.
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
