//! A row group from columns that are encoded: compression, headers and the facts of the footer.

use super::Error;
use bytes::Bytes;
use parquet::basic::{Compression, Encoding, EncodingMask, PageType, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::file::metadata::{ColumnChunkMetaData, PageEncodingStats};
use parquet::file::writer::{SerializedPageWriter, SerializedRowGroupWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use std::io::Write;

const LEVEL: i32 = 1;

/// The compression of all pages.
///
/// # Errors
/// None for this level.
pub(super) fn compression() -> Result<Compression, Error> {
    Ok(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?))
}

/// One column of a row group.
pub(super) struct Column {
    /// Its values: DELTA_BINARY_PACKED.
    pub values: Vec<u8>,
    /// Which rows have a value; empty for all.
    pub levels: Vec<u8>,
    /// Rows without a value.
    pub missing: u32,
}

impl Column {
    /// A column with a value in each row.
    pub fn every(values: Vec<u8>) -> Self {
        Self { values, levels: Vec::new(), missing: 0 }
    }
}

/// Compresses pages.
pub(super) struct Compressor(zstd::bulk::Compressor<'static>);

impl Compressor {
    /// A compressor.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn new() -> Result<Self, Error> {
        Ok(Self(zstd::bulk::Compressor::new(LEVEL)?))
    }

    /// Writes a column of `rows` rows as one page.
    ///
    /// # Errors
    /// For example, the disk is full.
    pub fn write<W: Write + Send>(
        &mut self,
        group: &mut SerializedRowGroupWriter<'_, W>,
        descriptor: ColumnDescPtr,
        column: Column,
        rows: u32,
    ) -> Result<(), Error> {
        let Column { values, levels, missing } = column;
        let uncompressed = levels.len() + values.len();
        let packed = self.0.compress(&values)?;
        let is_compressed = packed.len() < uncompressed;
        let mut octets = levels;
        let levels = octets.len();
        octets.extend_from_slice(if is_compressed { &packed } else { &values });
        let encoding = Encoding::DELTA_BINARY_PACKED;
        let page = Page::DataPageV2 {
            buf: octets.into(),
            num_values: rows,
            encoding,
            num_nulls: missing,
            num_rows: rows,
            def_levels_byte_len: levels as u32,
            rep_levels_byte_len: 0,
            is_compressed,
            statistics: None,
        };
        let mut chunk = TrackedWrite::new(Vec::new());
        let spec =
            SerializedPageWriter::new(&mut chunk).write_page(CompressedPage::new(page, uncompressed))?;
        let chunk = Bytes::from(chunk.into_inner()?);
        let page_type = PageType::DATA_PAGE_V2;
        let metadata = ColumnChunkMetaData::builder(descriptor)
            .set_compression(compression()?)
            .set_encodings_mask(EncodingMask::new_from_encodings([Encoding::RLE, encoding].iter()))
            .set_page_encoding_stats(vec![PageEncodingStats { page_type, encoding, count: 1 }])
            .set_total_compressed_size(spec.compressed_size as i64)
            .set_total_uncompressed_size(spec.uncompressed_size as i64)
            .set_num_values(i64::from(rows))
            .set_data_page_offset(0)
            .build()?;
        let closed = ColumnCloseResult {
            bytes_written: spec.bytes_written,
            rows_written: u64::from(rows),
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        Ok(group.append_column(&chunk, closed)?)
    }
}

/// Which rows have a value, and how Parquet says so.
#[derive(Default)]
pub(super) struct Levels {
    /// One bit for each row, the first row in the lowest bit.
    bits: Vec<u8>,
    rows: u32,
    defined: u32,
}

impl Levels {
    /// One more row.
    #[inline]
    pub fn push(&mut self, defined: bool) {
        if self.rows.is_multiple_of(8) {
            self.bits.push(0);
        }
        if let Some(last) = self.bits.last_mut() {
            *last |= u8::from(defined) << (self.rows % 8);
        }
        self.rows += 1;
        self.defined += u32::from(defined);
    }

    /// So many more rows that all have a value.
    pub fn push_defined(&mut self, mut rows: u32) {
        while rows > 0 && (rows < 8 || !self.rows.is_multiple_of(8)) {
            self.push(true);
            rows -= 1;
        }
        self.bits.resize(self.bits.len() + rows as usize / 8, u8::MAX);
        self.rows += rows / 8 * 8;
        self.defined += rows / 8 * 8;
        (0..rows % 8).for_each(|_| self.push(true));
    }

    /// Takes the levels of a page out, and the number of rows without a value, and begins anew.
    pub fn take(&mut self) -> (Vec<u8>, u32) {
        let Self { bits, rows, defined } = std::mem::take(self);
        let mut levels = Vec::with_capacity(bits.len() + 8);
        if defined == 0 || defined == rows {
            // One run of equal levels.
            super::deltas::put_number(u64::from(rows) << 1, &mut levels);
            levels.push(u8::from(defined > 0));
        } else {
            super::deltas::put_number((bits.len() as u64) << 1 | 1, &mut levels);
            levels.extend_from_slice(&bits);
        }
        (levels, rows - defined)
    }
}
