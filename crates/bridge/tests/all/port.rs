//! A port with times computed by hand: strict priority, shapers, gates, limits, and the state that it
//! reports.
//!
//! IEEE 802.1Q-2022, 8.6.6 to 8.6.8. At 1 Gbit/s a frame of 980 octets takes 988 octets or 7,904 ns to its
//! last bit, and 1,000 octets or 8,000 ns until the next frame may begin.

use crate::common::{Arrivals, Packet, drive};
use tsn_bridge::{Actions, DropCause, EgressPort, Event, SharedBuffer};
use tsn_plan::{Buffer, Cbs, Class, GateEntry, Gates, Port, Preemption};
use tsn_units::{ClockMap, Frequency, Instant, Octets};

const FRAME: u32 = 980;

fn port(classes: Vec<Class>, gates: Option<Gates>) -> Port {
    Port { rate_bps: 1_000_000_000, classes, gates, ..Port::default() }
}

fn plain(classes: usize) -> Vec<Class> {
    vec![Class::default(); classes]
}

/// A quarter of the link; at most 500 bit of credit are saved.
fn shaped() -> Class {
    let cbs = Cbs {
        idle_slope_bps: 250_000_000,
        send_slope_bps: -750_000_000,
        hi_credit_bits: 500,
        lo_credit_bits: -10_000,
        ..Cbs::default()
    };
    Class { cbs: Some(cbs), ..Class::default() }
}

/// (open gates, ns)
fn gates(entries: &[(u8, u64)]) -> Gates {
    let entry =
        |(open, interval_ns): &(u8, u64)| GateEntry { open: *open, interval_ns: *interval_ns, mac: None };
    let entries: Vec<_> = entries.iter().map(entry).collect();
    Gates { cycle_ns: entries.iter().map(|entry| entry.interval_ns).sum(), entries, ..Gates::default() }
}

/// The start of each frame in ns, in order of arrival, or the reason why it was dropped.
fn starts(port: &Port, arrivals: &Arrivals) -> Vec<Result<i64, DropCause>> {
    let mut found = vec![Err(DropCause::BufferFull); arrivals.len()];
    drive(port, arrivals, 1_000_000, |now, actions| {
        if let Some(start) = &actions.start {
            assert_eq!(start.first_bit, Instant::from_ns(now));
            let last_bit = i64::from(start.frame.octets + 8) * 8;
            assert_eq!(start.last_bit, Instant::from_ns(now + last_bit));
            found[start.frame.number] = Ok(now);
        }
        if let Some(drop) = &actions.dropped {
            found[drop.frame.number] = Err(drop.cause);
        }
    });
    found
}

fn arrive(class: u8, number: usize, octets: u32) -> Event<Packet> {
    Event::Arrive { class, frame: Packet { number, octets }, more: false }
}

#[test]
fn the_highest_class_goes_first_and_within_a_class_who_came_first() {
    let arrivals =
        vec![(0, 0, FRAME), (1, 1, FRAME), (2, 0, FRAME), (3, 2, FRAME), (4, 2, FRAME), (5, 1, FRAME)];
    let expected = [0, 24_000, 40_000, 8_000, 16_000, 32_000].map(Ok);
    assert_eq!(starts(&port(plain(3), None), &arrivals), expected);
    // Of frames that arrive at the same instant, the highest class begins, in any order of events. A class
    // number above the last one means the lowest class.
    let arrivals = vec![(10, 0, FRAME), (10, 2, FRAME), (10, 7, FRAME), (10, 3, FRAME), (10, 1, FRAME)];
    assert_eq!(starts(&port(plain(3), None), &arrivals), [16_010, 10, 24_010, 32_010, 8_010].map(Ok));
    // When the medium becomes free, a frame that arrives then may begin, but no earlier.
    let arrivals = vec![(0, 0, FRAME), (7_999, 1, FRAME), (16_000, 0, FRAME), (24_001, 0, FRAME)];
    assert_eq!(starts(&port(plain(3), None), &arrivals), [0, 8_000, 16_000, 24_001].map(Ok));
}

/// Class 1 spends 6,000 bit on a frame, which take 24,000 ns to return; other frames are sent meanwhile.
#[test]
fn a_shaped_class_waits_for_its_credit() {
    let classes = vec![Class::default(), shaped()];
    let arrivals =
        vec![(0, 1, FRAME), (0, 1, FRAME), (0, 0, FRAME), (0, 0, FRAME), (0, 0, FRAME), (0, 0, FRAME)];
    let expected = [0, 32_000, 8_000, 16_000, 24_000, 40_000].map(Ok);
    assert_eq!(starts(&port(classes.clone(), None), &arrivals), expected);
    // The class gains 250 bit in the 1,000 ns behind another frame: the wait is 1,000 ns shorter.
    let arrivals = vec![(0, 0, FRAME), (7_000, 1, FRAME), (7_000, 1, FRAME)];
    assert_eq!(starts(&port(classes.clone(), None), &arrivals), [0, 8_000, 8_000 + 8_000 + 23_000].map(Ok));
    // In 4,000 ns 500 bit are saved. The saved credit is lost with the last frame.
    let arrivals = vec![(0, 0, FRAME), (4_000, 1, FRAME), (100_000, 1, FRAME), (100_000, 1, FRAME)];
    assert_eq!(starts(&port(classes, None), &arrivals), [0, 8_000, 100_000, 132_000].map(Ok));
}

#[test]
fn credit_is_told() {
    let bit = 1_000_000_000_000_i128;
    let mut machine = EgressPort::new(&port(vec![Class::default(), shaped()], None));
    let mut actions = Actions::default();
    machine.handle(Instant::from_ns(0), arrive(1, 0, FRAME), &mut actions);
    let credit =
        |machine: &EgressPort<Packet>, ns| machine.credit(1, Instant::from_ns(ns)).map(|credit| credit / bit);
    assert_eq!([8_000, 12_000, 40_000].map(|ns| credit(&machine, ns)), [-6_000, -5_000, 0].map(Some));
    // While a frame waits, the credit rises above zero.
    machine.handle(Instant::from_ns(31_000), arrive(0, 1, FRAME), &mut actions);
    machine.handle(Instant::from_ns(31_000), arrive(1, 2, FRAME), &mut actions);
    assert_eq!([32_000, 33_000].map(|ns| credit(&machine, ns)), [0, 250].map(Some));
    // Another frame behind it changes nothing.
    machine.handle(Instant::from_ns(33_000), arrive(1, 3, FRAME), &mut actions);
    assert_eq!(credit(&machine, 33_800), Some(450));
    assert_eq!((machine.credit(0, Instant::EPOCH), machine.credit(2, Instant::EPOCH)), (None, None));
}

/// The gate of class 0 is open for 10,000 ns of 20,000: a frame begins if its last bit leaves before the end.
#[test]
fn a_frame_fits_its_window() {
    let port = port(plain(2), Some(gates(&[(0b01, 10_000), (0b10, 10_000)])));
    for (at, begins) in [(0, 0), (2_096, 2_096), (2_097, 20_000), (15_000, 20_000)] {
        assert_eq!(starts(&port, &vec![(at, 0, FRAME)]), [Ok(begins)], "at {at} ns");
    }
    // The second frame does not fit any more; a shorter one behind it waits for its turn.
    let arrivals = vec![(0, 0, FRAME), (0, 0, FRAME), (0, 0, 64), (0, 1, 64)];
    assert_eq!(starts(&port, &arrivals), [0, 20_000, 28_000, 10_000].map(Ok));
    // 1,242 octets and 8 take 10,000 ns; a frame of one octet more fits no window and is dropped.
    let arrivals = vec![(0, 0, 1_242), (0, 0, 1_243)];
    assert_eq!(starts(&port, &arrivals), [Ok(0), Err(DropCause::FitsNoWindow)]);
}

/// Without a guard, a frame begins at any time at which its gate is open; a gate that closes before the last
/// bit is counted.
#[test]
fn frames_that_overrun_their_window_are_counted() {
    let list = Gates { unguarded: true, ..gates(&[(0b01, 10_000), (0b10, 10_000)]) };
    for (at, begins, overruns) in
        [(2_096, 2_096, 0), (2_097, 2_097, 1), (9_999, 9_999, 1), (10_000, 20_000, 0)]
    {
        let port = port(plain(2), Some(list.clone()));
        let mut begun = Vec::new();
        let machine = drive(&port, &vec![(at, 0, FRAME)], 100_000, |now, actions| {
            begun.extend(actions.start.as_ref().map(|_| now));
        });
        let counted: Vec<u64> = machine.counters().map(|counters| counters.transmission_overruns).collect();
        assert_eq!((begun, counted), (vec![begins], vec![overruns, 0]), "at {at} ns");
    }
}

/// A shaper with gates: the credit does not change while the gate is closed.
#[test]
fn a_shaped_class_with_gates() {
    let port = port(vec![shaped(), Class::default()], Some(gates(&[(0b01, 10_000), (0b10, 10_000)])));
    let arrivals = vec![(0, 0, FRAME), (0, 0, FRAME)];
    // 6,000 bit take 24,000 ns of open gate from 8,000 ns on: until 10,000, then 10,000 ns each until 30,000
    // and 50,000, and 2,000 more.
    assert_eq!(starts(&port, &arrivals), [0, 62_000].map(Ok));
}

#[test]
fn frames_are_dropped_for_their_size_and_for_want_of_room() {
    let limited = Class { limit_frames: Some(2), max_sdu_octets: Some(958), ..Class::default() };
    let arrivals: Arrivals = [FRAME, FRAME + 1, FRAME, FRAME, FRAME].map(|octets| (0, 0, octets)).to_vec();
    // All arrive at the same instant, so no frame has left when the last one arrives: 958 octets with 22
    // octets of headers fit.
    let (full, large) = (Err(DropCause::QueueFull), Err(DropCause::OverMaxSdu));
    assert_eq!(starts(&port(vec![limited.clone()], None), &arrivals), [Ok(0), large, Ok(8_000), full, full]);
    let machine = drive(&port(vec![limited], None), &arrivals, 100_000, |_, _| ());
    let counters = machine.counters().next().expect("one class");
    assert_eq!((counters.dropped_frames, counters.over_max_sdu_frames, counters.sent_frames), (3, 1, 2));
    let octets = Class { limit_octets: Some(1_500), ..Class::default() };
    let arrivals = vec![(0, 0, 1_000), (0, 0, 501), (0, 0, 500)];
    assert_eq!(starts(&port(vec![octets], None), &arrivals), [Ok(0), full, Ok(8_160)]);
}

/// A frame of 1,000 octets takes 8 us with gap and preamble (`FRAME` of 980), and its successors wait for as long each.
/// A wait of exactly the longest time is too long.
#[test]
fn frames_that_wait_for_too_long_are_dropped() {
    let arrivals = vec![(0, 0, FRAME), (0, 0, FRAME), (0, 0, FRAME), (9_000, 0, FRAME)];
    let with = |most| Class { longest_wait_ns: Some(most), ..Class::default() };
    let late = Err(DropCause::DelayExceeded);
    for (most, expected) in [
        (16_001, [Ok(0), Ok(8_000), Ok(16_000), Ok(24_000)]),
        (16_000, [Ok(0), Ok(8_000), late, Ok(16_000)]),
        (8_001, [Ok(0), Ok(8_000), late, Ok(16_000)]),
        (8_000, [Ok(0), late, late, Ok(9_000)]),
    ] {
        assert_eq!(starts(&port(vec![with(most)], None), &arrivals), expected, "{most} ns");
    }
    let machine = drive(&port(vec![with(8_000)], None), &arrivals, 100_000, |_, _| ());
    let counters = machine.counters().next().expect("one class");
    let counted = (counters.enqueued_frames, counters.dropped_frames, counters.delay_exceeded_frames);
    assert_eq!((counted, counters.sent_frames), ((4, 2, 2), 2));
    // Also behind a gate that is closed, where only the first of two arrivals has waited for too long; in front of a
    // transmit buffer, which holds frames that were selected in time; and on a link with pre-emption.
    let closed = Some(gates(&[(0, 30_000), (1, 70_000)]));
    let arrivals = vec![(0, 0, FRAME), (15_000, 0, FRAME)];
    assert_eq!(starts(&port(vec![with(20_000)], closed), &arrivals), [late, Ok(30_000)]);
    let arrivals = vec![(0, 0, FRAME), (0, 0, FRAME), (0, 0, FRAME)];
    let buffered = Port { transmit_buffer: Some(2), ..port(vec![with(8_000)], None) };
    assert_eq!(starts(&buffered, &arrivals), [Ok(0), Ok(8_000), late]);
    let express = Some(tsn_plan::Preemption { express: 1, ..Default::default() });
    let merging = Port { preemption: express, ..port(vec![with(8_000)], None) };
    assert_eq!(starts(&merging, &arrivals), [Ok(0), late, late]);
}

/// After a restart of its node, a port knows no arrival from before; a new clock of its gates keeps the time of the
/// drop.
#[test]
fn longest_waits_begin_with_the_arrivals() {
    let own = vec![Class { longest_wait_ns: Some(20_000), ..Class::default() }];
    let mut machine = EgressPort::<Packet>::new(&port(own, Some(gates(&[(0, 100_000), (1, 100_000)]))));
    let mut actions = Actions::default();
    let at = Instant::from_ns;
    machine.handle(at(0), arrive(0, 0, FRAME), &mut actions);
    assert_eq!(actions.wake, Some(at(20_000)));
    assert_eq!(machine.flush(at(5_000)).len(), 1);
    machine.handle(at(10_000), arrive(0, 1, FRAME), &mut actions);
    machine.handle(at(20_000), Event::Wake, &mut actions);
    assert!(actions.dropped.is_none());
    let clock = ClockMap::new(Instant::EPOCH, Instant::EPOCH, Frequency::NOMINAL);
    machine.set_gate_clock(at(22_000), clock, &mut actions);
    let mut wakes: Vec<_> = actions.wake.into_iter().collect();
    while let Some(wake) = wakes.pop().filter(|wake| *wake < at(30_000)) {
        machine.handle(wake, Event::Wake, &mut actions);
        wakes.extend(actions.wake);
    }
    machine.handle(at(30_000), Event::Wake, &mut actions);
    assert_eq!(
        actions.dropped.map(|drop| (drop.frame.number, drop.cause)),
        Some((1, DropCause::DelayExceeded))
    );
    assert_eq!(machine.queued(), 0);
}

/// Reports of waiting frames and of room: for a held frame (ATS), in its own queue, and in memory that ports
/// share.
#[test]
fn room_and_what_waits() {
    let mut machine =
        EgressPort::<Packet>::new(&port(vec![Class { limit_frames: Some(2), ..Class::default() }; 2], None));
    let mut actions = Actions::default();
    assert_eq!(machine.queued(), 0);
    for number in 0..3 {
        machine.handle(Instant::EPOCH, arrive(1, number, FRAME), &mut actions);
    }
    // One frame is on the wire, two wait.
    assert_eq!(
        (machine.queued(), machine.has_room(1, Octets(64)), machine.has_room(0, Octets(64))),
        (2, false, true)
    );
    assert!(!machine.has_room(2, Octets(64)), "there is no such class");
    assert!(!machine.reserve(1, Octets(64)));
    // A class number above the last one means the lowest class.
    assert!(
        machine.reserve(0, Octets(64)) && machine.reserve(2, Octets(64)) && !machine.reserve(0, Octets(64))
    );
    assert!(!machine.has_room(0, Octets(64)));
    machine.unreserve(0, Octets(64));
    assert!(machine.has_room(0, Octets(64)));
    machine.unreserve(2, Octets(64));
    assert!(machine.reserve(0, Octets(64)) && machine.reserve(0, Octets(64)));
    assert_eq!(machine.merge_counters().map(|counters| counters.preemptions), None);
    let limited = Class { limit_frames: Some(1), ..Class::default() };
    let mut machine = EgressPort::<Packet>::new(&port(vec![limited; 2], None));
    assert!(machine.reserve(1, Octets(64)) && !machine.has_room(1, Octets(64)));
    machine.unreserve(1, Octets(64));
    assert!(machine.has_room(1, Octets(64)));
    let buffer = SharedBuffer::new(&Buffer { octets: 1_000, alpha_permille: None });
    let mut sharing = EgressPort::<Packet>::new(&port(plain(2), None));
    sharing.set_shared_buffer(&buffer);
    assert!(sharing.has_room(0, Octets(1_000)) && !sharing.has_room(1, Octets(1_001)));
    sharing.handle(Instant::EPOCH, arrive(0, 0, FRAME), &mut actions);
    sharing.handle(Instant::EPOCH, arrive(0, 1, FRAME), &mut actions);
    sharing.handle(Instant::EPOCH, arrive(1, 2, 64), &mut actions);
    assert_eq!(actions.dropped.map(|drop| drop.cause), Some(DropCause::BufferFull));
}

/// A preemptable frame in transmission still counts as waiting, as a part of it may not have left.
#[test]
fn a_preemptable_frame_under_way_waits_still() {
    let mut port = port(plain(2), None);
    port.preemption = Some(Preemption { express: 0b10, ..Preemption::default() });
    let mut machine = EgressPort::<Packet>::new(&port);
    let mut actions = Actions::default();
    machine.handle(Instant::EPOCH, arrive(0, 0, FRAME), &mut actions);
    assert_eq!((machine.queued(), actions.start.is_some(), actions.wake), (1, false, Some(Instant::EPOCH)));
    machine.handle(Instant::EPOCH, Event::Wake, &mut actions);
    assert_eq!((machine.queued(), actions.start.is_some()), (1, false));
    machine.handle(Instant::EPOCH, arrive(0, 1, FRAME), &mut actions);
    assert_eq!(machine.queued(), 2);
    assert_eq!(machine.flush(Instant::from_ns(5)).len(), 2);
    assert_eq!(machine.queued(), 0);
}

/// From 5,000 ns on the gates follow another clock, which is 3,000 ns ahead: the frame for 20,000 is sent at
/// 17,000.
#[test]
fn gates_that_go_by_another_clock() {
    let mut machine =
        EgressPort::<Packet>::new(&port(plain(2), Some(gates(&[(0b01, 10_000), (0b10, 10_000)]))));
    let mut actions = Actions::default();
    machine.handle(Instant::from_ns(4_000), arrive(0, 0, FRAME), &mut actions);
    assert_eq!((actions.start.is_some(), actions.wake), (false, Some(Instant::from_ns(20_000))));
    let ahead = ClockMap::new(Instant::EPOCH, Instant::from_ns(3_000), Frequency::NOMINAL);
    machine.set_gate_clock(Instant::from_ns(5_000), ahead, &mut actions);
    assert_eq!((actions.start.is_some(), actions.wake), (false, Some(Instant::from_ns(17_000))));
    // An earlier request of a wake is not valid any more.
    machine.handle(Instant::from_ns(16_000), Event::Wake, &mut actions);
    assert!(actions.start.is_none());
    machine.handle(Instant::from_ns(17_000), Event::Wake, &mut actions);
    assert_eq!(actions.start.map(|start| start.first_bit), Some(Instant::from_ns(17_000)));
    // Until then a shaper's credit follows the old clock: of 6,000 bit, 500 return until 10,000 ns, and none
    // until the clock is set at 12,000, so that the gate opens at 17,000.
    let mut machine =
        EgressPort::<Packet>::new(&port(vec![shaped()], Some(gates(&[(0b1, 10_000), (0b0, 10_000)]))));
    machine.handle(Instant::EPOCH, arrive(0, 0, FRAME), &mut actions);
    machine.set_gate_clock(Instant::from_ns(12_000), ahead, &mut actions);
    let bit = 1_000_000_000_000_i128;
    let credit =
        [12_000, 17_000, 19_000].map(|ns| machine.credit(0, Instant::from_ns(ns)).map(|credit| credit / bit));
    assert_eq!(credit, [-5_500, -5_500, -5_000].map(Some));
    // Without gates the clock changes nothing.
    let mut machine = EgressPort::<Packet>::new(&port(plain(1), None));
    machine.set_gate_clock(Instant::EPOCH, ahead, &mut actions);
    assert!(actions.wake.is_none() && actions.start.is_none());
}

/// Credit that returns while no frame waits ends at 0. This is also the case if the node is switched off or
/// its gates get another clock at that moment: a frame that arrives then gains from 0 on.
#[test]
fn what_is_set_while_nothing_waits_saves_no_credit() {
    let bit = 1_000_000_000_000_i128;
    let mut actions = Actions::default();
    let open = || Some(gates(&[(0b11, 20_000)]));
    for change in [0, 1, 2] {
        let mut machine = EgressPort::new(&port(vec![Class::default(), shaped()], open()));
        machine.handle(Instant::EPOCH, arrive(1, 0, FRAME), &mut actions);
        let now = Instant::from_ns(40_000);
        match change {
            0 => {}
            1 => assert!(machine.flush(now).is_empty()),
            _ => machine.set_gate_clock(
                now,
                ClockMap::new(Instant::EPOCH, Instant::EPOCH, Frequency::NOMINAL),
                &mut actions,
            ),
        }
        machine.handle(now, arrive(0, 1, FRAME), &mut actions);
        machine.handle(now, arrive(1, 2, FRAME), &mut actions);
        let credit = [40_000, 41_000].map(|ns| machine.credit(1, Instant::from_ns(ns)).map(|own| own / bit));
        assert_eq!(credit, [Some(0), Some(250)], "{change}");
    }
}
