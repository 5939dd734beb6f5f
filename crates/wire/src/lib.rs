//! Frames as bytes: Ethernet, VLAN tag, IPv4, UDP, payloads of test tools, and frames that carry TRDP.
//!
//! Every header has two views: a thin accessor over foreign bytes, and a `Repr` with valid values only. Frames here
//! end before the FCS, as captures do.

pub mod build;
pub mod counter;
pub mod dissect;
pub mod ethernet;
mod format;
pub mod link;
pub mod payload;
pub mod ptp;
pub mod ptp_message;
pub mod recognise;
pub mod redundancy;
pub mod telegram;

pub use ethernet::{EtherType, Mac, Tag};

/// An error in bytes or text that should be part of a frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Fewer octets than the header needs.
    #[error("{what} needs {needed} octets, {found} are there")]
    Truncated {
        /// Name of the header.
        what: &'static str,
        /// Octets of the header.
        needed: usize,
        /// Available octets.
        found: usize,
    },
    /// Octets that are invalid in this header.
    #[error("not {0}")]
    Not(&'static str),
    /// Text that is not an address.
    #[error("expected a MAC address like 02:00:00:00:00:01, found {0:?}")]
    MacText(String),
    /// A number that is too large for its field.
    #[error("{field} cannot hold {value}")]
    TooLarge {
        /// Name of the field.
        field: &'static str,
        /// The number.
        value: u64,
    },
}
