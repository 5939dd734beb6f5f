//! Reads sightings from Parquet, in batches.

use super::{Error, LEGEND_KEY, REPEATS_KEY};
use crate::{Legend, Repeats, Sighting};
use parquet::basic::Type;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_typed_column_reader};
use parquet::data_type::{DataType, Int32Type, Int64Type};
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use std::fs::File;
use std::path::Path;

/// Rows per batch of the decoder.
const BATCH: usize = 8192;
/// The columns in the order of the file, with their storage types.
const COLUMNS: [(&str, Type); 8] = [
    ("tap", Type::INT32),
    ("stream", Type::INT32),
    ("seq", Type::INT64),
    ("copy", Type::INT32),
    ("t_ns", Type::INT64),
    ("octets", Type::INT32),
    ("pcp", Type::INT32),
    ("vid", Type::INT32),
];

/// Reads a file of observations, in the order in which its rows were written.
pub struct Reader<R: ChunkReader + 'static = File> {
    file: SerializedFileReader<R>,
    legend: Legend,
    repeats: Option<Repeats>,
    /// The next row group.
    next_group: usize,
    group: Option<Group>,
}

/// The open row group: one reader per column, all at the same row.
struct Group {
    left: usize,
    narrow: [(ColumnReaderImpl<Int32Type>, Vec<i32>); 6],
    seq: (ColumnReaderImpl<Int64Type>, Vec<i64>),
    t_ns: (ColumnReaderImpl<Int64Type>, Vec<i64>),
    stamped: Vec<i16>,
}

impl Reader<File> {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// The file is not a complete file of observations.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::new(File::open(path)?)
    }
}

impl<R: ChunkReader + 'static> Reader<R> {
    /// Reads from any source of chunks.
    ///
    /// # Errors
    /// The source is not a complete file of observations.
    pub fn new(from: R) -> Result<Self, Error> {
        guarded(|| Self::open_file(from))
    }

    fn open_file(from: R) -> Result<Self, Error> {
        let file = SerializedFileReader::new(from)?;
        let facts = file.metadata().file_metadata();
        let schema = facts.schema_descr();
        for (number, (name, kind)) in COLUMNS.iter().enumerate() {
            let found = (number < schema.num_columns()).then(|| schema.column(number));
            let fits = found.is_some_and(|column| {
                column.name() == *name
                    && column.physical_type() == *kind
                    && column.max_rep_level() == 0
                    && column.max_def_level() == i16::from(*name == "t_ns")
            });
            if !fits {
                return Err(Error::Columns(format!("column {number} is not {name}")));
            }
        }
        let note = |key: &str| {
            let pairs = facts.key_value_metadata()?;
            pairs.iter().find(|pair| pair.key == key)?.value.as_deref()
        };
        let legend = note(LEGEND_KEY).ok_or_else(|| Error::Legend("it is missing".into()))?;
        let legend = serde_json::from_str(legend).map_err(|error| Error::Legend(error.to_string()))?;
        let repeats = note(REPEATS_KEY).map(Repeats::read).transpose().map_err(Error::Legend)?;
        Ok(Self { file, legend, repeats, next_group: 0, group: None })
    }

    /// The legend: names for the numbers in rows.
    #[must_use]
    pub fn legend(&self) -> &Legend {
        &self.legend
    }

    /// The rows that stand for many more, if there are any.
    #[must_use]
    pub fn repeats(&self) -> Option<&Repeats> {
        self.repeats.as_ref()
    }

    /// Number of rows, by the file's metadata.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.file.metadata().file_metadata().num_rows().max(0).unsigned_abs()
    }

    /// Replaces `batch` by the next rows; false at the end.
    ///
    /// # Errors
    /// The file ends early, or its columns differ in length.
    pub fn read(&mut self, batch: &mut Vec<Sighting>) -> Result<bool, Error> {
        guarded(|| self.read_batch(batch))
    }

    fn read_batch(&mut self, batch: &mut Vec<Sighting>) -> Result<bool, Error> {
        batch.clear();
        loop {
            if let Some(group) = self.group.as_mut().filter(|group| group.left > 0) {
                group.read(batch)?;
                return Ok(true);
            }
            if self.next_group >= self.file.num_row_groups() {
                return Ok(false);
            }
            self.group = Some(self.open_group(self.next_group)?);
            self.next_group += 1;
        }
    }

    fn open_group(&self, number: usize) -> Result<Group, Error> {
        let group = self.file.get_row_group(number)?;
        let left = usize::try_from(group.metadata().num_rows())
            .map_err(|_| Error::Columns("a row group of negative length".into()))?;
        let column = |place: usize| -> Result<ColumnReader, Error> { Ok(group.get_column_reader(place)?) };
        let narrow = |place: usize| -> Result<_, Error> {
            Ok((get_typed_column_reader::<Int32Type>(column(place)?), Vec::with_capacity(BATCH)))
        };
        let wide = |place: usize| -> Result<_, Error> {
            Ok((get_typed_column_reader::<Int64Type>(column(place)?), Vec::with_capacity(BATCH)))
        };
        Ok(Group {
            left,
            narrow: [narrow(0)?, narrow(1)?, narrow(3)?, narrow(5)?, narrow(6)?, narrow(7)?],
            seq: wide(2)?,
            t_ns: wide(4)?,
            stamped: Vec::with_capacity(BATCH),
        })
    }
}

/// Runs `work`, and turns panics of the decoder on damaged bytes into errors.
///
/// Page checksums protect the pages of our own files, but neither the footer nor pages of other writers.
fn guarded<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(Error::Columns("its bytes contradict each other".into())))
}

/// Reads exactly `rows` rows of one column.
fn fill<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    defined: Option<&mut Vec<i16>>,
    values: &mut Vec<T::T>,
) -> Result<(), Error> {
    values.clear();
    let (read, _, _) = reader.read_records(rows, defined, None, values)?;
    if read == rows { Ok(()) } else { Err(Error::Columns("a column ends early".into())) }
}

impl Group {
    fn read(&mut self, batch: &mut Vec<Sighting>) -> Result<(), Error> {
        let rows = self.left.min(BATCH);
        for (reader, values) in &mut self.narrow {
            fill(reader, rows, None, values)?;
        }
        fill(&mut self.seq.0, rows, None, &mut self.seq.1)?;
        self.stamped.clear();
        fill(&mut self.t_ns.0, rows, Some(&mut self.stamped), &mut self.t_ns.1)?;
        self.left -= rows;
        let [tap, stream, copy, octets, pcp, vid] = &self.narrow;
        let mut stamps = self.t_ns.1.iter().copied();
        batch.reserve(rows);
        // The values fit the columns' logical types, so the conversion only reverses Parquet's widening.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        for row in 0..rows {
            batch.push(Sighting {
                tap: tap.1[row] as u16,
                stream: stream.1[row] as u32,
                seq: self.seq.1[row] as u64,
                copy: copy.1[row] as u8,
                t_ns: if self.stamped[row] == 1 { stamps.next() } else { None },
                octets: octets.1[row] as u32,
                pcp: pcp.1[row] as u8,
                vid: vid.1[row] as u16,
            });
        }
        Ok(())
    }
}
