//! Frames of member streams: their tags, and their arrivals where paths merge.
//!
//! IEEE 802.1CB-2017, 7.4.3 and 7.8. Behind a merge a frame is as early as by the fastest path, and as late as by the
//! slowest one, because all others may lose it. Then it may be behind later frames of its stream.

use crate::unit::{Unit, ps};
use tsn_plan::{Algorithm, R_TAG_OCTETS, Stream};

/// Octets that a tag adds to a stream's frames at an entry of its route.
pub(crate) fn tag(stream: &Stream, entry: usize) -> u32 {
    let copies = stream.redundancy.as_ref().map(|redundancy| &redundancy.copies);
    if copies.and_then(|copies| copies.get(entry)).is_some_and(|copy| *copy > 0) { R_TAG_OCTETS } else { 0 }
}

/// A frame with `more` octets, and without `less`.
pub(crate) fn with_tag(unit: Unit, more: u32, less: u32) -> Unit {
    Unit { octets: unit.octets + more - less, least: unit.least + more - less, ..unit }
}

/// The arrivals behind a merge, from those of each path.
pub(crate) fn merged(stream: &Stream, mut parts: Vec<Vec<Unit>>) -> Vec<Unit> {
    if parts.len() == 1 {
        return parts.remove(0);
    }
    let alike = parts.iter().all(|part| part.len() == parts[0].len());
    let both: Vec<Unit> = (0..parts[0].len()).filter(|_| alike).map(|place| either(&parts, place)).collect();
    if alike && passes_once(stream, &both) {
        return both;
    }
    parts.into_iter().flatten().map(|unit| Unit { ordered: false, ..unit }).collect()
}

/// A frame that comes by any of the paths.
fn either(parts: &[Vec<Unit>], place: usize) -> Unit {
    let ways = || parts.iter().map(|part| &part[place]);
    Unit {
        first: ways().map(|unit| unit.first).min().unwrap_or(0),
        last: ways().map(|unit| unit.last).max().unwrap_or(0),
        octets: ways().map(|unit| unit.octets).max().unwrap_or(0),
        least: ways().map(|unit| unit.least).min().unwrap_or(0),
        ordered: false,
        ..parts[0][place]
    }
}

/// Whether sequence recovery forwards no frame twice: vector recovery, if it cannot be reset between two copies.
fn passes_once(stream: &Stream, both: &[Unit]) -> bool {
    let recovery = stream.redundancy.as_ref().and_then(|own| own.recovery.as_ref());
    recovery.is_some_and(|recovery| {
        let reset = ps(recovery.reset_ns).unwrap_or(i64::MAX);
        matches!(recovery.algorithm, Algorithm::Vector { .. })
            && both.iter().all(|unit| unit.last - unit.first < reset)
    })
}
