//! The event kernel: events, their order, and the loop that takes them.

pub(crate) mod calendar;
pub(crate) mod event;
pub(crate) mod simulation;
