//! One controller at a time: a lock that the kernel releases when its holder ends, and the holder's name.

use crate::system::clock;
use serde_json::{Value, json};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

const LOCK: &str = "lock";
const HOLDER: &str = "holder";
/// Another agent may be about to remove its lock's file.
const TRIES: u32 = 50;

/// The host's lock, while this agent runs.
#[derive(Debug)]
pub struct Reservation {
    state: PathBuf,
    _lock: File,
}

/// The holder of a host, and since when (TAI).
#[derive(Debug, PartialEq, Eq)]
pub struct Holder {
    pub owner: String,
    pub since_ns: i64,
}

/// The result of an attempt to get a host.
#[derive(Debug)]
pub enum Reserved {
    Ours(Reservation),
    Held(Holder),
}

impl Reservation {
    /// Takes the lock, if it is free.
    ///
    /// # Errors
    /// When the folder cannot be made or belongs to another user.
    pub fn take(state: &Path, owner: &str) -> io::Result<Reserved> {
        for _ in 0..TRIES {
            folder(state)?;
            let path = state.join(LOCK);
            let lock = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path)?;
            match lock.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(Reserved::Held(holder(state))),
                Err(TryLockError::Error(error)) => return Err(error),
            }
            // The last holder may have removed the file that is now locked.
            let same =
                fs::metadata(&path).is_ok_and(|now| lock.metadata().is_ok_and(|own| own.ino() == now.ino()));
            if same {
                let holder = json!({"owner": owner, "since_ns": clock::now_ns().unwrap_or(0)});
                fs::write(state.join(HOLDER), holder.to_string())?;
                return Ok(Reserved::Ours(Self { state: state.to_owned(), _lock: lock }));
            }
        }
        Err(io::Error::other("its lock changes again and again"))
    }

    /// Removes the rest of the state folder, while the lock still holds.
    pub fn give_back(self) {
        let _ = fs::remove_file(self.state.join(HOLDER));
        let _ = fs::remove_file(self.state.join(LOCK));
        let _ = fs::remove_dir(&self.state);
    }
}

/// Makes the folder; a folder that another user could write to is an error.
fn folder(state: &Path) -> io::Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(state) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let found = fs::symlink_metadata(state)?;
            // The user that runs this program, as the kernel shows it.
            let own = fs::metadata("/proc/self")?.uid();
            if found.is_dir() && found.uid() == own && found.mode() & 0o077 == 0 {
                Ok(())
            } else {
                Err(io::Error::new(io::ErrorKind::PermissionDenied, "is not a private folder of this user"))
            }
        }
        Err(error) => Err(error),
    }
}

fn holder(state: &Path) -> Holder {
    let text = fs::read_to_string(state.join(HOLDER)).unwrap_or_default();
    let holder: Value = serde_json::from_str(&text).unwrap_or_default();
    Holder {
        owner: holder["owner"].as_str().unwrap_or("somebody").to_owned(),
        since_ns: holder["since_ns"].as_i64().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("tsnbench-reservation-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        path
    }

    #[test]
    fn the_second_controller_gets_the_name_of_the_first() {
        let state = scratch("second");
        let Reserved::Ours(first) = Reservation::take(&state, "anna").unwrap() else { panic!("held") };
        let Reserved::Held(holder) = Reservation::take(&state, "bert").unwrap() else { panic!("not held") };
        assert_eq!(holder.owner, "anna");
        first.give_back();
        assert!(!state.exists());
        let Reserved::Ours(second) = Reservation::take(&state, "bert").unwrap() else { panic!("held") };
        second.give_back();
    }

    #[test]
    fn a_folder_that_others_can_write_to_is_refused() {
        let state = scratch("open");
        fs::DirBuilder::new().mode(0o777).create(&state).unwrap();
        fs::set_permissions(&state, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
        assert!(Reservation::take(&state, "anna").is_err());
        fs::remove_dir_all(&state).unwrap();
    }
}
