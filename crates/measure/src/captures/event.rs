//! What pairing needs of a frame that a capture has.

/// A sighting, as far as pairing needs it.
#[derive(Copy, Clone, Debug)]
pub(super) struct Event {
    /// The stamp.
    pub(super) t_ns: Option<i64>,
    /// The stamp, or where it is missing the last one before: to read the sides in step.
    pub(super) at: i64,
    /// Which stream.
    pub(super) stream: u32,
    /// Which frame: its number, or its hash.
    pub(super) number: Option<u64>,
    /// Octets from destination address to FCS.
    pub(super) octets: u32,
}
