//! Clocks as Parquet: their errors, one row per node and instant, and their lines, one row per change.

use super::Error;
use super::table::{Row, TableWriter};
use crate::{ClockError, ClockLine};
use parquet::file::metadata::KeyValue;
use std::fs::File;
use std::path::Path;

/// The metadata key of the node names, a JSON list ordered by node number.
pub const NODES_KEY: &str = "tsnbench.nodes";

impl Row for ClockError {
    const SCHEMA: &'static str = "message clock_error {
        REQUIRED INT32 node (INTEGER(32,false));
        REQUIRED INT64 t_true_ns (INTEGER(64,true));
        REQUIRED INT64 error_ps (INTEGER(64,true));
        OPTIONAL INT64 offset_ps (INTEGER(64,true));
    }";

    fn values(&self) -> impl AsRef<[Option<i64>]> {
        [Some(i64::from(self.node)), Some(self.t_ns), Some(self.error_ps), self.offset_ps]
    }
}

impl TableWriter<ClockError> {
    /// Creates (or replaces) the file at `path`, with the names of all nodes.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(path: &Path, nodes: &[&str]) -> Result<Self, Error> {
        let names = serde_json::to_string(nodes).map_err(|error| Error::Legend(error.to_string()))?;
        Self::with_metadata(File::create(path)?, vec![KeyValue::new(NODES_KEY.to_owned(), names)])
    }
}

impl Row for ClockLine {
    const SCHEMA: &'static str = "message clock_lines {
        REQUIRED INT32 node (INTEGER(32,false));
        REQUIRED INT64 from_ps (INTEGER(64,true));
        REQUIRED INT64 shows_ps (INTEGER(64,true));
        REQUIRED INT64 frequency (INTEGER(64,true));
    }";

    fn values(&self) -> impl AsRef<[Option<i64>]> {
        [Some(i64::from(self.node)), Some(self.from_ps), Some(self.shows_ps), Some(self.frequency)]
    }
}
