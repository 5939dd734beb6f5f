//! The table of frames: one row per sent frame and listener, as Parquet.

use crate::Error;
use crate::frame::{Frame, FrameFlags};
use crate::pair::FrameSink;
use crate::statistics::path_statistics::PathOptions;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use serde::Serialize;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The key of the file's metadata with the meaning of `path` numbers.
const PATHS_KEY: &str = "tsnbench.paths";
/// Rows per row group.
const ROWS: usize = 1 << 17;
const SCHEMA: &str = "message frames {
    REQUIRED INT32 path (INTEGER(32,false));
    REQUIRED INT64 seq (INTEGER(64,false));
    OPTIONAL INT64 t_tx_ns (INTEGER(64,true));
    OPTIONAL INT64 t_rx_ns (INTEGER(64,true));
    OPTIONAL INT64 delay_ns (INTEGER(64,true));
    REQUIRED INT32 octets (INTEGER(32,false));
}";
/// The last column, if the run's clocks were read.
const UNCERTAINTY: &str = "    OPTIONAL INT64 uncertainty_ns (INTEGER(64,true));\n}";

/// The meaning of a path's number.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PathName<'a> {
    pub(crate) stream: &'a str,
    pub(crate) group: &'a str,
    pub(crate) listener: &'a str,
}

/// The key of the file's metadata with the rows that stand for many more.
const REPEATS_KEY: &str = "tsnbench.repeats";

/// Rows that stand for many more: those of one period of a network that repeats.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct FrameRepeats {
    /// The period, ns.
    pub(crate) period_ns: i64,
    /// How often the rows come again, each time a period later.
    pub(crate) times: u64,
    /// By path: the number of the first frame of the period, and frames in it.
    pub(crate) paths: Vec<(u64, u64)>,
}

/// A column in which some rows have no value.
#[derive(Default)]
struct NullableColumn {
    values: Vec<i64>,
    present: Vec<i16>,
}

impl NullableColumn {
    fn push(&mut self, value: Option<i64>) {
        self.present.push(i16::from(value.is_some()));
        self.values.extend(value);
    }

    fn clear(&mut self) {
        self.values.clear();
        self.present.clear();
    }
}

/// Writes the table; keeps its first error for [`FrameTable::finish`], so that measuring need not check it at every
/// frame.
pub(crate) struct FrameTable {
    path: PathBuf,
    file: SerializedFileWriter<File>,
    failure: Option<ParquetError>,
    paths: Vec<i32>,
    seqs: Vec<i64>,
    tx: NullableColumn,
    rx: NullableColumn,
    delay: NullableColumn,
    octets: Vec<i32>,
    uncertainty: Option<NullableColumn>,
}

impl FrameTable {
    /// `uncertain`: with a column for the uncertainty of each delay.
    pub(crate) fn create(path: &Path, uncertain: bool) -> Result<Self, Error> {
        let file = File::create(path).map_err(|error| Error::File { path: path.to_owned(), error })?;
        let writer = || -> Result<_, ParquetError> {
            let properties = WriterProperties::builder()
                .set_writer_version(WriterVersion::PARQUET_2_0)
                .set_created_by(concat!("tsnbench ", env!("CARGO_PKG_VERSION")).into())
                .set_dictionary_enabled(false)
                .set_encoding(Encoding::DELTA_BINARY_PACKED)
                .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
                .set_statistics_enabled(EnabledStatistics::None)
                .set_offset_index_disabled(true)
                .set_data_page_row_count_limit(ROWS)
                .build();
            let columns = if uncertain { SCHEMA.replace('}', UNCERTAINTY) } else { SCHEMA.to_owned() };
            let schema = Arc::new(parse_message_type(&columns)?);
            SerializedFileWriter::new(file, schema, Arc::new(properties))
        };
        let file = writer().map_err(|error| failed(path.to_owned(), error))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            failure: None,
            paths: Vec::new(),
            seqs: Vec::new(),
            tx: NullableColumn::default(),
            rx: NullableColumn::default(),
            delay: NullableColumn::default(),
            octets: Vec::new(),
            uncertainty: uncertain.then(NullableColumn::default),
        })
    }

    /// Writes the rest of the buffer and the meaning of the path numbers.
    pub(crate) fn finish(mut self, names: &[PathName<'_>]) -> Result<(), Error> {
        let names = serde_json::to_string(names)
            .map_err(|error| Error::Json { what: "names of paths".into(), error })?;
        if self.failure.is_none() {
            self.failure = self.flush().err();
        }
        if self.failure.is_none() {
            self.file.append_key_value_metadata(KeyValue::new(PATHS_KEY.to_owned(), names));
            self.failure = self.file.finish().err();
        }
        self.failure.map_or(Ok(()), |error| Err(failed(self.path, error)))
    }

    /// Notes which rows stand for many more.
    pub(crate) fn note_repeats(&mut self, repeats: &FrameRepeats) {
        if let Ok(text) = serde_json::to_string(repeats) {
            self.file.append_key_value_metadata(KeyValue::new(REPEATS_KEY.to_owned(), text));
        }
    }

    fn flush(&mut self) -> Result<(), ParquetError> {
        if self.paths.is_empty() {
            return Ok(());
        }
        let mut group = self.file.next_row_group()?;
        column::<Int32Type>(&mut group, &self.paths, None)?;
        column::<Int64Type>(&mut group, &self.seqs, None)?;
        for nullable in [&self.tx, &self.rx, &self.delay] {
            column::<Int64Type>(&mut group, &nullable.values, Some(&nullable.present))?;
        }
        column::<Int32Type>(&mut group, &self.octets, None)?;
        if let Some(own) = &mut self.uncertainty {
            column::<Int64Type>(&mut group, &own.values, Some(&own.present))?;
            own.clear();
        }
        group.close()?;
        self.paths.clear();
        self.seqs.clear();
        self.octets.clear();
        for nullable in [&mut self.tx, &mut self.rx, &mut self.delay] {
            nullable.clear();
        }
        Ok(())
    }
}

/// An error of the disk is reported as such, not as one of Parquet.
fn failed(path: PathBuf, error: ParquetError) -> Error {
    match error {
        ParquetError::External(error) => match error.downcast::<std::io::Error>() {
            Ok(error) => Error::File { path, error: *error },
            Err(error) => Error::Frames { path, error: ParquetError::External(error) },
        },
        error => Error::Frames { path, error },
    }
}

fn column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: &[T::T],
    present: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("fewer columns than values".into()));
    };
    column.typed::<T>().write_batch(values, present, None)?;
    column.close()
}

impl FrameTable {
    /// Writes a frame and the uncertainty of its delay.
    pub(crate) fn row(
        &mut self,
        seq: u64,
        frame: &Frame,
        options: &PathOptions,
        uncertainty_ns: Option<i64>,
    ) {
        if !frame.flags.has(FrameFlags::TX) || self.failure.is_some() {
            return;
        }
        self.paths.push(options.path.cast_signed());
        self.seqs.push(seq.cast_signed());
        self.tx.push(frame.tx());
        self.rx.push(frame.rx());
        self.delay.push(frame.delay(options.offset_ns));
        self.octets.push(frame.octets.cast_signed());
        if let Some(own) = &mut self.uncertainty {
            own.push(uncertainty_ns);
        }
        if self.paths.len() >= ROWS {
            self.failure = self.flush().err();
        }
    }
}

impl FrameSink for FrameTable {
    fn frame(&mut self, seq: u64, frame: &Frame, options: &PathOptions) {
        self.row(seq, frame, options, None);
    }
}

/// A table, or none.
impl<F: FrameSink> FrameSink for Option<F> {
    #[inline]
    fn frame(&mut self, seq: u64, frame: &Frame, options: &PathOptions) {
        if let Some(table) = self {
            table.frame(seq, frame, options);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    type Row = (u32, u64, Option<i64>, Option<i64>, Option<i64>, u32);

    /// Rows of each group.
    fn read(path: &Path) -> Vec<Vec<Row>> {
        let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
        let groups = (0..reader.num_row_groups()).map(|number| {
            let group = reader.get_row_group(number).unwrap();
            let rows = group.get_row_iter(None).unwrap().map(|row| {
                let row = row.unwrap();
                let time = |place| row.get_long(place).ok();
                (
                    row.get_uint(0).unwrap(),
                    row.get_ulong(1).unwrap(),
                    time(2),
                    time(3),
                    time(4),
                    row.get_uint(5).unwrap(),
                )
            });
            rows.collect()
        });
        groups.collect()
    }

    fn frame(tx_ns: Option<i64>, rx_ns: Option<i64>) -> Frame {
        let mut frame = Frame::default();
        frame.observe_tx(tx_ns, 64);
        if rx_ns.is_some() {
            frame.observe_rx(rx_ns, 64);
        }
        frame
    }

    #[test]
    fn every_frame_that_was_sent_is_one_row() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("frames.parquet");
        let mut table = Some(FrameTable::create(&path, false).unwrap());
        let options = PathOptions { path: 3, offset_ns: 100, ..PathOptions::default() };
        table.frame(7, &frame(Some(1000), Some(1350)), &options);
        table.frame(8, &frame(Some(2000), None), &options);
        let mut never_sent = Frame::default();
        never_sent.observe_rx(Some(3000), 64);
        table.frame(9, &never_sent, &options);
        table.frame(10, &frame(None, Some(4000)), &options);
        let name = PathName { stream: "a", group: "a", listener: "rx" };
        table.unwrap().finish(&[name]).unwrap();
        let rows = [
            (3, 7, Some(1000), Some(1350), Some(250), 64),
            (3, 8, Some(2000), None, None, 64),
            (3, 10, None, Some(4000), None, 64),
        ];
        assert_eq!(read(&path), [rows]);
    }

    #[test]
    fn a_group_that_is_full_is_written_and_the_next_one_begins_empty() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("frames.parquet");
        let mut table = FrameTable::create(&path, false).unwrap();
        for seq in 0..=ROWS as u64 {
            table.frame(seq, &frame(Some(seq as i64), None), &PathOptions::default());
        }
        table.finish(&[]).unwrap();
        let groups = read(&path);
        assert_eq!(groups.iter().map(Vec::len).collect::<Vec<_>>(), [ROWS, 1]);
        assert_eq!(groups[1], [(0, ROWS as u64, Some(ROWS as i64), None, None, 64)]);
    }
}
