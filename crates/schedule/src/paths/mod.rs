//! Paths through the network: shortest ones, disjoint ones, and candidates for other engines.

mod alternatives;
mod disjoint;
mod routes;

pub use alternatives::{CandidatePath, PathHop, candidate_paths};
pub(crate) use routes::{Routes, WHOLE};
