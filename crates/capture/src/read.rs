//! Reads one capture file front to back, frame by frame, in bounded memory.

use crate::block::{
    Described, EPB_FLAGS, FrameBlock, ISB_IFDROP, ISB_OSDROP, Interface, Step, described, fcs_octets, link,
    number,
};
use crate::buffer::Buffer;
use crate::file::open_regular;
use crate::interface::{InterfaceId, index_of};
use crate::packet::Packet;
use crate::wrapper::Wrapper;
use crate::{Error, TimeScale};
use pcap_parser::pcapng::{Block, parse_block_be, parse_block_le};
use pcap_parser::traits::PcapNGPacketBlock;
use pcap_parser::{PcapHeader, parse_pcap_header};
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

enum Kind {
    Pcap { big_endian: bool, modified: bool, nanoseconds: bool },
    PcapNg { big_endian: bool },
}

/// The place of a frame's interface among those of all sections, its link and its octets.
pub(crate) type Skipped<'a> = (usize, Result<Link, i32>, &'a [u8]);

/// Reads one capture file.
pub struct Reader<R: Read = File> {
    buffer: Buffer<R>,
    kind: Kind,
    /// Interfaces of the section.
    interfaces: Vec<Interface>,
    /// Interfaces of all sections: those of a later section with the same names are the same ones.
    ids: Vec<InterfaceId>,
    /// The only interface whose frames are read, or all.
    only: Option<InterfaceId>,
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
        let ids = vec![InterfaceId::default(); interfaces.len()];
        Self { buffer, kind, interfaces, ids, only: None, clock: None, frames: 0, dropped: 0, warning: None }
    }

    /// Reads the frames of one interface of the file alone.
    #[must_use]
    pub fn only(mut self, interface: InterfaceId) -> Self {
        self.interfaces.iter_mut().for_each(|known| known.wanted = is_at(&self.ids[known.place], &interface));
        self.only = Some(interface);
        self
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
                let record = if modified { PCAP_RECORD + 8 } else { PCAP_RECORD };
                if self.only.is_some() {
                    self.skip_others(big_endian, record)?;
                }
                self.read_pcap(big_endian, record, nanoseconds)
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
        let wanted = self.interfaces.iter().filter(|interface| interface.wanted);
        wanted.fold(self.dropped, |sum, interface| sum.saturating_add(interface.dropped))
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
        let Some((length, [seconds, fraction, original])) = self.pcap_record(big_endian, record)? else {
            return Ok(None);
        };
        let fraction_ns = if nanoseconds { Some(fraction) } else { fraction.checked_mul(1000) };
        let Interface { link, wrapper, fcs, .. } = self.interfaces[0];
        let link = link.map_err(Error::Link)?;
        self.frames += 1;
        let t_ns = fraction_ns.map(|ns| i64::from(seconds) * 1_000_000_000 + i64::from(ns));
        let octets = &self.buffer.take(record + length)[record..];
        if wrapper != Wrapper::None {
            return Ok(Some(wrapper.open(Packet { t_ns, link, interface: 0, original, octets })));
        }
        let (original, octets) = without_fcs(original, octets, fcs);
        Ok(Some(Packet { t_ns, link, interface: 0, original, octets }))
    }

    /// pcap: the captured octets of the next frame, all of which are in the buffer; seconds, fraction, original octets.
    #[inline(always)]
    fn pcap_record(&mut self, big_endian: bool, record: usize) -> Result<Option<(usize, [u32; 3])>, Error> {
        if !self.buffer.fill(record)? {
            return self.end();
        }
        let Some(head) = self.buffer.octets().first_chunk::<PCAP_RECORD>() else { return self.end() };
        let number = |at: usize| -> u32 {
            let number = u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
            if big_endian { number.swap_bytes() } else { number }
        };
        let (seconds, fraction, captured, original) = (number(0), number(4), number(8), number(12));
        if captured > LARGEST {
            return self.stop(&format!("a frame of {captured} octets"));
        }
        let length = captured as usize;
        if !self.buffer.fill(record + length)? {
            return self.end();
        }
        Ok(Some((length, [seconds, fraction, original])))
    }

    fn read_pcapng(&mut self) -> Result<Option<Packet<'_>>, Error> {
        loop {
            let Some((length, frame)) = self.next_frame()? else { return Ok(None) };
            let FrameBlock { t_ns, interface, original, octets, fcs } = frame;
            let Interface { link, wrapper, wanted, place, fcs: usual, .. } = self.interfaces[interface];
            if !wanted || !self.has_index(link, &self.buffer.octets()[octets.clone()]) {
                self.buffer.take(length);
                continue;
            }
            let link = link.map_err(Error::Link)?;
            self.frames += 1;
            let octets = &self.buffer.take(length)[octets];
            let interface = u32::try_from(place).unwrap_or(u32::MAX);
            if wrapper != Wrapper::None {
                return Ok(Some(wrapper.open(Packet { t_ns, link, interface, original, octets })));
            }
            let (original, octets) = without_fcs(original, octets, fcs.unwrap_or(usual));
            return Ok(Some(Packet { t_ns, link, interface, original, octets }));
        }
    }

    /// Whether a frame has the index of the only interface that is read, or none if that has none: sections may describe
    /// interfaces of one name, of which one has frames with an index.
    #[inline]
    fn has_index(&self, link: Result<Link, i32>, octets: &[u8]) -> bool {
        let Some(only) = &self.only else { return true };
        let index = index_of(link, octets);
        only.index == index && (index.is_some() || link != Ok(Link::LinuxCooked2))
    }

    /// Goes to the next block with a frame, whose octets and length are then at the start of the buffer.
    fn next_frame(&mut self) -> Result<Option<(usize, FrameBlock)>, Error> {
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
            match self.block(length, big_endian) {
                Step::Frame(frame) if frame.interface < self.interfaces.len() => {
                    return Ok(Some((length, frame)));
                }
                Step::Frame(_) => return self.stop("a frame of an interface that is not described"),
                Step::Next => {
                    self.buffer.take(length);
                }
                Step::Broken(problem) => return self.stop(problem),
            }
        }
    }

    /// Goes over the next frame of any interface, also if its link type is not supported.
    pub(crate) fn skip(&mut self) -> Result<Option<Skipped<'_>>, Error> {
        if self.warning.is_some() {
            return Ok(None);
        }
        if let Kind::Pcap { big_endian, modified, .. } = self.kind {
            let record = if modified { PCAP_RECORD + 8 } else { PCAP_RECORD };
            let Some((captured, _)) = self.pcap_record(big_endian, record)? else { return Ok(None) };
            self.frames += 1;
            let link = self.interfaces[0].link;
            return Ok(Some((0, link, &self.buffer.take(record + captured)[record..])));
        }
        let Some((length, frame)) = self.next_frame()? else { return Ok(None) };
        self.frames += 1;
        let Interface { place, link, .. } = self.interfaces[frame.interface];
        Ok(Some((place, link, &self.buffer.take(length)[frame.octets])))
    }

    /// Whether the file may tell the interfaces of its frames.
    pub(crate) fn tells_interfaces(&self) -> bool {
        matches!(self.kind, Kind::PcapNg { .. }) || self.interfaces[0].link == Ok(Link::LinuxCooked2)
    }

    /// The interface at this place among those of all sections.
    pub(crate) fn id(&self, place: usize) -> InterfaceId {
        self.ids.get(place).cloned().unwrap_or_default()
    }

    /// pcap: goes over frames of other interfaces than the only one that is read.
    #[cold]
    fn skip_others(&mut self, big_endian: bool, record: usize) -> Result<(), Error> {
        while let Some((captured, _)) = self.pcap_record(big_endian, record)? {
            let Interface { wanted, link, .. } = self.interfaces[0];
            let octets = &self.buffer.octets()[record..record + captured];
            if wanted && self.has_index(link, octets) {
                break;
            }
            self.buffer.take(record + captured);
        }
        Ok(())
    }

    /// Reads the block at the start of the buffer, which holds all of it.
    fn block(&mut self, length: usize, big_endian: bool) -> Step {
        let octets = &self.buffer.octets()[..length];
        let parsed = if big_endian { parse_block_be(octets) } else { parse_block_le(octets) };
        let Ok((_, block)) = parsed else { return Step::Broken("a block that contradicts itself") };
        match block {
            Block::EnhancedPacket(block) => {
                let Some(interface) = self.interfaces.get(block.if_id as usize) else {
                    return Step::Broken("a frame of an interface that is not described");
                };
                let ticks = u64::from(block.ts_high) << 32 | u64::from(block.ts_low);
                // Fixed fields: type, length, interface, time 2, captured, original, each 32 bits.
                let captured = block.packet_data().len();
                Step::Frame(FrameBlock {
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
                Step::Frame(FrameBlock {
                    t_ns: None,
                    interface: 0,
                    original: block.origlen,
                    octets: 12..12 + captured,
                    fcs: None,
                })
            }
            Block::InterfaceDescription(block) => {
                let described = described(&block, big_endian);
                self.add_interface(described)
            }
            Block::InterfaceStatistics(block) => {
                if let Some(interface) = self.interfaces.get_mut(block.if_id as usize) {
                    let count = |code| number(&block.options, code, big_endian).unwrap_or(0);
                    interface.dropped = count(ISB_IFDROP).saturating_add(count(ISB_OSDROP));
                }
                Step::Next
            }
            _ => Step::Next,
        }
    }

    /// Adds an interface that the section describes.
    fn add_interface(&mut self, described: Result<Described, &'static str>) -> Step {
        let Described { mut interface, name, clock } = match described {
            Ok(described) => described,
            Err(problem) => return Step::Broken(problem),
        };
        if self.interfaces.len() >= MOST_INTERFACES {
            return Step::Broken("more interfaces than a frame can name");
        }
        let namesakes = self.interfaces.iter().filter(|known| self.ids[known.place].name == name).count();
        let before = u32::try_from(namesakes).unwrap_or(u32::MAX);
        let id = InterfaceId { name, before, index: None };
        interface.wanted = self.only.as_ref().is_none_or(|only| is_at(&id, only));
        if interface.wanted {
            self.clock = self.clock.take().or(clock);
        }
        interface.place = self.ids.iter().position(|known| *known == id).unwrap_or_else(|| {
            self.ids.push(id);
            self.ids.len() - 1
        });
        self.interfaces.push(interface);
        Step::Next
    }
}

/// Whether an interface is the one that is meant, or has its frames.
fn is_at(id: &InterfaceId, meant: &InterfaceId) -> bool {
    id.name == meant.name && id.before == meant.before
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
    Interface {
        link: link(number),
        wrapper,
        scale,
        fcs,
        snap: header.snaplen,
        place: 0,
        wanted: true,
        dropped: 0,
    }
}

/// Removes the FCS; the capture may contain only a part of it.
#[inline]
fn without_fcs(original: u32, octets: &[u8], fcs: u32) -> (u32, &[u8]) {
    let length = u32::try_from(octets.len()).unwrap_or(u32::MAX);
    let original = original.max(length).saturating_sub(fcs);
    (original, &octets[..length.min(original) as usize])
}

fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect::<Vec<_>>().join(" ")
}
