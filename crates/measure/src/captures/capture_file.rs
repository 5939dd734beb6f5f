//! A capture file, or one interface of it.

use crate::Error;
use crate::report::SourceFile;
use std::fmt;
use std::path::{Path, PathBuf};
use tsn_capture::{InterfaceId, Reader};

/// A capture file, or the frames of one of its interfaces alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureFile {
    /// The path as given.
    pub path: PathBuf,
    /// The only interface whose frames are read; none for all.
    pub interface: Option<InterfaceId>,
}

impl CaptureFile {
    /// Opens the file.
    ///
    /// # Errors
    /// The file does not begin as a capture.
    pub(crate) fn open(&self) -> Result<Reader, Error> {
        let reader = Reader::open(&self.path).map_err(|error| self.failed(error))?;
        Ok(match &self.interface {
            Some(interface) => reader.only(interface.clone()),
            None => reader,
        })
    }

    /// The error of this file.
    pub(crate) fn failed(&self, error: tsn_capture::Error) -> Error {
        Error::Capture { path: self.path.clone(), error }
    }

    /// The file in measures.
    pub(crate) fn source(&self, side: &'static str, frames: u64) -> SourceFile {
        let interface = self.interface.as_ref().map(ToString::to_string);
        SourceFile { path: self.path.display().to_string(), side, interface, frames }
    }
}

impl fmt::Display for CaptureFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        self.interface.as_ref().map_or(Ok(()), |interface| write!(f, " ({interface})"))
    }
}

impl From<PathBuf> for CaptureFile {
    fn from(path: PathBuf) -> Self {
        Self { path, interface: None }
    }
}

impl From<&PathBuf> for CaptureFile {
    fn from(path: &PathBuf) -> Self {
        path.clone().into()
    }
}

impl From<&Path> for CaptureFile {
    fn from(path: &Path) -> Self {
        path.to_owned().into()
    }
}
