//! Rate-latency servers, and transmit buffers behind transmission selection: bounds by arithmetic, and simulated delays
//! that reach them.

use crate::common::*;
use tsn_bounds::{FlowBounds, Reason, bounds};
use tsn_plan::{Class, Pattern, Plan, Point, Port, Server, Size, Stage};

/// A frame of 980 octets, 1000 on the link: on a gigabit link with its gap, and until its last bit; ps.
const FRAME: i64 = 8_000_000;
const LAST: i64 = 988 * 8_000;

fn flow(plan: &Plan, name: &str) -> FlowBounds {
    bounds(plan).flows.into_iter().find(|flow| flow.stream == name).unwrap()
}

fn serve(port: &mut Port, rate_bps: u64, latency_ns: u64) {
    port.server = Some(Server { rate_bps, latency_ns });
    (port.classes, port.pcp_to_class) = (vec![Class::default()], [0; 8]);
}

/// The longest simulated time of a stream from the arrival in the queue of `from -> to` until its last bit is at `to`.
fn longest(net: &Net, from: u32, to: u32, stream: u32) -> i64 {
    let mut net = Net { plan: net.plan.clone() };
    let (out, back) = (net.port(from, to), net.port(to, from));
    let came = if net.plan.streams[stream as usize].talker == from {
        net.tap(out, Stage::Send, Point::End)
    } else {
        let inward = net.plan.streams[stream as usize].route.iter().find(|hop| {
            let peer = net.plan.ports[hop.port as usize].peer;
            net.plan.ports[peer as usize].node == from
        });
        let peer = net.plan.ports[inward.unwrap().port as usize].peer;
        net.tap(peer, Stage::Rx, Point::End)
    };
    let left = net.tap(back, Stage::Rx, Point::End);
    let (sightings, _) = run(&net.plan);
    delays(&sightings, (came, left), stream).into_iter().max().unwrap() * 1_000
}

/// Talkers a and b with gigabit links to sw, and c behind its server.
fn served(rate_bps: u64, latency_ns: u64, pattern: &Pattern, size: &Size) -> (Net, [u32; 4]) {
    let mut net = Net::new(20_000_000);
    let nodes @ [a, b, sw, c] = ["a", "b", "sw", "c"].map(|name| net.node(name, 0));
    for (from, to) in [(a, sw), (b, sw), (sw, c)] {
        net.link(from, to, GIGABIT, 0);
    }
    net.stream("s", &[a, sw, c], 0, pattern.clone(), size.clone());
    net.stream("t", &[b, sw, c], 0, pattern.clone(), size.clone());
    serve(net.port_mut(sw, c), rate_bps, latency_ns);
    (net, nodes)
}

/// Latency and two bursts: T + 2 b / R, with b = 1000 octets. At 400 Mbit/s each takes 20 us.
#[test]
fn a_server_delays_by_its_latency_and_all_bursts() {
    let bucket = Pattern::TokenBucket { burst_octets: 1_000, rate_bps: 1_000_000 };
    for latency_ns in [0, 10_000, 1_000_000] {
        let (net, [_, _, sw, c]) = served(400_000_000, latency_ns, &bucket, &frame(980));
        let found = flow(&net.plan, "s");
        let latency = latency_ns as i64 * 1_000;
        assert_eq!(found.hops[1].upper_ps, Some(latency + 2 * 20_000_000), "{latency_ns}");
        // The server need not be late, and its link is faster.
        assert_eq!(found.hops[1].lower_ps, LAST);
        // The last frame begins when the server has had the other one, and has the rate of the link.
        assert_eq!(longest(&net, sw, c, 1), latency + 20_000_000 + LAST, "{latency_ns}");
        // Both wait for all of the latency.
        assert_eq!(bounds(&net.plan).ports[2].classes[0].backlog_frames, Some(2));
    }
}

/// While the latency lasts, more frames come: a stream of 80 Mbit/s has 10 of them in 1 ms, and each waits for 1 ms.
#[test]
fn what_comes_in_the_latency_waits() {
    let (net, _) = served(500_000_000, 1_000_000, &periodic(100_000, 0), &frame(980));
    let queue = bounds(&net.plan).ports[2].classes[0].clone();
    // 11 releases of each of two streams within 1 ms, and none is served in it.
    assert_eq!(queue.backlog_frames, Some(22));
    let (_, counters) = run(&net.plan);
    let out = net.port(2, 3) as usize;
    assert!((20_000..=21_560).contains(&counters.ports[out].classes[0].most_octets));
    // A full queue bounds the delay as well: 3 frames that wait, each 16 us, behind the latency.
    let mut full = net.plan.clone();
    full.ports[out].classes[0].limit_frames = Some(3);
    full.streams[0].pattern = Pattern::Poisson { mean_interval_ps: 100_000_000 };
    let most = flow(&full, "t").hops[1].upper_ps.unwrap();
    assert!((1_000_000_000 + 48_000_000..=1_000_000_000 + 64_000_000).contains(&most), "{most}");
}

/// With n frames in the buffer, a frame of the higher class waits for n lower ones at every hop.
#[test]
fn a_frame_waits_for_all_lower_frames_of_the_buffer() {
    let wire = (1_522 + 20) * 8_000;
    for frames in [1, 2, 3, 7] {
        let mut net = Net::new(40_000_000);
        let path = net.line(3, 1_000, GIGABIT, 0);
        net.stream("express", &path, 6, periodic(400_003, 1_000_000), frame(980));
        net.stream("bulk", &path, 0, Pattern::Saturating { backlog: 9 }, frame(FULL));
        for port in &mut net.plan.ports {
            port.transmit_buffer = Some(frames).filter(|frames| *frames > 1);
        }
        let found = flow(&net.plan, "express");
        for (number, hop) in found.hops.iter().enumerate() {
            // Over the first link, both come one after the other.
            let came = if frames == 1 && number > 0 { 1_000 * 8_000 } else { 0 };
            assert_eq!(hop.upper_ps, Some(i64::from(frames) * wire - came + LAST), "{frames}");
        }
        let reached = longest(&net, path[0], path[1], 0);
        let exact = i64::from(frames) * wire + LAST;
        assert!((exact - wire / 8..=exact).contains(&reached), "{frames}: {reached} of {exact}");
    }
}

/// Behind the lower frame in the buffer may be larger frames of higher classes, which were selected before.
#[test]
fn larger_frames_of_higher_classes_count_in_the_buffer() {
    let mut net = Net::new(40_000_000);
    let path = net.line(2, 1_000, GIGABIT, 0);
    net.stream("mine", &path, 5, periodic(1_000_000, 0), frame(980));
    net.stream("low", &path, 0, Pattern::Saturating { backlog: 2 }, frame(64));
    net.stream("high", &path, 7, periodic(1_000_000, 0), frame(FULL));
    net.plan.ports[0].transmit_buffer = Some(3);
    // One low frame behind two high ones that were selected before, and one high frame that comes with this one.
    let exact = 84 * 8_000 + 3 * 1_542 * 8_000 + LAST;
    assert_eq!(flow(&net.plan, "mine").hops[0].upper_ps, Some(exact));
    // The lowest class waits for all others anyway: the buffer changes nothing.
    let low = |plan: &Plan| bounds(plan).ports[0].classes.clone();
    let mut plain = net.plan.clone();
    (plain.streams[1].pattern, net.plan.streams[1].pattern) =
        (periodic(1_000_000, 0), periodic(1_000_000, 0));
    plain.ports[0].transmit_buffer = None;
    assert_eq!(low(&plain)[0], low(&net.plan)[0]);
    assert_eq!(flow(&plain, "low").hops, flow(&net.plan, "low").hops);
}

/// Class 7 is open for 50 of 100 us. The buffer may be full when the gate opens, and when the frame comes within the
/// window; the frame that was selected waits for one more.
#[test]
fn gates_and_a_buffer() {
    let lone = Pattern::Periodic { period_ns: 1_000_003, offset_ns: 0, jitter_ns: 0 };
    let upper = |frames: u32, open_ns: u64, pattern: &Pattern| {
        let mut net = Net::new(10_000_000);
        let path = net.line(2, 1_000, GIGABIT, 0);
        net.stream("s", &path, 7, pattern.clone(), frame(980));
        net.stream("low", &path, 0, Pattern::Saturating { backlog: 9 }, frame(980));
        net.plan.ports[0].gates = gates(0, &[(0x80, open_ns), (0x01, 100_000 - open_ns)]);
        net.plan.ports[0].transmit_buffer = Some(frames).filter(|frames| *frames > 1);
        let found = flow(&net.plan, "s").hops[0].clone();
        if let Some(upper) = found.upper_ps {
            assert!(longest(&net, path[0], path[1], 0) <= upper);
        }
        found
    };
    for frames in [2, 3] {
        let buffer = i64::from(frames) * FRAME;
        // From the last moment of a window at which the buffer may be full until it has room in the next one.
        let wait = 100_000_000 - (50_000_000 - LAST) + 2 * buffer;
        assert_eq!(upper(frames, 50_000, &lone).upper_ps, Some(wait + buffer - FRAME + LAST), "{frames}");
    }
    // Of five frames, windows of 26.096 us serve so much time of 40 us, and not one frame more that begins at their
    // end; when frames are released does not count.
    let five = Pattern::TokenBucket { burst_octets: 5_000, rate_bps: 1_000_000 };
    let wait = 100_000_000 - (50_000_000 - LAST) + 4 * FRAME;
    assert_eq!(upper(2, 50_000, &five).upper_ps, Some(wait + 100_000_000 + 5_904_000 + FRAME + LAST));
    assert_eq!(upper(2, 50_000, &periodic(1_000_000, 20_000)).upper_ps, Some(wait + FRAME + LAST));
    // A window that is 1 us longer than the frames of the buffer and one more, and one that is too short for them.
    assert!(upper(3, 24_000 + 8_904, &lone).upper_ps.is_some());
    assert_eq!(upper(3, 24_000 + 7_903, &lone).reason, Some(Reason::NoWindow));
}

/// Class 5 is open for 50 of 100 us, beside a higher class; the buffer has two frames. A frame that just misses its
/// window waits from 26.096 us (50 less two frames and its own) until 116 us, when the buffer has room.
fn beside(high: Pattern, list: &[(u8, u64)]) -> i64 {
    let mut net = Net::new(10_000_000);
    let path = net.line(2, 0, GIGABIT, 0);
    net.stream("high", &path, 7, high, frame(980));
    net.stream(
        "s",
        &path,
        5,
        Pattern::Periodic { period_ns: 1_000_003, offset_ns: 0, jitter_ns: 0 },
        frame(980),
    );
    net.plan.ports[0].gates = gates(0, list);
    net.plan.ports[0].transmit_buffer = Some(2);
    let found = flow(&net.plan, "s").hops[0].upper_ps.unwrap();
    assert!(longest(&net, path[0], path[1], 1) <= found);
    found - FRAME - LAST
}

/// In the first 10 us of each window the higher class fills the buffer as well, and takes 10 us of the time after: on
/// average a tenth, and 9 us at once.
#[test]
fn what_a_higher_class_selects_fills_the_buffer() {
    let waits = beside(Pattern::Saturating { backlog: 9 }, &[(0xa0, 10_000), (0x20, 40_000), (0x00, 50_000)]);
    let exact = (89_904_000 + 9_000_000) * 10 / 9;
    assert!((exact - 10..=exact + 10).contains(&waits), "{waits} {exact}");
}

/// A frame of the higher class may be on the link 89.904 us after its arrival, and three frames: its own, that of the
/// buffer, and the buffer's room. Within 113.9 + 105.9 us come three releases of 105 us.
#[test]
fn a_higher_frame_leaves_after_the_buffer() {
    let waits = beside(periodic(105_000, 0), &[(0xa0, 50_000), (0x00, 50_000)]);
    assert_eq!(waits, 89_904_000 + 3 * FRAME);
}

/// Three frames wait, and four are in the buffer: the last of the queue waits for six others.
#[test]
fn a_full_queue_waits_behind_a_full_buffer() {
    let mut net = Net::new(10_000_000);
    let [a, b, c] = ["a", "b", "c"].map(|name| net.node(name, 0));
    net.link(a, b, 10 * GIGABIT, 0);
    net.link(b, c, GIGABIT, 0);
    net.stream("s", &[a, b, c], 0, Pattern::Saturating { backlog: 9 }, frame(980));
    let port = net.port_mut(b, c);
    port.transmit_buffer = Some(4);
    port.classes[0].limit_frames = Some(3);
    assert_eq!(flow(&net.plan, "s").hops[1].upper_ps, Some(6 * FRAME + LAST));
    net.plan.streams[0].pattern = Pattern::TokenBucket { burst_octets: 7_000, rate_bps: 1_000_000 };
    assert!(longest(&net, b, c, 0) > 5 * FRAME + LAST);
}

/// A class with a tenth of the rate behind lower frames of 12.336 us and a buffer of n frames. A lone frame is selected
/// when a lower one has left, and waits for n - 1 others. The second of two is selected when the debt of the first one is
/// regained, 80 us after it, and a lower frame has left. The simulator comes close to both.
#[test]
fn a_shaped_frame_waits_for_its_selection_and_for_the_buffer() {
    let lower = (1_522 + 20) * 8_000;
    for (buffer, frames) in [(2, 1), (3, 1), (7, 1), (2, 2), (4, 2)] {
        let mut net = Net::new(40_000_000);
        let path = net.line(2, 0, GIGABIT, 0);
        let size = Size::Units { octets: vec![frames * 930], most_per_frame: 930, overhead: 50 };
        net.stream("s", &path, 5, periodic(400_003, 1_000_000), size);
        net.stream("bulk", &path, 0, Pattern::Saturating { backlog: 9 }, frame(FULL));
        let port = net.port_mut(path[0], path[1]);
        port.transmit_buffer = Some(buffer);
        port.classes[5].cbs = Some(cbs(100_000_000, GIGABIT as i64, 1_300, -7_200));
        net.plan.check().unwrap();
        let again = i64::from(frames - 1) * 80_000_000;
        let upper = again + i64::from(buffer) * lower + LAST;
        assert_eq!(flow(&net.plan, "s").hops[0].upper_ps, Some(upper), "{buffer} {frames}");
        let seen = longest(&net, path[0], path[1], 0);
        // The second frame seldom comes when a lower one has just begun.
        let least = upper - if frames == 1 { 2_000_000 } else { lower };
        assert!((least..=upper).contains(&seen), "{buffer} {frames}: {seen} of {upper}");
    }
}

/// A lower frame waits for all frames of the buffer, and for the frame of the class with a shaper.
#[test]
fn a_frame_waits_for_a_shaped_class_and_for_the_buffer() {
    let (mut net, path) = Net::row(10_000_000, 2);
    net.stream("s", &path, 5, periodic(1_000_000, 0), frame(980));
    net.stream("low", &path, 0, periodic(1_000_003, 0), frame(FULL));
    net.plan.ports[0].transmit_buffer = Some(3);
    net.plan.ports[0].classes[5].cbs = Some(cbs(100_000_000, GIGABIT as i64, 1_300, -7_200));
    let upper = flow(&net.plan, "low").hops[0].upper_ps;
    assert_eq!(upper, Some(3 * (1_522 + 20) * 8_000 + FRAME + (1_522 + 8) * 8_000));
    // Frames that come at any time: the class may have gathered credit behind a lower frame, a tenth of it, and go into a
    // debt of 7,200 bit.
    let mut any = net.plan.clone();
    any.streams[0].pattern = Pattern::Poisson { mean_interval_ps: 1_000_000 };
    let waits = (31 * (1_522 + 20) * 800 + 7_200_000) * 10 / 9 + 1;
    assert_eq!(flow(&any, "low").hops[0].upper_ps, Some(waits + (1_522 + 8) * 8_000));
    // Gates beside both are not covered.
    net.plan.ports[0].gates = gates(0, &[(0x21, 50_000), (0x01, 50_000)]);
    assert_eq!(flow(&net.plan, "low").hops[0].reason, Some(Reason::TransmitBuffer));
}

/// Behind a shaper with half of the rate and a buffer of two frames: within t half of t, the highest credit, a frame, and
/// half of the time of two frames in the buffer; at most what the link carries, with one frame. They meet after twice the
/// credit and two frames. The next link takes a quarter longer; a frame's octet takes 10,000 ps there.
#[test]
fn frames_that_were_selected_apart_may_leave_together() {
    let mut net = Net::new(10_000_000);
    let path = net.line(3, 0, GIGABIT, 0);
    net.stream("s", &path, 5, Pattern::Poisson { mean_interval_ps: 1_000_000 }, frame(FULL));
    net.plan.ports[0].transmit_buffer = Some(2);
    let wire = (1_522 + 20) * 8;
    net.plan.ports[0].classes[5].cbs = Some(cbs(500_000_000, GIGABIT as i64, 1_000, -wire / 2));
    (net.plan.ports[2].rate_bps, net.plan.ports[3].rate_bps) = (800_000_000, 800_000_000);
    net.plan.check().unwrap();
    let until = 2 * (1_000 + wire) * 1_000;
    assert_eq!(flow(&net.plan, "s").hops[1].upper_ps, Some(until / 4 + 1_530 * 10_000));
}
