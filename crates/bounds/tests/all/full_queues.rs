//! Queues with limits: the wait of a frame that is not dropped, whatever the talkers do.
//!
//! IEEE 802.1Q-2022, 8.6.7.

use crate::common::*;
use tsn_bounds::{Reason, bounds};
use tsn_observation::Sighting;
use tsn_plan::{Buffer, Pattern, Plan, Point, Preemption, Size, Stage};

/// 1,250 octets on the wire, 10 us at 1 Gbit/s.
const OCTETS: u32 = 1_230;
const WIRE: i64 = 10_000_000;
const LAST_BIT: i64 = 1_238 * 8_000;

/// Frames that come twice as fast as they can be sent, to a queue of three.
fn overload(alter: impl FnOnce(&mut Plan)) -> Net {
    let (mut net, path) = Net::row(2_000_000, 2);
    net.stream("s", &path, 5, periodic(5_000, 0), frame(OCTETS));
    net.plan.ports[0].classes[5].limit_frames = Some(3);
    alter(&mut net.plan);
    net.plan.check().unwrap();
    net
}

fn upper(alter: impl FnOnce(&mut Plan)) -> Option<i64> {
    bounds(&overload(alter).plan).flows[0].hops[0].upper_ps
}

#[test]
fn a_frame_waits_at_most_for_a_full_queue() {
    // One frame is on the link, two wait before the third.
    assert_eq!(upper(|_| ()), Some(3 * WIRE + LAST_BIT));
    let mut net = overload(|_| ());
    let taps = (net.tap(0, Stage::Send, Point::End), net.tap(1, Stage::Rx, Point::End));
    let (sightings, counters) = run(&net.plan);
    let sent: Vec<_> = sightings.iter().filter(|one| one.tap == taps.0).collect();
    let delay = |end: &Sighting| {
        let begin = sent.iter().find(|one| one.seq == end.seq).unwrap();
        end.t_ns.unwrap() - begin.t_ns.unwrap()
    };
    let longest = sightings.iter().filter(|one| one.tap == taps.1).map(delay).max().unwrap() * 1_000;
    assert!(longest > 2 * WIRE + LAST_BIT && longest <= 3 * WIRE + LAST_BIT, "{longest}");
    assert!(counters.streams[0].dropped_at_talker > 0);
    // Loss is another statement.
    let flow = &bounds(&net.plan).flows[0];
    let why = Reason::Overload { coming_bps: 2_000_000_000, served_bps: 1_000_000_000 };
    assert_eq!(flow.loss_reason, Some(Reason::At { port: "n0 -> n1".into(), why: Box::new(why) }));
}

/// A frame that has waited for 30 us is dropped; where it may wait in a transmit buffer, too, this is no bound.
#[test]
fn a_frame_waits_at_most_for_the_longest_time() {
    let dropped = |plan: &mut Plan| {
        let class = &mut plan.ports[0].classes[5];
        (class.limit_frames, class.longest_wait_ns) = (None, Some(30_000));
    };
    assert_eq!(upper(dropped), Some(30_000_000 + LAST_BIT));
    // Also the larger one of two frames may begin then.
    let two_sizes = |plan: &mut Plan| {
        dropped(plan);
        plan.streams[0].size = Size::List { octets: vec![64, OCTETS] };
    };
    assert_eq!(upper(two_sizes), Some(30_000_000 + LAST_BIT));
    // An express frame of 64 octets cuts it: 84 on the wire, and 24 for the rest of the frame.
    let mut cut = overload(dropped);
    cut.plan.ports[0].preemption = Some(Preemption { express: 0x40, ..Preemption::default() });
    cut.stream("express", &[0, 1], 6, periodic(1_000_000, 0), frame(64));
    assert_eq!(bounds(&cut.plan).flows[0].hops[0].upper_ps, Some(30_000_000 + LAST_BIT + 108 * 8_000));
    let buffered = |plan: &mut Plan| {
        dropped(plan);
        plan.ports[0].transmit_buffer = Some(3);
    };
    assert_eq!(upper(buffered), None);
    let mut net = overload(dropped);
    let taps = (net.tap(0, Stage::Send, Point::End), net.tap(1, Stage::Rx, Point::End));
    let (sightings, counters) = run(&net.plan);
    let sent: Vec<_> = sightings.iter().filter(|one| one.tap == taps.0).collect();
    let delay = |end: &Sighting| {
        let begin = sent.iter().find(|one| one.seq == end.seq).unwrap();
        (end.t_ns.unwrap() - begin.t_ns.unwrap()) * 1_000
    };
    let longest = sightings.iter().filter(|one| one.tap == taps.1).map(delay).max().unwrap();
    assert!(longest > 20_000_000 + LAST_BIT && longest <= 30_000_000 + LAST_BIT, "{longest}");
    assert!(counters.ports[0].classes[5].delay_exceeded_frames > 100);
}

#[test]
fn a_limit_of_octets_counts_what_frames_have_on_the_wire() {
    let octets = |most| {
        upper(|plan| {
            let class = &mut plan.ports[0].classes[5];
            (class.limit_frames, class.limit_octets) = (None, Some(most));
        })
    };
    // Two frames of 1,230 octets are 2,500 on the wire.
    assert_eq!(octets(2 * 1_230), Some(2 * WIRE + LAST_BIT));
    // The smallest queue of several counts; memory that ports share lets a queue exceed its limits.
    let both = |plan: &mut Plan| plan.ports[0].classes[5].limit_octets = Some(1_230);
    assert_eq!(upper(both), Some(WIRE + LAST_BIT));
    let shared = |plan: &mut Plan| {
        plan.nodes[0].buffer = Some(Buffer { octets: 1_000_000, alpha_permille: Some(1_000) });
    };
    assert_eq!(upper(shared), None);
}

/// Every kind of talker; also below a class whose frames may have waited before.
#[test]
fn no_talker_matters() {
    let poisson = Pattern::Poisson { mean_interval_ps: 1_000_000 };
    assert_eq!(upper(|plan| plan.streams[0].pattern = poisson.clone()), Some(3 * WIRE + LAST_BIT));
    let below = |net: &mut Net, path: &[u32]| {
        net.stream("high", path, 7, periodic(10_000_000, 0), frame(OCTETS));
        bounds(&net.plan).flows[0].hops[0].upper_ps
    };
    let mut net = overload(|plan| plan.streams[0].pattern = poisson);
    // The higher frame waits for one of the class at most, and then the class for it.
    // Beyond the longest busy period without the class, a token bucket of 1 Mbit/s counts for the higher one.
    let upper = below(&mut net, &[0, 1]).unwrap();
    assert!((0..100_000).contains(&(upper - 4 * WIRE - LAST_BIT)), "{upper}");
}

/// Half of the rate: three frames in the queue and one that has just begun, each for 20 us, with the debt of the last.
#[test]
fn a_shaper_sends_a_full_queue_at_its_slope() {
    let low = -10_000 / 2;
    let shaped = upper(|plan| {
        plan.ports[0].classes[5].cbs = Some(cbs(500_000_000, 1_000_000_000, 0, low));
    });
    assert_eq!(shaped, Some(2 * (3 * WIRE) + WIRE + LAST_BIT));
}
