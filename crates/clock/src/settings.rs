//! The settings of a PTP instance: its ports and their roles, its profile, its servo.
//!
//! IEEE 802.1AS-2020, 10.3; IEEE 1588-2019, 9.2.

use crate::{PiServo, Profile, SystemIdentity};
use tsn_units::Duration;

/// The mechanism that measures the delay to the master.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum DelayMechanism {
    /// The delay of each link is measured.
    #[default]
    PeerToPeer,
    /// The delay between master and slave is measured, whatever is between them.
    EndToEnd,
}

/// The source of the ports' roles.
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
        /// The attributes of the node's own clock.
        own: SystemIdentity,
        /// The ports that take part.
        ports: Vec<usize>,
        /// After this time without an Announce, a port discards the last one.
        announce_timeout: Duration,
        /// After this time without a Sync, a slave port discards the last Announce; none outside gPTP.
        sync_timeout: Option<Duration>,
    },
}

/// The settings of an instance.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The node.
    pub identity: u32,
    /// Number of ports.
    pub ports: usize,
    /// gPTP or IEEE 1588.
    pub profile: Profile,
    /// The delay mechanism.
    pub delay: DelayMechanism,
    /// Whether Sync messages carry their own origin timestamp.
    pub one_step: bool,
    /// The source of the ports' roles.
    pub roles: Roles,
    /// The servo in its first state.
    pub servo: PiServo,
}
