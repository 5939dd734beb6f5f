//! Clocks of nodes for random plans: that run free, wander, are set and jump, or are synchronised; every frame is compared
//! in true time, at each of its hops, and as clocks show it.

use crate::common::servo;
use crate::everything;
use proptest::prelude::*;
use std::collections::HashMap;
use std::io;
use tsn_bounds::Bounds;
use tsn_observation::{Passage, Sighting, Sink};
use tsn_plan::{Change, ClockFault, Clocks, Gptp, NodeClock, Plan, Servo, Wander};
use tsn_sim::{Simulation, unwatched};

/// The clock of one node.
#[derive(Clone, Debug)]
struct Own {
    offset_ns: i64,
    deviation_ppt: i64,
    changes: Vec<(u64, i64)>,
    wander: Option<(u64, u64)>,
    /// When it is set, and by how much.
    steps: Vec<(u64, i64)>,
    /// When its frequency jumps, for how long, and by how much.
    jump: Option<(u64, u64, i64)>,
}

/// The clocks of a plan.
#[derive(Clone, Debug)]
pub struct OnClocks {
    nodes: Vec<Own>,
    /// The priority of PTP, its interval, and how much a servo steers at most.
    ptp: Option<(u8, u64, i64)>,
}

/// `most_ppt`: the greatest deviation; `set_ns`: the longest step.
fn own(most_ppt: i64, set_ns: i64) -> impl Strategy<Value = Own> {
    let changes = prop::collection::vec((0..3_000_000u64, -most_ppt..=most_ppt), 0..4);
    let wander = prop::option::weighted(0.3, (1..2_000_000u64, 100_000..400_000u64));
    let steps = prop::collection::vec((0..3_000_000u64, -set_ns..=set_ns), 0..8);
    let steps = prop_oneof![1 => Just(Vec::new()), 1 => steps];
    let jump = prop::option::weighted(0.3, (0..2_000_000u64, 1_000..1_000_000u64, -most_ppt..=most_ppt));
    (-2_000_000..2_000_000i64, -most_ppt..=most_ppt, changes, wander, steps, jump).prop_map(
        |(offset_ns, deviation_ppt, mut changes, wander, steps, jump)| {
            changes.sort_unstable();
            changes.dedup_by_key(|change| change.0);
            Own { offset_ns, deviation_ppt, changes, wander, steps, jump }
        },
    )
}

/// Free clocks, clocks with faults, and synchronised ones.
pub fn on_clocks() -> impl Strategy<Value = OnClocks> {
    let all = |most_ppt: i64, set_ns: i64| prop::collection::vec(own(most_ppt, set_ns), 9);
    let calm = |own: Own| Own { wander: None, steps: Vec::new(), jump: None, ..own };
    let free = all(200_000_000, 1).prop_map(move |nodes| nodes.into_iter().map(calm).collect());
    let coarse = all(1_000_000_000, 1).prop_map(move |nodes| nodes.into_iter().map(calm).collect());
    let wrong = prop_oneof![all(100_000_000, 20_000), all(1_000_000_000, 2_000)];
    let near = |own: Own| Own { offset_ns: own.offset_ns / 5_000, ..own };
    let steered = all(20_000_000, 300).prop_map(move |nodes| nodes.into_iter().map(near).collect());
    let ptp = (0..8u8, 100_000..500_000u64, prop::sample::select(&[100_000, 1_000_000, 62_499_999i64][..]));
    prop_oneof![
        2 => free.prop_map(|nodes| OnClocks { nodes, ptp: None }),
        1 => coarse.prop_map(|nodes| OnClocks { nodes, ptp: None }),
        3 => wrong.prop_map(|nodes| OnClocks { nodes, ptp: None }),
        3 => (steered, ptp).prop_map(|(nodes, ptp)| OnClocks { nodes, ptp: Some(ptp) }),
    ]
}

/// Adds clocks, with the promise that the run just keeps.
pub fn add(plan: &mut Plan, own: &OnClocks) -> Result<(), String> {
    let all = || (0..plan.nodes.len() as u32).zip(own.nodes.iter().cycle());
    let clock = |one: &Own| NodeClock {
        offset_ns: one.offset_ns,
        deviation_ppt: one.deviation_ppt,
        changes: one
            .changes
            .iter()
            .map(|(at_ns, deviation_ppt)| Change { at_ns: *at_ns, deviation_ppt: *deviation_ppt })
            .collect(),
        wander: one.wander.map(|(most_ppt, every_ns)| Wander { most_ppt, every_ns }),
        granularity_ns: 1,
        jitter_ns: 0,
    };
    let wrong = |(node, one): (u32, &Own)| {
        let steps = one.steps.iter().map(|(at_ns, by_ns)| ClockFault::ClockStep {
            node,
            at_ns: *at_ns,
            by_ns: *by_ns,
        });
        let jump = one.jump.map(|(from_ns, long, by_ppt)| ClockFault::FrequencyJump {
            node,
            from_ns,
            until_ns: from_ns + long,
            by_ppt,
        });
        steps
            .chain(jump)
            .filter(|fault| {
                !matches!(
                    fault,
                    ClockFault::ClockStep { by_ns: 0, .. } | ClockFault::FrequencyJump { by_ppt: 0, .. }
                )
            })
            .collect::<Vec<_>>()
    };
    // Each node but the first one follows one that is nearer to it.
    let leads_back = |node: u32| {
        let back = |port: &tsn_plan::Port| port.node == node && plan.ports[port.peer as usize].node < node;
        plan.ports.iter().position(back).map(|port| port as u32)
    };
    let gptp = own.ptp.map(|(pcp, sync_interval_ns, max_frequency_ppb)| Gptp {
        grandmaster: 0,
        slaves: (1..plan.nodes.len() as u32).filter_map(leads_back).collect(),
        sync_interval_ns,
        pdelay_interval_ns: sync_interval_ns + 100_000,
        pcp,
        wakeup_ns: 2_000,
        ieee_1588: None,
        one_step: false,
        visible: false,
        servo: Some(Servo { max_frequency_ppb, ..servo() }),
        bmca: None,
    });
    // In a long time a random walk goes far.
    plan.drain_ns = 20_000_000;
    plan.clocks = Some(Clocks {
        nodes: all().map(|(_, one)| clock(one)).collect(),
        record_ns: 1_000_000,
        within_ns: None,
        gptp,
        faults: all().flat_map(wrong).collect(),
    });
    plan.check().map_err(|error| error.to_string())?;
    *plan = everything::promising(plan);
    Ok(())
}

/// All passages of a run.
#[derive(Default)]
struct Passages(Vec<Passage>);

impl Sink for Passages {
    const PASSAGES: bool = true;

    fn sight(&mut self, _sighting: Sighting) -> io::Result<()> {
        Ok(())
    }

    fn passage(&mut self, passage: Passage) -> io::Result<()> {
        self.0.push(passage);
        Ok(())
    }
}

/// Compares every frame with its bounds; `ratios` gets the bound and the longest delay of each flow at each hop.
pub fn watch(plan: &Plan, found: &Bounds, ratios: &mut Vec<f64>) -> Result<(), String> {
    let mut all = Passages::default();
    Simulation::new(plan).unwrap().run(&mut all, &mut unwatched).unwrap();
    // By stream and port: frames in their queue, until their last bit is at the other end.
    let mut seen: HashMap<(u32, u32), (i64, i64)> = HashMap::new();
    for one in &all.0 {
        let Some(arrived_ns) = one.arrived_ns else { continue };
        let taken = arrived_ns - one.queued_ns;
        let known = seen.entry((one.stream, one.port)).or_insert((taken, taken));
        *known = (known.0.min(taken), known.1.max(taken));
    }
    let flows = (0..).zip(&plan.streams).flat_map(|(number, one)| one.listeners.iter().map(move |_| number));
    for (number, flow) in flows.zip(&found.flows) {
        for hop in &flow.hops {
            let port = plan.ports.iter().position(|port| port.name == hop.port).unwrap() as u32;
            let Some((least, most)) = seen.get(&(number, port)).copied() else { continue };
            // Instants are whole ns.
            if (least + 1) * 1_000 < hop.lower_ps {
                return Err(format!("{} at {}: {least} ns, not {} ps", flow.stream, hop.port, hop.lower_ps));
            }
            let Some(upper) = hop.upper_ps else { continue };
            if (most - 1) * 1_000 > upper {
                return Err(format!("{} at {}: {most} ns, not {upper} ps", flow.stream, hop.port));
            }
            ratios.push(upper as f64 / (most.max(1) * 1_000) as f64);
        }
    }
    everything::watch(plan, found).map(|_| ())
}
