//! Writes one capture file of one interface, with nanosecond timestamps.
//! pcapng: draft-ietf-opsawg-pcapng, sections 4.1 to 4.4. Frames are written without their FCS.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Link type Ethernet.
const ETHERNET: u16 = 1;
/// Limit of the octets of one frame, as readers are told; includes jumbo frames.
const SNAP_LENGTH: u32 = 262_144;
/// Block types.
mod block {
    pub const SECTION_HEADER: u32 = 0x0a0d_0d0a;
    pub const INTERFACE_DESCRIPTION: u32 = 1;
    pub const SIMPLE_PACKET: u32 = 3;
    pub const ENHANCED_PACKET: u32 = 6;
}
/// Options, named as in the format.
mod option {
    pub const END: u16 = 0;
    pub const SHB_USERAPPL: u16 = 4;
    pub const IF_NAME: u16 = 2;
    pub const IF_DESCRIPTION: u16 = 3;
    pub const IF_TSRESOL: u16 = 9;
    pub const IF_FCSLEN: u16 = 13;
}
/// Prefix of an interface's description; the name of its clock follows.
pub const CLOCK: &str = "clock: ";

/// Writes a capture file.
///
/// Every frame is a whole block, so an incomplete file is readable up to its last whole frame.
#[derive(Debug)]
pub struct PcapNg<W: Write = BufWriter<File>> {
    into: W,
    block: Vec<u8>,
}

impl PcapNg<BufWriter<File>> {
    /// Creates (or replaces) a file for the frames of one interface with one clock.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(path: &Path, interface: &str, clock: &str) -> io::Result<Self> {
        Self::new(BufWriter::with_capacity(1 << 18, File::create(path)?), interface, clock)
    }
}

impl<W: Write> PcapNg<W> {
    /// Writes to any destination; each frame is one write.
    ///
    /// # Errors
    /// The headers cannot be written.
    pub fn new(into: W, interface: &str, clock: &str) -> io::Result<Self> {
        Self::cut(into, interface, clock, SNAP_LENGTH)
    }

    /// Writes frames of which at most `snap` octets are kept; each frame is one write.
    ///
    /// # Errors
    /// The headers cannot be written.
    pub fn cut(into: W, interface: &str, clock: &str, snap: u32) -> io::Result<Self> {
        let mut file = Self { into, block: Vec::with_capacity(2048) };
        file.begin(block::SECTION_HEADER);
        file.block.extend_from_slice(&0x1a2b_3c4d_u32.to_le_bytes());
        file.block.extend_from_slice(&[1, 0, 0, 0]);
        file.block.extend_from_slice(&u64::MAX.to_le_bytes()); // Section length: unknown.
        file.option(option::SHB_USERAPPL, concat!("tsnbench ", env!("CARGO_PKG_VERSION")).as_bytes());
        file.option(option::END, &[]);
        file.end()?;
        file.begin(block::INTERFACE_DESCRIPTION);
        file.block.extend_from_slice(&ETHERNET.to_le_bytes());
        file.block.extend_from_slice(&[0, 0]);
        file.block.extend_from_slice(&snap.to_le_bytes());
        file.option(option::IF_NAME, interface.as_bytes());
        file.option(option::IF_DESCRIPTION, format!("{CLOCK}{clock}").as_bytes());
        file.option(option::IF_TSRESOL, &[9]);
        file.option(option::IF_FCSLEN, &[0]);
        file.option(option::END, &[]);
        file.end()?;
        Ok(file)
    }

    /// Writes one frame: `bytes` of its `original_length` octets (both without FCS).
    ///
    /// # Errors
    /// The frame cannot be written, or its time is before the clock's epoch, which the format cannot express.
    pub fn frame(&mut self, t_ns: i64, bytes: &[u8], original_length: u32) -> io::Result<()> {
        let stamp =
            u64::try_from(t_ns).map_err(|_| io::Error::other("a capture cannot hold a time before 0"))?;
        let length = u32::try_from(bytes.len()).map_err(|_| io::Error::other("a frame of more than 4 GB"))?;
        self.begin(block::ENHANCED_PACKET);
        self.block.extend_from_slice(&[0; 4]); // Interface 0.
        self.block.extend_from_slice(&((stamp >> 32) as u32).to_le_bytes());
        self.block.extend_from_slice(&((stamp & 0xffff_ffff) as u32).to_le_bytes());
        self.block.extend_from_slice(&length.to_le_bytes());
        self.block.extend_from_slice(&original_length.max(length).to_le_bytes());
        self.block.extend_from_slice(bytes);
        self.pad();
        self.end()
    }

    /// Writes a frame without a time: readers find no timestamp instead of zero.
    ///
    /// The format has no length for the kept octets of such a frame: the interface's `snap` decides. Therefore `bytes`
    /// has `snap` octets, or all octets of the frame.
    ///
    /// # Errors
    /// The frame cannot be written.
    pub fn frame_without_time(&mut self, bytes: &[u8], original_length: u32) -> io::Result<()> {
        self.begin(block::SIMPLE_PACKET);
        self.block.extend_from_slice(&original_length.to_le_bytes());
        self.block.extend_from_slice(bytes);
        self.pad();
        self.end()
    }

    /// Writes all buffered octets.
    ///
    /// # Errors
    /// For example, the disk is full.
    pub fn finish(mut self) -> io::Result<()> {
        self.into.flush()
    }

    fn begin(&mut self, kind: u32) {
        self.block.clear();
        self.block.extend_from_slice(&kind.to_le_bytes());
        self.block.extend_from_slice(&[0; 4]);
    }

    /// One option: code, length, value, padding to 32 bits. A value of more than 64 KB is truncated.
    fn option(&mut self, code: u16, value: &[u8]) {
        let length = u16::try_from(value.len()).unwrap_or(u16::MAX);
        self.block.extend_from_slice(&code.to_le_bytes());
        self.block.extend_from_slice(&length.to_le_bytes());
        self.block.extend_from_slice(&value[..usize::from(length)]);
        self.pad();
    }

    fn pad(&mut self) {
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    fn end(&mut self) -> io::Result<()> {
        let length = u32::try_from(self.block.len() + 4)
            .map_err(|_| io::Error::other("a block of more than 4 GB"))?
            .to_le_bytes();
        self.block[4..8].copy_from_slice(&length);
        self.block.extend_from_slice(&length);
        self.into.write_all(&self.block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_one_block() {
        let mut bytes = Vec::new();
        let mut file = PcapNg::new(&mut bytes, "a", "true").unwrap();
        file.frame(0x1_0000_0002, b"hello", 60).unwrap();
        assert!(file.frame(-1, b"", 0).is_err());
        file.finish().unwrap();
        let frame: &[u8] =
            b"\x06\0\0\0\x28\0\0\0\0\0\0\0\x01\0\0\0\x02\0\0\0\x05\0\0\0\x3c\0\0\0hello\0\0\0\x28\0\0\0";
        assert_eq!(&bytes[bytes.len() - frame.len()..], frame);
        assert!(bytes.len().is_multiple_of(4));
        assert!(bytes.windows(11).any(|part| part == b"clock: true"));
    }

    #[test]
    fn a_frame_without_a_time_has_none_when_it_is_read() {
        let mut bytes = Vec::new();
        let mut file = PcapNg::cut(&mut bytes, "a", "phc", 16).unwrap();
        file.frame(5, &[1; 16], 60).unwrap();
        file.frame_without_time(&[2; 16], 60).unwrap();
        file.frame_without_time(&[3; 14], 14).unwrap();
        file.finish().unwrap();
        let mut reader = crate::Reader::new(bytes.as_slice()).unwrap();
        let mut found = Vec::new();
        while let Some(packet) = reader.read().unwrap() {
            found.push((packet.t_ns, packet.original, packet.octets.to_vec()));
        }
        assert_eq!(found, [(Some(5), 60, vec![1; 16]), (None, 60, vec![2; 16]), (None, 14, vec![3; 14])]);
        assert_eq!((reader.clock(), reader.warning()), (Some("phc"), None));
    }
}
