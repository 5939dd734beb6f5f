//! Queues of scheduled frames that never drain after one disturbance: each frame that comes later takes the window of
//! the one after it, and no window is spare.
//!
//! The queue is followed with one frame more than planned, the largest of its class, over several rounds of all
//! periods and of the gate control list. A queue that drops late frames drains by that.

use crate::gates::Table;
use crate::link::least_common_multiple;
use crate::passage::Passage;
use std::collections::HashMap;
use std::sync::Arc;
use tsn_plan::Plan;
use tsn_units::{BitRate, Duration, INTER_FRAME_GAP};

/// Limit of the frames of one round; longer rounds are not followed.
const MOST_FRAMES: i64 = 1 << 16;
/// The rounds that are followed. A backlog that is not smaller at the end than half-way stays for ever.
const ROUNDS: usize = 6;
/// The largest number of times of a round that are tried for the additional frame.
const MOST_TIMES: usize = 16;

/// A frame on its way into a queue: its arrival, and its time on the wire, ps.
#[derive(Copy, Clone)]
struct Frame {
    arrives: i64,
    class: u8,
    wire: i64,
}

/// What serves the queues of one port.
struct Link<'a> {
    table: &'a Table,
    /// The inter-frame gap, ps.
    gap: i64,
    /// By class, the longest time in the queue, ps.
    longest: [i64; 8],
}

/// By port, the classes whose queues never drain after one disturbance, one bit each.
pub(crate) fn stuck(plan: &Plan, tables: &[Option<Arc<Table>>], passages: &[Passage]) -> HashMap<u32, u8> {
    let mut by_port: HashMap<u32, Vec<&Passage>> = HashMap::new();
    for passage in passages {
        by_port.entry(passage.port).or_default().push(passage);
    }
    by_port
        .iter()
        .filter_map(|(port, own)| {
            let port_plan = &plan.ports[*port as usize];
            let gap = BitRate(port_plan.rate_bps).time(INTER_FRAME_GAP).ps();
            let mut longest = [i64::MAX; 8];
            for (longest, class) in longest.iter_mut().zip(&port_plan.classes) {
                *longest = class.longest_wait_ns.map_or(i64::MAX, |most| Duration::from_ns(most as i64).ps());
            }
            let link = Link { table: tables[*port as usize].as_deref()?, gap, longest };
            Some((*port, classes(&link, own)))
        })
        .collect()
}

/// By stream, the first port on its paths with a queue of the classes in `stuck`.
pub(crate) fn undrained(stuck: &HashMap<u32, u8>, passages: &[Passage]) -> HashMap<u32, u32> {
    let mut found = HashMap::new();
    for passage in passages {
        if stuck.get(&passage.port).is_some_and(|classes| classes >> passage.class & 1 == 1) {
            found.entry(passage.stream).or_insert(passage.port);
        }
    }
    found
}

/// The classes of one port whose queues never drain.
fn classes(link: &Link<'_>, passages: &[&Passage]) -> u8 {
    let round = passages
        .iter()
        .try_fold(link.table.cycle(), |all, passage| least_common_multiple(all, passage.period))
        .filter(|round| passages.iter().map(|one| round / one.period).sum::<i64>() <= MOST_FRAMES)
        .and_then(|round| round.checked_mul(ROUNDS as i64 + 2).map(|_| round));
    let Some(round) = round else { return 0 };
    let mut queues: [Queue; 8] = Default::default();
    for frame in arrivals(passages, round) {
        queues[usize::from(frame.class)].frames.push(frame);
    }
    queues.iter_mut().for_each(|queue| queue.find_repeats(round));
    let mut log = Vec::new();
    let planned =
        Port { link, queues: &queues, extra: None, state: State::default() }.sent(round, |at, port| {
            log.push((at, port.state));
            true
        });
    let stays = |extra: Frame| {
        let class = usize::from(extra.class);
        let place = queues[class].frames.partition_point(|one| one.arrives < extra.arrives);
        // Until the frame comes, all is as planned.
        let before = log.partition_point(|(at, _)| *at < extra.arrives);
        let state = before.checked_sub(1).map_or_else(State::default, |last| log[last].1);
        let late =
            Port { link, queues: &queues, extra: Some((place, extra)), state }.sent(round, |_, port| {
                // Once it has left, and the port is as it was planned after as many frames, all that follows is as planned.
                let last = port.state.gone.iter().sum::<usize>().checked_sub(1);
                port.extra.is_some()
                    || last.and_then(|last| log.get(last)).is_none_or(|own| own.1 != port.state)
            });
        let (Some(planned), Some(late)) = (&planned, late) else { return false };
        let backlog = |turn: usize| 1 + planned[turn][class] - late[turn][class];
        (ROUNDS / 2..ROUNDS).all(|turn| backlog(turn) > 0) && backlog(ROUNDS - 1) >= backlog(ROUNDS / 2)
    };
    let never = |class: &u8| {
        let own = &queues[usize::from(*class)].frames;
        let Some(wire) = own.iter().map(|one| one.wire).max() else { return false };
        // It matters where in the round the frame comes: a longer frame lets shorter windows pass.
        let times = &own[..own.partition_point(|one| one.arrives < round)];
        let step = times.len().div_ceil(MOST_TIMES).max(1);
        times.iter().step_by(step).any(|one| stays(Frame { wire, ..*one }))
    };
    (0..8).filter(never).fold(0, |all, class| all | 1 << class)
}

/// Every frame of all rounds, in the order of their arrivals.
fn arrivals(passages: &[&Passage], round: i64) -> Vec<Frame> {
    let mut frames = Vec::new();
    let mut merged: Vec<u32> = Vec::new();
    for passage in passages {
        // Where member streams merge, one of their frames passes, at one of the times that are kept free.
        if passage.copies {
            if merged.contains(&passage.stream) {
                continue;
            }
            merged.push(passage.stream);
        }
        let first = passage.comes.rem_euclid(passage.period);
        for turn in 0..ROUNDS as i64 * round / passage.period {
            let moved = first - passage.comes + turn * passage.period;
            for (place, (begin, end)) in passage.frames.iter().enumerate() {
                let arrives = if place == 0 { passage.comes } else { *begin };
                let frame = Frame { arrives: arrives + moved, class: passage.class, wire: end - begin };
                frames.push((frame.arrives, begin + moved, frame));
            }
        }
    }
    frames.sort_by_key(|(arrives, begin, frame)| (*arrives, *begin, frame.class));
    frames.into_iter().map(|(.., frame)| frame).collect()
}

/// The frames of a class, in the order of their arrivals.
#[derive(Default)]
struct Queue {
    frames: Vec<Frame>,
    /// From this place on, the frames of a round are those of the round before.
    repeats: usize,
}

impl Queue {
    fn per_round(&self) -> usize {
        self.frames.len() / ROUNDS
    }

    fn find_repeats(&mut self, round: i64) {
        let both = self.frames.iter().zip(&self.frames[self.per_round()..]);
        let same =
            |(one, next): &(&Frame, &Frame)| (one.arrives + round, one.wire) == (next.arrives, next.wire);
        self.repeats = self.frames.len() - self.per_round() - both.rev().take_while(same).count();
    }
}

/// When the wire of a port is free again, and how many of its planned frames have left, by class.
#[derive(Copy, Clone, Default, PartialEq, Eq)]
struct State {
    now: i64,
    gone: [usize; 8],
}

/// A port with all frames that come.
struct Port<'a> {
    link: &'a Link<'a>,
    /// The planned frames, by class, in the order of their arrivals.
    queues: &'a [Queue; 8],
    /// One frame more, before the planned one with this place, until it has left.
    extra: Option<(usize, Frame)>,
    state: State,
}

impl Port<'_> {
    /// The first frame of a queue.
    fn front(&self, class: usize) -> Option<&Frame> {
        let place = self.state.gone[class];
        let extra = self.extra.as_ref().filter(|(at, own)| (*at, usize::from(own.class)) == (place, class));
        extra.map(|(_, own)| own).or_else(|| self.queues[class].frames.get(place))
    }

    /// When a queue's first frame starts or is dropped, and whether it starts.
    fn leaves(&self, frame: &Frame) -> Option<(i64, bool)> {
        let end = frame.arrives.saturating_add(self.link.longest[usize::from(frame.class)]);
        let start = self.link.table.fits(frame.class, self.state.now.max(frame.arrives), frame.wire);
        let late = (end < i64::MAX).then_some((end, false));
        start.filter(|start| *start < end).map(|start| (start, true)).or(late)
    }

    /// By round and class: how many frames have left by the end of the round, sent or dropped; none if `goes_on` says
    /// so after a frame.
    ///
    /// IEEE 802.1Q-2022, 8.6.8: the highest class whose gate is open for all of its first frame sends.
    fn sent(mut self, round: i64, mut goes_on: impl FnMut(i64, &Self) -> bool) -> Option<Vec<[i64; 8]>> {
        let mut count = self.state.gone.map(|gone| gone as i64);
        let mut found: Vec<[i64; 8]> = Vec::with_capacity(ROUNDS);
        let mut last = None;
        loop {
            let firsts = (0..8).filter_map(|class| self.front(class));
            let next = firsts
                .filter_map(|one| Some((self.leaves(one)?, *one)))
                .min_by_key(|((at, _), frame)| (*at, std::cmp::Reverse(frame.class)));
            let ends = next.map_or(i64::MAX, |((at, _), _)| at);
            while found.len() < ROUNDS && ends >= (found.len() as i64 + 1) * round {
                found.push(count);
                let now = (self.state.now - found.len() as i64 * round).max(0);
                let state = self.extra.is_none().then_some(State { now, ..self.state });
                let before = std::mem::replace(&mut last, state);
                if before.zip(state).is_some_and(|(before, now)| self.repeats(&before, &now)) {
                    return Some(continued(found));
                }
            }
            let Some(((at, starts), frame)) = next.filter(|_| found.len() < ROUNDS) else {
                return Some(found);
            };
            let class = usize::from(frame.class);
            // What comes behind a frame that is dropped does not start before that.
            self.state.now = if starts { at + frame.wire + self.link.gap } else { self.state.now.max(at) };
            count[class] += 1;
            let is_extra =
                |(place, own): &(usize, Frame)| (*place, own.class) == (self.state.gone[class], frame.class);
            if self.extra.take_if(|own| is_extra(own)).is_none() {
                self.state.gone[class] += 1;
            }
            if !goes_on(at, &self) {
                return None;
            }
        }
    }

    /// Whether a round that begins so goes on as the one before did; `now` is the time from the begin of the round on.
    fn repeats(&self, before: &State, state: &State) -> bool {
        let same = |(class, queue): (usize, &Queue)| {
            let (was, gone) = (before.gone[class], state.gone[class]);
            was >= queue.repeats && gone == was + queue.per_round()
        };
        before.now == state.now && self.queues.iter().enumerate().all(same)
    }
}

/// Frames that have left by round, where all further rounds are as the last one.
fn continued(mut found: Vec<[i64; 8]>) -> Vec<[i64; 8]> {
    while let [.., before, last] = found[..]
        && found.len() < ROUNDS
    {
        found.push(std::array::from_fn(|class| 2 * last[class] - before[class]));
    }
    found
}
