//! The results of a listener: counts per stream, delays if the clocks allow them, sightings.

use crate::Error;
use crate::arguments::Arguments;
use crate::sequence::Sequence;
use crate::system::receive::{Arrival, Statistics};
use crate::timestamps::{Frame, Sightings};
use serde::Serialize;
use std::collections::BTreeMap;
use tsn_plan::{Plan, Stage};
use tsn_wire::dissect::dissect;
use tsn_wire::link::Link;
use tsn_wire::telegram;

/// Octets of a tag.
const TAG: u32 = 4;
/// Most streams that are counted one by one; frames of others are foreign.
const MOST_STREAMS: u32 = 1 << 16;
/// The greatest possible delay: a longer one shows that the two ends have different zeros.
const LONGEST_NS: i64 = 3_600_000_000_000;

/// All received frames.
#[derive(Debug)]
pub struct Arrivals {
    streams: BTreeMap<(u32, u32), Stream>,
    /// Streams that have a listener at a port, if there is a Plan.
    heard: Option<Vec<(u32, u32)>>,
    sights: Option<Sightings>,
    ahead_ns: i64,
    epoch_ns: Option<i64>,
    dilate: i64,
    frames: u64,
    foreign: u64,
}

#[derive(Debug, Default)]
struct Stream {
    frames: u64,
    octets: u64,
    sequence: Sequence,
    delays: Option<Delays>,
}

/// Delays in ns, from the intended time to the kernel's timestamp.
#[derive(Debug)]
struct Delays {
    least: i64,
    most: i64,
    sum: i128,
    count: u64,
}

#[derive(Serialize)]
struct Report {
    interfaces: Vec<InterfaceReport>,
    foreign: u64,
    streams: Vec<StreamReport>,
}

#[derive(Serialize)]
struct InterfaceReport {
    name: String,
    frames: u64,
    dropped_by_listener: u64,
}

#[derive(Serialize)]
struct StreamReport {
    interface: String,
    stream: u32,
    frames: u64,
    octets: u64,
    first: Option<u64>,
    last: Option<u64>,
    restarts: u64,
    lost: u64,
    duplicates: u64,
    reordered: u64,
    delay_ns: Option<DelayReport>,
}

#[derive(Serialize)]
struct DelayReport {
    least: i64,
    mean: i64,
    most: i64,
}

impl Arrivals {
    /// No frame received yet.
    pub fn new(
        plan: Option<&Plan>,
        sights: Option<Sightings>,
        ahead_ns: i64,
        epoch_ns: Option<i64>,
        dilate: i64,
    ) -> Self {
        let heard = plan.map(|plan| {
            let of = |stream: &tsn_plan::Stream, number: u32| {
                let last =
                    stream.listeners.iter().filter_map(|listener| stream.route.get(listener.route as usize));
                let peers = last.filter_map(|hop| plan.ports.get(hop.port as usize)).map(|port| port.peer);
                peers.map(|peer| (peer, number)).collect::<Vec<_>>()
            };
            plan.streams.iter().zip(0..).flat_map(|(stream, number)| of(stream, number)).collect()
        });
        Self { streams: BTreeMap::new(), heard, sights, ahead_ns, epoch_ns, dilate, frames: 0, foreign: 0 }
    }

    /// Number of received frames of talkers.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Counts a frame that reached the program at `now_ns`.
    pub fn received(&mut self, port: u32, octets: &[u8], arrival: Arrival, now_ns: i64) {
        let Some((frame, intended_ns)) = read(octets, arrival) else {
            self.foreign += 1;
            return;
        };
        self.frames += 1;
        let kernel_ns = arrival.kernel_ns.map(|at| at + self.ahead_ns);
        if let Some(sights) = &mut self.sights {
            sights.know_stream(frame.stream, |number| format!("stream {number}"));
            if let Some(at) = arrival.hardware_ns {
                sights.sight(port, Stage::Rx, &frame, Some(at));
            }
            sights.sight(port, Stage::KernelRx, &frame, kernel_ns);
            if self.heard.as_ref().is_none_or(|heard| heard.contains(&(port, frame.stream))) {
                sights.sight(port, Stage::AppRx, &frame, Some(now_ns));
            }
        }
        let stream = self.streams.entry((port, frame.stream)).or_default();
        stream.frames += 1;
        stream.octets += u64::from(frame.octets);
        if !stream.sequence.received_at(frame.seq, intended_ns) {
            return;
        }
        let intended_ns = intended_ns.map(|ns| {
            self.epoch_ns.map_or(ns, |epoch_ns| epoch_ns.saturating_add(ns.saturating_mul(self.dilate)))
        });
        let delay = intended_ns.map(|intended_ns| kernel_ns.unwrap_or(now_ns).saturating_sub(intended_ns));
        if let Some(delay) = delay.filter(|delay| delay.abs() < LONGEST_NS) {
            let delays = stream.delays.get_or_insert(Delays { least: delay, most: delay, sum: 0, count: 0 });
            delays.least = delays.least.min(delay);
            delays.most = delays.most.max(delay);
            delays.sum += i128::from(delay);
            delays.count += 1;
        }
    }

    /// Writes the results.
    pub fn finish(
        mut self,
        interfaces: Vec<(String, Statistics)>,
        arguments: &Arguments,
    ) -> Result<(), Error> {
        let name = |port: u32| {
            let found = arguments.ports.iter().find(|(number, _)| *number == port);
            found.map(|(_, interface)| interface.clone()).unwrap_or_default()
        };
        let streams = self.streams.iter().map(|((port, number), stream)| StreamReport {
            interface: name(*port),
            stream: *number,
            frames: stream.frames,
            octets: stream.octets,
            first: stream.sequence.span().map(|(first, _)| first),
            last: stream.sequence.span().map(|(_, last)| last),
            restarts: stream.sequence.restarts,
            lost: stream.sequence.lost(),
            duplicates: stream.sequence.duplicates,
            reordered: stream.sequence.reordered,
            delay_ns: stream.delays.as_ref().map(|delays| DelayReport {
                least: delays.least,
                mean: i64::try_from(delays.sum / i128::from(delays.count.max(1))).unwrap_or(i64::MAX),
                most: delays.most,
            }),
        });
        let report = Report {
            foreign: self.foreign,
            streams: streams.collect(),
            interfaces: interfaces
                .into_iter()
                .map(|(name, counted)| InterfaceReport {
                    name,
                    frames: counted.frames,
                    dropped_by_listener: counted.dropped,
                })
                .collect(),
        };
        let file = |path: &std::path::Path, error| Error::File(path.to_owned(), error);
        let text =
            serde_json::to_string_pretty(&report).map_err(|error| file(&arguments.log, error.into()))?;
        std::fs::write(&arguments.log, text + "\n").map_err(|error| file(&arguments.log, error))?;
        if let (Some(sights), Some(path)) = (&mut self.sights, &arguments.sights) {
            sights.write(path).map_err(|error| file(path, error))?;
        }
        Ok(())
    }
}

/// The identity of a frame of a talker, and its intended sending time.
fn read(octets: &[u8], arrival: Arrival) -> Option<(Frame, Option<i64>)> {
    let found = dissect(Link::Ethernet, octets, arrival.original).ok()?;
    let payload = telegram::test_payload(&found).ok().filter(|payload| payload.stream < MOST_STREAMS)?;
    let inside = found.tag.map(|tag| (tag.pcp, tag.vid));
    let taken_out = arrival.tag.map(|tag| ((tag >> 13) as u8, tag & 0xfff));
    let (pcp, vid) = taken_out.or(inside).unwrap_or((0, 0));
    let octets = found.octets + if arrival.tag.is_some() { TAG } else { 0 };
    Some((Frame { stream: payload.stream, seq: payload.seq, octets, pcp, vid }, payload.intended_ns))
}
