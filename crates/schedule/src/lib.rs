//! Schedules for time-triggered streams: the release and the path of every stream, so that no two frames collide.
//!
//! IEEE 802.1Qcc-2018, 46. The engine uses the arithmetic of periods: two streams with periods `p` and `q` collide on
//! a link if and only if their intervals overlap modulo gcd(p, q).
//!
//! - [`Problem`]: nodes, links with the limits of their hardware, streams with their requirements. Pure data; all
//!   documents here are read and written with serde.
//! - [`solve()`] places all streams of a problem; [`solve_keeping`] keeps the places of an earlier plan: an
//!   [`Outcome`].
//! - [`Engine`]: keeps the placed streams; adds and removes streams one at a time.
//! - [`Placed`]: the place of one stream: release, path, queue, and the times at which its frames leave every node.
//! - [`gate_lists`]: the gate control list of every link, or the reason why its hardware can have none.
//! - [`candidate_paths`]: possible paths with the times of every hop, for other search engines.
//! - [`explain()`]: the reasons why streams have no place, as data; a [`Reason`] displays as a sentence.
//!
//! Times are in integer picoseconds. A bridge forwards an arriving frame at once (no-wait) if possible. Otherwise the
//! frame waits, alone in its queue, for its planned instant. The delay of a stream is the same in every cycle. If no
//! place exists under these rules and [`Effort::share`] is set, frames wait behind other frames in one queue.

mod beside;
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

pub use beside::Resident;
pub use engine::Engine;
pub use explain::{Depth, Hop, Reason, Share, explain};
pub use gates::{GateEntry, GateList, GateRefusal, gate_lists};
pub use paths::{CandidatePath, PathHop, candidate_paths};
pub use placement::{Placed, Refusal};
pub use problem::{Limits, Link, Node, Problem, ProblemError, Stream, Tree, TreeEntry};
pub use solve::{Effort, Outcome, solve, solve_keeping};
