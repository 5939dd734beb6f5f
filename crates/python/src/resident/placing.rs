//! The scheduled streams of a plan as the search keeps them from one change to the next.

use std::collections::HashSet;
use tsn_plan::{Pattern, Size, Stream};
use tsn_schedule::{GateList, Placed, Problem, Resident, TreeEntry};

/// The longest deadline: streams that stay have kept theirs.
const LONGEST_NS: i64 = 1_000_000_000;

/// The schedule of a plan.
pub(crate) struct Placing {
    /// The priority of each queue.
    pub queues: Vec<u8>,
    resident: Resident,
    /// By the place of a stream in the plan its number in the schedule; none of one that is not scheduled.
    pub numbers: Vec<Option<u32>>,
}

impl Placing {
    /// The schedule of these streams on the links of a problem; none if it cannot be kept so.
    pub fn of(problem: &Problem, queues: &[u8], all: &[Stream]) -> Option<Self> {
        let mut numbers = Vec::with_capacity(all.len());
        let (mut streams, mut placed) = (Vec::new(), Vec::new());
        for stream in all {
            let number = stream.scheduled.is_some().then_some(streams.len() as u32);
            numbers.push(number);
            if number.is_some() {
                let (stream, place) = kept(stream, queues)?;
                streams.push(stream);
                placed.push(place);
            }
        }
        let resident = Resident::new(Problem { streams, ..problem.clone() }, placed)?;
        Some(Self { queues: queues.to_vec(), resident, numbers })
    }

    /// The place of a stream in the schedule, which joins it now; none if it cannot be kept so.
    pub fn join(&mut self, stream: &Stream) -> Option<Option<u32>> {
        if stream.scheduled.is_none() {
            return Some(None);
        }
        let (stream, placed) = kept(stream, &self.queues)?;
        self.resident.add(stream, placed).map(Some)
    }

    /// The stream with this place in the plan leaves.
    pub fn leave(&mut self, place: usize) {
        if let Some(number) = self.numbers[place] {
            self.resident.remove(number);
        }
    }

    /// Places further streams, as [`Resident::place`] does; `left` and `near` are places of streams in the plan.
    pub fn place(
        &mut self,
        new: &[tsn_schedule::Stream],
        left: &HashSet<u32>,
        near: &[u32],
        wanted: impl Fn(u32) -> bool,
    ) -> Option<(Vec<Placed>, Vec<GateList>)> {
        let number = |place: &u32| self.numbers.get(*place as usize).copied().flatten();
        let left: Vec<u32> = left.iter().filter_map(number).collect();
        let near: Vec<u32> = near.iter().filter_map(number).collect();
        self.resident.place(new.to_vec(), &left, &near, wanted)
    }
}

/// A stream that stays, and its place; none if its frames have several sizes or paths.
pub(crate) fn kept(stream: &Stream, queues: &[u8]) -> Option<(tsn_schedule::Stream, Placed)> {
    let own = stream.scheduled.as_deref()?;
    let (&Pattern::Periodic { period_ns, offset_ns, .. }, &Size::Frame { octets }) =
        (&stream.pattern, &stream.size)
    else {
        return None;
    };
    let queue = u8::try_from(queues.iter().position(|pcp| *pcp == stream.pcp)?).ok()?;
    let start = |starts: &Vec<u64>| match starts[..] {
        [start] => i64::try_from(start).ok(),
        _ => None,
    };
    let tree: Vec<TreeEntry> =
        stream.route.iter().map(|hop| TreeEntry { link: hop.port, parent: hop.parent }).collect();
    let period = i64::try_from(period_ns).ok()?;
    let placed = Placed {
        offset_ns: i64::try_from(stream.start_ns.checked_add(offset_ns)? % period_ns).ok()?,
        tree: tree.clone(),
        starts_ps: own.starts_ps.iter().map(start).collect::<Option<_>>()?,
        queue,
        behind: own.behind.clone(),
        delay_ps: 0,
    };
    let stream = tsn_schedule::Stream {
        talker: stream.talker,
        listeners: stream.listeners.iter().map(|listener| listener.node).collect(),
        period_ns: period,
        frames: vec![octets],
        deadline_ns: LONGEST_NS,
        earliest_ns: 0,
        latest_ns: period - 1,
        tree: Some(tree),
        copies: 1,
        more_octets: Vec::new(),
        jitter_ns: None,
        queue: Some(queue),
    };
    Some((stream, placed))
}
