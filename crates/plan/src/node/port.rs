//! Nodes, ports, and the shaping of a port's traffic.

use super::cbs::Cbs;
use super::gates::Gates;
use crate::omitted::is_default;
use serde::{Deserialize, Serialize};

/// A node of the network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Its name in the scenario.
    pub name: String,
    /// The kind of the node.
    pub kind: NodeKind,
    /// Time from a frame's last bit in to the egress queue, in ns; under cut-through, from the octet at which
    /// forwarding is decided.
    pub processing_ns: u64,
    /// Its IPv4 address, dotted.
    pub ipv4: String,
    /// Cut-through: a longer frame goes to its egress queue once this many octets have arrived (FlexTest Fig. 7).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_through_octets: Option<u32>,
    /// The processing time beyond `processing_ns`, if it differs from frame to frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub further: Option<crate::Further>,
    /// Memory that its ports share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<crate::Buffer>,
    /// The learning of a bridge; nodes without it know every address from the begin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learning: Option<crate::Learning>,
    /// The latencies of the node's software; without them they are zero, as in hardware.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<Box<crate::Host>>,
}

/// The kind of a node.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NodeKind {
    /// An end station: talks and listens.
    #[default]
    Station,
    /// A bridge: forwards.
    Bridge,
    /// A node that talks, listens and forwards, as EnGINE's zonal gateways do.
    Host,
}

/// One port: the egress of one node towards one peer, and the ingress back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Port {
    /// `zgw1 -> zgw2`; parallel links are numbered: `node4 -> dut #2`.
    pub name: String,
    /// The node it belongs to.
    pub node: u32,
    /// The port at the other end of the link.
    pub peer: u32,
    /// Its MAC address, `02:…`.
    pub mac: String,
    /// Egress rate in bit/s.
    pub rate_bps: u64,
    /// Propagation delay from this port to its peer, in ps.
    pub propagation_ps: u64,
    /// Priority code point to traffic class. IEEE 802.1Q-2022, 8.6.6.
    pub pcp_to_class: [u8; 8],
    /// Traffic classes, lowest first: a higher index is sent first. IEEE 802.1Q-2022, 8.6.8.1.
    pub classes: Vec<Class>,
    /// Scheduled traffic, where the port has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gates: Option<Gates>,
    /// Frame pre-emption, where the port has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preemption: Option<Preemption>,
    /// A rate-latency server, in place of strict priority: the port has one class then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<Server>,
    /// Frames of the transmit buffer, with the one that is sent: 2 or more. Frames that transmission selection has
    /// chosen wait there in their order, out of the reach of priorities, gates and shapers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transmit_buffer: Option<u32>,
    /// The kernel's queueing disciplines before the hardware, if the node is a host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qdisc: Option<Box<crate::Qdisc>>,
}

/// The express classes, which interrupt the others. IEEE 802.1Q-2022, 6.7.2; IEEE 802.3-2022, clause 99.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preemption {
    /// Bit n set: traffic class n is express; the others are preemptable.
    pub express: u8,
    /// How long before a gate entry that holds preemptable frames the hold is requested, in ns (`holdAdvance`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub hold_advance_ns: u64,
    /// How long before a gate entry that releases them the release is requested, in ns (`releaseAdvance`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub release_advance_ns: u64,
}

/// A server that gives its queue at least `rate (t - latency)` of service within any time t in which frames wait.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// How fast frames are served, bit/s on the link, with preamble and inter-frame gap; at most the rate of the port.
    pub rate_bps: u64,
    /// From a frame's arrival to its service, if no other frame is before it; ns.
    pub latency_ns: u64,
}

impl Port {
    /// Whether frames of a priority may be interrupted when they leave this port.
    #[must_use]
    pub fn interrupts(&self, pcp: u8) -> bool {
        let class = self.pcp_to_class[usize::from(pcp & 7)];
        self.preemption.as_ref().is_some_and(|own| own.express >> (class & 7) & 1 == 0)
    }
}

/// One traffic class of a port: a queue and its transmission selection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// Most frames that wait here; one more is dropped and counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_frames: Option<u32>,
    /// Most octets that wait here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_octets: Option<u64>,
    /// The credit-based shaper, if the class has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cbs: Option<Cbs>,
    /// Maximum service data unit of the class, in octets (`queueMaxSDU`): a frame without 14 octets of header, 4 of a
    /// VLAN tag and 4 of FCS. A larger frame is dropped and counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_sdu_octets: Option<u32>,
    /// The longest time in the queue, ns: a frame whose transmission has not begun so long after its arrival is dropped
    /// and counted. IEEE 802.1Q-2022, 6.5.6 and 8.6.7.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_wait_ns: Option<u64>,
}
