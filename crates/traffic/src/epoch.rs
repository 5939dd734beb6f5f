//! The Plan's zero on TAI: given, in a moment, or in a file that is written once all programs of a run are ready.

use crate::Error;
use crate::arguments::Arguments;
use crate::system::{clock, process};
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

/// From the start of the program to the Plan's zero, where nobody says when that is.
const LEAD_NS: i64 = 100_000_000;
/// How often the file is looked for.
const LOOK_NS: i64 = 5_000_000;

/// The Plan's zero, in a moment unless it is given.
///
/// # Errors
/// As [`given`]; when the kernel has no TAI.
pub fn epoch(arguments: &Arguments) -> Result<i64, Error> {
    match given(arguments)? {
        Some(epoch_ns) => Ok(epoch_ns),
        None => Ok(now_ns()? + LEAD_NS),
    }
}

/// The Plan's zero, if it is given. Whoever calls is ready for it.
///
/// # Errors
/// As [`wait`].
pub fn given(arguments: &Arguments) -> Result<Option<i64>, Error> {
    arguments.epoch_from.as_deref().map_or(Ok(arguments.epoch_ns), |path| wait(path).map(Some))
}

/// Says in a file `PATH.PID` that this program is ready, and waits for PATH, which must appear whole.
/// With `-` in place of PATH it says `armed` on standard output, and the zero comes on standard input.
///
/// # Errors
/// When a file cannot be written or read, PATH is no number, or this program is asked to end.
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
            Err(_) if process::asked_to_end() => {
                return Err(failed(io::Error::from(io::ErrorKind::Interrupted)));
            }
            Err(_) => {
                let next = now_ns()?.saturating_add(LOOK_NS);
                clock::sleep_until(next).map_err(|error| Error::System("CLOCK_TAI", error))?;
            }
        }
    }
}

/// Says `armed`, waits for the zero, and says by how much that came before the zero: `ahead NS`.
fn converse(input: &mut impl BufRead, output: &mut impl Write) -> Result<i64, Error> {
    let failed = |error| Error::System("whoever says when", error);
    writeln!(output, "armed").and_then(|()| output.flush()).map_err(failed)?;
    let mut line = String::new();
    input.read_line(&mut line).map_err(failed)?;
    let epoch_ns = match line.trim() {
        "" => return Err(Error::Usage("called off: nobody said when".into())),
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
    fn a_conversation_is_called_off_when_it_ends() {
        let told = |mut input: &[u8]| {
            let mut said = Vec::new();
            (converse(&mut input, &mut said).ok(), String::from_utf8(said).unwrap())
        };
        let (epoch_ns, said) = told(b"1700000037000000000\n");
        assert_eq!(epoch_ns, Some(1_700_000_037_000_000_000));
        assert!(said.starts_with("armed\nahead -"), "{said}");
        assert_eq!(told(b""), (None, "armed\n".to_owned()));
        assert_eq!(told(b"soon\n").0, None);
    }

    #[test]
    fn a_program_says_that_it_is_ready_before_it_is_told_the_epoch() {
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
