//! Commands in sequence, each with its time limit, and the commands that undo them.

use super::journal::Words;
use crate::system::clock;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Octets of a command's output that are kept.
const MOST_OUTPUT: u64 = 1 << 26;
/// Time limit of each step of an undo: the host has to be free soon.
const UNDO_LIMIT: Duration = Duration::from_secs(5);
/// Interval at which the end of a command is checked.
const LOOK: Duration = Duration::from_millis(1);

/// The result of a command.
#[derive(Debug, Default)]
pub struct Done {
    /// Exit code; 128 + signal; 127 if there is no such program; 124 if the time limit was exceeded.
    pub code: i32,
    pub out: Vec<u8>,
    pub err: Vec<u8>,
    pub begun_ns: i64,
    pub ended_ns: i64,
}

/// The steps that could not be undone, in words.
#[derive(Debug, Default)]
pub struct Undone {
    pub failed: Vec<String>,
}

/// Runs a command; its output goes to files, so that a process that it leaves running cannot block the agent.
pub fn run(words: &[String], input: &[u8], limit: Duration, folder: &Path, go_on: &dyn Fn() -> bool) -> Done {
    let begun_ns = clock::now_ns().unwrap_or(0);
    let mut done = attempt(words, input, limit, folder, go_on).unwrap_or_else(|error| Done {
        code: 127,
        err: format!("{}: {error}", words.first().map_or("", String::as_str)).into_bytes(),
        ..Done::default()
    });
    (done.begun_ns, done.ended_ns) = (begun_ns, clock::now_ns().unwrap_or(0));
    done
}

fn attempt(
    words: &[String],
    input: &[u8],
    limit: Duration,
    folder: &Path,
    go_on: &dyn Fn() -> bool,
) -> io::Result<Done> {
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    let (program, rest) = words.split_first().ok_or_else(|| io::Error::other("no command"))?;
    let (mut out, mut err) = (unnamed()?, unnamed()?);
    let stdin = if input.is_empty() {
        Stdio::null()
    } else {
        let mut file = unnamed()?;
        file.write_all(input)?;
        file.rewind()?;
        file.into()
    };
    let mut child = Command::new(program)
        .args(rest)
        .current_dir(if folder.is_dir() { folder } else { Path::new("/") })
        .env("LC_ALL", "C")
        .env("PATH", path())
        .stdin(stdin)
        .stdout(out.try_clone()?)
        .stderr(err.try_clone()?)
        .process_group(0)
        .spawn()?;
    let until = Instant::now() + limit;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if Instant::now() > until || !go_on() {
            crate::system::process::signal_group(child.id(), libc::SIGKILL);
            child.wait()?;
            break None;
        }
        std::thread::sleep(LOOK);
    };
    let code =
        status.map_or(124, |status| status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)));
    Ok(Done { code, out: all(&mut out)?, err: all(&mut err)?, ..Done::default() })
}

/// Undoes steps, the last one first. A step that fails does not keep other steps from being undone.
pub fn undo(steps: &[Words], folder: &Path) -> Undone {
    let mut undone = Undone::default();
    for words in steps.iter().rev() {
        let done = run(words, &[], UNDO_LIMIT, folder, &|| true);
        if done.code != 0 {
            let errors = String::from_utf8_lossy(&done.err);
            undone.failed.push(format!("{}: {}", words.join(" "), errors.trim()));
        }
    }
    undone
}

/// The folders of programs, completed by those of the system, which the lists of some users lack.
pub fn path() -> String {
    let own = std::env::var("PATH").unwrap_or_default();
    format!("{own}:/usr/sbin:/sbin:/usr/bin:/bin")
}

/// A file in memory, without a name.
fn unnamed() -> io::Result<File> {
    crate::system::process::memory_file()
}

fn all(file: &mut File) -> io::Result<Vec<u8>> {
    let mut octets = Vec::new();
    file.rewind()?;
    file.take(MOST_OUTPUT).read_to_end(&mut octets)?;
    Ok(octets)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(text: &str, input: &[u8]) -> Done {
        let words: Vec<_> = ["sh", "-c", text].map(str::to_owned).into();
        run(&words, input, Duration::from_millis(500), Path::new("/"), &|| true)
    }

    #[test]
    fn output_and_code() {
        let done = sh("cat; echo no >&2; exit 5", b"abc");
        assert_eq!((done.code, done.out.as_slice(), done.err.as_slice()), (5, &b"abc"[..], &b"no\n"[..]));
        assert!(done.begun_ns <= done.ended_ns);
    }

    #[test]
    fn what_does_not_end_is_ended_with_its_children() {
        let began = Instant::now();
        assert_eq!(sh("sleep 60 & sleep 60", b"").code, 124);
        assert!(began.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn what_is_left_running_holds_nobody_up() {
        assert_eq!(sh("sleep 1 & echo done", b"").out, b"done\n");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let done = run(&["no-such-program".to_owned()], &[], UNDO_LIMIT, Path::new("/"), &|| true);
        assert_eq!(done.code, 127);
        assert!(String::from_utf8_lossy(&done.err).contains("no-such-program"));
    }

    #[test]
    fn the_last_step_is_undone_first_and_a_failure_stops_nothing() {
        let file = std::env::temp_dir().join(format!("tsnbench-undo-{}", std::process::id()));
        let step = |what: &str| ["sh", "-c", what].map(str::to_owned).to_vec();
        let write = |word: &str| step(&format!("echo {word} >>{}", file.display()));
        let undone = undo(&[write("first"), step("exit 1"), write("last")], Path::new("/"));
        assert_eq!(undone.failed.len(), 1);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "last\nfirst\n");
        std::fs::remove_file(file).unwrap();
    }
}
