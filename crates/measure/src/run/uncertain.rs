//! The uncertainty of delays: of each frame for the table, and the greatest of each path.

use crate::frame::Frame;
use crate::frame_table::FrameTable;
use crate::pair::FrameSink;
use crate::report::Uncertainty;
use crate::stamps::{Ends, NodeStamps, Range, Stamps};
use crate::statistics::path_statistics::PathOptions;
use crate::summarise::PathInfo;
use tsn_plan::Plan;

/// The clock readings at the ends of one path, and the uncertainty of its frames so far.
#[derive(Debug)]
struct PathStamps {
    tx: NodeStamps,
    rx: NodeStamps,
    ticks_ns: (i64, i64),
    delay: Option<Range>,
    arrival: Option<Range>,
    release: Option<Range>,
}

/// The table of frames, and the paths whose clocks were read.
pub(super) struct Uncertain {
    pub(super) table: FrameTable,
    /// By the path's number; none if the readings of a node are missing.
    paths: Vec<Option<PathStamps>>,
    /// Frames that leave earlier are left out.
    from_ns: Option<i64>,
}

impl Uncertain {
    /// A table for these paths, in their order, each with the node of its talker.
    pub(super) fn new<'a>(
        table: FrameTable,
        plan: &Plan,
        paths: impl Iterator<Item = (&'a PathInfo, u32)>,
        stamps: Option<&Stamps>,
        from_ns: Option<i64>,
    ) -> Self {
        let tick = |name: &Option<String>| {
            let tap = plan.taps.iter().find(|tap| Some(&tap.name) == name.as_ref());
            tap.map_or(0, |tap| i64::from(tap.granularity_ns))
        };
        let known = |(path, talker): (&PathInfo, u32)| {
            let nodes = &stamps?.nodes;
            let tx = nodes.get(&plan.nodes.get(talker as usize)?.name)?.clone();
            let rx = nodes.get(&path.listener)?.clone();
            let ticks_ns = (tick(&path.tx_tap), tick(&path.rx_tap));
            Some(PathStamps { tx, rx, ticks_ns, delay: None, arrival: None, release: None })
        };
        Self { table, paths: paths.map(known).collect(), from_ns }
    }

    /// By path, the uncertainty of its frames' delays.
    pub(super) fn found(&self) -> Vec<Option<Uncertainty>> {
        let of = |path: &Option<PathStamps>| {
            let path = path.as_ref()?;
            let (delay, arrival) = path.delay.zip(path.arrival)?;
            Some(Uncertainty {
                delay_ns: delay.most_ns(),
                difference_ns: delay.span_ns(),
                arrivals_ns: arrival.span_ns(),
                release_delay_ns: path.release.map(Range::most_ns),
            })
        };
        self.paths.iter().map(of).collect()
    }
}

impl PathStamps {
    /// The uncertainty of this frame's delay, ns.
    fn take(&mut self, frame: &Frame) -> Option<i64> {
        let ends = Ends { tx: &self.tx, rx: &self.rx, ticks_ns: self.ticks_ns };
        let rx = frame.rx()?;
        let grown = |known: Option<Range>, new: Range| Some(known.map_or(new, |known| known.hull(new)));
        if let Some(arrival) = ends.arrival(rx) {
            self.arrival = grown(self.arrival, arrival);
        }
        if let Some(release) = frame.send().and_then(|send| ends.delay(send, rx)) {
            self.release = grown(self.release, release);
        }
        let found = ends.delay(frame.tx()?, rx)?;
        self.delay = grown(self.delay, found);
        Some(found.most_ns())
    }
}

impl FrameSink for Uncertain {
    fn frame(&mut self, seq: u64, frame: &Frame, options: &PathOptions) {
        if self.from_ns.is_some_and(|from| frame.tx().is_some_and(|tx| tx < from)) {
            return;
        }
        let path = self.paths.get_mut(options.path as usize).and_then(Option::as_mut);
        let uncertainty_ns = path.and_then(|path| path.take(frame));
        self.table.row(seq, frame, options, uncertainty_ns);
    }
}
