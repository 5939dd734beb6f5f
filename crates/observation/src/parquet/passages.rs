//! Passages as Parquet: one row per frame and port, and one per mPacket of an interrupted frame.

use super::Error;
use super::table::TableWriter;
use crate::{Fragment, Passage};
use std::fs::File;
use std::io::Write;

const SCHEMA: &str = "message passages {
    REQUIRED INT64 number (INTEGER(64,true));
    OPTIONAL INT64 before (INTEGER(64,true));
    REQUIRED INT32 port (INTEGER(32,false));
    REQUIRED INT32 stream (INTEGER(32,false));
    REQUIRED INT64 seq (INTEGER(64,false));
    REQUIRED INT32 copy (INTEGER(8,false));
    REQUIRED INT32 octets (INTEGER(32,false));
    REQUIRED INT32 class (INTEGER(8,false));
    REQUIRED INT64 came_ns (INTEGER(64,true));
    OPTIONAL INT64 qdisc_ns (INTEGER(64,true));
    OPTIONAL INT64 handed_ns (INTEGER(64,true));
    OPTIONAL INT64 loaded_ns (INTEGER(64,true));
    REQUIRED INT64 queued_ns (INTEGER(64,true));
    REQUIRED INT64 eligible_ns (INTEGER(64,true));
    REQUIRED INT64 start_ns (INTEGER(64,true));
    REQUIRED INT64 end_ns (INTEGER(64,true));
    OPTIONAL INT64 arrived_ns (INTEGER(64,true));
    REQUIRED INT32 accepted (INTEGER(8,false));
    REQUIRED INT64 sent_clock_ns (INTEGER(64,true));
    OPTIONAL INT64 arrived_clock_ns (INTEGER(64,true));
}";

const FRAGMENTS: &str = "message fragments {
    REQUIRED INT64 passage (INTEGER(64,true));
    REQUIRED INT64 start_ns (INTEGER(64,true));
    REQUIRED INT64 end_ns (INTEGER(64,true));
}";

/// Writes a file of passages; without a call of [`Self::finish`] the file has no footer.
pub struct PassageWriter<W: Write + Send = File>(TableWriter<W, 20>);

impl<W: Write + Send> PassageWriter<W> {
    /// Writes to any destination.
    ///
    /// # Errors
    /// The first bytes cannot be written.
    pub fn new(into: W) -> Result<Self, Error> {
        Ok(Self(TableWriter::new(into, SCHEMA, Vec::new())?))
    }

    /// Writes one row.
    ///
    /// # Errors
    /// For example, the disk is full.
    pub fn put(&mut self, one: Passage) -> Result<(), Error> {
        self.0.put([
            Some(one.number.cast_signed()),
            one.before.map(u64::cast_signed),
            Some(i64::from(one.port)),
            Some(i64::from(one.stream)),
            Some(one.seq.cast_signed()),
            Some(i64::from(one.copy)),
            Some(i64::from(one.octets)),
            Some(i64::from(one.class)),
            Some(one.came_ns),
            one.qdisc_ns,
            one.handed_ns,
            one.loaded_ns,
            Some(one.queued_ns),
            Some(one.eligible_ns),
            Some(one.start_ns),
            Some(one.end_ns),
            one.arrived_ns,
            Some(i64::from(one.accepted)),
            Some(one.sent_clock_ns),
            one.arrived_clock_ns,
        ])
    }

    /// Writes buffered rows and the footer.
    ///
    /// # Errors
    /// For example, the disk is full; the file is then incomplete.
    pub fn finish(self) -> Result<(), Error> {
        self.0.finish()
    }
}

/// Writes a file of fragments; without a call of [`Self::finish`] the file has no footer.
pub struct FragmentWriter<W: Write + Send = File>(TableWriter<W, 3>);

impl<W: Write + Send> FragmentWriter<W> {
    /// Writes to any destination.
    ///
    /// # Errors
    /// The first bytes cannot be written.
    pub fn new(into: W) -> Result<Self, Error> {
        Ok(Self(TableWriter::new(into, FRAGMENTS, Vec::new())?))
    }

    /// Writes one row.
    ///
    /// # Errors
    /// For example, the disk is full.
    pub fn put(&mut self, one: Fragment) -> Result<(), Error> {
        self.0.put([Some(one.passage.cast_signed()), Some(one.start_ns), Some(one.end_ns)])
    }

    /// Writes buffered rows and the footer.
    ///
    /// # Errors
    /// For example, the disk is full; the file is then incomplete.
    pub fn finish(self) -> Result<(), Error> {
        self.0.finish()
    }
}
