//! Frames that wait behind others in one queue: a checker without shared code proves the schedule, and the
//! simulator agrees to the nanosecond. Whichever frames are missing, no frame is later than planned.

use crate::common::{plan, saturate};
use std::collections::HashMap;
use tsn_observation::Sighting;
use tsn_plan::{Fault, LossModel, Pattern, Plan, Point, Size, Stage, Stream, Tap};
use tsn_schedule::generators::{Family, Shape};
use tsn_schedule::{Effort, Limits, Link, Node, Problem, gate_lists, solve};
use tsn_sim::{Simulation, unwatched};
use tsn_verify::{Known, Violation, verify};

/// Streams with short windows of release, so that they conflict.
fn tight(seed: u64, margin_ps: i64) -> Problem {
    let family = Family {
        shape: [Shape::Line, Shape::Ring, Shape::Tree][seed as usize % 3],
        bridges: 2 + seed as u32 % 3,
        streams: 3 + seed as u32 % 7,
        queues: 1 + (seed % 5 == 4) as u8,
        periods_ns: vec![vec![500_000_i64, 1_000_000], vec![400_000], vec![200_000, 400_000, 800_000]]
            [seed as usize % 3]
            .clone(),
        stations: 2,
        octets: (300, 1_522),
        seed,
        ..Family::default()
    };
    let mut problem = family.draw();
    let mut draw = seed;
    let mut next = |most: i64| {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (draw >> 33) as i64 % most
    };
    for stream in &mut problem.streams {
        stream.earliest_ns = next(25) * 1_000;
        // Releases around the end of the period, too: the first frame of the stream ahead arrives after
        // others have begun.
        if seed % 4 == 3 {
            stream.earliest_ns += stream.period_ns - 15_000;
        }
        stream.latest_ns = stream.earliest_ns + next(8) * 500;
        if next(3) == 0 {
            stream.frames = vec![stream.frames[0]; 2];
        }
    }
    problem.links.iter_mut().for_each(|link| link.margin_ps = margin_ps);
    problem
}

fn planned(problem: &Problem) -> Option<(Plan, usize)> {
    let outcome = solve(problem.clone(), &Effort { share: true, steps: 50, ..Effort::default() }).unwrap();
    let lists: Vec<_> = gate_lists(problem, &outcome.placed).into_iter().collect::<Result<_, _>>().ok()?;
    let mut plan = plan(problem, &outcome.placed, &lists, 6_000_000);
    saturate(&mut plan);
    plan.check().unwrap();
    let waits = outcome.placed.iter().flatten().map(|own| own.behind.len()).sum();
    Some((plan, waits))
}

fn frames(stream: &Stream) -> u64 {
    let Size::Units { octets, most_per_frame, .. } = &stream.size else { return 1 };
    u64::from(octets[0].div_ceil(*most_per_frame))
}

/// By stream, entry and release: the actual and the planned departure of a first frame, ns.
fn starts(plan: &Plan) -> HashMap<(u32, usize, u64), (i64, i64)> {
    let mut plan = plan.clone();
    let tap = |(number, port): (usize, &tsn_plan::Port)| Tap {
        name: format!("{} tx", port.name),
        port: number as u32,
        stage: Stage::Tx,
        point: Point::Start,
        granularity_ns: 1,
    };
    plan.taps = plan.ports.iter().enumerate().map(tap).collect();
    let mut sightings: Vec<Sighting> = Vec::new();
    Simulation::new(&plan).unwrap().run(&mut sightings, &mut unwatched).unwrap();
    let mut found = HashMap::new();
    for one in &sightings {
        let stream = &plan.streams[one.stream as usize];
        let Some(own) = &stream.scheduled else { continue };
        let Pattern::Periodic { period_ns, offset_ns, .. } = stream.pattern else { continue };
        if one.seq % frames(stream) != 0 {
            continue;
        }
        let entry = stream.route.iter().position(|hop| hop.port == u32::from(one.tap)).unwrap();
        // The stamp is taken at the end of the start frame delimiter.
        let delimiter = 64_000_000_000_000 / plan.ports[usize::from(one.tap)].rate_bps;
        let release = one.seq / frames(stream);
        let at = (offset_ns + release * period_ns) * 1_000 + own.starts_ps[entry][0] + delimiter;
        found.insert((one.stream, entry, release), (one.t_ns.unwrap(), (at / 1_000) as i64));
    }
    found
}

#[test]
fn what_waits_behind_others_is_proved_and_comes_as_planned() {
    let (mut waits, mut late_ones) = (0, 0);
    for seed in 0..400 {
        let problem = tight(seed, 0);
        let Some((plan, some)) = planned(&problem) else { continue };
        let report = verify(&plan, &Known::default());
        assert!(report.violations.is_empty(), "seed {seed}: {}", report.violations[0]);
        if some == 0 {
            continue;
        }
        waits += some;
        let early: HashMap<u32, i64> = (0..plan.streams.len() as u32)
            .map(|number| {
                let own = report.delays.iter().find(|own| own.stream == number);
                (number, own.map_or(0, |own| own.release_upper_ps - own.release_lower_ps))
            })
            .collect();
        for ((stream, entry, release), (at, planned)) in starts(&plan) {
            let period = match plan.streams[stream as usize].pattern {
                Pattern::Periodic { period_ns, .. } => period_ns,
                _ => 1,
            };
            // All talkers have begun and none has ended, so no frame is missing.
            if (2_000_000..4_000_000).contains(&(release * period)) {
                assert_eq!(at, planned, "seed {seed} stream {stream} entry {entry} release {release}");
            } else {
                let bound = 1 + early[&stream] / 1_000;
                assert!(at <= planned && at >= planned - bound, "seed {seed} stream {stream} entry {entry}");
                late_ones += usize::from(at < planned);
            }
        }
    }
    assert!(waits > 60, "{waits}");
    assert!(late_ones > 0, "somebody is early where who is ahead has not begun");
}

#[test]
fn margins_are_kept_where_frames_wait_behind_others() {
    let mut waits = 0;
    for seed in 0..400 {
        let problem = tight(seed, [100_000, 1_000_000][seed as usize % 2]);
        let Some((plan, some)) = planned(&problem) else { continue };
        let report = verify(&plan, &Known::default());
        assert!(report.violations.is_empty(), "seed {seed}: {}", report.violations[0]);
        waits += some;
    }
    assert!(waits > 30, "{waits}");
}

/// Half of the frames are lost at random on the talkers' links: frames that would wait behind them are
/// earlier, and within their bounds.
#[test]
fn whoever_is_missing_nobody_is_late() {
    let mut earlier = 0;
    for seed in 0..200 {
        let Some((mut plan, some)) = planned(&tight(seed, 0)) else { continue };
        if some == 0 {
            continue;
        }
        let proved = verify(&plan, &Known::default());
        assert!(proved.violations.is_empty());
        for port in 0..plan.ports.len() as u32 {
            if plan.nodes[plan.ports[port as usize].node as usize].kind == tsn_plan::NodeKind::Station {
                let model = LossModel::Bernoulli { loss_ppm: 500_000 };
                plan.faults.push(Fault::Loss { port, from_ns: 0, until_ns: 6_000_000, model });
            }
        }
        plan.check().unwrap();
        // The proof does not change.
        assert_eq!(verify(&plan, &Known::default()).delays, proved.delays);
        for ((stream, entry, _), (at, planned)) in starts(&plan) {
            let own = proved.delays.iter().filter(|own| own.stream == stream);
            let early =
                own.map(|own| own.release_upper_ps - own.release_lower_ps).max().unwrap_or(0) / 1_000 + 1;
            assert!(at <= planned && at >= planned - early, "seed {seed} stream {stream} entry {entry}");
            earlier += usize::from(at < planned);
        }
    }
    assert!(earlier > 100, "{earlier}");
}

/// Two talkers whose frames arrive at one bridge at 0 and at `apart_ns`: 1000 octets every ms, 100 Mbit/s.
fn two(apart_ns: i64, margin_ps: i64) -> Problem {
    let station = Node { processing_ps: 0, forwards: false };
    let bridge = Node { processing_ps: 0, forwards: true };
    let ends = [(0, 3), (3, 0), (1, 3), (3, 1), (3, 2), (2, 3)];
    let link = |(from, to)| Link {
        from,
        to,
        rate_bps: 100_000_000,
        propagation_ps: 0,
        margin_ps,
        queues: 1,
        limits: Limits::default(),
    };
    let stream = |talker: u32| tsn_schedule::Stream {
        talker,
        listeners: vec![2],
        period_ns: 1_000_000,
        frames: vec![1_000],
        deadline_ns: 1_000_000,
        earliest_ns: i64::from(talker) * apart_ns,
        latest_ns: i64::from(talker) * apart_ns,
        tree: None,
        copies: 1,
        more_octets: Vec::new(),
        jitter_ns: None,
        queue: None,
    };
    Problem {
        nodes: vec![station, station, station, bridge],
        links: ends.into_iter().map(link).collect(),
        streams: vec![stream(0), stream(1)],
        granularity_ns: 1,
    }
}

#[test]
fn who_comes_second_waits_where_that_is_certain() {
    let placed = |apart_ns, margin_ps, share| {
        let problem = two(apart_ns, margin_ps);
        let outcome = solve(problem, &Effort { share, ..Effort::default() }).unwrap();
        outcome.refused.is_empty().then_some(outcome.placed)
    };
    assert_eq!(placed(1_000, 0, false), None);
    let both = placed(1_000, 0, true).unwrap();
    let second = both[1].as_ref().unwrap();
    // 1000 octets with preamble take 80.64 us, and 81.6 us with the gap: 80.64 + 81.6 us, less 1 us.
    assert_eq!(second.starts_ps, [0, 161_240_000]);
    assert_eq!(second.behind, [1]);
    // At the same time, or with a distance less than the difference of clocks, either frame may be the first.
    assert_eq!(placed(0, 0, true), None);
    assert_eq!(placed(199, 100_000, true), None);
    assert!(placed(201, 100_000, true).is_some());
}

#[test]
fn what_is_broken_is_found() {
    let problem = two(1_000, 100_000);
    let (good, waits) = planned(&problem).unwrap();
    assert_eq!(waits, 1);
    let found = |change: &dyn Fn(&mut Plan)| {
        let mut plan = good.clone();
        change(&mut plan);
        verify(&plan, &Known::default()).violations
    };
    assert_eq!(found(&|_| {}), []);
    let release = |plan: &mut Plan, number: usize, ns: u64| {
        if let Pattern::Periodic { offset_ns, .. } = &mut plan.streams[number].pattern {
            *offset_ns = ns;
        }
    };
    // Without a frame ahead, the frame leaves at once, as its gate is open.
    let alone = found(&|plan| {
        plan.streams.remove(0);
    });
    assert!(alone.iter().any(|one| matches!(one, Violation::GoesEarly { .. })), "{alone:?}");
    // The order of arrival is not certain, though the times on the wire do not overlap.
    let unsure = found(&|plan| {
        release(plan, 1, 150);
        plan.streams[1].scheduled.as_mut().unwrap().starts_ps[1][0] += 850_000;
    });
    assert!(unsure.iter().any(|one| matches!(one, Violation::SharedQueue { .. })), "{unsure:?}");
    // The frame is planned to leave before the end of the frame ahead.
    let meet = found(&|plan| plan.streams[1].scheduled.as_mut().unwrap().starts_ps[1][0] -= 1_000);
    assert!(meet.iter().any(|one| matches!(one, Violation::Meet { .. })), "{meet:?}");
    // The frame is planned to leave some time after the end of the frame ahead.
    let early = found(&|plan| plan.streams[1].scheduled.as_mut().unwrap().starts_ps[1][0] += 1_000);
    assert!(early.iter().any(|one| matches!(one, Violation::GoesEarly { .. })), "{early:?}");
    // The frame arrives twice as often as the frame ahead.
    let often = found(&|plan| {
        if let Pattern::Periodic { period_ns, .. } = &mut plan.streams[0].pattern {
            *period_ns = 2_000_000;
        }
    });
    assert!(often.iter().any(|one| matches!(one, Violation::GoesEarly { .. })), "{often:?}");
    // The gate opens only at the planned departure: then the frame waits for its gate, and another frame
    // overtakes it.
    let closed = found(&|plan| {
        let gates = plan.ports[4].gates.as_mut().unwrap();
        let open = gates.entries.iter().position(|entry| entry.open & 0x80 != 0).unwrap();
        let (mut one, whole) = (gates.entries[open], gates.entries[open].interval_ns);
        one.interval_ns = whole / 2;
        gates.entries[open].interval_ns = whole - whole / 2;
        gates.entries.insert(open, tsn_plan::GateEntry { open: 0, ..one });
    });
    assert!(!closed.is_empty());
    // A jitter that holds only if no frame is missing.
    let shaky = found(&|plan| {
        let limit = tsn_plan::Jitter { kind: "delay-step-abs".into(), limit_ns: 50_000 };
        plan.streams[1].requirements.jitter.push(limit);
    });
    assert!(shaky.iter().any(|one| matches!(one, Violation::Jitter { .. })), "{shaky:?}");
}

#[test]
fn what_was_planned_behind_others_is_kept() {
    let problem = two(1_000, 0);
    let effort = Effort { share: true, ..Effort::default() };
    let before = solve(problem.clone(), &effort).unwrap();
    // In reverse order, too: the stream ahead is kept first.
    let turned = Problem { streams: problem.streams.iter().rev().cloned().collect(), ..problem.clone() };
    let earlier: Vec<_> = before.placed.iter().rev().cloned().collect();
    let after = tsn_schedule::solve_keeping(turned, &earlier, &Effort::default()).unwrap();
    assert_eq!((after.placed, after.moved), (earlier.clone(), vec![]));
    // A stream whose frame ahead is removed does not wait any more.
    let mut gone = problem;
    gone.streams.remove(0);
    let after = tsn_schedule::solve_keeping(gone, &before.placed[1..], &effort).unwrap();
    assert_eq!(after.moved, [0]);
    assert_eq!(after.placed[0].as_ref().unwrap().behind, [0_u32; 0]);
}
