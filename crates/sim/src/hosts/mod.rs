//! Software of hosts in a run: threads, sockets, queueing disciplines, drivers.
//!
//! OCORA Fig. 9.

pub(crate) mod run;
pub(crate) mod state;
