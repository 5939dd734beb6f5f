//! Observations as Parquet: one row per sighting, numbers only; the legend is in the file's metadata.

mod clocks;
mod deltas;
mod pages;
mod passages;
mod reader;
mod table;
mod unrolled;
mod writer;

pub use clocks::NODES_KEY;
pub use reader::Reader;
pub use table::{Row, TableWriter};
pub use unrolled::read_all;
pub use writer::Writer;

/// The metadata key of the [`Legend`](crate::Legend), which is JSON.
pub const LEGEND_KEY: &str = "tsnbench.legend";
/// The metadata key of [`Repeats`](crate::Repeats), which is JSON; a file without rows that repeat has no such key.
pub const REPEATS_KEY: &str = "tsnbench.repeats";

/// The columns. Parquet stores unsigned numbers in signed ones of the same width.
const SCHEMA: &str = "message observations {
    REQUIRED INT32 tap (INTEGER(16,false));
    REQUIRED INT32 stream (INTEGER(32,false));
    REQUIRED INT64 seq (INTEGER(64,false));
    REQUIRED INT32 copy (INTEGER(8,false));
    OPTIONAL INT64 t_ns (INTEGER(64,true));
    REQUIRED INT32 octets (INTEGER(32,false));
    REQUIRED INT32 pcp (INTEGER(8,false));
    REQUIRED INT32 vid (INTEGER(16,false));
}";

/// The reason why a file of observations cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An error of the operating system.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The file is not Parquet, or is damaged.
    #[error("not a readable Parquet file: {0}")]
    Parquet(#[source] parquet::errors::ParquetError),
    /// The file is Parquet, but lacks the columns of observations.
    #[error("not a file of observations: {0}")]
    Columns(String),
    /// The legend is missing or damaged.
    #[error("no readable legend ({LEGEND_KEY}) in the file: {0}")]
    Legend(String),
}

impl From<parquet::errors::ParquetError> for Error {
    fn from(error: parquet::errors::ParquetError) -> Self {
        use parquet::errors::ParquetError::External;
        match error {
            // An error of the operating system does not mean that the file is damaged.
            External(error) => match error.downcast::<std::io::Error>() {
                Ok(error) => Self::Io(*error),
                Err(error) => Self::Parquet(External(error)),
            },
            other => Self::Parquet(other),
        }
    }
}

impl From<Error> for std::io::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Io(error) => error,
            other => Self::other(other),
        }
    }
}
