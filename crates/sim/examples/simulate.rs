//! Runs a plan without writing anything and prints what was counted and how fast: `simulate plan.json`.

use std::time::Instant;
use tsn_observation::{Sighting, Sink};
use tsn_plan::Plan;
use tsn_sim::{Simulation, unwatched};

/// Counts sightings, so that the kernel's own speed shows.
struct Count(u64);

impl Sink for Count {
    fn sight(&mut self, _: Sighting) -> std::io::Result<()> {
        self.0 += 1;
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: simulate plan.json")?;
    let start = Instant::now();
    let plan = Plan::read(&std::fs::read_to_string(path)?)?;
    let simulation = Simulation::new(&plan)?;
    let built = start.elapsed();
    let mut sightings = Count(0);
    let start = Instant::now();
    let counters = simulation.run(&mut sightings, &mut unwatched)?;
    let seconds = start.elapsed().as_secs_f64();
    println!("start-up              {:9.3} s", built.as_secs_f64());
    println!("wall                  {seconds:9.3} s");
    println!("frame-hops            {:9}", counters.frame_hops);
    println!("million frame-hops/s  {:9.2}", counters.frame_hops as f64 / seconds / 1e6);
    println!("events per frame-hop  {:9.3}", counters.events as f64 / counters.frame_hops.max(1) as f64);
    println!("sightings             {:9}", sightings.0);
    for stream in &counters.streams {
        if counters.streams.len() < 20 {
            println!("{}", serde_json::to_string(stream)?);
        }
    }
    Ok(())
}
