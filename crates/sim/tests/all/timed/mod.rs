//! Plans whose nodes have clocks, and runs that record the errors of these clocks.
#![allow(dead_code)]

use crate::common::*;
use std::io;
use tsn_observation::{ClockError, Sighting, Sink};
use tsn_plan::{Bmca, ClockQuality, Clocks, Gptp, NodeClock, Plan};
use tsn_sim::{RunCounters, Simulation, unwatched};

pub const SECOND: u64 = 1_000_000_000;

#[derive(Default)]
pub struct Both {
    pub sightings: Vec<Sighting>,
    pub errors: Vec<ClockError>,
    /// The octets of frames that were observed with their content.
    pub frames: Vec<(Sighting, Vec<u8>)>,
}

impl Sink for Both {
    fn sight(&mut self, sighting: Sighting) -> io::Result<()> {
        self.sightings.push(sighting);
        Ok(())
    }

    fn frame(&mut self, sighting: Sighting, octets: &[u8]) -> io::Result<()> {
        self.frames.push((sighting, octets.to_vec()));
        Ok(())
    }

    fn clock_error(&mut self, error: ClockError) -> io::Result<()> {
        self.errors.push(error);
        Ok(())
    }
}

pub fn observed(plan: &Plan) -> (Both, RunCounters) {
    let mut both = Both::default();
    let simulation = Simulation::new(plan).expect("a plan that can run");
    let counters = simulation.run(&mut both, &mut unwatched).expect("a sink that takes all");
    (both, counters)
}

pub fn clock(ppm: i64) -> NodeClock {
    NodeClock { deviation_ppt: ppm * 1_000_000, granularity_ns: 8, ..NodeClock::default() }
}

pub fn clocks(ppm: &[i64]) -> Clocks {
    Clocks {
        nodes: ppm.iter().map(|ppm| clock(*ppm)).collect(),
        record_ns: 10_000_000,
        within_ns: None,
        gptp: None,
        faults: Vec::new(),
    }
}

pub fn gptp(slaves: Vec<u32>, per_second: u64) -> Gptp {
    Gptp {
        grandmaster: 0,
        slaves,
        sync_interval_ns: SECOND / per_second,
        pdelay_interval_ns: SECOND,
        pcp: 7,
        wakeup_ns: 50_000,
        ieee_1588: None,
        one_step: false,
        visible: false,
        servo: None,
        bmca: None,
    }
}

/// n0 - n1 - … with one stream from the first to the last node.
pub fn line(nodes: u32, ppm: &[i64], duration_ns: u64) -> Net {
    let mut net = Net::new(duration_ns);
    net.plan.drain_ns = 0;
    let path = net.line(nodes, 2_000, GIGABIT, 5_000);
    net.stream("stream", &path, 6, periodic(1_000_000, 0), frame(200));
    net.plan.clocks = Some(clocks(ppm));
    net
}

pub fn largest(errors: &[ClockError], node: u32, from_ns: u64) -> i64 {
    let of_node = errors.iter().filter(|it| it.node == node && it.t_ns as u64 >= from_ns);
    of_node.filter_map(|it| it.offset_ps).map(i64::abs).max().expect("errors were noted")
}

/// The ports towards the first node, parents first, by the fewest hops; the order of ports decides between
/// equals.
pub fn tree(plan: &Plan) -> Vec<u32> {
    let mut reached = vec![false; plan.nodes.len()];
    reached[0] = true;
    let mut slaves = Vec::new();
    for _ in 0..plan.nodes.len() {
        for (number, port) in plan.ports.iter().enumerate() {
            let parent = plan.ports[port.peer as usize].node as usize;
            if reached[parent] && !reached[port.node as usize] {
                reached[port.node as usize] = true;
                slaves.push(number as u32);
            }
        }
    }
    slaves
}

/// A ring of nodes, each of which is linked to its neighbours.
pub fn ring(ppm: &[i64]) -> Net {
    let nodes = ppm.len() as u32;
    let mut net = line(nodes, ppm, SECOND);
    net.link(nodes - 1, 0, GIGABIT, 5_000);
    net
}

/// An election among clocks of equal quality, whose identities decide.
pub fn bmca(nodes: usize, ports: Vec<u32>) -> Bmca {
    let usual = ClockQuality { priority1: 246, class: 248, accuracy: 0xfe, variance: 0x436a, priority2: 248 };
    Bmca {
        ports,
        clocks: vec![usual; nodes],
        announce_interval_ns: SECOND,
        announce_receipt_timeout: 3,
        sync_receipt_timeout: 3,
    }
}
