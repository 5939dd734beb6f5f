//! Any octets as a capture: frames, a warning or an error, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tsn_capture::{Reader, interfaces};
use tsn_wire::counter;
use tsn_wire::dissect::dissect;
use tsn_wire::ptp_message;
use tsn_wire::recognise::{Evidence, marked, number};
use tsn_wire::telegram;

fuzz_target!(|octets: &[u8]| {
    let Ok(mut reader) = Reader::new(octets) else { return };
    for one in Reader::new(octets).and_then(interfaces).unwrap_or_default().into_iter().take(8) {
        let Ok(reader) = Reader::new(octets) else { return };
        let mut reader = reader.only(one.id);
        while let Ok(Some(_)) = reader.read() {}
        assert!(reader.frames() <= one.frames);
    }
    let mut evidence = Evidence::default();
    while let Ok(Some(packet)) = reader.read() {
        let Ok(frame) = dissect(packet.link, packet.octets, packet.original) else { continue };
        evidence.see(&frame);
        let _ = number(marked(&frame).unwrap_or_else(|| evidence.format()), &frame, 4);
        let _ = frame.invariant_hash(usize::MAX);
        let _ = (telegram::datagram(&frame), telegram::segment(&frame), telegram::test_payload(&frame));
        let _ = ptp_message::Repr::parse(frame.payload);
        for found in counter::counters(&frame) {
            assert!(counter::name(&frame, found.format, found.stream).is_some());
        }
    }
});
