//! Lists the interfaces of a capture.

use crate::interface::{InterfaceId, index_of};
use crate::{Error, Packet, Reader};
use std::collections::BTreeMap;
use std::io::Read;
use tsn_wire::link::Link;

/// Limit of interfaces that are listed.
const MOST_LISTED: usize = 1024;

/// One interface of a capture file that has frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedInterface {
    /// Which one it is.
    pub id: InterfaceId,
    /// Its frames.
    pub frames: u64,
}

/// Counts the frames of each interface.
#[derive(Debug, Default)]
pub struct InterfaceCounts(BTreeMap<(usize, Option<u32>), u64>);

impl InterfaceCounts {
    /// Adds a frame that was read.
    pub fn see(&mut self, packet: &Packet<'_>) {
        self.add(packet.interface as usize, Ok(packet.link), packet.octets);
    }

    fn add(&mut self, place: usize, link: Result<Link, i32>, octets: &[u8]) {
        let index = index_of(link, octets);
        // The capture may have cut the header with the index.
        if link == Ok(Link::LinuxCooked2) && index.is_none() || self.0.len() > MOST_LISTED {
            return;
        }
        *self.0.entry((place, index)).or_default() += 1;
    }

    /// The interfaces that have frames, as [`interfaces`] lists them; `reader` has read the frames.
    ///
    /// # Errors
    /// There are more than 1024.
    pub fn list<R: Read>(self, reader: &Reader<R>) -> Result<Vec<CapturedInterface>, Error> {
        if !reader.tells_interfaces() {
            return Ok(Vec::new());
        }
        if self.0.len() > MOST_LISTED {
            return Err(Error::Interfaces(MOST_LISTED));
        }
        let found = self.0.into_iter().map(|((place, index), frames)| {
            let id = InterfaceId { index, ..reader.id(place) };
            CapturedInterface { id, frames }
        });
        Ok(found.collect())
    }
}

/// The interfaces of a capture that have frames, in the order in which it describes them, indices in ascending order.
/// None for a pcap file whose frames do not name theirs.
///
/// # Errors
/// The capture is damaged before its first frame, or has more than 1024 interfaces with frames.
pub fn interfaces<R: Read>(mut reader: Reader<R>) -> Result<Vec<CapturedInterface>, Error> {
    if !reader.tells_interfaces() {
        return Ok(Vec::new());
    }
    let mut counts = InterfaceCounts::default();
    while let Some((place, link, octets)) = reader.skip()? {
        counts.add(place, link, octets);
        if counts.0.len() > MOST_LISTED {
            break;
        }
    }
    counts.list(&reader)
}
