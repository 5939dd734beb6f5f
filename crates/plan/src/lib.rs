//! The Plan: the one document that every backend obeys.
//!
//! Everything before it is for people, everything after it for machines. Nothing is left to decide in a Plan:
//! two Plans with the same hash are the same experiment. Integers only: nanoseconds, octets, bit/s (and
//! picoseconds for propagation, because a cable can be shorter than a nanosecond).
//!
//! References between parts are indices into the Plan's own lists; [`Plan::read`] proves that they hold.

mod bridging;
mod check;
mod check_bridging;
mod check_clocks;
mod check_fault;
mod check_gates;
mod check_host;
mod check_learning;
mod check_policing;
mod check_ptp;
mod check_redundancy;
mod check_scheduled;
mod check_together;
mod check_trace;
mod clocks;
mod fault;
mod forwarding;
mod gates;
mod host;
mod learning;
mod policing;
mod port;
mod ptp;
mod read;
mod redundancy;
mod rewriting;
mod stream;

pub use bridging::{Buffer, Further};
pub use clocks::{Change, Clocks, Gptp, NodeClock, Wander};
pub use fault::{Fault, LossModel};
pub use gates::{GateChange, GateEntry, GateList, Gates, IdleSlope, MacOperation};
pub use host::{ChildQdisc, Distribution, Host, Qdisc, Socket, Taprio, TaprioMode};
pub use learning::Learning;
pub use policing::{
    AtsGroup, AtsScheduler, FlowMeter, Policing, Regeneration, StreamFilter, StreamGate, StreamGateEntry,
};
pub use port::{Cbs, CbsLinux, Class, Node, NodeKind, Port, Preemption};
pub use ptp::{Bmca, ClockFault, ClockQuality, Delay, Ieee1588, Servo};
pub use read::{PlanError, content_hash};
pub use redundancy::{
    Active, Algorithm, Identification, LatentErrors, Merge, R_TAG_OCTETS, Recovery, Redundancy, Rewritten,
    Span,
};
pub use stream::{Destination, Jitter, Pattern, Percentile, Requirements, Route, Scheduled, Size, Stream};

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The format that this version reads and writes.
pub const FORMAT: &str = "tsnbench-plan/1";

/// A whole experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// [`FORMAT`].
    pub format: String,
    /// The scenario's name.
    pub name: String,
    /// Which run of a sweep this is: parameter name to value, as written.
    #[serde(default)]
    pub variant: BTreeMap<String, String>,
    /// Seed of all randomness; a draw is addressed by seed and name.
    pub seed: u64,
    /// How long talkers talk, in ns. What is under way then is still delivered (see `drain_ns`).
    pub duration_ns: u64,
    /// How long after `duration_ns` frames under way may still arrive, in ns.
    pub drain_ns: u64,
    /// Every node; ports refer to nodes by their place here.
    pub nodes: Vec<Node>,
    /// Every port: one egress and one ingress each; a link is a pair of ports that are each other's peer.
    pub ports: Vec<Port>,
    /// Every stream: one talker, one sequence of frames.
    pub streams: Vec<Stream>,
    /// What goes wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
    /// What nodes do with frames as they come in; one entry for each node that does something.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policing: Vec<Policing>,
    /// Where frames are sighted.
    pub taps: Vec<Tap>,
    /// The nodes' clocks; without them all nodes share one perfect time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clocks: Option<Clocks>,
    /// SHA-256 of the Plan's canonical JSON without this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
}

/// A place where frames are sighted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tap {
    /// How observations call it: `zgw1 -> zgw2 tx`.
    pub name: String,
    /// The port: index into [`Plan::ports`].
    pub port: u32,
    /// What is sighted there.
    pub stage: Stage,
    /// Which point of the frame the timestamp means.
    pub point: Point,
    /// Ticks of the timestamp, in ns: 1, or 8 for an I210.
    pub granularity_ns: u32,
}

/// A stage on a frame's way (OCORA Fig. 9).
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// The instant for which the talker's timer is set. This and what else is not `send`, `tx` or `rx`: hosts only.
    IntervalStart,
    /// The talker's thread runs.
    Wakeup,
    /// The talker hands the frame to its port's queue; on a host, to its socket.
    Send,
    /// The frame is handed to the queueing discipline (`SOF_TIMESTAMPING_TX_SCHED`).
    Qdisc,
    /// The frame is handed to the driver (`SOF_TIMESTAMPING_TX_SOFTWARE`): where a capture on the sender sees it.
    Driver,
    /// The frame leaves the port.
    Tx,
    /// The frame arrives at the port.
    Rx,
    /// The kernel has the frame (`SOF_TIMESTAMPING_RX_SOFTWARE`).
    KernelRx,
    /// The listener's program has the frame.
    AppRx,
}

impl Stage {
    /// All of them, in the order in which a frame passes.
    pub const ALL: [Self; 9] = [
        Self::IntervalStart,
        Self::Wakeup,
        Self::Send,
        Self::Qdisc,
        Self::Driver,
        Self::Tx,
        Self::Rx,
        Self::KernelRx,
        Self::AppRx,
    ];

    /// As the Plan spells it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::IntervalStart => "interval-start",
            Self::Wakeup => "wakeup",
            Self::Send => "send",
            Self::Qdisc => "qdisc",
            Self::Driver => "driver",
            Self::Tx => "tx",
            Self::Rx => "rx",
            Self::KernelRx => "kernel-rx",
            Self::AppRx => "app-rx",
        }
    }

    /// Whether it is on the way into a port, not out of it.
    #[must_use]
    pub const fn is_inbound(self) -> bool {
        matches!(self, Self::Rx | Self::KernelRx | Self::AppRx)
    }
}

/// Which point of the frame a `tx` or `rx` timestamp means.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Point {
    /// The message timestamp point: the first bit after the start frame delimiter. What hardware stamps.
    /// IEEE 802.3-2022, 90.7.
    Start,
    /// The last bit of the FCS: when a listener can use the frame.
    End,
}
