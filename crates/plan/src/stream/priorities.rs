//! The priorities of a stream's frames when they leave by each entry of its route.
//!
//! IEEE 802.1Q-2022, 6.9.3 (regeneration); IEEE 802.1CB-2017, 6.6 (active stream identification).

use crate::{Plan, Stream};

impl Plan {
    /// The priority of a frame after its reception at a port.
    #[must_use]
    pub fn regenerated(&self, port: u32, pcp: u8) -> u8 {
        let tables = self.policing.iter().flat_map(|policing| &policing.regeneration);
        tables.rev().find(|table| table.port == port).map_or(pcp, |table| table.pcp[usize::from(pcp & 7)] & 7)
    }

    /// The priority of a stream's frames when they leave by each entry of its route, then by each flooding entry.
    #[must_use]
    pub fn priorities(&self, stream: &Stream) -> Vec<u8> {
        let all = || stream.route.iter().chain(&stream.flood);
        let mut found: Vec<u8> = Vec::with_capacity(all().count());
        for (entry, hop) in all().enumerate() {
            if let Some(pcp) = self.rewritten_priority(stream, entry, &found) {
                found.push(pcp);
                continue;
            }
            let before = hop.parent.and_then(|parent| Some((parent, *found.get(parent as usize)?)));
            found.push(match before {
                None => stream.pcp,
                Some((parent, pcp)) => self.came_with(stream, parent, pcp),
            });
        }
        found
    }

    /// The priority of a frame at the end of an entry by which it left with `pcp`.
    fn came_with(&self, stream: &Stream, entry: u32, pcp: u8) -> u8 {
        let mut all = stream.route.iter().chain(&stream.flood);
        let port = all.nth(entry as usize).and_then(|hop| self.ports.get(hop.port as usize));
        port.map_or(pcp, |port| self.regenerated(port.peer, pcp))
    }

    /// The priority of frames of member streams that have one of their own: from where they are made to where they
    /// merge for the last time, where they get their original priority back.
    fn rewritten_priority(&self, stream: &Stream, entry: usize, found: &[u8]) -> Option<u8> {
        let rewritten = stream.rewritten()?;
        if stream.rewritten_on(entry).is_some() {
            return Some(rewritten.pcp);
        }
        let mut all = stream.route.iter().chain(&stream.flood);
        let mut before = all.nth(entry)?.parent? as usize;
        stream.rewritten_on(before)?;
        // Parents come first, so this loop ends.
        while stream.rewritten_on(before).is_some() {
            match stream.route.get(before)?.parent {
                None => return Some(stream.pcp),
                Some(parent) => before = Some(parent as usize).filter(|parent| *parent < before)?,
            }
        }
        let port = self.ports.get(stream.route.get(before)?.port as usize)?;
        Some(self.regenerated(port.peer, *found.get(before)?))
    }
}
