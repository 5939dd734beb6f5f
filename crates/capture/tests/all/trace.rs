//! Flows of captures as times and sizes.

use std::io::Cursor;
use tsn_capture::Reader;
use tsn_capture::trace::{Filter, Trace, trace};

/// A little-endian pcap of Ethernet frames with ns.
fn pcap(frames: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut file: Vec<u8> = Vec::new();
    for word in [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, 65_535, 1] {
        file.extend(word.to_le_bytes());
    }
    for (ns, octets) in frames {
        for word in [100, *ns, octets.len() as u32, octets.len() as u32] {
            file.extend(word.to_le_bytes());
        }
        file.extend(octets);
    }
    file
}

/// An IPv4/UDP frame of `payload` octets, with a VLAN tag if `tag` is given.
fn udp(source: [u8; 4], to: u16, payload: u8, tag: Option<u16>) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, source[3]];
    if let Some(control) = tag {
        frame.extend([0x81, 0x00]);
        frame.extend(control.to_be_bytes());
    }
    let length = 28 + u16::from(payload);
    frame.extend([0x08, 0x00, 0x45, 0]);
    frame.extend(length.to_be_bytes());
    frame.extend([0, 1, 0, 0, 64, 17, 0, 0]);
    frame.extend(source);
    frame.extend([10, 0, 0, 9]);
    frame.extend([0x10, 0x00]);
    frame.extend(to.to_be_bytes());
    frame.extend((8 + u16::from(payload)).to_be_bytes());
    frame.extend([0, 0]);
    frame.extend(std::iter::repeat_n(0, usize::from(payload)));
    frame
}

fn of(filter: Filter) -> Trace {
    let frames = [
        (50, udp([10, 0, 0, 1], 5_000, 100, Some(0x6064))),
        (40, udp([10, 0, 0, 2], 5_000, 120, None)),
        (70, udp([10, 0, 0, 1], 6_000, 140, Some(0x2064))),
    ];
    trace(&mut Reader::new(Cursor::new(pcap(&frames))).unwrap(), &filter).unwrap()
}

#[test]
fn a_flow_is_told_by_tag_addresses_and_port() {
    let s = 100_000_000_000;
    // 14 + 20 + 8 + payload + 4 octets; a tag is not counted, and times are in order.
    let (a, b, c) = ((s + 50, 146), (s + 40, 166), (s + 70, 186));
    let all = of(Filter::default());
    assert_eq!((all.begin_ns, all.frames), (s + 40, vec![b, a, c]));
    let none = Filter::default();
    let address = |text: &str| Some(text.parse().unwrap());
    for (filter, expected) in [
        (Filter { vlan: Some(Some(100)), ..none }, vec![a, c]),
        (Filter { vlan: Some(None), ..none }, vec![b]),
        (Filter { pcp: Some(3), ..none }, vec![a]),
        (Filter { udp: Some(5_000), ..none }, vec![b, a]),
        (Filter { source: address("10.0.0.1"), ..none }, vec![a, c]),
        (Filter { source: address("02:00:00:00:00:02"), ..none }, vec![b]),
        (Filter { destination: address("10.0.0.9"), udp: Some(6_000), ..none }, vec![c]),
        (Filter { destination: address("10.0.0.1"), ..none }, vec![]),
    ] {
        let found = of(filter);
        assert_eq!(found.frames, expected, "{filter:?}");
        assert_eq!(found.begin_ns, s + 40, "the beginning is the capture's, not the flow's");
    }
}
