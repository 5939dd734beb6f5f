//! The fields of a stream's frames on each entry of its route: active stream identification.
//!
//! IEEE 802.1CB-2017, 6.6.

use crate::{Identification, Rewritten, Stream};

impl Stream {
    /// The fields of its member streams that replace its own address, VLAN and priority.
    #[must_use]
    pub fn rewritten(&self) -> Option<&Rewritten> {
        match &self.redundancy.as_ref()?.recovery.as_ref()?.identification {
            Identification::Active(rewritten) => Some(rewritten),
            _ => None,
        }
    }

    /// The replaced fields of its frames on an entry of its route (flooding entries come last); none if the fields
    /// are its own.
    #[must_use]
    pub fn rewritten_on(&self, entry: usize) -> Option<&Rewritten> {
        let copy = self.redundancy.as_ref()?.copies.get(entry)?;
        self.rewritten().filter(|_| *copy > 0)
    }

    /// The VLAN identifier of its frames on an entry of its route; none if they are untagged.
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
