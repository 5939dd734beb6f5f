//! Schedules for time-triggered streams: when each is released, and by which way, so that no two frames meet.
//!
//! IEEE 802.1Qcc-2018, 46; the engine follows no paper but the arithmetic of periods: two streams whose periods
//! are `p` and `q` meet on a link if and only if their intervals do modulo gcd(p, q).
//!
//! - [`Problem`]: nodes, links, streams with what they need. Pure data.
//! - [`Engine`]: keeps what is placed, takes streams in and out.
//! - [`solve`]: places all streams of a problem.
//! - [`Placed`]: what was decided for one stream.
//!
//! Times are in integer picoseconds. A frame that arrives at a node goes on at once (no-wait) where that is
//! possible; else it waits, alone in its queue, for the instant that was planned for it. Its delay is the same in every cycle.

mod busy;
mod disjoint;
mod engine;
mod explain;
pub mod families;
mod gates;
mod line;
mod periods;
mod problem;
mod routes;
mod shape;
mod solve;
mod wait;
mod words;

pub use engine::{Engine, Placed, Refusal};
pub use explain::{Depth, Hop, Reason, Share, explain};
pub use gates::{GateEntry, GateList, GateRefusal, gate_lists};
pub use problem::{Limits, Link, Node, Problem, ProblemError, Stream, Tree, TreeEntry};
pub use solve::{Effort, Outcome, solve, solve_keeping};
