//! Frames of member streams: their tags, and their arrivals where paths merge.
//!
//! IEEE 802.1CB-2017, 7.4.3 and 7.8. Behind a merge a frame is as early as by the fastest path, and as late as by the
//! slowest one, because all others may lose it. Then it may be behind later frames of its stream.

use crate::unit::{Unit, ps};
use std::collections::HashMap;
use tsn_plan::{Algorithm, Pattern, R_TAG_OCTETS, Stream};

/// Sequence numbers of an R-TAG. IEEE 802.1CB-2017, 7.8.
const ALL_NUMBERS: i64 = 1 << 16;

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

/// Whether a recovery function forwards a copy of every frame, if any one of its paths loses none.
///
/// All copies of a frame arrive within `spread`. In that time and in the one before, so many frames are released that
/// the number of the first copy is less than a history from the highest number that was forwarded; twice as many if the
/// function may have been reset meanwhile.
pub(crate) fn accepts_all(stream: &Stream, parts: &[Vec<Unit>]) -> bool {
    let recovery = stream.redundancy.as_ref().and_then(|own| own.recovery.as_ref());
    let (Some(recovery), Pattern::Periodic { period_ns, .. }) = (recovery, &stream.pattern) else {
        return true;
    };
    let Algorithm::Vector { history } = recovery.algorithm else { return true };
    let (Some(period), Some(reset)) = (ps(*period_ns), ps(recovery.reset_ns)) else { return false };
    remembers(history, reset, period, parts)
}

/// Whether a history is long enough for frames of this period, if the function is reset after `reset` ps of silence.
fn remembers(history: u32, reset: i64, period: i64, parts: &[Vec<Unit>]) -> bool {
    let mut arrivals: HashMap<usize, (i64, i64)> = HashMap::new();
    for unit in parts.iter().flatten() {
        let all = arrivals.entry(unit.turn).or_insert((unit.first, unit.last));
        *all = (all.0.min(unit.first), all.1.max(unit.last));
    }
    let spread = arrivals.values().map(|(first, last)| last - first).max().unwrap_or(0);
    let frames = parts.iter().flatten().map(|unit| unit.part as i64 + 1).max().unwrap_or(1);
    let near = frames * (spread / period.max(1) + 1);
    let needed = if reset > period + spread { near + 1 } else { 2 * near };
    needed <= i64::from(history) && near + i64::from(history) <= ALL_NUMBERS
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A data unit of two frames every 100 ps, by a path that takes from `first` to `last`.
    fn path(first: i64, last: i64) -> Vec<Unit> {
        let unit = |turn: usize| Unit {
            stream: 0,
            turn,
            ordered: true,
            first: first + 100 * (turn / 2) as i64,
            last: last + 100 * (turn / 2) as i64,
            bits: 0,
            wire: 0,
            octets: 64,
            least: 64,
            part: turn % 2,
        };
        (0..4).map(unit).collect()
    }

    #[test]
    fn a_merge_is_as_early_as_one_path_and_as_late_as_the_other() {
        let merged: Vec<Unit> = (0..4).map(|place| either(&[path(10, 30), path(50, 270)], place)).collect();
        let found: Vec<_> =
            merged.iter().map(|unit| (unit.turn, unit.first, unit.last, unit.ordered)).collect();
        assert_eq!(
            found,
            [(0, 10, 270, false), (1, 10, 270, false), (2, 110, 370, false), (3, 110, 370, false)]
        );
    }

    /// Copies are up to 260 ps apart: those of three data units of two frames.
    #[test]
    fn a_history_is_as_long_as_what_comes_between_two_copies() {
        let parts = [path(10, 30), path(50, 270)];
        let holds = |history, reset| remembers(history, reset, 100, &parts);
        assert_eq!([holds(7, 361), holds(6, 361)], [true, false]);
        // With a reset between two data units: twice as many.
        assert_eq!([holds(12, 360), holds(11, 360)], [true, false]);
        assert!(!remembers(1 << 16, 1_000, 100, &parts), "numbers repeat");
    }
}
