//! The results of a talker: frames per stream, frames that the kernel refused or dropped, and how late the talker
//! was.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

/// One line per stream at the end; nothing is written while the talker sends.
#[derive(Debug)]
pub struct Log {
    streams: Vec<Entry>,
}

#[derive(Clone, Debug, Default)]
struct Entry {
    frames: u64,
    refused: u64,
    late_most_ns: i64,
    late_sum_ns: i128,
    missed: u64,
    invalid: u64,
}

impl Log {
    /// An empty log of this many streams.
    pub fn new(streams: usize) -> Self {
        Self { streams: vec![Entry::default(); streams] }
    }

    /// Counts a frame that was handed over `late_ns` after its intended time.
    pub fn sent(&mut self, stream: u32, late_ns: i64, taken: bool) {
        let Some(entry) = self.streams.get_mut(stream as usize) else { return };
        entry.frames += 1;
        entry.refused += u64::from(!taken);
        entry.late_most_ns = entry.late_most_ns.max(late_ns);
        entry.late_sum_ns += i128::from(late_ns);
    }

    /// Counts frames that had no intended time.
    pub fn filled(&mut self, stream: u32, frames: u64) {
        let Some(entry) = self.streams.get_mut(stream as usize) else { return };
        entry.frames += frames;
    }

    /// Counts a frame that a queueing discipline dropped because its launch time had passed, or was invalid.
    pub fn dropped(&mut self, stream: u32, missed: bool) {
        let Some(entry) = self.streams.get_mut(stream as usize) else { return };
        entry.missed += u64::from(missed);
        entry.invalid += u64::from(!missed);
    }

    /// `stream frames refused latest-ns mean-ns missed invalid`, for streams that sent frames.
    fn text(&self) -> String {
        let mut text = String::new();
        for (number, entry) in self.streams.iter().enumerate().filter(|(_, entry)| entry.frames > 0) {
            let mean = entry.late_sum_ns / i128::from(entry.frames);
            let Entry { frames, refused, late_most_ns, missed, invalid, .. } = entry;
            let _ = writeln!(text, "{number} {frames} {refused} {late_most_ns} {mean} {missed} {invalid}");
        }
        text
    }

    /// Writes the file.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        std::fs::write(path, self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_is_kept_per_stream() {
        let mut log = Log::new(3);
        log.sent(1, 200, true);
        log.sent(1, 100, false);
        log.sent(9, 1, true);
        log.filled(2, 4);
        log.dropped(1, true);
        log.dropped(1, false);
        log.dropped(1, false);
        assert_eq!(log.text(), "1 2 1 200 150 1 2\n2 4 0 0 0 0 0\n");
    }
}
