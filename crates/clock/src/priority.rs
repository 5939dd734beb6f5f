//! How good a clock is, and which of two is the better: the best master clock algorithm's comparison.
//!
//! IEEE 802.1AS-2020, 10.3.2 to 10.3.5; IEEE 1588-2019, 9.3.

/// What a clock says of itself. The lower one is the better, field by field in this order.
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
    /// `clockIdentity`: decides where all else is equal.
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
    /// The port at a place among a node's, counted from 0.
    #[must_use]
    pub fn at(clock: u32, place: usize) -> Self {
        Self { clock, port: u16::try_from(place + 1).unwrap_or(u16::MAX) }
    }
}

/// A path to a grandmaster (`priority vector`). The lower one is the better.
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
    /// Takes no part.
    #[default]
    Disabled,
    /// Sends time to its neighbour.
    Master,
    /// Gets time from its neighbour.
    Slave,
    /// Neither: another path is better.
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
        // Each is better than the one before, though worse in all that counts less.
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
