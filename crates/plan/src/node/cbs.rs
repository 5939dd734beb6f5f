//! Credit-based shapers of classes.
//!
//! IEEE 802.1Q-2022, 8.6.8.2.

use crate::omitted::is_default;
use serde::{Deserialize, Serialize};

/// A credit-based shaper in the standard's units. IEEE 802.1Q-2022, 8.6.8.2; EnGINE eq. 2-6.
///
/// Credit is spent for the whole time of a frame on the wire (preamble to inter-frame gap), as EnGINE counts frame
/// sizes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cbs {
    /// Credit gained, bit/s.
    pub idle_slope_bps: i64,
    /// Credit spent while sending, bit/s; negative.
    pub send_slope_bps: i64,
    /// Highest credit, bit.
    pub hi_credit_bits: i64,
    /// Lowest credit, bit; negative.
    pub lo_credit_bits: i64,
    /// The parameters of the shaper as `tc` takes them.
    pub linux: CbsLinux,
    /// Whether credit keeps changing while the class's gate is closed, instead of being frozen.
    #[serde(default, skip_serializing_if = "is_default")]
    pub runs_while_closed: bool,
    /// What would follow, where the scenario gives other values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<CbsFollows>,
}

/// What follows from a shaper's idle slope, for values that a scenario gives in another way.
///
/// It changes nothing of an experiment; warnings tell it. IEEE 802.1Q-2022, 8.6.8.2 and annex L.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CbsFollows {
    /// Idle slope less the port's rate, bit/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_slope_bps: Option<i64>,
    /// Credit that gathers while other frames are in the way, bit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hi_credit_bits: Option<i64>,
    /// Debt of the class's largest frame, bit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lo_credit_bits: Option<i64>,
}

/// The numbers of `tc qdisc … cbs`: kbit/s and octets, rounded away from zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CbsLinux {
    /// kbit/s.
    pub idleslope: i64,
    /// kbit/s, negative.
    pub sendslope: i64,
    /// Octets.
    pub hicredit: i64,
    /// Octets, negative.
    pub locredit: i64,
}
