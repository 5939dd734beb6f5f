//! Checks of nodes and their ports.

mod bridging;
mod gates;
mod host;
mod learning;
mod policing;
mod port;
