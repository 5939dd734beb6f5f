//! The best master clock algorithm: the grandmaster, and the role of every port.
//!
//! IEEE 802.1AS-2020, 10.3.5 and 10.3.12; IEEE 1588-2019, 9.3.

use crate::{Announce, PortIdentity, PriorityVector, Role, SystemIdentity};

/// `priority1` of an instance that is never grandmaster. IEEE 802.1AS-2020, 8.6.2.1.
const NEVER_GRANDMASTER: u8 = 255;
/// Announce messages that passed more links are ignored. IEEE 802.1AS-2020, 10.3.11.2.1.
const MAX_STEPS: u16 = 255;

/// The last Announce that one port has received.
#[derive(Clone, Debug, Default)]
struct AnnounceReceiver {
    enabled: bool,
    announce: Option<Announce>,
}

/// The algorithm at one instance.
#[derive(Clone, Debug)]
pub struct BestMaster {
    own: SystemIdentity,
    ports: Vec<AnnounceReceiver>,
    roles: Vec<Role>,
    slave: Option<usize>,
}

impl BestMaster {
    /// An instance that has received no Announce yet; `enabled` lists the ports that take part.
    #[must_use]
    pub fn new(own: SystemIdentity, ports: usize, enabled: &[usize]) -> Self {
        let heard = |place| AnnounceReceiver { enabled: enabled.contains(&place), announce: None };
        let mut best = Self {
            own,
            ports: (0..ports).map(heard).collect(),
            roles: vec![Role::Disabled; ports],
            slave: None,
        };
        best.select_roles();
        best
    }

    /// Handles a received Announce; returns whether it qualifies, so that its receipt timeout restarts.
    pub fn receive_announce(&mut self, port: usize, announce: &Announce) -> bool {
        let Some(heard) = self.ports.get_mut(port).filter(|heard| heard.enabled) else { return false };
        if announce.path.contains(&self.own.identity) || announce.vector.steps_removed >= MAX_STEPS {
            return false;
        }
        let known = heard.announce.as_ref().map(|known| known.vector);
        if known.is_some_and(|known| known.source != announce.vector.source && known < announce.vector) {
            return false;
        }
        heard.announce = Some(announce.clone());
        true
    }

    /// Handles a port's receipt timeout of Announce messages.
    pub fn announce_timeout(&mut self, port: usize) {
        if let Some(heard) = self.ports.get_mut(port) {
            heard.announce = None;
        }
    }

    /// Elects the grandmaster and the roles of all ports; returns whether anything has changed.
    pub fn select_roles(&mut self) -> bool {
        let own = PriorityVector {
            root: self.own,
            steps_removed: 0,
            source: PortIdentity { clock: self.own.identity, port: 0 },
        };
        let received = self.ports.iter().enumerate().filter_map(|(place, heard)| {
            let vector = heard.announce.as_ref()?.vector;
            let farther = vector.steps_removed.saturating_add(1);
            Some((PriorityVector { steps_removed: farther, ..vector }, place))
        });
        let best =
            received.min().filter(|(received, _)| self.own.priority1 == NEVER_GRANDMASTER || *received < own);
        let slave = best.map(|(_, place)| place);
        let (root, steps_removed) =
            best.map_or((own.root, 0), |(vector, _)| (vector.root, vector.steps_removed));
        let role = |(place, heard): (usize, &AnnounceReceiver)| {
            let source = PortIdentity::at(self.own.identity, place);
            let mine = PriorityVector { root, steps_removed, source };
            match &heard.announce {
                _ if !heard.enabled => Role::Disabled,
                _ if slave == Some(place) => Role::Slave,
                Some(announce) if announce.vector < mine => Role::Passive,
                _ => Role::Master,
            }
        };
        let roles: Vec<Role> = self.ports.iter().enumerate().map(role).collect();
        let changed = roles != self.roles || slave != self.slave;
        self.roles = roles;
        self.slave = slave;
        changed
    }

    /// The role of a port.
    #[must_use]
    pub fn role(&self, port: usize) -> Role {
        self.roles.get(port).copied().unwrap_or_default()
    }

    /// The port towards the grandmaster; none at the grandmaster.
    #[must_use]
    pub fn slave(&self) -> Option<usize> {
        self.slave
    }

    /// The port that a port gets its time from.
    #[must_use]
    pub fn parent(&self, port: usize) -> Option<PortIdentity> {
        Some(self.ports.get(port)?.announce.as_ref()?.vector.source)
    }

    /// The grandmaster that this instance follows, or is.
    #[must_use]
    pub fn grandmaster(&self) -> SystemIdentity {
        let heard = self.slave.and_then(|port| self.ports.get(port)?.announce.as_ref());
        heard.map_or(self.own, |announce| announce.vector.root)
    }

    /// The Announce that this instance sends at one of its ports; none if it knows no grandmaster.
    #[must_use]
    pub fn announce(&self, port: usize) -> Option<Announce> {
        let source = PortIdentity::at(self.own.identity, port);
        match self.slave.and_then(|slave| self.ports.get(slave)?.announce.as_ref()) {
            Some(announce) => {
                let vector = PriorityVector {
                    steps_removed: announce.vector.steps_removed.saturating_add(1),
                    source,
                    ..announce.vector
                };
                let path = announce.path.iter().copied().chain([self.own.identity]).collect();
                Some(Announce { vector, path })
            }
            None if self.own.priority1 == NEVER_GRANDMASTER => None,
            None => {
                let vector = PriorityVector { root: self.own, steps_removed: 0, source };
                Some(Announce { vector, path: vec![self.own.identity] })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(priority1: u8, identity: u32) -> SystemIdentity {
        SystemIdentity { priority1, class: 248, accuracy: 0xfe, variance: 0x436a, priority2: 248, identity }
    }

    fn announce(root: SystemIdentity, steps_removed: u16, sender: u32) -> Announce {
        let source = PortIdentity { clock: sender, port: 1 };
        let vector = PriorityVector { root, steps_removed, source };
        Announce { vector, path: vec![root.identity, sender] }
    }

    #[test]
    fn the_better_way_is_followed_and_the_other_one_stands_by() {
        let mut best = BestMaster::new(identity(200, 9), 3, &[0, 1]);
        let root = identity(1, 1);
        assert!(
            best.receive_announce(0, &announce(root, 1, 3))
                && best.receive_announce(1, &announce(root, 1, 2))
        );
        assert!(best.select_roles());
        assert_eq!([0, 1, 2].map(|port| best.role(port)), [Role::Passive, Role::Slave, Role::Disabled]);
        // An instance with a worse grandmaster receives the Announce of a better one.
        assert!(best.receive_announce(0, &announce(identity(100, 3), 0, 3)) && best.select_roles());
        assert_eq!(best.role(0), Role::Master);
    }

    #[test]
    fn what_one_has_said_oneself_is_not_heard() {
        let mut best = BestMaster::new(identity(200, 9), 1, &[0]);
        let mut received = announce(identity(1, 1), 2, 3);
        received.path.insert(1, 9);
        assert!(!best.receive_announce(0, &received));
    }
}
