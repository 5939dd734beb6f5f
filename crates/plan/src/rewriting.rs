//! What a stream's frames show on each entry of its route: active stream identification.
//!
//! IEEE 802.1CB-2017, 6.6.

use crate::{Identification, Rewritten, Stream};

impl Stream {
    /// What its copies show in place of its own address, VLAN and priority.
    #[must_use]
    pub fn rewritten(&self) -> Option<&Rewritten> {
        match &self.redundancy.as_ref()?.recovery.as_ref()?.identification {
            Identification::Active(rewritten) => Some(rewritten),
            _ => None,
        }
    }

    /// What its frames show on an entry of its route (those that flood are behind), where that is not their own.
    #[must_use]
    pub fn rewritten_on(&self, entry: usize) -> Option<&Rewritten> {
        let copy = self.redundancy.as_ref()?.copies.get(entry)?;
        self.rewritten().filter(|_| *copy > 0)
    }

    /// The VLAN identifier of its frames on an entry of its route; none where they are untagged.
    #[must_use]
    pub fn vid_on(&self, entry: usize) -> Option<u16> {
        self.rewritten_on(entry).map_or(self.vid, |rewritten| Some(rewritten.vid))
    }

    /// Destination address and VLAN of its frames anywhere.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&str, Option<u16>)> {
        let copies = self.rewritten().map(|own| (own.destination_mac.as_str(), Some(own.vid)));
        copies.into_iter().chain([(self.destination_mac.as_str(), self.vid)])
    }
}
