//! One frame of a capture.

use tsn_wire::link::Link;

/// One captured frame.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Timestamp in ns of the capture's clock; `None` if the file has no time for the frame.
    pub t_ns: Option<i64>,
    /// Link type: the kind of header with which the octets begin.
    pub link: Link,
    /// Place of its interface among those that the file describes.
    pub interface: u32,
    /// Octets of the frame on the link, without FCS.
    pub original: u32,
    /// The octets that were captured, without FCS.
    pub octets: &'a [u8],
}
