//! Policing of received frames in a node: filters, stream gates, flow meters, ATS schedulers, regenerated priorities.
//!
//! IEEE 802.1Q-2022, 6.9.4, 8.6.5 and 8.6.10 to 8.6.11.

use crate::omitted::is_default;
use serde::{Deserialize, Serialize};

/// One node's tables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policing {
    /// The node.
    pub node: u32,
    /// Stream filters in their order: only the first one that a frame matches applies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<StreamFilter>,
    /// Stream gates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<StreamGate>,
    /// Flow meters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub meters: Vec<FlowMeter>,
    /// ATS schedulers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schedulers: Vec<AtsScheduler>,
    /// ATS scheduler groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<AtsGroup>,
    /// Ports whose received priorities are regenerated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub regeneration: Vec<Regeneration>,
}

/// A stream filter. IEEE 802.1Q-2022, 8.6.5.3.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamFilter {
    /// The name of the filter in counters.
    pub name: String,
    /// Ports of the node that receive the frames; none: any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<u32>,
    /// The streams whose frames match; none: any (the wildcard).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<u32>,
    /// The priority that a frame must have, as regenerated; none: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// Maximum size of service data units, from a frame's type to its FCS, in octets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_sdu_octets: Option<u32>,
    /// Whether no frame passes any more after a longer one (`StreamBlockedDueToOversizeFrame`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub block_oversize: bool,
    /// Index into [`Policing::gates`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<u32>,
    /// Index into [`Policing::meters`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meter: Option<u32>,
    /// Index into [`Policing::schedulers`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<u32>,
}

/// A stream gate and its list, on the node's own clock. IEEE 802.1Q-2022, 8.6.5.4 and 8.6.10.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamGate {
    /// The begin of a cycle, ns; cycles extend to before it.
    pub base_time_ns: i64,
    /// Sum of all intervals, ns.
    pub cycle_ns: u64,
    /// The list.
    pub entries: Vec<StreamGateEntry>,
    /// Whether a frame that finds the gate closed closes it for ever (`GateClosedDueToInvalidRx`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub close_on_invalid_rx: bool,
    /// Whether a frame that exceeds an interval's octets closes the gate for ever (`GateClosedDueToOctetsExceeded`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub close_on_octets_exceeded: bool,
}

/// One entry of a stream gate's list.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StreamGateEntry {
    /// Whether frames pass.
    pub open: bool,
    /// Internal priority value, which chooses the queue instead of the frame's priority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ipv: Option<u8>,
    /// Duration of the entry, ns.
    pub interval_ns: u64,
    /// Most octets of service data units that pass in one interval (`IntervalOctetMax`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub octets_max: Option<u64>,
}

/// A flow meter: two rates, three colours. IEEE 802.1Q-2022, 8.6.5.5; MEF 10.3, 12.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowMeter {
    /// Committed information rate, bit/s of frames (destination address to FCS).
    pub cir_bps: u64,
    /// Committed burst size, octets.
    pub cbs_octets: u64,
    /// Excess information rate, bit/s.
    pub eir_bps: u64,
    /// Excess burst size, octets.
    pub ebs_octets: u64,
    /// Coupling flag: committed tokens without room go to the excess bucket.
    #[serde(default, skip_serializing_if = "is_default")]
    pub coupling: bool,
    /// Colour mode: frames that an earlier meter has marked yellow use no committed tokens.
    #[serde(default, skip_serializing_if = "is_default")]
    pub color_aware: bool,
    /// `DropOnYellow`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub drop_on_yellow: bool,
    /// Whether all frames after a red one are red (`MarkAllFramesRedEnable`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub mark_all_frames_red: bool,
}

/// An ATS scheduler. IEEE 802.1Q-2022, 8.6.5.6 and 8.6.11.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AtsScheduler {
    /// `CommittedInformationRate`, bit/s on the wire, preamble to inter-frame gap.
    pub cir_bps: u64,
    /// `CommittedBurstSize`, bit.
    pub cbs_bits: u64,
    /// Index into [`Policing::groups`].
    pub group: u32,
}

/// Schedulers that share one group eligibility time. IEEE 802.1Q-2022, 8.6.11.3.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AtsGroup {
    /// The name of the group in counters.
    pub name: String,
    /// `MaximumResidenceTime`, ns: a frame that would wait longer is dropped.
    pub max_residence_ns: u64,
}

/// One port's priority regeneration table. IEEE 802.1Q-2022, 6.9.4.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Regeneration {
    /// The port that receives the frames.
    pub port: u32,
    /// Received priority to regenerated priority.
    pub pcp: [u8; 8],
}

impl Policing {
    /// The filter that frames of a stream match, if any.
    #[must_use]
    pub fn matching(&self, port: u32, stream: u32, priority: u8) -> Option<usize> {
        let any = |list: &[u32], one: u32| list.is_empty() || list.contains(&one);
        self.filters.iter().position(|filter| {
            any(&filter.ports, port)
                && any(&filter.streams, stream)
                && filter.priority.is_none_or(|own| own == priority)
        })
    }
}
