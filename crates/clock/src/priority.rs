//! The quality of a clock, and the comparison of two: the best master clock algorithm's data set comparison.
//!
//! IEEE 802.1AS-2020, 10.3.2 to 10.3.5; IEEE 1588-2019, 9.3.

/// The attributes of a clock that its Announce messages carry. The lower one is better, field by field in this order.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SystemIdentity {
    /// `priority1`.
    pub priority1: u8,
    /// `clockClass`.
    pub class: u8,
    /// `clockAccuracy`.
    pub accuracy: u8,
    /// `offsetScaledLogVariance`.
    pub variance: u16,
    /// `priority2`.
    pub priority2: u8,
    /// `clockIdentity`, which decides if all other fields are equal.
    pub identity: u32,
}

/// A port of a PTP instance (`portIdentity`).
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PortIdentity {
    /// `clockIdentity`.
    pub clock: u32,
    /// `portNumber`, from 1.
    pub port: u16,
}

impl PortIdentity {
    /// The port at an index among a node's ports, counted from 0.
    #[must_use]
    pub fn at(clock: u32, place: usize) -> Self {
        Self { clock, port: u16::try_from(place + 1).unwrap_or(u16::MAX) }
    }
}

/// A path to a grandmaster (`priority vector`). The lower one is better.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PriorityVector {
    /// The grandmaster.
    pub root: SystemIdentity,
    /// Links between the grandmaster and this instance (`stepsRemoved`).
    pub steps_removed: u16,
    /// The port that announced it (`sourcePortIdentity`).
    pub source: PortIdentity,
}

/// The role of a port (`portState`). IEEE 802.1AS-2020, table 10-1.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Role {
    /// The port does not take part.
    #[default]
    Disabled,
    /// The port sends time to its neighbour.
    Master,
    /// The port gets time from its neighbour.
    Slave,
    /// The port does neither, as another path is better.
    Passive,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_count_in_the_standards_order() {
        let usual = SystemIdentity {
            priority1: 246,
            class: 248,
            accuracy: 0xfe,
            variance: 0x436a,
            priority2: 248,
            identity: 5,
        };
        // Each vector is better than the previous one, though worse in all fields of lower rank.
        let ranked = [
            usual,
            SystemIdentity { identity: 4, ..usual },
            SystemIdentity { priority2: 247, identity: 9, ..usual },
            SystemIdentity { variance: 1, priority2: 255, ..usual },
            SystemIdentity { accuracy: 0x20, variance: 0xffff, ..usual },
            SystemIdentity { class: 6, accuracy: 0xff, ..usual },
            SystemIdentity { priority1: 0, class: 255, ..usual },
        ];
        assert!(ranked.windows(2).all(|pair| pair[1] < pair[0]));
        let vector = |steps_removed, clock| PriorityVector {
            root: usual,
            steps_removed,
            source: PortIdentity { clock, port: 1 },
        };
        assert!(vector(1, 9) < vector(2, 1) && vector(1, 1) < vector(1, 2));
        let better = PriorityVector { root: ranked[1], ..vector(9, 9) };
        assert!(better < vector(0, 0));
    }
}
