//! Cut-through: frames that a bridge forwards before their end, in closed form; FlexTest, Section V-C and
//! Fig. 7.

use crate::common::random::plan;
use crate::common::*;
use proptest::prelude::*;
use tsn_plan::{Plan, Point, Stage};

const AFTER_OCTETS: u32 = 337;

/// Two links with a cut-through bridge between them, and taps at the start of frames on both sides of the
/// bridge.
fn through(rates: [u64; 2], processing_ns: u64, octets: u32) -> (Net, (u16, u16)) {
    let mut net = Net::new(1_000_000);
    let [a, b, c] = ["a", "b", "c"].map(|name| net.node(name, processing_ns));
    net.link(a, b, rates[0], 0);
    net.link(b, c, rates[1], 0);
    net.plan.nodes[b as usize].cut_through_octets = Some(AFTER_OCTETS);
    net.stream("one", &[a, b, c], 3, periodic(1_000_000, 0), frame(octets));
    let taps = (net.tap(1, Stage::Rx, Point::Start), net.tap(2, Stage::Tx, Point::Start));
    (net, taps)
}

#[test]
fn residence_grows_with_the_frame_up_to_the_threshold_and_stays() {
    for processing in [0, 2_000] {
        for octets in [64, 65, 336, 337, 338, 339, 700, 1_522, 9_018] {
            let (net, taps) = through([GIGABIT; 2], processing, octets);
            let (sightings, _) = run(&net.plan);
            let residence = (i64::from(octets.min(AFTER_OCTETS)) + BEFORE) * 8 + processing as i64;
            assert_eq!(delays(&sightings, taps, 0), [residence], "{octets} octets");
        }
    }
}

#[test]
fn a_faster_link_would_run_dry_and_a_slower_one_does_not() {
    let octets = 1_522;
    let (net, taps) = through([100_000_000, GIGABIT], 500, octets);
    let whole = i64::from(octets) * 80 + 500 + BEFORE * 8;
    assert_eq!(delays(&run(&net.plan).0, taps, 0), [whole]);
    let (net, taps) = through([GIGABIT, 100_000_000], 500, octets);
    let cut = i64::from(AFTER_OCTETS) * 8 + 500 + BEFORE * 80;
    assert_eq!(delays(&run(&net.plan).0, taps, 0), [cut]);
}

#[test]
fn behind_a_busy_port_a_frame_waits_like_any_other() {
    // A full frame of the bridge itself takes the port from 1 us on; the other frame could start at 2.76 us.
    let (mut net, taps) = through([GIGABIT; 2], 0, 1_522);
    net.stream("own", &[1, 2], 0, periodic(1_000_000, 1_000), frame(1_522));
    let (sightings, _) = run(&net.plan);
    assert_eq!(stamps(&sightings, taps.1, 0), [1_000 + FULL_NS + BEFORE * 8]);
    // A short frame of the bridge ends before the longer frame is complete: this frame is then forwarded
    // during its reception.
    let (mut net, taps) = through([GIGABIT; 2], 0, 1_522);
    net.stream("own", &[1, 2], 0, periodic(1_000_000, 1_000), frame(500));
    let (sightings, _) = run(&net.plan);
    assert_eq!(stamps(&sightings, taps.1, 0), [1_000 + 520 * 8 + BEFORE * 8]);
}

#[test]
fn behind_a_gate_a_frame_waits_for_room_for_all_of_it() {
    for (opens, start) in [(5_000, 5_000), (40_000, 40_000), (0, (i64::from(AFTER_OCTETS) + BEFORE) * 8)] {
        let (mut net, taps) = through([GIGABIT; 2], 0, 1_522);
        let closed = if opens == 0 { vec![(0xff, 100_000)] } else { vec![(0x00, opens), (0xff, 100_000)] };
        net.plan.ports[2].gates = gates(0, &closed);
        let (sightings, _) = run(&net.plan);
        assert_eq!(stamps(&sightings, taps.1, 0), [start + BEFORE * 8], "opens at {opens}");
    }
    // The gate is open for 10.24 us after the decision at 2.76 us: too short for the whole frame.
    let (mut net, taps) = through([GIGABIT; 2], 0, 1_522);
    net.plan.ports[2].gates = gates(0, &[(0xff, 13_000), (0x00, 37_000), (0xff, 50_000)]);
    assert_eq!(stamps(&run(&net.plan).0, taps.1, 0), [50_000 + BEFORE * 8]);
}

#[test]
fn over_a_line_every_bridge_takes_the_threshold() {
    for bridges in 1..=6_u32 {
        let mut net = Net::new(10_000_000);
        let path = net.line(bridges + 2, 300, GIGABIT, 50_000);
        net.plan.nodes.iter_mut().for_each(|node| node.cut_through_octets = Some(AFTER_OCTETS));
        net.stream("one", &path, 3, periodic(1_000_000, 0), frame(FULL));
        let taps = net.tap_ends(&path);
        let each = (i64::from(AFTER_OCTETS) + BEFORE) * 8 + 50 + 300;
        let expected = i64::from(bridges) * each + i64::from(FULL) * 8 + 50;
        assert_eq!(delays(&run(&net.plan).0, taps, 0), vec![expected; 10], "{bridges} bridges");
    }
}

/// Adds cut-through thresholds to the forwarding nodes of any plan.
fn cutting() -> impl Strategy<Value = Plan> {
    (plan(), prop::collection::vec(prop::option::of(18..2_000_u32), 7)).prop_map(|(mut plan, cuts)| {
        for (node, cut) in plan.nodes.iter_mut().zip(cuts) {
            node.cut_through_octets = cut;
        }
        plan
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    /// With gates, shapers, limits and multicast: no octet leaves before its arrival, and every frame is
    /// accounted for.
    #[test]
    fn nothing_leaves_before_it_is_in(plan in cutting()) {
        let (sightings, _) = run(&plan);
        let at = |port: u32, stage, point, stream: usize, seq: u64| {
            sightings.iter().find(|one| {
                let tap = &plan.taps[usize::from(one.tap)];
                (tap.port, tap.stage, tap.point, one.stream as usize, one.seq) == (port, stage, point, stream, seq)
            })
        };
        for (number, stream) in plan.streams.iter().enumerate() {
            for hop in &stream.route {
                let Some(parent) = hop.parent else { continue };
                let (ingress, egress) = (&plan.ports[stream.route[parent as usize].port as usize], &plan.ports[hop.port as usize]);
                for seq in 0..20 {
                    let Some(out) = at(hop.port, Stage::Tx, Point::End, number, seq) else { continue };
                    let Some(into) = at(ingress.peer, Stage::Rx, Point::End, number, seq) else { continue };
                    let processing = plan.nodes[egress.node as usize].processing_ns as i64;
                    prop_assert!(out.t_ns >= into.t_ns.map(|at| at + processing), "last bit of {seq}");
                    let octets = i64::from(out.octets);
                    let start = out.t_ns.unwrap() - (octets + BEFORE) * 8_000_000_000 / egress.rate_bps as i64;
                    let first = into.t_ns.unwrap() - (octets + BEFORE) * 8_000_000_000 / ingress.rate_bps as i64;
                    let sees = plan.nodes[egress.node as usize].cut_through_octets.map_or(octets, |cut| octets.min(cut.into()));
                    let decides = first + (sees + BEFORE) * 8_000_000_000 / ingress.rate_bps as i64 + processing;
                    prop_assert!(start >= decides, "start of {seq}");
                }
            }
        }
    }
}

#[test]
fn what_may_be_interrupted_on_its_way_in_is_stored() {
    let mut net = Net::new(1_000_000);
    net.line(3, 0, GIGABIT, 0);
    net.plan.nodes[1].cut_through_octets = Some(64);
    net.port_mut(0, 1).preemption = Some(tsn_plan::Preemption { express: 0x80, ..Default::default() });
    let [ingress, egress] = [net.port(0, 1), net.port(1, 2)].map(|port| &net.plan.ports[port as usize]);
    assert_eq!([0, 7].map(|pcp| net.plan.octets_cut(1_000, pcp, ingress, egress)), [0, 936]);
}
