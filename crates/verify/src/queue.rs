//! The time by which each frame has certainly left a queue that has its windows for itself, or whose port has no
//! gates.
//!
//! First in, first out; IEEE 802.1Q-2022, 8.6.8.1 and 8.6.8.4. A frame waits for the frames that may have arrived
//! before it and may not have left yet. Let `s` be the last instant at which the port had none of these frames. Every
//! frame that is sent after `s` arrived after `s`, so the frame has left by `s` plus the time that these frames take
//! on the wire. This holds for every `s` and every order of arrival.

use crate::unit::{MOST_UNITS, Unit};

/// The times at which a class may send.
pub(crate) enum Service {
    /// Alone, in these spans of a cycle, ps; `gap` is the time that the preceding frame may still occupy.
    Windows { base: i64, cycle: i64, spans: Vec<(i64, i64)> },
    /// At any time, after one frame of a lower class (ps) and all frames of higher classes.
    Always { lower: i64 },
}

/// A frame of a queue in an unrolled round.
struct Turn {
    unit: usize,
    first: i64,
    last: i64,
    turn: (i64, usize),
    /// Last bit out, if known.
    out: i64,
}

/// For each frame the latest instant at which its last bit has left; `None` if there is no such bound.
///
/// `higher`: frames of higher classes, at ports without gates. `hyper`: the hyperperiod, after which all arrivals
/// repeat.
pub(crate) fn leaves(
    own: &[Unit],
    higher: &[Unit],
    service: &Service,
    gap: i64,
    hyper: i64,
) -> Option<Vec<i64>> {
    if own.len() > MOST_UNITS || higher.len() > 4 * MOST_UNITS {
        return None;
    }
    match service {
        Service::Windows { base, cycle, spans } => windowed(own, *base, *cycle, spans, gap, hyper),
        Service::Always { lower } => always(own, higher, *lower, hyper),
    }
}

/// Number of rounds: if the last two have the same result, all later rounds have it as well.
const ROUNDS: i64 = 5;

fn windowed(
    own: &[Unit],
    base: i64,
    cycle: i64,
    spans: &[(i64, i64)],
    gap: i64,
    hyper: i64,
) -> Option<Vec<i64>> {
    if spans.is_empty() || own.iter().any(|unit| unit.last - unit.first > hyper) {
        return None;
    }
    let mut turns: Vec<Turn> = Vec::new();
    for round in 0..=ROUNDS + 1 {
        for (number, unit) in own.iter().enumerate() {
            // Every unit is moved into one hyperperiod, so that units that are close in time have close rounds.
            let turn = round - unit.first.div_euclid(hyper);
            let (first, last) = (unit.first + turn * hyper, unit.last + turn * hyper);
            turns.push(Turn { unit: number, first, last, turn: (turn, unit.turn), out: i64::MAX });
        }
    }
    turns.sort_by_key(|turn| (turn.last, turn.first, turn.turn));
    let reach = own.iter().map(|unit| unit.last - unit.first).max().unwrap_or(0);
    let until = (ROUNDS + 1) * hyper;
    for number in 0..turns.len() {
        if turns[number].first >= until {
            continue;
        }
        let mut opens = turns[number].first;
        loop {
            let (open, close) = window(base, cycle, spans, opens)?;
            if open - turns[number].first > hyper {
                return None;
            }
            if let Some(out) = through(own, &turns, number, (open, close), gap, reach, hyper) {
                turns[number].out = out;
                break;
            }
            opens = close;
        }
        if turns[number].out - turns[number].first > hyper {
            return None;
        }
    }
    let mut found = vec![[0; 2]; own.len()];
    for turn in &turns {
        let round = turn.first.div_euclid(hyper);
        for (place, wanted) in [ROUNDS - 1, ROUNDS].into_iter().enumerate() {
            if round == wanted {
                found[turn.unit][place] = turn.out - turn.turn.0 * hyper;
            }
        }
    }
    found.into_iter().map(|[before, last]| (before == last).then_some(last)).collect()
}

/// The window that is open at an instant, or the next window.
fn window(base: i64, cycle: i64, spans: &[(i64, i64)], at: i64) -> Option<(i64, i64)> {
    let turn = (at - base).div_euclid(cycle) * cycle + base;
    let around = [turn - cycle, turn, turn + cycle].into_iter();
    around.flat_map(|turn| spans.iter().map(move |(from, to)| (turn + from, turn + to))).find(|w| w.1 > at)
}

/// The last bit out of a frame that passes one window, if the window certainly has room for it.
fn through(
    own: &[Unit],
    turns: &[Turn],
    number: usize,
    (open, close): (i64, i64),
    gap: i64,
    reach: i64,
    hyper: i64,
) -> Option<i64> {
    let me = &turns[number];
    // Frames that may be ahead in the queue, and the frame itself: (latest arrival, time on the wire).
    let mut front: Vec<(i64, i64)> = vec![(me.last, own[me.unit].bits)];
    let mut meet = |other: &Turn| {
        let behind = own[other.unit].is_behind(other.turn.0, &own[me.unit], me.turn.0);
        if other.first <= me.last && !behind && other.out > open {
            front.push((other.last.min(me.last), own[other.unit].wire));
        }
    };
    turns[number + 1..].iter().take_while(|other| other.last - reach <= me.last).for_each(&mut meet);
    let near = |other: &&Turn| other.last >= open.min(me.first) - 2 * hyper;
    turns[..number].iter().rev().take_while(near).for_each(&mut meet);
    front.sort_unstable_by_key(|(comes, _)| std::cmp::Reverse(*comes));
    let (mut most, mut work) = (i64::MIN, 0);
    for (comes, wire) in front {
        work += wire;
        // The inter-frame gap after a frame of another class may extend into the window.
        most = most.max(comes.max(open + gap) + work);
    }
    (most <= close).then_some(most)
}

fn always(own: &[Unit], higher: &[Unit], lower: i64, hyper: i64) -> Option<Vec<i64>> {
    let all = || own.iter().chain(higher);
    let work: i64 = all().map(|unit| unit.wire).sum();
    if work >= hyper || all().any(|unit| unit.last - unit.first > hyper) {
        return None;
    }
    own.iter().map(|me| alone(me, own, higher, lower, hyper)).collect()
}

/// The last bit out of a frame under strict priority.
fn alone(me: &Unit, own: &[Unit], higher: &[Unit], lower: i64, hyper: i64) -> Option<i64> {
    let mut starts = me.last + lower;
    loop {
        let mut front: Vec<(i64, i64)> = vec![(me.last, me.bits)];
        for (others, above) in [(own, false), (higher, true)] {
            for other in others {
                // Frames of the same class count until this frame arrives, frames of higher classes until it starts.
                let until = if above { starts } else { me.last };
                let latest = (until - other.first).div_euclid(hyper);
                for turn in latest - 6..=latest {
                    let (first, last) = (other.first + turn * hyper, other.last + turn * hyper);
                    let behind =
                        !above && (turn == 0 && std::ptr::eq(other, me) || other.is_behind(turn, me, 0));
                    if first <= until && !behind && last >= me.last - 2 * hyper {
                        front.push((last.min(until), other.wire));
                    }
                }
            }
        }
        front.sort_unstable_by_key(|(comes, _)| std::cmp::Reverse(*comes));
        let (mut most, mut work) = (i64::MIN, lower);
        for (comes, wire) in front {
            work += wire;
            // More than one hyperperiod earlier, more time has passed than the frames take. The frame itself is not
            // among the frames that arrived before `s`.
            if comes >= me.last - hyper {
                most = most.max(comes.min(me.last) + work);
            }
        }
        let out = most;
        if out - me.first > 2 * hyper {
            return None;
        }
        if out - me.bits <= starts {
            return Some(out);
        }
        starts = out - me.bits;
    }
}

/// The earliest start from `at` on of a frame that takes `bits`; `at` if no window is long enough.
pub(crate) fn opens(base: i64, cycle: i64, spans: &[(i64, i64)], at: i64, bits: i64) -> i64 {
    let turn = (at - base).div_euclid(cycle) * cycle + base;
    let around = [turn - cycle, turn, turn + cycle, turn + 2 * cycle].into_iter();
    let starts = around
        .flat_map(|turn| spans.iter().map(move |(from, to)| (turn + from, turn + to)))
        .map(|(from, to)| (from.max(at), to))
        .find(|(from, to)| from + bits <= *to);
    starts.map_or(at, |(from, _)| from)
}
