//! The program on a host while a controller works with it: it follows orders over one connection, and undoes all of
//! them when the controller orders so, goes away, or falls silent.
//!
//! `tsnbench-traffic agent --state FOLDER --own FOLDER --owner TEXT [--patience MS]`. Orders come on standard input,
//! answers leave on standard output ([`message`]). Only orders change the host, and each order contains the commands
//! that undo it.

mod conversation;
mod journal;
mod message;
mod order;
mod programs;
mod reservation;
mod steps;

use crate::Error;
use crate::system::process;
use conversation::Conversation;
use reservation::{Reservation, Reserved};
use std::path::PathBuf;
use std::time::Duration;

/// How long a controller may be silent by default.
const PATIENCE: Duration = Duration::from_secs(3);
/// The exit code if another controller holds the host.
const HELD: i32 = 3;

/// The command line of the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Arguments {
    /// One folder for each host: lock, journal and work.
    state: PathBuf,
    /// The folder of this program, which is removed with it.
    own: Option<PathBuf>,
    owner: String,
    patience: Duration,
}

impl Arguments {
    fn read(mut words: impl Iterator<Item = String>) -> Result<Self, Error> {
        let usage = || {
            Error::Usage("expected agent --state FOLDER --owner TEXT [--own FOLDER] [--patience MS]".into())
        };
        let (mut state, mut own, mut owner, mut patience) = (None, None, None, PATIENCE);
        while let Some(option) = words.next() {
            let value = words.next().ok_or_else(usage)?;
            match option.as_str() {
                "--state" => state = Some(PathBuf::from(value)),
                "--own" => own = Some(PathBuf::from(value)),
                "--owner" => owner = Some(value),
                "--patience" => patience = Duration::from_millis(value.parse().map_err(|_| usage())?),
                _ => return Err(usage()),
            }
        }
        let (Some(state), Some(owner)) = (state, owner) else { return Err(usage()) };
        if !state.is_absolute() || own.as_ref().is_some_and(|own| !own.is_absolute()) {
            return Err(Error::Usage("agent: expected absolute folders".into()));
        }
        Ok(Self { state, own, owner, patience })
    }
}

/// Serves one controller until the end, and leaves the host as it was.
///
/// # Errors
/// When the state folder cannot be used, or something could not be undone.
pub(crate) fn run(words: impl Iterator<Item = String>) -> Result<(), Error> {
    let arguments = Arguments::read(words)?;
    process::end_gently().map_err(|error| Error::System("signals", error))?;
    let result = serve(&arguments);
    if let Some(own) = &arguments.own {
        // The running program is in this folder; the kernel keeps its file until the end.
        let _ = std::fs::remove_dir_all(own);
    }
    match result? {
        true => Ok(()),
        false => std::process::exit(HELD),
    }
}

/// Serves one controller; returns whether this agent got the host.
fn serve(arguments: &Arguments) -> Result<bool, Error> {
    let failed = |error| Error::File(arguments.state.clone(), error);
    let reservation = match Reservation::take(&arguments.state, &arguments.owner).map_err(failed)? {
        Reserved::Ours(reservation) => reservation,
        Reserved::Held(holder) => {
            message::held(&holder);
            return Ok(false);
        }
    };
    let left = journal::leftovers(&arguments.state).map_err(failed)?;
    let undone = steps::undo(&left, &arguments.state);
    journal::clear(&arguments.state).map_err(failed)?;
    let mut conversation = Conversation::begin(arguments, left.len(), undone).map_err(failed)?;
    conversation.serve();
    conversation.restore();
    reservation.give_back();
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line() {
        let read = |text: &str| Arguments::read(text.split(' ').map(str::to_owned));
        let found = read("--state /run/x --own /tmp/y --owner me --patience 500").unwrap();
        assert_eq!(found.patience, Duration::from_millis(500));
        assert_eq!(found.own, Some("/tmp/y".into()));
        for bad in [
            "--owner me",
            "--state run/x --owner me",
            "--state /run/x",
            "--state /run/x --owner me --restore",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
