//! Faults of a run: links that impair frames, nodes that are down, ports that use a wrong gate control list.

pub(crate) mod impairment;
pub(crate) mod outages;
pub(crate) mod run;
