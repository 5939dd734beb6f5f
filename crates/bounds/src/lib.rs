//! Worst-case bounds of a Plan: for every flow, listener, hop and queue, from the Plan alone.
//!
//! Total-flow analysis by network calculus, in integers: upper bounds round up, lower bounds round down.
//! `docs/concepts/bounds.md` separates the proven from the conservative parts.
//!
//! - Upper bound: no frame takes longer, for all phases, jitter and other flows that the Plan permits.
//! - Lower bound: no frame is faster.
//! - If nothing can be guaranteed, there is no bound, but a [`Reason`].

mod analysis;
mod curve;
mod linear;
mod model;
mod parts;
mod reason;
mod report;
mod service;

pub use analysis::{Memory, bounds, bounds_of, bounds_with, lower_bounds};
pub use parts::{Cause, HopParts, Part, Parts, Whole, parts};
pub use reason::Reason;
pub use report::{Bounds, ClassBounds, FlowBounds, HopBounds, PortBounds, Survival};
