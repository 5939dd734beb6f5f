//! Reads one capture file front to back, frame by frame, in bounded memory.

use crate::buffer::Buffer;
use crate::file::open_regular;
use crate::packet::Packet;
use crate::wrapper::Wrapper;
use crate::{Error, TimeScale, write};
use pcap_parser::pcapng::{Block, parse_block_be, parse_block_le};
use pcap_parser::traits::PcapNGPacketBlock;
use pcap_parser::{PcapHeader, PcapNGOption, parse_pcap_header};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use tsn_wire::link::Link;

/// Limit of the octets that one frame or block may claim; a larger length is damaged.
const LARGEST: u32 = 1 << 26;
/// Limit of interfaces in one section.
const MOST_INTERFACES: usize = 1 << 16;
/// Octets of a pcap file's header, and of the header before each frame.
const PCAP_HEADER: usize = 24;
const PCAP_RECORD: usize = 16;
/// Options for which the parser has no name, and those of an interface's statistics.
const IF_FCSLEN: u16 = 13;
const EPB_FLAGS: u16 = 2;
const ISB_IFDROP: u16 = 5;
const ISB_OSDROP: u16 = 7;

/// One interface of a capture.
#[derive(Copy, Clone, Debug)]
struct Interface {
    link: Result<Link, i32>,
    wrapper: Wrapper,
    scale: TimeScale,
    fcs: u32,
    snap: u32,
    /// Frames that the capture itself has dropped, as far as the file says so.
    dropped: u64,
}

enum Kind {
    Pcap { big_endian: bool, modified: bool, nanoseconds: bool },
    PcapNg { big_endian: bool },
}

/// Reads one capture file.
pub struct Reader<R: Read = File> {
    buffer: Buffer<R>,
    kind: Kind,
    interfaces: Vec<Interface>,
    clock: Option<String>,
    frames: u64,
    /// Frames dropped at interfaces of earlier sections.
    dropped: u64,
    warning: Option<String>,
}

impl Reader<File> {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// The file does not begin as a capture.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::new(open_regular(path)?)
    }
}

impl<R: Read> Reader<R> {
    /// Reads a capture from any source.
    ///
    /// # Errors
    /// The source does not begin as a capture.
    pub fn new(from: R) -> Result<Self, Error> {
        let mut buffer = Buffer::new(from);
        if !buffer.fill(4)? {
            let found = buffer.octets();
            return Err(if found.is_empty() { Error::Empty } else { Error::Unknown(hex(found)) });
        }
        let found = buffer.octets();
        if found.starts_with(&[0x0a, 0x0d, 0x0d, 0x0a]) {
            let kind = Kind::PcapNg { big_endian: false };
            return Ok(Self::begin(buffer, kind, Vec::new()));
        }
        let magic = hex(&found[..4]);
        let known = matches!(
            found[..4],
            [0xa1, 0xb2, 0xc3, 0xd4]
                | [0xd4, 0xc3, 0xb2, 0xa1]
                | [0xa1, 0xb2, 0x3c, 0x4d]
                | [0x4d, 0x3c, 0xb2, 0xa1]
                | [0x34, 0xcd, 0xb2, 0xa1]
                | [0xa1, 0xb2, 0xcd, 0x34]
        );
        if !known {
            return Err(Error::Unknown(magic));
        }
        if !buffer.fill(PCAP_HEADER)? {
            return Err(Error::Headers);
        }
        let header =
            parse_pcap_header(buffer.octets()).map(|(_, header)| header).map_err(|_| Error::Headers)?;
        buffer.take(PCAP_HEADER);
        let interfaces = vec![pcap_interface(&header)];
        let kind = Kind::Pcap {
            big_endian: header.is_bigendian(),
            modified: header.is_modified_format(),
            nanoseconds: header.is_nanosecond_precision(),
        };
        Ok(Self::begin(buffer, kind, interfaces))
    }

    fn begin(buffer: Buffer<R>, kind: Kind, interfaces: Vec<Interface>) -> Self {
        Self { buffer, kind, interfaces, clock: None, frames: 0, dropped: 0, warning: None }
    }

    /// The next frame; `None` at the end, or before a damaged part (see [`Reader::warning`]).
    ///
    /// # Errors
    /// The file is damaged before its first frame, or its link type is not supported.
    #[inline(always)]
    pub fn read(&mut self) -> Result<Option<Packet<'_>>, Error> {
        if self.warning.is_some() {
            return Ok(None);
        }
        match self.kind {
            Kind::Pcap { big_endian, modified, nanoseconds } => {
                self.read_pcap(big_endian, if modified { PCAP_RECORD + 8 } else { PCAP_RECORD }, nanoseconds)
            }
            Kind::PcapNg { .. } => self.read_pcapng(),
        }
    }

    /// The reason why the file was not read to its end, if it was not.
    #[must_use]
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// Number of frames read.
    #[must_use]
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Frames that the capture dropped itself, as far as it was read and says so (`isb_ifdrop`, `isb_osdrop`).
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.interfaces.iter().fold(self.dropped, |sum, interface| sum.saturating_add(interface.dropped))
    }

    /// The clock's name, if the file has one; known after the first frame.
    #[must_use]
    pub fn clock(&self) -> Option<&str> {
        self.clock.as_deref()
    }

    /// The rest of the file cannot be read: an error before the first frame, a warning after it.
    #[cold]
    fn stop<T>(&mut self, problem: &str) -> Result<Option<T>, Error> {
        let at = self.buffer.position();
        if self.frames == 0 {
            return Err(Error::Broken { at, problem: problem.to_owned() });
        }
        self.warning =
            Some(format!("is broken at octet {at}: {problem}; {} frames before it were read", self.frames));
        Ok(None)
    }

    /// The file ends exactly here, or within a part that needs `needed` octets.
    #[cold]
    fn end<T>(&mut self) -> Result<Option<T>, Error> {
        let left = self.buffer.octets().len();
        if left > 0 {
            let at = self.buffer.position();
            self.warning = Some(format!(
                "breaks off inside the frame or block at octet {at}; {} frames before it were read",
                self.frames
            ));
        }
        Ok(None)
    }

    #[inline(always)]
    fn read_pcap(
        &mut self,
        big_endian: bool,
        record: usize,
        nanoseconds: bool,
    ) -> Result<Option<Packet<'_>>, Error> {
        if !self.buffer.fill(record)? {
            return self.end();
        }
        let head = self.buffer.octets();
        let number = |at: usize| -> u32 {
            let octets = [head[at], head[at + 1], head[at + 2], head[at + 3]];
            if big_endian { u32::from_be_bytes(octets) } else { u32::from_le_bytes(octets) }
        };
        let (seconds, fraction, captured, original) = (number(0), number(4), number(8), number(12));
        if captured > LARGEST {
            return self.stop(&format!("a frame of {captured} octets"));
        }
        let fraction_ns = if nanoseconds { Some(fraction) } else { fraction.checked_mul(1000) };
        let length = captured as usize;
        if !self.buffer.fill(record + length)? {
            return self.end();
        }
        let interface = self.interfaces[0];
        let link = interface.link.map_err(Error::Link)?;
        self.frames += 1;
        let t_ns = fraction_ns.map(|ns| i64::from(seconds) * 1_000_000_000 + i64::from(ns));
        let octets = &self.buffer.take(record + length)[record..];
        if interface.wrapper != Wrapper::None {
            return Ok(Some(interface.wrapper.open(Packet { t_ns, link, original, octets })));
        }
        Ok(Some(packet(t_ns, link, original, octets, interface.fcs)))
    }

    fn read_pcapng(&mut self) -> Result<Option<Packet<'_>>, Error> {
        loop {
            if !self.buffer.fill(12)? {
                return self.end();
            }
            let head = self.buffer.octets();
            if head.starts_with(&[0x0a, 0x0d, 0x0d, 0x0a]) {
                let big_endian = match head[8..12] {
                    [0x1a, 0x2b, 0x3c, 0x4d] => true,
                    [0x4d, 0x3c, 0x2b, 0x1a] => false,
                    _ => return self.stop("a section without byte order"),
                };
                self.kind = Kind::PcapNg { big_endian };
                self.dropped = self.dropped();
                self.interfaces.clear();
            }
            let Kind::PcapNg { big_endian } = self.kind else { return self.end() };
            let head = self.buffer.octets();
            let length = [head[4], head[5], head[6], head[7]];
            let length = if big_endian { u32::from_be_bytes(length) } else { u32::from_le_bytes(length) };
            if !(12..=LARGEST).contains(&length) || !length.is_multiple_of(4) {
                return self.stop(&format!("a block of {length} octets"));
            }
            let length = length as usize;
            if !self.buffer.fill(length)? {
                return self.end();
            }
            match self.block(length, big_endian)? {
                Step::Frame { t_ns, interface, original, octets, fcs } => {
                    let Some(interface) = self.interfaces.get(interface).copied() else {
                        return self.stop("a frame of an interface that is not described");
                    };
                    let link = interface.link.map_err(Error::Link)?;
                    self.frames += 1;
                    let octets = &self.buffer.take(length)[octets];
                    if interface.wrapper != Wrapper::None {
                        return Ok(Some(interface.wrapper.open(Packet { t_ns, link, original, octets })));
                    }
                    return Ok(Some(packet(t_ns, link, original, octets, fcs.unwrap_or(interface.fcs))));
                }
                Step::Next => {
                    self.buffer.take(length);
                }
                Step::Broken(problem) => return self.stop(problem),
            }
        }
    }

    /// Reads the block at the start of the buffer, which holds all of it.
    fn block(&mut self, length: usize, big_endian: bool) -> Result<Step, Error> {
        let octets = &self.buffer.octets()[..length];
        let parsed = if big_endian { parse_block_be(octets) } else { parse_block_le(octets) };
        let Ok((_, block)) = parsed else { return Ok(Step::Broken("a block that contradicts itself")) };
        match block {
            Block::EnhancedPacket(block) => {
                let Some(interface) = self.interfaces.get(block.if_id as usize) else {
                    return Ok(Step::Broken("a frame of an interface that is not described"));
                };
                let ticks = u64::from(block.ts_high) << 32 | u64::from(block.ts_low);
                // Fixed fields: type, length, interface, time 2, captured, original, each 32 bits.
                let captured = block.packet_data().len();
                Ok(Step::Frame {
                    t_ns: interface.scale.ns(ticks),
                    interface: block.if_id as usize,
                    original: block.origlen,
                    octets: 28..28 + captured,
                    fcs: number(&block.options, EPB_FLAGS, big_endian).and_then(fcs_octets),
                })
            }
            Block::SimplePacket(block) => {
                let snap = self.interfaces.first().map_or(0, |interface| interface.snap);
                let limit = if snap == 0 { usize::MAX } else { snap as usize };
                let captured = block.packet_data().len().min(limit);
                // A block of this type has no time.
                Ok(Step::Frame {
                    t_ns: None,
                    interface: 0,
                    original: block.origlen,
                    octets: 12..12 + captured,
                    fcs: None,
                })
            }
            Block::InterfaceDescription(block) => {
                let offset = if big_endian { block.if_tsoffset.swap_bytes() } else { block.if_tsoffset };
                let Some(scale) = TimeScale::from_resolution(block.if_tsresol, offset) else {
                    return Ok(Step::Broken("a time resolution that nothing can have"));
                };
                let fcs = block.options.iter().find(|option| option.code.0 == IF_FCSLEN);
                let fcs = fcs.and_then(|option| option.value.first()).map_or(0, |octets| u32::from(*octets));
                let clock = block.if_description().and_then(Result::ok);
                let clock = clock.and_then(|text| text.strip_prefix(write::CLOCK)).map(str::to_owned);
                let number = block.linktype.0;
                let (link, wrapper) = (link(number), Wrapper::from_number(number));
                let snap = block.snaplen;
                if self.interfaces.len() >= MOST_INTERFACES {
                    return Ok(Step::Broken("more interfaces than a frame can name"));
                }
                self.clock = self.clock.take().or(clock);
                self.interfaces.push(Interface { link, wrapper, scale, fcs, snap, dropped: 0 });
                Ok(Step::Next)
            }
            Block::InterfaceStatistics(block) => {
                if let Some(interface) = self.interfaces.get_mut(block.if_id as usize) {
                    let count = |code| number(&block.options, code, big_endian).unwrap_or(0);
                    interface.dropped = count(ISB_IFDROP).saturating_add(count(ISB_OSDROP));
                }
                Ok(Step::Next)
            }
            _ => Ok(Step::Next),
        }
    }
}

/// The content of a block.
enum Step {
    /// A frame; `fcs` is the length of its own FCS where the block tells it.
    Frame {
        t_ns: Option<i64>,
        interface: usize,
        original: u32,
        octets: std::ops::Range<usize>,
        fcs: Option<u32>,
    },
    Next,
    Broken(&'static str),
}

/// The value of an option that is a number of 4 or 8 octets.
fn number(options: &[PcapNGOption<'_>], code: u16, big_endian: bool) -> Option<u64> {
    let value = options.iter().find(|option| option.code.0 == code)?.as_bytes().ok()?;
    if let Ok(octets) = <[u8; 4]>::try_from(value) {
        return Some(u64::from(if big_endian {
            u32::from_be_bytes(octets)
        } else {
            u32::from_le_bytes(octets)
        }));
    }
    let octets = <[u8; 8]>::try_from(value).ok()?;
    Some(if big_endian { u64::from_be_bytes(octets) } else { u64::from_le_bytes(octets) })
}

/// The octets of the FCS in `epb_flags` (bits 5 to 8); 0 stands for unknown.
fn fcs_octets(flags: u64) -> Option<u32> {
    let octets = (flags >> 5) & 15;
    u32::try_from(octets).ok().filter(|octets| *octets > 0)
}

/// The link layer with this number; hardware captures Ethernet.
fn link(number: i32) -> Result<Link, i32> {
    let number = if Wrapper::from_number(number) == Wrapper::None { number } else { 1 };
    Link::from_number(number).ok_or(number)
}

/// The only interface of a pcap file; its link field also tells whether frames end with their FCS.
fn pcap_interface(header: &PcapHeader) -> Interface {
    let number = header.network.0;
    // Bit 26: the FCS length is known; bits 28 to 31: the FCS length in 16-bit words.
    let fcs = if number & 0x0400_0000 == 0 { 0 } else { (number.cast_unsigned() >> 28) * 2 };
    let scale =
        if header.is_nanosecond_precision() { TimeScale::NANOSECONDS } else { TimeScale::MICROSECONDS };
    let number = number & 0xffff;
    let wrapper = Wrapper::from_number(number);
    Interface { link: link(number), wrapper, scale, fcs, snap: header.snaplen, dropped: 0 }
}

/// Removes the FCS; the capture may contain only a part of it.
#[inline]
fn packet(t_ns: Option<i64>, link: Link, original: u32, octets: &[u8], fcs: u32) -> Packet<'_> {
    let length = u32::try_from(octets.len()).unwrap_or(u32::MAX);
    let original = original.max(length).saturating_sub(fcs);
    Packet { t_ns, link, original, octets: &octets[..length.min(original) as usize] }
}

fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect::<Vec<_>>().join(" ")
}
