//! Filters, meters, stream gates and schedulers with redundancy, faults, clocks, shared memory, learning and
//! varying processing times.

use crate::common::policing::{add as add_tables, filter, policing};
use crate::common::wrong::{add as add_fault, fault, two_paths, wrongs};
use crate::common::*;
use proptest::prelude::*;
use tsn_plan::{
    AtsGroup, AtsScheduler, Buffer, Clocks, Fault, Further, Learning, LossModel, NodeClock, NodeKind, Plan,
    Policing, Preemption, Route, StreamFilter,
};

/// Other mechanisms, each with its own probability.
#[derive(Clone, Debug)]
struct Beside {
    ppm: Option<Vec<i64>>,
    further: Vec<Option<u64>>,
    buffers: Vec<Option<(u64, Option<u32>)>>,
    cut: Option<u32>,
    express: Option<u8>,
}

fn beside() -> impl Strategy<Value = Beside> {
    let buffer = (1_000..20_000_u64, prop::option::of(200..4_000_u32));
    let parts = (
        prop::option::of(prop::collection::vec(-200..200_i64, 7)),
        prop::collection::vec(prop::option::of(1..30_000_u64), 7),
        prop::collection::vec(prop::option::of(buffer), 7),
        prop::option::weighted(0.3, 18..1_000_u32),
        prop::option::weighted(0.3, any::<u8>()),
    );
    parts.prop_map(|(ppm, further, buffers, cut, express)| Beside { ppm, further, buffers, cut, express })
}

fn clocks(plan: &Plan, ppm: &[i64]) -> Clocks {
    let clock = |place: usize| NodeClock {
        offset_ns: place as i64 * 1_000,
        deviation_ppt: ppm[place % ppm.len()] * 1_000_000,
        ..NodeClock::default()
    };
    let nodes = (0..plan.nodes.len()).map(clock).collect();
    Clocks { nodes, record_ns: 1_000_000_000, within_ns: None, gptp: None, faults: Vec::new() }
}

/// Adds each of them if the Plan stays valid.
fn set(plan: &mut Plan, beside: &Beside) {
    let mut change = |change: &dyn Fn(&mut Plan)| {
        let before = plan.clone();
        change(plan);
        if plan.check().is_err() {
            *plan = before;
        }
    };
    change(&|plan| plan.clocks = beside.ppm.as_ref().map(|ppm| clocks(plan, ppm)));
    for place in 0..7 {
        change(&|plan| {
            if let Some(node) = plan.nodes.get_mut(place) {
                node.further = beside.further[place].map(|up_to_ns| Further::Uniform { up_to_ns });
            }
        });
        change(&|plan| {
            if let Some(node) = plan.nodes.get_mut(place) {
                let buffer = |(octets, alpha_permille)| Buffer { octets, alpha_permille };
                node.buffer = beside.buffers[place].map(buffer);
            }
        });
    }
    change(&|plan| plan.nodes.iter_mut().for_each(|node| node.cut_through_octets = beside.cut));
    change(&|plan| {
        for port in &mut plan.ports {
            port.preemption = beside.express.map(|express| Preemption { express, ..Preemption::default() });
        }
    });
}

fn accounts(plan: &Plan) -> tsn_sim::RunCounters {
    plan.check().unwrap();
    let (sightings, counters) = run(plan);
    let faulted: u64 = counters.ports.iter().map(|port| port.dropped_faults).sum();
    assert_eq!(faulted, counters.streams.iter().map(|stream| stream.lost_to_faults).sum::<u64>());
    let again = run(plan);
    assert!(again.0 == sightings && again.1 == counters, "the same plan ran differently");
    counters
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// With any filters, faults and other mechanisms: every frame is accounted for.
    #[test]
    fn every_frame_is_accounted_for(
        mut plan in random::plan(), tables in policing(), beside in beside(), wrongs in wrongs(6),
    ) {
        add_tables(&mut plan, tables);
        set(&mut plan, &beside);
        let ports: Vec<u32> = (0..plan.ports.len() as u32).collect();
        for wrong in &wrongs {
            let fault = fault(&plan, &ports, wrong);
            add_fault(&mut plan, fault);
        }
        accounts(&plan);
    }

    /// Where member streams part and merge, with any filters, faults and other mechanisms: every frame is
    /// accounted for.
    #[test]
    fn every_copy_is_accounted_for(
        others in prop::collection::vec((0..8u8, 30_000..200_000u64, 64..1_500u32), 0..5),
        tables in policing(), beside in beside(), wrongs in wrongs(4),
    ) {
        let mut plan = two_paths([GIGABIT; 2], &others);
        add_tables(&mut plan, tables);
        set(&mut plan, &beside);
        let ports: Vec<u32> = (0..plan.ports.len() as u32).collect();
        for wrong in &wrongs {
            let fault = fault(&plan, &ports, wrong);
            add_fault(&mut plan, fault);
        }
        accounts(&plan);
    }
}

/// A scheduler for the only stream of a line of three nodes, which passes a frame of 10 000 bit every 100 us.
fn shaped(octets: &[u32]) -> Net {
    let mut net = Net::new(1_000_000);
    let line = net.line(3, 1_000, GIGABIT, 0);
    let stream = net.stream("cam", &line, 5, periodic(1_000_000, 0), frame(1_230));
    stream.size = tsn_plan::Size::Units { octets: octets.to_vec(), most_per_frame: 1_000, overhead: 230 };
    net.plan.policing = vec![Policing {
        node: line[1],
        filters: vec![StreamFilter { scheduler: Some(0), ..filter("cam") }],
        schedulers: vec![AtsScheduler { cir_bps: 100_000_000, cbs_bits: 10_000, group: 0 }],
        groups: vec![AtsGroup { name: "g".into(), max_residence_ns: 10_000_000 }],
        ..Policing::default()
    }];
    net
}

#[test]
fn who_waits_in_a_node_that_goes_down_is_lost() {
    // The last bits of five frames arrive 9 904 ns after the release and then every 10 us; the frames become
    // eligible every 100 us.
    let mut net = shaped(&[5_000]);
    net.plan.faults = vec![Fault::NodeDown { node: 1, from_ns: 250_000, until_ns: 260_000 }];
    let counters = accounts(&net.plan);
    assert_eq!(counters.streams[0].delivered["n2"], 3);
    assert_eq!(counters.streams[0].lost_to_faults, 2);
    assert_eq!(counters.faults[0].frames, 2);
}

#[test]
fn who_waits_to_become_eligible_takes_shared_memory() {
    // The first frame leaves at once. Of the four others, memory for three full frames keeps three, or two if
    // a queue may use no more than the memory that is free then.
    for (alpha_permille, delivered) in [(None, 4), (Some(100_000), 4), (Some(1_000), 3)] {
        let mut net = shaped(&[5_000]);
        net.plan.nodes[1].buffer = Some(Buffer { octets: 3 * 1_230 + 100, alpha_permille });
        let counters = accounts(&net.plan);
        assert_eq!(counters.streams[0].delivered["n2"], delivered, "{alpha_permille:?}");
        assert_eq!(counters.buffers[0].dropped_frames, 5 - delivered, "{alpha_permille:?}");
    }
}

#[test]
fn eligibility_counts_from_the_least_processing_time() {
    let mut net = shaped(&[3_000]);
    let tap = net.tap(net.port(1, 2), tsn_plan::Stage::Tx, tsn_plan::Point::Start);
    let steady = stamps(&run(&net.plan).0, tap, 0);
    net.plan.nodes[1].further = Some(Further::List { values_ns: vec![150_000], counts: Vec::new() });
    let late = stamps(&run(&net.plan).0, tap, 0);
    // The second frame is eligible before it is in its queue, the third one is in the queue before.
    let queued = |n: i64| 9_904 + 10_000 * n + 1_000 + 64 + 150_000;
    assert_eq!(late, [queued(0), queued(1).max(queued(0) + 10_000), steady[2].max(queued(2))]);
}

#[test]
fn a_filter_drops_nothing_that_was_damaged_before() {
    // Cut-through nodes forward damaged frames, except a node that has a filter for them.
    let (mut net, line) = Net::row(10_000_000, 4);
    net.stream("cam", &line, 5, periodic(100_000, 0), frame(1_000));
    net.plan.nodes.iter_mut().for_each(|node| node.cut_through_octets = Some(64));
    net.plan.faults = vec![Fault::Loss {
        port: net.port(line[0], line[1]),
        from_ns: 0,
        until_ns: 10_000_000,
        model: LossModel::BitErrors { per_petabit: 50_000_000_000 },
    }];
    let without = accounts(&net.plan);
    net.plan.policing = vec![Policing { node: line[1], filters: vec![filter("any")], ..Policing::default() }];
    let with = accounts(&net.plan);
    let (lost, whole) = (with.streams[0].lost_to_faults, with.streams[0].delivered["n3"]);
    assert!(lost > 10);
    assert_eq!(with.policing[0].filters[0].matching_frames, whole);
    assert_eq!(without.streams[0].delivered["n3"], whole);
    let at =
        |counters: &tsn_sim::RunCounters| counters.ports[net.port(line[0], line[1]) as usize].dropped_faults;
    assert_eq!((at(&with), at(&without)), (lost, 0));
}

#[test]
fn what_a_filter_drops_has_taught() {
    // Stations a, b, c around a bridge; b's frames to a never pass, but teach the bridge the address of b.
    let mut net = Net::new(10_000_000);
    net.node("bridge", 0);
    for name in ["a", "b", "c"] {
        let station = net.node(name, 0);
        net.link(0, station, GIGABIT, 0);
    }
    net.plan.nodes[0].learning = Some(Learning { ageing_ns: 1_000_000_000_000 });
    net.plan.nodes[0].kind = NodeKind::Bridge;
    let to_c = net.port(0, 3);
    net.stream("there", &[1, 0, 2], 0, periodic(100_000, 0), frame(64)).flood =
        vec![Route { port: to_c, parent: Some(0) }];
    net.stream("back", &[2, 0, 1], 0, periodic(100_000, 5_050_000), frame(64)).flood =
        vec![Route { port: to_c, parent: Some(0) }];
    let sent_to_c = |plan: &Plan| -> u64 {
        accounts(plan).ports[to_c as usize].classes.iter().map(|class| class.sent_frames).sum()
    };
    assert_eq!(sent_to_c(&net.plan), 51);
    let drops = StreamFilter { streams: vec![1], max_sdu_octets: Some(0), ..filter("back") };
    net.plan.policing = vec![Policing { node: 0, filters: vec![drops], ..Policing::default() }];
    assert_eq!(sent_to_c(&net.plan), 51);
    // Frames that are flooded to c pass c's filters.
    let drops = StreamFilter { max_sdu_octets: Some(0), ..filter("any") };
    net.plan.policing = vec![Policing { node: 3, filters: vec![drops], ..Policing::default() }];
    let counters = accounts(&net.plan);
    assert_eq!(counters.policing[0].filters[0].not_passing_sdu, 51);
}
