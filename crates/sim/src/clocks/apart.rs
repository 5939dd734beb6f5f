//! The greatest difference between any two clocks of a run, to check the promise of the scenario about it.
//!
//! Between two changes of a clock all of them are linear functions of true time, and a greatest difference of such
//! functions is reached at an end: so they are compared before and after each change.

use crate::ids::NodeId;
use tsn_plan::Clocks;
use tsn_units::{Instant, Local};

/// The greatest difference so far, from the first release on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Apart {
    /// The nodes whose clocks show the common time; none without a promise.
    nodes: Vec<NodeId>,
    pub begun: bool,
    pub most: Option<Difference>,
}

/// How much one clock led another one at one instant.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    pub ps: i64,
    pub at: Instant,
    pub ahead: NodeId,
    pub behind: NodeId,
}

impl Apart {
    pub fn new(clocks: &Clocks) -> Self {
        let all = (0..clocks.nodes.len() as u32).filter(|node| clocks.keeps_time(*node));
        let nodes = if clocks.within_ns.is_some() { all.map(NodeId).collect() } else { Vec::new() };
        Self { nodes, ..Self::default() }
    }

    /// Compares the readings of all clocks at `now`, once a talker has released a data unit.
    pub fn compare(&mut self, now: Instant, shows: impl Fn(NodeId) -> Instant<Local>) {
        if !self.begun {
            return;
        }
        let all = || self.nodes.iter().map(|node| (shows(*node), *node));
        // Of equal clocks the first one.
        let ahead = all().max_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
        let (Some(ahead), Some(behind)) = (ahead, all().min()) else { return };
        let ps = (ahead.0 - behind.0).ps();
        if self.most.is_none_or(|most| ps > most.ps) {
            self.most = Some(Difference { ps, at: now, ahead: ahead.1, behind: behind.1 });
        }
    }
}
