//! A frame of a capture, as far as pairing needs it.

/// One captured frame.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct CapturedFrame {
    /// The stamp.
    pub(super) t_ns: Option<i64>,
    /// The timestamp, or, if it is missing, the previous one: both sides are read in step by it.
    pub(super) at: i64,
    /// The number of the stream.
    pub(super) stream: u32,
    /// What identifies the frame in its stream.
    pub(super) number: Number,
    /// Octets from destination address to FCS.
    pub(super) octets: u32,
}

/// What identifies a frame in its stream.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Number {
    /// Nothing.
    #[default]
    Missing,
    /// The sequence number, or the hash.
    One(u64),
    /// The first of several consecutive numbers, and how many follow.
    Several(u64, u32),
    /// As many numbers from this one on, in a frame that was identified by another number before.
    Further(u64, u32),
    /// It is a copy of a frame that its side observed before.
    Copy,
}

impl Number {
    /// The number or the hash, if there is one.
    pub(super) fn first(self) -> Option<u64> {
        match self {
            Self::One(number) | Self::Several(number, _) => Some(number),
            Self::Missing | Self::Further(..) | Self::Copy => None,
        }
    }
}

impl From<Option<u64>> for Number {
    #[inline]
    fn from(number: Option<u64>) -> Self {
        number.map_or(Self::Missing, Self::One)
    }
}
