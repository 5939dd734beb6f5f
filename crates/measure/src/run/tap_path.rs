//! A stream's path to one listener, as the taps along it.

use std::collections::HashMap;
use tsn_plan::{Plan, Stage, Stream};

/// What a sighting at a tap is to a path.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Handed over to the talker's queue.
    Send,
    /// Left the talker.
    First,
    /// Passed the tap at this position of the path (the first tap has position 0).
    Between(u8),
    /// Arrived at the listener.
    Last,
}

/// The taps along one path.
#[derive(Debug, Default)]
pub(super) struct TapPath {
    pub(super) roles: Vec<(u16, Role)>,
    /// Names of the taps by their position, from the first tap on.
    pub(super) names: Vec<String>,
    pub(super) first: Option<u16>,
    pub(super) last: Option<u16>,
}

/// Finds the taps between the talker and the end of route entry `last`.
///
/// The first tap is the first one that sees the frame leave a port; the last one that sees it arrive at the listener's
/// port. Without either there is nothing to measure between.
///
/// `between`: the first and the last stage instead; stages of sending are the talker's, stages of receiving the
/// listener's.
pub(super) fn tap_path(
    plan: &Plan,
    stream: &Stream,
    last: u32,
    numbers: &HashMap<&str, u16>,
    (from, to): (Stage, Stage),
) -> TapPath {
    let entries = entries(stream, last);
    let hops: Vec<u32> = entries.iter().map(|entry| stream.route[*entry].port).collect();
    let ends = merged_entries(stream, last);
    // Member streams may leave or arrive by several ports; each of these has a first or a last tap.
    let is_end = |place: usize| entries.get(place).is_some_and(|entry| ends.contains(&(*entry as u32)));
    let is_root =
        |place: usize| entries.get(place).is_some_and(|entry| stream.route[*entry].parent.is_none());
    // (tap number, name, stage) in the order in which a frame passes them.
    let mut passed: Vec<(u16, &str, Stage, usize)> = Vec::new();
    for (hop, port) in hops.into_iter().enumerate() {
        let peer = plan.ports.get(port as usize).map(|port| port.peer);
        for stage in Stage::ALL {
            let port = if stage.is_inbound() { peer } else { Some(port) };
            for tap in plan.taps.iter().filter(|tap| Some(tap.port) == port && tap.stage == stage) {
                if let Some(number) = numbers.get(tap.name.as_str()) {
                    passed.push((*number, &tap.name, stage, hop));
                }
            }
        }
    }
    let of = |wanted: Stage| {
        let is = |(_, _, stage, _): &(u16, &str, Stage, usize)| *stage == wanted;
        if wanted.is_inbound() { passed.iter().rposition(is) } else { passed.iter().position(is) }
    };
    let (first, last) = (of(from), of(to));
    let mut path = TapPath::default();
    if let Some((number, ..)) =
        passed.iter().take(first.unwrap_or(usize::MAX)).find(|tap| tap.2 == Stage::Send)
    {
        path.roles.push((*number, Role::Send));
    }
    let Some(first) = first else { return path };
    let tx_first = is_root(passed[first].3);
    let rx_last = last.is_some_and(|last| is_end(passed[last].3));
    for (place, (number, name, stage, hop)) in passed.iter().enumerate().skip(first) {
        let role = match place {
            _ if place == first => Role::First,
            _ if tx_first && *stage == from && is_root(*hop) && *hop != passed[first].3 => Role::First,
            _ if Some(place) == last => Role::Last,
            _ if rx_last
                && *stage == to
                && is_end(*hop)
                && last.is_some_and(|last| *hop != passed[last].3) =>
            {
                Role::Last
            }
            _ if last.is_some_and(|last| place > last) || *stage == Stage::Send => continue,
            _ => Role::Between(u8::try_from(path.names.len()).unwrap_or(u8::MAX)),
        };
        path.roles.push((*number, role));
        if role != Role::Last {
            path.names.push((*name).to_owned());
        }
    }
    path.first = Some(passed[first].0);
    path.last = last.filter(|last| *last > first).map(|last| passed[last].0);
    path
}

/// The route entries that end where this one does, this one included: several where member streams merge.
fn merged_entries(stream: &Stream, entry: u32) -> Vec<u32> {
    let merges = stream.redundancy.iter().flat_map(|redundancy| &redundancy.merges);
    let merge = merges.into_iter().find(|merge| merge.from.contains(&entry));
    merge.map_or_else(|| vec![entry], |merge| merge.from.clone())
}

/// All route entries that lead to the end of `last`, parents before their children; the entries of one member stream
/// before those of the next.
fn entries(stream: &Stream, last: u32) -> Vec<usize> {
    let mut found = vec![false; stream.route.len()];
    let mut waiting = merged_entries(stream, last);
    while let Some(entry) = waiting.pop() {
        let Some(hop) = stream.route.get(entry as usize) else { continue };
        if !std::mem::replace(&mut found[entry as usize], true) {
            waiting.extend(hop.parent.iter().flat_map(|parent| merged_entries(stream, *parent)));
        }
    }
    // A checked Plan's parents come before their children. The later paths into a merge point may come after
    // what follows it in the list; where a frame is lost is told by the furthest tap on it all the same.
    (0..found.len()).filter(|entry| found[*entry]).collect()
}
