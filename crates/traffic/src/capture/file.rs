//! The file of a capture: it always ends after a whole frame, also on a full disk.

use super::frame::restore;
use crate::system::receive::Arrival;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use tsn_capture::write::PcapNg;

/// Octets that are written at once.
const ROOM: usize = 1 << 18;

/// Frames on their way into a file.
#[derive(Debug)]
pub struct Recording {
    file: PcapNg<WholeBlocks>,
    snap: u32,
    hardware: bool,
    whole: Vec<u8>,
    failed: Option<io::Error>,
    frames: u64,
    missing_stamps: u64,
}

impl Recording {
    /// Creates (or replaces) the file, for stamps of the named clock.
    pub fn create(path: &Path, interface: &str, clock: &str, snap: u32, hardware: bool) -> io::Result<Self> {
        let blocks =
            WholeBlocks { file: File::create(path)?, waiting: Vec::new(), ends: Vec::new(), written: 0 };
        let file = PcapNg::cut(blocks, interface, clock, snap)?;
        Ok(Self { file, snap, hardware, whole: Vec::new(), failed: None, frames: 0, missing_stamps: 0 })
    }

    /// Writes a frame. If the disk is full, the frame is not kept, and [`Self::fine`] reports that.
    pub fn take(&mut self, octets: &[u8], arrival: Arrival) {
        if self.failed.is_some() {
            return;
        }
        let original = restore(octets, arrival, self.snap, &mut self.whole);
        // All timestamps are of one clock, or missing: timestamps of two clocks in one file would look alike.
        let stamp = if self.hardware { arrival.hardware_ns } else { arrival.kernel_ns };
        let taken = match stamp {
            Some(t_ns) => self.file.frame(t_ns, &self.whole, original),
            None => self.file.frame_without_time(&self.whole, original),
        };
        self.frames += 1;
        self.missing_stamps += u64::from(stamp.is_none());
        self.failed = taken.err();
    }

    /// Number of frames taken.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Number of frames without the requested timestamp.
    pub fn missing_stamps(&self) -> u64 {
        self.missing_stamps
    }

    /// The error, if a frame could not be kept.
    pub fn fine(&mut self) -> io::Result<()> {
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Writes the rest of the buffer.
    pub fn finish(mut self) -> io::Result<()> {
        self.fine()?;
        self.file.finish()
    }
}

/// A file that ends after a whole block also on a full disk.
#[derive(Debug)]
struct WholeBlocks {
    file: File,
    waiting: Vec<u8>,
    /// The ends of blocks in the buffer.
    ends: Vec<usize>,
    /// Octets of the file.
    written: u64,
}

impl Write for WholeBlocks {
    /// Takes one block.
    fn write(&mut self, block: &[u8]) -> io::Result<usize> {
        self.waiting.extend_from_slice(block);
        self.ends.push(self.waiting.len());
        if self.waiting.len() >= ROOM {
            self.flush()?;
        }
        Ok(block.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut done = 0;
        while let Some(rest) = self.waiting.get(done..).filter(|rest| !rest.is_empty()) {
            match self.file.write(rest) {
                Ok(count) if count > 0 => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => {
                    let whole = self.ends.iter().copied().take_while(|end| *end <= done).last();
                    // A file that is not regular has no end to cut, and the error of the write matters more than this
                    // one.
                    let _ = self.file.set_len(self.written + whole.unwrap_or(0) as u64);
                    return Err(other.err().unwrap_or_else(|| io::ErrorKind::WriteZero.into()));
                }
            }
        }
        self.written += done as u64;
        self.waiting.clear();
        self.ends.clear();
        Ok(())
    }
}
