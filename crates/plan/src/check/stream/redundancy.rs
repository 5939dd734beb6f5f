//! Checks of streams with more than one path.

use crate::check::{Check, ensure, index, time};
use crate::{Algorithm, Identification, Pattern, Plan, Redundancy, Stream, Survives};

/// Most paths that may merge.
const MOST_WAYS: usize = 16;
/// Shortest period of a timer: the standard's are in ms.
const SHORTEST_TIMER_NS: u64 = 1_000_000;
/// Most failures at once that a stream may have to survive.
const MOST_FAILURES: u32 = 4;
/// Sequence numbers of an R-TAG. IEEE 802.1CB-2017, 7.4.3.2.
const SEQUENCE_SPACE: u32 = 1 << 16;

impl Plan {
    pub(crate) fn check_redundancy(
        &self,
        stream: &Stream,
        redundancy: &Redundancy,
        path: impl Fn(&str) -> String,
    ) -> Check {
        let entries = stream.route.len();
        let path = |field: &str| path(&format!("redundancy.{field}"));
        let Redundancy { copies, merges, active, recovery } = redundancy;
        ensure(
            copies.is_empty() || copies.len() == entries,
            || path("copies"),
            || format!("{} copies of {entries} route entries", copies.len()),
        )?;
        let most = *copies.iter().max().unwrap_or(&0);
        ensure(usize::from(most) <= MOST_WAYS, || path("copies"), || format!("more than {MOST_WAYS}"))?;
        let end = |entry: u32| {
            self.ports[self.ports[stream.route[entry as usize].port as usize].peer as usize].node
        };
        let mut merged = std::collections::HashSet::new();
        for (number, merge) in merges.iter().enumerate() {
            let path = || path(&format!("merges[{number}].from"));
            let paths = merge.from.len();
            ensure((2..=MOST_WAYS).contains(&paths), path, || {
                format!("{paths} paths, not 2 to {MOST_WAYS}")
            })?;
            for (place, entry) in merge.from.iter().enumerate() {
                index(*entry, entries, path)?;
                ensure(merged.insert(*entry), path, || "an entry meets others twice".into())?;
                ensure(end(*entry) == end(merge.from[0]), path, || "they end at different nodes".into())?;
                let goes_on = stream.route.iter().any(|hop| hop.parent == Some(*entry))
                    || stream.listeners.iter().any(|listener| listener.route == *entry);
                ensure(goes_on == (place == 0), path, || {
                    "what follows must follow the first one, and only it".into()
                })?;
            }
        }
        let vector = recovery.as_ref().is_some_and(|own| matches!(own.algorithm, Algorithm::Vector { .. }));
        let problem = || "paths that meet go in a circle, and nothing but vector recovery ends that".into();
        ensure(vector || !goes_around(stream, redundancy), || path("merges"), problem)?;
        for (number, one) in active.iter().enumerate() {
            let path = |field: &str| path(&format!("active[{number}].{field}"));
            index(one.route, entries, || path("route"))?;
            let at_talker = stream.route[one.route as usize].parent.is_none();
            let saturating = matches!(stream.pattern, Pattern::Saturating { .. });
            ensure(
                !(at_talker && saturating),
                || path("route"),
                || "a saturating talker's own port cannot stand by".into(),
            )?;
            let mut last = 0;
            for span in &one.spans {
                let holds = span.from_ns < span.until_ns && span.from_ns >= last;
                ensure(holds, || path("spans"), || "not ascending and apart".into())?;
                last = span.until_ns;
            }
        }
        let Some(recovery) = recovery else { return Ok(()) };
        time(recovery.reset_ns, || path("recovery.reset_ns"))?;
        ensure(recovery.reset_ns > 0, || path("recovery.reset_ns"), || "must be more than 0".into())?;
        if let Algorithm::Vector { history } = recovery.algorithm {
            ensure(
                (1..SEQUENCE_SPACE / 2).contains(&history),
                || path("recovery.algorithm.history"),
                || format!("{history} is not between 1 and {}", SEQUENCE_SPACE / 2 - 1),
            )?;
        }
        let Some(latent) = &recovery.latent else { return Ok(()) };
        for (timer, field) in [(latent.period_ns, "period_ns"), (latent.reset_ns, "reset_ns")] {
            let path = || path(&format!("recovery.latent.{field}"));
            time(timer, path)?;
            ensure(timer >= SHORTEST_TIMER_NS, path, || "is less than 1 ms".into())?;
        }
        Ok(())
    }
}

impl Plan {
    /// The failures that a stream must survive.
    pub(crate) fn check_survival(&self, kinds: &[Survives], path: impl Fn(&str) -> String) -> Check {
        for (number, Survives { failures, links, nodes }) in kinds.iter().enumerate() {
            let path = |field: &str| path(&format!("requirements.survives[{number}].{field}"));
            let holds = (1..=MOST_FAILURES).contains(failures);
            ensure(holds, || path("failures"), || format!("{failures} is not 1 to {MOST_FAILURES}"))?;
            let again = kinds[..number].iter().any(|other| other.failures == *failures);
            ensure(!again, || path("failures"), || format!("{failures} again"))?;
            links.iter().try_for_each(|port| index(*port, self.ports.len(), || path("links")))?;
            nodes.iter().try_for_each(|node| index(*node, self.nodes.len(), || path("nodes")))?;
        }
        Ok(())
    }

    /// A stream with member streams must be distinguishable from every other stream where they are made or
    /// eliminated.
    pub(crate) fn check_identification(&self) -> Check {
        let nodes = |stream: &Stream| -> Vec<u32> {
            let ends = stream.route.iter().map(|hop| {
                let port = &self.ports[hop.port as usize];
                [port.node, self.ports[port.peer as usize].node]
            });
            ends.flatten().collect()
        };
        for (number, stream) in self.streams.iter().enumerate() {
            let Some(recovery) = stream.redundancy.as_ref().and_then(|own| own.recovery.as_ref()) else {
                continue;
            };
            let (made, meets) = self.acting(stream);
            // Other streams may have other VLANs on parts of their path.
            let shows = |other: &Stream, vid: Option<u16>| other.pairs().any(|pair| pair.1 == vid);
            let own = (stream.destination_mac.as_str(), stream.vid);
            let by_address = |other: &Stream| other.pairs().any(|pair| pair == own);
            let by_ip = |other: &Stream| {
                stream.destination_ipv4 == other.destination_ipv4
                    && (stream.talker, stream.udp_port) == (other.talker, other.udp_port)
                    && shows(other, stream.vid)
            };
            let passes =
                |other: &Stream, acting: &[u32]| nodes(other).iter().any(|node| acting.contains(node));
            let alike = |other: &Stream| match &recovery.identification {
                Identification::Null => by_address(other),
                // Where member streams are made, another function may identify the stream; where they merge, the
                // fields of the member streams must identify it.
                Identification::Active(own) => {
                    let shown = (own.destination_mac.as_str(), Some(own.vid));
                    (passes(other, &made) && by_address(other) && by_ip(other))
                        || (passes(other, &meets) && other.pairs().any(|pair| pair == shown))
                }
                Identification::SourceMac => stream.talker == other.talker && shows(other, stream.vid),
                Identification::Ip => by_ip(other),
            };
            let found = self.streams.iter().enumerate().find(|(other, own)| {
                *other != number && alike(own) && (passes(own, &made) || passes(own, &meets))
            });
            ensure(
                found.is_none(),
                || format!("streams[{number}].redundancy.recovery.identification"),
                || {
                    let (what, other) =
                        (recovery.identification.what(), &self.streams[found.map_or(0, |it| it.0)].name);
                    format!(
                        "{what} cannot tell {} and {other} apart: they would share sequence numbers",
                        stream.name
                    )
                },
            )?;
        }
        Ok(())
    }

    /// The nodes where member streams are made, and where they merge.
    fn acting(&self, stream: &Stream) -> (Vec<u32>, Vec<u32>) {
        let Some(redundancy) = &stream.redundancy else { return <_>::default() };
        let peer = |entry: u32| {
            let port = &self.ports[stream.route[entry as usize].port as usize];
            self.ports[port.peer as usize].node
        };
        let meets = redundancy.merges.iter().filter_map(|merge| merge.from.first()).map(|entry| peer(*entry));
        let copy =
            |entry: Option<u32>| entry.and_then(|entry| redundancy.copies.get(entry as usize).copied());
        let made = stream.route.iter().zip(&redundancy.copies).filter_map(|(hop, own)| {
            let first = *own > 0 && copy(hop.parent).unwrap_or(0) == 0;
            first.then(|| self.ports[hop.port as usize].node)
        });
        (made.collect(), meets.collect())
    }
}

impl Identification {
    fn what(&self) -> &'static str {
        match self {
            Self::Null => "null identification (destination address and VLAN)",
            Self::SourceMac => "source-mac identification (source address and VLAN)",
            Self::Ip => "ip identification",
            Self::Active(_) => "active identification (destination address and VLAN)",
        }
    }
}

/// Whether a frame can return to a node where it was: the entries after a merge point follow its first entry.
fn goes_around(stream: &Stream, redundancy: &Redundancy) -> bool {
    let entries = stream.route.len();
    let mut leader: Vec<usize> = (0..entries).collect();
    for merge in &redundancy.merges {
        let Some(first) = merge.from.first() else { continue };
        merge.from.iter().for_each(|entry| leader[*entry as usize] = *first as usize);
    }
    // Entries are removed once all entries that lead to them are: the rest is in a cycle, or after one.
    let mut before = vec![0_usize; entries];
    let mut after = vec![Vec::new(); entries];
    for (place, hop) in stream.route.iter().enumerate() {
        if let Some(parent) = hop.parent {
            // After a merge point, the parent is the first merging entry; the other merging entries lead there, too.
            after[leader[parent as usize]].push(place);
            before[leader[place]] += 1;
        }
    }
    let is_root = |place: usize| leader[place] == place && before[place] == 0;
    let mut waiting: Vec<usize> = (0..entries).filter(|place| is_root(*place)).collect();
    let mut left = (0..entries).filter(|place| leader[*place] == *place).count();
    while let Some(place) = waiting.pop() {
        left -= 1;
        for next in &after[place] {
            let next = leader[*next];
            before[next] -= 1;
            if before[next] == 0 {
                waiting.push(next);
            }
        }
    }
    left > 0
}

#[cfg(test)]
mod tests {
    use crate::check::broken::{redundant, refuses};
    use serde_json::json;

    #[test]
    fn member_streams_are_checked() {
        let holds = redundant();
        refuses(
            &holds,
            &[
                (
                    "/streams/0/redundancy/copies",
                    json!([1]),
                    "streams[0].redundancy.copies: 1 copies of 4 route entries",
                ),
                (
                    "/streams/0/redundancy/copies",
                    json!([1, 1, 17, 17]),
                    "streams[0].redundancy.copies: more than 16",
                ),
                (
                    "/streams/0/redundancy/merges/0/from",
                    json!([1]),
                    "streams[0].redundancy.merges[0].from: 1 paths, not 2 to 16",
                ),
                (
                    "/streams/0/redundancy/merges/0/from",
                    json!([1, 4]),
                    "streams[0].redundancy.merges[0].from: 4 is not the index of one of 4",
                ),
                (
                    "/streams/0/redundancy/merges/0/from",
                    json!([1, 1]),
                    "streams[0].redundancy.merges[0].from: an entry meets others twice",
                ),
                (
                    "/streams/0/redundancy/merges/0/from",
                    json!([1, 2]),
                    "streams[0].redundancy.merges[0].from: they end at different nodes",
                ),
                (
                    "/streams/0/redundancy/merges/0/from",
                    json!([3, 1]),
                    "streams[0].redundancy.merges[0].from: what follows must follow the first one, and only it",
                ),
                (
                    "/streams/0/redundancy/active/0/route",
                    json!(4),
                    "streams[0].redundancy.active[0].route: 4 is not the index of one of 4",
                ),
                (
                    "/streams/0/redundancy/active/0/spans/1/from_ns",
                    json!(4),
                    "streams[0].redundancy.active[0].spans: not ascending and apart",
                ),
                (
                    "/streams/0/redundancy/recovery/reset_ns",
                    json!(0),
                    "streams[0].redundancy.recovery.reset_ns: must be more than 0",
                ),
                (
                    "/streams/0/redundancy/recovery/algorithm/history",
                    json!(32_768),
                    "streams[0].redundancy.recovery.algorithm.history: 32768 is not between 1 and 32767",
                ),
                (
                    "/streams/0/redundancy/recovery/latent/period_ns",
                    json!(999_999),
                    "streams[0].redundancy.recovery.latent.period_ns: is less than 1 ms",
                ),
                (
                    "/streams/0/pattern",
                    json!({"kind": "saturating", "backlog": 1}),
                    "streams[0].redundancy.active[0].route: a saturating talker's own port cannot stand by",
                ),
            ],
        );
    }

    #[test]
    fn failures_to_survive_are_few_and_exist() {
        let mut holds = redundant();
        holds["streams"][0]["requirements"] =
            json!({"survives": [{"failures": 1, "links": [0], "nodes": [0]}, {"failures": 2}]});
        refuses(
            &holds,
            &[
                (
                    "/streams/0/requirements/survives/0/failures",
                    json!(0),
                    "streams[0].requirements.survives[0].failures: 0 is not 1 to 4",
                ),
                (
                    "/streams/0/requirements/survives/1/failures",
                    json!(1),
                    "streams[0].requirements.survives[1].failures: 1 again",
                ),
                (
                    "/streams/0/requirements/survives/0/links",
                    json!([99]),
                    "streams[0].requirements.survives[0].links: 99 is not the index of one of 8",
                ),
                (
                    "/streams/0/requirements/survives/0/nodes",
                    json!([99]),
                    "streams[0].requirements.survives[0].nodes: 99 is not the index of one of 4",
                ),
            ],
        );
    }
}
