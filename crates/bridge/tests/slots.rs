//! The port's machine against a port that is stepped nanosecond by nanosecond.
//!
//! The slow port knows no windows, no recovery times and no wakes: at every nanosecond it looks at every gate and
//! moves every credit. At 1 Gbit/s, and with send slopes that are multiples of idle slopes, everything that happens
//! falls on a nanosecond, so both must agree exactly.

use proptest::prelude::*;
use std::collections::VecDeque;
use tsn_bridge::{Actions, EgressPort, Event, Frame};
use tsn_plan::{Cbs, CbsLinux, Class, GateEntry, Gates, Port};
use tsn_units::{Instant, Octets};

const RATE: i64 = 1_000_000_000;

#[derive(Copy, Clone, Debug)]
struct Packet {
    number: usize,
    octets: u32,
}

impl Frame for Packet {
    fn octets(&self) -> Octets {
        Octets(self.octets)
    }
}

/// (ns, class, octets), in order of time.
type Arrivals = Vec<(i64, u8, u32)>;
/// (ns of the start, frame), and the frames dropped.
type Outcome = (Vec<(i64, usize)>, Vec<usize>);

fn machine(port: &Port, arrivals: &Arrivals, until: i64) -> Outcome {
    let mut machine: EgressPort<Packet> = EgressPort::new(port);
    let (mut started, mut dropped) = (Vec::new(), Vec::new());
    let mut wakes: Vec<i64> = Vec::new();
    let mut arrivals = arrivals.iter().enumerate().peekable();
    let mut actions = Actions::default();
    loop {
        let wake = wakes.iter().copied().min();
        let arrival = arrivals.peek().map(|(_, (at, ..))| *at);
        let (now, event) = match (arrival, wake) {
            (Some(at), wake) if wake.is_none_or(|wake| at <= wake) => {
                let (number, (_, class, octets)) = arrivals.next().unwrap();
                let more = arrivals.peek().is_some_and(|(_, (next, ..))| *next == at);
                (at, Event::Arrive { class: *class, frame: Packet { number, octets: *octets }, more })
            }
            (_, Some(wake)) => {
                wakes.retain(|other| *other != wake);
                (wake, Event::Wake)
            }
            (_, None) => break,
        };
        if now > until {
            break;
        }
        machine.handle(Instant::from_ns(now), event, &mut actions);
        if let Some(start) = actions.start {
            started.push((now, start.frame.number));
        }
        if let Some(drop) = actions.dropped {
            dropped.push(drop.frame.number);
        }
        if let Some(wake) = actions.wake {
            assert_eq!(wake.ps() % 1_000, 0, "everything here falls on a nanosecond");
            wakes.push(wake.ps() / 1_000);
        }
    }
    (started, dropped)
}

/// The gates of every nanosecond of the cycle; nothing where there is no list.
fn states(port: &Port) -> Vec<u8> {
    let entries = port.gates.iter().flat_map(|gates| &gates.entries);
    entries.flat_map(|entry| std::iter::repeat_n(entry.open, entry.interval_ns as usize)).collect()
}

fn slots(port: &Port, arrivals: &Arrivals, until: i64) -> Outcome {
    let classes = port.classes.len();
    let mut queues: Vec<VecDeque<Packet>> = vec![VecDeque::new(); classes];
    let mut credit = vec![0i128; classes];
    let (mut started, mut dropped) = (Vec::new(), Vec::new());
    // Who is on the wire until when.
    let mut wire: Option<(usize, i64)> = None;
    let mut next = 0;
    let states = states(port);
    let base = port.gates.as_ref().map_or(0, |gates| gates.base_time_ns);
    // Is the gate of `class` open in the nanosecond that begins at `now`?
    let open = |class: usize, now: i64| {
        states.is_empty() || states[(now - base).rem_euclid(states.len() as i64) as usize] >> class & 1 == 1
    };
    let longest = |class: usize| {
        // Longest run of open nanoseconds within two cycles; everything where the gate never closes.
        let cycle = states.len() as i64;
        let (mut run, mut most) = (0, 0);
        for now in 0..2 * cycle {
            run = if open(class, base + now) { run + 1 } else { 0 };
            most = most.max(run);
        }
        if most == 2 * cycle { i64::MAX } else { most }
    };
    let longest: Vec<i64> = (0..classes).map(longest).collect();
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
            if full || i64::from(octets + 8) * 8 > longest[class] {
                dropped.push(next);
            } else {
                queues[class].push_back(packet);
            }
            next += 1;
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
                if (!shaped || credit[class] >= 0) && (now..now + needs).all(|at| open(class, at)) {
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
                credit[class] =
                    (credit[class] + i128::from(cbs.send_slope_bps)).max(bits(cbs.lo_credit_bits));
            } else if open(class, now) && (!queues[class].is_empty() || credit[class] < 0) {
                let most = if queues[class].is_empty() { 0 } else { bits(cbs.hi_credit_bits) };
                credit[class] = (credit[class] + i128::from(cbs.idle_slope_bps)).min(most);
            }
        }
    }
    (started, dropped)
}

fn cbs() -> impl Strategy<Value = Option<Cbs>> {
    let shaper = (prop::sample::select(vec![2, 4, 5, 10]), 0..20_000i64, 8_000..20_000i64);
    prop::option::of(shaper.prop_map(|(share, high, low)| {
        let idle_slope_bps = RATE / share;
        Cbs {
            idle_slope_bps,
            send_slope_bps: idle_slope_bps - RATE,
            hi_credit_bits: high,
            lo_credit_bits: -low,
            linux: CbsLinux { idleslope: 0, sendslope: 0, hicredit: 0, locredit: 0 },
        }
    }))
}

fn class() -> impl Strategy<Value = Class> {
    let limits = (prop::option::of(1..5u32), prop::option::of(1_000..5_000u64));
    (limits, cbs()).prop_map(|((limit_frames, limit_octets), cbs)| Class { limit_frames, limit_octets, cbs })
}

fn gates() -> impl Strategy<Value = Option<Gates>> {
    let entry = (any::<u8>(), 1..20_000u64).prop_map(|(open, interval_ns)| GateEntry { open, interval_ns });
    prop::option::of((prop::collection::vec(entry, 1..6), -50_000..50_000i64).prop_map(
        |(entries, base_time_ns)| Gates {
            base_time_ns,
            cycle_ns: entries.iter().map(|entry| entry.interval_ns).sum(),
            entries,
        },
    ))
}

fn port() -> impl Strategy<Value = Port> {
    (prop::collection::vec(class(), 1..4), gates()).prop_map(|(classes, gates)| Port {
        name: "a -> b".into(),
        node: 0,
        peer: 1,
        mac: String::new(),
        rate_bps: RATE as u64,
        propagation_ps: 0,
        pcp_to_class: [0; 8],
        classes,
        gates,
        preemption: None,
        qdisc: None,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn the_machine_does_what_stepping_does(
        port in port(),
        mut arrivals in prop::collection::vec((0..300_000i64, 0..4u8, 64..1_523u32), 1..60),
        bunched in any::<bool>(),
    ) {
        for (at, class, _) in &mut arrivals {
            *class %= port.classes.len() as u8;
            if bunched {
                // Many at the same instant, as talkers with one phase do.
                *at -= *at % 25_000;
            }
        }
        arrivals.sort_by_key(|(at, ..)| *at);
        let until = 600_000;
        let (expected, found) = (slots(&port, &arrivals, until), machine(&port, &arrivals, until));
        prop_assert_eq!(expected, found);
    }
}
