//! What goes to who called the program: whole lines on stdout, each at once.

use crate::Error;
use std::io::{self, Write as _};

/// Says one line, which whoever waits for it can read now.
pub fn say(line: &str) -> Result<(), Error> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{line}").and_then(|()| stdout.flush()).map_err(|error| Error::System("stdout", error))
}
