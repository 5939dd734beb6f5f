//! How well a host's clocks are synchronised: the data sets of ptp4l, and the host's hardware clocks compared to TAI.
//!
//! `tsnbench-traffic sync`: a line of JSON per reading. The program uses the management protocol of IEEE 1588-2019,
//! clause 15, as `pmc` does, and so does not depend on texts that change with linuxptp's version.

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
use crate::output::print_line;
use crate::system::{clock, process};
use arguments::Arguments;
use client::Client;
use reading::Reading;

/// Reads until a signal, or the given number of readings, ends the program.
pub(crate) fn run(words: impl Iterator<Item = String>) -> Result<(), Error> {
    let arguments = Arguments::read(words)?;
    process::end_gently().map_err(|error| Error::System("signals", error))?;
    let on_clock = |error| Error::System("CLOCK_TAI", error);
    let made = Client::new(&arguments.socket, arguments.domain);
    let mut client = made.map_err(|error| Error::System("a socket for ptp4l's answers", error))?;
    let mut due = clock::now_ns().map_err(on_clock)?;
    let mut taken = 0;
    while !process::end_requested() && arguments.count.is_none_or(|count| taken < count) {
        let reading = Reading::take(&mut client, &arguments.phcs).map_err(on_clock)?;
        print_line(&serde_json::to_string(&reading).map_err(|error| Error::System("stdout", error.into()))?)?;
        taken += 1;
        if arguments.count == Some(taken) {
            break;
        }
        // A reading whose time has passed is left out, so that there is always a pause between two readings.
        let now = clock::now_ns().map_err(on_clock)?;
        due = due.saturating_add(arguments.every_ns).max(now);
        clock::sleep_until(due).map_err(on_clock)?;
    }
    Ok(())
}
