//! The output of a run: observations, captures and counters.

pub(crate) mod captures;
pub(crate) mod counters;
pub(crate) mod journal;
pub(crate) mod passages;
pub mod record;
pub(crate) mod stream_totals;
pub(crate) mod totals;
