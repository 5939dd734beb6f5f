//! The port's machine against a port that is stepped nanosecond by nanosecond.
//!
//! The slow port has no windows, recovery times or wakes: at every nanosecond it checks every gate and
//! updates every credit. At 1 Gbit/s, and with send slopes that are multiples of idle slopes, every event is
//! at a whole nanosecond. So both ports must agree exactly.

use crate::common::{Arrivals, Packet, drive};
use proptest::prelude::*;
use std::collections::VecDeque;
use tsn_plan::{Cbs, Class, GateChange, GateEntry, Gates, IdleSlope, Port};

const RATE: i64 = 1_000_000_000;

/// (start in ns, frame), the dropped frames, and the overruns of every class.
type Outcome = (Vec<(i64, usize)>, Vec<usize>, Vec<u64>);

fn machine(port: &Port, arrivals: &Arrivals, until: i64) -> Outcome {
    let (mut started, mut dropped) = (Vec::new(), Vec::new());
    let machine = drive(port, arrivals, until, |now, actions| {
        started.extend(actions.start.as_ref().map(|start| (now, start.frame.number)));
        dropped.extend(actions.dropped.as_ref().map(|drop| drop.frame.number));
    });
    let overruns = machine.counters().map(|counters| counters.transmission_overruns).collect();
    (started, dropped, overruns)
}

/// No list is requested before `FIRST`; nothing happens after `LAST`.
const FIRST: i64 = -60_000;
const LAST: i64 = 350_000;

/// The list in force in every nanosecond from [`FIRST`] on (none: the initial states), and its states; the
/// state machines of IEEE 802.1Q-2022, 8.6.9, stepped.
fn states(port: &Port) -> Vec<(Option<usize>, u8)> {
    let Some(gates) = &port.gates else { return Vec::new() };
    let lists: Vec<_> = gates.lists().collect();
    let (mut running, mut begun, mut pending) = (None, 0, None);
    if gates.initial.is_some() {
        pending = Some((0, gates.base_time_ns));
    } else {
        running = Some(0);
        begun = FIRST - (FIRST - lists[0].base_time_ns).rem_euclid(lists[0].cycle_ns as i64);
    }
    let step = |now: i64| {
        let due = |pending: Option<(usize, i64)>| pending.filter(|(_, at)| *at <= now);
        if let Some((list, at)) = due(pending) {
            (running, begun, pending) = (Some(list), at, None);
        }
        for (number, change) in gates.changes.iter().enumerate().filter(|(_, change)| change.at_ns == now) {
            let mut at = change.base_time_ns;
            while at < now {
                at += change.cycle_ns as i64;
            }
            pending = Some((number + 1, at));
            if let Some((list, at)) = due(pending) {
                (running, begun, pending) = (Some(list), at, None);
            }
        }
        let Some(number) = running else { return (None, gates.initial.unwrap()) };
        let list = &lists[number];
        if now > begun && (now - begun) % list.cycle_ns as i64 == 0 {
            let soon = |(_, at): (usize, i64)| at - now <= list.cycle_extension_ns as i64;
            if !pending.is_some_and(soon) {
                begun = now;
            }
        }
        let mut left = now - begun;
        let entry = list.entries.iter().find(|entry| {
            left -= entry.interval_ns as i64;
            left < 0
        });
        (Some(number), entry.or(list.entries.last()).unwrap().open)
    };
    (FIRST..=LAST).map(step).collect()
}

fn slots(port: &Port, arrivals: &Arrivals, until: i64) -> Outcome {
    let classes = port.classes.len();
    let mut queues: Vec<VecDeque<Packet>> = vec![VecDeque::new(); classes];
    let mut credit = vec![0i128; classes];
    let (mut started, mut dropped) = (Vec::new(), Vec::new());
    // The class on the wire, and the end of its frame.
    let mut wire: Option<(usize, i64)> = None;
    let mut next = 0;
    // The send slope of the frame on the wire.
    let mut sending = 0;
    let states = states(port);
    let unguarded = port.gates.as_ref().is_some_and(|gates| gates.unguarded);
    let mut overruns = vec![0; classes];
    // The slope of a class with a shaper, in the nanosecond that begins at `now`.
    let idle = |class: usize, cbs: &Cbs, now: i64| {
        let list = states.get((now - FIRST) as usize).and_then(|(list, _)| *list);
        let change = list.and_then(|list| list.checked_sub(1)).map(|change| {
            port.gates.as_ref().unwrap().changes[change]
                .idle_slopes
                .iter()
                .filter(|own| usize::from(own.class) == class)
        });
        let slope =
            change.and_then(|mut slopes| slopes.next_back()).map_or(cbs.idle_slope_bps, |own| own.bps);
        if cbs.runs_while_closed { cbs.idle_slope_bps } else { slope }
    };
    // Whether the gate of `class` is open in the nanosecond that begins at `now`.
    let open =
        |class: usize, now: i64| states.is_empty() || states[(now - FIRST) as usize].1 >> class & 1 == 1;
    // How long the gate stays open from every nanosecond on, within the tested time: cycles are far shorter.
    let stays = |class: usize| {
        let mut run = 0;
        let mut found: Vec<i64> = (0..=LAST)
            .rev()
            .map(|at| {
                run = if open(class, at) { run + 1 } else { 0 };
                run
            })
            .collect();
        found.reverse();
        found
    };
    let stays: Vec<Vec<i64>> = (0..classes).map(stays).collect();
    // The longest of these times that begins at a nanosecond or later.
    let longest = |class: usize, now: i64| stays[class][now as usize..].iter().max().unwrap();
    for now in 0..=until {
        if wire.is_some_and(|(_, end)| end == now) {
            wire = None;
        }
        while next < arrivals.len() && arrivals[next].0 == now {
            let (_, class, octets) = arrivals[next];
            let (class, packet) = (usize::from(class), Packet { number: next, octets });
            let limits = &port.classes[class];
            let waiting: u64 = queues[class].iter().map(|packet| u64::from(packet.octets)).sum();
            let full = limits.limit_frames.is_some_and(|most| queues[class].len() as u32 >= most)
                || limits.limit_octets.is_some_and(|most| waiting + u64::from(octets) > most);
            let needs = if unguarded { 1 } else { i64::from(octets + 8) * 8 };
            let large = limits.max_sdu_octets.is_some_and(|most| octets > most + 22);
            if large || full || needs > *longest(class, now) {
                dropped.push(next);
            } else {
                queues[class].push_back(packet);
            }
            next += 1;
        }
        for (queue, own) in queues.iter_mut().zip(&port.classes) {
            let most = own.longest_wait_ns.map_or(i64::MAX, |most| most as i64);
            let late = |packet: &&Packet| now - arrivals[packet.number].0 >= most;
            while let Some(packet) = queue.front().filter(late) {
                dropped.push(packet.number);
                queue.pop_front();
            }
        }
        for class in 0..classes {
            if queues[class].is_empty() && wire.is_none_or(|(sender, _)| sender != class) {
                credit[class] = credit[class].min(0);
            }
        }
        if wire.is_none() {
            for class in (0..classes).rev() {
                let Some(head) = queues[class].front() else { continue };
                let needs = i64::from(head.octets + 8) * 8;
                let shaped = port.classes[class].cbs.is_some();
                let whole = stays[class][now as usize] >= needs;
                if (!shaped || credit[class] >= 0) && (whole || unguarded && open(class, now)) {
                    overruns[class] += u64::from(!whole);
                    if let Some(cbs) = &port.classes[class].cbs {
                        sending = cbs.send_slope_bps + idle(class, cbs, now) - cbs.idle_slope_bps;
                    }
                    started.push((now, head.number));
                    wire = Some((class, now + i64::from(head.octets + 20) * 8));
                    queues[class].pop_front();
                    break;
                }
            }
        }
        for class in 0..classes {
            let Some(cbs) = &port.classes[class].cbs else { continue };
            let bits = |bits: i64| i128::from(bits) * i128::from(RATE);
            if wire.is_some_and(|(sender, _)| sender == class) {
                credit[class] = (credit[class] + i128::from(sending)).max(bits(cbs.lo_credit_bits));
            } else if (open(class, now) || cbs.runs_while_closed)
                && (!queues[class].is_empty() || credit[class] < 0)
            {
                let most = if queues[class].is_empty() { 0 } else { bits(cbs.hi_credit_bits) };
                credit[class] = (credit[class] + i128::from(idle(class, cbs, now))).min(most);
            }
        }
    }
    (started, dropped, overruns)
}

fn cbs() -> impl Strategy<Value = Option<Cbs>> {
    let shaper = (prop::sample::select(vec![2, 4, 5, 10]), 0..20_000i64, 8_000..20_000i64, any::<bool>());
    prop::option::of(shaper.prop_map(|(share, high, low, runs_while_closed)| {
        let idle_slope_bps = RATE / share;
        Cbs {
            idle_slope_bps,
            send_slope_bps: idle_slope_bps - RATE,
            hi_credit_bits: high,
            lo_credit_bits: -low,
            linux: Default::default(),
            follows: Default::default(),
            runs_while_closed,
        }
    }))
}

fn class() -> impl Strategy<Value = Class> {
    let limits = (prop::option::of(1..5u32), prop::option::of(1_000..5_000u64));
    let sdu = prop::option::weighted(0.2, 40..1_500u32);
    let wait = prop::option::weighted(0.3, 1..40_000u64);
    (limits, cbs(), sdu, wait).prop_map(
        |((limit_frames, limit_octets), cbs, max_sdu_octets, longest_wait_ns)| Class {
            limit_frames,
            limit_octets,
            cbs,
            max_sdu_octets,
            longest_wait_ns,
        },
    )
}

fn entries() -> impl Strategy<Value = Vec<GateEntry>> {
    let entry = (any::<u8>(), 1..20_000u64).prop_map(|(open, interval_ns)| GateEntry {
        open,
        interval_ns,
        mac: None,
    });
    prop::collection::vec(entry, 1..6)
}

fn change() -> impl Strategy<Value = GateChange> {
    (entries(), -50_000..200_000i64, -50_000..230_000i64, 0..60_000u64).prop_map(
        |(entries, at_ns, base_time_ns, cycle_extension_ns)| GateChange {
            at_ns,
            base_time_ns,
            cycle_ns: entries.iter().map(|entry| entry.interval_ns).sum(),
            entries,
            cycle_extension_ns,
            idle_slopes: Vec::new(),
        },
    )
}

fn gates() -> impl Strategy<Value = Option<Gates>> {
    let first = (entries(), -50_000..50_000i64, 0..60_000u64);
    let before = prop::option::of(any::<u8>());
    let all = (first, before, prop::bool::weighted(0.2), prop::collection::vec(change(), 0..4));
    prop::option::weighted(
        0.8,
        all.prop_map(|((entries, base_time_ns, cycle_extension_ns), initial, unguarded, mut changes)| {
            changes.sort_by_key(|change| change.at_ns);
            Gates {
                base_time_ns,
                cycle_ns: entries.iter().map(|entry| entry.interval_ns).sum(),
                entries,
                initial,
                cycle_extension_ns,
                unguarded,
                changes,
                ..Gates::default()
            }
        }),
    )
}

/// Idle slopes that halve with every list, so that a remaining debt is still paid at a whole nanosecond.
fn slopes(classes: &[Class], gates: &mut Gates) {
    for (place, change) in gates.changes.iter_mut().enumerate() {
        for (class, cbs) in classes.iter().enumerate().filter_map(|(n, class)| Some((n, class.cbs.as_ref()?)))
        {
            change.idle_slopes.push(IdleSlope { class: class as u8, bps: cbs.idle_slope_bps >> (place + 1) });
        }
    }
}

fn port() -> impl Strategy<Value = Port> {
    let sloping = any::<bool>();
    (prop::collection::vec(class(), 1..4), gates(), sloping).prop_map(|(classes, mut gates, sloping)| {
        if let Some(gates) = gates.as_mut().filter(|_| sloping) {
            slopes(&classes, gates);
        }
        Port { rate_bps: RATE as u64, classes, gates, ..Port::default() }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, max_shrink_iters: 40, ..ProptestConfig::default() })]

    #[test]
    fn the_machine_does_what_stepping_does(
        port in port(),
        mut arrivals in prop::collection::vec((0..160_000i64, 0..4u8, 64..1_523u32), 1..60),
        bunched in any::<bool>(),
    ) {
        for (at, class, _) in &mut arrivals {
            *class %= port.classes.len() as u8;
            if bunched {
                // Many at the same instant, like talkers with the same phase.
                *at -= *at % 25_000;
            }
        }
        arrivals.sort_by_key(|(at, ..)| *at);
        let until = 250_000;
        let (expected, found) = (slots(&port, &arrivals, until), machine(&port, &arrivals, until));
        prop_assert!(expected == found, "{:?}\nnot {:?}", found, expected);
    }
}

/// Another list changes a slope, also if no gate ever closes.
#[test]
fn a_slope_changes_at_a_gate_that_never_closes() {
    let open = |interval_ns| GateEntry { open: 1, interval_ns, mac: None };
    let shaper = Cbs {
        idle_slope_bps: RATE / 4,
        send_slope_bps: -RATE / 4 * 3,
        hi_credit_bits: 0,
        lo_credit_bits: -100_000,
        ..Cbs::default()
    };
    let change = GateChange {
        at_ns: 10_000,
        base_time_ns: 20_000,
        cycle_ns: 1_000,
        entries: vec![open(1_000)],
        cycle_extension_ns: 0,
        idle_slopes: vec![IdleSlope { class: 0, bps: RATE / 8 }],
    };
    let port = Port {
        rate_bps: RATE as u64,
        classes: vec![Class { cbs: Some(shaper), ..Class::default() }],
        gates: Some(Gates {
            base_time_ns: 0,
            cycle_ns: 1_000,
            entries: vec![open(1_000)],
            changes: vec![change],
            ..Gates::default()
        }),
        ..Port::default()
    };
    // 105 octets and 20 more take 1 us. Before: 750 bits at 250 bits/us. After: 875 at 125.
    let arrivals = vec![(0, 0, 105), (0, 0, 105), (30_000, 0, 105), (30_000, 0, 105)];
    let (started, dropped, _) = machine(&port, &arrivals, 60_000);
    assert_eq!(started, [(0, 0), (4_000, 1), (30_000, 2), (38_000, 3)]);
    assert!(dropped.is_empty());
}
