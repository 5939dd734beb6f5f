//! Two captures of the same frames, recorded at both ends of a link: every figure must come out exactly.

use std::io::Read;
use std::path::{Path, PathBuf};
use tsn_measure::captures::{Options, measure};
use tsn_measure::report::PathReport;

/// Unpacks a recorded capture into `folder`.
fn unpacked(name: &str, folder: &Path) -> PathBuf {
    let packed =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures").join(format!("{name}.gz"));
    let mut octets = Vec::new();
    flate2::read::GzDecoder::new(std::fs::File::open(packed).unwrap()).read_to_end(&mut octets).unwrap();
    let path = folder.join(name);
    std::fs::write(&path, octets).unwrap();
    path
}

fn measured(swap: bool, options: &Options) -> tsn_measure::report::Measures {
    let folder = tempfile::tempdir().unwrap();
    let ends = ["rtc_out_A.pcap", "rtc_in_B.pcap"].map(|name| vec![unpacked(name, folder.path())]);
    let [tx, rx] = ends;
    let (tx, rx) = if swap { (rx, tx) } else { (tx, rx) };
    measure(&tx, &rx, options, None).unwrap()
}

#[test]
fn every_figure_comes_out_exactly() {
    let measures = measured(false, &Options::default());
    assert_eq!(measures.source.formats, ["RTC-Testbench"]);
    assert_eq!(measures.offset, None);
    let [path] = &measures.paths[..] else { panic!("{} paths", measures.paths.len()) };
    let PathReport { stream, count, delay, jitter, departures, .. } = path;
    assert_eq!(stream, "rtc vlan 100 pcp 6");
    assert_eq!((count.sent, count.received), (5100, 5100));
    let nothing =
        [count.never_sent.unwrap(), count.lost, count.duplicate, count.reordered, count.unmatched_rx];
    assert_eq!(nothing, [0; 5]);
    let delay = delay.as_ref().unwrap();
    let figures = [delay.min, delay.median, delay.p90, delay.p99, delay.p99_9, delay.max];
    assert_eq!(figures, [341, 391, 691, 871, 8102, 36223]);
    assert_eq!((delay.sum, delay.mean, delay.std), (2_479_295, 486.1362745098039, 672.5176088210301));
    let step = jitter.delay_step_abs.as_ref().unwrap();
    assert_eq!((step.count, step.sum, step.median, step.p99, step.max), (5099, 1_042_305, 149, 561, 35643));
    let gaps = departures.as_ref().unwrap();
    assert_eq!((gaps.count, gaps.median, gaps.p90), (5099, 2884, 4_993_995));
    assert_eq!(path.spread, Some(delay.std));
    assert_eq!(measures.groups.len(), 1);
    assert_eq!(measures.groups[0].delay.as_ref().map(|delay| delay.sum), Some(2_479_295));
}

#[test]
fn swapped_sides_have_negative_delays_and_are_not_called_an_offset() {
    let measures = measured(true, &Options::default());
    let delay = measures.paths[0].delay.as_ref().unwrap();
    assert_eq!((delay.min, delay.max, measures.offset), (-36223, -341, None));
}

#[test]
fn an_offset_that_is_given_is_taken_off_and_named() {
    let measures = measured(false, &Options { offset_s: Some(-37), ..Options::default() });
    let delay = measures.paths[0].delay.as_ref().unwrap();
    assert_eq!((delay.min, delay.max), (37_000_000_341, 37_000_036_223));
    let offset = measures.offset.unwrap();
    assert!(offset.applied && offset.text.contains("what is left still lies 37 s off"), "{}", offset.text);
}

#[test]
fn a_deadline_makes_frames_late() {
    let measures = measured(false, &Options { deadline_ns: Some(871), ..Options::default() });
    let late = measures.paths[0].count.late.unwrap();
    assert!(late > 0 && late <= 51, "p99 is 871 ns, so at most one in a hundred is later: {late}");
}
