//! Streams with more than one path: FRER with links that are pulled, and standby paths. OCORA Fig. 30 to 32.

use crate::common::*;
use proptest::prelude::*;
use tsn_observation::{ELIMINATED, Sighting};
use tsn_plan::{
    Active, Algorithm, Destination, Fault, Identification, LatentErrors, Merge, Plan, Point, Policing,
    Recovery, Redundancy, Regeneration, Rewritten, Route, Span, Stage,
};
use tsn_sim::RunCounters;

const MS: u64 = 1_000_000;

/// Two bridges between talker and listener, and two links between them: talker (0), b1 (2, 4), b2, listener.
///
/// Ports: 0 talker -> b1, 2 and 4 b1 -> b2, 6 b2 -> listener. A frame of 1 000 octets every 100 us for 20 ms.
fn kboxes(back_rate: u64) -> Plan {
    let mut net = Net::new(20 * MS);
    let nodes: Vec<u32> =
        ["talker", "b1", "b2", "listener"].iter().map(|name| net.node(name, 1_000)).collect();
    net.link(nodes[0], nodes[1], GIGABIT, 5_000);
    net.link(nodes[1], nodes[2], GIGABIT, 5_000);
    net.link(nodes[1], nodes[2], back_rate, 5_000);
    net.link(nodes[2], nodes[3], GIGABIT, 5_000);
    let route = [(0, None), (2, Some(0)), (4, Some(0)), (6, Some(1))];
    let route = route.map(|(port, parent)| Route { port, parent }).to_vec();
    let listeners = vec![Destination { node: nodes[3], route: 3 }];
    net.tree("s", nodes[0], route, listeners, 3, periodic(100_000, 0), frame(1_000));
    for (port, stage, point) in [
        (0, Stage::Tx, Point::Start),
        (2, Stage::Tx, Point::Start),
        (4, Stage::Tx, Point::Start),
        (3, Stage::Rx, Point::End),
        (5, Stage::Rx, Point::End),
        (7, Stage::Rx, Point::End),
    ] {
        net.tap(port, stage, point);
    }
    net.plan
}

fn recovery() -> Recovery {
    Recovery {
        identification: Identification::Null,
        algorithm: Algorithm::Vector { history: 32 },
        reset_ns: 2_000 * MS,
        individual: false,
        latent: None,
    }
}

fn with_frer(mut plan: Plan, recovery: Recovery) -> Plan {
    plan.streams[0].redundancy = Some(Box::new(Redundancy {
        copies: vec![0, 1, 2, 0],
        merges: vec![Merge { from: vec![1, 2] }],
        active: Vec::new(),
        recovery: Some(recovery),
    }));
    plan
}

fn without_frer(mut plan: Plan, main: &[(u64, u64)], other: &[(u64, u64)]) -> Plan {
    let spans = |spans: &[(u64, u64)]| {
        spans.iter().map(|(from, until)| Span { from_ns: from * MS, until_ns: until * MS }).collect()
    };
    plan.streams[0].redundancy = Some(Box::new(Redundancy {
        merges: vec![Merge { from: vec![1, 2] }],
        active: vec![Active { route: 1, spans: spans(main) }, Active { route: 2, spans: spans(other) }],
        ..Redundancy::default()
    }));
    plan
}

fn pulled(mut plan: Plan, cuts: &[(u32, u64, u64)]) -> Plan {
    plan.faults.extend(cuts.iter().map(|(port, from, until)| Fault::LinkDown {
        port: *port,
        from_ns: from * MS + 1,
        until_ns: until * MS + 1,
    }));
    plan
}

/// The numbers of the frames that arrived at the listener.
fn received(plan: &Plan) -> (Vec<u64>, Vec<Sighting>, RunCounters) {
    plan.check().unwrap();
    let (sightings, counters) = run(plan);
    (sightings.iter().filter(|one| one.tap == 5).map(|one| one.seq).collect(), sightings, counters)
}

fn all() -> Vec<u64> {
    (0..200).collect()
}

#[test]
fn copies_carry_a_tag_on_their_way_only_and_one_of_them_goes_on() {
    let mut plan = with_frer(kboxes(GIGABIT), recovery());
    // The second cable is 20 cm longer.
    plan.ports[4].propagation_ps = 6_000;
    let (numbers, sightings, counters) = received(&plan);
    assert_eq!(numbers, all());
    let seen = |tap: u16| {
        let here = sightings.iter().filter(move |one| one.tap == tap);
        here.map(|one| (one.octets, one.copy)).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!([seen(0), seen(5)], [[(1_000, 0)].into(), [(1_000, 0)].into()]);
    assert_eq!([seen(1), seen(2), seen(3)], [[(1_006, 1)].into(), [(1_006, 2)].into(), [(1_006, 1)].into()]);
    assert_eq!(seen(4), [(1_006, 2 | ELIMINATED)].into());
    let stream = &counters.streams[0];
    assert_eq!((stream.released, stream.replicated, stream.eliminated), (200, 200, 200));
    assert_eq!((counters.recoveries[0].passed, counters.recoveries[0].discarded), (200, 200));
    // The closed form: the frame, with six octets more between the bridges; 5 ns per cable, and 1 us twice.
    let octet = |octets: i64| octets * 8;
    let delay = octet(1_000) + octet(8 + 1_006) + octet(8 + 1_000) + 3 * 5 + 2 * 1_000;
    assert!(delays(&sightings, (0, 5), 0).iter().all(|found| *found == delay));
}

/// OCORA Fig. 31: with FRER one pulled link loses no frame, whichever link it is; two pulled links lose
/// frames.
#[test]
fn with_frer_one_pulled_link_loses_nothing() {
    let plan = with_frer(kboxes(GIGABIT), recovery());
    for cuts in [&[(2, 3, 6)][..], &[(4, 3, 6)], &[(2, 3, 6), (4, 7, 9), (2, 10, 13)]] {
        let (numbers, _, counters) = received(&pulled(plan.clone(), cuts));
        assert_eq!(numbers, all(), "{cuts:?}");
        assert!(counters.streams[0].lost_to_faults > 0);
    }
    let (numbers, ..) = received(&pulled(plan, &[(2, 3, 6), (4, 4, 9)]));
    assert_eq!(numbers, (0..40).chain(60..200).collect::<Vec<u64>>(), "lost while both are down");
}

/// OCORA Fig. 32: without FRER frames are lost at the failure and at the switch back, and none if the idle
/// link is pulled.
#[test]
fn without_frer_frames_are_lost_at_failure_and_at_switch_back() {
    // The link is pulled from 3 to 8 ms; the switch takes 1 ms, and the switch back 2 ms.
    let plan = without_frer(kboxes(GIGABIT), &[(0, 4), (10, 20)], &[(4, 8)]);
    let (numbers, _, counters) = received(&pulled(plan.clone(), &[(2, 3, 8)]));
    assert_eq!(numbers, (0..30).chain(40..80).chain(100..200).collect::<Vec<u64>>());
    assert_eq!(counters.streams[0].lost_to_faults, 30);
    let idle = without_frer(kboxes(GIGABIT), &[(0, 20)], &[]);
    assert_eq!(received(&pulled(idle, &[(4, 3, 8)])).0, all());
}

#[test]
fn the_first_copy_goes_on_whichever_way_it_comes() {
    // The second link is ten times as fast, so the second member stream always arrives first.
    let (numbers, sightings, _) = received(&with_frer(kboxes(10 * GIGABIT), recovery()));
    assert_eq!(numbers, all());
    assert!(sightings.iter().all(|one| one.tap != 4 || one.copy == 2));
    assert!(sightings.iter().all(|one| one.tap != 3 || one.copy == 1 | ELIMINATED));
}

/// A match recovery forgets numbers: if the paths differ by more than a period, each member stream passes.
#[test]
fn match_recovery_lets_copies_pass_that_come_late() {
    let mut plan = with_frer(kboxes(GIGABIT), Recovery { algorithm: Algorithm::Match, ..recovery() });
    plan.ports[4].propagation_ps = 150 * MS;
    let (numbers, ..) = received(&plan);
    assert!(numbers.len() > 390, "{}", numbers.len());
    plan.streams[0].redundancy.as_mut().unwrap().recovery = Some(recovery());
    assert_eq!(received(&plan).0, all());
}

#[test]
fn a_way_that_fails_unnoticed_raises_an_alarm() {
    let latent = LatentErrors { period_ns: 2 * MS, reset_ns: 100 * MS, difference: 10 };
    let plan = with_frer(kboxes(GIGABIT), Recovery { latent: Some(latent), ..recovery() });
    assert_eq!(received(&plan).2.recoveries[0].latent_errors, 0);
    let (numbers, _, counters) = received(&pulled(plan, &[(4, 3, 1_000)]));
    assert_eq!(numbers, all());
    assert!(counters.recoveries[0].latent_errors >= 8, "{:?}", counters.recoveries);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// With any other mechanisms (gates, shapers, limits, priorities, multicast): faults lose frames, all
    /// frames are accounted for, and the same plan gives the same bytes.
    #[test]
    fn faults_combine_with_everything(
        mut plan in random::plan(),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0..2_000u64, 1..1_000u64), 0..3),
        losses in prop::collection::vec((any::<prop::sample::Index>(), 0..1_000_000u32), 0..3),
    ) {
        for (port, from, length) in &cuts {
            let port = port.index(plan.ports.len()) as u32;
            let (from_ns, until_ns) = (from * 1_000, (from + length) * 1_000);
            plan.faults.push(Fault::LinkDown { port, from_ns, until_ns });
        }
        for (port, loss_ppm) in &losses {
            let port = port.index(plan.ports.len()) as u32;
            let model = tsn_plan::LossModel::Bernoulli { loss_ppm: *loss_ppm };
            plan.faults.push(Fault::Loss { port, from_ns: 0, until_ns: 3 * MS, model });
        }
        plan.check().unwrap();
        let (sightings, counters) = run(&plan);
        let faulted: u64 = counters.ports.iter().map(|port| port.dropped_faults).sum();
        prop_assert_eq!(faulted, counters.streams.iter().map(|stream| stream.lost_to_faults).sum::<u64>());
        prop_assert_eq!(run(&plan), (sightings, counters));
    }

    /// With any faults on one of two paths, every frame is delivered once, in a queue with room for it.
    #[test]
    fn one_sound_way_is_enough(
        path in 0..2u32,
        loss_ppm in 0..=1_000_000u32,
        cut in (0..20u64, 1..10u64),
        rate in prop::sample::select(vec![100_000_000, GIGABIT, 10 * GIGABIT]),
        gated in any::<bool>(),
        individual in any::<bool>(),
    ) {
        let mut plan = with_frer(kboxes(rate), Recovery { individual, ..recovery() });
        let port = 2 + 2 * path;
        let model = tsn_plan::LossModel::Bernoulli { loss_ppm };
        plan.faults.push(Fault::Loss { port, from_ns: 0, until_ns: 100 * MS, model });
        plan.faults.push(Fault::LinkDown { port, from_ns: cut.0 * MS, until_ns: (cut.0 + cut.1) * MS });
        if gated {
            plan.ports[6].gates = gates(0, &[(0b1000, 40_000), (0b0111, 30_000)]);
            plan.ports[2].gates = gates(0, &[(0b1111, 20_000), (0b0111, 30_000)]);
        }
        let (mut numbers, ..) = received(&plan);
        numbers.sort_unstable();
        prop_assert_eq!(numbers, all());
    }
}

fn active(destination_mac: &str, vid: u16, pcp: u8) -> Recovery {
    let identification =
        Identification::Active(Rewritten { destination_mac: destination_mac.into(), vid, pcp });
    Recovery { identification, ..recovery() }
}

/// A stream of another priority crosses both paths: the class of the member streams there decides how long
/// they wait.
fn crossed(recovery: Recovery, pcp: u8) -> Plan {
    let mut plan = with_frer(kboxes(GIGABIT), recovery);
    plan.streams[0].vid = Some(100);
    plan.streams[0].pcp = 3;
    for (number, port) in [(1, 2), (2, 4)] {
        let mut other = plan.streams[0].clone();
        other.name = format!("other{number}");
        other.destination_mac = format!("02:00:00:00:fe:0{number}");
        other.redundancy = None;
        other.pcp = pcp;
        other.talker = 1;
        other.route = vec![Route { port, parent: None }];
        other.listeners = vec![Destination { node: 2, route: 0 }];
        // Two of the other stream's frames are in the queue when the first member stream's frame arrives: one
        // is on the wire.
        other.pattern = periodic(100_000, 8_000);
        plan.streams.push(other.clone());
        other.name = format!("more{number}");
        other.destination_mac = format!("02:00:00:00:fd:0{number}");
        plan.streams.push(other);
    }
    plan
}

#[test]
fn copies_show_another_vlan_and_priority_and_get_their_own_back() {
    // The other streams' frames of 1 000 octets take 8 064 ns on the wire, and 96 ns of gap.
    let alone = 8 * 1_000 + 8 * (8 + 1_006) + 8 * (8 + 1_000) + 3 * 5 + 2 * 1_000;
    let release = 8_000;
    let queued = 8 * (8 + 1_000) + 5 + 1_000;
    let frame_on_wire = 8 * (8 + 1_000 + 12);
    for (pcp, frames) in [(6, 1), (4, 2)] {
        let plan = crossed(active("02:cb:00:00:00:01", 200, pcp), 5);
        let (numbers, sightings, _) = received(&plan);
        let own = |tap: u16| sightings.iter().filter(move |one| one.tap == tap && one.stream == 0);
        let seen =
            |tap: u16| own(tap).map(|one| (one.vid, one.pcp)).collect::<std::collections::BTreeSet<_>>();
        assert_eq!([seen(0), seen(5)], [[(100, 3)].into(), [(100, 3)].into()]);
        for tap in 1..5 {
            assert_eq!(seen(tap), [(200, pcp)].into());
        }
        // The frames leave before others of a lower priority and after others of a higher one: closed forms.
        let waits = release + frames * frame_on_wire - queued;
        assert!(delays(&sightings, (0, 5), 0).iter().all(|found| *found == alone + waits), "{waits}");
        assert_eq!(numbers.len(), 200);
    }
}

#[test]
fn a_priority_that_was_regenerated_comes_back() {
    let mut plan = crossed(active("02:cb:00:00:00:01", 200, 6), 5);
    let table = |port| Regeneration { port, pcp: [0, 1, 2, 4, 4, 5, 7, 7] };
    // At b1 priority 3 becomes 4; on both paths into b2 priority 6 becomes 7, which ends there.
    plan.policing = vec![
        Policing { node: 1, regeneration: vec![table(1)], ..Policing::default() },
        Policing { node: 2, regeneration: vec![table(3), table(5)], ..Policing::default() },
    ];
    assert_eq!(plan.priorities(&plan.streams[0]), [3, 6, 6, 4]);
}

#[test]
fn what_cannot_be_rewritten_is_refused() {
    let refused = |change: &dyn Fn(&mut Plan)| {
        let mut plan = crossed(active("02:cb:00:00:00:01", 200, 6), 5);
        change(&mut plan);
        plan.check().unwrap_err().to_string()
    };
    let own = |plan: &mut Plan, recovery| {
        plan.streams[0].redundancy.as_mut().unwrap().recovery = Some(recovery);
    };
    for (found, words) in [
        (refused(&|plan| plan.streams[0].vid = None), "no VLAN tag"),
        (refused(&|plan| own(plan, active("02:cb:00:00:00:0g", 200, 6))), "no MAC address"),
        (refused(&|plan| own(plan, active("02:cb:00:00:00:01", 0, 6))), "0 is not 1 to 4094"),
        (refused(&|plan| own(plan, active("02:cb:00:00:00:01", 200, 8))), "8 is not 0 to 7"),
        (
            refused(&|plan| plan.streams[0].redundancy.as_mut().unwrap().copies = Vec::new()),
            "no copy is made",
        ),
        // Another stream already uses this address and VLAN; with another VLAN the stream would be valid.
        (refused(&|plan| own(plan, active("02:00:00:00:fe:01", 100, 6))), "cannot tell s and other1 apart"),
    ] {
        assert!(found.contains(words), "{found}");
    }
    crossed(active("02:00:00:00:fe:01", 200, 6), 5).check().unwrap();
}

#[test]
fn at_the_instant_of_a_switch_one_way_forwards() {
    let mut net = Net::new(400_000);
    let nodes = ["t", "l"].map(|name| net.node(name, 0));
    let ports = [net.link(nodes[0], nodes[1], GIGABIT, 0), net.link(nodes[0], nodes[1], GIGABIT, 0)];
    let route = ports.map(|port| Route { port, parent: None }).to_vec();
    let listeners = vec![Destination { node: nodes[1], route: 0 }];
    let stream = net.tree("s", nodes[0], route, listeners, 0, periodic(100_000, 0), frame(500));
    let active = [(0, 0, 200_000), (1, 200_000, 1_000_000)];
    let span = |(route, from_ns, until_ns)| Active { route, spans: vec![Span { from_ns, until_ns }] };
    stream.redundancy = Some(Box::new(Redundancy {
        merges: vec![Merge { from: vec![0, 1] }],
        active: active.map(span).to_vec(),
        ..Redundancy::default()
    }));
    let (_, counters) = run(&net.plan);
    let sent = |port: u32| counters.ports[port as usize].classes[0].sent_frames;
    assert_eq!((ports.map(sent), counters.streams[0].replicated), ([2, 2], 0));
}
