//! Clock errors as Parquet: one row per node and instant; the node names are in the file's metadata.

use super::Error;
use super::pages::compression;
use crate::ClockError;
use parquet::basic::Encoding;
use parquet::data_type::{DataType, Int32Type, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// The metadata key of the node names, a JSON list ordered by node number.
pub const NODES_KEY: &str = "tsnbench.nodes";

const SCHEMA: &str = "message clock_error {
    REQUIRED INT32 node (INTEGER(32,false));
    REQUIRED INT64 t_true_ns (INTEGER(64,true));
    REQUIRED INT64 error_ps (INTEGER(64,true));
    OPTIONAL INT64 offset_ps (INTEGER(64,true));
}";

/// Rows per row group.
const ROWS: usize = 1 << 16;

/// Writes a file of clock errors; without a call of [`Self::finish`] the file has no footer.
pub struct ClockWriter<W: Write + Send = File> {
    file: SerializedFileWriter<W>,
    rows: Vec<ClockError>,
}

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
        let properties = WriterProperties::builder()
            .set_writer_version(WriterVersion::PARQUET_2_0)
            .set_created_by(concat!("tsnbench ", env!("CARGO_PKG_VERSION")).into())
            .set_key_value_metadata(Some(vec![KeyValue::new(NODES_KEY.to_owned(), names)]))
            .set_dictionary_enabled(false)
            .set_encoding(Encoding::DELTA_BINARY_PACKED)
            .set_compression(compression()?)
            .set_statistics_enabled(EnabledStatistics::None)
            .build();
        let schema = Arc::new(parse_message_type(SCHEMA)?);
        let file = SerializedFileWriter::new(into, schema, Arc::new(properties))?;
        Ok(Self { file, rows: Vec::new() })
    }

    /// Writes one row.
    ///
    /// # Errors
    /// For example, the disk is full.
    pub fn put(&mut self, error: ClockError) -> Result<(), Error> {
        self.rows.push(error);
        if self.rows.len() >= ROWS { self.flush() } else { Ok(()) }
    }

    /// Writes buffered rows and the footer.
    ///
    /// # Errors
    /// For example, the disk is full; the file is then incomplete.
    pub fn finish(mut self) -> Result<(), Error> {
        self.flush()?;
        self.file.close()?;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let rows = std::mem::take(&mut self.rows);
        let nodes: Vec<i32> = rows.iter().map(|row| row.node.cast_signed()).collect();
        let times: Vec<i64> = rows.iter().map(|row| row.t_ns).collect();
        let errors: Vec<i64> = rows.iter().map(|row| row.error_ps).collect();
        let offsets: Vec<i64> = rows.iter().filter_map(|row| row.offset_ps).collect();
        let defined: Vec<i16> = rows.iter().map(|row| i16::from(row.offset_ps.is_some())).collect();
        let mut group = self.file.next_row_group()?;
        column::<Int32Type, W>(&mut group, &nodes, None)?;
        column::<Int64Type, W>(&mut group, &times, None)?;
        column::<Int64Type, W>(&mut group, &errors, None)?;
        column::<Int64Type, W>(&mut group, &offsets, Some(&defined))?;
        group.close()?;
        Ok(())
    }
}

/// Writes one column of a row group.
fn column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    defined: Option<&[i16]>,
) -> Result<(), Error> {
    let Some(mut column) = group.next_column()? else {
        return Err(Error::Columns("fewer columns than values".into()));
    };
    column.typed::<T>().write_batch(values, defined, None)?;
    Ok(column.close()?)
}
