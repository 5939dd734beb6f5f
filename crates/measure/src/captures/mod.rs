//! Captures of both sides to measures: both are read in step, so that only frames under way are in memory.

mod by_content;
pub mod capture_file;
mod captured_frame;
mod contents;
mod copies;
pub mod inspect;
mod numbering;
mod probe;
pub mod protocols;
mod senders;
mod side;
mod streams;
pub mod told;

use self::capture_file::CaptureFile;
use self::captured_frame::CapturedFrame;
use crate::Error;
use crate::frame_table::FrameTable;
use crate::offset;
use crate::pair::{FrameSink, Path};
use crate::report::{FORMAT, Measures, Source};
use crate::statistics::path_statistics::PathOptions;
use crate::summarise::{self, PathInfo};
use serde::Deserialize;
use side::Side;
use streams::Streams;

/// The options of the caller.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The receiving clock minus the sending clock, in whole seconds; it is subtracted from every delay.
    pub offset_s: Option<i64>,
    /// Delay above which a frame is late, ns.
    pub deadline_ns: Option<u64>,
}

impl Options {
    fn of_paths(&self) -> PathOptions {
        PathOptions {
            path: 0,
            offset_ns: self.offset_s.unwrap_or(0).saturating_mul(1_000_000_000),
            deadline_ns: self.deadline_ns.and_then(|deadline| i64::try_from(deadline).ok()),
            ages: false,
            gaps: true,
            ends_ns: None,
            after_ns: None,
        }
    }
}

/// Which side of the path a capture is from.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Tx,
    Rx,
}

/// Measures the frames of `tx` captures in `rx` captures; several files per side are read as one, in order of time.
///
/// # Errors
/// When a file cannot be read, or no frame is in the `tx` files.
pub fn measure<T: Clone + Into<CaptureFile>, R: Clone + Into<CaptureFile>>(
    tx: &[T],
    rx: &[R],
    options: &Options,
    frames: Option<&std::path::Path>,
) -> Result<Measures, Error> {
    let tx: Vec<CaptureFile> = tx.iter().cloned().map(Into::into).collect();
    let rx: Vec<CaptureFile> = rx.iter().cloned().map(Into::into).collect();
    if tx.is_empty() || rx.is_empty() {
        return Err(Error::Nothing(
            "a capture of each side is needed: at the sender and at the receiver".into(),
        ));
    }
    let probed = probe::probe(&tx, &rx)?;
    let mut streams = Streams::new(probed.known, false, options.of_paths());
    let mut table = frames.map(|path| FrameTable::create(path, false)).transpose()?;
    let mut sides =
        Sides { tx: Side::open(&tx, End::Tx)?, rx: Side::open(&rx, End::Rx)?, ahead_ns: probed.ahead_ns };
    sides.read_in_step(&mut streams, &mut table)?;
    streams.finish(&mut table);
    finish(&[&sides.tx, &sides.rx], streams, table, options)
}

/// Both sides, and the offset of the receiving side's timestamps from the sending side's.
struct Sides {
    tx: Side,
    rx: Side,
    ahead_ns: i64,
}

impl Sides {
    /// Reads both sides to their ends, always the one that lags: the delay of the last complete frame shows how to
    /// compare timestamps, so that neither a clock offset nor a late start fills the window.
    fn read_in_step(&mut self, streams: &mut Streams, out: &mut impl FrameSink) -> Result<(), Error> {
        let (mut tx, mut rx) = (CapturedFrame::default(), CapturedFrame::default());
        let mut sent = self.tx.next(streams, &mut (), &mut tx)?;
        let mut arrived = self.rx.next(streams, &mut (), &mut rx)?;
        while sent || arrived {
            if sent && (!arrived || tx.at.saturating_add(self.ahead_ns) <= rx.at) {
                streams.tx(&tx, out);
                sent = self.tx.next(streams, &mut (), &mut tx)?;
            } else {
                if let Some(delay) = streams.rx(&rx, out)
                    && self.shows_offset(delay)
                {
                    self.ahead_ns = delay;
                }
                arrived = self.rx.next(streams, &mut (), &mut rx)?;
            }
        }
        Ok(())
    }

    /// Whether a delay shows how to compare timestamps: one over a step of a clock does not.
    #[inline]
    fn shows_offset(&self, delay: i64) -> bool {
        delay.abs_diff(self.ahead_ns) < side::STEP_NS.unsigned_abs()
            || !(self.tx.is_stepped() || self.rx.is_stepped())
    }
}

/// Makes the report after all frames are read; `sides` are the sending one and the receiving one, or one capture alone.
fn finish(
    sides: &[&Side],
    streams: Streams,
    table: Option<FrameTable>,
    options: &Options,
) -> Result<Measures, Error> {
    let (tx, rx) = (sides[0], sides[sides.len() - 1]);
    if let Some(file) = tx.empty() {
        return Err(Error::Nothing(format!("{file} has no frame")));
    }
    let mut source = Source { kind: "captures", ..Source::default() };
    for side in sides {
        side.describe(&mut source);
    }
    for side in sides {
        let cut = streams.cut_frames(side.end());
        if cut > 0 {
            source.warnings.push(format!(
                "{}: the capture cut {cut} frames between their messages: messages behind the cut do not count, and \
                 streams of such frames have no count of missing numbers if numbers are missing",
                side.files()
            ));
        }
    }
    source.warnings.extend(streams.of_other_direction());
    source.formats = streams.formats();
    source.identified = streams.identified();
    source.ignored.unreadable_frames = sides.iter().map(|side| side.unreadable()).sum();
    let (tx_clock, rx_clock) = (tx.clock(), rx.clock());
    let mut paths: Vec<(PathInfo, Path)> = Vec::new();
    for (name, numbering, path) in streams.into_paths(&mut source.ignored) {
        let scale = numbering.scale;
        let is_sequence = scale.is_sequence;
        // Numbers of 32 bits and more hardly begin again.
        let counts_up = scale.step == 1 && (scale.modulus == 0 || scale.modulus >= 1 << 32);
        let before_first = path.first_seq.filter(|_| is_sequence).unwrap_or(0);
        let info = PathInfo {
            group: name.clone(),
            stream: name,
            listener: "rx".into(),
            tx_tap: Some("tx".into()),
            rx_tap: Some("rx".into()),
            tx_clock: Some(tx_clock.clone()),
            rx_clock: Some(rx_clock.clone()),
            taps: vec!["tx".into()],
            period_ns: None,
            deadline_ns: options.deadline_ns,
            shares_ppm: Vec::new(),
            is_sequence,
            numbers: (!counts_up && is_sequence).then_some(scale),
            before_first,
            in_network_at_end: 0,
            uncertainty: None,
        };
        paths.push((info, path));
    }
    if let Some(table) = table {
        table.finish(&paths.iter().map(|(info, _)| info.name()).collect::<Vec<_>>())?;
    }
    if paths.is_empty() {
        return Err(Error::Nothing("no frame in the captures of the sending side".into()));
    }
    let offset = offset::find(paths.iter().map(|(_, path)| &path.statistics.delay), options.offset_s);
    let (single, groups) = summarise::reports(&paths);
    Ok(Measures { format: FORMAT, source, offset, paths: single, groups })
}
