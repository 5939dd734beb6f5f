//! Clocks as Parquet: their errors, one row per node and instant, and their lines, one row per change.

use super::Error;
use super::table::TableWriter;
use crate::{ClockError, ClockLine};
use parquet::file::metadata::KeyValue;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// The metadata key of the node names, a JSON list ordered by node number.
pub const NODES_KEY: &str = "tsnbench.nodes";

const ERRORS: &str = "message clock_error {
    REQUIRED INT32 node (INTEGER(32,false));
    REQUIRED INT64 t_true_ns (INTEGER(64,true));
    REQUIRED INT64 error_ps (INTEGER(64,true));
    OPTIONAL INT64 offset_ps (INTEGER(64,true));
}";

const LINES: &str = "message clock_lines {
    REQUIRED INT32 node (INTEGER(32,false));
    REQUIRED INT64 from_ps (INTEGER(64,true));
    REQUIRED INT64 shows_ps (INTEGER(64,true));
    REQUIRED INT64 frequency (INTEGER(64,true));
}";

/// Writes a file of clock errors; without a call of [`Self::finish`] the file has no footer.
pub struct ClockWriter<W: Write + Send = File>(TableWriter<W, 4>);

impl ClockWriter<File> {
    /// Creates (or replaces) the file at `path`.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(path: &Path, nodes: &[&str]) -> Result<Self, Error> {
        Self::new(File::create(path)?, nodes)
    }
}

impl<W: Write + Send> ClockWriter<W> {
    /// Writes to any destination.
    ///
    /// # Errors
    /// The first bytes cannot be written.
    pub fn new(into: W, nodes: &[&str]) -> Result<Self, Error> {
        let names = serde_json::to_string(nodes).map_err(|error| Error::Legend(error.to_string()))?;
        Ok(Self(TableWriter::new(into, ERRORS, vec![KeyValue::new(NODES_KEY.to_owned(), names)])?))
    }

    /// Writes one row.
    ///
    /// # Errors
    /// For example, the disk is full.
    pub fn put(&mut self, error: ClockError) -> Result<(), Error> {
        self.0.put([Some(i64::from(error.node)), Some(error.t_ns), Some(error.error_ps), error.offset_ps])
    }

    /// Writes buffered rows and the footer.
    ///
    /// # Errors
    /// For example, the disk is full; the file is then incomplete.
    pub fn finish(self) -> Result<(), Error> {
        self.0.finish()
    }
}

/// Writes a file of clock lines; without a call of [`Self::finish`] the file has no footer.
pub struct ClockLineWriter<W: Write + Send = File>(TableWriter<W, 4>);

impl<W: Write + Send> ClockLineWriter<W> {
    /// Writes to any destination.
    ///
    /// # Errors
    /// The first bytes cannot be written.
    pub fn new(into: W) -> Result<Self, Error> {
        Ok(Self(TableWriter::new(into, LINES, Vec::new())?))
    }

    /// Writes one row.
    ///
    /// # Errors
    /// For example, the disk is full.
    pub fn put(&mut self, line: ClockLine) -> Result<(), Error> {
        let ClockLine { node, from_ps, shows_ps, frequency } = line;
        self.0.put([Some(i64::from(node)), Some(from_ps), Some(shows_ps), Some(frequency)])
    }

    /// Writes buffered rows and the footer.
    ///
    /// # Errors
    /// For example, the disk is full; the file is then incomplete.
    pub fn finish(self) -> Result<(), Error> {
        self.0.finish()
    }
}
