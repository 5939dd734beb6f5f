//! A window onto a file that is read once, front to back.

use std::io::{self, Read};

/// Octets of the first read; each read that fills the buffer doubles them up to [`CHUNK`].
const FIRST: usize = 1 << 12;
/// Octets per read.
const CHUNK: usize = 1 << 18;

/// Octets that were read and not yet consumed.
pub(crate) struct Buffer<R> {
    from: R,
    octets: Vec<u8>,
    start: usize,
    end: usize,
    consumed: u64,
    ended: bool,
}

impl<R: Read> Buffer<R> {
    pub(crate) fn new(from: R) -> Self {
        Self { from, octets: vec![0; FIRST], start: 0, end: 0, consumed: 0, ended: false }
    }

    /// Reads until `length` octets are available, or the file ends; returns whether they are available.
    #[inline]
    pub(crate) fn fill(&mut self, length: usize) -> io::Result<bool> {
        if self.end - self.start >= length { Ok(true) } else { self.read_more(length) }
    }

    #[cold]
    fn read_more(&mut self, length: usize) -> io::Result<bool> {
        while self.end - self.start < length && !self.ended {
            if self.end == self.octets.len() {
                self.octets.copy_within(self.start..self.end, 0);
                self.end -= self.start;
                self.start = 0;
                // Twice as much, and not what a length field claims: a small file with a large claim gets no memory.
                if self.octets.len() < length.max(CHUNK) {
                    self.octets.resize(2 * self.octets.len(), 0);
                }
            }
            match self.from.read(&mut self.octets[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(count) => self.end += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.end - self.start >= length)
    }

    /// The available octets.
    #[inline]
    pub(crate) fn octets(&self) -> &[u8] {
        &self.octets[self.start..self.end]
    }

    /// Consumes the first `length` available octets, and returns them.
    #[inline]
    pub(crate) fn take(&mut self, length: usize) -> &[u8] {
        let length = length.min(self.end - self.start);
        let taken = self.start..self.start + length;
        self.start += length;
        self.consumed += length as u64;
        &self.octets[taken]
    }

    /// Number of consumed octets: the offset in the file.
    pub(crate) fn position(&self) -> u64 {
        self.consumed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every octet is there in order, whatever is asked for at once.
    #[test]
    fn a_buffer_grows_with_what_is_there_and_not_with_what_is_claimed() {
        let file: Vec<u8> = (0..3 * CHUNK + 7).map(|place| (place % 251) as u8).collect();
        for step in [1_000, FIRST, CHUNK, CHUNK + 1] {
            let mut buffer = Buffer::new(file.as_slice());
            let mut found = Vec::new();
            while buffer.fill(step).unwrap() {
                found.extend_from_slice(buffer.take(step));
            }
            found.extend_from_slice(buffer.take(step));
            assert!(found == file, "{step} at a time");
            assert!(buffer.octets.len() <= 2 * (CHUNK + 1).next_power_of_two(), "{}", buffer.octets.len());
        }
        let mut small = Buffer::new(&file[..100]);
        assert!(!small.fill(1 << 26).unwrap());
        assert_eq!((small.octets().len(), small.octets.len()), (100, FIRST));
    }
}
