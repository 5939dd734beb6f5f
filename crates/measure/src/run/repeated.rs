//! The measures of a run that repeats: those of two short runs, one with a period more than the other.
//!
//! What a period adds to counts and samples is the difference, and it is the same for each. The periods in the short
//! runs are enough that nothing which a path remembers of earlier frames reaches back before them.

use super::{Options, Paths};
use crate::frame::Frame;
use crate::frame_table::FrameRepeats;
use crate::pair::FrameSink;
use crate::statistics::path_statistics::PathOptions;
use tsn_observation::Repeats;
use tsn_observation::parquet::Reader;

/// Periods of a short run.
const FEW: u64 = 2;
/// Frames that a path may remember to see what is the age of a value.
const REMEMBERED: u64 = 66;

/// A run with fewer periods than the one that is measured.
pub(super) struct Shorter {
    repeats: Repeats,
    /// Periods that come again in the short run.
    pub(super) times: u64,
    /// By path, its stream's number.
    streams: Vec<usize>,
}

impl Shorter {
    /// The short run, if there is a period that repeats often enough. Without it every period is measured.
    pub(super) fn of(reader: &Reader, paths: &Paths, options: &Options) -> Option<Self> {
        let repeats = reader.repeats()?.clone();
        let begins = options.after_ns.max(options.from_ns);
        if options.stamps.is_some() || begins.is_some_and(|begin| begin > repeats.steady_from_ns) {
            return None;
        }
        let aged = paths.all.iter().zip(&paths.streams).filter(|((_, path), _)| path.options.ages);
        let periods = aged.filter_map(|(_, stream)| match repeats.frames.get(*stream) {
            Some(0) | None => None,
            Some(frames) => Some(REMEMBERED.div_ceil(*frames) + 1),
        });
        let times = periods.max().unwrap_or(0).max(FEW);
        let streams = paths.streams.clone();
        (times + 1 < repeats.times).then_some(Self { repeats, times, streams })
    }

    /// Periods of the run that the short one lacks.
    pub(super) fn left(&self) -> u64 {
        self.repeats.times - self.times
    }

    /// When something happens in the run with so many periods that happens at `ns` of the whole run.
    pub(super) fn earlier(&self, ns: i64, times: u64) -> i64 {
        if ns <= self.repeats.from_ns {
            return ns;
        }
        let periods = i64::try_from(self.repeats.times - times).unwrap_or(i64::MAX);
        ns.saturating_sub(periods.saturating_mul(self.repeats.period_ns))
    }

    /// By path, the first frame of the short run's last period, and frames in a period.
    fn last_period(&self) -> Vec<(u64, u64)> {
        let of = |stream: &usize| {
            let frames = self.repeats.frames.get(*stream).copied().unwrap_or(0);
            let first = self.repeats.first.get(*stream).copied().unwrap_or(u64::MAX);
            (first.saturating_add(frames.saturating_mul(self.times)), frames)
        };
        self.streams.iter().map(of).collect()
    }

    /// The rows of the table of frames that repeat.
    pub(super) fn of_frames(&self) -> FrameRepeats {
        FrameRepeats { period_ns: self.repeats.period_ns, times: self.left(), paths: self.last_period() }
    }

    /// Passes frames of the short run on; those behind its periods as the whole run has them.
    pub(super) fn later<'a, F: FrameSink>(&self, out: &'a mut F) -> Later<'a, F> {
        let periods = i64::try_from(self.left()).unwrap_or(i64::MAX);
        Later {
            out,
            by_ns: periods.saturating_mul(self.repeats.period_ns),
            paths: self
                .last_period()
                .into_iter()
                .map(|(first, frames)| (first.saturating_add(frames), frames.saturating_mul(self.left())))
                .collect(),
        }
    }
}

/// See [`Shorter::later`].
pub(super) struct Later<'a, F> {
    out: &'a mut F,
    by_ns: i64,
    /// By path, the first frame behind the periods, and by how much its number is greater.
    paths: Vec<(u64, u64)>,
}

impl<F: FrameSink> FrameSink for Later<'_, F> {
    fn frame(&mut self, seq: u64, frame: &Frame, options: &PathOptions) {
        match self.paths.get(options.path as usize) {
            Some((behind, by)) if seq >= *behind => {
                self.out.frame(seq + by, &frame.later(self.by_ns), options);
            }
            _ => self.out.frame(seq, frame, options),
        }
    }
}
