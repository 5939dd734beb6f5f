//! Writes sightings as Parquet, one row group at a time: the memory in use does not depend on the length of the run.

use super::{Error, LEGEND_KEY, SCHEMA};
use crate::{Legend, Sighting, Sink};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{DataType, Int32Type, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{
    DeltaBinaryPackedEncoderOptions, EnabledStatistics, WriterProperties, WriterVersion,
};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// Rows per row group. They stay in memory (about 5 MB), and a killed process loses at most these.
const ROWS: usize = 1 << 17;

/// Writes a file of observations.
///
/// Dropping the writer also writes the footer, so the file of an interrupted run is readable. [`Writer::finish`] also
/// reports errors.
pub struct Writer<W: Write + Send = File> {
    /// `None` after the writer has finished.
    file: Option<SerializedFileWriter<W>>,
    rows: Columns,
    written: u64,
}

/// The rows of the next row group, one vector per column.
#[derive(Default)]
struct Columns {
    tap: Vec<i32>,
    stream: Vec<i32>,
    seq: Vec<i64>,
    copy: Vec<i32>,
    /// The existing timestamps.
    t_ns: Vec<i64>,
    /// Per row: 1 if a timestamp exists.
    stamped: Vec<i16>,
    octets: Vec<i32>,
    pcp: Vec<i32>,
    vid: Vec<i32>,
}

impl Writer<File> {
    /// Creates (or replaces) the file at `path`.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(path: &Path, legend: &Legend) -> Result<Self, Error> {
        Self::new(File::create(path)?, legend)
    }
}

impl<W: Write + Send> Writer<W> {
    /// Writes to any destination, without a need for buffering: pages are written whole.
    ///
    /// # Errors
    /// The first bytes cannot be written.
    pub fn new(into: W, legend: &Legend) -> Result<Self, Error> {
        let legend = serde_json::to_string(legend).map_err(|error| Error::Legend(error.to_string()))?;
        let properties = WriterProperties::builder()
            .set_writer_version(WriterVersion::PARQUET_2_0)
            .set_created_by(concat!("tsnbench ", env!("CARGO_PKG_VERSION")).into())
            .set_key_value_metadata(Some(vec![KeyValue::new(LEGEND_KEY.to_owned(), legend)]))
            // Neighbouring rows differ little: deltas are smaller than a dictionary, and need no hashing.
            .set_dictionary_enabled(false)
            .set_encoding(Encoding::DELTA_BINARY_PACKED)
            .set_delta_binary_packed_encoder_options(DeltaBinaryPackedEncoderOptions::try_new(1024, 8)?)
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
            .set_statistics_enabled(EnabledStatistics::None)
            .set_offset_index_disabled(true)
            .set_data_page_row_count_limit(ROWS)
            .set_write_batch_size(4096)
            .build();
        let schema = Arc::new(parse_message_type(SCHEMA)?);
        let file = SerializedFileWriter::new(into, schema, Arc::new(properties))?;
        Ok(Self { file: Some(file), rows: Columns::default(), written: 0 })
    }

    /// Number of rows written so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.written + self.rows.tap.len() as u64
    }

    /// Writes buffered rows and the footer; returns the number of rows.
    ///
    /// # Errors
    /// For example, the disk is full; the file is then incomplete.
    pub fn finish(mut self) -> Result<u64, Error> {
        self.close()?;
        Ok(self.written)
    }

    fn close(&mut self) -> Result<(), Error> {
        let flushed = self.flush();
        let Some(file) = self.file.take() else { return flushed };
        // Without its last rows the file gets no footer. The error of the footer would hide the cause.
        flushed?;
        file.close()?;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        let Some(file) = self.file.as_mut() else { return Ok(()) };
        if self.rows.tap.is_empty() {
            return Ok(());
        }
        let rows = &mut self.rows;
        let mut group = file.next_row_group()?;
        column::<Int32Type, W>(&mut group, &rows.tap, None)?;
        column::<Int32Type, W>(&mut group, &rows.stream, None)?;
        column::<Int64Type, W>(&mut group, &rows.seq, None)?;
        column::<Int32Type, W>(&mut group, &rows.copy, None)?;
        column::<Int64Type, W>(&mut group, &rows.t_ns, Some(&rows.stamped))?;
        column::<Int32Type, W>(&mut group, &rows.octets, None)?;
        column::<Int32Type, W>(&mut group, &rows.pcp, None)?;
        column::<Int32Type, W>(&mut group, &rows.vid, None)?;
        group.close()?;
        self.written += rows.tap.len() as u64;
        rows.clear();
        Ok(())
    }
}

/// Writes one column of a row group.
pub(super) fn column<T: DataType, W: Write + Send>(
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

impl Columns {
    fn clear(&mut self) {
        for numbers in
            [&mut self.tap, &mut self.stream, &mut self.copy, &mut self.octets, &mut self.pcp, &mut self.vid]
        {
            numbers.clear();
        }
        self.seq.clear();
        self.t_ns.clear();
        self.stamped.clear();
    }
}

impl<W: Write + Send> Sink for Writer<W> {
    #[inline]
    fn sight(&mut self, sighting: Sighting) -> io::Result<()> {
        let rows = &mut self.rows;
        rows.tap.push(i32::from(sighting.tap));
        rows.stream.push(sighting.stream.cast_signed());
        rows.seq.push(sighting.seq.cast_signed());
        rows.copy.push(i32::from(sighting.copy));
        rows.stamped.push(i16::from(sighting.t_ns.is_some()));
        if let Some(stamp) = sighting.t_ns {
            rows.t_ns.push(stamp);
        }
        rows.octets.push(sighting.octets.cast_signed());
        rows.pcp.push(i32::from(sighting.pcp));
        rows.vid.push(i32::from(sighting.vid));
        if rows.tap.len() >= ROWS {
            self.flush()?;
        }
        Ok(())
    }
}

impl<W: Write + Send> Drop for Writer<W> {
    fn drop(&mut self) {
        // A drop cannot report errors; callers that need them call `finish`.
        let _ = self.close();
    }
}
