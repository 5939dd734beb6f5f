//! Small tables of whole numbers as Parquet, written in row groups.

use super::Error;
use super::pages::compression;
use parquet::basic::{Encoding, Type};
use parquet::data_type::{DataType, Int32Type, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::fs::File;
use std::io::Write;
use std::sync::Arc;

/// Rows per row group.
const ROWS: usize = 1 << 16;

/// A row of whole numbers.
pub trait Row {
    /// The columns, which are 32 or 64 bits wide.
    const SCHEMA: &'static str;

    /// The value of each column.
    fn values(&self) -> impl AsRef<[Option<i64>]>;
}

/// Writes rows of one type; without a call of [`Self::finish`] the file has no footer.
pub struct TableWriter<R: Row, W: Write + Send = File> {
    file: SerializedFileWriter<W>,
    rows: Vec<R>,
}

impl<R: Row, W: Write + Send> TableWriter<R, W> {
    /// Writes to any destination.
    ///
    /// # Errors
    /// The first bytes cannot be written.
    pub fn new(into: W) -> Result<Self, Error> {
        Self::with_metadata(into, Vec::new())
    }

    pub(super) fn with_metadata(into: W, metadata: Vec<KeyValue>) -> Result<Self, Error> {
        let properties = WriterProperties::builder()
            .set_writer_version(WriterVersion::PARQUET_2_0)
            .set_created_by(concat!("tsnbench ", env!("CARGO_PKG_VERSION")).into())
            .set_key_value_metadata(Some(metadata).filter(|pairs| !pairs.is_empty()))
            .set_dictionary_enabled(false)
            .set_encoding(Encoding::DELTA_BINARY_PACKED)
            .set_compression(compression()?)
            .set_statistics_enabled(EnabledStatistics::None)
            .build();
        let schema = Arc::new(parse_message_type(R::SCHEMA)?);
        let file = SerializedFileWriter::new(into, schema, Arc::new(properties))?;
        Ok(Self { file, rows: Vec::new() })
    }

    /// Writes one row.
    ///
    /// # Errors
    /// For example, the disk is full.
    pub fn put(&mut self, row: R) -> Result<(), Error> {
        self.rows.push(row);
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
        let descriptors = self.file.schema_descr().columns().to_vec();
        let mut group = self.file.next_row_group()?;
        for (place, descriptor) in descriptors.iter().enumerate() {
            let values = self.rows.iter().map(|row| row.values().as_ref().get(place).copied().flatten());
            let defined: Vec<i16> = values.clone().map(|value| i16::from(value.is_some())).collect();
            let defined = Some(defined.as_slice()).filter(|_| descriptor.max_def_level() > 0);
            if descriptor.physical_type() == Type::INT32 {
                let values: Vec<i32> = values.flatten().map(|value| value as i32).collect();
                column::<Int32Type, W>(&mut group, &values, defined)?;
            } else {
                column::<Int64Type, W>(&mut group, &values.flatten().collect::<Vec<i64>>(), defined)?;
            }
        }
        group.close()?;
        self.rows.clear();
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
