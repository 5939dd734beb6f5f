//! The file of a capture: whole frames, whatever happens to the disk.

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

    /// A frame passed. Where the disk takes no more, it is not kept, and [`Self::fine`] says so.
    pub fn take(&mut self, octets: &[u8], arrival: Arrival) {
        if self.failed.is_some() {
            return;
        }
        let original = restore(octets, arrival, self.snap, &mut self.whole);
        // On one clock or on none: stamps of two clocks in one file would look alike.
        let stamp = if self.hardware { arrival.hardware_ns } else { arrival.kernel_ns };
        let taken = match stamp {
            Some(t_ns) => self.file.frame(t_ns, &self.whole, original),
            None => self.file.frame_without_time(&self.whole, original),
        };
        self.frames += 1;
        self.missing_stamps += u64::from(stamp.is_none());
        self.failed = taken.err();
    }

    /// How many frames were taken.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Frames among them without the stamp that was asked for.
    pub fn missing_stamps(&self) -> u64 {
        self.missing_stamps
    }

    /// Why a frame could not be kept, where one could not.
    pub fn fine(&mut self) -> io::Result<()> {
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Writes what waits.
    pub fn finish(mut self) -> io::Result<()> {
        self.fine()?;
        self.file.finish()
    }
}

/// A file that ends behind a whole block also where the disk is full.
#[derive(Debug)]
struct WholeBlocks {
    file: File,
    waiting: Vec<u8>,
    /// Where blocks end in what waits.
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
                    // What is no regular file has no end to cut, and why it took no more is what matters.
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
