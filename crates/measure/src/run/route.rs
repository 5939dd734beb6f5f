//! A stream's way to one listener, as the taps along it.

use std::collections::HashMap;
use tsn_plan::{Plan, Stage, Stream};

/// What a sighting at a tap is to a path.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Handed over to the talker's queue.
    Send,
    /// Left the talker.
    First,
    /// Passed the tap of this place on the way (the first tap has place 0).
    Between(u8),
    /// Arrived at the listener.
    Last,
}

/// The taps of one way.
#[derive(Debug, Default)]
pub(super) struct Way {
    pub(super) roles: Vec<(u16, Role)>,
    /// Names of the taps by place, from the first on.
    pub(super) names: Vec<String>,
    pub(super) first: Option<u16>,
    pub(super) last: Option<u16>,
}

/// Finds the taps between the talker and the end of route entry `last`.
///
/// The first tap is the first one that sees the frame leave a port; the last one that sees it arrive at the listener's
/// port. Without either there is nothing to measure between.
pub(super) fn way(plan: &Plan, stream: &Stream, last: u32, numbers: &HashMap<&str, u16>) -> Way {
    let mut hops = Vec::new();
    let mut entry = Some(last);
    // A checked Plan's parents come before their children, so this ends.
    while let Some(hop) = entry.and_then(|entry| stream.route.get(entry as usize)) {
        hops.push(hop.port);
        entry = hop.parent;
    }
    hops.reverse();
    // (tap number, name, stage) in the order in which a frame passes them.
    let mut passed: Vec<(u16, &str, Stage)> = Vec::new();
    for port in hops {
        let peer = plan.ports.get(port as usize).map(|port| port.peer);
        for (port, stage) in [(Some(port), Stage::Send), (Some(port), Stage::Tx), (peer, Stage::Rx)] {
            for tap in plan.taps.iter().filter(|tap| Some(tap.port) == port && tap.stage == stage) {
                if let Some(number) = numbers.get(tap.name.as_str()) {
                    passed.push((*number, &tap.name, stage));
                }
            }
        }
    }
    let first = passed.iter().position(|(_, _, stage)| *stage == Stage::Tx);
    let last = passed.iter().rposition(|(_, _, stage)| *stage == Stage::Rx);
    let mut way = Way::default();
    if let Some((number, ..)) =
        passed.iter().take(first.unwrap_or(usize::MAX)).find(|tap| tap.2 == Stage::Send)
    {
        way.roles.push((*number, Role::Send));
    }
    let Some(first) = first else { return way };
    for (place, (number, name, stage)) in passed.iter().enumerate().skip(first) {
        let role = match place {
            _ if place == first => Role::First,
            _ if Some(place) == last => Role::Last,
            _ if last.is_some_and(|last| place > last) || *stage == Stage::Send => continue,
            _ => Role::Between(u8::try_from(way.names.len()).unwrap_or(u8::MAX)),
        };
        way.roles.push((*number, role));
        if role != Role::Last {
            way.names.push((*name).to_owned());
        }
    }
    way.first = Some(passed[first].0);
    way.last = last.filter(|last| *last > first).map(|last| passed[last].0);
    way
}
