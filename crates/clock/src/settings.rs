//! What a PTP instance is made of: its ports and their roles, its profile, its servo.
//!
//! IEEE 802.1AS-2020, 10.3; IEEE 1588-2019, 9.2.

use crate::{PiServo, Profile, SystemIdentity};
use tsn_units::Duration;

/// How the delay to the master is measured.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum DelayMechanism {
    /// Link by link.
    #[default]
    PeerToPeer,
    /// Master and slave, whatever is between them.
    EndToEnd,
}

/// Where the roles of the ports come from.
#[derive(Clone, Debug)]
pub enum Roles {
    /// The Plan assigns them.
    Given {
        /// The port towards the grandmaster; none at the grandmaster.
        slave: Option<usize>,
        /// The ports away from the grandmaster.
        masters: Vec<usize>,
    },
    /// The best master clock algorithm elects them.
    Elected {
        /// How good the node's own clock is.
        own: SystemIdentity,
        /// The ports that take part.
        ports: Vec<usize>,
        /// After this time without an Announce, a port discards the last one.
        announce_timeout: Duration,
        /// After this time without a Sync, a slave port discards the last Announce; none outside gPTP.
        sync_timeout: Option<Duration>,
    },
}

/// What an instance is made of.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The node.
    pub identity: u32,
    /// How many ports it has.
    pub ports: usize,
    /// gPTP or IEEE 1588.
    pub profile: Profile,
    /// How delays are measured.
    pub delay: DelayMechanism,
    /// Sync messages carry their own time.
    pub one_step: bool,
    /// Where the roles of the ports come from.
    pub roles: Roles,
    /// The servo, as it begins.
    pub servo: PiServo,
}
