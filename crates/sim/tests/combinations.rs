//! Cut-through, pre-emption, redundancy and every kind of fault, beside each other and everything else.

mod common;

use common::wrong::{add, fault, two_ways, wrongs};
use common::*;
use proptest::prelude::*;
use tsn_plan::{Fault, Plan, Preemption};

/// Pre-emption and cut-through wherever; preemptable classes have no shaper.
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is there and whatever goes wrong: every frame is accounted for, every loss at a port is one of a
    /// stream, and the same Plan gives the same bytes.
    #[test]
    fn every_frame_is_accounted_for(
        mut plan in random::plan(), masks in masks(), cuts in cuts(), wrongs in wrongs(6),
    ) {
        set(&mut plan, &masks, &cuts);
        let ports: Vec<u32> = (0..plan.ports.len() as u32).collect();
        for wrong in &wrongs {
            let fault = fault(&plan, &ports, wrong);
            add(&mut plan, fault);
        }
        plan.check().unwrap();
        let (sightings, counters) = run(&plan);
        assert_conserved(&counters);
        let faulted: u64 = counters.ports.iter().map(|port| port.dropped_faults).sum();
        prop_assert_eq!(faulted, counters.streams.iter().map(|stream| stream.lost_to_faults).sum::<u64>());
        prop_assert_eq!(counters.faults.len(), plan.faults.len());
        prop_assert_eq!(run(&plan), (sightings, counters));
    }

    /// One way suffers anything; with cut-through and pre-emption anywhere, beside other traffic, every frame goes on
    /// once by the other one.
    #[test]
    fn one_whole_way_is_enough(
        rates in prop::array::uniform2(prop::sample::select(vec![GIGABIT, 10 * GIGABIT])),
        others in prop::collection::vec((0..8u8, 30_000..200_000u64, 64..1_500u32), 0..5),
        masks in masks(), cuts in cuts(), wrongs in wrongs(5), other_way in any::<bool>(),
    ) {
        let mut plan = two_ways(rates, &others);
        set(&mut plan, &masks, &cuts);
        let ports: Vec<u32> = if other_way { vec![4, 8] } else { vec![2, 6] };
        for wrong in &wrongs {
            let mut fault = fault(&plan, &ports, wrong);
            if let Fault::NodeDown { node, .. } = &mut fault {
                // The bridge in the middle, which only this way passes.
                *node = plan.ports[ports[1] as usize].node;
            }
            add(&mut plan, fault);
        }
        let (_, counters) = run(&plan);
        assert_conserved(&counters);
        prop_assert_eq!(counters.streams[0].delivered["l"], counters.streams[0].released);
        prop_assert_eq!(counters.streams[0].released, 30);
    }

    /// Without faults, redundancy changes nothing about the rules of cut-through and pre-emption: as many copies are
    /// eliminated as were made.
    #[test]
    fn each_copy_goes_on_or_is_eliminated(
        masks in masks(), cuts in cuts(), others in prop::collection::vec((0..8u8, 30_000..200_000u64, 64..1_500u32), 0..5),
    ) {
        let mut plan = two_ways([GIGABIT; 2], &others);
        set(&mut plan, &masks, &cuts);
        let (_, counters) = run(&plan);
        assert_conserved(&counters);
        let stream = &counters.streams[0];
        prop_assert_eq!((stream.released, stream.eliminated, stream.delivered["l"]), (30, 30, 30));
    }
}
