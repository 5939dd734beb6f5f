//! Reads fields of received octets in sequence; the result is none after the last octet.

/// The octets that are left.
#[derive(Copy, Clone, Debug)]
pub struct Octets<'a>(&'a [u8]);

impl<'a> Octets<'a> {
    /// All octets, from the first on.
    pub fn new(octets: &'a [u8]) -> Self {
        Self(octets)
    }

    /// The next `N` octets.
    pub fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (found, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*found)
    }

    /// Skips octets.
    pub fn skip(&mut self, count: usize) -> Option<()> {
        self.0 = self.0.get(count..)?;
        Some(())
    }

    /// All octets that are left.
    pub fn rest(&self) -> &'a [u8] {
        self.0
    }

    /// `UInteger8`.
    pub fn u8(&mut self) -> Option<u8> {
        self.take().map(u8::from_be_bytes)
    }

    /// `Integer8`.
    pub fn i8(&mut self) -> Option<i8> {
        self.take().map(i8::from_be_bytes)
    }

    /// `UInteger16`.
    pub fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_be_bytes)
    }

    /// `Integer16`.
    pub fn i16(&mut self) -> Option<i16> {
        self.take().map(i16::from_be_bytes)
    }

    /// `Integer32`.
    pub fn i32(&mut self) -> Option<i32> {
        self.take().map(i32::from_be_bytes)
    }

    /// `Integer64`.
    pub fn i64(&mut self) -> Option<i64> {
        self.take().map(i64::from_be_bytes)
    }
}
