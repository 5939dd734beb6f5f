//! Finds which interfaces a cable connects: one host sends frames with its name, others report which frames they
//! receive.
//!
//! `tsnbench-traffic probe send IFACE ID`, `tsnbench-traffic probe listen IFACE… --for 2s`.

mod arguments;
mod frame;
mod listen;
mod send;

use crate::Error;
use crate::system::process;
use arguments::Arguments;

/// Sends or listens.
pub(crate) fn run(words: impl Iterator<Item = String>) -> Result<(), Error> {
    let arguments = Arguments::read(words)?;
    process::end_gently().map_err(|error| Error::System("signals", error))?;
    match arguments {
        Arguments::Send { interface, id, count } => send::send(&interface, &id, count),
        Arguments::Listen { interfaces, for_ns } => listen::listen(&interfaces, for_ns),
    }
}
