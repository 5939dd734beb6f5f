//! Faults that delay frames of a link, or let them arrive twice.

use crate::common::*;
use tsn_bounds::{Reason, bounds};
use tsn_plan::{Fault, Plan, Point, Preemption, Stage};

const WIRE: i64 = 1_250 * 8_000;
const LAST_BIT: i64 = 1_238 * 8_000;

/// A stream of frames of 1,230 octets over two links.
fn two_links(faults: Vec<Fault>, alter: impl FnOnce(&mut Plan)) -> Net {
    let mut net = Net::new(1_000_000);
    let path = net.line(3, 0, GIGABIT, 0);
    net.stream("s", &path, 6, periodic(100_000, 0), frame(1_230));
    net.plan.faults = faults;
    alter(&mut net.plan);
    net.plan.check().unwrap();
    net
}

fn delay(port: u32, most_ns: u64) -> Fault {
    let (from_ns, until_ns, share_ppm) = (0, 500_000, 500_000);
    Fault::Delay { port, from_ns, until_ns, least_ns: 0, most_ns, share_ppm, keeps_order: true }
}

fn twice(port: u32, after_ns: u64) -> Fault {
    Fault::Duplicate { port, from_ns: 0, until_ns: 500_000, share_ppm: 1_000_000, after_ns }
}

#[test]
fn a_delayed_frame_is_later_by_the_sum_of_all_delays() {
    for (faults, later) in [
        (vec![], 0),
        (vec![delay(0, 10_000)], 10_000_000),
        (vec![delay(2, 10_000)], 10_000_000),
        (vec![delay(0, 10_000), delay(0, 5_000), delay(2, 20_000)], 35_000_000),
        // Copies of a frame wait for each other at the second port.
        (vec![twice(0, 0)], WIRE),
        (vec![twice(0, 5_000)], WIRE + 5_000_000),
        (vec![twice(0, 5_000), twice(0, 3_000)], WIRE + 5_000_000),
        (vec![twice(2, 5_000)], 5_000_000),
    ] {
        let net = two_links(faults, |_| ());
        let flow = bounds(&net.plan).flows[0].clone();
        assert_eq!(flow.release_upper_ps, Some(2 * LAST_BIT + later));
        assert_eq!(flow.upper_ps, Some(2 * LAST_BIT - 64_000 + later));
        assert_eq!(flow.release_lower_ps, 2 * LAST_BIT);
    }
}

/// The second frame arrives at once, and waits for the first one.
#[test]
fn a_second_frame_is_as_late_as_its_bound() {
    let mut net = two_links(vec![twice(0, 0)], |_| ());
    let taps = (net.tap(0, Stage::Send, Point::End), net.tap(3, Stage::Rx, Point::End));
    let (sightings, _) = run(&net.plan);
    let sent = stamps(&sightings, taps.0, 0);
    let arrived = stamps(&sightings, taps.1, 0);
    assert_eq!((arrived[1] - sent[0]) * 1_000, 2 * LAST_BIT + WIRE);
}

/// The order that a fault keeps counts whole frames; an interrupted one ends later than it should for that.
#[test]
fn interrupted_frames_are_not_followed() {
    let net = two_links(vec![delay(0, 10_000)], |plan| {
        plan.ports[0].preemption = Some(Preemption { express: 0x80, ..Preemption::default() });
    });
    let flow = bounds(&net.plan).flows[0].clone();
    assert_eq!((flow.upper_ps, flow.release_upper_ps), (None, None));
    assert_eq!(
        flow.release_reason,
        Some(Reason::At { port: "n0 -> n1".into(), why: Box::new(Reason::Faults) })
    );
}

/// A request that arrives twice is answered twice: nobody knows how many answers come at once.
#[test]
fn a_request_that_arrives_twice_has_no_bound_for_its_answers() {
    let answered = |faults| {
        let net = two_links(faults, |plan| {
            respond(plan, 0, 0, 5, frame(1_230), 1_000);
            plan.ports
                .iter_mut()
                .flat_map(|port| &mut port.classes)
                .for_each(|class| class.limit_frames = None);
        });
        bounds(&net.plan).flows[1].clone()
    };
    let once = answered(vec![]);
    assert!(once.release_upper_ps.is_some());
    let why = Reason::AnswersAgain { stream: once.stream, request: "s".into() };
    let at = Reason::At { port: "n2 -> n1".into(), why: Box::new(why) };
    assert_eq!(answered(vec![twice(0, 0)]).release_reason, Some(at));
}
