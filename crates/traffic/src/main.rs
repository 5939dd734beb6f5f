//! The live talker and listener: they send and receive the frames of a Plan or of a capture on real interfaces, on
//! time, and report the results.
//!
//! The moment t of the Plan is `epoch + t × dilate` on TAI. Random numbers are drawn as the simulator draws them.

mod agent;
mod arguments;
mod capture;
mod epoch;
mod listen;
mod output;
mod probe;
mod sequence;
mod sync;
mod system;
mod talk;
mod timed_commands;
mod timestamps;
mod trdp;

use arguments::{Arguments, Task};
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use system::process;
use tsn_plan::Plan;

/// Errors of talkers and listeners.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error("{0}")]
    Usage(String),
    #[error("{0}: {1}")]
    File(PathBuf, io::Error),
    #[error("{0}: {1}")]
    Capture(PathBuf, String),
    #[error(transparent)]
    Plan(#[from] tsn_plan::PlanError),
    #[error("interface {0}: {1}")]
    Interface(String, io::Error),
    #[error("{0}: {1}")]
    System(&'static str, io::Error),
    #[error(transparent)]
    Frame(#[from] tsn_wire::Error),
}

fn main() -> ExitCode {
    let words = || std::env::args().skip(2);
    let done = match std::env::args().nth(1).as_deref() {
        Some("agent") => agent::run(words()),
        Some("capture") => capture::run(words()),
        Some("probe") => probe::run(words()),
        Some("steps") => timed_commands::run(words()),
        Some("sync") => sync::run(words()),
        Some("trdp") => trdp::run(words()),
        _ => Arguments::read(std::env::args().skip(1)).and_then(|arguments| run(&arguments)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::print_message(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Error> {
    process::end_gently().map_err(|error| Error::System("signals", error))?;
    match arguments.task {
        Task::Talk => talk::talk(arguments),
        Task::Listen => listen::listen(arguments),
        Task::Replay => talk::replay::replay(arguments),
    }
}

/// The Plan given on the command line.
fn plan(arguments: &Arguments) -> Result<Option<Plan>, Error> {
    let Some(path) = &arguments.file else { return Ok(None) };
    let text = std::fs::read_to_string(path).map_err(|error| Error::File(path.clone(), error))?;
    Ok(Some(Plan::read(&text)?))
}
