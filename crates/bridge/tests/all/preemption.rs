//! Frame pre-emption with times computed by hand: the points at which frames are cut, octets that cannot be
//! cut, and holds.
//!
//! IEEE 802.3-2022, clause 99. At 1 Gbit/s an octet takes 8 ns. Every mPacket begins with 8 octets of
//! preamble and delimiter, and ends with 4 octets of check sequence (the FCS at the end of the frame); 12
//! octets of gap follow.

use crate::common::{Arrivals, drive};
use tsn_bridge::MergeCounters;
use tsn_plan::{Class, GateEntry, Gates, MacOperation, Port, Preemption};

/// A class of preemptable frames, and a higher class of express frames.
const PREEMPTABLE: u8 = 0;
const EXPRESS: u8 = 1;

fn port(gates: Option<Gates>) -> Port {
    Port {
        rate_bps: 1_000_000_000,
        classes: vec![Class::default(); 2],
        gates,
        preemption: Some(Preemption { express: 0b10, ..Preemption::default() }),
        ..Port::default()
    }
}

/// First bit and last bit of every frame in ns, in order of arrival, and the counters.
fn sent(port: &Port, arrivals: &Arrivals) -> (Vec<(i64, i64)>, MergeCounters) {
    let mut sent = vec![(-1, -1); arrivals.len()];
    let machine = drive(port, arrivals, 1_000_000, |_, actions| {
        assert!(actions.dropped.is_none());
        if let Some(start) = &actions.start {
            sent[start.frame.number] = (start.first_bit.ps() / 1_000, start.last_bit.ps() / 1_000);
        }
    });
    assert_eq!(machine.queued(), 0);
    (sent, machine.merge_counters().expect("the port has pre-emption"))
}

const ONCE: MergeCounters =
    MergeCounters { preemptions: 1, continuations: 1, fragmented_frames: 1, holds: 0 };
const NEVER: MergeCounters =
    MergeCounters { preemptions: 0, continuations: 0, fragmented_frames: 0, holds: 0 };

#[test]
fn an_express_frame_waits_for_what_has_begun_and_its_check_sequence() {
    let arrivals = vec![(0, PREEMPTABLE, 1_000), (1_000, EXPRESS, 100)];
    let (sent, counters) = sent(&port(None), &arrivals);
    // At 1,000 ns, 125 octets have begun, 117 of them of the frame. With 4 of mCRC and 12 of gap the link is
    // free after 141 octets. The express frame takes 108 octets to its last bit, 120 with its gap. Then
    // follow 8 octets and the remaining 883.
    assert_eq!(sent, [(0, (141 + 120 + 8 + 883) * 8), (141 * 8, (141 + 108) * 8)]);
    assert_eq!(counters, ONCE);
}

/// An octet that has begun is completed.
#[test]
fn a_cut_comes_with_the_end_of_an_octet() {
    for (ns, octets) in [(993, 125), (1_000, 125), (1_001, 126), (1_008, 126)] {
        let (sent, _) = sent(&port(None), &vec![(0, PREEMPTABLE, 1_000), (ns, EXPRESS, 100)]);
        assert_eq!(sent[1].0, (octets + 4 + 12) * 8, "{ns} ns");
    }
}

/// An mPacket has at least 64 octets with its check sequence: 60 octets of the frame are sent, however early
/// it is cut.
#[test]
fn the_first_fragment_has_64_octets() {
    for ns in [1, 100, 8 * 68] {
        let (sent, counters) = sent(&port(None), &vec![(0, PREEMPTABLE, 1_000), (ns, EXPRESS, 100)]);
        assert_eq!(sent[1].0, (8 + 64 + 12) * 8, "{ns} ns");
        assert_eq!(sent[0].1, (8 + 64 + 12 + 120 + 8 + 940) * 8);
        assert_eq!(counters, ONCE);
    }
}

/// 60 and 64 octets: the shortest frame that can be cut has 124 octets.
#[test]
fn a_frame_of_123_octets_cannot_be_cut() {
    let express = |octets| sent(&port(None), &vec![(0, PREEMPTABLE, octets), (1, EXPRESS, 100)]);
    let (whole, counters) = express(123);
    assert_eq!(whole, [(0, 131 * 8), (143 * 8, (143 + 108) * 8)]);
    assert_eq!(counters, NEVER);
    let (cut, counters) = express(124);
    assert_eq!(cut, [(0, (84 + 120 + 8 + 64) * 8), (84 * 8, (84 + 108) * 8)]);
    assert_eq!(counters, ONCE);
}

/// The rest must fill an mPacket, too: of 1,000 octets at most 936 are sent before the last cut.
#[test]
fn the_last_fragment_has_64_octets() {
    let express = |ns| sent(&port(None), &vec![(0, PREEMPTABLE, 1_000), (ns, EXPRESS, 100)]);
    let last = (8 + 936) * 8;
    let (cut, counters) = express(last);
    assert_eq!(cut, [(0, (8 + 940 + 12 + 120 + 8 + 64) * 8), (960 * 8, (960 + 108) * 8)]);
    assert_eq!(counters, ONCE);
    let (whole, counters) = express(last + 1);
    assert_eq!(whole, [(0, 1_008 * 8), (1_020 * 8, (1_020 + 108) * 8)]);
    assert_eq!(counters, NEVER);
}

/// Every fragment has at least 64 octets, and every continuation has its own preamble.
#[test]
fn a_frame_may_be_cut_more_than_once() {
    let arrivals = vec![(0, PREEMPTABLE, 300), (1, EXPRESS, 64), (1_400, EXPRESS, 64)];
    let (sent, counters) = sent(&port(None), &arrivals);
    // The frame is cut after 60 octets, and the link is free at 84; the express frame takes it until 168,
    // 1,344 ns. The second express frame arrives 56 ns later, so the second fragment also has 60 octets of
    // the frame: until 252. 180 octets are left.
    let second = 84 + 84 + 84;
    assert_eq!(sent, [(0, (second + 84 + 8 + 180) * 8), (84 * 8, 156 * 8), (second * 8, (second + 72) * 8)]);
    assert_eq!(counters, MergeCounters { preemptions: 2, continuations: 2, fragmented_frames: 1, holds: 0 });
}

/// Waiting express frames are sent first, and preemptable frames do not cut each other.
#[test]
fn only_express_frames_cut_and_an_interrupted_frame_goes_before_those_behind_it() {
    let arrivals = vec![
        (0, PREEMPTABLE, 500),
        (1, EXPRESS, 64),
        (2, EXPRESS, 64),
        (3, PREEMPTABLE, 64),
        (4, PREEMPTABLE, 64),
    ];
    let (sent, counters) = sent(&port(None), &arrivals);
    let rest = 84 + 84 + 84;
    assert_eq!(sent[1..3], [(84 * 8, 156 * 8), (168 * 8, 240 * 8)]);
    assert_eq!(sent[0], (0, (rest + 8 + 440) * 8));
    let next = rest + 8 + 440 + 12;
    assert_eq!(sent[3..], [(next * 8, (next + 72) * 8), ((next + 84) * 8, (next + 156) * 8)]);
    assert_eq!(counters, ONCE);
    // An express frame is never cut by any other frame.
    let (sent, counters) =
        self::sent(&port(None), &vec![(0, EXPRESS, 1_000), (1, PREEMPTABLE, 64), (2, EXPRESS, 64)]);
    assert_eq!(sent, [(0, 8_064), ((1_020 + 84) * 8, (1_020 + 84 + 72) * 8), (8_160, (1_020 + 72) * 8)]);
    assert_eq!(counters, NEVER);
}

/// All gates open; preemptable frames are held back in the second half of every 20,000 ns.
fn holding() -> Port {
    let entry = |mac| GateEntry { open: 0b11, interval_ns: 10_000, mac: Some(mac) };
    let entries = vec![entry(MacOperation::Release), entry(MacOperation::Hold)];
    let mut port = port(Some(Gates { cycle_ns: 20_000, entries, ..Gates::default() }));
    // The time of 123 octets with preamble and gap.
    port.preemption = Some(Preemption { express: 0b10, hold_advance_ns: 143 * 8, release_advance_ns: 0 });
    port
}

#[test]
fn a_hold_cuts_in_advance_and_the_release_lets_go_on() {
    let (sent, counters) = sent(&holding(), &vec![(5_000, PREEMPTABLE, 1_500)]);
    // The frame is held at 10,000 less 1,144 ns: 3,856 ns or 482 octets have begun, 474 of them of the frame.
    // 1,026 are left.
    assert_eq!(sent, [(5_000, 20_000 + (8 + 1_026) * 8)]);
    assert_eq!(counters, MergeCounters { preemptions: 0, continuations: 1, fragmented_frames: 1, holds: 1 });
}

#[test]
fn a_frame_that_ends_before_the_hold_is_not_cut() {
    // 1,000 octets end at 800 + 8,064 = 8,864 ns, 8 ns after the hold: the rest cannot be cut.
    let (sent, counters) = sent(&holding(), &vec![(800, PREEMPTABLE, 1_000)]);
    assert_eq!((sent, counters), (vec![(800, 8_864)], NEVER));
}

/// Held frames do not begin before the release. Meanwhile express frames do not find the link busy.
#[test]
fn no_preemptable_frame_begins_while_held_back() {
    for (ns, begins) in
        [(8_855, 8_855), (8_856, 20_000), (12_000, 20_000), (19_999, 20_000), (20_000, 20_000)]
    {
        let (sent, _) = sent(&holding(), &vec![(ns, PREEMPTABLE, 100)]);
        assert_eq!(sent, [(begins, begins + 108 * 8)], "{ns} ns");
    }
    let (sent, counters) = sent(&holding(), &vec![(9_000, PREEMPTABLE, 1_000), (12_000, EXPRESS, 1_000)]);
    assert_eq!((sent, counters), (vec![(20_160, 28_224), (12_000, 20_064)], NEVER));
}

/// A release may be requested in advance, too.
#[test]
fn a_release_in_advance() {
    let mut port = holding();
    port.preemption = Some(Preemption { express: 0b10, hold_advance_ns: 0, release_advance_ns: 600 });
    for (ns, begins) in [(9_999, 9_999), (10_000, 19_400), (19_399, 19_400), (19_500, 19_500)] {
        let (sent, _) = sent(&port, &vec![(ns, PREEMPTABLE, 64)]);
        assert_eq!(sent[0].0, begins, "{ns} ns");
    }
}

/// A quarter of the link for preemptable frames: 750 bit/us of credit are spent during any part of a frame,
/// and 250 return while it is interrupted.
#[test]
fn every_part_costs_what_it_takes_on_the_wire() {
    let mut port = port(None);
    port.classes[0].cbs = Some(tsn_plan::Cbs {
        idle_slope_bps: 250_000_000,
        send_slope_bps: -750_000_000,
        hi_credit_bits: 10_000,
        lo_credit_bits: -10_000,
        ..tsn_plan::Cbs::default()
    });
    let arrivals = vec![(0, PREEMPTABLE, 1_000), (0, PREEMPTABLE, 64), (1_000, EXPRESS, 100)];
    let (sent, counters) = sent(&port, &arrivals);
    // 141 octets until 1,128 ns: -846 bit. 120 octets of the express frame until 2,088 ns: -606 bit. The
    // other 883 octets, with 20 of overhead, until 9,312 ns: -6,024 bit. This credit returns in 24,096 ns.
    assert_eq!(sent[0].1, 9_312 - 12 * 8);
    assert_eq!(sent[1].0, 9_312 + 24_096);
    assert_eq!(counters, ONCE);
}

/// Preemptable frames have 5,000 of 20,000 ns, without a guard.
#[test]
fn parts_that_overrun_their_window_are_counted() {
    let entry = |open, interval_ns| GateEntry { open, interval_ns, mac: None };
    let entries = vec![entry(0b11, 5_000), entry(0b10, 15_000)];
    let port = port(Some(Gates { cycle_ns: 20_000, entries, unguarded: true, ..Gates::default() }));
    let overruns = |arrivals: &Arrivals| {
        let machine = drive(&port, arrivals, 1_000_000, |_, _| ());
        machine.counters().map(|counters| counters.transmission_overruns).collect::<Vec<_>>()
    };
    // 617 octets and 8 before them take 5,000 ns.
    assert_eq!(overruns(&vec![(0, PREEMPTABLE, 617)]), [0, 0]);
    assert_eq!(overruns(&vec![(0, PREEMPTABLE, 618)]), [1, 0]);
    assert_eq!(overruns(&vec![(4_999, PREEMPTABLE, 64)]), [1, 0]);
    // The frame is cut at 6,000 ns, so the first part overruns. Express frames take until 20,056, and the
    // rest ends within its window.
    let express = [(6_000, EXPRESS, 1_500), (6_000, EXPRESS, 200)];
    assert_eq!(overruns(&vec![(0, PREEMPTABLE, 980), express[0], express[1]]), [1, 0]);
    // With its check sequence the first part ends at 5,000 ns, or one octet later; the rest is in the next
    // window.
    let cut = |ns| overruns(&vec![(0, PREEMPTABLE, 980), (ns, EXPRESS, 1_500), (ns, EXPRESS, 400)]);
    assert_eq!((cut(4_968), cut(4_969)), (vec![0, 0], vec![1, 0]));
    // The frame is cut at 1,000 ns, and the rest is within the next window: neither part overruns.
    let express = [(1_000, EXPRESS, 1_500), (1_000, EXPRESS, 842)];
    assert_eq!(overruns(&vec![(0, PREEMPTABLE, 600), express[0], express[1]]), [0, 0]);
}

/// Two preemptable classes below an express class: the higher one is sent first, and both continue after the
/// express frame.
#[test]
fn preemptable_classes_follow_each_other() {
    let mut port = port(None);
    port.classes = vec![Class::default(); 3];
    port.preemption = Some(Preemption { express: 0b100, ..Preemption::default() });
    let arrivals = vec![(0, 0, 64), (0, 1, 1_000), (0, 0, 65), (1_000, 2, 100), (1_000, 1, 66)];
    let (sent, counters) = sent(&port, &arrivals);
    let rest = 141 + 120 + 8 + 883;
    assert_eq!((sent[1], sent[3]), ((0, rest * 8), (141 * 8, (141 + 108) * 8)));
    let next = rest + 12;
    assert_eq!(sent[4], (next * 8, (next + 8 + 66) * 8));
    let next = next + 86;
    assert_eq!(sent[0], (next * 8, (next + 72) * 8));
    assert_eq!(sent[2], ((next + 84) * 8, (next + 84 + 73) * 8));
    assert_eq!(counters, ONCE);
}

/// Preemptable frames have 10,000 ns of every 20,000, and are held in the rest: a frame that is too long may
/// begin if the hold cuts it in time.
#[test]
fn a_frame_may_begin_that_a_hold_cuts() {
    let entry = |open, interval_ns, mac| GateEntry { open, interval_ns, mac: Some(mac) };
    let (hold, release) = (MacOperation::Hold, MacOperation::Release);
    let entries = vec![entry(0b11, 10_000, release), entry(0b10, 10_000, hold)];
    let mut port = port(Some(Gates { cycle_ns: 20_000, entries, ..Gates::default() }));
    port.preemption = Some(Preemption { express: 0b10, ..Preemption::default() });
    // 123 octets and 8 take 1,048 ns: octets that cannot be cut must have left at 10,000. The rest of the
    // frame that begins at 8,952 is also too long for the next window.
    for (ns, begins, holds) in [(5_000, 5_000, 1), (8_952, 8_952, 2), (8_953, 20_000, 1), (12_000, 20_000, 1)]
    {
        let (sent, counters) = sent(&port, &vec![(ns, PREEMPTABLE, 1_500)]);
        assert_eq!((sent[0].0, counters.holds), (begins, holds), "{ns} ns");
    }
    // A release before the window closes lets the frame continue, so that it would run into the closed gate.
    let entries = vec![
        entry(0b11, 5_000, release),
        entry(0b11, 2_000, hold),
        entry(0b11, 3_000, release),
        entry(0b10, 10_000, release),
    ];
    port.gates = Some(Gates { cycle_ns: 20_000, entries, ..Gates::default() });
    let mut dropped = 0;
    drive(&port, &vec![(0, PREEMPTABLE, 1_500)], 100_000, |_, actions| {
        dropped += usize::from(actions.dropped.is_some());
    });
    assert_eq!(dropped, 1);
}

fn timed(entries: &[(u8, u64)]) -> Port {
    let entry =
        |(open, interval_ns): &(u8, u64)| GateEntry { open: *open, interval_ns: *interval_ns, mac: None };
    let entries: Vec<_> = entries.iter().map(entry).collect();
    port(Some(Gates { cycle_ns: 20_000, entries, ..Gates::default() }))
}

/// An express frame that waits for its gate cuts no frame before the gate opens at 5,100 ns: 638 octets have
/// begun by then.
#[test]
fn an_express_frame_cuts_when_its_gate_opens() {
    let (sent, counters) =
        sent(&timed(&[(0b01, 5_100), (0b11, 14_900)]), &vec![(0, PREEMPTABLE, 1_000), (5_000, EXPRESS, 64)]);
    let free = 638 + 4 + 12;
    assert_eq!(sent, [(0, (free + 84 + 8 + 1_000 - 630) * 8), (free * 8, (free + 72) * 8)]);
    assert_eq!(counters, ONCE);
}

/// At 5,300 ns, 72 octets would have left before the gate closes at 6,000 ns. But the part in transmission
/// ends at 5,432 ns, and from then on 72 octets are too long.
#[test]
fn an_express_frame_cuts_nothing_if_it_could_not_go_then() {
    let port = timed(&[(0b01, 5_000), (0b11, 1_000), (0b01, 14_000)]);
    let (cut, counters) = sent(&port, &vec![(0, PREEMPTABLE, 1_000), (5_292, EXPRESS, 64)]);
    let free = 662 + 4 + 12;
    assert_eq!((cut[1], counters), ((free * 8, (free + 72) * 8), ONCE));
    let (whole, counters) = sent(&port, &vec![(0, PREEMPTABLE, 1_000), (5_300, EXPRESS, 64)]);
    assert_eq!((whole, counters), (vec![(0, 8_064), (25_000, 25_576)], NEVER));
}

/// A release for only the time of the hold's advance: no frame may begin at any instant.
#[test]
fn a_release_that_is_over_at_once_lets_nothing_go() {
    let ends = |released: u64| {
        let mut port = holding();
        let list = port.gates.as_mut().unwrap();
        (list.entries[0].interval_ns, list.entries[1].interval_ns) = (released, 20_000 - released);
        let (mut dropped, mut sent) = (0, 0);
        drive(&port, &vec![(100, PREEMPTABLE, 64)], 100_000, |_, actions| {
            dropped += usize::from(actions.dropped.is_some());
            sent += usize::from(actions.start.is_some());
        });
        (dropped, sent)
    };
    assert_eq!((ends(143 * 8), ends(143 * 8 + 576)), ((1, 0), (0, 1)));
}
