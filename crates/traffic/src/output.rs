//! Output for the calling program: whole lines on stdout, each written at once.

use crate::Error;
use std::io::{self, Write as _};

/// Prints one line, which a waiting reader gets at once.
pub fn print_line(line: &str) -> Result<(), Error> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{line}").and_then(|()| stdout.flush()).map_err(|error| Error::System("stdout", error))
}
