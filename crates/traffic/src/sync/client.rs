//! Asks ptp4l over its socket, with a socket of its own that nobody else can reach, and never waits long.

use super::data_sets::DataSet;
use super::message::{ManagementId, Request, Response};
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// An answer that takes longer is none.
const PATIENCE: Duration = Duration::from_millis(500);
/// No management message is longer.
const LONGEST: usize = 2048;

/// Why there is no data set.
#[derive(Debug, thiserror::Error)]
pub enum NoAnswer {
    /// Nothing came, or nobody is there.
    #[error("ptp4l does not answer")]
    Silence,
    /// It answered that it cannot (`managementErrorId`).
    #[error("ptp4l refuses data set {id:#06x} with error {error}", id = id.0)]
    Refused {
        /// Which.
        id: ManagementId,
        /// IEEE 1588-2019, table 109.
        error: u16,
    },
    /// It answered with something else.
    #[error("ptp4l's data set {id:#06x} cannot be read", id = .0.0)]
    Unreadable(ManagementId),
    /// The socket failed otherwise.
    #[error("the socket to ptp4l: {0}")]
    Socket(#[from] io::Error),
}

/// A socket to ptp4l.
#[derive(Debug)]
pub struct Client {
    socket: UnixDatagram,
    folder: PathBuf,
    to: PathBuf,
    domain: u8,
    /// What this ptp4l goes by, once it has answered.
    major_sdo_id: Option<u8>,
    sequence: u16,
    own: u16,
}

impl Client {
    /// Makes a socket in a folder of its own, which goes with it.
    ///
    /// # Errors
    /// When the folder or the socket cannot be made.
    pub fn new(to: &Path, domain: u8) -> io::Result<Self> {
        let pid = std::process::id();
        let mut tries = 0..64_u32;
        let folder = loop {
            let number = tries.next().ok_or(io::ErrorKind::AlreadyExists)?;
            let folder = std::env::temp_dir().join(format!("tsnbench-sync-{pid}-{number}"));
            match DirBuilder::new().mode(0o700).create(&folder) {
                Ok(()) => break folder,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        };
        let made = UnixDatagram::bind(folder.join("socket"));
        let socket = made.inspect_err(|_| drop(std::fs::remove_dir(&folder)))?;
        // The lower half tells programs apart well enough: it is looked at beside the sequence.
        let own = (pid & 0xffff) as u16;
        Ok(Self { socket, folder, to: to.to_owned(), domain, major_sdo_id: None, sequence: 0, own })
    }

    /// A data set of the clock, or of one of its ports.
    ///
    /// # Errors
    /// When it does not answer in time, or otherwise than it should.
    pub fn get<T: DataSet>(&mut self, port: Option<u16>) -> Result<T, NoAnswer> {
        self.sequence = self.sequence.wrapping_add(1);
        let until = Instant::now() + PATIENCE;
        match self.major_sdo_id {
            Some(sdo) => self.ask(sdo, port, until),
            // It answers only to what it goes by, and does not say what that is: half of the time for each.
            None => match self.ask(0, port, Instant::now() + PATIENCE / 2) {
                Err(NoAnswer::Silence) => self.ask(1, port, until),
                other => other,
            },
        }
    }

    fn ask<T: DataSet>(
        &mut self,
        major_sdo_id: u8,
        port: Option<u16>,
        until: Instant,
    ) -> Result<T, NoAnswer> {
        let request = Request { major_sdo_id, domain: self.domain, sequence: self.sequence, port, id: T::ID };
        // One that is stopped has no room for more requests.
        self.socket.set_write_timeout(left(until))?;
        match self.socket.send_to(&request.octets(self.own), &self.to) {
            Ok(_) => {}
            Err(error) if silent(&error) => return Err(NoAnswer::Silence),
            Err(error) => return Err(error.into()),
        }
        let mut octets = [0; LONGEST];
        loop {
            let Some(left) = left(until) else { return Err(NoAnswer::Silence) };
            self.socket.set_read_timeout(Some(left))?;
            let length = match self.socket.recv(&mut octets) {
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if silent(&error) => return Err(NoAnswer::Silence),
                Err(error) => return Err(error.into()),
            };
            let Some(found) = octets.get(..length).and_then(Response::parse) else { continue };
            // Others are late answers to questions that nobody waits for any more.
            if (found.sequence, found.asked_by, found.id, found.domain)
                != (self.sequence, self.own, T::ID, self.domain)
            {
                continue;
            }
            self.major_sdo_id = Some(found.major_sdo_id);
            return match found.data {
                Ok(data) => T::read(data).ok_or(NoAnswer::Unreadable(T::ID)),
                Err(error) => Err(NoAnswer::Refused { id: T::ID, error }),
            };
        }
    }

    /// The next one that answers may be another one.
    pub fn forget(&mut self) {
        self.major_sdo_id = None;
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(self.folder.join("socket"));
        let _ = std::fs::remove_dir(&self.folder);
    }
}

/// How much of the time is left; none is not zero, which would be no limit.
fn left(until: Instant) -> Option<Duration> {
    Some(until.saturating_duration_since(Instant::now())).filter(|left| !left.is_zero())
}

/// Nobody is there, or nobody has time.
fn silent(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, NotFound, TimedOut, WouldBlock};
    matches!(error.kind(), ConnectionRefused | NotFound | TimedOut | WouldBlock)
}
