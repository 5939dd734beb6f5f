//! The forwarding process of a node: its processing times, and the memory that its ports share.
//!
//! Dynamic thresholds: Choudhury & Hahne 1998.

use serde::{Deserialize, Serialize};

/// The processing time of a node beyond its `processing_ns`, drawn for every frame and every egress port.
///
/// Frames from one port to another keep their order: a frame that would overtake is queued just after the previous
/// one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Further {
    /// Uniform in `[0, up_to_ns]`, in steps of 1 ps.
    Uniform {
        /// Greatest value, ns.
        up_to_ns: u64,
    },
    /// A value of a list.
    List {
        /// The values, ns.
        values_ns: Vec<u64>,
        /// How often each value was observed; empty if all are equally likely.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        counts: Vec<u64>,
    },
    /// A value of a list, and a time for each octet of the frame.
    PerOctet {
        /// Time for each octet of the arriving frame, destination address to FCS, ps.
        per_octet_ps: u32,
        /// Octets of the largest frame of the Plan, with every tag that it may have.
        most_octets: u32,
        /// The values, ns.
        values_ns: Vec<u64>,
        /// How often each value was observed; empty if all are equally likely.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        counts: Vec<u64>,
    },
}

impl Further {
    /// The least and the greatest value, ns.
    #[must_use]
    pub fn range_ns(&self) -> (u64, u64) {
        let range = |values: &[u64]| {
            (values.iter().min().copied().unwrap_or(0), values.iter().max().copied().unwrap_or(0))
        };
        match self {
            Self::Uniform { up_to_ns } => (0, *up_to_ns),
            Self::List { values_ns, .. } => range(values_ns),
            Self::PerOctet { per_octet_ps, most_octets, values_ns, .. } => {
                let (least, most) = range(values_ns);
                let octets_ps = u64::from(*per_octet_ps) * u64::from(*most_octets);
                (least, most.saturating_add(octets_ps.div_ceil(1_000)))
            }
        }
    }
}

/// Memory for frames that wait at any port of a node, in addition to the limits of each class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Buffer {
    /// Most octets that wait at all ports together.
    pub octets: u64,
    /// A class may use at most this share of the free octets, in thousandths (`alpha` of dynamic thresholds).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha_permille: Option<u32>,
}
