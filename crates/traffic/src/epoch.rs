//! The Plan's zero on TAI: given, shortly after the start, or in a file that is written once all programs of a run
//! are ready.

use crate::Error;
use crate::arguments::Arguments;
use crate::system::{clock, process};
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

/// Time from the start of the program to the Plan's zero by default.
const LEAD_NS: i64 = 100_000_000;
/// Interval at which the file is checked.
const LOOK_NS: i64 = 5_000_000;

/// The Plan's zero; shortly after the call by default.
///
/// # Errors
/// As [`given_epoch`]; when the kernel has no TAI.
pub fn epoch(arguments: &Arguments) -> Result<i64, Error> {
    match given_epoch(arguments)? {
        Some(epoch_ns) => Ok(epoch_ns),
        None => Ok(now_ns()? + LEAD_NS),
    }
}

/// The Plan's zero, if it is given. The caller must be ready to send or receive before the call.
///
/// # Errors
/// As [`wait`].
pub fn given_epoch(arguments: &Arguments) -> Result<Option<i64>, Error> {
    arguments.epoch_from.as_deref().map_or(Ok(arguments.epoch_ns), |path| wait(path).map(Some))
}

/// Reports in a file `PATH.PID` that this program is ready, and waits for PATH, which must appear complete. With `-`
/// instead of PATH, it prints `armed` on standard output, and reads the zero from standard input.
///
/// # Errors
/// When a file cannot be written or read, PATH contains no number, or a signal ends this program.
pub fn wait(path: &Path) -> Result<i64, Error> {
    if path == Path::new("-") {
        return converse(&mut io::stdin().lock(), &mut io::stdout().lock());
    }
    let failed = |error| Error::File(path.to_owned(), error);
    let mut ready = path.as_os_str().to_owned();
    ready.push(format!(".{}", std::process::id()));
    let ready = PathBuf::from(ready);
    std::fs::write(&ready, "").map_err(|error| Error::File(ready.clone(), error))?;
    loop {
        match std::fs::read_to_string(path) {
            Ok(text) => {
                let number = text.trim().parse();
                return number.map_err(|_| failed(io::Error::from(io::ErrorKind::InvalidData)));
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            Err(_) if process::end_requested() => {
                return Err(failed(io::Error::from(io::ErrorKind::Interrupted)));
            }
            Err(_) => {
                let next = now_ns()?.saturating_add(LOOK_NS);
                clock::sleep_until(next).map_err(|error| Error::System("CLOCK_TAI", error))?;
            }
        }
    }
}

/// Prints `armed`, waits for the zero, and prints how long before the zero it was received: `ahead NS`.
fn converse(input: &mut impl BufRead, output: &mut impl Write) -> Result<i64, Error> {
    let failed = |error| Error::System("standard input or output", error);
    writeln!(output, "armed").and_then(|()| output.flush()).map_err(failed)?;
    let mut line = String::new();
    input.read_line(&mut line).map_err(failed)?;
    let epoch_ns = match line.trim() {
        "" => return Err(Error::Usage("the input ended without a zero".into())),
        word => word.parse().map_err(|_| Error::Usage("expected a moment on standard input".into()))?,
    };
    writeln!(output, "ahead {}", now_ns()?.saturating_neg().saturating_add(epoch_ns))
        .and_then(|()| output.flush())
        .map_err(failed)?;
    Ok(epoch_ns)
}

fn now_ns() -> Result<i64, Error> {
    clock::now_ns().map_err(|error| Error::System("CLOCK_TAI", error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_the_epoch_ends_with_the_input() {
        let output_for = |mut input: &[u8]| {
            let mut output = Vec::new();
            (converse(&mut input, &mut output).ok(), String::from_utf8(output).unwrap())
        };
        let (epoch_ns, output) = output_for(b"1700000037000000000\n");
        assert_eq!(epoch_ns, Some(1_700_000_037_000_000_000));
        assert!(output.starts_with("armed\nahead -"), "{output}");
        assert_eq!(output_for(b""), (None, "armed\n".to_owned()));
        assert_eq!(output_for(b"soon\n").0, None);
    }

    #[test]
    fn a_program_reports_that_it_is_ready_and_waits_for_the_epoch() {
        let folder = std::env::temp_dir().join(format!("tsnbench-epoch-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("epoch");
        let ready = folder.join(format!("epoch.{}", std::process::id()));
        let waits = std::thread::spawn({
            let path = path.clone();
            move || wait(&path)
        });
        while !ready.exists() {
            std::thread::yield_now();
        }
        assert!(!waits.is_finished());
        std::fs::write(folder.join("written"), "1700000037000000000\n").unwrap();
        std::fs::rename(folder.join("written"), &path).unwrap();
        assert_eq!(waits.join().unwrap().unwrap(), 1_700_000_037_000_000_000);
        std::fs::write(&path, "soon\n").unwrap();
        assert!(wait(&path).is_err());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
