//! Every mechanism with every other one: rules that hold in each run of each plan.
//!
//! The long set prints the pairs of mechanisms that occurred together: `PROPTEST_CASES=20000 cargo test
//! --release -p tsn-sim --test everything -- --include-ignored --nocapture`.

use crate::common::mechanisms::{MECHANISMS, used};
use crate::common::*;
use crate::gate_states::gates_at;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::collections::HashMap;
use std::ops::ControlFlow;
use tsn_observation::Sighting;
use tsn_plan::{ChildQdisc, Clocks, Fault, Plan, TaprioMode};
use tsn_sim::RunCounters;

/// The number of cases of a property, or the number in `PROPTEST_CASES`.
fn cases(few: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    ProptestConfig { cases: asked.unwrap_or(few), failure_persistence: None, ..ProptestConfig::default() }
}

/// Frames and member streams are accounted for: per stream, in total, and per fault.
fn every_frame_is_accounted_for(plan: &Plan, counters: &RunCounters) {
    assert_conserved(counters);
    for stream in &counters.streams {
        let gone = stream.dropped_at_talker + stream.dropped_in_network + stream.lost_to_faults;
        let kept = stream.delivered.values().sum::<u64>() + stream.in_network_at_end;
        let made = stream.released + stream.replicated;
        // Frames in the network at the end are counted in total.
        assert!(made >= gone + stream.eliminated + stream.filtered + kept, "{stream:#?}");
    }
    let faulted: u64 = counters.ports.iter().map(|port| port.dropped_faults).sum();
    let of_streams: u64 = counters.streams.iter().map(|stream| stream.lost_to_faults).sum();
    // Ports count PTP messages, too.
    let ptp = plan.clocks.as_ref().is_some_and(|clocks| clocks.gptp.is_some());
    assert!(if ptp { faulted >= of_streams } else { faulted == of_streams }, "{faulted}, {of_streams}");
    assert_eq!(counters.faults.len(), plan.faults.len());
    for (port, counted) in plan.ports.iter().zip(&counters.ports) {
        for class in &counted.classes {
            assert!(class.sent_frames <= class.enqueued_frames);
            let own = &port.classes[usize::from(class.class)];
            assert!(own.limit_frames.is_none_or(|limit| class.most_frames <= u64::from(limit)));
        }
    }
    for buffer in &counters.buffers {
        let own = plan.nodes.iter().find(|node| node.name == buffer.node).unwrap();
        assert!(buffer.most_octets <= own.buffer.as_ref().unwrap().octets);
    }
}

/// Whether all stamps are from one perfect clock.
fn is_timely(plan: &Plan) -> bool {
    plan.clocks.is_none()
}

/// Stamps of one kind at one port, in their order of output.
fn seen(sightings: &[Sighting], port: usize, place: usize) -> impl Iterator<Item = &Sighting> {
    sightings.iter().filter(move |one| usize::from(one.tap) == port * 4 + place)
}

/// Without pre-emption, each frame is alone on the wire, with a gap after it. (A frame that a fault cuts has
/// no end.)
fn frames_do_not_overlap(plan: &Plan, sightings: &[Sighting]) {
    for (number, port) in plan.ports.iter().enumerate().filter(|(_, port)| port.preemption.is_none()) {
        let octet_ns = 8_000_000_000 / port.rate_bps as i64;
        let mut begins: Vec<i64> = seen(sightings, number, 1).filter_map(|one| one.t_ns).collect();
        begins.sort_unstable();
        for one in seen(sightings, number, 2) {
            let end = one.t_ns.unwrap();
            let begin = end - i64::from(one.octets) * octet_ns;
            let free = end + (AFTER + BEFORE) * octet_ns;
            let within = &begins[begins.partition_point(|at| *at < begin)..];
            let within = &within[..within.partition_point(|at| *at < free)];
            assert_eq!(within, [begin], "{}: {one:?} is not alone", port.name);
        }
    }
}

/// The frames of a stream keep their order at a port, unless a mechanism may change it.
fn streams_keep_their_order(plan: &Plan, sightings: &[Sighting]) {
    let child = |child: &ChildQdisc| matches!(child, ChildQdisc::Etf { .. });
    let sorts = plan.ports.iter().filter_map(|port| port.qdisc.as_ref()).any(|qdisc| {
        qdisc.children.iter().any(child)
            || qdisc.taprio.as_ref().is_some_and(|own| own.mode == TaprioMode::TxtimeAssist)
    });
    let late = |fault: &Fault| matches!(fault, Fault::Delay { .. } | Fault::Duplicate { .. });
    let chooses = used(plan)[MECHANISMS.iter().position(|name| *name == "ipv").unwrap()];
    if sorts || chooses || plan.faults.iter().any(late) {
        return;
    }
    let mut last: HashMap<(u16, u32), u64> = HashMap::new();
    for one in sightings.iter().filter(|one| usize::from(one.tap) < plan.ports.len() * 4) {
        // Member streams overtake each other, and PTP messages belong to no stream.
        let stream = plan.streams.get(one.stream as usize);
        if stream.is_none_or(|stream| stream.redundancy.is_some()) {
            continue;
        }
        let before = last.insert((one.tap, one.stream), one.seq);
        assert!(before.is_none_or(|before| before < one.seq), "{one:?} behind {before:?}");
    }
}

/// No bit passes a closed gate, by the clock of the port's node.
fn gates_are_kept(plan: &Plan, sightings: &[Sighting]) {
    let chooses = used(plan)[MECHANISMS.iter().position(|name| *name == "ipv").unwrap()];
    let steered = |clocks: &Clocks| {
        clocks.gptp.is_some()
            || !clocks.faults.is_empty()
            || clocks.nodes.iter().any(|clock| !clock.changes.is_empty() || clock.wander.is_some())
    };
    if chooses || plan.clocks.as_ref().is_some_and(steered) {
        return;
    }
    for (number, port) in plan.ports.iter().enumerate() {
        let Some(gates) = &port.gates else { continue };
        let wrong = |fault: &Fault| matches!(fault, Fault::Schedule { port, .. } if *port as usize == number);
        // Gates do not reach a frame that waits in a transmit buffer.
        if plan.faults.iter().any(wrong) || port.preemption.is_some() || port.transmit_buffer.is_some() {
            continue;
        }
        let octet_ns = 8_000_000_000 / port.rate_bps as i64;
        let places = if gates.unguarded { 1..2 } else { 1..3 };
        for place in places {
            for one in seen(sightings, number, place) {
                let class = port.pcp_to_class[usize::from(one.pcp)];
                let t = one.t_ns.unwrap();
                // The first bit and the last bit; a clock with drift may count a ns more or less.
                let at = if place == 1 { t - BEFORE * octet_ns } else { t - 1 };
                let near = if is_timely(plan) { at..=at } else { at - 60..=at + 60 };
                let open = near.into_iter().any(|at| gates_at(gates, at) >> class & 1 == 1);
                assert!(open, "{}: {one:?} met a closed gate", port.name);
            }
        }
    }
}

/// The stamps of one tap are in order of time. For departures this holds for all frames; for arrivals for
/// each stream. A frame with a merge or a filter ahead is output at its arrival, any other frame at its
/// departure.
fn taps_are_in_order(plan: &Plan, sightings: &[Sighting]) {
    let late = |fault: &Fault| matches!(fault, Fault::Delay { .. } | Fault::Duplicate { .. });
    let late = plan.faults.iter().any(late);
    let mut last: HashMap<(u16, Option<(u32, u8)>), i64> = HashMap::new();
    for one in sightings.iter().filter(|one| usize::from(one.tap) < plan.ports.len() * 4) {
        let (port, inbound) = (&plan.ports[usize::from(one.tap) / 4], one.tap % 4 == 3);
        // A frame that may be interrupted is output after its last part has left.
        let from = if inbound { &plan.ports[port.peer as usize] } else { port };
        if from.preemption.is_some() || (inbound && late) {
            continue;
        }
        let t = one.t_ns.unwrap();
        // The stages of software are output as soon as they are known.
        let software = one.tap % 4 == 0 && plan.nodes[port.node as usize].host.is_some();
        let own = (inbound || software).then_some((one.stream, one.copy & !tsn_observation::ELIMINATED));
        let before = last.insert((one.tap, own), t);
        assert!(before.is_none_or(|before| before <= t), "{one:?} after {before:?}");
    }
}

/// The number of events depends only on frames and clocks.
fn events_are_bounded(plan: &Plan, counters: &RunCounters) {
    let frames: u64 = counters.streams.iter().map(|one| one.released + one.replicated).sum();
    let span = plan.duration_ns + plan.drain_ns;
    let entries: u64 = plan
        .ports
        .iter()
        .filter_map(|port| port.gates.as_ref())
        .flat_map(|gates| gates.lists())
        .map(|list| (span / list.cycle_ns + 1) * list.entries.len() as u64)
        .sum();
    let periods = span / 100_000 * (plan.nodes.len() + plan.ports.len()) as u64;
    let most = 20 * (counters.frame_hops + frames) + 4 * entries + 20 * periods + 1_000;
    assert!(counters.events <= most, "{} events, {most} at most", counters.events);
}

/// The plan with two more nodes that communicate only with each other.
fn with_strangers(plan: &Plan) -> Plan {
    let mut net = Net { plan: plan.clone() };
    let [x, y] = ["x", "y"].map(|name| net.node(name, 1_000));
    net.link(x, y, GIGABIT, 0);
    net.stream(
        "stranger",
        &[x, y],
        3,
        tsn_plan::Pattern::Poisson { mean_interval_ps: 20_000_000 },
        frame(500),
    );
    if let Some(clocks) = &mut net.plan.clocks {
        let one = clocks.nodes[0].clone();
        clocks.nodes.extend([one.clone(), one]);
        if let Some(bmca) = clocks.gptp.as_mut().and_then(|gptp| gptp.bmca.as_mut()) {
            let quality = bmca.clocks[0];
            bmca.clocks.extend([quality; 2]);
        }
    }
    net.plan
}

fn keeps_the_rules(plan: &Plan) {
    plan.check().unwrap();
    let (sightings, counters) = run(plan);
    every_frame_is_accounted_for(plan, &counters);
    if is_timely(plan) {
        frames_do_not_overlap(plan, &sightings);
        taps_are_in_order(plan, &sightings);
    }
    streams_keep_their_order(plan, &sightings);
    gates_are_kept(plan, &sightings);
    events_are_bounded(plan, &counters);
    let again = run(plan);
    assert!(again.0 == sightings && again.1 == counters, "the same plan ran differently");
    // Independent nodes have no effect on filters and saturating talkers either; PTP messages have numbers
    // after all streams.
    let more = with_strangers(plan);
    more.check().unwrap();
    let (mut beside, others) = run(&more);
    let old = plan.streams.len() as u32;
    let taps = plan.taps.len();
    beside.retain(|one| usize::from(one.tap) < taps);
    beside.iter_mut().filter(|one| one.stream > old).for_each(|one| one.stream -= 1);
    let first = sightings.iter().zip(&beside).find(|(one, other)| one != other);
    assert!(beside == sightings, "strangers changed {first:?} {} {}", sightings.len(), beside.len());
    assert!(others.streams[..old as usize] == counters.streams[..], "strangers changed what is counted");
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn every_run_keeps_the_rules(plan in anything::plan()) {
        keeps_the_rules(&plan);
    }

    /// A Plan that is written and read again gives the same text, whatever it contains.
    #[test]
    fn every_plan_is_its_text(plan in anything::plan()) {
        let text = serde_json::to_string(&plan).unwrap();
        let read = Plan::read(&text).unwrap();
        prop_assert_eq!(serde_json::to_string(&Plan { hash: plan.hash.clone(), ..read }).unwrap(), text);
    }
}

/// Every number of a document.
fn numbers(value: &mut serde_json::Value) -> Vec<&mut serde_json::Value> {
    match value {
        serde_json::Value::Number(_) => vec![value],
        serde_json::Value::Array(all) => all.iter_mut().flat_map(numbers).collect(),
        serde_json::Value::Object(all) => all.values_mut().flat_map(numbers).collect(),
        _ => Vec::new(),
    }
}

/// Runs until some events are processed.
fn begin(plan: &Plan) {
    let mut left = 3;
    let mut watch = |_| {
        left -= 1;
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let counters = tsn_sim::Simulation::new(plan).map(|run| run.run(&mut Vec::new(), &mut watch));
    if let Ok(counters) = counters {
        assert_conserved(&counters.unwrap());
    }
}

/// Numbers at limits of types.
const EDGES: [i128; 14] = [
    0,
    1,
    -1,
    2,
    255,
    65_535,
    65_536,
    1_000_000,
    864_000_000_000_000,
    864_000_000_000_001,
    4_294_967_295,
    9_223_372_036_854_775_807,
    -9_223_372_036_854_775_808,
    18_446_744_073_709_551_615,
];

proptest! {
    #![proptest_config(cases(150))]

    /// A text with one or two unreasonable numbers is an error, or it is a Plan that runs.
    #[test]
    fn a_hostile_number_is_refused_or_runs(
        plan in anything::plan(), places in prop::collection::vec((any::<prop::sample::Index>(), 0..14_usize), 1..3),
    ) {
        let mut document = serde_json::to_value(&plan).unwrap();
        let mut numbers = numbers(&mut document);
        for (place, edge) in places {
            let place = place.index(numbers.len());
            let edge = EDGES[edge];
            *numbers[place] = u64::try_from(edge).map_or_else(|_| (edge as i64).into(), Into::into);
        }
        if let Ok(plan) = Plan::read(&document.to_string()) {
            begin(&plan);
        }
    }
}

proptest! {
    #![proptest_config(cases(4))]

    /// The observations of an interrupted run are the first ones of the complete run, and its frames are
    /// accounted for.
    #[test]
    fn an_interrupted_run_is_the_beginning(mut plan in anything::plan(), reports in 1..4u32) {
        plan.duration_ns *= 30;
        plan.streams.iter_mut().for_each(|stream| stream.stop_ns = plan.duration_ns);
        let (whole, _) = run(&plan);
        let mut left = reports;
        let mut watch = |_| {
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let mut part = Vec::new();
        let counters = tsn_sim::Simulation::new(&plan).unwrap().run(&mut part, &mut watch).unwrap();
        assert_conserved(&counters);
        prop_assert!(part[..] == whole[..part.len()]);
        prop_assert!(counters.interrupted || part.len() == whole.len());
    }
}

/// Prints how many of the random plans have each mechanism, and how often each pair occurs compared with
/// chance.
#[test]
#[ignore = "long: prints which pairs of mechanisms meet"]
fn pairs_that_meet() {
    let plans = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(4_000_u32);
    let mut runner = TestRunner::deterministic();
    let mut pairs = vec![[0_u32; MECHANISMS.len()]; MECHANISMS.len()];
    for _ in 0..plans {
        let found = used(&anything::plan().new_tree(&mut runner).unwrap().current());
        for (one, row) in pairs.iter_mut().enumerate().filter(|(one, _)| found[*one]) {
            row.iter_mut()
                .enumerate()
                .for_each(|(other, count)| *count += u32::from(found[one] && found[other]));
        }
    }
    println!(
        "{plans} plans; of each mechanism: share of them in percent, then with which others it never meets,"
    );
    println!("then with which it meets less than half as often as by chance (percent of that)");
    for (one, row) in pairs.iter().enumerate() {
        let chance = |other: usize| f64::from(row[one]) * f64::from(pairs[other][other]) / f64::from(plans);
        let never: Vec<&str> =
            (0..MECHANISMS.len()).filter(|other| row[*other] == 0).map(|other| MECHANISMS[other]).collect();
        let seldom: Vec<String> = (0..MECHANISMS.len())
            .filter(|other| row[*other] > 0 && f64::from(row[*other]) < chance(*other) / 2.0)
            .map(|other| {
                format!("{} {:.0}", MECHANISMS[other], f64::from(row[other]) / chance(other) * 100.0)
            })
            .collect();
        let share = f64::from(row[one]) / f64::from(plans) * 100.0;
        println!("{:16} {share:5.1} never: {never:?} seldom: {seldom:?}", MECHANISMS[one]);
    }
}

/// Of some hundred plans, the one with most mechanisms, as a seed for fuzzing the reader of Plans.
#[test]
#[ignore = "writes fuzz/corpus/plan/everything.json"]
fn a_seed_for_fuzzing() {
    let mut runner = TestRunner::deterministic();
    let plans = (0..2_000).map(|_| anything::plan().new_tree(&mut runner).unwrap().current());
    let mechanisms = |plan: &Plan| used(plan).iter().filter(|used| **used).count();
    let mut best = plans.max_by_key(mechanisms).unwrap();
    best.taps.truncate(2);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/plan/everything.json");
    std::fs::write(path, serde_json::to_string_pretty(&best).unwrap()).unwrap();
}
