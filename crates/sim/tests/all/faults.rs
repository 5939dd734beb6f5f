//! Faults: frames on the wire are lost, and every frame is accounted for.

use crate::common::*;
use tsn_plan::{Fault, LossModel, Plan};

/// A station, a bridge and a station; one frame of 1 250 octets (10.16 us with preamble) every 100 us for 10 ms.
fn line() -> Plan {
    let mut net = Net::new(10_000_000);
    let nodes = [net.node("a", 0), net.node("b", 1_000), net.node("c", 0)];
    net.link(nodes[0], nodes[1], GIGABIT, 500_000);
    net.link(nodes[1], nodes[2], GIGABIT, 500_000);
    net.stream("s", &nodes, 3, periodic(100_000, 0), frame(1_250));
    net.tap_ends(&nodes);
    net.plan
}

/// The numbers of the frames that reached the listener.
fn received(plan: &Plan) -> (Vec<u64>, tsn_sim::RunCounters) {
    plan.check().unwrap();
    let (sightings, counters) = run(plan);
    (sightings.iter().filter(|one| one.tap == 1).map(|one| one.seq).collect(), counters)
}

#[test]
fn a_link_that_is_down_loses_what_is_on_the_wire_and_what_is_sent_into_it() {
    let mut plan = line();
    // Frame n is on the second link from n * 100 us + 11.564 us for 10.064 us, and 0.5 us longer in the
    // cable. The link is down from a time within frame 20 until just before the start of frame 30; the fault
    // may name either end of the link.
    let first = |n: u64| n * 100_000 + 10_064 + 500 + 1_000;
    for port in [2, 3] {
        plan.faults = vec![Fault::LinkDown { port, from_ns: first(20) + 5_000, until_ns: first(30) }];
        let (numbers, counters) = received(&plan);
        assert_eq!(numbers, (0..20).chain(30..100).collect::<Vec<u64>>());
        assert_eq!((counters.ports[2].dropped_faults, counters.streams[0].lost_to_faults), (10, 10));
    }
    // One nanosecond longer loses frame 30, too; from one nanosecond after the arrival of the last bit, frame
    // 20 is not lost.
    plan.faults =
        vec![Fault::LinkDown { port: 2, from_ns: first(20) + 10_064 + 500 + 1, until_ns: first(30) + 1 }];
    let (numbers, _) = received(&plan);
    assert_eq!(numbers, (0..21).chain(31..100).collect::<Vec<u64>>());
}

#[test]
fn chance_draws_by_port_and_not_by_what_else_there_is() {
    let mut plan = line();
    let loss = |port, loss_ppm| Fault::Loss {
        port,
        from_ns: 0,
        until_ns: 10_000_000,
        model: LossModel::Bernoulli { loss_ppm },
    };
    plan.faults = vec![loss(2, 300_000)];
    let (alone, counters) = received(&plan);
    assert!((50..90).contains(&alone.len()), "{}", alone.len());
    assert_eq!(counters.ports[2].dropped_faults, 100 - alone.len() as u64);
    // Faults in the other direction lose no frame of this stream, and change no random value.
    plan.faults.insert(0, loss(3, 1_000_000));
    assert_eq!(received(&plan).0, alone);
    plan.seed += 1;
    assert_ne!(received(&plan).0, alone);
}

#[test]
fn a_babbling_talker_sends_more_for_its_time() {
    let mut plan = line();
    plan.faults =
        vec![Fault::Babble { stream: 0, from_ns: 1_000_000, until_ns: 2_000_000, every_ns: 20_000 }];
    let (numbers, counters) = received(&plan);
    assert_eq!(numbers, (0..150).collect::<Vec<u64>>());
    assert_eq!(counters.streams[0].released, 100 + 50);
}
