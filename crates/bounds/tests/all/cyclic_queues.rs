//! Bounds of frames whose queue a stream gate selects in turn: when each turn has left follows from arithmetic.

use crate::common::*;
use tsn_bounds::{FlowBounds, bounds};
use tsn_plan::{
    Fault, GateEntry, Gates, Pattern, Plan, Point, Policing, Preemption, Size, Stage, StreamFilter,
    StreamGate, StreamGateEntry,
};

/// One turn of two queues, of classes 5 and 6, in ns.
const TURN: u64 = 100_000;
/// A frame of 1,000 octets: 8,160 bit on the wire, of which 96 are the gap.
const OCTETS: u32 = 1_000;
/// From the `tx` stamp to the last bit at the first bridge: the frame and 5 ns of cable.
const FIRST_LINK: i64 = 8_000_000 + 5_000;
/// From the first bit of the preamble to the last one at the other end.
const ALONE: i64 = 8_064_000 + 5_000;
/// At the begin of its window, a frame may wait for the gap of the other queue's last frame.
const GAP: i64 = 96_000;
/// The window of a turn opens at 102 us at the first bridge (last arrival, and 2 us of processing). Its frame then
/// reaches the second bridge within 96 ns, and the window there opens at 205 us.
const OPENS: [i64; 2] = [102_000_000, 205_000_000];
/// From the begin of a turn to the last bit at the listener.
const LAST_BIT: i64 = OPENS[1] + GAP + ALONE;

/// How much later a frame is if its turn is not followed at the second bridge: it may come when no frame fits its window
/// any more, and waits for the other queue's window, as at the first one.
const APART: Option<i64> = Some(2 * (2_000_000 + 100_000_000 + GAP + ALONE) + 8_064_000 - LAST_BIT);

fn entry(open: u8, interval_ns: u64) -> GateEntry {
    GateEntry { open, interval_ns, mac: None }
}

/// A filter and a stream gate for all frames of the streams: queue 5 in the first turn of a cycle, queue 6 in the
/// second.
fn turns(node: u32, base_time_ns: i64, streams: &[u32]) -> Policing {
    let entry = |ipv| StreamGateEntry { open: true, ipv: Some(ipv), interval_ns: TURN, octets_max: None };
    let gate = StreamGate {
        base_time_ns,
        cycle_ns: 2 * TURN,
        entries: vec![entry(5), entry(6)],
        ..StreamGate::default()
    };
    let filter = StreamFilter {
        name: "turns".into(),
        streams: streams.to_vec(),
        gate: Some(0),
        ..StreamFilter::default()
    };
    Policing { node, filters: vec![filter], gates: vec![gate], ..Policing::default() }
}

/// A period that is no multiple of the cycle, so that a frame may come at any time: one in each turn.
fn any_phase() -> Pattern {
    periodic(2 * TURN + 1, 0)
}

/// Talker n0, bridges n1 and n2, listener n3. While one queue is filled, the other one is sent.
fn line() -> Net {
    let mut net = Net::new(2_000_000);
    let path = net.line(4, 2_000, GIGABIT, 5_000);
    net.stream("s", &path, 6, any_phase(), frame(OCTETS));
    for (bridge, window, gate) in [(1, 2_000, 0), (2, 5_000, 2_006)] {
        // Frames of the first turn have class 5, and are sent in the second turn.
        net.plan.ports[2 * bridge].gates = gates(window, &[(0x40, TURN), (0x20, TURN)]);
        net.plan.policing.push(turns(bridge as u32, gate, &[0]));
    }
    net
}

fn flow(plan: &Plan, number: usize) -> FlowBounds {
    plan.check().unwrap();
    bounds(plan).flows[number].clone()
}

fn altered(alter: impl FnOnce(&mut Net)) -> FlowBounds {
    let mut net = line();
    alter(&mut net);
    flow(&net.plan, 0)
}

/// The highest delay between the stamps of the first stream.
fn with(alter: impl FnOnce(&mut Net)) -> Option<i64> {
    altered(alter).upper_ps
}

/// How much later than without the change.
fn later(alter: impl FnOnce(&mut Net)) -> Option<i64> {
    with(alter).map(|upper| upper - FIRST_LINK - LAST_BIT)
}

fn list(plan: &mut Plan, port: usize) -> &mut Gates {
    plan.ports[port].gates.as_mut().unwrap()
}

/// Windows of a bridge's port that are shorter than a turn; the other classes of `others` are always open.
fn windows(net: &mut Net, port: usize, ns: u64, others: u8) {
    let entries = [0x40, 0x20].map(|open| [entry(open | others, ns), entry(others, TURN - ns)]);
    list(&mut net.plan, port).entries = entries.concat();
}

#[test]
fn a_frame_leaves_with_the_last_window_of_its_turn() {
    let mut net = line();
    let found = flow(&net.plan, 0);
    assert_eq!(found.upper_ps, Some(FIRST_LINK + LAST_BIT));
    // The talker's queue adds no wait: the preamble and the delimiter, 64 ns.
    assert_eq!(found.release_upper_ps, Some(ALONE + LAST_BIT));
    // In the queue from the begin of its turn on, and at the second bridge from the earliest arrival on.
    let second = OPENS[1] - (OPENS[0] + ALONE + 2_000_000);
    let hops: Vec<Option<i64>> = found.hops.iter().map(|hop| hop.upper_ps).collect();
    assert_eq!(hops, [ALONE, OPENS[0] - 2_000_000 + GAP + ALONE, second + GAP + ALONE].map(Some));
    // A frame that arrives with the last bit of its turn: the second window opens 105 us later.
    let least = OPENS[1] - 100_000_000 + ALONE;
    assert_eq!((found.lower_ps, found.release_lower_ps), (FIRST_LINK + least, ALONE + least));
    let queues: Vec<_> = bounds(&net.plan).ports.into_iter().flat_map(|port| port.classes).collect();
    let waiting = |class: u8| queues.iter().filter(move |queue| queue.class == class);
    assert!(waiting(5).all(|queue| (queue.backlog_octets, queue.backlog_frames) == (Some(1_000), Some(1))));
    assert_eq!((waiting(5).count(), waiting(6).count()), (2, 3));
    // The first frame of a turn waits longest, the last one shortest: 8,069 ns after their releases.
    let taps = net.tap_ends(&[0, 1, 2, 3]);
    for (arrives, told) in [(2 * TURN, LAST_BIT - GAP), (TURN - 1, least + 1_000)] {
        net.plan.streams[0].pattern = periodic(2 * TURN, arrives - 8_069);
        let (sightings, _) = run(&net.plan);
        let seen = delays(&sightings, taps, 0);
        assert!(seen.iter().all(|delay| delay * 1_000 == FIRST_LINK + told), "{seen:?}");
    }
    // With a coarser clock the stamps may show more.
    net.plan.streams[0].pattern = any_phase();
    net.plan.taps.iter_mut().for_each(|tap| tap.granularity_ns = 8);
    assert_eq!(bounds(&net.plan).flows[0].upper_ns, Some((FIRST_LINK + LAST_BIT) / 1_000 + 7));
}

/// A frame that is always released at the same time of the cycle waits as long in every cycle.
#[test]
fn where_the_phase_is_known_the_wait_is_too() {
    // In the queue at 10,069 ns; the window opens at 102 us.
    let found = altered(|net| net.plan.streams[0].pattern = periodic(2 * TURN, 0)).hops[1].upper_ps;
    assert_eq!(found, Some(OPENS[0] - 10_069_000 + GAP + ALONE));
}

#[test]
fn of_several_sizes_the_largest_counts() {
    let sizes =
        |octets: &[u32]| with(|net| net.plan.streams[0].size = Size::List { octets: octets.to_vec() });
    assert_eq!(sizes(&[500, 1_000]), Some(FIRST_LINK + LAST_BIT));
    // 500 octets: 4 us less on the first link and on the last one.
    assert_eq!(sizes(&[400, 500]), Some(FIRST_LINK + LAST_BIT - 8_000_000));
}

/// Another cable adds at most one turn; windows that are farther apart add their distance.
#[test]
fn a_later_window_delays_by_as_much() {
    // The second bridge's windows are 7 us later.
    assert_eq!(later(|net| list(&mut net.plan, 4).base_time_ns += 7_000), Some(7_000_000));
    // The last frame of the turn is in the queue at 112,165 ns. A window that opens 1 ns later sends it.
    let early = |ns: i64| later(|net| list(&mut net.plan, 4).base_time_ns = ns - 200_000);
    assert_eq!(early(112_166), Some(112_166_000 - OPENS[1]));
    // One that opens when it arrives may find another frame on the link. Then turns are not followed.
    assert_eq!(early(112_165), APART);
    // The bound does not depend on the cycle in which a list begins.
    for cycles in [-7, 3] {
        let moved = later(|net| {
            list(&mut net.plan, 2).base_time_ns += cycles * 200_000;
            net.plan.policing[0].gates[0].base_time_ns -= cycles * 200_000;
            net.plan.policing[1].gates[0].base_time_ns += cycles * 600_000;
        });
        assert_eq!(moved, Some(0), "{cycles}");
    }
}

/// The frames of one window must be one turn at the next bridge, where they arrive from 110,069 to 110,165 ns.
#[test]
fn a_turn_that_is_cut_in_two_is_not_followed() {
    // Entries end at `ns`; the frames of the entry before it are sent from `opens` on.
    let ends = |ns: i64, opens: i64| {
        later(|net| {
            net.plan.policing[1].gates[0].base_time_ns = ns - 100_000;
            list(&mut net.plan, 4).base_time_ns = opens - 100_000;
        })
    };
    assert_eq!(ends(110_166, 205_000), Some(0));
    assert_eq!(ends(110_165, 205_000), APART);
    assert_eq!(ends(110_069, 305_000), Some(0));
    assert_eq!(ends(110_070, 305_000), APART);
}

/// The window in which a turn leaves may be the second one of its cycle; the one before it has to be over then.
#[test]
fn a_turn_leaves_in_any_window_of_its_cycle() {
    // The list begins at 160 us. Queue 5 is sent until `ns` after that, and from 102 to 150 us; queue 6 from 202 us on.
    let until = |ns: u64| {
        later(|net| {
            let both = ns.saturating_sub(42_000);
            let entries = [
                (0x20, ns - both),
                (0, 42_000 - (ns - both)),
                (0x60, both),
                (0x40, 84_000 - both),
                (0, 16_000),
                (0x20, 48_000),
                (0, 10_000),
            ];
            let entries: Vec<(u8, u64)> = entries.into_iter().filter(|(_, ns)| *ns > 0).collect();
            net.plan.ports[2].gates = gates(160_000, &entries);
        })
    };
    assert_eq!(until(30_000), Some(0));
    // It may be open until the first frame of the turn comes, at 202 us.
    assert_eq!(until(42_000), Some(0));
    assert_ne!(until(42_001), Some(0));
}

/// What sends frames at other times than its windows, or in parts, has no turns.
#[test]
fn ports_that_do_more_than_open_and_close_have_no_turns() {
    type Change = fn(&mut Plan);
    let all: [(&str, Change); 5] = [
        ("buffer", |plan| plan.ports[2].transmit_buffer = Some(2)),
        ("interrupted", |plan| {
            plan.ports[2].preemption = Some(Preemption { express: 0x80, ..Preemption::default() });
        }),
        ("shaped", |plan| {
            for class in [5, 6] {
                plan.ports[2].classes[class].cbs = Some(cbs(900_000_000, GIGABIT as i64, 100_000, -100_000));
            }
        }),
        ("unguarded", |plan| list(plan, 2).unguarded = true),
        ("changes", |plan| {
            let again = [(0x40, TURN), (0x20, TURN)];
            list(plan, 2).changes = vec![change(500_000, 602_000, &again)];
        }),
    ];
    assert_eq!(later(|_| ()), Some(0));
    for (name, alter) in all {
        assert_ne!(later(|net| alter(&mut net.plan)), Some(0), "{name}");
    }
}

/// A window must have time for a gap, and for the largest number of frames that arrive in one turn.
#[test]
fn a_window_has_to_send_its_turn() {
    let window = |ns: u64, pattern: Pattern| {
        with(|net| {
            windows(net, 2, ns, 0);
            net.plan.streams[0].pattern = pattern;
        })
    };
    let late = |jitter_ns| Pattern::Periodic { period_ns: 120_000, offset_ns: 0, jitter_ns };
    // The frame without its gap, as the other queue's frames have left long before.
    assert_eq!(window(8_064, any_phase()), Some(FIRST_LINK + LAST_BIT));
    assert_eq!(window(8_063, any_phase()), None);
    // Two frames: 8,160 ns more at both bridges, of which the later one counts.
    for (pattern, frames) in [
        (periodic(TURN + 1, 0), 1),
        (periodic(TURN - 1, 0), 2),
        (late(20_000), 1),
        (late(20_001), 2),
        // The first and the last instant of a turn are less than a turn apart.
        (Pattern::Periodic { period_ns: TURN + 1, offset_ns: 0, jitter_ns: 1 }, 1),
        (Pattern::Periodic { period_ns: TURN + 1, offset_ns: 0, jitter_ns: 2 }, 2),
    ] {
        let more = (frames - 1) * 8_160;
        let found = window(8_064 + more as u64, pattern.clone());
        assert_eq!(found, Some(FIRST_LINK + LAST_BIT + more * 1_000), "{pattern:?}");
        let less = window(8_063 + more as u64, pattern.clone());
        assert!(less.is_none_or(|less| less > FIRST_LINK + LAST_BIT + more * 1_000), "{pattern:?}");
    }
}

/// A talker that babbles sends one more frame in a turn.
#[test]
fn babble_comes_into_turns() {
    let babble = Fault::Babble { stream: 0, from_ns: 0, until_ns: 1_000_000, every_ns: 300_001 };
    assert_eq!(later(|net| net.plan.faults.push(babble)), Some(8_160_000));
    let late = Fault::Delay {
        port: 2,
        from_ns: 0,
        until_ns: 1_000_000,
        least_ns: 0,
        most_ns: 1_000,
        share_ppm: 1_000_000,
        keeps_order: true,
    };
    // The second bridge's turn is complete 1 us later, and still before its window.
    assert_eq!(later(|net| net.plan.faults.push(late)), Some(0));
}

/// A frame of a lower class may be in transmission when a window opens.
#[test]
fn a_window_has_to_send_what_is_in_the_way_when_it_opens() {
    let beside = |ns: u64, pcp: u8, sizes: &[u32]| {
        with(|net| {
            windows(net, 2, ns, 0x9f);
            for (number, octets) in sizes.iter().enumerate() {
                net.stream(&format!("other{number}"), &[1, 2], pcp, periodic(1_000_000, 0), frame(*octets));
            }
        })
    };
    // 320 octets with gap, and the frame: 2,560 ns in the place of the gap, at a bridge that is not the last one.
    assert_eq!(beside(10_624, 4, &[100, 300, 200]), Some(FIRST_LINK + LAST_BIT));
    assert_eq!(beside(10_623, 4, &[100, 300, 200]), None);
    assert_eq!(beside(8_064, 4, &[]), Some(FIRST_LINK + LAST_BIT));
    // Frames of a higher class, 960 ns with gap each, of which two may be in one window: one that waited before.
    assert_eq!(beside(8_064 + 2 * 960, 7, &[100, 100]), Some(FIRST_LINK + LAST_BIT));
    assert!(beside(8_064 + 2 * 960 - 1, 7, &[100, 100]).is_none_or(|most| most > FIRST_LINK + LAST_BIT));
}

/// At the last bridge, what is in the way is in the bound; not where its gate is closed.
#[test]
fn other_classes_delay_the_last_frame() {
    let beside = |others: u8, pcp: u8| {
        later(|net| {
            let list = list(&mut net.plan, 4);
            list.entries.iter_mut().for_each(|entry| entry.open |= others);
            net.stream("other", &[2, 3], pcp, periodic(1_000_000, 0), frame(100));
        })
    };
    // 120 octets in the place of the gap, or beside it.
    assert_eq!(beside(0x10, 4), Some(960_000 - GAP));
    assert_eq!(beside(0x80, 7), Some(960_000));
    // A port whose other queue is never sent is not one of two queues in turn, and a closed class is in no window.
    assert_eq!(beside(0, 4), Some(0));
}

/// Frames of other classes wait for one frame of each queue, at the end of one turn and the begin of the next one.
#[test]
fn lower_classes_wait_for_both_queues() {
    let mut net = line();
    for port in [2, 4] {
        windows(&mut net, port, TURN, 0x9f);
        list(&mut net.plan, port).entries.retain(|entry| entry.interval_ns > 0);
    }
    net.stream("low", &[1, 2], 0, periodic(1_000_000, 0), frame(500));
    net.stream("high", &[1, 2], 7, periodic(1_000_000, 0), frame(100));
    let alone = |octets: i64| (octets + 8) * 8_000 + 5_000;
    assert_eq!(flow(&net.plan, 1).hops[0].upper_ps, Some(2 * 8_160_000 + 960_000 + alone(500)));
    // The largest frame of a lower class: 1,000 octets of a queue.
    assert_eq!(flow(&net.plan, 2).hops[0].upper_ps, Some(8_160_000 + alone(100)));
    // Behind the first gate, a frame has no more jitter than its turn: at the second bridge, too, one of each queue.
    net.stream("next", &[2, 3], 0, periodic(1_000_000, 0), frame(500));
    assert_eq!(flow(&net.plan, 3).hops[0].upper_ps, Some(2 * 8_160_000 + alone(500)));
}

/// A window's frames are on the link until a frame of a lower class, the frame of its turn and a gap have passed: within
/// 200 us less that time they come once, else twice. Fifteen lower frames at once need almost as long; with one octet
/// more each, the last one starts behind the second window.
#[test]
fn lower_classes_wait_once_more_in_a_longer_time() {
    let last = |octets: u32| {
        let mut net = line();
        windows(&mut net, 2, TURN, 0x9f);
        list(&mut net.plan, 2).entries.retain(|entry| entry.interval_ns > 0);
        let own = Size::Units { octets: vec![15 * (octets - 50)], most_per_frame: octets - 50, overhead: 50 };
        net.stream("low", &[1, 2], 0, periodic(1_000_000, 0), own);
        flow(&net.plan, 1).hops[0].upper_ps
    };
    let alone = |octets: i64| (octets + 8) * 8_000 + 5_000;
    let (both, wire) = (2 * 8_160_000, |octets: i64| (octets + 20) * 8_000);
    // From when on the second window may have come, and the start of the last frame without it.
    let again = |octets: i64| 200_000_000 - wire(octets) - 8_160_000;
    let starts = |octets: i64| both + 14 * wire(octets);
    assert!(starts(1_442) < again(1_442) && (again(1_443)..again(1_443) + GAP).contains(&starts(1_443)));
    assert_eq!(last(1_442), Some(starts(1_442) + alone(1_442)));
    assert_eq!(last(1_443), Some(starts(1_443) + both + alone(1_443)));
}

/// Several streams share turns; streams over other ports are not counted.
#[test]
fn streams_that_share_turns_share_windows() {
    let window = |ns: u64| {
        later(|net| {
            windows(net, 2, ns, 0);
            // A stream from the same talker, and one back from the second bridge to the first.
            net.stream("t", &[0, 1, 2], 6, any_phase(), frame(480));
            net.stream("back", &[2, 1], 6, any_phase(), frame(FULL));
            net.plan.policing.iter_mut().for_each(|table| table.filters[0].streams = vec![0, 1]);
        })
    };
    // 500 octets more; only at the first bridge.
    assert_eq!(window(12_064), Some(0));
    assert_eq!(window(12_063), None);
}

#[test]
fn windows_of_any_form() {
    let windows = |entries: &[(u8, u64)]| {
        later(|net| {
            list(&mut net.plan, 4).entries = entries.iter().map(|(open, ns)| entry(*open, *ns)).collect();
        })
    };
    // Windows that are 20 us shorter, at their end or at their begin; without a frame's gap before them.
    let first = [(0x40, 80_000), (0, 20_000), (0x20, 80_000), (0, 20_000)];
    assert_eq!(windows(&first), Some(-GAP));
    let second = [(0, 20_000), (0x40, 80_000), (0, 20_000), (0x20, 80_000)];
    assert_eq!(windows(&second), Some(20_000_000 - GAP));
    // The one of the second queue later: the longest wait counts.
    assert_eq!(windows(&[(0x40, 80_000), (0, 40_000), (0x20, 80_000)]), Some(20_000_000 - GAP));
    // Two entries, one window.
    assert_eq!(windows(&[(0x40, 60_000), (0x41, 40_000), (0x20, 60_000), (0x21, 40_000)]), Some(0));
    // The gate is open while a turn comes: then its frames wait for the end of a window at most.
    assert!(windows(&[(0x40, 100_000), (0x60, 50_000), (0x20, 50_000)]).is_some());
    // Frames of a queue that is never sent are dropped; those of the other one are not.
    assert_eq!(windows(&[(0x40, 100_000), (0x00, 100_000)]), Some(-GAP));
    assert_eq!(windows(&[(0x00, 200_000)]), None);
}

/// What is not cyclic queuing in all its parts has the bounds of each class that may be chosen.
#[test]
fn other_lists_have_the_bound_of_the_slowest_class() {
    // A turn that is not followed waits at both bridges as long as the other queue's turn lasts.
    let gate = |number: usize, alter: &dyn Fn(&mut StreamGate)| {
        later(|net| alter(&mut net.plan.policing[number].gates[0]))
    };
    // The same queue twice: the other one is empty, and as it is always the same that waits, its frame may come when its
    // window ends.
    assert_eq!(gate(1, &|gate| gate.entries[1].ipv = Some(5)), APART);
    // Another cycle at the gate than at the port.
    let halved = |gate: &mut StreamGate| {
        gate.entries.iter_mut().for_each(|entry| entry.interval_ns /= 2);
        gate.cycle_ns = TURN;
    };
    assert_eq!(gate(1, &halved), APART);
    // A list whose cycle is no part of that of the first gate is met in any phase: no wait for it is certain.
    let longer = |net: &mut Net| {
        let list = list(&mut net.plan, 4);
        (list.entries[1].interval_ns, list.cycle_ns) = (TURN + 1, 2 * TURN + 1);
    };
    assert_eq!(altered(longer).lower_ps, FIRST_LINK + 2 * (2_000_000 + ALONE));
    let longer = |net: &mut Net| {
        longer(net);
        let gate = &mut net.plan.policing[1].gates[0];
        (gate.entries[1].interval_ns, gate.cycle_ns) = (TURN + 1, 2 * TURN + 1);
    };
    assert_eq!(altered(longer).lower_ps, FIRST_LINK + 2 * (2_000_000 + ALONE));
    assert!(later(longer) > APART);
    // A gate whose cycle is no part of the first one's may be open whenever a frame comes.
    let half_closed = |net: &mut Net| {
        let gate = &mut net.plan.policing[1].gates[0];
        gate.entries[0].open = false;
        (gate.entries[1].interval_ns, gate.cycle_ns) = (TURN + 1, 2 * TURN + 1);
    };
    assert_eq!(altered(half_closed).lower_ps, FIRST_LINK + 2 * (2_000_000 + ALONE));
    // A port without gates: a frame waits for one of the stream's own in the other class.
    let open = later(|net| net.plan.ports[4].gates = None).unwrap();
    assert_eq!(open, OPENS[0] + GAP + ALONE + 2_000_000 + 8_160_000 + ALONE - LAST_BIT);
    // Nodes that cut through take frames of a filter as a whole.
    assert_eq!(later(|net| net.plan.nodes[2].cut_through_octets = Some(64)), Some(0));
    // A scheduler holds frames until another turn.
    let shaped = |net: &mut Net| {
        let table = &mut net.plan.policing[1];
        table.groups.push(tsn_plan::AtsGroup { name: "g".into(), max_residence_ns: 1_000_000_000 });
        let scheduler = tsn_plan::AtsScheduler { cir_bps: 90_000_000, cbs_bits: 16_320, group: 0 };
        table.schedulers.push(scheduler);
        table.filters[0].scheduler = Some(0);
    };
    assert!(later(shaped).is_none_or(|later| later > 0));
    // Faults that only lose frames.
    let down = Fault::LinkDown { port: 2, from_ns: 0, until_ns: 1_000 };
    assert_eq!(later(|net| net.plan.faults.push(down)), Some(0));
    // A stream that has no bounded burst, and the reason.
    let found = altered(|net| net.plan.streams[0].pattern = Pattern::Poisson { mean_interval_ps: 1_000_000 });
    assert_eq!(found.upper_ps, None);
    assert!(found.reason.unwrap().to_string().contains("at n1 -> n2: "));
}

/// Without gates at ports, a stream gate that chooses priorities: the delay of the lower one.
#[test]
fn of_two_priorities_the_slower_one_counts() {
    let mut net = Net::new(2_000_000);
    let path = net.line(3, 2_000, GIGABIT, 0);
    net.stream("s", &path, 6, any_phase(), frame(OCTETS));
    net.stream("other", &[1, 2], 4, periodic(1_000_000, 0), frame(480));
    net.plan.policing.push(turns(1, 0, &[0]));
    net.plan.policing[0].gates[0].entries[0].ipv = Some(3);
    let alone = 8_064_000;
    // In class 3 behind the other stream's frame, and behind one of its own that has class 6.
    assert_eq!(flow(&net.plan, 0).hops[1].upper_ps, Some(4_000_000 + 8_160_000 + alone));
    // The other stream: one frame of class 6, and one of class 3 that has begun.
    assert_eq!(flow(&net.plan, 1).hops[0].upper_ps, Some(2 * 8_160_000 + 488 * 8_000));
    // A closed entry brings no frames, and an entry without a priority those of the stream's own.
    net.plan.policing[0].gates[0].entries[0].open = false;
    assert_eq!(flow(&net.plan, 1).hops[0].upper_ps, Some(8_160_000 + 488 * 8_000));
    net.plan.policing[0].gates[0].entries[1].ipv = None;
    assert_eq!(flow(&net.plan, 1).hops[0].upper_ps, Some(8_160_000 + 488 * 8_000));
}

/// A tap at the receiver that stamps the begin of a frame: 1,000 octets earlier.
#[test]
fn stamps_at_the_begin_of_a_frame() {
    let found = with(|net| {
        let rx = net.port(3, 2);
        net.tap(rx, Stage::Rx, Point::Start);
    });
    assert_eq!(found, Some(FIRST_LINK + LAST_BIT - 8_000_000));
}
