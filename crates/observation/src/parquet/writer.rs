//! Writes sightings as Parquet, one row group at a time: the memory in use does not depend on the length of the run.

use super::deltas::{BLOCK, Deltas};
use super::pages::{Column, Compressor, Levels, compression};
use super::{Error, LEGEND_KEY, REPEATS_KEY, SCHEMA};
use crate::{Legend, Repeats, Sighting, Sink};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// Rows per row group. They stay in memory, encoded, and a killed process loses at most these.
const ROWS: u32 = 1 << 17;
/// Rows that are encoded together.
const TOGETHER: usize = BLOCK;

/// Writes a file of observations.
///
/// Dropping the writer also writes the footer, so the file of an interrupted run is readable. [`Writer::finish`] also
/// reports errors.
pub struct Writer<W: Write + Send = File> {
    /// `None` after the writer has finished.
    file: Option<SerializedFileWriter<W>>,
    /// The last rows, as they came.
    last: Vec<Sighting>,
    rows: Columns,
    compressor: Compressor,
    written: u64,
}

/// The rows of the next row group, encoded.
#[derive(Default)]
struct Columns {
    rows: u32,
    tap: Deltas<i32>,
    stream: Deltas<i32>,
    seq: Deltas<i64>,
    copy: Deltas<i32>,
    /// The existing timestamps.
    t_ns: Deltas<i64>,
    /// Which rows have a timestamp.
    stamped: Levels,
    octets: Deltas<i32>,
    pcp: Deltas<i32>,
    vid: Deltas<i32>,
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
            .set_compression(compression()?)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_offset_index_disabled(true)
            .build();
        let schema = Arc::new(parse_message_type(SCHEMA)?);
        let file = SerializedFileWriter::new(into, schema, Arc::new(properties))?;
        Ok(Self {
            file: Some(file),
            last: Vec::with_capacity(TOGETHER),
            rows: Columns::default(),
            compressor: Compressor::new()?,
            written: 0,
        })
    }

    /// Number of rows written so far.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.written + u64::from(self.rows.rows) + self.last.len() as u64
    }

    /// Writes buffered rows and the footer; returns the number of rows.
    ///
    /// # Errors
    /// For example, the disk is full; the file is then incomplete.
    pub fn finish(mut self) -> Result<u64, Error> {
        self.close()?;
        Ok(self.written)
    }

    /// Notes that some of the rows stand for many more.
    ///
    /// # Errors
    /// The note cannot be written.
    pub fn note_repeats(&mut self, repeats: &Repeats) -> Result<(), Error> {
        let text = serde_json::to_string(repeats).map_err(|error| Error::Legend(error.to_string()))?;
        if let Some(file) = &mut self.file {
            file.append_key_value_metadata(KeyValue::new(REPEATS_KEY.to_owned(), text));
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), Error> {
        let flushed = self.flush();
        let Some(file) = self.file.take() else { return flushed };
        // Without its last rows the file gets no footer. The error of the footer would hide the cause.
        flushed?;
        file.close()?;
        Ok(())
    }

    /// Encodes the last rows, and writes the row group if it is full.
    #[inline(never)]
    fn encode(&mut self) -> Result<(), Error> {
        self.rows.extend(&self.last);
        self.last.clear();
        if self.rows.rows < ROWS { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.rows.extend(&self.last);
        self.last.clear();
        let Some(file) = self.file.as_mut() else { return Ok(()) };
        if self.rows.rows == 0 {
            return Ok(());
        }
        let descriptors = file.schema_descr().columns().to_vec();
        let mut group = file.next_row_group()?;
        let rows = self.rows.rows;
        for (descriptor, column) in descriptors.into_iter().zip(self.rows.take()) {
            self.compressor.write(&mut group, descriptor, column, rows)?;
        }
        group.close()?;
        self.written += u64::from(rows);
        Ok(())
    }
}

impl Columns {
    fn extend(&mut self, rows: &[Sighting]) {
        self.rows += rows.len() as u32;
        self.tap.extend(rows.iter().map(|row| i32::from(row.tap)));
        self.stream.extend(rows.iter().map(|row| row.stream.cast_signed()));
        self.seq.extend(rows.iter().map(|row| row.seq.cast_signed()));
        self.copy.extend(rows.iter().map(|row| i32::from(row.copy)));
        if rows.iter().all(|row| row.t_ns.is_some()) {
            self.t_ns.extend(rows.iter().map(|row| row.t_ns.unwrap_or_default()));
            self.stamped.push_defined(rows.len() as u32);
        } else {
            self.t_ns.extend(rows.iter().filter_map(|row| row.t_ns));
            rows.iter().for_each(|row| self.stamped.push(row.t_ns.is_some()));
        }
        self.octets.extend(rows.iter().map(|row| row.octets.cast_signed()));
        self.pcp.extend(rows.iter().map(|row| i32::from(row.pcp)));
        self.vid.extend(rows.iter().map(|row| i32::from(row.vid)));
    }

    /// Takes the columns out, in the order of the schema.
    fn take(&mut self) -> [Column; 8] {
        self.rows = 0;
        let (levels, missing) = self.stamped.take();
        [
            Column::every(self.tap.take()),
            Column::every(self.stream.take()),
            Column::every(self.seq.take()),
            Column::every(self.copy.take()),
            Column { values: self.t_ns.take(), levels, missing },
            Column::every(self.octets.take()),
            Column::every(self.pcp.take()),
            Column::every(self.vid.take()),
        ]
    }
}

impl<W: Write + Send> Sink for Writer<W> {
    #[inline]
    fn sight(&mut self, sighting: Sighting) -> io::Result<()> {
        self.last.push(sighting);
        if self.last.len() >= TOGETHER {
            self.encode()?;
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
