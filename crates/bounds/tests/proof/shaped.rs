//! ATS schedulers for every flow of random plans, in true time and by oscillators.

use crate::common::shaped::shape_as;
use proptest::prelude::*;
use tsn_plan::{Further, Plan};

/// The rates and bursts of schedulers in quarters of the least ones, whether bursts contain the jitter of releases, and
/// by how much processing times differ.
#[derive(Clone, Debug)]
pub struct Schedulers {
    more: [u64; 2],
    jitter: bool,
    further_ns: Option<u64>,
    cut_through: bool,
    residence_ns: u64,
}

pub fn schedulers() -> impl Strategy<Value = Schedulers> {
    let rates = prop_oneof![3 => Just(4), 2 => 5..9u64];
    let bursts = prop_oneof![2 => Just(4), 1 => 5..12u64];
    let further = prop::option::weighted(0.2, 1..5_000u64);
    let residence = prop_oneof![4 => Just(1_000_000_000_000), 1 => 100_000..1_000_000u64];
    (rates, bursts, any::<bool>(), further, prop::bool::weighted(0.2), residence).prop_map(
        |(rate, burst, jitter, further_ns, cut_through, residence_ns)| Schedulers {
            more: [rate, burst],
            jitter,
            further_ns,
            cut_through,
            residence_ns,
        },
    )
}

pub fn add(plan: &mut Plan, own: &Schedulers) {
    shape_as(plan, own.more, own.jitter);
    for group in plan.policing.iter_mut().flat_map(|table| &mut table.groups) {
        group.max_residence_ns = own.residence_ns;
    }
    for node in &mut plan.nodes {
        node.further = own.further_ns.map(|up_to_ns| Further::Uniform { up_to_ns });
        if own.cut_through && node.further.is_none() {
            node.cut_through_octets = Some(64);
        }
    }
}
