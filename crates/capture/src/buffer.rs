//! A window onto a file that is read once from front to back.

use std::io::{self, Read};

/// Octets asked for at once.
const CHUNK: usize = 1 << 18;

/// Holds what has been read and not yet consumed.
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

    /// Reads until `length` octets are there, or the file ends; says whether they are.
    pub(crate) fn fill(&mut self, length: usize) -> io::Result<bool> {
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

    /// What is there.
    #[inline]
    pub(crate) fn octets(&self) -> &[u8] {
        &self.octets[self.start..self.end]
    }

    /// Lets go of the first `length` octets of what is there, and returns them.
    #[inline]
    pub(crate) fn take(&mut self, length: usize) -> &[u8] {
        let length = length.min(self.end - self.start);
        let taken = self.start..self.start + length;
        self.start += length;
        self.consumed += length as u64;
        &self.octets[taken]
    }

    /// Octets let go of so far: where in the file we are.
    pub(crate) fn position(&self) -> u64 {
        self.consumed
    }
}
