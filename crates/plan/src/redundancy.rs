//! A stream that has more than one path: copies and their elimination, or a path that stands by.
//!
//! IEEE 802.1CB-2017, 6 and 7.

use serde::{Deserialize, Serialize};

/// Octets that a redundancy tag adds to a frame. IEEE 802.1CB-2017, 7.8.
pub const R_TAG_OCTETS: u32 = 6;

/// What makes a stream's route more than a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Redundancy {
    /// Per route entry: 0 for the plain frame, n for the n-th copy. Copies carry an R-TAG; it is put on where a
    /// plain entry (or the talker) leads to copies, and taken off where they meet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<u8>,
    /// Where paths meet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merges: Vec<Merge>,
    /// Entries that forward at some times only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub active: Vec<Active>,
    /// What eliminates copies where paths meet; without it, whatever comes goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Recovery>,
}

/// Several route entries that end at one node and go on as one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Merge {
    /// The entries. What follows the first one follows all; the others lead nowhere on their own.
    pub from: Vec<u32>,
}

/// When a route entry forwards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Active {
    /// The entry.
    pub route: u32,
    /// Times, ascending and apart; each includes its first instant and not its last.
    pub spans: Vec<Span>,
}

/// From one instant until just before another.
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
    /// How frames are known to belong to the stream.
    pub identification: Identification,
    /// Which sequence numbers count as seen.
    pub algorithm: Algorithm,
    /// Without a frame accepted for so long, any sequence number is taken next (`frerSeqRcvyResetMSec`), ns.
    pub reset_ns: u64,
    /// Whether each member stream has a recovery function of its own before they meet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub individual: bool,
    /// Latent error detection, where it is on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latent: Option<LatentErrors>,
}

/// A stream identification function. IEEE 802.1CB-2017, 6.4 to 6.7.
///
/// A simulated frame knows its stream, so all identify alike; a Plan names the function for backends with real frames.
/// Active identification changes what frames show and how they are queued.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Identification {
    /// Destination address and VLAN.
    Null,
    /// Source address and VLAN.
    SourceMac,
    /// Destination address, VLAN, addresses and ports of IP.
    Ip,
    /// Destination address and VLAN, which are others while frames carry an R-TAG. IEEE 802.1CB-2017, 6.6.
    Active(Rewritten),
}

/// What copies show in place of their stream's own, from where they are made to where they meet for the last time.
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

/// Which sequence numbers count as seen.
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
    /// Between tests (`frerSeqRcvyLatentErrorPeriod`), ns.
    pub period_ns: u64,
    /// Between resets (`frerSeqRcvyLatentResetPeriod`), ns.
    pub reset_ns: u64,
    /// Frames that may be missing without an alarm (`frerSeqRcvyLatentErrorDifference`).
    pub difference: u64,
}
