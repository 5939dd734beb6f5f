//! Queues that feed each other in a circle: the intervals of arrival are assumed, and proved if they follow from
//! themselves.
//!
//! Proof: let all intervals of arrival lead to departures that lead to the same intervals, and let some frame leave later
//! than its interval says. Take the first one to do so. Until then every frame left in time, so every arrival before was
//! in its interval. The frame was delayed by earlier arrivals alone, so it left in time. Thomas, Mifdaoui & Le Boudec,
//! IEEE/ACM Transactions on Networking 30(6), 2022, have the same argument for replication and elimination.

use super::{Queue, Walk, earliest};
use std::collections::BTreeSet;

/// Number of rounds after which intervals that still change count as unlimited.
const MOST_ROUNDS: usize = 32;

impl Walk<'_> {
    /// Follows the frames of queues none of which can be the first.
    pub(super) fn go_around(&mut self, left: impl Iterator<Item = Queue>) {
        let mut inside: BTreeSet<Queue> = left.collect();
        while !inside.is_empty() {
            let Err(failed) = self.settle(&inside) else { return };
            self.forget(&inside);
            inside.retain(|queue| !failed.contains(queue));
        }
    }

    /// Begins with frames that never wait, and lets them wait for each other until nothing changes; the error is queues
    /// that do not settle.
    fn settle(&mut self, inside: &BTreeSet<Queue>) -> Result<(), Vec<Queue>> {
        self.begin(inside);
        let unknown: Vec<Queue> = inside.iter().copied().filter(|queue| !self.ready(*queue)).collect();
        if !unknown.is_empty() {
            return Err(unknown);
        }
        for _ in 0..MOST_ROUNDS {
            let before = self.state(inside);
            let failed: Vec<Queue> = inside.iter().copied().filter(|queue| !self.queue(*queue)).collect();
            if !failed.is_empty() {
                return Err(failed);
            }
            if self.state(inside) == before {
                return Ok(());
            }
        }
        Err(inside.iter().copied().collect())
    }

    /// Lets every frame leave as early as it can.
    fn begin(&mut self, inside: &BTreeSet<Queue>) {
        loop {
            let mut rests = true;
            for flow in self.flows_of(inside) {
                if self.flows[flow].units.is_empty() || !self.flows[flow].out.is_empty() {
                    continue;
                }
                let (number, class) = self.queue_of(flow);
                let port = &self.plan.ports[number as usize];
                let Some(service) = self.service(number, port, class) else { continue };
                let early = earliest(&self.flows[flow].units, &service, port, self.plan.faults.is_empty());
                self.flows[flow].out = early.into_iter().map(|early| (early, early)).collect();
                self.hand_on(flow);
                rests = false;
            }
            if rests {
                return;
            }
        }
    }

    /// Removes all that is assumed of some queues.
    fn forget(&mut self, inside: &BTreeSet<Queue>) {
        for flow in self.flows_of(inside) {
            let number = self.flows[flow].stream;
            let stream = &self.plan.streams[number as usize];
            let parent = stream.route[self.flows[flow].entry].parent;
            let from = parent.map(|parent| super::sources(stream, parent)).unwrap_or_default();
            let assumed = |entry: &u32| {
                self.at
                    .get(&(number, *entry as usize))
                    .is_some_and(|before| inside.contains(&self.queue_of(*before)))
            };
            if from.iter().any(assumed) {
                self.flows[flow].units.clear();
            }
            self.flows[flow].out.clear();
        }
    }

    /// The intervals of all frames of some queues.
    fn state(&self, inside: &BTreeSet<Queue>) -> Vec<(i64, i64)> {
        let flows = self.flows_of(inside).into_iter().map(|flow| &self.flows[flow]);
        flows
            .flat_map(|flow| {
                let arrivals = flow.units.iter().map(|unit| (unit.first, unit.last));
                arrivals.chain(flow.out.iter().copied()).chain([(i64::MIN, flow.units.len() as i64)])
            })
            .collect()
    }

    fn flows_of(&self, inside: &BTreeSet<Queue>) -> Vec<usize> {
        inside.iter().filter_map(|queue| self.queues.get(queue)).flatten().copied().collect()
    }

    pub(super) fn queue_of(&self, flow: usize) -> Queue {
        let own = &self.flows[flow];
        let stream = &self.plan.streams[own.stream as usize];
        let port = stream.route[own.entry].port;
        let pcp = super::priority(stream, own.entry);
        (port, self.plan.ports[port as usize].pcp_to_class[usize::from(pcp & 7)])
    }
}
