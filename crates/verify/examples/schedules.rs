//! How long schedules take, with their gate lists and their proof, over problem_families of problems: a line of JSON for each.
//!
//! `schedules` alone measures what has a target, `schedules all` every family. One core; times are of processor and wall
//! alike where nothing else runs.

#[path = "../tests/all/common/mod.rs"]
mod common;

use std::time::Instant;
use tsn_schedule::generators::{Family, Shape};
use tsn_schedule::{Depth, Effort, Engine, Placed, Problem, Stream, explain, gate_lists, solve};
use tsn_verify::{Known, verify};

const SHAPES: [Shape; 5] = [Shape::Line, Shape::Ring, Shape::Tree, Shape::Mesh, Shape::Grid];

fn main() {
    let all = std::env::args().nth(1).is_some_and(|word| word == "all");
    for family in if all { problem_families() } else { targets() } {
        println!("{}", measured(&family));
    }
}

/// Those that are to be fast.
fn targets() -> Vec<Family> {
    let base = Family { stations: 8, shape: Shape::Regular, ..Family::default() };
    vec![
        Family { streams: 1_000, ..base.clone() },
        Family { streams: 10_000, ..base.clone() },
        Family { bridges: 1_000, streams: 45_000, periods_ns: vec![2_000_000], ..base },
    ]
}

/// Networks x periods x sizes x deadlines x loads; of the last as many streams as links of 90 % can carry, 10,000 at most.
fn problem_families() -> Vec<Family> {
    let mut all = Vec::new();
    for shape in SHAPES {
        for periods in
            [vec![500_000, 1_000_000, 2_000_000, 4_000_000], vec![100_000, 200_000, 400_000, 800_000]]
        {
            for octets in [(100, 500), (200, 1_500)] {
                for slack in [true, false] {
                    for streams in [1_000, 10_000] {
                        let periods_ns = periods.clone();
                        all.push(Family {
                            shape,
                            streams,
                            stations: 8,
                            periods_ns,
                            octets,
                            slack,
                            ..Family::default()
                        });
                    }
                }
            }
        }
    }
    all
}

fn measured(family: &Family) -> serde_json::Value {
    let problem = family.draw();
    let (begun, again) = (Instant::now(), problem.clone());
    let outcome = solve(again, &Effort::default()).expect("a drawn problem is one");
    let solved = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let lists = gate_lists(&problem, &outcome.placed);
    let listed = begun.elapsed().as_secs_f64();
    let without = lists.iter().filter(|list| list.is_err()).count();
    let lists: Vec<_> = lists.into_iter().flatten().collect();
    let plan = common::plan(&problem, &outcome.placed, &lists, 4_000_000);
    let begun = Instant::now();
    let report = verify(&plan, &Known::default());
    let proved = begun.elapsed().as_secs_f64();
    let (added, explained) = one_more(&problem, &outcome.placed);
    serde_json::json!({
        "shape": format!("{:?}", family.shape).to_lowercase(),
        "bridges": family.bridges,
        "periods_ns": family.periods_ns,
        "octets": [family.octets.0, family.octets.1],
        "deadline": if family.slack { "period" } else { "least" },
        "streams": problem.streams.len(),
        "placed": outcome.placed.iter().flatten().count(),
        "ejections": outcome.ejections,
        "busiest_ppm": busiest(&problem, &outcome.placed),
        "links_without_a_list": without,
        "violations": report.violations.len(),
        "solve_s": solved,
        "gates_s": listed,
        "proof_s": proved,
        "add_s": added,
        "explain_s": explained,
    })
}

/// One stream more beside what is placed, and one that cannot be, explained.
fn one_more(problem: &Problem, placed: &[Option<Placed>]) -> (f64, f64) {
    let mut problem = problem.clone();
    let mut engine = Engine::new(problem.clone());
    for (number, placed) in placed.iter().enumerate() {
        if let Some(placed) = placed {
            engine.keep(number as u32, placed.clone()).expect("it fits");
        }
    }
    let Some(one) = problem.streams.get(7).cloned() else { return (0.0, 0.0) };
    let begun = Instant::now();
    let number = engine.add(one.clone()).expect("it is one");
    let _ = engine.place(number, 4);
    let added = begun.elapsed().as_secs_f64();

    problem.streams.push(Stream { deadline_ns: 1_000, ..one });
    let mut engine = Engine::new(problem.clone());
    let begun = Instant::now();
    let number = problem.streams.len() as u32 - 1;
    let refusal = engine.place(number, 4).expect_err("it is too slow");
    let reasons = explain(&problem, &[(number, refusal)], &Depth::default());
    assert_eq!(reasons.len(), 1);
    (added, begun.elapsed().as_secs_f64())
}

/// What the busiest link carries, in parts per million of its time.
fn busiest(problem: &Problem, placed: &[Option<Placed>]) -> i64 {
    let mut busy = vec![0_i64; problem.links.len()];
    for (stream, placed) in problem.streams.iter().zip(placed) {
        for entry in placed.iter().flat_map(|placed| &placed.tree) {
            let rate = tsn_units::BitRate(problem.links[entry.link as usize].rate_bps);
            let times = stream
                .frames
                .iter()
                .map(|octets| tsn_units::wire_time(tsn_units::Octets(*octets), rate).ps());
            busy[entry.link as usize] += times.sum::<i64>() * 1_000 / stream.period_ns;
        }
    }
    busy.into_iter().max().unwrap_or(0)
}
