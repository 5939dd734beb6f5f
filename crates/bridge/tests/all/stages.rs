//! A transmit buffer behind transmission selection, and a rate-latency server in its place, by hand.
//!
//! At 1 Gbit/s a frame of 980 octets takes 7,904 ns to its last bit, and 8,000 ns until the next one may begin.

use crate::common::{Arrivals, Packet, drive};
use tsn_bridge::{Actions, EgressPort, Event};
use tsn_plan::{Cbs, Class, GateEntry, Gates, Port, Server};
use tsn_units::Instant;

const FRAME: u32 = 980;

fn buffered(frames: u32, classes: usize) -> Port {
    let transmit_buffer = Some(frames).filter(|frames| *frames > 1);
    Port {
        rate_bps: 1_000_000_000,
        classes: vec![Class::default(); classes],
        transmit_buffer,
        ..Port::default()
    }
}

/// The start of each frame in ns, in the order of arrival.
fn starts(port: &Port, arrivals: &Arrivals) -> Vec<i64> {
    let mut found = vec![-1; arrivals.len()];
    drive(port, arrivals, 1_000_000, |now, actions| {
        if let Some(start) = &actions.start {
            assert_eq!(start.first_bit, Instant::from_ns(now));
            assert_eq!(start.last_bit, Instant::from_ns(now + i64::from(start.frame.octets + 8) * 8));
            found[start.frame.number] = now;
        }
    });
    found
}

/// Three lower frames wait when a higher one comes: those in the buffer go first.
#[test]
fn a_higher_frame_waits_for_the_frames_of_the_buffer() {
    let arrivals: Arrivals =
        vec![(0, 0, FRAME), (0, 0, FRAME), (0, 0, FRAME), (0, 0, FRAME), (1_000, 1, FRAME)];
    for (frames, expected) in [
        (1, [0, 16_000, 24_000, 32_000, 8_000]),
        (2, [0, 8_000, 24_000, 32_000, 16_000]),
        (3, [0, 8_000, 16_000, 32_000, 24_000]),
        (4, [0, 8_000, 16_000, 24_000, 32_000]),
        (9, [0, 8_000, 16_000, 24_000, 32_000]),
    ] {
        assert_eq!(starts(&buffered(frames, 2), &arrivals), expected, "{frames}");
    }
}

/// A frame has left the buffer when the link is free again, and the next one is selected then: not before.
#[test]
fn the_buffer_is_filled_when_a_frame_has_been_sent() {
    let port = buffered(2, 2);
    // At 8 us the second low frame starts, and the high one of 7.9 us is selected before the third low one.
    let arrivals: Arrivals = vec![(0, 0, FRAME), (0, 0, FRAME), (0, 0, FRAME), (7_900, 1, FRAME)];
    assert_eq!(starts(&port, &arrivals), [0, 8_000, 24_000, 16_000]);
    // One that comes at 8.1 us finds the third in the buffer.
    let arrivals: Arrivals = vec![(0, 0, FRAME), (0, 0, FRAME), (0, 0, FRAME), (8_100, 1, FRAME)];
    assert_eq!(starts(&port, &arrivals), [0, 8_000, 16_000, 24_000]);
    // A frame that finds an empty port is sent at once.
    assert_eq!(starts(&port, &vec![(0, 0, FRAME), (50_000, 0, FRAME)]), [0, 50_000]);
}

/// Class 1 is open for 10 us of 20: a frame that passed its gate leaves when the gate is closed.
#[test]
fn a_gate_does_not_reach_a_frame_that_was_selected() {
    let entry = |open: u8| GateEntry { open, interval_ns: 10_000, mac: None };
    let gates = Gates { cycle_ns: 20_000, entries: vec![entry(2), entry(1)], ..Gates::default() };
    let arrivals: Arrivals = vec![(0, 1, FRAME), (0, 1, FRAME), (0, 1, FRAME)];
    for (frames, expected, overran) in
        [(1, [0, 20_000, 40_000], 0), (2, [0, 8_000, 20_000], 1), (3, [0, 8_000, 16_000], 2)]
    {
        let port = Port { gates: Some(gates.clone()), ..buffered(frames, 2) };
        assert_eq!(starts(&port, &arrivals), expected, "{frames}");
        let machine = drive(&port, &arrivals, 1_000_000, |_, _| {});
        assert_eq!(machine.counters().nth(1).unwrap().transmission_overruns, overran, "{frames}");
    }
}

/// Credit is spent at the selection, so that the next frame of the class is selected as late as without a buffer: a
/// quarter of the link regains 6,000 bit in 24 us.
#[test]
fn a_shaper_counts_from_the_selection() {
    let cbs = Cbs {
        idle_slope_bps: 250_000_000,
        send_slope_bps: -750_000_000,
        hi_credit_bits: 500,
        lo_credit_bits: -10_000,
        ..Cbs::default()
    };
    let port = Port { classes: vec![Class { cbs: Some(cbs), ..Class::default() }], ..buffered(3, 1) };
    assert_eq!(starts(&port, &vec![(0, 0, FRAME), (0, 0, FRAME)]), [0, 32_000]);
}

/// The frames of the buffer are lost with those of the queues, and count as waiting until then.
#[test]
fn what_waits_in_the_buffer_is_flushed() {
    let mut port: EgressPort<Packet> = EgressPort::new(&buffered(2, 1));
    let mut actions = Actions::default();
    for number in 0..4 {
        let frame = Packet { number, octets: FRAME };
        port.handle(Instant::from_ns(0), Event::Arrive { class: 0, frame, more: false }, &mut actions);
    }
    port.handle(Instant::from_ns(0), Event::Wake, &mut actions);
    assert_eq!(actions.start.map(|start| start.frame.number), Some(0));
    assert_eq!(port.queued(), 3);
    let mut lost: Vec<usize> = port.flush(Instant::from_ns(100)).iter().map(|frame| frame.number).collect();
    lost.sort_unstable();
    assert_eq!((lost, port.queued()), (vec![1, 2, 3], 0));
}

/// 500 Mbit/s: a frame keeps the server busy for 16 us. It is served 3 us after its arrival, or after the one before.
#[test]
fn a_server_is_late_once_and_then_as_fast_as_its_rate() {
    let server = Some(Server { rate_bps: 500_000_000, latency_ns: 3_000 });
    let port = Port { server, ..buffered(1, 1) };
    let arrivals: Arrivals =
        vec![(0, 0, FRAME), (0, 0, FRAME), (1_000, 0, FRAME), (50_000, 0, FRAME), (65_000, 0, FRAME)];
    assert_eq!(starts(&port, &arrivals), [3_000, 19_000, 35_000, 53_000, 69_000]);
}

/// What a server had before its queue was lost delays nothing after.
#[test]
fn a_server_that_is_flushed_begins_anew() {
    let server = Some(Server { rate_bps: 500_000_000, latency_ns: 3_000 });
    let mut port: EgressPort<Packet> = EgressPort::new(&Port { server, ..buffered(1, 1) });
    let mut actions = Actions::default();
    let arrive = |number| Event::Arrive { class: 0, frame: Packet { number, octets: FRAME }, more: false };
    port.handle(Instant::from_ns(0), arrive(0), &mut actions);
    assert_eq!(port.flush(Instant::from_ns(1_000)).len(), 1);
    port.handle(Instant::from_ns(2_000), arrive(1), &mut actions);
    port.handle(Instant::from_ns(3_000), Event::Wake, &mut actions);
    assert!(actions.start.is_none());
    assert_eq!(actions.wake, Some(Instant::from_ns(5_000)));
    port.handle(Instant::from_ns(5_000), Event::Wake, &mut actions);
    assert_eq!(actions.start.map(|start| start.frame.number), Some(1));
}
