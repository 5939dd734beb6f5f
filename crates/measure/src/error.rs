//! Errors that prevent measures.

use std::path::PathBuf;

/// Why there are no measures.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A capture that cannot be read.
    #[error("{path}: {error}")]
    Capture {
        /// The capture.
        path: PathBuf,
        /// The error.
        error: tsn_capture::Error,
    },
    /// Observations that cannot be read.
    #[error("{path}: {error}")]
    Observations {
        /// The file.
        path: PathBuf,
        /// The error.
        error: tsn_observation::parquet::Error,
    },
    /// A run folder without a readable Plan.
    #[error("{path}: {error}")]
    Plan {
        /// The file.
        path: PathBuf,
        /// The error.
        error: tsn_plan::PlanError,
    },
    /// A file that cannot be read or written.
    #[error("{path}: {error}")]
    File {
        /// The file.
        path: PathBuf,
        /// The error.
        error: std::io::Error,
    },
    /// Other JSON than expected.
    #[error("{what}: {error}")]
    Json {
        /// The JSON.
        what: String,
        /// The error.
        error: serde_json::Error,
    },
    /// Nothing to measure.
    #[error("{0}")]
    Nothing(String),
    /// Per-frame table that cannot be written.
    #[error("{path}: {error}")]
    Frames {
        /// The file.
        path: PathBuf,
        /// The error.
        error: parquet::errors::ParquetError,
    },
}

impl Error {
    /// The system's error of a file, if that is the cause.
    #[must_use]
    pub fn disk(&self) -> Option<&std::io::Error> {
        match self {
            Self::File { error, .. }
            | Self::Observations { error: tsn_observation::parquet::Error::Io(error), .. } => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::ErrorKind;

    #[test]
    fn what_the_system_said_of_a_file_is_told_apart_from_other_reasons() {
        let full = || std::io::Error::from(ErrorKind::StorageFull);
        let file = Error::File { path: "frames".into(), error: full() };
        assert_eq!(file.disk().map(std::io::Error::kind), Some(ErrorKind::StorageFull));
        let table = Error::Observations {
            path: "observations".into(),
            error: tsn_observation::parquet::Error::Io(full()),
        };
        assert_eq!(table.disk().map(std::io::Error::kind), Some(ErrorKind::StorageFull));
        assert!(Error::Nothing("nothing".into()).disk().is_none());
    }
}
