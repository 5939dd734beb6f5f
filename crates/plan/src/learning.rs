//! Bridges that learn where stations are, and flood until they know.
//!
//! IEEE 802.1Q-2022, 8.7 (learning), 8.8.3 (ageing), 8.6.3 (filtering).

use serde::{Deserialize, Serialize};

/// A bridge learns from the source addresses of frames. What it has not heard of for a while it forgets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Learning {
    /// How long it remembers, in ns (`ageingTime`).
    pub ageing_ns: u64,
}
