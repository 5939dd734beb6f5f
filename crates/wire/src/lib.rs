//! How frames look as bytes: Ethernet, VLAN tag, IPv4, UDP, and the payloads that test tools write;
//! which frames carry TRDP.
//!
//! Every header has two views: a thin accessor over foreign bytes, and a `Repr` that can only hold sense.
//! Frames here end before the FCS, as captures do.

pub mod build;
pub mod dissect;
pub mod ethernet;
pub mod link;
pub mod payload;
pub mod ptp;
pub mod recognise;
pub mod telegram;

pub use ethernet::{EtherType, Mac, Tag};

/// What is wrong with bytes or text that should be part of a frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Fewer octets than the header needs.
    #[error("{what} needs {needed} octets, {found} are there")]
    Truncated {
        /// Which header.
        what: &'static str,
        /// Octets that it has.
        needed: usize,
        /// Octets that are there.
        found: usize,
    },
    /// Octets that this header cannot have.
    #[error("not {0}")]
    Not(&'static str),
    /// Text that is no address.
    #[error("expected a MAC address like 02:00:00:00:00:01, found {0:?}")]
    MacText(String),
    /// A number that its field cannot hold.
    #[error("{field} cannot hold {value}")]
    TooLarge {
        /// Which field.
        field: &'static str,
        /// What should go in.
        value: u64,
    },
}
