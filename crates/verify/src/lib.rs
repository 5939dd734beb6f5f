//! Proof of a schedule: follows every scheduled frame of a Plan, and reports every violation.
//!
//! IEEE 802.1Q-2022, 8.6.8.4. The proof shares no code with the planner: [`verify`] reads the Plan alone, unrolls the
//! frames of every link over the least common multiple of their periods, and checks each frame.
//!
//! The proof covers every stream with planned times ([`tsn_plan::Scheduled`]). Every frame may be early or late by up
//! to its margin. For all of these frames:
//!
//! - a node sends a frame only after the frame has arrived, and not before its planned time; the gate is open
//!   meanwhile;
//! - no two frames are on a link at once, and no frame that waits for its gate shares its queue with a frame that
//!   passes;
//! - a frame that waits at an open gate has frames ahead of it in its queue that certainly arrive earlier and leave in
//!   time, even if some of them are missing;
//! - no other traffic can be on the wire at the planned start of a frame;
//! - deadlines and limits of jitter are met.
//!
//! [`windows()`] does this for classes that have windows of their own: it computes by when each frame has passed each
//! window, in whatever order frames arrive.

mod backlog;
mod clocks;
mod cut;
mod delays;
mod gates;
mod link;
mod merging;
mod passage;
mod queue;
mod room;
mod unit;
mod violation;
mod walk;
mod windows;

pub use delays::Proven;
pub use violation::{Unfit, Violation};
pub use walk::beside::Changed;
pub use windows::{Open, Passing, Windows, windows};

use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tsn_plan::{Fault, Plan, Port};

/// Knowledge about a network that its Plan does not contain.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Known {
    /// The largest difference between the clocks of two nodes, ps, if the Plan alone does not determine it (a servo
    /// does).
    pub clock_error_ps: Option<u64>,
}

/// The result of the proof.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// The violations; empty if the schedule holds.
    pub violations: Vec<Violation>,
    /// Number of scheduled streams.
    pub streams: u64,
    /// Number of frames on links that were followed.
    pub frames: u64,
    /// Clocks differ by an unknown amount: the proof assumes that no margin is exceeded.
    pub margins_assumed: bool,
    /// The guaranteed delays by stream and listener; empty unless the schedule holds.
    pub delays: Vec<Proven>,
}

/// Follows every scheduled frame of a Plan that was checked.
#[must_use]
pub fn verify(plan: &Plan, known: &Known) -> Report {
    followed(plan, known).0
}

/// The report of [`verify`] with delays that also say whether queues drain after one disturbance.
#[must_use]
pub fn verify_with_backlogs(plan: &Plan, known: &Known) -> Report {
    Proof::of(plan, known).report
}

/// A proof with delays that also say whether queues drain after one disturbance.
#[derive(Clone, Debug)]
pub struct Proof {
    /// What was proved.
    pub report: Report,
    /// By port, the classes whose queues never drain, one bit each.
    stuck: HashMap<u32, u8>,
    /// The queues, by port and class, that may be full.
    full: HashSet<(u32, u8)>,
    /// By stream.
    walks: Vec<Arc<walk::beside::Walked>>,
    /// By stream.
    traits: Vec<walk::beside::Traits>,
    /// By port.
    tables: Vec<Option<Arc<gates::Table>>>,
    /// The streams that an earlier proof does not know so, by their places.
    others: Vec<u32>,
}

impl Proof {
    /// Follows every scheduled frame of a Plan that was checked.
    #[must_use]
    pub fn of(plan: &Plan, known: &Known) -> Self {
        let (mut report, tables, passages) = followed(plan, known);
        let mut stuck = HashMap::new();
        if !report.delays.is_empty() {
            stuck = backlog::stuck(plan, &tables, &passages);
            let undrained = backlog::undrained(&stuck, &passages);
            for delay in &mut report.delays {
                delay.undrained = undrained.get(&delay.stream).copied();
            }
        }
        let full = room::crowded(plan, &passages);
        let walks = walk::beside::by_stream(plan, passages, &report.delays);
        let traits = walks.iter().map(|own| own.traits()).collect();
        Self { report, stuck, full, walks, traits, tables, others: Vec::new() }
    }
}

fn followed(plan: &Plan, known: &Known) -> (Report, Vec<Option<Arc<gates::Table>>>, Vec<passage::Passage>) {
    let mut report = Report::default();
    let table = |port: &Port| port.gates.as_ref().map(|gates| Arc::new(gates::Table::new(gates)));
    let tables: Vec<_> = plan.ports.iter().map(table).collect();
    let passages = walk::follow(plan, &tables, &mut report);
    clocks::covered(plan, known, &mut report);
    link::apart(plan, &passages, &mut report);
    gates::open(plan, 0..plan.streams.len() as u32, &tables, &passages, &mut report);
    if !report.violations.is_empty() || plan.faults.iter().any(|fault| disturbs(plan, &passages, fault)) {
        report.delays.clear();
    }
    let full = room::full(&room::crowded(plan, &passages), &passages);
    let drops = |passage: &passage::Passage| {
        let class = &plan.ports[passage.port as usize].classes[usize::from(passage.class)];
        class.longest_wait_ns.is_some()
    };
    let late: HashSet<u32> =
        passages.iter().filter(|passage| drops(passage)).map(|passage| passage.stream).collect();
    for delay in &mut report.delays {
        delay.full = full.get(&delay.stream).copied();
        delay.drops_late = late.contains(&delay.stream);
    }
    (report, tables, passages)
}

/// Whether a fault changes when scheduled frames pass. Traffic of other classes is not restricted: the gates keep it
/// away. Faults that delay scheduled frames, and wrong schedules at their ports, are outside the proof.
fn disturbs(plan: &Plan, passages: &[passage::Passage], fault: &Fault) -> bool {
    match fault {
        Fault::Babble { stream, .. } => plan.streams[*stream as usize].scheduled.is_some(),
        Fault::Delay { port, .. } | Fault::Duplicate { port, .. } | Fault::Schedule { port, .. } => {
            passages.iter().any(|passage| passage.port == *port)
        }
        Fault::LinkDown { .. } | Fault::Loss { .. } | Fault::NodeDown { .. } => false,
    }
}
