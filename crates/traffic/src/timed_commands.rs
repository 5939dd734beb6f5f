//! Lines that a waiting program gets at their moments: the changes that a Plan makes to its network during a run.
//!
//! `tsnbench-traffic steps FILE --epoch-from FILE --dilate D --log FILE -- tc -n wires -batch -`; a line of the file
//! is `moment-ns<TAB>line`. The start of a program takes milliseconds, which would be too late.

use crate::Error;
use crate::arguments::PRIORITY;
use crate::epoch;
use crate::system::{clock, process};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The Plan's zero on TAI.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Epoch {
    /// The zero is given.
    At(i64),
    /// The zero will be written to a file once all programs are ready.
    From(PathBuf),
}

/// The command line of `steps`, read.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Arguments {
    steps: PathBuf,
    epoch: Epoch,
    dilate: i64,
    log: PathBuf,
    program: Vec<String>,
}

impl Arguments {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self, Error> {
        let usage = || {
            Error::Usage(
                "expected steps FILE --epoch NS|--epoch-from FILE [--dilate D] --log FILE -- PROGRAM…".into(),
            )
        };
        let steps = words.next().ok_or_else(usage)?.into();
        let (mut epoch, mut dilate, mut log) = (None, 1, None);
        while let Some(option) = words.next() {
            if option == "--" {
                break;
            }
            let value = words.next().ok_or_else(usage)?;
            match option.as_str() {
                "--epoch" => epoch = Some(Epoch::At(value.parse().map_err(|_| usage())?)),
                "--epoch-from" => epoch = Some(Epoch::From(value.into())),
                "--dilate" => dilate = value.parse::<i64>().map_err(|_| usage())?.max(1),
                "--log" => log = Some(value.into()),
                _ => return Err(usage()),
            }
        }
        let program: Vec<_> = words.collect();
        let (Some(epoch), Some(log), false) = (epoch, log, program.is_empty()) else {
            return Err(usage());
        };
        Ok(Self { steps, epoch, dilate, log, program })
    }
}

/// Reads moments and lines.
fn parse(text: &str) -> Option<Vec<(i64, &str)>> {
    text.lines()
        .map(|line| {
            let (at_ns, command) = line.split_once('\t')?;
            Some((at_ns.parse().ok()?, command))
        })
        .collect()
}

/// Writes each line to the program at its moment, and logs `moment-ns late-ns` of each.
///
/// # Errors
/// When a file cannot be read or written, or the program ends with an error.
pub(crate) fn run(words: impl Iterator<Item = String>) -> Result<(), Error> {
    let arguments = Arguments::read(words)?;
    let text = std::fs::read_to_string(&arguments.steps)
        .map_err(|error| Error::File(arguments.steps.clone(), error))?;
    let steps = parse(&text).ok_or_else(|| Error::Usage("steps: expected a moment and a line".into()))?;
    // The program needs the priority of the thread that writes to it.
    process::become_punctual(PRIORITY).map_err(|error| Error::System("real-time scheduling", error))?;
    let failed = |error| Error::System("the program of the steps", error);
    let (name, rest) = arguments.program.split_first().map_or(("", &[][..]), |(name, rest)| (name, rest));
    let mut program = Command::new(name).args(rest).stdin(Stdio::piped()).spawn().map_err(failed)?;
    let epoch_ns = match &arguments.epoch {
        Epoch::At(epoch_ns) => *epoch_ns,
        Epoch::From(path) => epoch::wait(path)?,
    };
    let mut log = String::new();
    for (at_ns, line) in steps {
        let due = epoch_ns.saturating_add(at_ns.saturating_mul(arguments.dilate));
        let tai = |error| Error::System("CLOCK_TAI", error);
        clock::sleep_until(due).map_err(tai)?;
        let began = clock::now_ns().map_err(tai)?;
        let Some(input) = program.stdin.as_mut() else { break };
        // A program that has ended is reported below, with the reason.
        if writeln!(input, "{line}").and_then(|()| input.flush()).is_err() {
            break;
        }
        let _ = writeln!(log, "{at_ns} {}", began - due);
    }
    drop(program.stdin.take());
    let status = program.wait().map_err(failed)?;
    std::fs::write(&arguments.log, log).map_err(|error| Error::File(arguments.log.clone(), error))?;
    if status.success() { Ok(()) } else { Err(Error::Usage(format!("a step was refused: {status}"))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_moments_and_lines() {
        assert_eq!(parse("5\ttrue\n10\techo a\tb\n"), Some(vec![(5, "true"), (10, "echo a\tb")]));
        assert_eq!(parse(""), Some(Vec::new()));
        assert_eq!(parse("soon\ttrue"), None);
        assert_eq!(parse("5 true"), None);
    }

    #[test]
    fn the_command_line() {
        let read = |text: &str| Arguments::read(text.split(' ').map(str::to_owned)).ok();
        let found = read("file --epoch -5 --dilate 10 --log out -- tc -batch -").unwrap();
        assert_eq!((found.epoch, found.dilate), (Epoch::At(-5), 10));
        assert_eq!(found.program, ["tc", "-batch", "-"]);
        assert_eq!(read("file --epoch-from e --log out -- tc").unwrap().epoch, Epoch::From("e".into()));
        for bad in [
            "file --epoch 5 -- tc",
            "file --log out -- tc",
            "file --epoch x --log out -- tc",
            "file --what 5 --log out -- tc",
            "file --epoch 5 --log out",
            "file --epoch 5 --log out --",
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
