//! A time of which the least and the greatest value are known.

use crate::curve::Ps;

/// The least and the greatest of several times.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub least: Ps,
    pub most: Ps,
}

impl Span {
    /// One after the other.
    pub fn and(self, other: Self) -> Self {
        Self { least: self.least.saturating_add(other.least), most: self.most.saturating_add(other.most) }
    }
}
