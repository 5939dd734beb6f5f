//! How long a schedule, its gates, its proof, one more stream and one reason take.

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::Instant;
use tsn_schedule::families::{Family, Shape};
use tsn_schedule::{Depth, Effort, Engine, Stream, explain, gate_lists, solve};
use tsn_verify::{Known, verify};

fn main() {
    println!(
        "{:<22}{:>9}{:>9}{:>10}{:>10}{:>10}{:>12}{:>12}{:>12}",
        "family", "streams", "refused", "solve s", "gates s", "proof s", "violations", "add us", "explain us"
    );
    let base = Family { stations: 8, shape: Shape::Regular, ..Family::default() };
    let families = [
        Family { streams: 1_000, ..base.clone() },
        Family { streams: 10_000, ..base.clone() },
        Family { shape: Shape::Mesh, streams: 10_000, ..base.clone() },
        Family { bridges: 1_000, streams: 45_000, periods_ns: vec![2_000_000], ..base },
    ];
    for family in families {
        let mut problem = family.draw();
        let begun = Instant::now();
        let outcome = solve(problem.clone(), &Effort::default()).expect("a drawn problem is one");
        let solved = begun.elapsed().as_secs_f64();
        let begun = Instant::now();
        let lists: Vec<_> = gate_lists(&problem, &outcome.placed).into_iter().flatten().collect();
        let listed = begun.elapsed().as_secs_f64();
        let plan = common::plan(&problem, &outcome.placed, &lists, 4_000_000);
        let begun = Instant::now();
        let report = verify(&plan, &Known::default());
        let proved = begun.elapsed().as_secs_f64();

        let mut engine = Engine::new(problem.clone());
        for (number, placed) in outcome.placed.iter().enumerate() {
            if let Some(placed) = placed {
                engine.keep(number as u32, placed.clone()).expect("it fits");
            }
        }
        let one = problem.streams[7].clone();
        let begun = Instant::now();
        let number = engine.add(one.clone()).expect("it is one");
        let _ = engine.place(number, 4);
        let added = begun.elapsed().as_secs_f64() * 1e6;

        problem.streams.push(Stream { deadline_ns: 1_000, ..one });
        let mut engine = Engine::new(problem.clone());
        let begun = Instant::now();
        let number = problem.streams.len() as u32 - 1;
        let refusal = engine.place(number, 4).expect_err("it is too slow");
        let reasons = explain(&problem, &[(number, refusal)], &Depth::default());
        let explained = begun.elapsed().as_secs_f64() * 1e6;
        assert_eq!(reasons.len(), 1);
        println!(
            "{:<22}{:>9}{:>9}{solved:>10.4}{listed:>10.4}{proved:>10.4}{:>12}{added:>12.1}{explained:>12.1}",
            format!("{:?} {}", family.shape, family.bridges),
            plan.streams.len(),
            outcome.refused.len(),
            report.violations.len(),
        );
    }
}
