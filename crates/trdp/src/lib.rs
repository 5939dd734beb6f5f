//! TRDP, the train real-time data protocol: telegrams as bytes, and the state machine of a subscription.
//! IEC 61375-2-3, Annex A.
//!
//! There are three headers, each with a type `Header` that has valid values only and is read and written octet by
//! octet:
//!
//! * [`process_data`]: version 1, 40 octets: push, pull request and reply;
//! * [`tsn`]: version 2, 20 octets (or 16): process data that is sent at its launch time;
//! * [`message_data`]: 116 octets: notify, request, reply, confirm.
//!
//! [`Telegram::parse`] recognises the kind of a telegram as a receiver does. [`Subscription`] is the receiver's state
//! machine: sequence numbers, gaps, repeated and restarted telegrams, time-outs. Both do no I/O and read no clock:
//! callers pass times in nanoseconds of any one clock.
//!
//! ```
//! use tsn_trdp::{Arrival, Subscription, Telegram, process_data};
//!
//! let header = process_data::Header { com_id: 1000, data_set_octets: 4, ..process_data::Header::default() };
//! let mut datagram = Vec::new();
//! header.emit(&[1, 2, 3, 4], &mut datagram)?;
//! let Telegram::ProcessData(found, data_set) = Telegram::parse(&datagram)? else { panic!() };
//! assert_eq!((found.com_id, data_set), (1000, &[1, 2, 3, 4][..]));
//!
//! let mut subscription = Subscription::new(Some(100_000_000));
//! let source = ([10, 0, 0, 1], found.kind as u16);
//! assert_eq!(subscription.receive(0, source, found.sequence), Arrival::Taken { missed: 0 });
//! assert!(subscription.look(100_000_001), "the time-out has passed");
//! # Ok::<(), tsn_trdp::Error>(())
//! ```

pub mod check_sequence;
pub mod message_data;
mod octets;
pub mod process_data;
mod subscription;
mod telegram;
pub mod tsn;

pub use subscription::{Arrival, Counts, Source, Subscription};
pub use telegram::{Family, Telegram};

/// UDP port of process data.
pub const PROCESS_DATA_PORT: u16 = 17224;
/// UDP and TCP port of message data.
pub const MESSAGE_DATA_PORT: u16 = 17225;
/// Default time to live of telegrams.
pub const TIME_TO_LIVE: u8 = 64;
/// Default quality of service of process data.
pub const DEFAULT_QOS: u8 = 5;
/// Default time-out of a subscription: 100 ms, in ns.
pub const DEFAULT_TIME_OUT_NS: i64 = 100_000_000;

/// The type of service for a quality of service from 0 to 7.
#[must_use]
pub const fn type_of_service(qos: u8) -> u8 {
    (qos & 7) << 5
}

/// The reason why octets are not a telegram. A receiver counts [`Error::CheckSequence`] apart from all other errors,
/// which are protocol errors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The telegram has fewer or more octets than its kind allows.
    #[error("{what} has {least} to {most} octets, not {found}")]
    Size {
        /// Kind of the telegram.
        what: &'static str,
        /// Octets of its header.
        least: usize,
        /// Octets of its header and longest data set.
        most: usize,
        /// Available octets.
        found: usize,
    },
    /// The check sequence does not match the header.
    #[error("the header's check sequence is {found:#010x}, not {expected:#010x}")]
    CheckSequence {
        /// The check sequence in the header.
        found: u32,
        /// The computed check sequence.
        expected: u32,
    },
    /// The major version is not supported.
    #[error("protocol version {0:#06x} is not read")]
    Version(u16),
    /// No telegram has this type.
    #[error("no telegram has type {0:#06x}")]
    Kind(u16),
    /// The data set is longer than its telegram, or than any data set.
    #[error("a data set of {octets} octets, where {most} fit")]
    DataSet {
        /// The length in the header.
        octets: u64,
        /// The longest possible data set.
        most: u64,
    },
    /// The text is not a URI of a telegram.
    #[error("a URI has at most 31 characters of ASCII")]
    Uri,
}
