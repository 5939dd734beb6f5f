//! Proof of a schedule: follows every scheduled frame of a Plan, and says what would go wrong.
//!
//! IEEE 802.1Q-2022, 8.6.8.4. Shares nothing with what makes schedules: [`verify`] reads the Plan alone, unrolls every
//! link's frames over the least common multiple of their periods, and looks at each.
//!
//! What is proved, for every stream with planned times ([`tsn_plan::Scheduled`]), with every frame up to its margin
//! early or late:
//!
//! - frames go on when they have come, and not earlier than planned; the gate is open while they pass;
//! - no two of them are on a link at once, and none waits for its gate in a queue that another one passes;
//! - who waits at an open gate is behind others, of which it is certain that they come first and are gone in time, also
//!   where some are missing;
//! - nobody else can be on the wire when one is to start;
//! - deadlines and limits of jitter are met.
//!
//! [`windows()`] does the same for classes that have windows to themselves: by when each frame has passed which, whoever
//! came first.

mod clocks;
mod cut;
mod delays;
mod gates;
mod link;
mod passage;
mod queue;
mod unit;
mod violation;
mod walk;
mod windows;

pub use delays::Proven;
pub use violation::{Unfit, Violation};
pub use windows::{Open, Passing, Windows, windows};

use serde::{Deserialize, Serialize};
use tsn_plan::Plan;

/// What is known beyond the Plan.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Known {
    /// The most that two nodes' clocks differ by, where the Plan alone does not say (a servo keeps them together); ps.
    pub clock_error_ps: Option<u64>,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// What would go wrong; nothing, if the schedule holds.
    pub violations: Vec<Violation>,
    /// Scheduled streams.
    pub streams: u64,
    /// Frames on links that were followed.
    pub frames: u64,
    /// Clocks differ, by how much is not known: it is taken for granted that no margin is exceeded.
    pub margins_assumed: bool,
    /// What no frame's delay exceeds, by stream and listener; nothing, unless the schedule holds.
    pub delays: Vec<Proven>,
}

/// Follows every scheduled frame of a Plan that was checked.
#[must_use]
pub fn verify(plan: &Plan, known: &Known) -> Report {
    let mut report = Report::default();
    let tables: Vec<_> = plan.ports.iter().map(|port| port.gates.as_ref().map(gates::Table::new)).collect();
    let passages = walk::follow(plan, &tables, &mut report);
    clocks::covered(plan, known, &mut report);
    link::apart(plan, &passages, &mut report);
    gates::open(plan, &tables, &passages, &mut report);
    // Faults that hold frames back, or ports that obey a wrong schedule, are no part of the proof.
    if !report.violations.is_empty() || !plan.faults.iter().all(tsn_plan::Fault::only_takes) {
        report.delays.clear();
    }
    report
}
