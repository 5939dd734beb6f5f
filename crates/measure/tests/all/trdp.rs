//! TRDP in captures that are written octet by octet: counts computed by hand.

use std::path::{Path, PathBuf};
use std::slice::from_ref;
use tsn_measure::trdp::{Options, measure};
use tsn_trdp::{message_data, process_data, tsn};

/// A datagram from 10.0.0.1 as raw IPv4.
fn datagram(to: [u8; 4], port: u16, payload: &[u8]) -> Vec<u8> {
    let udp = (payload.len() as u16 + 8).to_be_bytes();
    let total = (payload.len() as u16 + 28).to_be_bytes();
    let [high, low] = port.to_be_bytes();
    [
        &[0x45, 0, total[0], total[1], 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, to[0], to[1], to[2], to[3]],
        &[0xc0, 0, high, low, udp[0], udp[1], 0, 0][..],
        payload,
    ]
    .concat()
}

/// A segment of a TCP connection to the port of message data.
fn segment(payload: &[u8]) -> Vec<u8> {
    let total = (payload.len() as u16 + 40).to_be_bytes();
    [
        &[0x45, 0, total[0], total[1], 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2][..],
        &[0xc0, 0, 0x43, 0x49, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x18, 0, 0, 0, 0, 0, 0],
        payload,
    ]
    .concat()
}

/// A capture of raw IP with times in us; frames are cut to `snap` octets.
fn capture(path: &Path, frames: &[(u32, Vec<u8>)], snap: usize) -> PathBuf {
    let mut octets = b"\xd4\xc3\xb2\xa1\x02\0\x04\0\0\0\0\0\0\0\0\0\xff\xff\0\0\x65\0\0\0".to_vec();
    for (us, frame) in frames {
        let cut = frame.len().min(snap);
        for number in [us / 1_000_000, us % 1_000_000, cut as u32, frame.len() as u32] {
            octets.extend_from_slice(&number.to_le_bytes());
        }
        octets.extend_from_slice(&frame[..cut]);
    }
    std::fs::write(path, octets).unwrap();
    path.to_owned()
}

fn pushed(com_id: u32, sequence: u32, octets: usize) -> Vec<u8> {
    let mut payload = Vec::new();
    let header = process_data::Header { com_id, sequence, ..Default::default() };
    header.emit(&vec![0; octets], &mut payload).unwrap();
    datagram([239, 1, 1, 2], 17224, &payload)
}

#[test]
fn a_capture_is_counted_as_a_subscriber_counts() {
    let folder = tempfile::tempdir().unwrap();
    let mut bad = pushed(1000, 5, 64);
    bad[28 + 8] ^= 1;
    let mut odd = Vec::new();
    process_data::Header::default().emit(&[], &mut odd).unwrap();
    let odd = datagram([239, 1, 1, 2], 17224, &odd[..39]);
    let (mut short, mut request) = (Vec::new(), Vec::new());
    tsn::Header { com_id: 7, length: tsn::Length::Sixteen, ..Default::default() }
        .emit(b"abc", &mut short)
        .unwrap();
    let kind = message_data::Kind::Request;
    message_data::Header { com_id: 2000, kind, ..Default::default() }.emit(&[1; 80], &mut request).unwrap();
    let ms = |ms: u32| ms * 1000;
    let frames = [
        (ms(0), pushed(1000, 0, 64)),
        (ms(4), pushed(1000, 1, 64)),
        (ms(4), pushed(1000, 1, 64)),
        (ms(8), bad),
        (ms(12), pushed(1000, 4, 65)),
        (ms(13), pushed(1000, 2, 64)),
        (ms(14), odd),
        (ms(15), datagram([10, 0, 0, 2], 17224, &short)),
        (ms(16), pushed(1000, 0, 64)),
        (ms(16), segment(&request)),
        (ms(17), segment(&request[..60])),
        (ms(17), segment(&[7; 200])),
        (ms(18), datagram([10, 0, 0, 2], 17225, &request)),
        (ms(18), datagram([10, 0, 0, 2], 53, &request)),
        (ms(25), pushed(1000, 1, 64)),
        (ms(126), pushed(1000, 2, 64)),
    ];
    // Complete frames, and frames with their headers only.
    for snap in [usize::MAX, 28 + 116 + 20] {
        let path = capture(&folder.path().join("one.pcap"), &frames, snap);
        let found = measure(from_ref(&path), &Options::default()).unwrap();
        assert_eq!((found.frames, found.process_data, found.message_data), (16, 9, 2));
        assert_eq!((found.check_errors, found.protocol_errors), (1, 1));
        let names: Vec<_> = found.streams.iter().map(|stream| (&*stream.name, stream.transport)).collect();
        assert_eq!(
            names,
            [
                ("trdp 7 TSN 10.0.0.1 > 10.0.0.2", "udp"),
                ("trdp 1000 Pd 10.0.0.1 > 239.1.1.2", "udp"),
                ("trdp 2000 Mr 10.0.0.1 > 10.0.0.2", "udp"),
                ("trdp 2000 Mr 10.0.0.1 > 10.0.0.2", "tcp"),
            ]
        );
        let stream = &found.streams[1];
        let counts = stream.subscription.unwrap();
        assert_eq!((stream.telegrams, counts.taken, counts.gaps, counts.missed), (8, 6, 1, 2));
        assert_eq!((counts.repeated, counts.old, counts.restarted, counts.time_outs), (1, 1, 1, 1));
        assert_eq!(stream.data_set_octets, [64, 65]);
        let interval = stream.interval.as_ref().unwrap();
        assert_eq!((interval.min, interval.median, interval.max), (0, 4_000_000, 101_000_000));
        // 0 to 10, 10 to 20 and 20 to 30 ms; then none up to 120 ms. The window of the last one is
        // incomplete.
        let spreading = found.spreading.unwrap();
        assert_eq!((spreading.windows, spreading.min, spreading.max), (12, 0, 4));
        assert!((spreading.mean - 8.0 / 12.0).abs() < 1e-12);
    }
    let patient = Options { time_out_ns: Some(200_000_000) };
    let path = capture(&folder.path().join("one.pcap"), &frames, usize::MAX);
    let found = measure(from_ref(&path), &patient).unwrap();
    assert_eq!(found.streams[1].subscription.unwrap().time_outs, 0);
}

#[test]
fn telegrams_are_paired_between_two_captures() {
    let folder = tempfile::tempdir().unwrap();
    let sent: Vec<_> = (0..100).map(|n| (n * 1000, pushed(1000 + n % 2, n / 2, 40))).collect();
    // The numbers of the other com id are the same: only the com id separates the frames.
    let came: Vec<_> =
        sent.iter().filter(|(us, _)| *us != 50_000).map(|(us, frame)| (us + 70, frame.clone())).collect();
    let (tx, rx) = (folder.path().join("tx.pcap"), folder.path().join("rx.pcap"));
    capture(&tx, &sent, usize::MAX);
    capture(&rx, &came, usize::MAX);
    let options = tsn_measure::captures::Options::default();
    let found = tsn_measure::captures::measure(&[tx], &[rx], &options, None).unwrap();
    assert_eq!(found.source.formats, ["TRDP process data"]);
    let counted: Vec<_> =
        found.paths.iter().map(|path| (&*path.stream, path.count.sent, path.count.lost)).collect();
    assert_eq!(
        counted,
        [("trdp 1000 Pd 10.0.0.1 > 239.1.1.2", 50, 1), ("trdp 1001 Pd 10.0.0.1 > 239.1.1.2", 50, 0)]
    );
    assert!(
        found
            .paths
            .iter()
            .all(|path| path.delay.as_ref().is_some_and(|d| (d.min, d.max) == (70_000, 70_000)))
    );
}

fn message(kind: message_data::Kind, session: u8, time_out_us: u32) -> Vec<u8> {
    let mut payload = Vec::new();
    let header = message_data::Header {
        kind,
        com_id: 2000,
        session: [session; 16],
        reply_time_out_us: time_out_us,
        ..Default::default()
    };
    header.emit(&[0; 8], &mut payload).unwrap();
    payload
}

/// A datagram of message data between 10.0.0.1, the caller, and 10.0.0.N, a replier.
fn between(caller_sends: bool, replier: u8, payload: &[u8]) -> Vec<u8> {
    let mut octets = datagram([10, 0, 0, replier], 17225, payload);
    if !caller_sends {
        octets.copy_within(12..16, 20 - 4);
        octets[12..16].copy_from_slice(&[10, 0, 0, replier]);
        octets[16..20].copy_from_slice(&[10, 0, 0, 1]);
    }
    octets
}

#[test]
fn sessions_are_counted_as_caller_and_replier_count() {
    use message_data::Kind::{Confirm, Error, Reply, ReplyQuery, Request};
    let folder = tempfile::tempdir().unwrap();
    // All requests go to 10.0.0.2 with a time-out of 10 ms.
    let request = |session| between(true, 2, &message(Request, session, 10_000));
    let answer = |kind, session, time_out| between(false, 2, &message(kind, session, time_out));
    let frames = [
        // Replied after 3 ms, by two repliers, one of which replies twice.
        (0, request(1)),
        (3_000, answer(Reply, 1, 0)),
        (4_000, between(false, 3, &message(Reply, 1, 0))),
        (4_500, answer(Reply, 1, 0)),
        // Repeated once, and replied at the last moment.
        (20_000, request(2)),
        (25_000, request(2)),
        (30_000, answer(Reply, 2, 0)),
        // Replied too late.
        (40_000, request(3)),
        (50_001, answer(Reply, 3, 0)),
        // An error.
        (60_000, request(4)),
        (61_000, answer(Error, 4, 0)),
        // Never replied.
        (70_000, request(5)),
        // Confirmed after 2 ms; then a confirmation that is too late; then none.
        (100_000, request(6)),
        (101_000, answer(ReplyQuery, 6, 5_000)),
        (103_000, between(true, 2, &message(Confirm, 6, 0))),
        (110_000, request(7)),
        (111_000, answer(ReplyQuery, 7, 5_000)),
        (116_001, between(true, 2, &message(Confirm, 7, 0))),
        (120_000, request(8)),
        (121_000, answer(ReplyQuery, 8, 5_000)),
        // A reply to nobody, and a request whose time-out is after the end.
        (130_000, answer(Reply, 99, 0)),
        (140_000, request(9)),
    ];
    let capture = capture(&folder.path().join("one.pcap"), &frames, usize::MAX);
    let found = measure(from_ref(&capture), &Options::default()).unwrap();
    let [one] = &found.exchanges[..] else { panic!("{:?}", found.exchanges) };
    assert_eq!(one.name, "trdp 2000 10.0.0.1 > 10.0.0.2");
    assert_eq!((one.requests, one.repeated, one.open), (9, 1, 1));
    assert_eq!((one.replies, one.late, one.errors, one.time_outs), (6, 1, 1, 2));
    assert_eq!((one.queries, one.confirmations, one.confirm_time_outs), (3, 1, 2));
    let times = one.round_trip.as_ref().unwrap();
    assert_eq!((times.count, times.min, times.max), (6, 1_000_000, 10_000_000));
    let times = one.confirm_time.as_ref().unwrap();
    assert_eq!((times.count, times.max), (1, 2_000_000));
}
