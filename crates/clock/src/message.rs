//! The messages of gPTP as far as they carry time, and how long their frames are.
//!
//! IEEE 802.1AS-2020, 11.4.

use tsn_units::{Duration, Free, Frequency, Instant, Local, Octets};

/// How much faster the grandmaster runs than a node, as messages carry it: in 2^-41 (`cumulativeScaledRateOffset`).
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct RateOffset(pub i32);

/// Bits between 2^-60 and 2^-41.
const SCALE: u32 = 19;

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

/// A message.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Message {
    /// Its time of sending follows. IEEE 802.1AS-2020, 11.4.3.
    Sync {
        /// Which.
        sequence: u16,
    },
    /// IEEE 802.1AS-2020, 11.4.4.
    FollowUp {
        /// Of the Sync.
        sequence: u16,
        /// The grandmaster's time when the Sync left it (`preciseOriginTimestamp`).
        origin: Instant<Local>,
        /// How much later, in the grandmaster's time, it left the sender of this (`correctionField`).
        correction: Duration,
        /// How much faster than the sender's oscillator the grandmaster runs.
        rate: RateOffset,
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
}

impl Message {
    /// Whether its passing of the timestamp point is noted at both ends.
    #[must_use]
    pub fn is_event(&self) -> bool {
        matches!(self, Self::Sync { .. } | Self::PdelayReq { .. } | Self::PdelayResp { .. })
    }

    /// The untagged frame, destination address to FCS: header and body, 18 octets of Ethernet, padding.
    #[must_use]
    pub fn frame(&self) -> Octets {
        Octets(match self {
            Self::Sync { .. } => 64,
            // 44 octets and the Follow_Up information TLV of 32.
            Self::FollowUp { .. } => 94,
            // 34 of header, 20 of body.
            Self::PdelayReq { .. } | Self::PdelayResp { .. } | Self::PdelayRespFollowUp { .. } => 72,
        })
    }
}
