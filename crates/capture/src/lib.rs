//! Captures in and out: pcap and pcapng, every timestamp an exact integer of nanoseconds.

mod buffer;
mod clock;
pub mod file;
pub mod read;
pub mod trace;
pub mod write;

pub use clock::TimeScale;
pub use read::{Packet, Reader};

/// Why a capture cannot be read, or not further.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The disk said no.
    #[error("cannot be read: {0}")]
    Io(#[from] std::io::Error),
    /// No octet in it.
    #[error("is empty")]
    Empty,
    /// Other octets than a capture's.
    #[error("is neither pcap nor pcapng: it begins with {0}")]
    Unknown(String),
    /// It breaks off before its first frame.
    #[error("breaks off inside its headers")]
    Headers,
    /// Octets that contradict each other.
    #[error("is broken at octet {at}: {problem}")]
    Broken {
        /// Where in the file.
        at: u64,
        /// What is wrong there.
        problem: String,
    },
    /// Frames of a link that is not read.
    #[error(
        "has frames of link type {0}, which is not read (Ethernet, Linux cooked, BSD loopback, raw IP are)"
    )]
    Link(i32),
}
