//! What a talker did: frames per stream, those that the kernel refused, and how late it was.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

/// One line per stream at the end; nothing is written while it talks.
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
}

impl Log {
    /// For so many streams.
    pub fn new(streams: usize) -> Self {
        Self { streams: vec![Entry::default(); streams] }
    }

    /// A frame was handed over, so much later than it should have been.
    pub fn sent(&mut self, stream: u32, late_ns: i64, taken: bool) {
        let Some(entry) = self.streams.get_mut(stream as usize) else { return };
        entry.frames += 1;
        entry.refused += u64::from(!taken);
        entry.late_most_ns = entry.late_most_ns.max(late_ns);
        entry.late_sum_ns += i128::from(late_ns);
    }

    /// `stream frames refused latest-ns mean-ns`, of those that sent.
    fn text(&self) -> String {
        let mut text = String::new();
        for (number, entry) in self.streams.iter().enumerate().filter(|(_, entry)| entry.frames > 0) {
            let mean = entry.late_sum_ns / i128::from(entry.frames);
            let Entry { frames, refused, late_most_ns, .. } = entry;
            let _ = writeln!(text, "{number} {frames} {refused} {late_most_ns} {mean}");
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
        assert_eq!(log.text(), "1 2 1 200 150\n");
    }
}
