//! The whole document.

use crate::{Clocks, Fault, Node, Policing, Port, Stream, Tap};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The format that this version reads and writes.
pub const FORMAT: &str = "tsnbench-plan/1";

/// From when on the frames of a run count in its measures: those that leave their talkers earlier do not.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum MeasureFrom {
    /// From a time of the run on.
    At {
        /// The time, ns.
        ns: u64,
    },
    /// From when on every difference of two clocks stays within the least margin of a scheduled stream.
    Settled,
}

/// A whole experiment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// [`FORMAT`].
    pub format: String,
    /// The scenario's name.
    pub name: String,
    /// The run of a sweep: parameter name to value, as written.
    #[serde(default)]
    pub variant: BTreeMap<String, String>,
    /// Seed of all randomness; a draw is addressed by seed and name.
    pub seed: u64,
    /// How long talkers send, in ns. Frames under way at the end are still delivered (see `drain_ns`).
    pub duration_ns: u64,
    /// How long after `duration_ns` frames under way may still arrive, in ns.
    pub drain_ns: u64,
    /// From when on frames count; without it all do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measure_from: Option<MeasureFrom>,
    /// Every node; ports refer to nodes by their index here.
    pub nodes: Vec<Node>,
    /// Every port: one egress and one ingress each; a link is a pair of ports that are each other's peer.
    pub ports: Vec<Port>,
    /// Every stream: one talker, one sequence of frames.
    pub streams: Vec<Stream>,
    /// Faults of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<Fault>,
    /// The policing of received frames; one entry for each node that has any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policing: Vec<Policing>,
    /// The taps, where frames are observed.
    pub taps: Vec<Tap>,
    /// The nodes' clocks; in a Plan without clocks all nodes have the same exact time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clocks: Option<Clocks>,
    /// SHA-256 of the Plan's canonical JSON without this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
}
