//! Output for the calling program: whole lines on stdout, each written at once, and messages on stderr.

use crate::Error;
use std::io::{self, Write as _};

/// Prints one line, which a waiting reader gets at once.
pub fn print_line(line: &str) -> Result<(), Error> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{line}").and_then(|()| stdout.flush()).map_err(|error| Error::System("stdout", error))
}

/// Prints a message on stderr. Where it cannot be written, as on a full disk, it is lost.
pub fn print_message(message: &str) {
    let _ = writeln!(io::stderr().lock(), "tsnbench-traffic: {message}");
}
