//! Software of hosts in a run: threads, sockets, queueing disciplines, drivers.
//!
//! OCORA Fig. 9.

pub(crate) mod run;
mod shared;
pub(crate) mod state;
