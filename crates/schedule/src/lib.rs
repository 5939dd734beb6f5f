//! Schedules for time-triggered streams: when each is released, and by which path, so that no two frames meet.
//!
//! IEEE 802.1Qcc-2018, 46; the engine follows no paper but the arithmetic of periods: two streams whose periods
//! are `p` and `q` meet on a link if and only if their intervals do modulo gcd(p, q).
//!
//! - [`Problem`]: nodes, links with what their hardware can do, streams with what they need. Pure data; all documents
//!   here are read and written with serde.
//! - [`solve`] places all streams of a problem, [`solve_keeping`] beside what an earlier plan decided: an [`Outcome`].
//! - [`Engine`]: keeps what is placed, takes streams in and out one at a time.
//! - [`Placed`]: what was decided for one stream: release, path, queue, and when its frames leave every node.
//! - [`gate_lists`]: every link's gate control list, or why its hardware can have none.
//! - [`candidate_paths`]: possible paths with the times of every hop, for engines that search in another way.
//! - [`explain`]: why streams were refused, as data; a [`Reason`] displays as a sentence.
//!
//! Times are in integer picoseconds. A frame that arrives at a node goes on at once (no-wait) where that is
//! possible; else it waits, alone in its queue, for the instant that was planned for it. Its delay is the same in every cycle.
//! Where that leaves no place and [`Effort::share`] says so, it waits behind other frames in one queue.

mod buffering;
mod engine;
mod explain;
mod follow;
mod gates;
#[cfg(feature = "generators")]
pub mod generators;
mod line;
mod occupancy;
mod paths;
mod periods;
mod placement;
mod problem;
mod shape;
mod solve;

pub use engine::Engine;
pub use explain::{Depth, Hop, Reason, Share, explain};
pub use gates::{GateEntry, GateList, GateRefusal, gate_lists};
pub use paths::{CandidatePath, PathHop, candidate_paths};
pub use placement::{Placed, Refusal};
pub use problem::{Limits, Link, Node, Problem, ProblemError, Stream, Tree, TreeEntry};
pub use solve::{Effort, Outcome, solve, solve_keeping};
