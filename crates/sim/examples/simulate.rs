//! Runs a plan and prints what it cost: `simulate plan.json [folder]`. With a folder, observations are written there.

use std::path::Path;
use std::time::Instant;
use tsn_observation::{Sighting, Sink};
use tsn_plan::Plan;
use tsn_sim::record::record;
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
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: simulate plan.json [folder]")?;
    let start = Instant::now();
    let plan = Plan::read(&std::fs::read_to_string(path)?)?;
    let mut sightings = Count(0);
    let simulation = Simulation::new(&plan)?;
    let built = start.elapsed();
    let start = Instant::now();
    let counters = match arguments.next() {
        Some(folder) => {
            std::fs::create_dir_all(&folder)?;
            record(&plan, Path::new(&folder), false, &mut unwatched)?
        }
        None => simulation.run(&mut sightings, &mut unwatched)?,
    };
    let seconds = start.elapsed().as_secs_f64();
    let hops = counters.frame_hops as f64;
    println!("start-up             {:>12.6} s", built.as_secs_f64());
    println!("run                  {seconds:>12.6} s");
    println!("frame-hops           {:>12}", counters.frame_hops);
    println!("frame-hops per s     {:>12.0}", hops / seconds);
    println!("events per frame-hop {:>12.3}", counters.events as f64 / hops.max(1.0));
    println!("sightings taken      {:>12}", sightings.0);
    if let Some(peak) = peak_memory() {
        println!("peak memory          {peak:>12} KB");
    }
    Ok(())
}

/// Peak resident memory in KB, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
