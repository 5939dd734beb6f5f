//! What a stream's frames show on each entry of its route: active stream identification.
//!
//! IEEE 802.1CB-2017, 6.6.

use crate::check::{Check, ensure};
use crate::{Identification, Plan, Redundancy, Rewritten, Stream};

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

impl Plan {
    /// The priorities with which frames leave by each entry, where copies have one of their own: between where they
    /// are made and where they meet for the last time, and there they get back the one that they had.
    pub(crate) fn rewritten_priority(&self, stream: &Stream, entry: usize, found: &[u8]) -> Option<u8> {
        let rewritten = stream.rewritten()?;
        if stream.rewritten_on(entry).is_some() {
            return Some(rewritten.pcp);
        }
        let mut all = stream.route.iter().chain(&stream.flood);
        let mut before = all.nth(entry)?.parent? as usize;
        stream.rewritten_on(before)?;
        // Parents come first, so this ends.
        while stream.rewritten_on(before).is_some() {
            match stream.route.get(before)?.parent {
                None => return Some(stream.pcp),
                Some(parent) => before = Some(parent as usize).filter(|parent| *parent < before)?,
            }
        }
        let port = self.ports.get(stream.route.get(before)?.port as usize)?;
        Some(self.regenerated(port.peer, *found.get(before)?))
    }

    pub(crate) fn check_rewriting(
        &self,
        stream: &Stream,
        redundancy: &Redundancy,
        path: impl Fn(&str) -> String,
    ) -> Check {
        let Some(Identification::Active(rewritten)) =
            redundancy.recovery.as_ref().map(|recovery| &recovery.identification)
        else {
            return Ok(());
        };
        let path = |field: &str| path(&format!("redundancy.recovery.identification.active{field}"));
        let Rewritten { destination_mac, vid, pcp } = rewritten;
        ensure(
            stream.vid.is_some(),
            || path(""),
            || "its frames carry no VLAN tag that could change".into(),
        )?;
        ensure((1..=4094).contains(vid), || path(".vid"), || format!("{vid} is not 1 to 4094"))?;
        ensure(*pcp < 8, || path(".pcp"), || format!("{pcp} is not 0 to 7"))?;
        ensure(
            is_mac(destination_mac),
            || path(".destination_mac"),
            || format!("{destination_mac:?} is no MAC address"),
        )?;
        let most = redundancy.copies.iter().any(|copy| *copy > 0);
        ensure(most, || path(""), || "no copy is made whose address could change".into())
    }
}

fn is_mac(text: &str) -> bool {
    let octets = || text.split(':');
    octets().count() == 6
        && octets().all(|octet| octet.len() == 2 && octet.bytes().all(|digit| digit.is_ascii_hexdigit()))
}
