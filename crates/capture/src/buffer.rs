//! A window onto a file that is read once, front to back.

use std::io::{self, Read};

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
        Self { from, octets: vec![0; CHUNK], start: 0, end: 0, consumed: 0, ended: false }
    }

    /// Reads until `length` octets are available, or the file ends; returns whether they are available.
    #[inline]
    pub(crate) fn fill(&mut self, length: usize) -> io::Result<bool> {
        if self.end - self.start >= length { Ok(true) } else { self.read_more(length) }
    }

    #[cold]
    fn read_more(&mut self, length: usize) -> io::Result<bool> {
        while self.end - self.start < length && !self.ended {
            if self.octets.len() - self.start < length.max(CHUNK / 4) {
                self.octets.copy_within(self.start..self.end, 0);
                self.end -= self.start;
                self.start = 0;
                if self.octets.len() < length {
                    self.octets.resize(length.next_multiple_of(CHUNK), 0);
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
