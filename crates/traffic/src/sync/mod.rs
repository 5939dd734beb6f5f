//! How well a host's clocks follow: what ptp4l says of itself, and its hardware clocks beside TAI.
//!
//! `tsnbench-traffic sync`: a line of JSON per reading. It speaks the management protocol of IEEE 1588-2019, clause 15,
//! as `pmc` does, so that nobody has to read texts that change with linuxptp's version.

mod arguments;
mod client;
mod data_sets;
mod identity;
mod message;
mod octets;
mod reading;
#[cfg(test)]
mod samples;

use crate::Error;
use crate::output::say;
use crate::system::{clock, process};
use arguments::Arguments;
use client::Client;
use reading::Reading;

/// Reads until somebody asks for the end, or so many times.
pub(crate) fn run(words: impl Iterator<Item = String>) -> Result<(), Error> {
    let arguments = Arguments::read(words)?;
    process::end_gently().map_err(|error| Error::System("signals", error))?;
    let on_clock = |error| Error::System("CLOCK_TAI", error);
    let made = Client::new(&arguments.socket, arguments.domain);
    let mut client = made.map_err(|error| Error::System("a socket for ptp4l's answers", error))?;
    let mut due = clock::now_ns().map_err(on_clock)?;
    let mut taken = 0;
    while !process::asked_to_end() && arguments.count.is_none_or(|count| taken < count) {
        let reading = Reading::take(&mut client, &arguments.phcs).map_err(on_clock)?;
        say(&serde_json::to_string(&reading).map_err(|error| Error::System("stdout", error.into()))?)?;
        taken += 1;
        if arguments.count == Some(taken) {
            break;
        }
        // Readings that are late are left out; they do not come in a row.
        let now = clock::now_ns().map_err(on_clock)?;
        due = due.saturating_add(arguments.every_ns).max(now);
        clock::sleep_until(due).map_err(on_clock)?;
    }
    Ok(())
}
