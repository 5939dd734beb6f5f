//! Foreign octets: every seed of the fuzzing corpus, cut at every length and with flipped bits, is read or is
//! an error. A panic and a reader that does not end fail the test.

use std::path::{Path, PathBuf};
use std::slice::from_ref;
use tsn_capture::{Reader, interfaces};
use tsn_measure::captures::{Options, inspect::inspect, measure};
use tsn_measure::report::PathReport;
use tsn_plan::Plan;
use tsn_wire::counter;
use tsn_wire::dissect::{Dissected, dissect};
use tsn_wire::ptp_message;
use tsn_wire::recognise::{Evidence, marked, number};
use tsn_wire::telegram;

/// Every seed of one target: its name and its octets.
fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "no seed in {}", folder.display());
    paths
        .into_iter()
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap()))
        .collect()
}

/// Looks at all numbers of a frame; returns how many messages have one.
fn look(frame: &Dissected<'_>) -> u64 {
    let _ = ptp_message::Repr::parse(frame.payload);
    let _ = (marked(frame), frame.redundancy());
    let found = counter::counters(frame);
    assert_eq!(counter::counter(frame).is_some(), !found.is_empty());
    for (place, one) in found.iter().enumerate() {
        let first = counter::counter(frame).filter(|_| place == 0);
        assert!(first.is_none_or(|first| (first.stream, first.number) == (one.stream, one.number)));
        assert!(counter::name(frame, one.format, one.stream).is_some(), "{one:?}");
    }
    found.len() as u64
}

/// The work of the fuzzing target. Returns the number of frames, or the error.
fn capture(octets: &[u8]) -> Result<u64, tsn_capture::Error> {
    let mut reader = Reader::new(octets)?;
    for one in interfaces(Reader::new(octets)?).unwrap_or_default() {
        let mut reader = Reader::new(octets)?.only(one.id);
        while let Ok(Some(_)) = reader.read() {}
        assert!(reader.frames() <= one.frames);
    }
    let mut evidence = Evidence::default();
    while let Some(packet) = reader.read()? {
        assert!(packet.octets.len() <= octets.len());
        let Ok(frame) = dissect(packet.link, packet.octets, packet.original) else { continue };
        evidence.see(&frame);
        look(&frame);
        let _ = number(marked(&frame).unwrap_or_else(|| evidence.format()), &frame, 4);
        let _ = frame.invariant_hash(usize::MAX);
        let _ = (telegram::datagram(&frame), telegram::segment(&frame), telegram::test_payload(&frame));
    }
    Ok(reader.frames())
}

#[test]
fn captures_cut_at_every_length_give_what_is_there() {
    for (name, octets) in seeds("capture") {
        let whole = capture(&octets).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(whole > 0, "{name} has frames");
        let mut before = 0;
        for length in 0..octets.len() {
            let frames = capture(&octets[..length]).unwrap_or(0);
            assert!(frames >= before && frames <= whole, "{name} cut to {length}: {frames} frames");
            before = frames;
        }
    }
}

#[test]
fn captures_with_flipped_bits_are_read_or_refused() {
    for (_, octets) in seeds("capture") {
        for place in 0..octets.len() {
            for bit in 0..8 {
                let mut flipped = octets.clone();
                flipped[place] ^= 1 << bit;
                let _ = capture(&flipped);
            }
            for extreme in [0x00, 0x7f, 0x80, 0xff] {
                let mut flipped = octets.clone();
                let end = (place + 4).min(flipped.len());
                flipped[place..end].fill(extreme);
                let _ = capture(&flipped);
            }
        }
    }
}

/// Compares the counts of a capture that is read once with those of a capture that is both ends of a path.
fn alone_as_against_itself(path: &Path) {
    let alone = inspect(&path.into(), None, None).ok().map(|found| found.measures.paths);
    let both = measure(&[path], &[path], &Options::default(), None).ok().map(|found| found.paths);
    assert_eq!(alone.as_deref().map(counted), both.as_deref().map(counted), "{}", path.display());
}

fn counted(paths: &[PathReport]) -> Vec<(&str, [Option<u64>; 4])> {
    let counts = |path: &PathReport| {
        let count = &path.count;
        [Some(count.sent), Some(count.duplicate_tx), count.never_sent, Some(count.before_first)]
    };
    paths.iter().map(|path| (&*path.stream, counts(path))).collect()
}

#[test]
fn broken_captures_measured_against_whole_ones_give_measures_or_an_error() {
    let folder = tempfile::tempdir().unwrap();
    for (name, octets) in seeds("capture") {
        let (whole, broken) = (folder.path().join("whole"), folder.path().join("broken"));
        std::fs::write(&whole, &octets).unwrap();
        for place in (0..octets.len()).step_by(7) {
            let mut flipped = octets.clone();
            flipped[place] ^= 0x81;
            flipped.truncate(octets.len() - place / 3);
            std::fs::write(&broken, &flipped).unwrap();
            alone_as_against_itself(&broken);
            for (tx, rx) in [(&whole, &broken), (&broken, &whole)] {
                if let Ok(measures) = measure(from_ref(tx), from_ref(rx), &Options::default(), None) {
                    for path in &measures.paths {
                        let count = &path.count;
                        assert_eq!(count.sent, count.received + count.lost, "{name} broken at {place}");
                    }
                }
            }
        }
    }
}

#[test]
fn plans_cut_and_flipped_are_read_or_refused() {
    for (name, octets) in seeds("plan") {
        let text = String::from_utf8(octets).unwrap();
        Plan::read(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let step = (text.len() / 2000).max(1);
        for length in (0..text.len()).step_by(step) {
            if let Some(part) = text.get(..length) {
                assert!(Plan::read(part).is_err(), "{name} cut to {length}");
            }
        }
        for place in (0..text.len()).step_by(step) {
            let mut flipped = text.clone().into_bytes();
            flipped[place] ^= 1 << (place % 7);
            if let Ok(flipped) = String::from_utf8(flipped) {
                let _ = Plan::read(&flipped);
            }
        }
    }
}

#[test]
fn plans_with_extreme_numbers_are_read_or_refused() {
    for (_, octets) in seeds("plan") {
        let text = String::from_utf8(octets).unwrap();
        let digits = text.match_indices(|c: char| c.is_ascii_digit());
        let mut numbers: Vec<(usize, usize)> = Vec::new();
        for (place, _) in digits {
            match numbers.last_mut() {
                Some((_, end)) if *end == place => *end += 1,
                _ => numbers.push((place, place + 1)),
            }
        }
        for (start, end) in numbers.iter().step_by((numbers.len() / 200).max(1)) {
            for extreme in
                ["0", "4294967295", "4294967296", "18446744073709551615", "1e400", "99999999999999999999"]
            {
                let _ = Plan::read(&[&text[..*start], extreme, &text[*end..]].concat());
            }
        }
    }
}

#[test]
fn nonsense_is_no_plan() {
    let nested = "[".repeat(100_000);
    for text in ["", "null", "[]", "{}", "\u{0}", r#"{"format":"tsnbench-plan/2"}"#, nested.as_str()] {
        assert!(Plan::read(text).is_err());
    }
}

/// The octets of one seed, changed at some places: bits, extremes, parts that are removed or repeated.
fn mutate(octets: &mut Vec<u8>, random: &mut impl FnMut(usize) -> usize) {
    for _ in 0..=random(6) {
        if octets.is_empty() {
            return;
        }
        let place = random(octets.len());
        match random(7) {
            0 => octets[place] ^= 1 << random(8),
            1 => octets[place] = [0, 1, 0x7f, 0x80, 0xff][random(5)],
            2 => octets[place] = octets[place].wrapping_add(1),
            3 => octets.truncate(place),
            4 => drop(octets.remove(place)),
            5 => octets.insert(place, random(256) as u8),
            _ => {
                let end = (place + 1 + random(24)).min(octets.len());
                let part = octets[place..end].to_vec();
                octets.splice(end..end, part);
            }
        }
    }
}

/// A variable of the environment that is a number.
fn variable(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

/// Numbers below a limit, drawn from the seed `FUZZ_SEED`.
fn drawn() -> impl FnMut(usize) -> usize {
    let mut state = variable("FUZZ_SEED", 1);
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % below
    }
}

/// Whole files of every seed, changed: `FUZZ_EXECUTIONS` of them. One of 256 is also measured against itself.
#[test]
#[ignore = "minutes"]
fn changed_files_are_read_or_refused() {
    let mut random = drawn();
    let whole = seeds("capture");
    let folder = tempfile::tempdir().unwrap();
    let broken = folder.path().join("broken");
    let mut frames = 0;
    for number in 0..variable("FUZZ_EXECUTIONS", 100_000) {
        let mut octets = whole[random(whole.len())].1.clone();
        mutate(&mut octets, &mut random);
        frames += capture(&octets).unwrap_or(0);
        if number % 256 == 0 {
            std::fs::write(&broken, &octets).unwrap();
            alone_as_against_itself(&broken);
        }
    }
    assert!(frames > 0);
}

/// Millions of changed frames of every seed: `FUZZ_EXECUTIONS` of them, from the seed `FUZZ_SEED`.
#[test]
#[ignore = "minutes"]
fn changed_frames_are_read_or_refused() {
    let mut random = drawn();
    let mut frames = Vec::new();
    for (_, octets) in seeds("capture") {
        let mut reader = Reader::new(octets.as_slice()).unwrap();
        while let Some(packet) = reader.read().unwrap() {
            frames.push((packet.link, packet.octets.to_vec()));
        }
    }
    let mut numbered = 0_u64;
    for _ in 0..variable("FUZZ_EXECUTIONS", 100_000) {
        let (link, mut octets) = frames[random(frames.len())].clone();
        mutate(&mut octets, &mut random);
        let original = octets.len() + random(2) * random(40);
        let Ok(frame) = dissect(link, &octets, original as u32) else { continue };
        numbered += look(&frame);
    }
    assert!(numbered > 0);
}
