//! PTP beyond gPTP with configured roles: elections, IEEE 1588's clocks, servos.
//!
//! IEEE 802.1AS-2020, 8.6.2 and 10.7; IEEE 1588-2019, 7.6.2 and 7.7.3.

use serde::{Deserialize, Serialize};

/// Ordinary, boundary and transparent clocks instead of gPTP's time-aware systems.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ieee1588 {
    /// The delay mechanism.
    pub delay: Delay,
    /// Nodes whose clocks are transparent; all others that take part are ordinary or boundary clocks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transparent: Vec<u32>,
}

/// The delay mechanisms of IEEE 1588-2019, 11.3 and 11.4.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Delay {
    /// The delay from slave to master is measured.
    EndToEnd,
    /// The delay of each link is measured.
    PeerToPeer,
}

/// The best master clock algorithm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bmca {
    /// The ports that take part, each with its peer.
    pub ports: Vec<u32>,
    /// The attributes of the clock of each of the Plan's nodes, in their order.
    pub clocks: Vec<ClockQuality>,
    /// Time between two Announce messages, ns.
    pub announce_interval_ns: u64,
    /// Number of Announce intervals without an Announce message after which a master is discarded
    /// (`announceReceiptTimeout`).
    pub announce_receipt_timeout: u8,
    /// Number of Sync intervals without a Sync message after which a master is discarded, in gPTP
    /// (`syncReceiptTimeout`).
    pub sync_receipt_timeout: u8,
}

/// The attributes of a clock in the election; the lower one is better, field by field.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockQuality {
    /// `priority1`; 255: never grandmaster.
    pub priority1: u8,
    /// `clockClass`.
    pub class: u8,
    /// `clockAccuracy`.
    pub accuracy: u8,
    /// `offsetScaledLogVariance`.
    pub variance: u16,
    /// `priority2`.
    pub priority2: u8,
}

/// linuxptp's options of the PI servo: scales, exponents and norms in thousandths.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Servo {
    /// `pi_proportional_scale`.
    pub pi_proportional_scale: i64,
    /// `pi_proportional_exponent`.
    pub pi_proportional_exponent: i64,
    /// `pi_proportional_norm_max`.
    pub pi_proportional_norm_max: i64,
    /// `pi_integral_scale`.
    pub pi_integral_scale: i64,
    /// `pi_integral_exponent`.
    pub pi_integral_exponent: i64,
    /// `pi_integral_norm_max`.
    pub pi_integral_norm_max: i64,
    /// `first_step_threshold`, ns.
    pub first_step_threshold_ns: i64,
    /// `step_threshold`, ns.
    pub step_threshold_ns: i64,
    /// `max_frequency`, ppb.
    pub max_frequency_ppb: i64,
}

/// A fault of a clock, or of PTP at a node.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ClockFault {
    /// A clock is set forward or back.
    ClockStep {
        /// The node.
        node: u32,
        /// ns.
        at_ns: u64,
        /// The step forward, ns.
        by_ns: i64,
    },
    /// An oscillator is faster or slower, from `from_ns` on, until just before `until_ns`.
    FrequencyJump {
        /// The node.
        node: u32,
        /// ns.
        from_ns: u64,
        /// ns.
        until_ns: u64,
        /// Parts of 10^12.
        by_ppt: i64,
    },
    /// A node neither sends nor accepts PTP messages; its clock keeps running.
    PtpDown {
        /// The node.
        node: u32,
        /// ns.
        from_ns: u64,
        /// ns.
        until_ns: u64,
    },
}
