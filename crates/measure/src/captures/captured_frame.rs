//! A frame of a capture, as far as pairing needs it.

/// One captured frame.
#[derive(Copy, Clone, Debug)]
pub(super) struct CapturedFrame {
    /// The stamp.
    pub(super) t_ns: Option<i64>,
    /// The timestamp, or, if it is missing, the previous one: both sides are read in step by it.
    pub(super) at: i64,
    /// The number of the stream.
    pub(super) stream: u32,
    /// The sequence number or the hash of the frame.
    pub(super) number: Option<u64>,
    /// Octets from destination address to FCS.
    pub(super) octets: u32,
}
