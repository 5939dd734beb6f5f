//! The whole document.

use crate::{Clocks, Fault, Node, Policing, Port, Stream, Tap};
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
