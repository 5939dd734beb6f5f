//! One stream at a time: placing and removing leave no trace, kept streams stay, and results repeat exactly.

use proptest::prelude::*;
use tsn_schedule::generators::{Family, Shape};
use tsn_schedule::{Effort, Engine, Outcome, Problem, Refusal, Stream, solve, solve_keeping};

fn family(shape: Shape, streams: u32, queues: u8, seed: u64) -> Family {
    let periods_ns = vec![100_000, 200_000, 400_000];
    Family {
        shape,
        bridges: 6,
        streams,
        stations: 2,
        octets: (100, 1_522),
        queues,
        periods_ns,
        seed,
        ..Family::default()
    }
}

fn shapes() -> impl Strategy<Value = Shape> {
    prop::sample::select(vec![Shape::Line, Shape::Ring, Shape::Tree, Shape::Grid, Shape::Regular])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn in_and_out_equals_never_in(
        shape in shapes(), streams in 2_u32..120, queues in 1_u8..4, seed in any::<u64>(),
        steps in prop::collection::vec((any::<u32>(), any::<bool>()), 0..80),
    ) {
        let problem = family(shape, streams, queues, seed).draw();
        let count = problem.streams.len() as u32;
        let mut engine = Engine::new(problem.clone());
        for (which, enter) in steps {
            let number = which % count;
            if !enter {
                engine.remove(number);
            } else if engine.placed()[number as usize].is_none() {
                let _ = engine.place(number, 2);
            }
        }
        // A new engine with the same placed streams decides the same for every other stream.
        let mut fresh = Engine::new(problem);
        for (number, placed) in engine.placed().to_vec().into_iter().enumerate() {
            if let Some(placed) = placed {
                prop_assert_eq!(fresh.keep(number as u32, placed), Ok(()));
            }
        }
        for number in 0..count {
            if engine.placed()[number as usize].is_none() {
                prop_assert_eq!(engine.place(number, 3), fresh.place(number, 3));
                prop_assert_eq!(&engine.placed()[number as usize], &fresh.placed()[number as usize]);
            }
        }
    }

    #[test]
    fn what_is_kept_stays(shape in shapes(), streams in 4_u32..100, seed in any::<u64>()) {
        let problem = family(shape, streams, 1, seed).draw();
        let effort = Effort { steps: 50, ..Effort::default() };
        let count = problem.streams.len();
        let part = Problem { streams: problem.streams[..count / 2].to_vec(), ..problem.clone() };
        let before = solve(part, &effort).unwrap();
        let after = solve_keeping(problem.clone(), &before.placed, &effort).unwrap();
        for (number, placed) in before.placed.iter().enumerate() {
            if placed.is_some() && !after.moved.contains(&(number as u32)) {
                prop_assert_eq!(placed, &after.placed[number]);
            }
        }
        if after.ejections == 0 {
            prop_assert!(after.moved.is_empty());
        }
        // A second run gives the same result, also after a round trip through a document.
        let again = solve_keeping(problem.clone(), &before.placed, &effort).unwrap();
        prop_assert_eq!(&after, &again);
        let read: Outcome = serde_json::from_str(&serde_json::to_string(&after).unwrap()).unwrap();
        prop_assert_eq!(&after, &read);
        let read: Problem = serde_json::from_str(&serde_json::to_string(&problem).unwrap()).unwrap();
        prop_assert_eq!(problem, read);
    }
}

#[test]
fn what_does_not_fit_any_more_is_not_kept() {
    let problem = family(Shape::Line, 20, 1, 1).draw();
    let outcome = solve(problem.clone(), &Effort::default()).unwrap();
    let first = outcome.placed[0].clone().unwrap();
    let keep = |change: &dyn Fn(&mut Stream)| {
        let mut problem = problem.clone();
        change(&mut problem.streams[0]);
        Engine::new(problem).keep(0, first.clone())
    };
    assert_eq!(keep(&|_| {}), Ok(()));
    assert!(matches!(keep(&|stream| stream.deadline_ns = 1_000), Err(Refusal::Deadline { .. })));
    assert_eq!(keep(&|stream| stream.frames = vec![1_522, 1_522]), Err(Refusal::Changed));
    assert_eq!(keep(&|stream| stream.earliest_ns = first.offset_ns + 1), Err(Refusal::Changed));
    let mut engine = Engine::new(problem);
    assert_eq!(engine.keep(0, first.clone()), Ok(()));
    let mut twin = engine.problem().streams[0].clone();
    twin.tree = Some(first.tree.clone());
    let number = engine.add(twin.clone()).unwrap();
    assert_eq!(engine.keep(number, first), Err(Refusal::NoRoom));
    // A new period.
    let number =
        engine.add(Stream { period_ns: 50_000, deadline_ns: 1_000_000, latest_ns: 49_999, ..twin.clone() });
    assert_eq!(engine.place(number.unwrap(), 1), Ok(()));
    assert!(engine.add(Stream { period_ns: 999_999_937, ..twin }).is_err());
}

#[test]
fn copies_share_no_cable_between_bridges() {
    let mut placed = 0;
    for (shape, bridges) in [(Shape::Ring, 7), (Shape::Mesh, 6), (Shape::Grid, 9), (Shape::Grid, 16)] {
        let mut problem = Family { bridges, ..family(shape, 40, 1, 5) }.draw();
        problem.streams.iter_mut().for_each(|stream| stream.copies = 2);
        let outcome = solve(problem.clone(), &Effort::default()).unwrap();
        for one in outcome.placed.iter().flatten() {
            let leads_on = |place: usize| one.tree.iter().any(|entry| entry.parent == Some(place as u32));
            let ends = (0..one.tree.len()).filter(|place| !leads_on(*place));
            let mut cables = std::collections::HashSet::new();
            let mut paths = 0;
            for end in ends {
                paths += 1;
                let mut next = Some(end as u32);
                while let Some(place) = next {
                    let entry = one.tree[place as usize];
                    let link = &problem.links[entry.link as usize];
                    let (from, to) = (link.from.min(link.to), link.from.max(link.to));
                    if problem.nodes[from as usize].forwards && problem.nodes[to as usize].forwards {
                        assert!(cables.insert((from, to)), "{shape:?}: {:?}", one.tree);
                    }
                    next = entry.parent;
                }
            }
            assert_eq!(paths, 2);
            placed += 1;
        }
    }
    assert!(placed > 60, "{placed}");
}
