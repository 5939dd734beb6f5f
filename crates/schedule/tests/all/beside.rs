//! Streams that join a schedule that stays get the places and gates that a search over all streams finds.

use proptest::prelude::*;
use tsn_schedule::generators::{Family, Shape};
use tsn_schedule::{Effort, GateList, Placed, Problem, Resident, Stream, gate_lists, solve, solve_keeping};

/// Places and gate lists of the last streams of a problem beside the others, by a search over all; none if others move.
fn searched(problem: &Problem, streams: &[Stream], kept: &[Placed]) -> Option<(Vec<Placed>, Vec<GateList>)> {
    let problem = Problem { streams: streams.to_vec(), ..problem.clone() };
    let mut earlier: Vec<_> = kept.iter().cloned().map(Some).collect();
    earlier.resize(streams.len(), None);
    let found = solve_keeping(problem.clone(), &earlier, &Effort::default()).ok()?;
    let lists: Result<_, _> = gate_lists(&problem, &found.placed).into_iter().collect();
    let placed: Option<_> = found.placed[kept.len()..].iter().cloned().collect();
    if found.moved.is_empty() { Some((placed?, lists.ok()?)) } else { None }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn streams_join_a_schedule_as_a_search_over_all_places_them(
        shape in prop::sample::select(vec![Shape::Line, Shape::Ring, Shape::Grid]),
        streams in 4_u32..40,
        queues in 1_u8..3,
        periods_ns in prop::sample::select(vec![vec![100_000_i64, 200_000], vec![150_000, 250_000], vec![60_000]]),
        seed in any::<u64>(),
    ) {
        let family =
            Family { shape, bridges: 4, streams, queues, periods_ns, stations: 2, octets: (64, 1_522), seed, ..Family::default() };
        let problem = family.draw();
        let found = solve(problem.clone(), &Effort::default()).unwrap().placed;
        let both = problem.streams.iter().zip(&found).filter_map(|(own, placed)| {
            let placed = placed.clone()?;
            Some((Stream { tree: Some(placed.tree.clone()), queue: Some(placed.queue), ..own.clone() }, placed))
        });
        let (all, placed): (Vec<Stream>, Vec<Placed>) = both.unzip();
        prop_assume!(all.len() > 3);
        let stay = all.len() - 2;
        let kept = Problem { streams: all[..stay].to_vec(), ..problem.clone() };
        let mut resident = Resident::new(kept, placed[..stay].to_vec()).unwrap();
        let near: Vec<u32> = (0..stay as u32).collect();
        let new = all[stay..].to_vec();
        let whole = searched(&problem, &all, &placed[..stay]);
        for _ in 0..2 {
            let own = resident.place(new.clone(), &[], &near, |_| true);
            prop_assert!(own.is_none() || own == whole);
            // One of those in place leaves with the same change, and is there again afterwards.
            let own = resident.place(new.clone(), &[0], &near[1..], |_| true);
            prop_assert!(own.is_none() || own == searched(&problem, &all[1..], &placed[1..stay]));
        }
        // It leaves, and comes back: its number is another stream's meanwhile.
        resident.remove(0);
        let own = resident.place(new.clone(), &[], &near[1..], |_| true);
        prop_assert!(own.is_none() || own == searched(&problem, &all[1..], &placed[1..stay]));
        prop_assert_eq!(resident.add(all[0].clone(), placed[0].clone()), Some(0));
        let own = resident.place(new, &[], &near, |link| link % 2 == 0);
        let even = |(placed, lists): (Vec<Placed>, Vec<GateList>)| {
            (placed, lists.into_iter().filter(|list| list.link % 2 == 0).collect())
        };
        prop_assert!(own.is_none() || own == whole.map(even));
    }
}

#[test]
fn most_of_them_are_placed_without_a_search() {
    let family = Family { streams: 30, seed: 5, ..Family::default() };
    let mut problem = family.draw();
    let placed = solve(problem.clone(), &Effort::default()).unwrap().placed;
    let placed: Vec<Placed> = placed.into_iter().map(Option::unwrap).collect();
    for (own, placed) in problem.streams.iter_mut().zip(&placed) {
        own.tree = Some(placed.tree.clone());
    }
    let new = problem.streams.split_off(20);
    let mut resident = Resident::new(problem, placed[..20].to_vec()).unwrap();
    let near: Vec<u32> = (0..20).collect();
    assert!(resident.place(new, &[], &near, |_| true).is_some());
}
