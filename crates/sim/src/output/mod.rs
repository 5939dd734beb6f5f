//! What a run leaves: observations, captures and counters.

pub(crate) mod captures;
pub(crate) mod counters;
pub mod record;
pub(crate) mod tally;
pub(crate) mod totals;
