//! Ports with pre-emption, holds and shapers against a port that is stepped nanosecond by nanosecond.
//!
//! At every nanosecond the slow port checks every gate and whether preemptable frames are held back, and
//! updates every credit. At 1 Gbit/s an octet takes 8 ns, so every event is at a whole nanosecond.

use crate::common::{Arrivals, Packet, drive};
use proptest::prelude::*;
use std::collections::VecDeque;
use tsn_bridge::MergeCounters;
use tsn_plan::{Cbs, Class, GateEntry, Gates, MacOperation, Port, Preemption};

const RATE: i64 = 1_000_000_000;
const CLASSES: usize = 3;
/// The time of the octets that cannot be cut, with their gap.
const ADVANCE: i64 = (123 + 20) * 8;

#[derive(Debug, Default, PartialEq)]
struct Outcome {
    /// (first bit, last bit, frame), in order of the last bit.
    sent: Vec<(i64, i64, usize)>,
    dropped: Vec<usize>,
    preemptions: u64,
    continuations: u64,
    holds: u64,
}

fn machine(port: &Port, arrivals: &Arrivals, until: i64) -> Outcome {
    let mut outcome = Outcome::default();
    let machine = drive(port, arrivals, until, |_, actions| {
        if let Some(start) = &actions.start {
            let (first, last) = (start.first_bit.ps() / 1_000, start.last_bit.ps() / 1_000);
            outcome.sent.push((first, last, start.frame.number));
        }
        outcome.dropped.extend(actions.dropped.as_ref().map(|drop| drop.frame.number));
    });
    let MergeCounters { preemptions, continuations, holds, .. } = machine.merge_counters().unwrap();
    outcome.sent.retain(|(_, last, _)| *last <= until);
    outcome.sent.sort_by_key(|(_, last, _)| *last);
    Outcome { preemptions, continuations, holds, ..outcome }
}

/// The content of an mPacket on the wire.
#[derive(Copy, Clone, Debug)]
struct Part {
    class: usize,
    packet: Packet,
    begun: i64,
    /// Octets before this part.
    before: u32,
    /// Octets in this part.
    octets: u32,
    whole: bool,
}

fn slow(port: &Port, arrivals: &Arrivals, until: i64) -> Outcome {
    let gates = port.gates.as_ref();
    let express = port.preemption.as_ref().unwrap().express;
    let (mut states, mut held) = (Vec::new(), Vec::new());
    if let Some(gates) = gates {
        let mut hold = false;
        for _ in 0..2 {
            states.clear();
            held.clear();
            for entry in &gates.entries {
                hold = entry.mac.map_or(hold, |mac| mac == MacOperation::Hold);
                states.extend(std::iter::repeat_n(entry.open, entry.interval_ns as usize));
                held.extend(std::iter::repeat_n(hold, entry.interval_ns as usize));
            }
        }
    }
    let phase = |now: i64| (now - gates.unwrap().base_time_ns).rem_euclid(states.len() as i64) as usize;
    let open = |class: usize, now: i64| gates.is_none() || states[phase(now)] >> class & 1 == 1;
    // The hold is requested early enough; a release takes effect at once.
    let length = states.len();
    let soon = (0..length).map(|at| {
        let ahead = (ADVANCE as usize).min(length);
        held[at] || held[at..].iter().chain(&held).take(ahead + 1).any(|held| *held)
    });
    let soon: Vec<bool> = soon.collect();
    let is_held = |now: i64| gates.is_some() && soon[phase(now)];
    let no_part_while_held = |begun: i64, end: i64| {
        assert!(gates.is_none() || (begun..end).all(|at| !held[phase(at)]), "{begun} to {end}");
    };
    let cycle = states.len() as i64;
    // How long a gate stays open from every nanosecond of the cycle on.
    let stays = |class: usize| {
        let mut run = 0;
        let mut found: Vec<i64> = (0..3 * length)
            .rev()
            .map(|at| {
                run = if states[at % length] >> class & 1 == 1 { run + 1 } else { 0 };
                if run > 2 * cycle { i64::MAX } else { run }
            })
            .collect();
        found.reverse();
        found.truncate(length);
        found
    };
    let stays: Vec<Vec<i64>> = (0..CLASSES).map(stays).collect();
    let stays = |class: usize, now: i64| if gates.is_none() { i64::MAX } else { stays[class][phase(now)] };
    // Whether a preemptable frame may begin: it fits, or its window ends in a hold, which cuts the frame in
    // time.
    let may_begin = |class: usize, octets: u32, now: i64| {
        if is_held(now) || !open(class, now) {
            return false;
        }
        let whole = i64::from(octets + 8) * 8;
        let closes = now.saturating_add(stays(class, now));
        let least = i64::from(octets.min(123) + 8) * 8;
        now + whole <= closes
            || now + least <= closes
                && closes < i64::MAX
                && (now..=closes).find(|at| is_held(*at)).is_some_and(|hold| (hold..closes).all(is_held))
    };
    let fits_express = |class: usize, octets: u32, now: i64| stays(class, now) >= i64::from(octets + 8) * 8;
    let ever = |class: usize, octets: u32| {
        gates.is_none()
            || (0..cycle).any(|now| {
                if express >> class & 1 == 1 {
                    fits_express(class, octets, now)
                } else {
                    may_begin(class, octets, now)
                }
            })
    };
    let mut queues: Vec<VecDeque<Packet>> = vec![VecDeque::new(); CLASSES];
    let mut credit = [0i128; CLASSES];
    let mut outcome = Outcome::default();
    let mut wire: Option<Part> = None;
    let mut free = i64::MIN;
    // The class that has the wire until `free`, with its gap: for the credit.
    let mut sender = None;
    // An interrupted frame: class, packet, octets sent, first bit.
    let mut waiting: Option<(usize, Packet, u32)> = None;
    let mut next = 0;
    let mut first: std::collections::HashMap<usize, i64> = Default::default();
    let mut known: std::collections::HashMap<(usize, u32), bool> = Default::default();
    for now in 0..=until {
        if free == now {
            sender = None;
        }
        if let Some(part) = wire.filter(|part| now == part.begun + i64::from(8 + part.octets) * 8) {
            if part.whole {
                outcome.sent.push((first[&part.packet.number], now, part.packet.number));
            }
            if express >> part.class & 1 == 0 {
                no_part_while_held(part.begun, now);
            }
            wire = None;
        }
        while next < arrivals.len() && arrivals[next].0 == now {
            let (_, class, octets) = arrivals[next];
            let class = usize::from(class);
            if *known.entry((class, octets)).or_insert_with(|| ever(class, octets)) {
                queues[class].push_back(Packet { number: next, octets });
            } else {
                outcome.dropped.push(next);
            }
            next += 1;
        }
        let interrupted = |class: usize, waiting: &Option<(usize, Packet, u32)>| {
            waiting.as_ref().is_some_and(|one| one.0 == class)
        };
        for class in 0..CLASSES {
            if queues[class].is_empty() && sender != Some(class) && !interrupted(class, &waiting) {
                credit[class] = credit[class].min(0);
            }
        }
        let may =
            |class: usize, credit: &[i128; CLASSES]| port.classes[class].cbs.is_none() || credit[class] >= 0;
        let express_at = |at: i64, credit: &[i128; CLASSES], queues: &[VecDeque<Packet>]| {
            (0..CLASSES).rev().find(|class| {
                express >> class & 1 == 1
                    && queues[*class].front().is_some_and(|head| fits_express(*class, head.octets, at))
                    && may(*class, credit)
            })
        };
        // Whether the frame is cut.
        if let Some(part) = wire.as_mut().filter(|part| part.whole && express >> part.class & 1 == 0) {
            let elapsed = now - part.begun;
            let begun = ((elapsed + 7) / 8) as u32;
            let sent = begun.saturating_sub(8).max(60);
            if sent + 64 <= part.octets {
                let then = part.begun + i64::from(8 + sent + 4 + 12) * 8;
                let wanted = express_at(now, &credit, &queues).is_some()
                    && express_at(then, &credit, &queues).is_some();
                if is_held(now) || wanted {
                    if is_held(now) {
                        outcome.holds += 1
                    } else {
                        outcome.preemptions += 1
                    }
                    waiting = Some((part.class, part.packet, part.before + sent));
                    part.octets = sent + 4;
                    part.whole = false;
                    free = then;
                }
            }
        }
        if now >= free {
            if let Some(class) = express_at(now, &credit, &queues) {
                let packet = queues[class].pop_front().unwrap();
                wire =
                    Some(Part { class, packet, begun: now, before: 0, octets: packet.octets, whole: true });
                first.insert(packet.number, now);
            } else if let Some((class, packet, sent)) = waiting.filter(|_| !is_held(now)) {
                waiting = None;
                outcome.continuations += 1;
                wire = Some(Part {
                    class,
                    packet,
                    begun: now,
                    before: sent,
                    octets: packet.octets - sent,
                    whole: true,
                });
            } else if waiting.is_none()
                && let Some(class) = (0..CLASSES).rev().find(|class| {
                    express >> class & 1 == 0
                        && may(*class, &credit)
                        && queues[*class].front().is_some_and(|head| may_begin(*class, head.octets, now))
                })
            {
                let packet = queues[class].pop_front().unwrap();
                wire =
                    Some(Part { class, packet, begun: now, before: 0, octets: packet.octets, whole: true });
                first.insert(packet.number, now);
            }
            if let Some(part) = wire {
                free = now + i64::from(part.octets + 20) * 8;
                sender = Some(part.class);
            }
        }
        for class in 0..CLASSES {
            let Some(cbs) = &port.classes[class].cbs else { continue };
            if sender == Some(class) {
                credit[class] += i128::from(cbs.send_slope_bps);
            } else {
                let waits = !queues[class].is_empty() || interrupted(class, &waiting);
                if open(class, now) && (waits || credit[class] < 0) {
                    let most = if waits { i128::from(cbs.hi_credit_bits) * i128::from(RATE) } else { 0 };
                    credit[class] = (credit[class] + i128::from(cbs.idle_slope_bps))
                        .min(most.max(credit[class].min(most)));
                }
            }
        }
    }
    outcome
}

fn class() -> impl Strategy<Value = Class> {
    let shaper = (prop::sample::select(vec![2, 4, 5, 10]), 0..20_000i64);
    prop::option::of(shaper).prop_map(|shaper| Class {
        cbs: shaper.map(|(share, high)| Cbs {
            idle_slope_bps: RATE / share,
            send_slope_bps: RATE / share - RATE,
            hi_credit_bits: high,
            lo_credit_bits: -1_000_000,
            ..Cbs::default()
        }),
        ..Class::default()
    })
}

fn gates() -> impl Strategy<Value = Option<Gates>> {
    let mac = prop::sample::select(vec![None, None, Some(MacOperation::Hold), Some(MacOperation::Release)]);
    let entry = (any::<u8>(), 1..20_000u64, mac).prop_map(|(open, interval_ns, mac)| GateEntry {
        open,
        interval_ns,
        mac,
    });
    let list = (prop::collection::vec(entry, 1..6), -50_000..50_000i64, any::<bool>());
    prop::option::weighted(
        0.8,
        list.prop_map(|(mut entries, base_time_ns, usual)| {
            if usual {
                // A window for express frames whose wire is free at the opening.
                let entry = |open, interval_ns, mac| GateEntry { open, interval_ns, mac: Some(mac) };
                entries.insert(0, entry(0b100, 15_000, MacOperation::Hold));
                entries.insert(1, entry(0b011, 25_000, MacOperation::Release));
            }
            Gates {
                base_time_ns,
                cycle_ns: entries.iter().map(|entry| entry.interval_ns).sum(),
                entries,
                ..Gates::default()
            }
        }),
    )
}

fn port() -> impl Strategy<Value = Port> {
    (prop::collection::vec(class(), CLASSES), gates(), 0..8u8).prop_map(|(classes, gates, express)| Port {
        rate_bps: RATE as u64,
        classes,
        gates,
        preemption: Some(Preemption { express, hold_advance_ns: ADVANCE as u64, release_advance_ns: 0 }),
        ..Port::default()
    })
}

fn arrivals() -> impl Strategy<Value = Arrivals> {
    prop::collection::vec((0..80_000i64, 0..CLASSES as u8, 64..1_523u32), 1..40).prop_map(|mut arrivals| {
        arrivals.sort_by_key(|(at, ..)| *at);
        arrivals
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_machine_does_what_stepping_does(port in port(), arrivals in arrivals()) {
        let until = 120_000;
        let expected = slow(&port, &arrivals, until);
        let found = machine(&port, &arrivals, until);
        prop_assert!(expected == found, "{found:?}\nnot {expected:?}");
    }
}

/// A frame that arrives while another frame of its class is interrupted finds the credit that this frame has
/// gained.
#[test]
fn credit_gained_while_interrupted_is_kept() {
    let shaper = Cbs {
        idle_slope_bps: RATE / 2,
        send_slope_bps: -RATE / 2,
        hi_credit_bits: 20_000,
        lo_credit_bits: -1_000_000,
        ..Cbs::default()
    };
    let classes = vec![Class::default(), Class { cbs: Some(shaper), ..Class::default() }, Class::default()];
    let port = Port {
        rate_bps: RATE as u64,
        classes,
        preemption: Some(Preemption { express: 0b100, ..Preemption::default() }),
        ..Port::default()
    };
    // An express frame, a frame behind it that gains credit, two express frames that interrupt it, and
    // another frame of its class.
    let arrivals =
        vec![(0, 2, 1_522), (1, 1, 1_500), (13_136, 2, 1_522), (13_137, 2, 1_522), (30_000, 1, 100)];
    let found = machine(&port, &arrivals, 120_000);
    assert_eq!(found, slow(&port, &arrivals, 120_000));
    assert_eq!(found.preemptions, 1);
    let [.., (_, before, _), (last, ..)] = found.sent[..] else { panic!("{found:?}") };
    assert_eq!(last - before, 12 * 8, "there is credit left: it goes behind the gap");
}
