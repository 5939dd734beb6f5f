//! Gate lists of random schedules: at every planned frame its gate is open and other gates are closed, by the
//! definition.

use proptest::prelude::*;
use tsn_schedule::generators::{Family, Shape};
use tsn_schedule::{Effort, GateEntry, GateList, GateRefusal, gate_lists, solve};
use tsn_units::{BitRate, INTER_FRAME_GAP, Octets, wire_time};

/// The entry in force at an instant, ps.
fn at(list: &GateList, ps: i64) -> GateEntry {
    let mut within = (ps - list.base_ns * 1_000).rem_euclid(list.cycle_ns * 1_000);
    for entry in &list.entries {
        within -= entry.interval_ns * 1_000;
        if within < 0 {
            return *entry;
        }
    }
    unreachable!("entries fill the cycle")
}

/// Instants between two others at which the open gates differ.
fn points(list: &GateList, from: i64, until: i64) -> Vec<i64> {
    let mut all = vec![from, until - 1];
    let mut edge = list.base_ns * 1_000;
    let cycle = list.cycle_ns * 1_000;
    for entry in &list.entries {
        let mut point = edge + (from - edge).div_euclid(cycle) * cycle;
        while point < until {
            if point >= from {
                all.push(point);
            }
            point += cycle;
        }
        edge += entry.interval_ns * 1_000;
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn gates_are_open_for_planned_frames_and_for_nobody_else(
        shape in prop::sample::select(vec![Shape::Line, Shape::Ring, Shape::Tree, Shape::Grid]),
        bridges in 2_u32..6,
        streams in 1_u32..40,
        queues in 1_u8..4,
        periods_ns in prop::sample::select(vec![
            vec![500_000_i64, 1_000_000], vec![100_000, 200_000, 400_000], vec![150_000, 250_000], vec![60_000]]),
        margin_ps in prop::sample::select(vec![0_i64, 100_000, 1_000_000]),
        granularity_ns in prop::sample::select(vec![1_i64, 8, 10, 500]),
        shortest_interval_ns in prop::sample::select(vec![1_i64, 300, 1_500, 10_000]),
        entries in prop::sample::select(vec![1_u32, 2, 5, 8, 30, 1_024]),
        longest_cycle_ns in prop::sample::select(vec![400_000_i64, 1_000_000_000]),
        seed in any::<u64>(),
    ) {
        let family = Family { shape, bridges, streams, queues, periods_ns, stations: 2, octets: (64, 1_522), seed, ..Family::default() };
        let mut problem = family.draw();
        problem.granularity_ns = if granularity_ns == 500 { 500 } else { 10 };
        for link in &mut problem.links {
            link.margin_ps = margin_ps;
            link.limits.granularity_ns = granularity_ns;
            link.limits.shortest_interval_ns = shortest_interval_ns;
            link.limits.entries = entries;
            link.limits.longest_cycle_ns = longest_cycle_ns;
        }
        let outcome = solve(problem.clone(), &Effort { steps: 50, ..Effort::default() }).unwrap();
        for list in gate_lists(&problem, &outcome.placed) {
            let list = match list {
                Ok(list) => list,
                Err(GateRefusal::Cycle { .. }) => {
                    prop_assert!(longest_cycle_ns == 400_000 || granularity_ns == 8);
                    continue;
                }
                // Only a schedule with waiting frames may have no gate list.
                Err(_) => {
                    let some_wait = outcome.placed.iter().zip(&problem.streams).any(|(placed, stream)| {
                        placed.as_ref().is_some_and(|placed| waits(&problem, placed, stream.frames[0]))
                    });
                    prop_assert!(some_wait);
                    continue;
                }
            };
            prop_assert!(list.entries.len() <= entries as usize);
            prop_assert_eq!(list.entries.iter().map(|entry| entry.interval_ns).sum::<i64>(), list.cycle_ns);
            prop_assert!(list.cycle_ns <= longest_cycle_ns);
            for entry in &list.entries {
                let short = entry.interval_ns < shortest_interval_ns.min(list.cycle_ns);
                prop_assert!(!short && entry.interval_ns % granularity_ns == 0, "{:?}", list);
            }
            let link = problem.links[list.link as usize];
            let silence = BitRate(link.rate_bps).time(INTER_FRAME_GAP).ps();
            for (number, placed) in outcome.placed.iter().enumerate() {
                let Some(placed) = placed else { continue };
                let stream = &problem.streams[number];
                prop_assert_eq!(stream.frames.len(), 1);
                let Some(place) = placed.tree.iter().position(|entry| entry.link == list.link) else { continue };
                let len = wire_time(Octets(stream.frames[0]), BitRate(link.rate_bps)).ps();
                let start = placed.offset_ns * 1_000 + placed.starts_ps[place];
                let comes = placed.offset_ns * 1_000 + placed.tree[place].parent.map_or(0, |parent| {
                    let parent = parent as usize;
                    let before = &problem.links[placed.tree[parent].link as usize];
                    let bits = BitRate(before.rate_bps).time(Octets(stream.frames[0] + 8)).ps();
                    let node = problem.nodes[before.to as usize];
                    placed.starts_ps[parent] + bits + before.propagation_ps + node.processing_ps
                });
                let mask = 1 << placed.queue.min(link.queues - 1);
                for turn in 0..list.cycle_ns / stream.period_ns {
                    let moved = turn * stream.period_ns * 1_000;
                    let held = start > comes;
                    let opens = if held { start } else { start - margin_ps };
                    for point in points(&list, opens + moved, start + len + margin_ps + moved) {
                        prop_assert!(at(&list, point).queues & mask != 0, "closed: {:?}", list);
                    }
                    for point in points(&list, opens - silence + moved, start + len + margin_ps + moved) {
                        prop_assert!(!at(&list, point).others, "others: {:?}", list);
                    }
                    if held {
                        for point in points(&list, comes - margin_ps + moved, start + moved) {
                            prop_assert!(at(&list, point).queues & mask == 0, "early: {:?}", list);
                        }
                    }
                }
            }
        }
    }
}

fn waits(problem: &tsn_schedule::Problem, placed: &tsn_schedule::Placed, octets: u32) -> bool {
    placed.tree.iter().zip(&placed.starts_ps).any(|(entry, start)| {
        entry.parent.is_some_and(|parent| {
            let parent = parent as usize;
            let before = &problem.links[placed.tree[parent].link as usize];
            let bits = BitRate(before.rate_bps).time(Octets(octets + 8)).ps();
            let hop = start - placed.starts_ps[parent];
            hop > bits + before.propagation_ps + problem.nodes[before.to as usize].processing_ps
        })
    })
}
