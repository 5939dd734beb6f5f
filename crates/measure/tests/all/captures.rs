//! Captures of every tool's frames, generated here, with losses, duplicates and different clocks.

use std::path::{Path, PathBuf};
use std::slice::from_ref;
use tsn_measure::captures::{Options, measure};
use tsn_measure::report::{Measures, PathReport};
use tsn_wire::build::{FrameSpec, frame};
use tsn_wire::payload::{iperf3, send_udp};
use tsn_wire::{Mac, Tag};

const START: i64 = 1_700_000_000_000_000_000;
const ETHERNET: u32 = 1;
const COOKED: u32 = 113;
const WHOLE: usize = usize::MAX;

/// A captured frame: stamp and octets.
type Captured = (i64, Vec<u8>);

/// Writes a pcap file of this link type, keeping at most `snap` octets of each frame.
fn pcap(folder: &Path, name: &str, link: u32, snap: usize, frames: &[Captured]) -> PathBuf {
    let words = |words: [u32; 4]| words.into_iter().flat_map(u32::to_le_bytes);
    let mut bytes: Vec<u8> = words([0xa1b2_3c4d, 0x0004_0002, 0, 0]).collect();
    bytes.extend([65_535, link].into_iter().flat_map(u32::to_le_bytes));
    for (stamp, octets) in frames {
        let kept = octets.len().min(snap);
        let (seconds, rest) = (stamp / 1_000_000_000, stamp % 1_000_000_000);
        bytes.extend(words([seconds as u32, rest as u32, kept as u32, octets.len() as u32]));
        bytes.extend_from_slice(&octets[..kept]);
    }
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// A UDP frame of 200 octets with this IPv4 identification, whose payload begins with `head`.
fn udp(id: u16, head: &[u8]) -> Vec<u8> {
    let spec = FrameSpec {
        destination: Mac([2, 0, 0, 0, 0, 1]),
        source: Mac([2, 0, 0, 0, 0, 7]),
        tag: Some(Tag { pcp: 5, dei: false, vid: 9 }),
        ipv4_source: [10, 0, 0, 7],
        ipv4_destination: [10, 0, 0, 1],
        udp_port: 5001,
        octets: 400,
        stream: 3,
        seq: u64::from(id),
        intended_ns: 0,
        type_of_service: 0,
        telegram: None,
    };
    let mut bytes = Vec::new();
    frame(&spec, &mut bytes).unwrap();
    bytes[46..].fill(0);
    bytes[46..46 + head.len()].copy_from_slice(head);
    bytes
}

/// The `number`-th frame of a tool, from 0.
fn of_tool(tool: &str, number: u32) -> Vec<u8> {
    let mut payload = Vec::new();
    match tool {
        "iperf3" | "iperf3 wide" => {
            iperf3::Repr { seconds: 9, microseconds: number, counter: u64::from(number) + 1 }
                .emit(tool == "iperf3 wide", &mut payload)
        }
        "send_udp" => send_udp::Repr { txtime_ns: 5, seq: number, sent_ns: 6 }.emit(&mut payload),
        "flextest" => return udp((number + 65_000) as u16, &[0; 12]),
        // The text changes with every second frame, so that equal frames are matched in order.
        "unknown" => return udp(0, format!("temperature {}", number / 2).as_bytes()),
        "netlatency" => {
            let mut frame = b"\x02\0\0\0\0\x01\x02\0\0\0\0\x07\x08\x08\x01\x04".to_vec();
            frame.extend_from_slice(&number.to_le_bytes());
            frame.resize(60, 0);
            return frame;
        }
        _ => unreachable!(),
    }
    udp(0, &payload)
}

/// 3,000 frames, one per millisecond; each is under way for 10 us plus its number in ns; every 100th is lost.
fn sides(tool: &str, ahead_ns: i64) -> (Vec<Captured>, Vec<Captured>) {
    let sent: Vec<Captured> =
        (0..3000).map(|n| (START + i64::from(n) * 1_000_000, of_tool(tool, n as u32))).collect();
    let arrived = sent
        .iter()
        .enumerate()
        .filter(|(n, _)| n % 100 != 50)
        .map(|(n, (stamp, octets))| (stamp + 10_000 + n as i64 + ahead_ns, octets.clone()));
    let arrived = arrived.collect();
    (sent, arrived)
}

/// The measures of whole frames at both sides.
fn between(sent: &[Captured], arrived: &[Captured]) -> Measures {
    let folder = tempfile::tempdir().unwrap();
    let side = |name: &str, frames: &[Captured]| pcap(folder.path(), name, ETHERNET, WHOLE, frames);
    let (tx, rx) = (side("tx", sent), side("rx", arrived));
    measure(from_ref(&tx), from_ref(&rx), &Options::default(), None).unwrap()
}

fn only(measures: &Measures) -> &PathReport {
    let [path] = &measures.paths[..] else { panic!("{} paths", measures.paths.len()) };
    path
}

fn check(measures: &Measures, what: &str) {
    let PathReport { count, delay, .. } = only(measures);
    assert_eq!((count.sent, count.received, count.lost), (3000, 2970, 30), "{what}");
    let rest = [count.duplicate, count.reordered, count.unmatched_rx, count.duplicate_tx];
    assert_eq!((count.never_sent.unwrap_or(0), rest), (0, [0; 4]), "{what}");
    let delay = delay.as_ref().unwrap();
    assert_eq!((delay.min, delay.max), (10_000, 12_999), "{what}");
}

#[test]
fn every_tools_frames_are_told_apart_and_paired() {
    for (tool, format, name) in [
        ("iperf3", "iperf3", "iperf3 10.0.0.7:5001 > 10.0.0.1:5001"),
        ("iperf3 wide", "iperf3, 64-bit counters", "iperf3 10.0.0.7:5001 > 10.0.0.1:5001"),
        ("send_udp", "send_udp", "send_udp 10.0.0.7:5001 > 10.0.0.1:5001"),
        ("flextest", "IPv4 id and source MAC (FlexTest)", "02:00:00:00:00:07 udp 5001"),
        ("unknown", "hash of the invariant bytes", "udp 10.0.0.7:5001 > 10.0.0.1:5001"),
        ("netlatency", "netlatency", "netlatency/4"),
    ] {
        let (sent, arrived) = sides(tool, 0);
        let measures = between(&sent, &arrived);
        assert_eq!(
            (measures.source.formats.as_slice(), only(&measures).stream.as_str()),
            (&[format.to_owned()][..], name)
        );
        if tool == "unknown" {
            // Of two equal frames either may be the lost one: this cannot be decided.
            let count = &only(&measures).count;
            assert_eq!((count.sent, count.received, count.lost), (3000, 2970, 30));
        } else {
            check(&measures, tool);
        }
    }
}

#[test]
fn links_tags_and_snap_lengths_may_differ_between_the_sides() {
    for tool in ["iperf3", "send_udp"] {
        let folder = tempfile::tempdir().unwrap();
        let (sent, arrived) = sides(tool, 0);
        let cooked = |(stamp, octets): &Captured| {
            (*stamp, [b"\0\0\0\x01\0\x06\x02\0\0\0\0\x07\0\0\x08\0", &octets[18..]].concat())
        };
        let raw = |(stamp, octets): &Captured| (*stamp, octets[18..].to_vec());
        let untagged = |(stamp, octets): &Captured| (*stamp, [&octets[..12], &octets[16..]].concat());
        let tx = pcap(folder.path(), "tx", ETHERNET, WHOLE, &sent);
        for (rx, what) in [
            (
                pcap(folder.path(), "a", COOKED, WHOLE, &arrived.iter().map(cooked).collect::<Vec<_>>()),
                "cooked",
            ),
            (pcap(folder.path(), "b", 101, WHOLE, &arrived.iter().map(raw).collect::<Vec<_>>()), "raw"),
            (pcap(folder.path(), "c", ETHERNET, 80, &arrived), "cut to 80 octets"),
            (
                pcap(folder.path(), "d", ETHERNET, WHOLE, &arrived.iter().map(untagged).collect::<Vec<_>>()),
                "no tag",
            ),
        ] {
            let measures = measure(from_ref(&tx), from_ref(&rx), &Options::default(), None).unwrap();
            check(&measures, &format!("{tool}, {what}"));
        }
    }
    // The hash covers only the octets that both sides have captured.
    let folder = tempfile::tempdir().unwrap();
    let (sent, arrived) = sides("unknown", 0);
    let tx = pcap(folder.path(), "tx", ETHERNET, WHOLE, &sent);
    let rx = pcap(folder.path(), "rx", ETHERNET, 90, &arrived);
    let measures = measure(from_ref(&tx), from_ref(&rx), &Options::default(), None).unwrap();
    assert_eq!(only(&measures).count.received, 2970);
}

/// The `number`-th frame of netlatency in this VLAN.
fn in_vlan(vid: u8, number: u32) -> Vec<u8> {
    let octets = of_tool("netlatency", number);
    [&octets[..12], &[0x81, 0, 0, vid], &octets[12..]].concat()
}

#[test]
fn vlans_tell_streams_apart_where_both_sides_show_them() {
    let folder = tempfile::tempdir().unwrap();
    let sent: Vec<Captured> =
        (0..20).map(|n| (START + i64::from(n) * 1_000_000, in_vlan(5 + n as u8 % 2, n / 2))).collect();
    let tx = pcap(folder.path(), "tx", ETHERNET, WHOLE, &sent);
    let tagged: Vec<Captured> = sent.iter().map(|(stamp, octets)| (stamp + 10_000, octets.clone())).collect();
    let rx = pcap(folder.path(), "tagged", ETHERNET, WHOLE, &tagged);
    let measures = measure(from_ref(&tx), from_ref(&rx), &Options::default(), None).unwrap();
    let found: Vec<_> =
        measures.paths.iter().map(|path| (path.stream.as_str(), path.count.received)).collect();
    assert_eq!(found, [("netlatency/4", 10), ("netlatency/4 #2", 10)]);

    let untagged: Vec<Captured> =
        tagged.iter().map(|(stamp, octets)| (*stamp, [&octets[..12], &octets[16..]].concat())).collect();
    let rx = pcap(folder.path(), "untagged", ETHERNET, WHOLE, &untagged);
    let measures = measure(from_ref(&tx), from_ref(&rx), &Options::default(), None).unwrap();
    let count = &only(&measures).count;
    assert_eq!((count.sent, count.duplicate_tx, count.received, count.duplicate), (10, 10, 10, 10));
}

#[test]
fn a_cooked_capture_shows_no_destination_and_its_frames_are_paired_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let sent: Vec<Captured> =
        (0..10).map(|n| (START + i64::from(n) * 1_000_000, of_tool("netlatency", n as u32))).collect();
    let cooked = |(stamp, octets): &Captured| {
        (stamp + 10_000, [b"\0\0\0\x01\0\x06\x02\0\0\0\0\x07\0\0".as_slice(), &octets[12..]].concat())
    };
    let tx = pcap(folder.path(), "tx", ETHERNET, WHOLE, &sent);
    let rx = pcap(folder.path(), "rx", COOKED, WHOLE, &sent.iter().map(cooked).collect::<Vec<_>>());
    let measures = measure(from_ref(&tx), from_ref(&rx), &Options::default(), None).unwrap();
    let count = &only(&measures).count;
    assert_eq!((count.sent, count.received, count.lost), (10, 10, 0));
}

#[test]
fn several_files_of_a_side_are_read_as_one() {
    let folder = tempfile::tempdir().unwrap();
    let (sent, arrived) = sides("iperf3", 0);
    let part = |name: &str, frames: &[Captured]| pcap(folder.path(), name, ETHERNET, WHOLE, frames);
    // The files are in the wrong order, and overlap.
    let tx = [part("t2", &sent[1500..]), part("t1", &sent[..1500])];
    let every = |odd: usize| arrived.iter().skip(odd).step_by(2).cloned().collect::<Vec<_>>();
    let rx = [part("r1", &every(0)), part("r2", &every(1))];
    check(&measure(&tx, &rx, &Options::default(), None).unwrap(), "parts");
}

#[test]
fn clocks_thirty_seven_seconds_apart_are_named_and_change_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    for (ahead, applied) in [(37, false), (-37, false), (37, true), (3_600_000, true)] {
        let (sent, arrived) = sides("iperf3", ahead * 1_000_000_000);
        let tx = pcap(folder.path(), "tx", ETHERNET, WHOLE, &sent);
        let rx = pcap(folder.path(), "rx", ETHERNET, WHOLE, &arrived);
        let options = Options { offset_s: applied.then_some(ahead), ..Options::default() };
        let measures = measure(from_ref(&tx), from_ref(&rx), &options, None).unwrap();
        let offset = measures.offset.as_ref().unwrap();
        assert_eq!((offset.seconds, offset.applied), (ahead, applied));
        if applied {
            check(&measures, "offset taken off");
        } else {
            let path = only(&measures);
            assert_eq!(path.count.received, 2970);
            assert_eq!(
                path.delay.as_ref().unwrap().min,
                10_000 + ahead * 1_000_000_000,
                "never silently applied"
            );
        }
    }
}

#[test]
fn a_receiver_that_began_late_or_sees_more_changes_only_its_own_counts() {
    let (sent, mut arrived) = sides("iperf3", 0);
    // The first 1000 numbers were not captured; other traffic was captured, from before the sender's first
    // frame.
    arrived.drain(..990);
    let other = (0..5000).map(|n| (START - 60_000_000_000 + n * 10_000_000, of_tool("netlatency", n as u32)));
    let rx: Vec<Captured> = other.chain(arrived).collect();
    let measures = between(&sent, &rx);
    let count = &only(&measures).count;
    assert_eq!((count.sent, count.received, count.lost), (3000, 1980, 1020));
    let ignored = &measures.source.ignored;
    assert_eq!((ignored.rx_only_streams, ignored.rx_only_frames), (1, 5000));
}

#[test]
fn a_capture_that_breaks_off_gives_a_stated_partial_result() {
    let folder = tempfile::tempdir().unwrap();
    let (sent, arrived) = sides("iperf3", 0);
    let tx = pcap(folder.path(), "tx", ETHERNET, WHOLE, &sent);
    let rx = pcap(folder.path(), "rx", ETHERNET, WHOLE, &arrived);
    let bytes = std::fs::read(&rx).unwrap();
    std::fs::write(&rx, &bytes[..bytes.len() / 2]).unwrap();
    let measures = measure(from_ref(&tx), from_ref(&rx), &Options::default(), None).unwrap();
    let count = &only(&measures).count;
    assert_eq!((count.sent, count.received), (3000, 1484));
    let [warning] = &measures.source.warnings[..] else { panic!("{:?}", measures.source.warnings) };
    assert!(warning.contains("breaks off inside the frame or block at octet"), "{warning}");
    let nothing =
        measure(&[] as &[PathBuf], from_ref(&rx), &Options::default(), None).unwrap_err().to_string();
    assert_eq!(nothing, "a capture of each side is needed: at the sender and at the receiver");
    std::fs::write(&rx, b"").unwrap();
    let empty = measure(from_ref(&tx), from_ref(&rx), &Options::default(), None).unwrap_err().to_string();
    assert!(empty.ends_with("rx: is empty"), "{empty}");
}

/// Frames without every 50th number of their talker.
fn with_gaps(tool: &str) -> (Vec<Captured>, Vec<Captured>) {
    let (mut sent, mut arrived) = (Vec::new(), Vec::new());
    for n in 0..1500_u32 {
        let (stamp, octets) = (START + i64::from(n) * 1_000_000, of_tool(tool, n + n / 50));
        sent.push((stamp, octets.clone()));
        arrived.push((stamp + 10_000, octets));
    }
    (sent, arrived)
}

#[test]
fn only_gaps_in_a_sequence_of_the_talker_are_frames_never_sent() {
    // A Linux socket may skip IPv4 identifications: every datagram of these tools was sent, and arrived.
    for (tool, never_sent) in
        [("flextest", None), ("unknown", None), ("iperf3", Some(29)), ("send_udp", Some(29))]
    {
        let (sent, arrived) = with_gaps(tool);
        let measures = between(&sent, &arrived);
        let count = &only(&measures).count;
        assert_eq!((count.never_sent, count.before_first == 0), (never_sent, tool != "iperf3"), "{tool}");
        assert_eq!((count.sent, count.received, count.lost), (1500, 1500, 0), "{tool}");
    }
}

#[test]
fn both_sides_are_read_in_step_so_that_a_talker_that_begins_anew_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    // After half of the frames the numbers jump by more than any window: frames that still wait are given up.
    let frame = |n: u32| of_tool("send_udp", if n < 1500 { n } else { n + 1_000_000 });
    let sent: Vec<Captured> = (0..3000).map(|n| (START + i64::from(n) * 1_000_000, frame(n))).collect();
    let tx = pcap(folder.path(), "tx", ETHERNET, WHOLE, &sent);
    // This works for any clocks: their offset is taken from the first frames.
    for ahead_ns in [0, 37_000_000_000, -37_000_000_000] {
        let arrived: Vec<Captured> =
            sent.iter().map(|(stamp, octets)| (stamp + 10_000 + ahead_ns, octets.clone())).collect();
        let rx = pcap(folder.path(), "rx", ETHERNET, WHOLE, &arrived);
        let measures = measure(from_ref(&tx), from_ref(&rx), &Options::default(), None).unwrap();
        let count = &only(&measures).count;
        assert_eq!((count.sent, count.received, count.lost, count.duplicate), (3000, 3000, 0, 0));
        assert_eq!(measures.source.kind, "captures");
    }
}

#[test]
fn what_cannot_be_read_as_a_frame_is_counted_on_both_sides() {
    let (mut sent, mut arrived) = sides("iperf3", 0);
    let stub = |n: i64| (START + n * 1_000_000, vec![2, 0, 0, 0, 0]);
    sent.push(stub(4000));
    arrived.extend([stub(4001), stub(4002)]);
    let folder = tempfile::tempdir().unwrap();
    let tx = pcap(folder.path(), "tx", ETHERNET, WHOLE, &sent);
    let rx = pcap(folder.path(), "rx", ETHERNET, WHOLE, &arrived);
    let measures = measure(from_ref(&tx), from_ref(&rx), &Options::default(), None).unwrap();
    assert_eq!(measures.source.ignored.unreadable_frames, 3);
    let said =
        |path: &Path, frames: u32| format!("{}: {frames} frames end inside their link layer", path.display());
    assert_eq!(measures.source.warnings, [said(&tx, 1), said(&rx, 2)]);
    let path = only(&measures);
    assert_eq!(path.tx_clock.as_deref(), Some("of the sending capture"));
    assert_eq!(path.rx_clock.as_deref(), Some("of the receiving capture"));
}

#[test]
fn every_format_is_named_once() {
    let folder = tempfile::tempdir().unwrap();
    let frames: Vec<Captured> = (0..3000_u32)
        .map(|n| (START + i64::from(n), of_tool(["send_udp", "netlatency"][n as usize % 2], n / 2)))
        .collect();
    let file = pcap(folder.path(), "both", ETHERNET, WHOLE, &frames);
    let measures = measure(from_ref(&file), from_ref(&file), &Options::default(), None).unwrap();
    assert_eq!(measures.source.formats, ["send_udp", "netlatency"]);
    assert_eq!(measures.paths.iter().map(|path| path.count.received).collect::<Vec<_>>(), [1500, 1500]);
}

/// Frames of an unknown format, which differ in the octets up to 60 or only in octet 300.
fn unknown(number: u32, head: bool) -> Vec<u8> {
    let mut octets = udp(0, if head { number.to_le_bytes() } else { [7; 4] }.as_slice());
    octets[300..304].copy_from_slice(&(number + 1).to_le_bytes());
    octets
}

#[test]
fn unknown_frames_are_told_apart_by_what_both_sides_have_captured_and_no_less() {
    let folder = tempfile::tempdir().unwrap();
    for (head, snap) in [(true, 90), (false, WHOLE)] {
        let sent: Vec<Captured> =
            (0..300).map(|n| (START + i64::from(n) * 1_000_000, unknown(n, head))).collect();
        let mut arrived: Vec<Captured> = sent[1..].to_vec();
        arrived.iter_mut().for_each(|(stamp, _)| *stamp += 10_000);
        // Five frames that were never sent, and a short frame of another stream.
        arrived.extend((400..405).map(|n| (START + 400_000_000, unknown(n, head))));
        let rx = [vec![(START - 1, of_tool("netlatency", 1))], arrived].concat();
        let tx = pcap(folder.path(), "tx", ETHERNET, WHOLE, &sent);
        let rx = pcap(folder.path(), "rx", ETHERNET, snap, &rx);
        let measures = measure(from_ref(&tx), from_ref(&rx), &Options::default(), None).unwrap();
        let path = measures.paths.iter().max_by_key(|path| path.count.sent).unwrap();
        assert_eq!((path.count.received, path.count.unmatched_rx), (299, 5));
        let delay = path.delay.as_ref().unwrap();
        assert_eq!((delay.min, delay.max), (10_000, 10_000));
    }
}

#[test]
fn streams_are_listed_in_the_order_in_which_the_sender_began_them() {
    let frame = |stream: u8, number: u32| {
        let mut octets = of_tool("netlatency", number);
        octets[15] = stream;
        octets
    };
    let sent = [(START, frame(1, 5)), (START + 1_000, frame(2, 5)), (START + 2_000, frame(3, 5))];
    // The receiver captured a frame of stream 3 before the sender's capture began.
    let arrived = [(START, frame(3, 4)), (START + 10_000, frame(1, 5)), (START + 11_000, frame(2, 5))];
    let measures = between(&sent, &arrived);
    let names: Vec<_> = measures.paths.iter().map(|path| path.stream.as_str()).collect();
    assert_eq!(names, ["netlatency/1", "netlatency/2", "netlatency/3"]);
}

#[test]
fn an_arrival_without_a_readable_number_is_one_that_nobody_sent() {
    let (sent, mut arrived) = sides("iperf3", 0);
    // Headers of 46 octets, and 4 of the counter's 12 octets.
    let short = of_tool("iperf3", 3_000)[..50].to_vec();
    arrived.push((START + 4_000_000_000, short));
    let measures = between(&sent, &arrived);
    let count = &only(&measures).count;
    assert_eq!((count.sent, count.received, count.unmatched_rx), (3000, 2970, 1));
}

#[test]
fn an_unknown_frame_that_is_faster_than_those_before_waits_for_the_sending_side() {
    let folder = tempfile::tempdir().unwrap();
    let frames = |delays: [i64; 4]| -> Vec<Captured> {
        let stamps = delays.iter().enumerate().map(|(n, delay)| START + n as i64 * 1_000_000 + delay);
        stamps.zip((0..4).map(|n| unknown(n, true))).collect()
    };
    let tx = pcap(folder.path(), "tx", ETHERNET, WHOLE, &frames([0; 4]));
    let rx = pcap(folder.path(), "rx", ETHERNET, WHOLE, &frames([30_000, 30_000, 10_000, 30_000]));
    let measures = measure(from_ref(&tx), from_ref(&rx), &Options::default(), None).unwrap();
    let path = only(&measures);
    assert_eq!((path.count.received, path.count.lost, path.count.unmatched_rx), (4, 0, 0));
    let delay = path.delay.as_ref().unwrap();
    assert_eq!((delay.min, delay.max), (10_000, 30_000));
}
