//! Releases of talkers: timetables, sizes, bursts, backlogs.

use crate::common::*;
use tsn_plan::{Destination, Pattern, Point, Route, Size, Stage};

#[test]
fn a_timetable_is_kept_from_start_to_stop() {
    let (mut net, path) = Net::row(1_000_000, 2);
    let stream = net.stream("s", &path, 0, periodic(100_000, 30_000), frame(64));
    (stream.start_ns, stream.stop_ns) = (200_000, 530_000);
    let send = net.tap(0, Stage::Send, Point::End);
    let (sightings, _) = run(&net.plan);
    // 530 us is not before the stop.
    assert_eq!(stamps(&sightings, send, 0), [230_000, 330_000, 430_000]);
}

#[test]
fn release_jitter_is_uniform_in_its_range_and_does_not_add_up() {
    let (mut net, path) = Net::row(1_000_000_000, 2);
    net.stream(
        "s",
        &path,
        0,
        Pattern::Periodic { period_ns: 100_000, offset_ns: 0, jitter_ns: 40_000 },
        frame(64),
    );
    let send = net.tap(0, Stage::Send, Point::End);
    let (sightings, _) = run(&net.plan);
    let late: Vec<i64> =
        stamps(&sightings, send, 0).iter().zip(0..).map(|(at, n): (&i64, i64)| at - n * 100_000).collect();
    assert_eq!(late.len(), 10_000);
    assert!(late.iter().all(|late| (0..=40_000).contains(late)));
    let mean = late.iter().sum::<i64>() / 10_000;
    // Standard error of the mean: 40 us / sqrt(12 * 10 000) = 115 ns.
    assert!((mean - 20_000).abs() < 4 * 116, "{mean}");
    assert!(late.iter().any(|late| *late < 100) && late.iter().any(|late| *late > 39_900));
}

#[test]
fn poisson_gaps_have_the_mean_and_the_spread_of_an_exponential() {
    let mut net = Net::new(2_000_000_000);
    let path = net.line(2, 0, 10 * GIGABIT, 0);
    net.stream("s", &path, 0, Pattern::Poisson { mean_interval_ps: 20_000_000 }, frame(64));
    let send = net.tap(0, Stage::Send, Point::End);
    let (sightings, _) = run(&net.plan);
    let at = stamps(&sightings, send, 0);
    // 100 000 are expected, with a standard deviation of 316.
    assert!((at.len() as i64 - 100_000).abs() < 4 * 316, "{}", at.len());
    let gaps: Vec<i64> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let longer = gaps.iter().filter(|gap| **gap > 20_000).count() as f64 / gaps.len() as f64;
    assert!((longer - (-1.0_f64).exp()).abs() < 0.01, "{longer} of the gaps are longer than the mean");
}

#[test]
fn a_data_unit_is_cut_into_frames_sent_back_to_back() {
    let (mut net, path) = Net::row(1_000_000, 2);
    let size = Size::Units { octets: vec![3_000], most_per_frame: 1_472, overhead: 50 };
    net.stream("video", &path, 0, periodic(1_000_000, 0), size);
    let tiny = Size::Units { octets: vec![0], most_per_frame: 1_472, overhead: 50 };
    net.stream("empty", &path, 0, periodic(1_000_000, 500_000), tiny);
    let tx = net.tap(0, Stage::Tx, Point::Start);
    let (sightings, _) = run(&net.plan);
    let frames: Vec<(u64, u32, i64)> =
        sightings.iter().map(|one| (one.seq, one.octets, one.t_ns.unwrap())).collect();
    assert_eq!(frames, [(0, 1_522, 64), (1, 1_522, 12_400), (2, 106, 24_736), (0, 64, 500_064)]);
    assert_eq!(stamps(&sightings, tx, 1), [500_064], "an empty unit is one frame, padded");
}

/// Two saturating streams in one queue share it evenly, even if the queue is shorter than their backlogs.
#[test]
fn saturating_talkers_take_turns() {
    for limit in [None, Some(1), Some(2), Some(5)] {
        let (mut net, path) = Net::row(100_000_000, 2);
        for name in ["one", "other"] {
            net.stream(name, &path, 0, Pattern::Saturating { backlog: 4 }, frame(FULL));
        }
        net.port_mut(0, 1).classes[0].limit_frames = limit;
        let (_, counters) = run(&net.plan);
        let released = [counters.streams[0].released, counters.streams[1].released];
        // The streams begin one after the other, so one may be up to a backlog ahead at the end.
        assert!(released[0].abs_diff(released[1]) <= 4, "{released:?} with a queue of {limit:?}");
        let expected = 100_000_000 / FULL_NS as u64;
        assert!((released[0] + released[1]).abs_diff(expected) <= 9, "{released:?}");
        assert_eq!(counters.streams[0].dropped_at_talker, 0, "a full queue holds back");
        assert_eq!(counters.ports[0].classes[0].most_frames, u64::from(limit.unwrap_or(8)));
    }
}

/// A full queue drops the last arrivals, and counts them.
#[test]
fn queue_limits_drop_and_count() {
    for (frames, octets, kept) in
        [(Some(3), None, 4), (None, Some(3_500), 4), (None, Some(999), 0), (Some(0), None, 0)]
    {
        let (mut net, path) = Net::row(1_000_000, 2);
        net.stream("first", &path, 1, periodic(1_000_000, 0), frame(1_000));
        let size = Size::Units { octets: vec![10_000], most_per_frame: 1_000, overhead: 0 };
        net.stream("burst", &path, 1, periodic(1_000_000, 1), size);
        let class = &mut net.port_mut(0, 1).classes[1];
        (class.limit_frames, class.limit_octets) = (frames, octets);
        let (_, counters) = run(&net.plan);
        let delivered: u64 = counters.streams.iter().flat_map(|stream| stream.delivered.values()).sum();
        assert_eq!(delivered, kept, "{frames:?} {octets:?}");
        assert_eq!(counters.ports[0].classes[1].dropped_frames, 11 - kept);
        assert_eq!(counters.ports[0].classes[1].dropped_octets, (11 - kept) * 1_000);
    }
}

/// A frame arrives, and a copy leaves at every branch; a listener on the path gets its copy, too.
#[test]
fn multicast_is_copied_where_its_tree_forks() {
    let mut net = Net::new(1_000_000);
    let [talker, fork, left, right] = ["talker", "fork", "left", "right"].map(|name| net.node(name, 1_000));
    for (a, b) in [(talker, fork), (fork, left), (fork, right)] {
        net.link(a, b, GIGABIT, 0);
    }
    let route = [(talker, fork, None), (fork, left, Some(0)), (fork, right, Some(0))];
    let route = route.map(|(from, to, parent)| Route { port: net.port(from, to), parent }).to_vec();
    let listeners =
        [(fork, 0), (left, 1), (right, 2)].map(|(node, route)| Destination { node, route }).to_vec();
    net.tree("group", talker, route, listeners, 5, periodic(100_000, 0), frame(FULL));
    let arrivals = [1, 3, 5].map(|port| net.tap(port, Stage::Rx, Point::End));
    let (sightings, counters) = run(&net.plan);
    let delivered: Vec<u64> = counters.streams[0].delivered.values().copied().collect();
    assert_eq!((delivered, counters.frame_hops), (vec![10; 3], 30));
    assert_eq!((counters.streams[0].released, counters.streams[0].replicated), (10, 20));
    let (first, second) = ((BEFORE + 1_522) * 8, 2 * (BEFORE + 1_522) * 8 + 1_000);
    assert_eq!(arrivals.map(|tap| stamps(&sightings, tap, 0)[0]), [first, second, second]);
}

/// Times and sizes are as listed, with a new pass every cycle, until the passes or the stream end.
#[test]
fn a_trace_is_released_as_recorded() {
    let (mut net, path) = Net::row(1_000_000, 2);
    let pattern = |passes| Pattern::Trace { gaps_ns: vec![5_000, 0, 20_000], cycle_ns: 100_000, passes };
    let list = Size::List { octets: vec![64, 1_522, 500, 70] };
    net.stream("twice", &path, 7, pattern(2), list).start_ns = 1_000;
    net.stream("cut", &path, 0, pattern(9), frame(64)).stop_ns = 106_000;
    let send = net.tap(0, Stage::Send, Point::End);
    let (sightings, counters) = run(&net.plan);
    assert_eq!(stamps(&sightings, send, 0), [6_000, 6_000, 26_000, 106_000, 106_000, 126_000]);
    let sizes: Vec<u32> = sightings.iter().filter(|one| one.stream == 0).map(|one| one.octets).collect();
    assert_eq!(sizes, [64, 1_522, 500, 70, 64, 1_522]);
    assert_eq!(stamps(&sightings, send, 1), [5_000, 5_000, 25_000, 105_000, 105_000]);
    assert_eq!(counters.streams[0].delivered["n1"], 6);
}

/// A plan with a recording that cannot be played is an error with a reason, and is not played in part.
#[test]
fn a_trace_that_does_not_fit_is_refused() {
    let refused = |pattern: Pattern, size: Size| {
        let (mut net, path) = Net::row(1_000_000, 2);
        net.stream("s", &path, 0, pattern, size);
        net.plan.check().unwrap_err().to_string()
    };
    let trace =
        |gaps_ns: &[u64], cycle_ns, passes| Pattern::Trace { gaps_ns: gaps_ns.to_vec(), cycle_ns, passes };
    for (pattern, size, words) in [
        (trace(&[], 1, 1), frame(64), "lists 0"),
        (trace(&[1, 2], 2, 1), frame(64), "less than the gaps together, 3 ns"),
        (trace(&[u64::MAX, u64::MAX], u64::MAX, 1), frame(64), "less than the gaps"),
        (trace(&[u64::MAX], u64::MAX, 1), frame(64), "ten days"),
        (trace(&[1], 1, 0), frame(64), "more than 0"),
        (trace(&[0], 0, 2), frame(64), "several passes"),
        (trace(&[1], 1, 1), Size::List { octets: vec![] }, "lists 0"),
        (trace(&[1], 1, 1), Size::List { octets: vec![64, 63] }, "63 octets"),
    ] {
        let problem = refused(pattern, size);
        assert!(problem.contains(words), "{problem} does not say {words}");
    }
}

/// Frames of 1000 octets on the link, from a bucket of 2500 that gains 1000 in 8 ms: two at once, the third after 4 ms.
#[test]
fn a_token_bucket_sends_its_burst_and_then_as_it_fills() {
    let (mut net, path) = Net::row(40_000_000, 2);
    let pattern = Pattern::TokenBucket { burst_octets: 2_500, rate_bps: 1_000_000 };
    net.stream("s", &path, 0, pattern, frame(980)).start_ns = 1_000_000;
    let send = net.tap(0, Stage::Send, Point::End);
    let (sightings, _) = run(&net.plan);
    let expected = [1_000_000, 1_000_000, 5_000_000, 13_000_000, 21_000_000, 29_000_000, 37_000_000];
    assert_eq!(stamps(&sightings, send, 0), expected);
}
