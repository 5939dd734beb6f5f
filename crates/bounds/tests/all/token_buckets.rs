//! Streams that conform to a token bucket: values by hand, which the simulated talker reaches.

use crate::common::*;
use tsn_bounds::bounds;
use tsn_plan::{Clocks, NodeClock, Pattern, Point, Stage};

/// A frame of 980 octets, 1000 on a gigabit link, and its gap, in ps.
const FRAME: i64 = 8_000_000;
const GAP: i64 = 12 * 8_000;

fn bucket(burst_octets: u64, rate_bps: u64) -> Pattern {
    Pattern::TokenBucket { burst_octets, rate_bps }
}

/// The longest simulated delay from the release to the last bit at the last listener of a path, in ps.
fn longest(net: &mut Net, path: &[u32]) -> i64 {
    let first = net.port(path[0], path[1]);
    let last = net.port(path[path.len() - 1], path[path.len() - 2]);
    let taps = (net.tap(first, Stage::Send, Point::End), net.tap(last, Stage::Rx, Point::End));
    let (sightings, _) = run(&net.plan);
    delays(&sightings, taps, 0).into_iter().max().unwrap() * 1_000
}

/// Two nodes whose clocks run free, alike.
fn alike(offset_ns: i64, deviation_ppt: i64) -> Option<Clocks> {
    let clock = NodeClock {
        offset_ns,
        deviation_ppt,
        changes: Vec::new(),
        wander: None,
        granularity_ns: 1,
        jitter_ns: 0,
    };
    let nodes = vec![clock.clone(), clock];
    Some(Clocks { nodes, record_ns: 1_000_000, within_ns: None, gptp: None, faults: Vec::new() })
}

/// 3500 octets hold three frames of 1000: the last one waits for two. A fourth needs 4 ms at 1 Mbit/s.
#[test]
fn the_last_frame_of_a_burst_waits_for_the_others() {
    for (burst, at_once) in [(1_000, 1), (1_990, 1), (2_000, 2), (3_500, 3), (12_000, 12)] {
        let (mut net, path) = Net::row(40_000_000, 2);
        net.stream("s", &path, 0, bucket(burst, 1_000_000), frame(980));
        let found = bounds(&net.plan);
        let exact = at_once * FRAME - GAP + net.plan.ports[0].propagation_ps as i64;
        assert_eq!(found.flows[0].release_upper_ps, Some(exact), "{burst}");
        assert_eq!(longest(&mut net, &path), exact / 1_000 * 1_000, "{burst}");
        assert_eq!(found.ports[0].classes[0].backlog_frames, Some(at_once as u64), "{burst}");
    }
}

/// Two bursts of three frames meet: they come in pairs, and the last pair comes when two of six frames have left.
#[test]
fn two_bursts_share_a_port_at_the_pace_of_their_links() {
    let mut net = Net::new(20_000_000);
    let [a, b, sw, c] = ["a", "b", "sw", "c"].map(|name| net.node(name, 0));
    for (from, to) in [(a, sw), (b, sw), (sw, c)] {
        net.link(from, to, GIGABIT, 0);
    }
    net.stream("s", &[a, sw, c], 0, bucket(3_000, 1_000_000), frame(980));
    net.stream("t", &[b, sw, c], 0, bucket(3_000, 1_000_000), frame(980));
    let found = bounds(&net.plan);
    let hop = &found.flows[0].hops[1];
    assert_eq!(hop.upper_ps, Some(4 * FRAME - GAP));
}

/// The clock of the talker is 2 ms ahead when the run begins: what 2 ms add to the bucket, 250 octets, is due at once,
/// so that two frames leave together.
#[test]
fn a_clock_that_is_ahead_lets_more_frames_leave_at_once() {
    for (burst, at_once) in [(1_740, 1), (1_750, 2)] {
        let (mut net, path) = Net::row(40_000_000, 2);
        net.stream("s", &path, 0, bucket(burst, 1_000_000), frame(980));
        net.plan.clocks = alike(2_000_000, 0);
        let found = bounds(&net.plan).flows[0].release_upper_ps.unwrap();
        let exact = at_once * FRAME - GAP + net.plan.ports[0].propagation_ps as i64;
        assert!((exact..exact + 3_000).contains(&found), "{burst}: {found} {exact}");
        assert_eq!(longest(&mut net, &path), exact / 1_000 * 1_000, "{burst}");
    }
}

/// A bucket of 10 Mbit/s on a link of 10 Mbit/s: on a clock that is 100 ppm fast, 1 s brings 100 us of frames too many.
#[test]
fn a_fast_clock_fills_the_bucket_faster() {
    let mut net = Net::new(1_000_000_000);
    let path = net.line(2, 0, 10_000_000, 0);
    net.stream("s", &path, 0, bucket(1_000, 10_000_000), frame(980));
    let plain = bounds(&net.plan).flows[0].release_upper_ps.unwrap();
    net.plan.clocks = alike(0, 100_000_000);
    let found = bounds(&net.plan).flows[0].release_upper_ps.unwrap();
    assert!(found >= plain + 100_000_000, "{found} {plain}");
    assert!(longest(&mut net, &path) >= plain + 98_000_000);
}
