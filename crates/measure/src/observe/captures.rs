//! Captures at a Plan's taps to observations in the Plan's time.
//!
//! IEEE 802.3-2022, 90.7, defines the point of a frame that a timestamp refers to. A kernel makes a timestamp when it
//! hands a frame to the wire, or gets the whole frame from there; a network card makes one at the first octet after
//! the start frame delimiter. The Plan's taps may refer to another point, which is a known number of octets away.

use crate::Error;
use crate::observe::{Captures, FrameCounts, from_first_octet, logs, rate_bps};
use std::path::Path;
use tsn_capture::Reader;
use tsn_observation::parquet::Writer;
use tsn_observation::{Legend, Sighting, Sink};
use tsn_plan::{Plan, Point, Stage};
use tsn_wire::dissect::dissect;
use tsn_wire::telegram;

/// Preamble and start frame delimiter. IEEE 802.3-2022, 3.1.1.
const BEFORE_FRAME: i128 = 8;

/// Reads all captures and writes the file of observations, in order of time.
///
/// # Errors
/// When a capture or the file cannot be read or written.
pub fn observe(plan: &Plan, legend: &Legend, captures: &Captures, into: &Path) -> Result<FrameCounts, Error> {
    let mut found = FrameCounts { frames: vec![vec![0; plan.streams.len()]; plan.taps.len()], foreign: 0 };
    let mut all: Vec<Sighting> = Vec::new();
    for (tap, path) in &captures.files {
        read(plan, *tap, path, captures, &mut all, &mut found)?;
    }
    let mut legend = legend.clone();
    logs::read_live(plan, captures, &mut legend, &mut all, &mut found)?;
    // The order within a tap is kept for equal times, and taps are numbered in the order in which frames pass them.
    all.sort_by_key(|sighting| (sighting.t_ns, sighting.tap));
    let failed = |error| Error::Observations { path: into.to_owned(), error };
    let mut writer = Writer::create(into, &legend).map_err(failed)?;
    for sighting in all {
        writer.sight(sighting).map_err(|error| Error::File { path: into.to_owned(), error })?;
    }
    writer.finish().map_err(failed)?;
    Ok(found)
}

fn read(
    plan: &Plan,
    number: u16,
    path: &Path,
    captures: &Captures,
    all: &mut Vec<Sighting>,
    found: &mut FrameCounts,
) -> Result<(), Error> {
    let failed = |error| Error::Capture { path: path.to_owned(), error };
    let nothing = |what: &str| Error::Nothing(format!("{}: {what}", path.display()));
    let tap = plan.taps.get(usize::from(number)).ok_or_else(|| nothing("the Plan has no such tap"))?;
    let rate_bps = rate_bps(plan, tap);
    let hardware = captures.hardware.contains(&number);
    let mut reader = Reader::open(path).map_err(failed)?;
    while let Some(packet) = reader.read().map_err(failed)? {
        let (link, original) = (packet.link, packet.original);
        let Some((stream, seq, octets, tag)) =
            dissect(link, packet.octets, original).ok().and_then(|frame| {
                let payload = telegram::test_payload(&frame).ok()?;
                Some((payload.stream, payload.seq, frame.octets, frame.tag))
            })
        else {
            found.foreign += 1;
            continue;
        };
        let Some(count) =
            found.frames.get_mut(usize::from(number)).and_then(|taps| taps.get_mut(stream as usize))
        else {
            found.foreign += 1;
            continue;
        };
        *count += 1;
        let moved = match (tap.stage, tap.point) {
            _ if hardware => from_first_octet(tap.point, octets),
            (Stage::Tx, Point::Start) => BEFORE_FRAME,
            (Stage::Tx, Point::End) => BEFORE_FRAME + i128::from(octets),
            (Stage::Rx, Point::Start) => -i128::from(octets),
            // The point is the last bit; and inside a host there is no wire to account for.
            _ => 0,
        };
        let moved_ns = (moved * 8_000_000_000).div_euclid(rate_bps);
        let t_ns = packet.t_ns.and_then(|t_ns| {
            if hardware { captures.plan_ns_of_tai(t_ns, moved_ns) } else { captures.plan_ns(t_ns, moved_ns) }
        });
        let (pcp, vid) = tag.map_or((0, 0), |tag| (tag.pcp, tag.vid));
        all.push(Sighting { tap: number, stream, seq, copy: 0, t_ns, octets, pcp, vid });
    }
    match reader.warning() {
        Some(warning) => Err(nothing(warning)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tsn_capture::write::PcapNg;
    use tsn_observation::parquet::Reader as Observations;
    use tsn_wire::build::{FrameSpec, frame};

    const PLAN: &str = include_str!("../../../sim/tests/plans/one-hop.json");

    #[test]
    fn stamps_come_into_the_plans_time_and_to_the_taps_point() {
        for point in [Point::Start, Point::End] {
            stamps_come_to(point);
        }
    }

    #[test]
    fn a_cards_stamps_are_of_the_first_octet_and_on_tai() {
        for (point, octets) in [(Point::Start, 0), (Point::End, 1000)] {
            assert_eq!(from_first_octet(point, 1000), octets);
        }
        let captures =
            Captures { epoch_ns: 5, tai_epoch_ns: Some(37_000_000_005), dilate: 1, ..Captures::default() };
        assert_eq!(
            (captures.plan_ns(25, 1), captures.plan_ns_of_tai(37_000_000_025, 1)),
            (Some(21), Some(21))
        );
    }

    fn stamps_come_to(point: Point) {
        let mut plan = Plan::read(PLAN).unwrap();
        let folder = tempfile::tempdir().unwrap();
        plan.taps.retain(|tap| tap.stage != Stage::Send);
        plan.taps.iter_mut().for_each(|tap| tap.point = point);
        // Every port has a rate of its own, in whole ns for an octet.
        for (port, octet_ns) in plan.ports.iter_mut().zip([8, 16, 32, 64].into_iter().cycle()) {
            port.rate_bps = 8_000_000_000 / octet_ns;
        }
        let stream = &plan.streams[0];
        let mut octets = Vec::new();
        let spec = FrameSpec {
            destination: stream.destination_mac.parse().unwrap(),
            source: plan.ports[0].mac.parse().unwrap(),
            tag: None,
            ipv4_source: [10, 0, 0, 1],
            ipv4_destination: [10, 0, 0, 2],
            udp_port: 5,
            octets: 1000,
            stream: 0,
            seq: 7,
            intended_ns: 0,
            type_of_service: 0,
            telegram: None,
        };
        frame(&spec, &mut octets).unwrap();
        let mut unknown = Vec::new();
        frame(&FrameSpec { stream: 99, ..spec }, &mut unknown).unwrap();
        let mut files = Vec::new();
        for number in 0..plan.taps.len() as u16 {
            let path = folder.path().join(format!("{number}.pcapng"));
            let mut file = PcapNg::create(&path, "tap", "guest").unwrap();
            file.frame(5_000_000_000 + 10 * 20_000, &octets, octets.len() as u32).unwrap();
            file.frame(5_000_000_000 + 10 * 20_000, b"somebody else's frame", 60).unwrap();
            file.frame(5_000_000_000 + 10 * 20_000, &unknown, unknown.len() as u32).unwrap();
            file.finish().unwrap();
            files.push((number, path));
        }
        let into = folder.path().join("observations.parquet");
        let captures = Captures { epoch_ns: 5_000_000_000, dilate: 10, files, ..Captures::default() };
        let legend = Legend::default();
        let found = observe(&plan, &legend, &captures, &into).unwrap();
        assert_eq!(found.foreign, 2 * plan.taps.len() as u64);
        assert!(found.frames.iter().all(|tap| tap[0] == 1));
        let mut rows = Vec::new();
        assert!(Observations::open(&into).unwrap().read(&mut rows).unwrap());
        for row in rows {
            let tap = &plan.taps[usize::from(row.tap)];
            let port = &plan.ports[tap.port as usize];
            let sender = if tap.stage == Stage::Rx { &plan.ports[port.peer as usize] } else { port };
            let octet_ns = 8_000_000_000 / sender.rate_bps as i64;
            let moved = match (tap.stage, tap.point) {
                (Stage::Tx, Point::Start) => 8,
                (Stage::Tx, Point::End) => 1008,
                (Stage::Rx, Point::Start) => -1000,
                _ => 0,
            };
            assert_eq!(row.t_ns, Some(20_000 + moved * octet_ns), "{}", tap.name);
            assert_eq!((row.seq, row.octets), (7, 1000));
        }
    }
}
