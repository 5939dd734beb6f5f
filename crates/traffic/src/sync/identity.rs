//! Identities of clocks and ports, in linuxptp's notation. IEEE 1588-2019, 5.3.4, 5.3.5.

use super::octets::Octets;
use std::fmt;

/// `ClockIdentity`: `4ec0d7.fffe.201b22`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ClockIdentity(pub [u8; 8]);

/// `PortIdentity`: `4ec0d7.fffe.201b22-1`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PortIdentity {
    /// The clock of the port.
    pub clock: ClockIdentity,
    /// The number of the port; 0 means the clock itself.
    pub port: u16,
}

impl ClockIdentity {
    /// The next field.
    pub fn read(octets: &mut Octets<'_>) -> Option<Self> {
        octets.take().map(Self)
    }
}

impl PortIdentity {
    /// The next field.
    pub fn read(octets: &mut Octets<'_>) -> Option<Self> {
        Some(Self { clock: ClockIdentity::read(octets)?, port: octets.u16()? })
    }
}

impl fmt::Display for ClockIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g, h, i] = self.0;
        write!(f, "{a:02x}{b:02x}{c:02x}.{d:02x}{e:02x}.{g:02x}{h:02x}{i:02x}")
    }
}

impl fmt::Display for PortIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.clock, self.port)
    }
}
