//! Schedules of random problems hold: a checker without shared code verifies them, and the simulator agrees
//! to the nanosecond.

use crate::common::{plan, saturate};
use proptest::prelude::*;
use std::collections::BTreeSet;
use tsn_observation::Sighting;
use tsn_plan::{Plan, Point, Stage, Tap};
use tsn_schedule::generators::{Family, Shape};
use tsn_schedule::{Effort, GateList, Placed, Problem, gate_lists, solve};
use tsn_sim::{Simulation, unwatched};
use tsn_verify::{Known, verify};

fn problem(shape: Shape, bridges: u32, streams: u32, queues: u8, periods_ns: Vec<i64>, seed: u64) -> Problem {
    let family = Family {
        shape,
        bridges,
        streams,
        queues,
        periods_ns,
        stations: 2,
        octets: (100, 1_522),
        seed,
        ..Family::default()
    };
    let mut problem = family.draw();
    for (number, stream) in problem.streams.iter_mut().enumerate() {
        if number % 3 == 0 {
            stream.frames = vec![stream.frames[0]; 1 + number % 2];
        }
        if number % 5 == 1 {
            stream.copies = 2;
        }
        let other = (stream.listeners[0] + 1) % problem.nodes.len() as u32;
        let station = !problem.nodes[other as usize].forwards;
        if number % 4 == 0 && stream.copies == 1 && other != stream.talker && station {
            stream.listeners.push(other);
        }
    }
    problem
}

/// A schedule, without streams whose links can have no gate list.
fn schedule(problem: &Problem) -> (Vec<Option<Placed>>, Vec<GateList>) {
    let outcome = solve(problem.clone(), &Effort { steps: 100, ..Effort::default() }).unwrap();
    let lists = gate_lists(problem, &outcome.placed);
    (outcome.placed, lists.into_iter().map(Result::unwrap).collect())
}

/// Gives every queue of scheduled frames the least limits with which the proof says that it has room.
fn just_room(plan: &mut Plan) {
    let queues: BTreeSet<(usize, usize)> = plan
        .streams
        .iter()
        .filter(|stream| stream.scheduled.is_some())
        .flat_map(|stream| stream.route.iter().map(|hop| (hop.port as usize, usize::from(stream.pcp))))
        .collect();
    for (frames, octets) in (1_u32..).map(|frames| (frames, u64::from(frames) * 100)) {
        for (port, class) in &queues {
            let class = &mut plan.ports[*port].classes[*class];
            (class.limit_frames, class.limit_octets) = (Some(frames), Some(octets.max(1_522)));
        }
        if verify(plan, &Known::default()).delays.iter().all(|delay| delay.full.is_none()) {
            return;
        }
    }
}

fn simulated(plan: &mut Plan) -> Result<(), TestCaseError> {
    let taps: Vec<Tap> = plan
        .ports
        .iter()
        .enumerate()
        .map(|(number, port)| Tap {
            name: format!("{} tx", port.name),
            port: number as u32,
            stage: Stage::Tx,
            point: Point::Start,
            granularity_ns: 1,
        })
        .collect();
    plan.taps = taps;
    plan.check().unwrap();
    let mut sightings: Vec<Sighting> = Vec::new();
    Simulation::new(plan).unwrap().run(&mut sightings, &mut unwatched).unwrap();
    let mut first = std::collections::HashMap::new();
    let (mut seen, mut sent) = (0, 0);
    for stream in plan.streams.iter().filter(|stream| stream.scheduled.is_some()) {
        let tsn_plan::Pattern::Periodic { period_ns, offset_ns, .. } = stream.pattern else { continue };
        let tsn_plan::Size::Units { octets, most_per_frame, .. } = &stream.size else { continue };
        let frames = octets[0].div_ceil(*most_per_frame) as usize;
        let releases = (stream.stop_ns - offset_ns).div_ceil(period_ns) as usize;
        sent += releases * frames * stream.route.len();
    }
    for one in &sightings {
        let stream = &plan.streams[one.stream as usize];
        let Some(own) = &stream.scheduled else { continue };
        let tsn_plan::Pattern::Periodic { period_ns, offset_ns, .. } = stream.pattern else { continue };
        let entry = stream.route.iter().position(|hop| hop.port == u32::from(one.tap)).unwrap();
        let tsn_plan::Size::Units { octets, most_per_frame, .. } = &stream.size else { continue };
        let frames = u64::from(octets[0].div_ceil(*most_per_frame));
        seen += 1;
        if one.seq % frames != 0 {
            continue;
        }
        // The stamp is taken at the end of the start frame delimiter.
        let delimiter = 64_000_000_000_000 / plan.ports[usize::from(one.tap)].rate_bps;
        let release = (offset_ns + one.seq / frames * period_ns) * 1_000;
        let planned = (release + own.starts_ps[entry][0] + delimiter) / 1_000;
        prop_assert_eq!(
            one.t_ns,
            Some(planned as i64),
            "stream {} entry {} of {:?}",
            stream.name,
            entry,
            own
        );
        first.insert((one.stream, entry), ());
    }
    let entries: usize = plan.streams.iter().filter(|s| s.scheduled.is_some()).map(|s| s.route.len()).sum();
    prop_assert_eq!(first.len(), entries);
    // No frame of any release was dropped.
    prop_assert_eq!(seen, sent);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn schedules_hold(
        shape in prop::sample::select(vec![Shape::Line, Shape::Ring, Shape::Tree, Shape::Mesh, Shape::Grid, Shape::Regular]),
        bridges in 2_u32..8,
        streams in 1_u32..50,
        queues in 1_u8..4,
        periods_ns in prop::sample::select(vec![
            vec![500_000_i64, 1_000_000], vec![100_000, 200_000, 400_000], vec![150_000, 250_000], vec![90_000]]),
        margin_ps in prop::sample::select(vec![0_i64, 100_000, 1_000_000]),
        seed in any::<u64>(),
    ) {
        let mut problem = problem(shape, bridges, streams, queues, periods_ns, seed);
        problem.links.iter_mut().for_each(|link| link.margin_ps = margin_ps);
        let (placed, lists) = schedule(&problem);
        let mut plan = plan(&problem, &placed, &lists, 2_000_000);
        saturate(&mut plan);
        plan.check().unwrap();
        let report = verify(&plan, &Known::default());
        prop_assert!(report.violations.is_empty(), "{}", report.violations[0]);
        prop_assert_eq!(report.streams, placed.iter().flatten().count() as u64);
        prop_assert_eq!(&report, &verify(&plan, &Known::default()));
    }

    #[test]
    fn the_simulator_sees_what_was_planned(
        shape in prop::sample::select(vec![Shape::Line, Shape::Ring, Shape::Tree, Shape::Grid]),
        bridges in 2_u32..6,
        streams in 1_u32..25,
        queues in 1_u8..4,
        periods_ns in prop::sample::select(vec![vec![500_000_i64, 1_000_000], vec![150_000, 250_000], vec![90_000]]),
        seed in any::<u64>(),
    ) {
        let mut problem = problem(shape, bridges, streams, queues, periods_ns, seed);
        problem.streams.iter_mut().for_each(|stream| stream.copies = 1);
        let (placed, lists) = schedule(&problem);
        let mut plan = plan(&problem, &placed, &lists, 2_000_000);
        saturate(&mut plan);
        just_room(&mut plan);
        simulated(&mut plan)?;
    }
}

/// The second frame of a waiting burst cannot leave before its gate opens, however early the burst arrived.
#[test]
fn a_burst_that_waits_goes_when_its_gate_opens() {
    let mut problem = problem(Shape::Tree, 7, 25, 2, vec![150_000, 250_000], 10_957_028_347_279_483_918);
    problem.links.iter_mut().for_each(|link| link.margin_ps = 1_000_000);
    let (placed, lists) = schedule(&problem);
    let report = verify(&plan(&problem, &placed, &lists, 2_000_000), &Known::default());
    assert!(report.violations.is_empty(), "{}", report.violations[0]);
}
