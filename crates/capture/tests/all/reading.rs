//! Captures of every kind, written octet by octet: frames are read exactly, and damaged files give errors.

use tsn_capture::{Error, Reader, write::PcapNg};
use tsn_wire::link::Link;

/// A frame as read: stamp, link, octets on the link, octets captured.
type Read = (Option<i64>, Link, u32, Vec<u8>);

/// All frames, and the reason why the rest could not be read.
fn read(bytes: &[u8]) -> Result<(Vec<Read>, Option<String>), Error> {
    let mut reader = Reader::new(bytes)?;
    let mut frames = Vec::new();
    while let Some(packet) = reader.read()? {
        frames.push((packet.t_ns, packet.link, packet.original, packet.octets.to_vec()));
    }
    Ok((frames, reader.warning().map(str::to_owned)))
}

/// Numbers of 32 bits in either byte order.
fn words(big_endian: bool, numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|n| if big_endian { n.to_be_bytes() } else { n.to_le_bytes() }).collect()
}

/// A pcap file with one frame of 5 of 60 octets at second 1,700,000,000 and this fraction.
fn pcap(big_endian: bool, magic: u32, link: u32, fraction: u32) -> Vec<u8> {
    let version = if big_endian { 0x0002_0004 } else { 0x0004_0002 };
    let mut bytes = words(big_endian, &[magic, version, 0, 0, 65_535, link]);
    bytes.extend(words(big_endian, &[1_700_000_000, fraction, 5, 60]));
    bytes.extend_from_slice(b"hello");
    bytes
}

const MICRO: u32 = 0xa1b2_c3d4;
const NANO: u32 = 0xa1b2_3c4d;

#[test]
fn pcap_of_both_byte_orders_and_resolutions() {
    for big_endian in [false, true] {
        for (magic, fraction, ns) in [(MICRO, 123_456, 123_456_000), (NANO, 123_456_789, 123_456_789)] {
            let (frames, warning) = read(&pcap(big_endian, magic, 1, fraction)).unwrap();
            let stamp = Some(1_700_000_000_000_000_000 + ns);
            assert_eq!(frames, [(stamp, Link::Ethernet, 60, b"hello".to_vec())], "{big_endian} {magic:x}");
            assert_eq!(warning, None);
        }
    }
    for (number, link) in [
        (0, Link::Loopback),
        (101, Link::RawIp),
        (108, Link::Loopback),
        (113, Link::LinuxCooked),
        (276, Link::LinuxCooked2),
    ] {
        assert_eq!(read(&pcap(false, NANO, number, 0)).unwrap().0[0].1, link);
    }
}

#[test]
fn an_fcs_that_the_file_declares_is_taken_off() {
    // Link type Ethernet with a known FCS length: two words of 16 bits.
    let mut bytes = pcap(false, NANO, 0x2400_0001, 0);
    assert_eq!(read(&bytes).unwrap().0[0].2, 56);
    bytes.truncate(24);
    bytes.extend(words(false, &[0, 0, 6, 6]));
    bytes.extend_from_slice(b"ab\x01\x02\x03\x04");
    assert_eq!(read(&bytes).unwrap().0[0].3, b"ab");
}

/// A pcapng block.
fn block(big_endian: bool, kind: u32, body: &[u8]) -> Vec<u8> {
    let mut padded = body.to_vec();
    padded.resize(body.len().next_multiple_of(4), 0);
    let length = padded.len() as u32 + 12;
    [words(big_endian, &[kind, length]), padded, words(big_endian, &[length])].concat()
}

fn section(big_endian: bool) -> Vec<u8> {
    let version = if big_endian { 0x0001_0000 } else { 0x0000_0001 };
    block(big_endian, 0x0a0d_0d0a, &words(big_endian, &[0x1a2b_3c4d, version, u32::MAX, u32::MAX]))
}

/// An interface of this link type, with `if_tsresol` and `if_tsoffset`.
fn interface(big_endian: bool, link: u16, resolution: u8, offset: i64) -> Vec<u8> {
    let half = |n: u16| if big_endian { n.to_be_bytes() } else { n.to_le_bytes() };
    let mut body = [half(link), half(0)].concat();
    body.extend(words(big_endian, &[0]));
    body.extend([half(9), half(1)].concat());
    body.extend_from_slice(&[resolution, 0, 0, 0]);
    body.extend([half(14), half(8)].concat());
    body.extend(if big_endian { offset.to_be_bytes() } else { offset.to_le_bytes() });
    body.extend(words(big_endian, &[0]));
    block(big_endian, 1, &body)
}

fn enhanced(big_endian: bool, interface: u32, ticks: u64, octets: &[u8], original: u32) -> Vec<u8> {
    let fields = [interface, (ticks >> 32) as u32, ticks as u32, octets.len() as u32, original];
    block(big_endian, 6, &[&words(big_endian, &fields)[..], octets].concat())
}

#[test]
fn pcapng_of_both_byte_orders_with_every_kind_of_clock() {
    for big_endian in [false, true] {
        let file = [
            section(big_endian),
            interface(big_endian, 1, 9, 0),
            interface(big_endian, 113, 6, 37),
            interface(big_endian, 101, 0x80 | 32, 0),
            block(big_endian, 0x0bad, b"someone's own block"),
            enhanced(big_endian, 0, 1_795_234_296_123_456_789, b"nanos", 60),
            enhanced(big_endian, 1, 5, b"micro", 5),
            enhanced(big_endian, 2, 3 << 31, b"half", 4),
            // A simple packet block has neither an interface nor a time.
            block(big_endian, 3, &[&words(big_endian, &[6])[..], b"simple"].concat()),
        ]
        .concat();
        let (frames, warning) = read(&file).unwrap();
        let expected = [
            (Some(1_795_234_296_123_456_789), Link::Ethernet, 60, b"nanos".to_vec()),
            (Some(37_000_005_000), Link::LinuxCooked, 5, b"micro".to_vec()),
            (Some(1_500_000_000), Link::RawIp, 4, b"half".to_vec()),
            (None, Link::Ethernet, 6, b"simple".to_vec()),
        ];
        assert_eq!((frames.as_slice(), warning), (&expected[..], None));
    }
}

#[test]
fn a_second_section_may_have_the_other_byte_order() {
    let file = [
        [section(false), interface(false, 1, 9, 0), enhanced(false, 0, 1, b"a", 1)].concat(),
        [section(true), interface(true, 1, 6, 0), enhanced(true, 0, 2, b"b", 1)].concat(),
    ]
    .concat();
    let stamps: Vec<_> = read(&file).unwrap().0.into_iter().map(|frame| frame.0).collect();
    assert_eq!(stamps, [Some(1), Some(2000)]);
}

#[test]
fn what_is_written_is_read() {
    let mut bytes = Vec::new();
    let mut file = PcapNg::new(&mut bytes, "zgw1 -> zgw2 tx", "true").unwrap();
    for number in 0..1000_u32 {
        let octets = vec![number as u8; number as usize % 70];
        file.frame(i64::from(number) * 1_000_003, &octets, number % 70 + 3).unwrap();
    }
    file.finish().unwrap();
    let (frames, warning) = read(&bytes).unwrap();
    assert_eq!((frames.len(), warning), (1000, None));
    for (number, (stamp, _, original, octets)) in frames.iter().enumerate() {
        assert_eq!(*stamp, Some(number as i64 * 1_000_003));
        assert_eq!((*original, octets.len()), (number as u32 % 70 + 3, number % 70));
    }
    let mut reader = Reader::new(&bytes[..]).unwrap();
    reader.read().unwrap();
    assert_eq!(reader.clock(), Some("true"));
}

#[test]
fn what_cannot_be_read_says_why() {
    let message = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
    assert_eq!(message(b""), "is empty");
    assert_eq!(message(b"\x1f\x8b\x08\x00"), "is neither pcap nor pcapng: it begins with 1f 8b 08 00");
    assert_eq!(message(b"PK"), "is neither pcap nor pcapng: it begins with 50 4b");
    assert_eq!(message(&pcap(false, NANO, 1, 0)[..20]), "breaks off inside its headers");
    assert!(
        message(&pcap(false, NANO, 127, 0)).starts_with("has frames of link type 127, which is not read")
    );
    let mut huge = pcap(false, NANO, 1, 0);
    huge[32..36].fill(0xff);
    assert_eq!(message(&huge), "is broken at octet 24: a frame of 4294967295 octets");
    let file = [section(false), enhanced(false, 0, 1, b"a", 1)].concat();
    assert_eq!(message(&file), "is broken at octet 28: a frame of an interface that is not described");
    let file = [section(false), words(false, &[6, 0xffff_fff0, 0])].concat();
    assert_eq!(message(&file), "is broken at octet 28: a block of 4294967280 octets");
    let file = [section(false), interface(false, 1, 99, 0)].concat();
    assert_eq!(message(&file), "is broken at octet 28: a time resolution that nothing can have");
}

#[test]
fn a_file_that_breaks_off_gives_what_is_there_and_says_so() {
    let mut bytes = pcap(false, NANO, 1, 0);
    bytes.extend(words(false, &[1_700_000_001, 0, 5, 60]));
    bytes.extend_from_slice(b"hel");
    let (frames, warning) = read(&bytes).unwrap();
    assert_eq!(frames.len(), 1);
    let expected = "breaks off inside the frame or block at octet 45; 1 frames before it were read";
    assert_eq!(warning.as_deref(), Some(expected));
    // A file whose second frame has an impossible length.
    bytes[53..57].fill(0xff);
    let (frames, warning) = read(&bytes).unwrap();
    assert_eq!(frames.len(), 1);
    assert!(warning.unwrap().starts_with("is broken at octet 45: a frame of 4294967295 octets"));
}

#[test]
fn frames_larger_than_the_buffer_are_read_whole() {
    let octets: Vec<u8> = (0..3_000_000_u32).map(|n| n as u8).collect();
    let file = [
        section(false),
        interface(false, 1, 9, 0),
        enhanced(false, 0, 1, &octets, 3_000_000),
        enhanced(false, 0, 2, b"after", 5),
    ]
    .concat();
    let (frames, _) = read(&file).unwrap();
    assert_eq!((frames[0].3.len(), frames[1].3.as_slice()), (3_000_000, &b"after"[..]));
    assert!(frames[0].3 == octets);
}
