//! Whether queues have room for all scheduled frames that may wait in them.
//!
//! IEEE 802.1Q-2022, 8.6.7. A release waits from its earliest arrival until the latest start of its last frame. No other
//! frame is in the queue: the proof refuses other traffic in a class of scheduled streams.

use crate::link::{MOST_FRAMES, least_common_multiple, unroll};
use crate::passage::Passage;
use std::collections::{HashMap, HashSet};
use tsn_plan::Plan;

/// The queues, by port and class, that may be full.
pub(crate) fn crowded(plan: &Plan, passages: &[Passage]) -> HashSet<(u32, u8)> {
    let mut queues: HashMap<(u32, u8), Vec<&Passage>> = HashMap::new();
    for passage in passages {
        queues.entry((passage.port, passage.class)).or_default().push(passage);
    }
    queues.retain(|(port, class), own| {
        let class = &plan.ports[*port as usize].classes[usize::from(*class)];
        let frames = class.limit_frames.map_or(u64::MAX, u64::from);
        !fits(own, (frames, class.limit_octets.unwrap_or(u64::MAX)))
    });
    queues.into_keys().collect()
}

/// By stream, the first port on its paths whose queue is one of these.
pub(crate) fn full(queues: &HashSet<(u32, u8)>, passages: &[Passage]) -> HashMap<u32, u32> {
    let mut found = HashMap::new();
    for passage in passages.iter().filter(|one| queues.contains(&(one.port, one.class))) {
        found.entry(passage.stream).or_insert(passage.port);
    }
    found
}

/// Whether at no instant more than `most` frames and octets wait.
fn fits(passages: &[&Passage], most: (u64, u64)) -> bool {
    let span = |passage: &Passage| {
        let last = passage.frames.last().map_or(passage.complete, |frame| frame.0);
        (passage.comes - passage.comes_early, last)
    };
    // At most so many releases of one stream wait at once as begin within one of their spans.
    let at_once = passages.iter().map(|passage| {
        let (from, until) = span(passage);
        ((until - from + 2 * passage.margin) / passage.period + 1).unsigned_abs()
    });
    let all = at_once.zip(passages).fold((0, 0), |(frames, octets), (releases, passage)| {
        (frames + releases * passage.frames.len() as u64, octets + releases * passage.octets)
    });
    if all.0 <= most.0 && all.1 <= most.1 {
        return true;
    }
    let cycle = passages.iter().try_fold(1, |all, passage| least_common_multiple(all, passage.period));
    let frames = |cycle: i64| passages.iter().map(|passage| cycle / passage.period).sum::<i64>();
    let Some(cycle) = cycle.filter(|cycle| frames(*cycle) <= MOST_FRAMES) else { return false };
    let spans = unroll(passages, cycle, span);
    let mut waiting: Vec<(i64, &Passage)> = Vec::new();
    spans.iter().all(|span| {
        waiting.retain(|(until, _)| *until >= span.from);
        waiting.push((span.until, span.passage));
        let frames = waiting.iter().map(|(_, passage)| passage.frames.len() as u64).sum::<u64>();
        frames <= most.0 && waiting.iter().map(|(_, passage)| passage.octets).sum::<u64>() <= most.1
    })
}
