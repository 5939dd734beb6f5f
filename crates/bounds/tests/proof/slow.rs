//! ATS schedulers that have hardly enough rate and burst, by oscillators that are as far off as they may be for the whole
//! run: the talkers are fast and the bridges slow, or any of them, and some turn to the other extreme.
//!
//! Each of these terms of the bounds, left out alone, makes the test fail (`model/shaped.rs`, `analysis/ats.rs`): that a
//! bucket fills more slowly by a slow oscillator; the wait that grows with the length of the run, all of that length, for
//! several flows, for one with a period and for one with a bucket; that it grows by the first step beyond the burst, and
//! by every step; the burst behind a scheduler, and what varying processing adds to it; that flows of one scheduler add
//! up; that a bucket holds the burst, and the largest frame; and that a flow is alone in its group. It does not see, as
//! bounds count them at both bridges or runs meet too little of them: that frames come faster behind a fast oscillator,
//! or closer when it changes, nor bursts of several flows, nor the longest delay of a group. `tests/all/ats.rs` has these.

use crate::common::shaped::shape;
use crate::common::{GIGABIT, Net, frame, periodic};
use proptest::prelude::*;
use tsn_plan::{Change, Clocks, Further, NodeClock, Plan};

const MS: u64 = 1_000_000;

/// Flows of several talkers over two bridges, with schedulers at both.
#[derive(Clone, Debug)]
pub struct Slow {
    /// Octets, and periods in us.
    flows: Vec<(u32, u64)>,
    ppm: i64,
    /// Whether the clock of each node is fast.
    fast: Vec<bool>,
    /// When the clocks of the bridges turn to the other extreme, us.
    turns: Option<u64>,
    /// By how much rates are above the least ones, in parts of 10^6, and what buckets hold, in parts of 1000 of a frame.
    more: u64,
    holds: u64,
    /// Which bridge alone has schedulers; both of them if it is another one.
    at: usize,
    /// Whether all flows share a scheduler at the second bridge.
    shared: bool,
    /// By how much the processing times of the bridges differ, us.
    further: Option<u64>,
}

pub fn slow() -> impl Strategy<Value = Slow> {
    let flows = (64..1_523u32, 100..300u64);
    let flows = prop_oneof![prop::collection::vec(flows.clone(), 1..3), prop::collection::vec(flows, 3..5)];
    let worst = Just([vec![false; 3], vec![true; 4]].concat());
    let fast = prop_oneof![2 => worst, 1 => prop::collection::vec(any::<bool>(), 7)];
    let ppm = prop_oneof![1 => Just(100i64), 2 => Just(1_000i64)];
    let more = prop_oneof![3 => Just(0u64), 1 => 1..2_100u64];
    let holds = prop_oneof![3 => Just(1_000u64), 1 => 900..1_000u64, 2 => 1_001..1_300u64];
    let (turns, further) =
        (prop::option::weighted(0.3, 5_000..25_000u64), prop::option::weighted(0.3, 1..250u64));
    let where_to = (0..3usize, any::<bool>());
    (flows, ppm, fast, turns, more, holds, where_to, further).prop_map(
        |(flows, ppm, fast, turns, more, holds, (at, shared), further)| Slow {
            at,
            flows,
            ppm,
            fast,
            turns,
            more,
            holds,
            shared,
            further,
        },
    )
}

pub fn plan(own: &Slow) -> Plan {
    let mut net = Net::new(30 * MS);
    net.plan.drain_ns = MS;
    let [a, b, sink] = ["a", "b", "sink"].map(|name| net.node(name, 1_000));
    for (from, to) in [(a, b), (b, sink)] {
        net.link(from, to, GIGABIT, 0);
    }
    for (number, (octets, period)) in own.flows.iter().enumerate() {
        let talker = net.node(&format!("t{number}"), 0);
        net.link(talker, a, GIGABIT, 0);
        net.stream(
            &format!("s{number}"),
            &[talker, a, b, sink],
            5,
            periodic(period * 1_000, 0),
            frame(*octets),
        );
    }
    let mut plan = net.plan;
    shape(&mut plan, 4);
    plan.policing.retain(|table| own.at > 1 || table.node as usize == own.at);
    for table in &mut plan.policing {
        for scheduler in &mut table.schedulers {
            scheduler.cir_bps = (scheduler.cir_bps * (1_000_000 + own.more)).div_ceil(1_000_000);
            scheduler.cbs_bits = (scheduler.cbs_bits * own.holds).div_ceil(1_000);
        }
        if own.shared && table.node == b {
            // All of them come over one link.
            let all = || table.schedulers.iter();
            let together = (all().map(|one| one.cir_bps).sum(), all().map(|one| one.cbs_bits).sum());
            (table.schedulers[0].cir_bps, table.schedulers[0].cbs_bits) = together;
            table.filters.iter_mut().for_each(|filter| filter.scheduler = Some(0));
        }
    }
    for node in [a, b] {
        plan.nodes[node as usize].further = own.further.map(|us| Further::Uniform { up_to_ns: us * 1_000 });
    }
    let clock = |(node, fast): (usize, bool)| {
        let deviation_ppt = if fast { own.ppm } else { -own.ppm } * 1_000_000;
        let turn = own.turns.filter(|_| node < 2);
        let changes = turn.map(|us| Change { at_ns: us * 1_000, deviation_ppt: -deviation_ppt });
        NodeClock { deviation_ppt, changes: changes.into_iter().collect(), ..NodeClock::default() }
    };
    let nodes = own.fast.iter().copied().cycle().take(plan.nodes.len()).enumerate().map(clock).collect();
    plan.clocks = Some(Clocks { nodes, record_ns: MS, within_ns: None, gptp: None, faults: Vec::new() });
    plan
}
