//! What a node does with frames between its ports: how long it takes, and the memory they share.
//!
//! Dynamic thresholds: Choudhury & Hahne 1998.

use serde::{Deserialize, Serialize};

/// What a node takes beyond its `processing_ns`, drawn for every frame and every port that it goes on to.
///
/// Frames from one port to another keep their order: one that would overtake gets in behind the one before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Further {
    /// Uniform in `[0, up_to_ns]`, in steps of 1 ps.
    Uniform {
        /// ns.
        up_to_ns: u64,
    },
    /// One of a list.
    List {
        /// ns.
        values_ns: Vec<u64>,
        /// How often each was seen; empty where all are equally likely.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        counts: Vec<u64>,
    },
}

/// Memory for frames that wait at any port of a node, in addition to the limits of each class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Buffer {
    /// Most octets that wait at all ports together.
    pub octets: u64,
    /// A class may hold at most this share of what is free, in thousandths (`alpha` of dynamic thresholds).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha_permille: Option<u32>,
}
