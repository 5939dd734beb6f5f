//! How long schedules take: a table over families of problems.

use std::time::Instant;
use tsn_schedule::families::{Family, Shape};
use tsn_schedule::{Effort, solve};

fn main() {
    println!(
        "{:<34}{:>9}{:>9}{:>10}{:>10}{:>10}",
        "family", "streams", "refused", "ejected", "busiest %", "s"
    );
    let harmonic = vec![500_000, 1_000_000, 2_000_000, 4_000_000];
    let short = vec![100_000, 200_000, 400_000, 800_000];
    let mut families = Vec::new();
    for streams in [1_000, 10_000] {
        for shape in [Shape::Line, Shape::Ring, Shape::Tree, Shape::Mesh, Shape::Grid, Shape::Regular] {
            families.push(Family {
                shape,
                streams,
                stations: 8,
                periods_ns: harmonic.clone(),
                ..Family::default()
            });
        }
        families.push(Family {
            streams,
            periods_ns: short.clone(),
            octets: (200, 1500),
            stations: 8,
            ..Family::default()
        });
        families.push(Family { streams, slack: false, stations: 8, ..Family::default() });
    }
    families.push(Family {
        shape: Shape::Regular,
        bridges: 1_000,
        streams: 45_000,
        periods_ns: vec![2_000_000],
        stations: 8,
        ..Family::default()
    });
    for family in families {
        let problem = family.draw();
        let begun = Instant::now();
        let streams = problem.streams.len();
        let Ok(outcome) = solve(problem.clone(), &Effort::default()) else { continue };
        let took = begun.elapsed();
        let mut busiest = vec![0_f64; problem.links.len()];
        for (number, placed) in outcome.placed.iter().enumerate() {
            let Some(placed) = placed else { continue };
            for entry in &placed.tree {
                let stream = &problem.streams[number];
                let len: i64 = stream
                    .frames
                    .iter()
                    .map(|f| {
                        tsn_units::wire_time(
                            tsn_units::Octets(*f),
                            tsn_units::BitRate(problem.links[entry.link as usize].rate_bps),
                        )
                        .ps()
                    })
                    .sum();
                busiest[entry.link as usize] += len as f64 / stream.period_ns as f64 / 10.0;
            }
        }
        let most = busiest.iter().copied().fold(0.0, f64::max);
        println!(
            "{:<34}{streams:>9}{:>9}{:>10}{most:>10.1}{:>10.4}",
            format!("{:?} {} {:?}", family.shape, family.bridges, family.octets),
            outcome.refused.len(),
            outcome.ejections,
            took.as_secs_f64(),
        );
    }
}
