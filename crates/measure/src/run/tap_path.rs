//! A stream's path to one listener, as the taps along it.

use std::collections::HashMap;
use tsn_plan::{Plan, Stage, Stream};

/// The role of a tap in a path.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The frame is handed over to the talker's queue.
    Send,
    /// The frame leaves the talker.
    First,
    /// The frame passes the tap at this position of the path (the first tap has position 0).
    Between(u8),
    /// The frame arrives at the listener.
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
/// The first tap is the first one that observes the frame leaving a port; the last tap observes its arrival at the
/// listener's port. There is no path without both of them.
///
/// `between`: other first and last stages; stages of sending are the talker's, stages of receiving the listener's.
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
    // A listener that forwards a member stream to another listener, which does the same, is on the way to itself.
    let is_behind = |place: usize| {
        let parent = |entry: usize| stream.route[entry].parent.map(|parent| parent as usize);
        entries.get(place).is_some_and(|entry| {
            std::iter::successors(parent(*entry), |at| parent(*at)).any(|at| ends.contains(&(at as u32)))
        })
    };
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
        if wanted.is_inbound() {
            passed.iter().rposition(|tap| is(tap) && !is_behind(tap.3))
        } else {
            passed.iter().position(is)
        }
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
    // A checked Plan's parents come before their children. The later paths into a merge point may be listed after the
    // entries that follow it; the furthest tap still shows where a frame is lost.
    (0..found.len()).filter(|entry| found[*entry]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tsn_plan::{Merge, Point, Port, Redundancy, Route, Tap};

    /// The route of a stream: each entry's port, and the entry that leads to it.
    type Entries = [(u32, Option<u32>); 4];
    /// Two member streams from the talker to the listener, each over a bridge of its own.
    const APART: Entries = [(0, None), (2, None), (4, Some(0)), (6, Some(1))];
    /// Two member streams, with each one's entries in sequence.
    const ONE_BY_ONE: Entries = [(0, None), (4, Some(0)), (2, None), (6, Some(2))];
    /// One link, two member streams after it, and one link again.
    const SPLIT: Entries = [(0, None), (2, Some(0)), (4, Some(0)), (6, Some(1))];

    /// A Plan of links alone: ports 0 and 1 are the ends of one, 2 and 3 of the next, and so on; frames pass from the
    /// even port to the odd one. A tap is named by its stage and port.
    fn plan(route: &Entries, merge: &[u32], taps: &[&str]) -> Plan {
        let mut plan = Plan::read(include_str!("../../../sim/tests/plans/one-hop.json")).unwrap();
        let port = plan.ports[0].clone();
        plan.ports = (0..8).map(|number| Port { peer: number ^ 1, ..port.clone() }).collect();
        let tap = |name: &&str| {
            let mut words = name.split(' ');
            let (stage, port) = (words.next().unwrap(), words.next().unwrap());
            Tap {
                name: (*name).to_owned(),
                port: port.parse().unwrap(),
                stage: Stage::ALL.into_iter().find(|one| one.name() == stage).unwrap(),
                point: Point::Start,
                granularity_ns: 1,
            }
        };
        plan.taps = taps.iter().map(tap).collect();
        let stream = &mut plan.streams[0];
        stream.route = route.iter().map(|(port, parent)| Route { port: *port, parent: *parent }).collect();
        let merges = vec![Merge { from: merge.to_vec() }];
        stream.redundancy = Some(Box::new(Redundancy { merges, ..Redundancy::default() }));
        plan
    }

    /// The role of each tap in the path to the end of entry `last`, in the order of the path.
    fn roles(plan: &Plan, last: u32, between: (Stage, Stage)) -> String {
        let numbers = plan.taps.iter().zip(0..).map(|(tap, number)| (tap.name.as_str(), number)).collect();
        let path = tap_path(plan, &plan.streams[0], last, &numbers, between);
        let taps_of =
            |role: Role| path.roles.iter().filter(move |one| one.1 == role).map(|(number, _)| *number);
        assert_eq!(taps_of(Role::First).next(), path.first);
        assert_eq!(taps_of(Role::Last).next_back(), path.last);
        let told = path.roles.iter().map(|(number, role)| {
            let name = &plan.taps[usize::from(*number)].name;
            if let Role::Between(place) = role {
                assert_eq!(path.names[usize::from(*place)], *name);
            }
            format!("{name}: {role:?}")
        });
        told.collect::<Vec<_>>().join(", ")
    }

    fn on_the_wire(plan: &Plan, last: u32) -> String {
        roles(plan, last, (Stage::Tx, Stage::Rx))
    }

    const EVERY: [&str; 8] = ["tx 0", "rx 1", "tx 2", "rx 3", "tx 4", "rx 5", "tx 6", "rx 7"];

    #[test]
    fn member_streams_have_a_first_and_a_last_tap_at_each_end() {
        assert_eq!(
            on_the_wire(&plan(&APART, &[2, 3], &EVERY), 2),
            "tx 0: First, rx 1: Between(1), tx 2: First, rx 3: Between(3), \
             tx 4: Between(4), rx 5: Last, tx 6: Between(5), rx 7: Last"
        );
    }

    #[test]
    fn member_streams_that_split_and_merge_on_the_way_have_one_first_and_one_last_tap() {
        assert_eq!(
            on_the_wire(&plan(&SPLIT, &[1, 2], &EVERY), 3),
            "tx 0: First, rx 1: Between(1), tx 2: Between(2), rx 3: Between(3), \
             tx 4: Between(4), rx 5: Between(5), tx 6: Between(6), rx 7: Last"
        );
    }

    #[test]
    fn where_the_first_or_the_last_tap_is_on_the_way_no_other_is_first_or_last_with_it() {
        let taps = ["tx 2", "rx 3", "tx 4", "rx 5"];
        assert_eq!(
            on_the_wire(&plan(&ONE_BY_ONE, &[1, 3], &taps), 1),
            "tx 4: First, rx 5: Between(1), tx 2: Between(2), rx 3: Last"
        );
        assert_eq!(
            on_the_wire(&plan(&APART, &[2, 3], &["tx 0", "rx 1", "rx 3"]), 2),
            "tx 0: First, rx 1: Between(1), rx 3: Last"
        );
    }

    #[test]
    fn the_last_taps_of_a_listener_that_forwards_are_its_own() {
        // A triangle: the talker, and two listeners that send the member streams on to each other.
        let triangle: Entries = [(0, None), (2, None), (4, Some(1)), (6, Some(0))];
        let mut plan = plan(&triangle, &[0, 2], &["tx 0", "rx 1", "tx 2", "rx 3", "rx 5", "rx 7"]);
        plan.streams[0].redundancy.as_mut().unwrap().merges.push(Merge { from: vec![1, 3] });
        assert_eq!(
            on_the_wire(&plan, 0),
            "tx 0: First, rx 1: Last, tx 2: First, rx 3: Between(2), rx 5: Last"
        );
        assert_eq!(
            on_the_wire(&plan, 1),
            "tx 0: First, rx 1: Between(1), tx 2: First, rx 3: Last, rx 5: Between(3), rx 7: Last"
        );
    }

    #[test]
    fn of_two_taps_at_one_place_the_outer_one_is_first_or_last() {
        let taps = ["tx 0", "tx 0 again", "rx 7", "rx 7 again"];
        assert_eq!(
            on_the_wire(&plan(&SPLIT, &[1, 2], &taps), 3),
            "tx 0: First, tx 0 again: Between(1), rx 7: Between(2), rx 7 again: Last"
        );
    }

    #[test]
    fn stages_inside_the_hosts_are_before_and_behind_those_on_the_wire() {
        let taps = ["send 0", "tx 0", "send 2", "tx 2", "rx 5", "app-rx 5", "rx 7", "app-rx 7"];
        let plan = plan(&APART, &[2, 3], &taps);
        assert_eq!(
            on_the_wire(&plan, 2),
            "send 0: Send, tx 0: First, tx 2: First, rx 5: Last, app-rx 5: Between(2), rx 7: Last"
        );
        assert_eq!(
            roles(&plan, 2, (Stage::Send, Stage::AppRx)),
            "send 0: First, tx 0: Between(1), send 2: First, tx 2: Between(3), \
             rx 5: Between(4), app-rx 5: Last, rx 7: Between(5), app-rx 7: Last"
        );
    }

    #[test]
    fn without_a_tap_behind_the_first_one_nothing_arrives() {
        let plan = plan(&SPLIT, &[1, 2], &["send 0", "tx 0", "rx 7"]);
        assert_eq!(roles(&plan, 3, (Stage::Tx, Stage::AppRx)), "send 0: Send, tx 0: First, rx 7: Between(1)");
        assert_eq!(roles(&plan, 3, (Stage::Tx, Stage::Tx)), "send 0: Send, tx 0: First");
        assert_eq!(roles(&plan, 3, (Stage::AppRx, Stage::Rx)), "send 0: Send");
        // The last arrival is before the first departure.
        let early = self::plan(&APART, &[2, 3], &["rx 1", "rx 3", "tx 4", "tx 6"]);
        assert_eq!(on_the_wire(&early, 2), "tx 4: First");
    }
}
