//! Requests of ptp4l over its socket, from a socket of its own that no other user can reach, with a short time limit.

use super::data_sets::DataSet;
use super::message::{ManagementId, Request, Response};
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time limit of an answer.
const PATIENCE: Duration = Duration::from_millis(500);
/// Longest management message.
const LONGEST: usize = 2048;

/// Why there is no data set.
#[derive(Debug, thiserror::Error)]
pub enum NoAnswer {
    /// There was no answer in time, or there is no ptp4l.
    #[error("ptp4l does not answer")]
    Silence,
    /// ptp4l answered with an error (`managementErrorId`).
    #[error("ptp4l refuses data set {id:#06x} with error {error}", id = id.0)]
    Refused {
        /// The requested data set.
        id: ManagementId,
        /// IEEE 1588-2019, table 109.
        error: u16,
    },
    /// ptp4l answered with another data set or another format.
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
    /// The `majorSdoId` of this ptp4l, once it has answered.
    major_sdo_id: Option<u8>,
    sequence: u16,
    own: u16,
}

impl Client {
    /// Makes a socket in a new folder, which is removed with it.
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
        // The lower half distinguishes programs well enough, as the sequence number is compared, too.
        let own = (pid & 0xffff) as u16;
        Ok(Self { socket, folder, to: to.to_owned(), domain, major_sdo_id: None, sequence: 0, own })
    }

    /// Reads a data set of the clock, or of one of its ports.
    ///
    /// # Errors
    /// When there is no correct answer in time.
    pub fn get<T: DataSet>(&mut self, port: Option<u16>) -> Result<T, NoAnswer> {
        self.sequence = self.sequence.wrapping_add(1);
        let until = Instant::now() + PATIENCE;
        match self.major_sdo_id {
            Some(sdo) => self.ask(sdo, port, until),
            // ptp4l answers only to its own `majorSdoId` and does not report it: each of the two values gets half of
            // the time.
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
        // The socket of a suspended ptp4l has no room for further requests.
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
            // Other answers belong to earlier requests and are late.
            if (found.sequence, found.requested_by, found.id, found.domain)
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

    /// Forgets the `majorSdoId`, as another ptp4l may answer next.
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

/// The rest of the time; none instead of zero, as a time-out of zero would be no limit.
fn left(until: Instant) -> Option<Duration> {
    Some(until.saturating_duration_since(Instant::now())).filter(|left| !left.is_zero())
}

/// Whether the error means that ptp4l is not there, or has no time.
fn silent(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, NotFound, TimedOut, WouldBlock};
    matches!(error.kind(), ConnectionRefused | NotFound | TimedOut | WouldBlock)
}
