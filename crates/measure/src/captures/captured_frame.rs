//! A frame of a capture, as far as pairing needs it.

/// One captured frame.
#[derive(Copy, Clone, Debug)]
pub(super) struct CapturedFrame {
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
