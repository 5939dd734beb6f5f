//! Streams whose addresses or VLAN change on the path: their frames are found by their content.
//!
//! The content is what does not change: the packet without link layer and tags. A stream of the receiving side with a key
//! that the sending side does not have belongs to the sent stream with the same frames. Streams of one side are the same
//! one if they have the same frames with the same numbers of R-TAGs, HSR tags or PRP trailers: member streams of 802.1CB.

use crate::flow::FlowKey;
use rustc_hash::FxHashMap;
use tsn_wire::dissect::Dissected;

/// Frames of one side whose content is kept.
const MOST_CONTENTS: usize = 200_000;
/// One of so many frames of a stream has to be found in another one.
const FOUND_AT_LEAST: u64 = 10;

/// The stream of a content; none if several streams have it.
type Owners<K> = FxHashMap<K, Option<FlowKey>>;

/// The contents at the begins of both sides.
pub(super) struct Contents {
    hash_octets: usize,
    sent: Owners<u64>,
    numbered: [Owners<(u64, u16)>; 2],
    sent_keys: FxHashMap<FlowKey, ()>,
    /// By key: frames, and how many of them are frames of another key.
    found: FxHashMap<FlowKey, (u64, FxHashMap<FlowKey, u64>)>,
}

impl Contents {
    pub(super) fn new(hash_octets: usize) -> Self {
        Self {
            hash_octets,
            sent: FxHashMap::default(),
            numbered: [FxHashMap::default(), FxHashMap::default()],
            sent_keys: FxHashMap::default(),
            found: FxHashMap::default(),
        }
    }

    /// Adds a frame of side 0, the sending one, or 1. All frames of side 0 come first. `message`: which of the frame's
    /// messages the key is of.
    pub(super) fn see(&mut self, frame: &Dissected<'_>, key: &FlowKey, side: usize, message: usize) {
        if matches!(key, FlowKey::Tsnbench(_)) {
            return;
        }
        let foreign = side == 1 && !self.sent_keys.contains_key(key);
        if side == 0 {
            self.sent_keys.entry(key.clone()).or_default();
        } else if !foreign && frame.redundancy().is_none() {
            return;
        }
        let hash = frame.invariant_hash(self.hash_octets).wrapping_add(message as u64);
        let mut twin = None;
        if let Some(redundancy) = frame.redundancy() {
            twin = owner(&mut self.numbered[side], (hash, redundancy.number), key, false);
        }
        if side == 0 {
            owner(&mut self.sent, hash, key, true);
        } else if foreign {
            twin = self.sent.get(&hash).cloned().flatten().or(twin);
        }
        if foreign || twin.is_some() {
            let (frames, found) = self.found.entry(key.clone()).or_default();
            *frames += 1;
            if let Some(twin) = twin {
                *found.entry(twin).or_default() += 1;
            }
        }
    }

    /// The keys of streams that are known under another key, with that key.
    pub(super) fn aliases(self) -> FxHashMap<FlowKey, FlowKey> {
        let mut aliases: FxHashMap<FlowKey, FlowKey> = FxHashMap::default();
        for (key, (frames, found)) in self.found {
            let Some((twin, times)) = found.into_iter().max_by_key(|(_, times)| *times) else { continue };
            if times * FOUND_AT_LEAST >= frames {
                aliases.insert(key, twin);
            }
        }
        // A twin may itself be known under another key, but not in a circle.
        let keys: Vec<FlowKey> = aliases.keys().cloned().collect();
        for key in keys {
            let Some(twin) = aliases.get(&key).cloned() else { continue };
            match aliases.get(&twin).cloned() {
                Some(first) if first == key => drop(aliases.remove(&key)),
                Some(first) => drop(aliases.insert(key, first)),
                None => {}
            }
        }
        aliases
    }
}

/// Notes that a stream has this content, and returns another stream that had it before. Where the same content may be in
/// frames of several streams, it belongs to none of them.
fn owner<K: std::hash::Hash + Eq>(
    owners: &mut Owners<K>,
    content: K,
    key: &FlowKey,
    exclusive: bool,
) -> Option<FlowKey> {
    if owners.len() >= MOST_CONTENTS {
        return owners.get(&content).cloned().flatten().filter(|owner| owner != key);
    }
    let known = owners.entry(content).or_insert_with(|| Some(key.clone()));
    let other = known.clone().filter(|owner| owner != key);
    if exclusive && other.is_some() {
        *known = None;
    }
    other
}
