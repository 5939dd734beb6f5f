//! Worst-case bounds of a Plan: for every flow, listener, hop and queue, from the Plan alone.
//!
//! Total-flow analysis by network calculus, in integers: upper bounds round up, lower bounds round down. What is
//! proven, and what is conservative, is in `docs/concepts/bounds.md`.
//!
//! - Upper bound: no frame takes longer, whatever phases, jitter and other flows do within what the Plan lets them.
//! - Lower bound: no frame is faster.
//! - Where nothing can be said for sure, there is no bound, and the [`Reason`].

mod analysis;
mod curve;
mod model;
mod reason;
mod report;
mod service;

pub use analysis::network::bounds;
pub use reason::Reason;
pub use report::{Bounds, ClassBounds, FlowBounds, HopBounds, PortBounds};
