//! Gate control lists for a schedule: when each link's queues are open.
//!
//! IEEE 802.1Q-2022, 8.6.8.4. Windows are rounded outward to ticks of the hardware. All other traffic has the
//! remaining time.

use crate::periods::lcm;
use crate::placement::Placed;
use crate::problem::{Limits, Problem};
use crate::shape::Shape;
use serde::{Deserialize, Serialize};
use tsn_units::INTER_FRAME_GAP;

/// The gate control list of one link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateList {
    /// The link; the list belongs to the port where frames enter it.
    pub link: u32,
    /// The start of the first entry, ns from the common origin of all offsets; less than a cycle.
    pub base_ns: i64,
    /// Sum of all intervals, ns.
    pub cycle_ns: i64,
    /// In order.
    pub entries: Vec<GateEntry>,
    /// Number of windows that were joined because the hardware cannot separate them.
    pub joined: u32,
}

/// One entry of a gate control list.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateEntry {
    /// Bit n: the gate of queue n is open, among the queues for time-triggered streams.
    pub queues: u8,
    /// Whether the gates of all other queues are open.
    pub others: bool,
    /// Length of the interval, ns.
    pub interval_ns: i64,
}

/// Why a link cannot have a gate control list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum GateRefusal {
    /// The periods need a cycle that is longer than the hardware's longest, or no multiple of its ticks.
    Cycle {
        /// The link.
        link: u32,
        /// The least common multiple of the periods, ns; none beyond 2^63 ps.
        cycle_ns: Option<i64>,
        /// The longest cycle of the hardware, ns.
        longest_ns: i64,
        /// The tick of the hardware, ns.
        granularity_ns: i64,
    },
    /// The list has too many entries, and joining windows would let a waiting frame leave early.
    Entries {
        /// The link.
        link: u32,
        /// The least number of entries that the list needs.
        needed: u64,
        /// The limit of the hardware.
        most: u32,
    },
    /// A window that is rounded or joined for the hardware would let a waiting frame leave early.
    Early {
        /// The link.
        link: u32,
        /// The stream of the frame.
        stream: u32,
        /// The shortest interval of the hardware, ns.
        shortest_interval_ns: i64,
    },
}

/// The most windows of one link that are written out over a cycle; more would take too much memory.
const MOST_WINDOWS: i64 = 1 << 20;

/// An interval in which the gates of other traffic are closed. With no open queue, it keeps the wire free until a
/// waiting frame leaves.
#[derive(Copy, Clone)]
struct Window {
    start: i64,
    end: i64,
    queues: u8,
}

/// The use that a stream makes of a link: when its gate must be open, and when closed while it waits. All ps.
struct QueueUse {
    stream: u32,
    period: i64,
    closed: i64,
    open: i64,
    end: i64,
    comes: i64,
    held: bool,
    queue: u8,
}

/// The list of every link that scheduled frames take, or why there is none.
#[must_use]
pub fn gate_lists(problem: &Problem, placed: &[Option<Placed>]) -> Vec<Result<GateList, GateRefusal>> {
    let placed = (0..).zip(placed).filter_map(|(number, placed)| Some((number, placed.as_ref()?)));
    gate_lists_of(problem, placed, |_| true)
}

/// The lists of the links that are `wanted`, which no other streams of the problem pass than those that are `placed`.
pub(crate) fn gate_lists_of<'a>(
    problem: &Problem,
    placed: impl Iterator<Item = (u32, &'a Placed)>,
    wanted: impl Fn(u32) -> bool,
) -> Vec<Result<GateList, GateRefusal>> {
    let mut parts: Vec<Vec<QueueUse>> = problem.links.iter().map(|_| Vec::new()).collect();
    for (number, placed) in placed {
        let stream = &problem.streams[number as usize];
        let shape = Shape::new(problem, stream, &placed.tree, &placed.starts_ps, &placed.behind);
        for part in shape.uses.iter().filter(|part| wanted(part.link)) {
            let link = &problem.links[part.link as usize];
            let at = placed.offset_ns * 1_000 + part.begins();
            let silence = link.rate().time(INTER_FRAME_GAP).ps();
            // A waiting frame leaves when its gate opens, so its window has no margin before it.
            let open = if part.held > 0 { at + link.margin_ps } else { at - silence };
            let shortest = shortest(&link.limits);
            let closed = if part.held > 0 { open - silence.max(shortest * 1_000) } else { open };
            parts[part.link as usize].push(QueueUse {
                stream: number,
                period: stream.period_ns,
                closed,
                open,
                end: at + part.whole(),
                comes: at - (part.held - link.limits.granularity_ns * 1_000).max(0),
                held: part.held > 0,
                queue: placed.queue.min(link.queues - 1),
            });
        }
    }
    let used = parts.iter().enumerate().filter(|(_, parts)| !parts.is_empty());
    used.map(|(link, parts)| list(link as u32, &problem.links[link].limits, parts)).collect()
}

fn list(link: u32, limits: &Limits, parts: &[QueueUse]) -> Result<GateList, GateRefusal> {
    let tick = limits.granularity_ns;
    let cycle = parts.iter().try_fold(1, |all, part| lcm(all, part.period));
    let too_long = |cycle_ns| GateRefusal::Cycle {
        link,
        cycle_ns,
        longest_ns: limits.longest_cycle_ns,
        granularity_ns: tick,
    };
    let cycle = cycle.ok_or_else(|| too_long(None))?;
    if cycle > limits.longest_cycle_ns || cycle % tick != 0 {
        return Err(too_long(Some(cycle)));
    }
    let unrolled: i64 = parts.iter().map(|part| cycle / part.period).sum();
    let entries =
        |needed: i64| GateRefusal::Entries { link, needed: needed.unsigned_abs(), most: limits.entries };
    if unrolled > MOST_WINDOWS {
        return Err(entries(unrolled));
    }
    let open = unroll(parts, cycle, tick);
    let mut windows = apart(&open, cycle);
    let before = windows.len();
    if !stretch(&mut windows, cycle, shortest(limits)) {
        // No time is left between the windows: the gates stay open throughout.
        windows =
            vec![Window { start: windows[0].start, end: windows[0].start + cycle, queues: all(&windows) }];
    }
    let needed = count(&windows, cycle);
    let short = needed > limits.entries as usize;
    if short {
        join_nearest(&mut windows, cycle, limits.entries as usize);
    }
    if let Some(stream) = leaves_early(parts, &windows, cycle) {
        let early = GateRefusal::Early { link, stream, shortest_interval_ns: limits.shortest_interval_ns };
        return Err(if short { entries(needed as i64) } else { early });
    }
    Ok(GateList {
        link,
        base_ns: windows[0].start.rem_euclid(cycle),
        cycle_ns: cycle,
        joined: before.saturating_sub(windows.len()) as u32,
        entries: written(&windows, cycle),
    })
}

/// The shortest interval in whole ticks, ns.
fn shortest(limits: &Limits) -> i64 {
    (limits.shortest_interval_ns + limits.granularity_ns - 1) / limits.granularity_ns * limits.granularity_ns
}

fn all(windows: &[Window]) -> u8 {
    windows.iter().fold(0, |queues, window| queues | window.queues)
}

/// Every window of a cycle, rounded outward to ticks. Starts lie within the cycle; ends may lie beyond it.
fn unroll(parts: &[QueueUse], cycle: i64, tick: i64) -> Vec<(Window, Kind)> {
    let step = tick * 1_000;
    let mut windows = Vec::new();
    for part in parts {
        for turn in 0..cycle / part.period {
            let moved = turn * part.period * 1_000;
            let open = (part.open + moved).div_euclid(step) * tick;
            let mut push = |from: i64, end: i64, queues: u8, kind| {
                let start = (from + moved).div_euclid(step) * tick;
                let first = start.rem_euclid(cycle);
                if end > start {
                    let window = Window { start: first, end: first + (end - start).min(cycle), queues };
                    windows.push((window, kind));
                }
            };
            let queue = 1 << part.queue;
            push(part.closed, open, if part.held { 0 } else { queue }, Kind::Silence);
            push(part.open, -(-(part.end + moved)).div_euclid(step) * tick, queue, Kind::Frame);
        }
    }
    windows
}

/// The purpose of a window.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Kind {
    /// A scheduled frame is sent.
    Frame,
    /// Other traffic may not begin to send; a scheduled frame may, unless it waits.
    Silence,
}

/// The windows without overlaps; the first one follows a gap, if there is a gap.
fn apart(open: &[(Window, Kind)], cycle: i64) -> Vec<Window> {
    // (time, counter, +1 at a start or -1 at an end). Counters 0 to 7: frames of each queue; 8 to 15: silences of
    // each queue; 16: silences of all queues.
    let mut turns: Vec<(i64, usize, i32)> = Vec::with_capacity(2 * open.len() + 2);
    let mut active = [0_i32; 17];
    for (window, kind) in open {
        let place = match (kind, window.queues) {
            (Kind::Silence, 0) => 16,
            (Kind::Silence, queues) => 8 + queues.trailing_zeros() as usize,
            (Kind::Frame, queues) => queues.trailing_zeros() as usize,
        };
        turns.push((window.start, place, 1));
        turns.push((window.end % cycle, place, -1));
        if window.end >= cycle {
            active[place] += 1;
        }
    }
    turns.sort_unstable();
    let mask = |active: &[i32]| {
        (0..8).filter(|queue| active[*queue as usize] > 0).fold(0_u8, |all, queue| all | 1 << queue)
    };
    // The queues with an open gate; None: other traffic may send.
    let state = |active: &[i32; 17]| match (mask(&active[..8]), active[16] > 0, mask(&active[8..16])) {
        (0, true, _) => Some(0),
        (0, false, 0) => None,
        (0, false, soft) => Some(soft),
        (hard, ..) => Some(hard),
    };
    let mut pieces: Vec<(i64, Option<u8>)> = Vec::new();
    let mut push = |at: i64, now: Option<u8>| {
        if pieces.last().is_some_and(|last| last.0 == at) {
            pieces.pop();
        }
        if pieces.last().is_none_or(|last| last.1 != now) {
            pieces.push((at, now));
        }
    };
    push(0, state(&active));
    for (at, place, change) in turns {
        active[place] += change;
        push(at, state(&active));
    }
    if pieces.len() > 1 && pieces[0].1 == pieces[pieces.len() - 1].1 {
        pieces.remove(0);
    }
    let behind_gap = |place: &usize| pieces[(place + pieces.len() - 1) % pieces.len()].1.is_none();
    let first = (0..pieces.len()).find(|place| pieces[*place].1.is_some() && behind_gap(place)).unwrap_or(0);
    let mut apart = Vec::new();
    for number in 0..pieces.len() {
        let at = |number: usize| pieces[number % pieces.len()].0 + (number / pieces.len()) as i64 * cycle;
        if let Some(queues) = pieces[(first + number) % pieces.len()].1 {
            apart.push(Window { start: at(first + number), end: at(first + number + 1), queues });
        }
    }
    apart
}

/// Removes intervals that are too short for the hardware: lengthens short windows and closes short gaps. False if no
/// window is left.
fn stretch(windows: &mut Vec<Window>, cycle: i64, shortest: i64) -> bool {
    let mut out: Vec<Window> = Vec::with_capacity(windows.len());
    for window in windows.iter() {
        let mut window = *window;
        if let Some(last) = out.last_mut() {
            let gap = window.start - last.end;
            let meets = gap < 0 || (gap == 0 && window.end - window.start < shortest);
            if meets || (gap == 0 && window.queues == last.queues) {
                last.end = last.end.max(window.end);
                last.queues |= window.queues;
                continue;
            }
            if gap < shortest && gap > 0 {
                if window.queues == last.queues {
                    last.end = last.end.max(window.end);
                    continue;
                }
                // In the short gap, only the queues of the last window stay open.
                last.end = window.start;
            }
        }
        window.end = window.end.max(window.start + shortest);
        out.push(window);
    }
    loop {
        let last = out.len() - 1;
        let end = out[0].start + cycle;
        if out[last].end > end {
            if last == 0 {
                return false;
            }
            // The last window reaches into the first one: join them.
            let first = out.remove(0);
            out[last - 1].end = out[last - 1].end.max(first.end + cycle);
            out[last - 1].queues |= first.queues;
            continue;
        }
        if end - out[last].end < shortest {
            out[last].end = end;
        }
        break;
    }
    *windows = out;
    true
}

/// How many entries these windows and their gaps need.
fn count(windows: &[Window], cycle: i64) -> usize {
    let gaps = (0..windows.len()).filter(|place| gap(windows, *place, cycle) > 0).count();
    windows.len() + gaps
}

/// From the end of one window to the beginning of the next.
fn gap(windows: &[Window], place: usize, cycle: i64) -> i64 {
    let next = windows.get(place + 1).map_or(windows[0].start + cycle, |next| next.start);
    next - windows[place].end
}

/// Joins windows over the smallest gaps until they are few enough.
fn join_nearest(windows: &mut Vec<Window>, cycle: i64, most: usize) {
    let mut by_gap: Vec<usize> = (0..windows.len() - 1).collect();
    by_gap.sort_by_key(|place| (gap(windows, *place, cycle), *place));
    let mut joined = vec![false; windows.len()];
    let mut entries = count(windows, cycle);
    for place in by_gap {
        if entries <= most {
            break;
        }
        entries -= if gap(windows, place, cycle) > 0 { 2 } else { 1 };
        joined[place + 1] = true;
    }
    let mut out: Vec<Window> = Vec::new();
    for (window, joined) in windows.iter().zip(joined) {
        match out.last_mut() {
            Some(last) if joined => {
                last.end = window.end;
                last.queues |= window.queues;
            }
            _ => out.push(*window),
        }
    }
    if entries > most {
        // Not even one window and one gap fit: one window takes the whole cycle.
        out = vec![Window { start: out[0].start, end: out[0].start + cycle, queues: all(&out) }];
    }
    *windows = out;
}

/// A stream whose frame would leave early because its queue is open while the frame waits; `None` if there is no such
/// stream.
fn leaves_early(parts: &[QueueUse], windows: &[Window], cycle: i64) -> Option<u32> {
    let (begin, span) = (windows[0].start * 1_000, cycle * 1_000);
    let open_within = |queue: u8, from: i64, until: i64| {
        let first = begin + (from - begin).rem_euclid(span);
        let until = first + (until - from);
        let reaches = |window: &Window, turn: i64| {
            window.queues >> queue & 1 == 1
                && window.start * 1_000 + turn < until
                && window.end * 1_000 + turn > first
        };
        let near = |at: i64| windows.partition_point(|window| window.end * 1_000 <= at);
        let here = windows[near(first)..].iter().take_while(|window| window.start * 1_000 < until);
        let again = windows.iter().take_while(|window| window.start * 1_000 + span < until);
        here.into_iter().any(|window| reaches(window, 0))
            || again.into_iter().any(|window| reaches(window, span))
    };
    let waits = parts.iter().filter(|part| part.held);
    for part in waits {
        for turn in 0..cycle / part.period {
            let moved = turn * part.period * 1_000;
            if open_within(part.queue, part.comes + moved, part.open + moved) {
                return Some(part.stream);
            }
        }
    }
    None
}

fn written(windows: &[Window], cycle: i64) -> Vec<GateEntry> {
    let mut entries = Vec::with_capacity(2 * windows.len());
    for (place, window) in windows.iter().enumerate() {
        entries.push(GateEntry {
            queues: window.queues,
            others: false,
            interval_ns: window.end - window.start,
        });
        let rest = gap(windows, place, cycle);
        if rest > 0 {
            entries.push(GateEntry { queues: 0, others: true, interval_ns: rest });
        }
    }
    entries
}
