//! Reads and writes captures: pcap and pcapng, with every timestamp an exact integer of nanoseconds.

mod block;
mod buffer;
mod clock;
pub mod file;
mod interface;
mod interfaces;
mod packet;
pub mod read;
pub mod trace;
mod wrapper;
pub mod write;

pub use clock::TimeScale;
pub use interface::InterfaceId;
pub use interfaces::{CapturedInterface, InterfaceCounts, interfaces};
pub use packet::Packet;
pub use read::Reader;

/// The reason why a capture cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An error of the operating system.
    #[error("cannot be read: {0}")]
    Io(#[from] std::io::Error),
    /// The file is empty.
    #[error("is empty")]
    Empty,
    /// The file is not a capture.
    #[error("is neither pcap nor pcapng: it begins with {0}")]
    Unknown(String),
    /// The file ends before its first frame.
    #[error("breaks off inside its headers")]
    Headers,
    /// Fields of the file contradict each other.
    #[error("is broken at octet {at}: {problem}")]
    Broken {
        /// Offset in the file, octets.
        at: u64,
        /// The contradiction, in words.
        problem: String,
    },
    /// The link type is not supported.
    #[error(
        "has frames of link type {0}, which is not read (Ethernet, tags of switch chips, Linux cooked, BSD loopback, \
         raw IP are)"
    )]
    Link(i32),
    /// More interfaces than are listed.
    #[error("has frames of more than {0} interfaces")]
    Interfaces(usize),
}
