//! The steps to undo, on disk before the next step: a killed agent leaves them to the next agent.

use serde_json::Value;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

const JOURNAL: &str = "journal";
/// Where programs run and files are put.
pub const WORK: &str = "work";

/// A command's words.
pub type Words = Vec<String>;

/// The journal of a running agent.
#[derive(Debug)]
pub struct Journal {
    file: File,
    undo: Vec<Words>,
}

impl Journal {
    /// Begins an empty journal.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn begin(state: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(state.join(JOURNAL))?;
        Ok(Self { file, undo: Vec::new() })
    }

    /// Records how to undo a step that succeeded.
    pub fn add(&mut self, undo: Words) {
        // A full disk must not keep this agent from undoing the steps that it knows itself.
        let _ = writeln!(self.file, "{}", Value::from(undo.clone())).and_then(|()| self.file.sync_data());
        self.undo.push(undo);
    }

    /// Keeps the first entries only: all other steps have been undone.
    pub fn forget(&mut self, state: &Path, kept: usize) {
        self.undo.truncate(kept);
        let lines: String =
            self.undo.iter().map(|words| format!("{}\n", Value::from(words.clone()))).collect();
        let place = state.join(JOURNAL);
        // The file is complete at each moment.
        let written = fs::write(place.with_extension("new"), lines)
            .and_then(|()| fs::rename(place.with_extension("new"), &place))
            .and_then(|()| OpenOptions::new().append(true).open(&place));
        if let Ok(file) = written {
            self.file = file;
        }
    }

    /// All entries, in the order of the steps.
    pub fn steps(&self) -> &[Words] {
        &self.undo
    }
}

/// The entries that a killed agent has left, in the order of its steps.
///
/// # Errors
/// When the journal cannot be read.
pub fn leftovers(state: &Path) -> io::Result<Vec<Words>> {
    match fs::read_to_string(state.join(JOURNAL)) {
        Ok(text) => Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Removes journal and work.
///
/// # Errors
/// When they exist and cannot be removed.
pub fn clear(state: &Path) -> io::Result<()> {
    for gone in [fs::remove_file(state.join(JOURNAL)), fs::remove_dir_all(state.join(WORK))] {
        match gone {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_one_finds_what_is_left_and_skips_a_line_that_was_cut() {
        let state = std::env::temp_dir().join(format!("tsnbench-journal-{}", std::process::id()));
        fs::create_dir_all(&state).unwrap();
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Words>();
        let mut journal = Journal::begin(&state).unwrap();
        journal.add(words("ip link del a"));
        journal.add(words("tc qdisc del dev b root"));
        journal.file.write_all(b"[\"ip\",\"li").unwrap();
        assert_eq!(leftovers(&state).unwrap(), journal.steps());
        clear(&state).unwrap();
        clear(&state).unwrap();
        assert_eq!(leftovers(&state).unwrap(), Vec::<Words>::new());
        fs::remove_dir(&state).unwrap();
    }
}
