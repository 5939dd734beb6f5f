//! One capture alone, read once: its streams, what its protocols say, and its interfaces.
//!
//! The capture is the sending and the receiving side: every frame is found with its timestamp and its number.

use super::capture_file::CaptureFile;
use super::captured_frame::CapturedFrame;
use super::protocols::{ProtocolMeasures, Protocols};
use super::side::{Look, Side};
use super::streams::Streams;
use super::{End, Options, finish, probe};
use crate::Error;
use crate::frame_table::FrameTable;
use crate::report::Measures;
use crate::trdp::{self, Tally, TrdpMeasures};
use std::path::Path;
use std::slice::from_ref;
use tsn_capture::{CapturedInterface, InterfaceCounts, Packet};
use tsn_trdp::DEFAULT_TIME_OUT_NS;
use tsn_wire::dissect::Dissected;

/// What one capture has.
#[derive(Debug)]
pub struct Inspected {
    /// Its streams, with delays of 0.
    pub measures: Measures,
    /// What frames say besides their numbers.
    pub protocols: ProtocolMeasures,
    /// The interfaces that have frames, as [`tsn_capture::interfaces`] lists them.
    pub interfaces: Vec<CapturedInterface>,
    /// Its TRDP telegrams, if there are any.
    pub trdp: Option<TrdpMeasures>,
}

/// What is counted while the frames are read.
#[derive(Default)]
struct Besides {
    protocols: Protocols,
    interfaces: InterfaceCounts,
    telegrams: Tally,
    time_out_ns: i64,
}

impl Look for Besides {
    fn packet(&mut self, packet: &Packet<'_>) {
        self.interfaces.see(packet);
    }

    fn frame(&mut self, frame: &Dissected<'_>, t_ns: Option<i64>) {
        self.protocols.see(frame, t_ns);
        self.telegrams.see(t_ns, frame, self.time_out_ns);
    }
}

/// Reads a capture; `frames` is where one row per frame is written, and `time_out_ns` the time-out of TRDP's subscriptions.
///
/// # Errors
/// When the file cannot be read, or has no frame.
pub fn inspect(
    file: &CaptureFile,
    frames: Option<&Path>,
    time_out_ns: Option<i64>,
) -> Result<Inspected, Error> {
    let options = Options::default();
    let probed = probe::probe(from_ref(file), from_ref(file))?;
    let mut streams = Streams::new(probed.known, false, options.of_paths());
    let mut table = frames.map(|path| FrameTable::create(path, false)).transpose()?;
    let mut side = Side::open(from_ref(file), End::Tx)?;
    let time_out_ns = time_out_ns.unwrap_or(DEFAULT_TIME_OUT_NS);
    let mut besides = Besides { time_out_ns, ..Besides::default() };
    let mut frame = CapturedFrame::default();
    while side.next(&mut streams, &mut besides, &mut frame)? {
        streams.tx(&frame, &mut table);
        streams.rx(&frame, &mut table);
    }
    streams.finish(&mut table);
    let interfaces = side.interfaces(besides.interfaces)?;
    let mut source = trdp::source();
    side.describe_one(&mut source);
    let trdp = besides.telegrams.measures(source, time_out_ns).ok();
    let measures = finish(&[&side], streams, table, &options)?;
    Ok(Inspected { measures, protocols: besides.protocols.measures(), interfaces, trdp })
}
