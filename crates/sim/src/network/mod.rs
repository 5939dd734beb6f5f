//! The Plan as tables: hops, links, taps, and what some hops have beyond a wire and a queue.

pub(crate) mod hop_extras;
pub(crate) mod tables;
