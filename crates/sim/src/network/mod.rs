//! The Plan as tables: hops, links, taps, and the extras of some hops beyond a wire and a queue.

pub(crate) mod hop_extras;
pub(crate) mod tables;
