//! Cut-through, pre-emption, redundancy, software of hosts and every kind of fault, combined with each other
//! and with all other mechanisms.

use crate::common::software::{Software, install, softwares};
use crate::common::wrong::{add, fault, two_paths, wrongs};
use crate::common::*;
use proptest::prelude::*;
use tsn_plan::{Buffer, Change, ClockFault, Clocks, Fault, Further, NodeClock, Plan, Preemption};

/// Sets pre-emption and cut-through at any place; preemptable classes have no shaper.
fn set(plan: &mut Plan, masks: &[Option<u8>], cuts: &[Option<u32>]) {
    for (port, mask) in plan.ports.iter_mut().zip(masks) {
        port.preemption = mask.map(|express| Preemption { express, ..Default::default() });
        for (number, class) in port.classes.iter_mut().enumerate() {
            class.cbs = class.cbs.take().filter(|_| mask.is_none_or(|mask| mask >> number & 1 == 1));
        }
    }
    for (node, cut) in plan.nodes.iter_mut().zip(cuts) {
        node.cut_through_octets = *cut;
    }
}

fn masks() -> impl Strategy<Value = Vec<Option<u8>>> {
    prop::collection::vec(prop::option::of(any::<u8>()), 14)
}

fn cuts() -> impl Strategy<Value = Vec<Option<u32>>> {
    prop::collection::vec(prop::option::of(18..1_000_u32), 7)
}

/// Shared memory and varying processing times.
type Bridging = (Option<u64>, Option<u64>);

fn bridging() -> impl Strategy<Value = Vec<Bridging>> {
    prop::collection::vec((prop::option::weighted(0.3, 2_000..20_000u64), prop::option::of(0..10_000u64)), 7)
}

fn bridge(plan: &mut Plan, bridging: &[Bridging]) {
    for (number, (octets, further)) in bridging.iter().enumerate().take(plan.nodes.len()) {
        plan.nodes[number].further = further.map(|up_to_ns| Further::Uniform { up_to_ns });
        plan.nodes[number].buffer = octets.map(|octets| Buffer { octets, alpha_permille: None });
        if plan.check().is_err() {
            plan.nodes[number].buffer = None;
        }
    }
}

/// Clocks that drift and have steps in both directions, without synchronisation.
fn clocks() -> impl Strategy<Value = Clocks> {
    let one = (0..1_000_000_i64, -200_000_000..200_000_000_i64, 0..2_000_000_u64, -300_000..300_000_i64);
    prop::collection::vec(one, 7).prop_map(|all| Clocks {
        nodes: all
            .iter()
            .map(|(offset_ns, deviation_ppt, at_ns, _)| NodeClock {
                offset_ns: *offset_ns,
                deviation_ppt: *deviation_ppt,
                changes: vec![Change { at_ns: *at_ns, deviation_ppt: -deviation_ppt }],
                ..NodeClock::default()
            })
            .collect(),
        record_ns: 1_000_000,
        within_ns: None,
        gptp: None,
        faults: (0..)
            .zip(&all)
            .map(|(node, (.., at_ns, by_ns))| ClockFault::ClockStep { node, at_ns: *at_ns, by_ns: *by_ns })
            .collect(),
    })
}

/// As many clocks as there are nodes.
fn set_clocks(plan: &mut Plan, clocks: Option<Clocks>) {
    plan.clocks = clocks.map(|mut clocks| {
        clocks.nodes.truncate(plan.nodes.len());
        clocks.faults.truncate(plan.nodes.len());
        clocks
    });
}

/// Adds software with latencies that may delay frames, without queueing disciplines that drop frames, and
/// with time for all frames to arrive.
fn soften(plan: &mut Plan, softwares: Option<Vec<Option<Software>>>) {
    if let Some(softwares) = &softwares {
        install(plan, softwares);
        plan.drain_ns = 2_000_000_000;
        plan.ports.iter_mut().for_each(|port| port.qdisc = None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// With any mechanisms and faults: every frame is accounted for, every loss at a port is counted for a
    /// stream, and the same Plan gives the same bytes.
    #[test]
    fn every_frame_is_accounted_for(
        mut plan in random::plan(), masks in masks(), cuts in cuts(), wrongs in wrongs(6),
        softwares in prop::option::of(softwares()), bridging in bridging(), clocks in prop::option::of(clocks()),
    ) {
        set(&mut plan, &masks, &cuts);
        set_clocks(&mut plan, clocks);
        bridge(&mut plan, &bridging);
        if let Some(softwares) = &softwares {
            install(&mut plan, softwares);
        }
        let ports: Vec<u32> = (0..plan.ports.len() as u32).collect();
        for wrong in &wrongs {
            let fault = fault(&plan, &ports, wrong);
            add(&mut plan, fault);
        }
        plan.check().unwrap();
        let (sightings, counters) = run(&plan);
        let faulted: u64 = counters.ports.iter().map(|port| port.dropped_faults).sum();
        prop_assert_eq!(faulted, counters.streams.iter().map(|stream| stream.lost_to_faults).sum::<u64>());
        prop_assert_eq!(counters.faults.len(), plan.faults.len());
        prop_assert_eq!(run(&plan), (sightings, counters));
    }

    /// One path has any faults. With cut-through and pre-emption at any place and other traffic, every frame
    /// is delivered once over the other path.
    #[test]
    fn one_whole_way_is_enough(
        rates in prop::array::uniform2(prop::sample::select(vec![GIGABIT, 10 * GIGABIT])),
        others in prop::collection::vec((0..8u8, 30_000..200_000u64, 64..1_500u32), 0..5),
        masks in masks(), cuts in cuts(), wrongs in wrongs(5), other_way in any::<bool>(),
        softwares in prop::option::of(softwares()),
    ) {
        let mut plan = two_paths(rates, &others);
        set(&mut plan, &masks, &cuts);
        soften(&mut plan, softwares);
        let ports: Vec<u32> = if other_way { vec![4, 8] } else { vec![2, 6] };
        for wrong in &wrongs {
            let mut fault = fault(&plan, &ports, wrong);
            if let Fault::NodeDown { node, .. } = &mut fault {
                // The middle bridge, which only this path passes.
                *node = plan.ports[ports[1] as usize].node;
            }
            add(&mut plan, fault);
        }
        let (_, counters) = run(&plan);
        prop_assert_eq!(counters.streams[0].delivered["l"], counters.streams[0].released);
        prop_assert_eq!(counters.streams[0].released, 30);
    }

    /// Without faults, redundancy does not change cut-through and pre-emption: as many frames are eliminated
    /// as were replicated.
    #[test]
    fn each_copy_goes_on_or_is_eliminated(
        masks in masks(), cuts in cuts(), others in prop::collection::vec((0..8u8, 30_000..200_000u64, 64..1_500u32), 0..5),
        softwares in prop::option::of(softwares()),
    ) {
        let mut plan = two_paths([GIGABIT; 2], &others);
        set(&mut plan, &masks, &cuts);
        soften(&mut plan, softwares);
        let (_, counters) = run(&plan);
        let stream = &counters.streams[0];
        prop_assert_eq!((stream.released, stream.eliminated, stream.delivered["l"]), (30, 30, 30));
    }
}
