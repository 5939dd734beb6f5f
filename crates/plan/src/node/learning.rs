//! Bridges that learn where stations are, and flood frames to unknown ones.
//!
//! IEEE 802.1Q-2022, 8.7 (learning), 8.8.3 (ageing), 8.6.3 (filtering).

use serde::{Deserialize, Serialize};

/// A bridge learns from the source addresses of frames. It forgets a station after a time without its frames.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Learning {
    /// The time after which a station is forgotten, in ns (`ageingTime`).
    pub ageing_ns: u64,
}
