//! Blocks of pcapng, and interfaces as they describe them. draft-ietf-opsawg-pcapng, sections 4.2 to 4.6.

use crate::wrapper::Wrapper;
use crate::{TimeScale, write};
use pcap_parser::PcapNGOption;
use pcap_parser::pcapng::InterfaceDescriptionBlock;
use tsn_wire::link::Link;

/// Options for which the parser has no name, and those of an interface's statistics.
pub(crate) const IF_FCSLEN: u16 = 13;
pub(crate) const EPB_FLAGS: u16 = 2;
pub(crate) const ISB_IFDROP: u16 = 5;
pub(crate) const ISB_OSDROP: u16 = 7;

/// One interface of a capture.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Interface {
    pub(crate) link: Result<Link, i32>,
    pub(crate) wrapper: Wrapper,
    pub(crate) scale: TimeScale,
    pub(crate) fcs: u32,
    pub(crate) snap: u32,
    /// Its place among the interfaces of all sections.
    pub(crate) place: usize,
    /// Whether its frames are read.
    pub(crate) wanted: bool,
    /// Frames that the capture itself has dropped, as far as the file says so.
    pub(crate) dropped: u64,
}

/// An interface, its name and its clock, as a block describes it.
pub(crate) struct Described {
    pub(crate) interface: Interface,
    pub(crate) name: Option<String>,
    pub(crate) clock: Option<String>,
}

pub(crate) fn described(
    block: &InterfaceDescriptionBlock<'_>,
    big_endian: bool,
) -> Result<Described, &'static str> {
    let offset = if big_endian { block.if_tsoffset.swap_bytes() } else { block.if_tsoffset };
    let scale = TimeScale::from_resolution(block.if_tsresol, offset)
        .ok_or("a time resolution that nothing can have")?;
    let fcs = block.options.iter().find(|option| option.code.0 == IF_FCSLEN);
    let fcs = fcs.and_then(|option| option.value.first()).map_or(0, |octets| u32::from(*octets));
    let description = block.if_description().and_then(Result::ok);
    let clock = description.and_then(|text| text.strip_prefix(write::CLOCK)).map(str::to_owned);
    let name = block.if_name().and_then(Result::ok).filter(|name| !name.is_empty()).or(description);
    let number = block.linktype.0;
    let (link, wrapper) = (link(number), Wrapper::from_number(number));
    let snap = block.snaplen;
    let interface = Interface { link, wrapper, scale, fcs, snap, place: 0, wanted: true, dropped: 0 };
    Ok(Described { interface, name: name.map(str::to_owned), clock })
}

/// A block with a frame; `fcs` is the length of its own FCS where the block tells it.
pub(crate) struct FrameBlock {
    pub(crate) t_ns: Option<i64>,
    pub(crate) interface: usize,
    pub(crate) original: u32,
    pub(crate) octets: std::ops::Range<usize>,
    pub(crate) fcs: Option<u32>,
}

/// The content of a block.
pub(crate) enum Step {
    Frame(FrameBlock),
    Next,
    Broken(&'static str),
}

/// The value of an option that is a number of 4 or 8 octets.
pub(crate) fn number(options: &[PcapNGOption<'_>], code: u16, big_endian: bool) -> Option<u64> {
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
pub(crate) fn fcs_octets(flags: u64) -> Option<u32> {
    let octets = (flags >> 5) & 15;
    u32::try_from(octets).ok().filter(|octets| *octets > 0)
}

/// The link layer with this number; hardware captures Ethernet.
pub(crate) fn link(number: i32) -> Result<Link, i32> {
    let number = if Wrapper::from_number(number) == Wrapper::None { number } else { 1 };
    Link::from_number(number).ok_or(number)
}
