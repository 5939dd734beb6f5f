//! Streams that answer others: the release of each answer, and the requests that have one.

use crate::common::*;
use tsn_plan::{Clocks, Fault, NodeClock, Pattern, Plan};
use tsn_sim::RunCounters;

const US: i64 = 1_000;
/// One gigabit hop of 100 octets, with preamble.
const HOP: i64 = (BEFORE + 100) * 8;
/// From a request's release to its arrival: two hops and a node of 1 us.
const ARRIVES: i64 = 2 * HOP + US;

/// n0 sends a request to n2 each ms, ten times; the answer leaves 50 us after the arrival of each request.
fn asked() -> Net {
    let mut net = Net::new(10_000_000);
    let path = net.line(3, 1_000, GIGABIT, 0);
    net.stream("request", &path, 6, periodic(1_000_000, 0), frame(100));
    respond(&mut net.plan, 0, 0, 6, frame(100), 50_000);
    net
}

/// The instants in ns at which the talker hands over the frames of a stream.
fn released(plan: &Plan, stream: u32) -> (Vec<i64>, RunCounters) {
    let mut net = Net { plan: plan.clone() };
    net.plan.taps.clear();
    let first = plan.streams[stream as usize].route[0].port;
    let tap = net.tap(first, tsn_plan::Stage::Send, tsn_plan::Point::End);
    let (sightings, counters) = run(&net.plan);
    (stamps(&sightings, tap, stream), counters)
}

fn each_ms(first: i64, milliseconds: std::ops::Range<i64>) -> Vec<i64> {
    milliseconds.map(|ms| ms * 1_000 * US + first).collect()
}

#[test]
fn an_answer_is_released_after_its_request() {
    assert_eq!(released(&asked().plan, 1).0, each_ms(ARRIVES + 50 * US, 0..10));
}

#[test]
fn answers_are_answered() {
    let mut plan = asked().plan;
    respond(&mut plan, 1, 0, 6, frame(100), 7_000);
    respond(&mut plan, 2, 0, 6, frame(100), 0);
    assert_eq!(released(&plan, 2).0, each_ms(2 * ARRIVES + 57 * US, 0..10));
    assert_eq!(released(&plan, 3).0, each_ms(3 * ARRIVES + 57 * US, 0..10));
}

/// The start and the stop of the answering stream apply to the release of the answer, not to that of its
/// request.
#[test]
fn a_stream_answers_from_its_start_to_its_stop() {
    let mut plan = asked().plan;
    let at = (3 * 1_000 * US + ARRIVES + 50 * US) as u64;
    (plan.streams[1].start_ns, plan.streams[1].stop_ns) = (at, at + 4_000_000);
    assert_eq!(released(&plan, 1).0, each_ms(ARRIVES + 50 * US, 3..7));
    (plan.streams[1].start_ns, plan.streams[1].stop_ns) = (at + 1, at + 4_000_001);
    assert_eq!(released(&plan, 1).0, each_ms(ARRIVES + 50 * US, 4..8));
}

/// No answer is released after the end, even if its request arrived before.
#[test]
fn nothing_is_answered_after_the_end() {
    let mut plan = asked().plan;
    plan.streams[1].answers.as_mut().unwrap().after_ns = 999_000;
    assert_eq!(released(&plan, 1).0.len(), 9);
}

#[test]
fn a_frame_that_comes_twice_is_answered_twice() {
    let mut plan = asked().plan;
    let port = plan.streams[0].route[1].port;
    let (share_ppm, from_ns, until_ns) = (1_000_000, 0, 10_000_000);
    plan.faults.push(Fault::Duplicate { port, from_ns, until_ns, share_ppm, after_ns: 5_000 });
    let (answers, counters) = released(&plan, 1);
    assert_eq!(answers.len(), 20);
    assert_eq!(counters.streams[1].released, 20);
}

/// The link is down from 2 to 5 ms: requests that are sent in this time do not arrive.
#[test]
fn a_lost_request_has_no_answer() {
    let mut plan = asked().plan;
    let port = plan.streams[0].route[0].port;
    plan.faults.push(Fault::LinkDown { port, from_ns: 1_990_000, until_ns: 5_000_000 });
    let expected: Vec<i64> = [each_ms(ARRIVES + 50 * US, 0..2), each_ms(ARRIVES + 50 * US, 5..10)].concat();
    assert_eq!(released(&plan, 1).0, expected);
}

/// Each listener answers its own frame; a bridge on the path does not answer.
#[test]
fn the_talker_answers_what_reaches_it() {
    let mut net = Net::new(10_000_000);
    let path = net.line(3, 1_000, GIGABIT, 0);
    net.stream("request", &path, 6, periodic(1_000_000, 0), frame(100));
    net.plan.streams[0].listeners.insert(0, tsn_plan::Destination { node: 1, route: 0 });
    respond(&mut net.plan, 0, 0, 6, frame(100), 0);
    respond(&mut net.plan, 0, 1, 6, frame(100), 0);
    assert_eq!(released(&net.plan, 1).0, each_ms(HOP, 0..10));
    assert_eq!(released(&net.plan, 2).0, each_ms(ARRIVES, 0..10));
}

/// Clocks with an offset and drift shift the requests; the answers follow the frames, in true time.
#[test]
fn answers_follow_the_frame_and_not_a_clock() {
    let mut plan = asked().plan;
    let clock = |offset_ns, deviation_ppt| NodeClock { offset_ns, deviation_ppt, ..NodeClock::default() };
    let nodes = vec![clock(-200_000, 0), clock(0, 0), clock(300_000, 100_000_000)];
    plan.clocks =
        Some(Clocks { nodes, record_ns: 1_000_000, within_ns: None, gptp: None, faults: Vec::new() });
    let (_, counters) = released(&plan, 1);
    // The clock of n0 is 200 us late, so the last request is still before the end.
    assert_eq!((counters.streams[0].released, counters.streams[1].released), (10, 10));
    let mut net = Net { plan };
    net.plan.taps.clear();
    // Both stamps are at n2, by its clock: 50 us, which this clock shows as 50 us and 5 ns (100 ppm).
    let port = net.port(2, 1);
    let received = net.tap(port, tsn_plan::Stage::Rx, tsn_plan::Point::End);
    let sent = net.tap(port, tsn_plan::Stage::Send, tsn_plan::Point::End);
    let (sightings, _) = run(&net.plan);
    let waits: Vec<i64> = stamps(&sightings, received, 0)
        .iter()
        .zip(stamps(&sightings, sent, 1))
        .map(|(received, sent)| sent - received)
        .collect();
    assert_eq!(waits.len(), 10);
    assert!(waits.iter().all(|wait| (50_004..=50_006).contains(wait)), "{waits:?}");
}

/// A uniform jitter, whose random values depend only on the stream's name.
#[test]
fn an_answer_may_be_late() {
    let mut plan = asked().plan;
    let Pattern::Periodic { jitter_ns, .. } = &mut plan.streams[1].pattern else { unreachable!() };
    *jitter_ns = 100_000;
    let (late, _) = released(&plan, 1);
    let waits: Vec<i64> =
        late.iter().zip(each_ms(ARRIVES + 50 * US, 0..10)).map(|(at, least)| at - least).collect();
    assert!(waits.iter().all(|wait| (0..=100_000).contains(wait)), "{waits:?}");
    assert!(waits.iter().max().unwrap() - waits.iter().min().unwrap() > 30_000, "{waits:?}");
    respond(&mut plan, 0, 0, 1, frame(100), 0);
    assert_eq!(released(&plan, 1).0, late);
}
