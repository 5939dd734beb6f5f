//! Random tables of filters, stream gates, meters and schedulers.

use proptest::prelude::*;
use tsn_plan::{
    AtsGroup, AtsScheduler, FlowMeter, Plan, Policing, StreamFilter, StreamGate, StreamGateEntry,
};

/// A filter that passes all frames.
pub fn filter(name: &str) -> StreamFilter {
    StreamFilter { name: name.into(), ..StreamFilter::default() }
}

/// Tables with all mechanisms for some nodes of a plan.
pub fn policing() -> impl Strategy<Value = Vec<(prop::sample::Index, Policing)>> {
    let entry = (any::<bool>(), prop::option::of(0..8u8), 1_000..80_000u64, prop::option::of(0..4_000u64));
    let gate =
        (prop::collection::vec(entry, 1..5), -50_000..50_000i64, prop::bool::weighted(0.1), any::<bool>())
            .prop_map(|(entries, base_time_ns, close_on_invalid_rx, close_on_octets_exceeded)| StreamGate {
                base_time_ns,
                cycle_ns: entries.iter().map(|entry| entry.2).sum(),
                entries: entries
                    .into_iter()
                    .map(|(open, ipv, interval_ns, octets_max)| StreamGateEntry {
                        open,
                        ipv,
                        interval_ns,
                        octets_max,
                    })
                    .collect(),
                close_on_invalid_rx,
                close_on_octets_exceeded: close_on_octets_exceeded && close_on_invalid_rx,
            });
    let meter = (0..200_000_000u64, 0..6_000u64, 0..100_000_000u64, 0..6_000u64, any::<[bool; 3]>())
        .prop_map(|(cir_bps, cbs_octets, eir_bps, ebs_octets, [coupling, color_aware, drop_on_yellow])| {
            FlowMeter {
                cir_bps,
                cbs_octets,
                eir_bps,
                ebs_octets,
                coupling,
                color_aware,
                drop_on_yellow,
                mark_all_frames_red: false,
            }
        });
    let scheduler = (1_000_000..500_000_000u64, 1..50_000u64, 0..2u32)
        .prop_map(|(cir_bps, cbs_bits, group)| AtsScheduler { cir_bps, cbs_bits, group });
    let group =
        (0..3_000_000u64).prop_map(|max_residence_ns| AtsGroup { name: "group".into(), max_residence_ns });
    let parts = prop::option::of(0..2u32);
    let one = (prop::option::of(0..8u8), prop::option::of(50..1_500u32), parts.clone(), parts.clone(), parts)
        .prop_map(|(priority, max_sdu_octets, gate, meter, scheduler)| StreamFilter {
            priority,
            max_sdu_octets,
            gate,
            meter,
            scheduler,
            ..filter("filter")
        });
    let table = (
        any::<prop::sample::Index>(),
        prop::collection::vec(one, 1..4),
        prop::collection::vec(gate, 2),
        prop::collection::vec(meter, 2),
        prop::collection::vec(scheduler, 2),
        prop::collection::vec(group, 2),
    )
        .prop_map(|(node, filters, gates, meters, schedulers, groups)| {
            (node, Policing { filters, gates, meters, schedulers, groups, ..Policing::default() })
        });
    prop::collection::vec(table, 1..4)
}

/// Adds the tables to nodes, at most one to each.
pub fn add(plan: &mut Plan, tables: Vec<(prop::sample::Index, Policing)>) {
    for (node, table) in tables {
        let node = node.index(plan.nodes.len()) as u32;
        if plan.policing.iter().all(|policing| policing.node != node) {
            plan.policing.push(Policing { node, ..table });
        }
    }
}
