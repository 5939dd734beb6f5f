//! Families of problems, drawn from a seed: for measurements and tests.

use crate::problem::{Limits, Link, Node, Problem, Stream};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// How the bridges hang together.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One after the other.
    Line,
    /// The same, closed.
    Ring,
    /// Every bridge but the first hangs on that with half its number.
    Tree,
    /// Everyone with everyone.
    Mesh,
    /// A square.
    Grid,
    /// Four links each, drawn.
    Regular,
}

/// What a family's problems have in common.
#[derive(Clone, Debug)]
pub struct Family {
    /// How the bridges hang together.
    pub shape: Shape,
    /// How many.
    pub bridges: u32,
    /// How many streams, between stations drawn at random.
    pub streams: u32,
    /// Stations at each bridge.
    pub stations: u32,
    /// All links, bit/s.
    pub rate_bps: u64,
    /// Every bridge, ps.
    pub processing_ps: i64,
    /// Drawn for each stream, ns.
    pub periods_ns: Vec<i64>,
    /// Sizes are drawn from the first to the second, octets.
    pub octets: (u32, u32),
    /// Deadline: the period; or, in an empty network, nothing more than is needed.
    pub slack: bool,
    /// No link is asked for more than this, in parts per million: streams that would are drawn anew, at most so often.
    pub busiest_ppm: i64,
    /// For time-triggered streams, at every port.
    pub queues: u8,
    /// For the draws.
    pub seed: u64,
}

impl Default for Family {
    fn default() -> Self {
        Self {
            shape: Shape::Grid,
            bridges: 64,
            streams: 1_000,
            stations: 4,
            rate_bps: 1_000_000_000,
            processing_ps: 2_000_000,
            periods_ns: vec![500_000, 1_000_000, 2_000_000, 4_000_000],
            octets: (100, 500),
            slack: true,
            busiest_ppm: 900_000,
            queues: 1,
            seed: 1,
        }
    }
}

impl Family {
    /// One problem.
    #[must_use]
    pub fn draw(&self) -> Problem {
        let mut draws = ChaCha8Rng::seed_from_u64(self.seed);
        let mut problem = Problem { granularity_ns: 1, ..Problem::default() };
        let bridges = self.bridges.max(2);
        for _ in 0..bridges {
            problem.nodes.push(Node { processing_ps: self.processing_ps, forwards: true });
        }
        for (a, b) in self.pairs(bridges, &mut draws) {
            self.link(&mut problem, a, b);
        }
        let mut stations = Vec::new();
        for bridge in 0..bridges {
            for _ in 0..self.stations.max(1) {
                let station = problem.nodes.len() as u32;
                problem.nodes.push(Node { processing_ps: 0, forwards: false });
                self.link(&mut problem, station, bridge);
                stations.push(station);
            }
        }
        self.streams(&mut problem, &stations, &mut draws);
        problem
    }

    fn link(&self, problem: &mut Problem, a: u32, b: u32) {
        for (from, to) in [(a, b), (b, a)] {
            problem.links.push(Link {
                from,
                to,
                rate_bps: self.rate_bps,
                propagation_ps: 50_000,
                margin_ps: 0,
                queues: self.queues,
                limits: Limits::default(),
            });
        }
    }

    fn pairs(&self, bridges: u32, draws: &mut ChaCha8Rng) -> Vec<(u32, u32)> {
        let line = (1..bridges).map(|b| (b - 1, b));
        match self.shape {
            Shape::Line => line.collect(),
            Shape::Ring => line.chain((bridges > 2).then_some((bridges - 1, 0))).collect(),
            Shape::Tree => (1..bridges).map(|b| ((b - 1) / 2, b)).collect(),
            Shape::Mesh => (0..bridges).flat_map(|a| (a + 1..bridges).map(move |b| (a, b))).collect(),
            Shape::Grid => {
                let side = bridges.isqrt().max(1);
                let right =
                    (0..bridges).filter(|b| b % side + 1 < side && b + 1 < bridges).map(|b| (b, b + 1));
                right.chain((0..bridges).filter(|b| b + side < bridges).map(|b| (b, b + side))).collect()
            }
            // Two rings through all of them, each in an order of its own.
            Shape::Regular => {
                let mut order: Vec<u32> = (0..bridges).collect();
                let mut pairs: Vec<(u32, u32)> = Vec::new();
                for _ in 0..2 {
                    for place in (1..order.len()).rev() {
                        order.swap(place, draws.next_u32() as usize % (place + 1));
                    }
                    pairs.extend(order.windows(2).map(|pair| (pair[0], pair[1])));
                    pairs.push((order[order.len() - 1], order[0]));
                }
                pairs
            }
        }
    }

    fn streams(&self, problem: &mut Problem, stations: &[u32], draws: &mut ChaCha8Rng) {
        let mut routes = crate::paths::Routes::new(problem);
        let mut refused = 0;
        while problem.streams.len() < self.streams as usize && refused < 20 * self.streams {
            let mut below = |most: usize| draws.next_u64() as usize % most.max(1);
            let (talker, listener) = (stations[below(stations.len())], stations[below(stations.len())]);
            let period_ns = self.periods_ns[below(self.periods_ns.len())];
            let octets = self.octets.0 + below((self.octets.1 - self.octets.0 + 1) as usize) as u32;
            if talker == listener {
                continue;
            }
            let mut stream = Stream {
                talker,
                listeners: vec![listener],
                period_ns,
                frames: vec![octets],
                deadline_ns: period_ns,
                earliest_ns: 0,
                latest_ns: period_ns - 1,
                tree: None,
                copies: 1,
                more_octets: Vec::new(),
                jitter_ns: None,
                queue: None,
            };
            let Some(tree) = routes.tree(problem, &stream, 0) else { continue };
            let shape = crate::shape::Shape::new(problem, &stream, &tree, &[], &[]);
            let share = |len: i64| len * crate::paths::WHOLE / (period_ns * 1_000);
            let full = |part: &crate::shape::Use| {
                routes.load[part.link as usize] + share(part.len) > self.busiest_ppm
            };
            if shape.uses.iter().any(full) || shape.delay > period_ns * 1_000 {
                refused += 1;
                continue;
            }
            for part in &shape.uses {
                routes.load[part.link as usize] += share(part.len);
            }
            if !self.slack {
                stream.deadline_ns = (shape.delay + 999) / 1_000;
            }
            problem.streams.push(stream);
        }
    }
}
