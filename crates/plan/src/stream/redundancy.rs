//! A stream with more than one path: member streams and their elimination, or a standby path.
//!
//! IEEE 802.1CB-2017, 6 and 7.

use crate::omitted::is_default;
use serde::{Deserialize, Serialize};

/// Octets that a redundancy tag adds to a frame. IEEE 802.1CB-2017, 7.8.
pub const R_TAG_OCTETS: u32 = 6;

/// The part of a stream's route that is not a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Redundancy {
    /// Per route entry: 0 for the plain frame, n for the n-th member stream. Frames of member streams carry an R-TAG;
    /// it is added where a plain entry (or the talker) leads to member streams, and removed where they merge.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<u8>,
    /// Merge points.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merges: Vec<Merge>,
    /// Entries that forward only at some times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub active: Vec<Active>,
    /// The elimination where paths merge; without it, all frames are forwarded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Recovery>,
}

/// Several route entries that end at one node and continue as one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Merge {
    /// The entries. The entries after the first one follow all of them; the others have no following entries of their
    /// own.
    pub from: Vec<u32>,
}

/// The times at which a route entry forwards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Active {
    /// The entry.
    pub route: u32,
    /// Spans, ascending and disjoint; each includes its first instant and excludes its last.
    pub spans: Vec<Span>,
}

/// A span from one instant until just before another.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Span {
    /// ns.
    pub from_ns: u64,
    /// ns.
    pub until_ns: u64,
}

/// Sequence recovery. IEEE 802.1CB-2017, 7.4.2 and 7.4.3.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recovery {
    /// How frames of the stream are identified.
    pub identification: Identification,
    /// The recovery algorithm.
    pub algorithm: Algorithm,
    /// Time without an accepted frame after which any sequence number is accepted (`frerSeqRcvyResetMSec`), ns.
    pub reset_ns: u64,
    /// Whether each member stream has a recovery function of its own before they meet.
    #[serde(default, skip_serializing_if = "is_default")]
    pub individual: bool,
    /// Latent error detection, if it is enabled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latent: Option<LatentErrors>,
}

/// A stream identification function. IEEE 802.1CB-2017, 6.4 to 6.7.
///
/// A simulated frame contains its stream, so all functions have the same effect; a Plan names the function for
/// backends with real frames. Active identification changes frames' fields and queues.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Identification {
    /// Destination address and VLAN.
    Null,
    /// Source address and VLAN.
    SourceMac,
    /// Destination address, VLAN, addresses and ports of IP.
    Ip,
    /// Destination address and VLAN, which differ while frames carry an R-TAG. IEEE 802.1CB-2017, 6.6.
    Active(Rewritten),
}

/// The fields of member streams that replace the stream's own, from where they are made to where they merge for the
/// last time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rewritten {
    /// Destination MAC address.
    pub destination_mac: String,
    /// VLAN identifier, 1 to 4094.
    pub vid: u16,
    /// Priority code point, 0 to 7.
    pub pcp: u8,
}

/// The algorithm that decides whether a sequence number was received before.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Algorithm {
    /// The last `history` numbers. IEEE 802.1CB-2017, 7.4.3.4.
    Vector {
        /// `frerSeqRcvyHistoryLength`.
        history: u32,
    },
    /// The last number only. IEEE 802.1CB-2017, 7.4.3.5.
    Match,
}

/// Latent error detection. IEEE 802.1CB-2017, 7.4.4.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatentErrors {
    /// Interval of tests (`frerSeqRcvyLatentErrorPeriod`), ns.
    pub period_ns: u64,
    /// Interval of resets (`frerSeqRcvyLatentResetPeriod`), ns.
    pub reset_ns: u64,
    /// Frames that may be missing without an alarm (`frerSeqRcvyLatentErrorDifference`).
    pub difference: u64,
}
