//! Lists the interfaces of a capture.

use crate::interface::{InterfaceId, index_of};
use crate::{Error, Reader};
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

/// The interfaces of a capture that have frames, in the order in which it describes them, indices in ascending order.
/// None for a pcap file whose frames do not name theirs.
///
/// # Errors
/// The capture is damaged before its first frame, or has more than 1024 interfaces with frames.
pub fn interfaces<R: Read>(mut reader: Reader<R>) -> Result<Vec<CapturedInterface>, Error> {
    if !reader.tells_interfaces() {
        return Ok(Vec::new());
    }
    let mut frames: BTreeMap<(usize, Option<u32>), u64> = BTreeMap::new();
    while let Some((place, link, octets)) = reader.skip()? {
        let index = index_of(link, octets);
        if link == Ok(Link::LinuxCooked2) && index.is_none() {
            // The capture cut the header.
            continue;
        }
        *frames.entry((place, index)).or_default() += 1;
        if frames.len() > MOST_LISTED {
            return Err(Error::Interfaces(MOST_LISTED));
        }
    }
    let found = frames.into_iter().map(|((place, index), frames)| {
        let id = InterfaceId { index, ..reader.id(place) };
        CapturedInterface { id, frames }
    });
    Ok(found.collect())
}
