//! Bounds of frames whose queue a stream gate selects in turn: the end of each turn's window follows from
//! arithmetic.

use crate::common::*;
use tsn_bounds::{Reason, bounds};
use tsn_plan::{
    Class, Fault, GateEntry, Gates, Pattern, Plan, Point, Policing, Size, Stage, StreamFilter, StreamGate,
    StreamGateEntry,
};

/// One turn of two queues, of classes 6 and 7, in ns.
const TURN: u64 = 100_000;
/// A frame of 1,000 octets: 8,160 bit on the wire.
const OCTETS: u32 = 1_000;
/// From the `tx` stamp to the last bit at the first bridge: the frame and 5 ns of cable.
const FIRST_LINK: i64 = 8_000_000 + 5_000;
/// The window of a turn begins at 102 us at the first bridge (last arrival, and 2 us of processing). It
/// begins at 205 us at the second bridge, whose stream gate changes at 202,006 ns, as the last bit arrives at
/// 202,005 ns. So the last bit arrives at the listener at 305,005 ns.
const LAST_BIT: i64 = 305_000_000 + 5_000;

/// A filter and a stream gate for all frames of the streams: queue 6 in the first turn of a cycle, queue 7 in
/// the second.
fn turns(node: u32, base_time_ns: i64, streams: &[u32]) -> Policing {
    let entry = |ipv| StreamGateEntry { open: true, ipv: Some(ipv), interval_ns: TURN, octets_max: None };
    let gate = StreamGate {
        base_time_ns,
        cycle_ns: 2 * TURN,
        entries: vec![entry(6), entry(7)],
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

/// Talker n0, bridges n1 and n2, listener n3. While one queue is filled, the other one is sent.
fn line() -> Net {
    let mut net = Net::new(2_000_000);
    let path = net.line(4, 2_000, GIGABIT, 5_000);
    net.stream("s", &path, 6, periodic(TURN, 0), frame(OCTETS));
    for (bridge, window, gate) in [(1, 2_000, 0), (2, 5_000, 2_006)] {
        // Frames of the first turn have class 6, and are sent in the second turn.
        net.plan.ports[2 * bridge].gates = gates(window, &[(0x80, TURN), (0x40, TURN)]);
        net.plan.policing.push(turns(bridge as u32, gate, &[0]));
    }
    net
}

/// The highest delay between the stamps of the first stream.
fn upper(plan: &Plan) -> Option<i64> {
    plan.check().unwrap();
    let flow = bounds(plan).flows[0].clone();
    assert_eq!(flow.reason, flow.upper_ps.is_none().then_some(Reason::Internal));
    flow.upper_ps
}

fn with(alter: impl FnOnce(&mut Net)) -> Option<i64> {
    let mut net = line();
    alter(&mut net);
    upper(&net.plan)
}

fn list(plan: &mut Plan, port: usize) -> &mut Gates {
    plan.ports[port].gates.as_mut().unwrap()
}

#[test]
fn a_frame_is_there_when_the_last_window_of_its_turn_ends() {
    let mut net = line();
    assert_eq!(upper(&net.plan), Some(FIRST_LINK + LAST_BIT));
    let flow = bounds(&net.plan).flows[0].clone();
    // Turns give no other bounds; without taps, stamps are in whole ns.
    assert_eq!((flow.upper_ns, flow.release_upper_ps), (Some(313_010), None));
    assert_eq!(flow.release_reason, Some(Reason::Internal));
    assert!(flow.hops.iter().all(|hop| hop.upper_ps.is_none()));
    // The first frame of a turn waits for most of the turn: its last bit leaves as that of the first frame in
    // the last window.
    net.plan.streams[0].pattern = periodic(2 * TURN, 2 * TURN - 8_069);
    let taps = net.tap_ends(&[0, 1, 2, 3]);
    let (sightings, _) = run(&net.plan);
    let seen = delays(&sightings, taps, 0);
    // The delay to the first bridge is 8 us + 5 ns; the frame arrives there 0 ns after the begin of a turn.
    let first_of_last_window = 205_000 + 8_064 + 5;
    assert!(seen.iter().all(|delay| *delay == 8_005 + first_of_last_window), "{seen:?}");
    // With a coarser clock the stamps may show more.
    net.plan.taps.iter_mut().for_each(|tap| tap.granularity_ns = 8);
    assert_eq!(bounds(&net.plan).flows[0].upper_ns, Some(313_017));
}

#[test]
fn of_several_sizes_the_largest_counts_on_the_first_link() {
    let sizes =
        |octets: &[u32]| with(|net| net.plan.streams[0].size = Size::List { octets: octets.to_vec() });
    assert_eq!(sizes(&[100, 1_000]), Some(FIRST_LINK + LAST_BIT));
    assert_eq!(sizes(&[64, 500]), Some(500 * 8_000 + 5_000 + LAST_BIT));
}

/// Another cable adds at most one turn; windows that are farther apart add their distance.
#[test]
fn a_later_window_delays_by_as_much() {
    // The second bridge's windows are 7 us later.
    assert_eq!(
        with(|net| list(&mut net.plan, 4).base_time_ns += 7_000),
        Some(FIRST_LINK + LAST_BIT + 7_000_000)
    );
    // The window opens 1 us before the last frame of the turn is in its queue: only the window of the next
    // cycle remains.
    let early = with(|net| list(&mut net.plan, 4).base_time_ns = 4_004);
    assert_eq!(early, Some(FIRST_LINK + LAST_BIT + 199_004_000));
    assert_eq!(
        with(|net| list(&mut net.plan, 4).base_time_ns = 4_005),
        Some(FIRST_LINK + 304_005_000 + 5_000)
    );
    // The bound does not depend on the cycle in which a list begins.
    for cycles in [-7, 3] {
        let moved = with(|net| {
            list(&mut net.plan, 2).base_time_ns += cycles * 200_000;
            net.plan.policing[0].gates[0].base_time_ns -= cycles * 200_000;
            net.plan.policing[1].gates[0].base_time_ns += cycles * 600_000;
        });
        assert_eq!(moved, Some(FIRST_LINK + LAST_BIT), "{cycles}");
    }
}

/// The frames of one window must be one turn at the next bridge: from the first frame's last bit to the
/// window's end.
#[test]
fn a_turn_that_is_cut_in_two_has_no_bound() {
    // The last bit may arrive at 202,005 ns, so the entry may not end before 202,006 ns.
    let ends = |ns: i64| with(|net| net.plan.policing[1].gates[0].base_time_ns = ns);
    assert_eq!(ends(2_005), None);
    assert_eq!(ends(2_006), Some(FIRST_LINK + LAST_BIT));
    // The last bit of the first frame, of 64 octets, arrives 576 ns after its window opens and 5 ns of cable
    // later: at 102,581 ns.
    assert_eq!(ends(2_581), Some(FIRST_LINK + LAST_BIT));
    assert_eq!(ends(2_582), None);
}

/// A window must have time for a gap, and for the largest number of frames that one turn brings of every
/// stream: the periods in a turn, and one more.
#[test]
fn a_window_has_to_send_its_turn() {
    let window = |ns: u64, alter: &dyn Fn(&mut Net)| {
        with(|net| {
            let entry = |open, interval_ns| GateEntry { open, interval_ns, mac: None };
            let open = [0x80, 0x40].map(|open| [entry(open, ns), entry(0, TURN - ns)]);
            list(&mut net.plan, 2).entries = open.concat();
            alter(net);
        })
    };
    // At most two frames: 12 octets and 2 * 1,020 octets, at 8 ns.
    assert_eq!(window(16_416, &|_| ()), Some(FIRST_LINK + LAST_BIT));
    assert_eq!(window(16_415, &|_| ()), None);
    // With a period that is 1 ns longer: one frame.
    let slower = |net: &mut Net| net.plan.streams[0].pattern = periodic(TURN + 1, 0);
    assert_eq!(window(8_256, &slower), Some(FIRST_LINK + LAST_BIT));
    assert_eq!(window(8_255, &slower), None);
    // Jitter moves frames closer together: 2 frames at 120 us with a jitter of 20 us.
    let jittered = |jitter_ns| {
        move |net: &mut Net| {
            net.plan.streams[0].pattern = Pattern::Periodic { period_ns: 120_000, offset_ns: 0, jitter_ns };
        }
    };
    assert_eq!(window(8_256, &jittered(19_999)), Some(FIRST_LINK + LAST_BIT));
    assert_eq!(window(16_415, &jittered(20_000)), None);
    assert_eq!(window(16_416, &jittered(20_000)), Some(FIRST_LINK + LAST_BIT));
    // So does another class of the talker, whose frame of 1,542 octets with its gap may be in transmission.
    let blocked = |period: u64| {
        move |net: &mut Net| {
            net.plan.streams[0].pattern = periodic(period, 0);
            net.stream("other", &[0, 1], 0, periodic(1_000_000, 0), frame(FULL));
        }
    };
    assert_eq!(window(8_256, &blocked(112_337)), Some(FIRST_LINK + LAST_BIT));
    assert_eq!(window(8_256, &blocked(112_336)), None);
}

/// At a bridge, a frame of a lower class without turns may be in transmission when a window opens.
#[test]
fn a_window_has_to_send_what_is_in_the_way_when_it_opens() {
    let beside = |ns: u64, pcp: u8, sizes: &[u32]| {
        with(|net| {
            net.plan.streams[0].pattern = periodic(2 * TURN, 0);
            let entry = |open, interval_ns| GateEntry { open, interval_ns, mac: None };
            let open = [0x80, 0x40].map(|open| [entry(open | 0x3f, ns), entry(0x3f, TURN - ns)]);
            list(&mut net.plan, 2).entries = open.concat();
            for (number, octets) in sizes.iter().enumerate() {
                net.stream(&format!("low{number}"), &[1, 2], pcp, periodic(1_000_000, 0), frame(*octets));
            }
        })
    };
    // 12 + 1,020 + 320 octets.
    assert_eq!(beside(10_816, 5, &[100, 300, 200]), Some(FIRST_LINK + LAST_BIT));
    assert_eq!(beside(10_815, 5, &[100, 300, 200]), None);
    assert_eq!(beside(8_256, 5, &[]), Some(FIRST_LINK + LAST_BIT));
    // In a class as high as that of a turn, or higher, such a frame leaves no bound.
    assert_eq!(beside(TURN - 1, 6, &[100]), None);
    assert_eq!(beside(TURN - 1, 7, &[100]), None);
}

/// Several streams share turns; streams over other ports are not counted.
#[test]
fn streams_that_share_turns_share_windows() {
    let window = |ns: u64| {
        with(|net| {
            let entry = |open, interval_ns| GateEntry { open, interval_ns, mac: None };
            let open = [0x80, 0x40].map(|open| [entry(open, ns), entry(0, TURN - ns)]);
            list(&mut net.plan, 2).entries = open.concat();
            // A stream from the same talker, and one back from the second bridge to the first.
            net.stream("t", &[0, 1, 2], 6, periodic(TURN, 0), frame(480));
            net.stream("back", &[2, 1], 7, periodic(TURN, 0), frame(FULL));
            net.plan.policing.iter_mut().for_each(|table| table.filters[0].streams = vec![0, 1]);
        })
    };
    // The talker's queue adds a jitter of one frame: still two frames of each. 12 + 2 * 1,020 + 2 * 500
    // octets.
    assert_eq!(window(24_416), Some(FIRST_LINK + LAST_BIT));
    assert_eq!(window(24_415), None);
}

/// Both windows of a cycle must follow their turns after the same time; otherwise turns could meet.
#[test]
fn turns_that_wait_for_different_times_have_no_bound() {
    let entry = |open, interval_ns| GateEntry { open, interval_ns, mac: None };
    let windows = |entries: &[(u8, u64)]| {
        with(|net| {
            list(&mut net.plan, 4).entries = entries.iter().map(|(open, ns)| entry(*open, *ns)).collect();
        })
    };
    // Windows that are 20 us shorter, at their end or at their begin.
    let first = [(0x80, 80_000), (0, 20_000), (0x40, 80_000), (0, 20_000)];
    assert_eq!(windows(&first), Some(FIRST_LINK + LAST_BIT - 20_000_000));
    let second = [(0, 20_000), (0x80, 80_000), (0, 20_000), (0x40, 80_000)];
    assert_eq!(windows(&second), Some(FIRST_LINK + LAST_BIT));
    assert_eq!(windows(&[(0x80, 80_000), (0, 20_000), (0, 20_000), (0x40, 80_000)]), None);
    // Windows of different lengths: the longer one counts.
    let uneven = [(0x80, 80_000), (0, 20_000), (0x40, 100_000)];
    assert_eq!(windows(&uneven), Some(FIRST_LINK + LAST_BIT));
    // A following entry that also has the gate open does not count.
    let followed = [(0x80, 60_000), (0x81, 40_000), (0x40, 60_000), (0x41, 40_000)];
    assert_eq!(windows(&followed), Some(FIRST_LINK + LAST_BIT - 40_000_000));
    // Such an entry does not begin a window either: a turn that is 1 ns too late for the first window waits
    // for a cycle.
    let missed = with(|net| {
        list(&mut net.plan, 4).entries = followed.iter().map(|(open, ns)| entry(*open, *ns)).collect();
        list(&mut net.plan, 4).base_time_ns = 4_004;
    });
    assert_eq!(missed, Some(FIRST_LINK + LAST_BIT + 199_004_000 - 40_000_000));
    // The other queue's gate is still open when a gate opens.
    assert_eq!(windows(&[(0x80, 100_000), (0xc0, 50_000), (0x40, 50_000)]), None);
    // A queue whose gate is open in both halves, or never.
    assert_eq!(windows(&[(0xc0, 100_000), (0x40, 100_000)]), None);
    assert_eq!(windows(&[(0x80, 100_000), (0x00, 100_000)]), None);
}

/// A Plan that is not cyclic queuing in all its parts has no bound.
#[test]
fn other_lists_and_plans_leave_no_bound() {
    assert!(with(|_| ()).is_some());
    // Entries of different lengths, the same queue twice, or another cycle.
    assert_eq!(
        with(|net| {
            let entries = &mut net.plan.policing[0].gates[0].entries;
            (entries[0].interval_ns, entries[1].interval_ns) = (TURN - 1, TURN + 1);
        }),
        None
    );
    assert_eq!(with(|net| net.plan.policing[1].gates[0].entries[1].ipv = Some(6)), None);
    assert_eq!(
        with(|net| {
            let list = list(&mut net.plan, 2);
            (list.entries[1].interval_ns, list.cycle_ns) = (TURN + 1, 2 * TURN + 1);
        }),
        None
    );
    assert_eq!(
        with(|net| {
            net.plan.policing[1].gates[0].entries.iter_mut().for_each(|entry| entry.interval_ns /= 2);
            net.plan.policing[1].gates[0].cycle_ns = TURN;
        }),
        None
    );
    // A port without gates, a class with a shaper, a stream without a fixed pattern.
    assert_eq!(with(|net| net.plan.ports[4].gates = None), None);
    assert_eq!(
        with(|net| net.plan.ports[2].classes[7].cbs = Some(cbs(400_000_000, GIGABIT as i64, 9, -9))),
        None
    );
    assert!(
        with(|net| {
            let shaper = Some(cbs(400_000_000, GIGABIT as i64, 9, -9));
            net.plan.ports[2].classes[5] = Class { cbs: shaper, ..Class::default() };
        })
        .is_some()
    );
    let poisson = Pattern::Poisson { mean_interval_ps: 1_000_000_000 };
    assert_eq!(with(|net| net.plan.streams[0].pattern = poisson), None);
    // Nodes that cut through, ports that interrupt frames or whose octets take no whole number of ps, lists
    // that change.
    assert_eq!(with(|net| net.plan.nodes[2].cut_through_octets = Some(64)), None);
    let preemption = Some(tsn_plan::Preemption { express: 0xff, ..Default::default() });
    assert_eq!(with(|net| net.plan.ports[5].preemption = preemption), None);
    assert_eq!(with(|net| net.plan.ports[4].rate_bps = 3_000_000_000), None);
    assert_eq!(with(|net| list(&mut net.plan, 2).unguarded = true), None);
    // Faults that only lose frames, and one that adds frames.
    let down = Fault::LinkDown { port: 2, from_ns: 0, until_ns: 1_000 };
    assert!(with(|net| net.plan.faults.push(down)).is_some());
    let babble = Fault::Babble { stream: 0, from_ns: 0, until_ns: 1_000_000, every_ns: 1_000_000 };
    assert_eq!(with(|net| net.plan.faults.push(babble)), None);
    // Member streams; and a talker's port that also forwards frames.
    assert_eq!(with(|net| net.plan.streams[0].redundancy = Some(Box::default())), None);
    let through = |alone: bool| {
        with(|net| {
            let x = net.node("x", 0);
            net.link(x, 0, GIGABIT, 0);
            net.stream(
                "other",
                if alone { &[0, 1] } else { &[4, 0, 1] },
                0,
                periodic(1_000_000, 0),
                frame(64),
            );
        })
    };
    assert!(through(true).is_some() && through(false).is_none());
    // A scheduler after the stream gate delays frames.
    assert_eq!(
        with(|net| {
            let table = &mut net.plan.policing[1];
            let group = tsn_plan::AtsGroup { name: "g".into(), max_residence_ns: 1_000_000_000 };
            table.groups.push(group);
            table.schedulers.push(tsn_plan::AtsScheduler {
                cir_bps: 1_000_000_000,
                cbs_bits: 100_000,
                group: 0,
            });
            table.filters[0].scheduler = Some(0);
        }),
        None
    );
}

/// A stream without turns keeps its reason; it does not take the bounds of the others.
#[test]
fn only_streams_that_take_turns_have_a_bound_from_them() {
    let mut net = line();
    net.stream("plain", &[0, 1, 2, 3], 0, periodic(1_000_000, 0), frame(100));
    net.plan.ports.iter_mut().filter_map(|port| port.gates.as_mut()).for_each(|gates| {
        gates.entries.iter_mut().for_each(|entry| entry.open |= 1);
    });
    let found = bounds(&net.plan);
    assert_eq!(found.flows[0].upper_ps, Some(FIRST_LINK + LAST_BIT));
    assert_eq!((found.flows[1].upper_ps, &found.flows[1].reason), (None, &Some(Reason::Internal)));
    // A tap at the receiver that stamps the begin of a frame: 1,000 octets earlier.
    let rx = net.port(3, 2);
    net.tap(rx, Stage::Rx, Point::Start);
    assert_eq!(bounds(&net.plan).flows[0].upper_ps, Some(FIRST_LINK + LAST_BIT - 8_000_000));
}
