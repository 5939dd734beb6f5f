//! The time that each Sync of a capture tells, with the Follow_Up that belongs to it.
//! IEEE 1588-2019, 9.5; IEEE 802.1AS-2020, 10.6.

use rustc_hash::FxHashMap;
use std::io::Read;
use tsn_capture::{Error, Reader};
use tsn_wire::dissect::dissect;
use tsn_wire::ptp::PortIdentity;
use tsn_wire::ptp_message::Repr;

/// One Sync.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Its time in the capture, ns.
    pub at_ns: i64,
    /// The time of its origin with all corrections, in ps.
    pub told_ps: i128,
}

/// Reads the messages of a capture, in its order. Messages without a time, and a Sync without its Follow_Up, tell
/// nothing.
///
/// # Errors
/// The capture cannot be read.
pub fn told<R: Read>(reader: &mut Reader<R>) -> Result<Vec<Told>, Error> {
    let mut waiting: FxHashMap<(PortIdentity, u8, u16), (i64, i64)> = FxHashMap::default();
    let mut found = Vec::new();
    while let Some(packet) = reader.read()? {
        let Ok(frame) = dissect(packet.link, packet.octets, packet.original) else { continue };
        let (Some(at_ns), Ok(message)) = (packet.t_ns, Repr::parse(frame.payload)) else { continue };
        let key = (message.source, message.domain, message.sequence);
        let correction_ps = message.correction_ps();
        let (at_ns, earlier_ps) = match (message.kind_name(), message.origin_ns) {
            ("Sync", None) => {
                waiting.insert(key, (at_ns, correction_ps));
                continue;
            }
            ("Sync", Some(_)) => (at_ns, 0),
            ("Follow_Up", Some(_)) => match waiting.remove(&key) {
                Some(sync) => sync,
                None => continue,
            },
            _ => continue,
        };
        let origin_ps = i128::from(message.origin_ns.unwrap_or_default()) * 1_000;
        let told_ps = origin_ps + i128::from(correction_ps) + i128::from(earlier_ps);
        found.push(Told { at_ns, told_ps });
    }
    Ok(found)
}
