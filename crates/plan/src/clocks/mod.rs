//! The nodes' clocks, and gPTP, which synchronises them.

mod ptp;

pub use ptp::{Bmca, ClockFault, ClockQuality, Delay, Ieee1588, Servo};

use crate::omitted::is_default;
use serde::{Deserialize, Serialize};

/// Every node's clock; in a Plan without clocks all nodes have the same exact time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clocks {
    /// One for each of the Plan's nodes, in their order.
    pub nodes: Vec<NodeClock>,
    /// Interval at which every clock's error is recorded, in ns.
    pub record_ns: u64,
    /// The promise of the scenario: from the first release on, any two clocks differ by at most this, in ns. Clocks of
    /// transparent clocks' nodes are not meant. Bounds rely on it, and a run checks it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within_ns: Option<u64>,
    /// The synchronisation of the clocks; without it they run free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gptp: Option<Gptp>,
    /// Faults of the clocks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<ClockFault>,
}

impl Clocks {
    /// Whether a node's clock shows the common time: transparent clocks measure with oscillators that run free.
    #[must_use]
    pub fn keeps_time(&self, node: u32) -> bool {
        let transparent = self.gptp.iter().flat_map(|gptp| &gptp.ieee_1588).flat_map(|own| &own.transparent);
        !transparent.into_iter().any(|one| *one == node)
    }
}

/// One node's clock. Deviations are parts of 10^12, so that 1 ppm is 1 000 000 and 1 ps per second is 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeClock {
    /// The clock's time at the begin of the run, in ns.
    pub offset_ns: i64,
    /// Frequency deviation of the oscillator.
    pub deviation_ppt: i64,
    /// Later deviations, in order of time: a temperature step, a measured trace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// A random walk in addition to the deviations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wander: Option<Wander>,
    /// Ticks of the counter that PTP's timestamps are taken from, in ns: 8 for an I210.
    pub granularity_ns: u32,
    /// A PTP timestamp is late by a draw uniform in `[0, jitter_ns]`, as of a PHY.
    pub jitter_ns: u32,
}

/// A clock that shows true time, in ticks of 1 ns.
impl Default for NodeClock {
    fn default() -> Self {
        let changes = Vec::new();
        Self { offset_ns: 0, deviation_ppt: 0, changes, wander: None, granularity_ns: 1, jitter_ns: 0 }
    }
}

/// A change to another deviation.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// The time of the change, ns.
    pub at_ns: u64,
    /// Deviation from then on, parts of 10^12.
    pub deviation_ppt: i64,
}

/// A random walk of the frequency.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wander {
    /// Every step is uniform between minus and plus this, in parts of 10^12.
    pub most_ppt: u64,
    /// Time between steps, ns.
    pub every_ns: u64,
}

/// gPTP with configured roles, unless its last fields say otherwise. IEEE 802.1AS-2020.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gptp {
    /// The node whose time all follow; with an election, the grandmaster as long as there is no fault.
    pub grandmaster: u32,
    /// The port towards the grandmaster of every other node that follows it; its peer is the master port.
    pub slaves: Vec<u32>,
    /// Time between two Sync messages, ns.
    pub sync_interval_ns: u64,
    /// Time between two requests of a port for its link's delay, ns.
    pub pdelay_interval_ns: u64,
    /// Priority code point that decides the messages' traffic class at every port.
    pub pcp: u8,
    /// Greatest delay until software hands a message over, a uniform draw; ns.
    pub wakeup_ns: u64,
    /// IEEE 1588 instead of IEEE 802.1AS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ieee_1588: Option<Ieee1588>,
    /// Sync messages contain their own origin timestamp, and there is no Follow_Up.
    #[serde(default, skip_serializing_if = "is_default")]
    pub one_step: bool,
    /// Whether taps observe the messages.
    #[serde(default, skip_serializing_if = "is_default")]
    pub visible: bool,
    /// The servos' options; linuxptp's defaults without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servo: Option<Servo>,
    /// The election of the grandmaster and every port's role; without it they are configured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bmca: Option<Bmca>,
}
