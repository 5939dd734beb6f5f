//! A stream's frames at one egress port.

use tsn_plan::{Identification, Stream};

/// A stream's frames at one egress port, by one of the paths that they may come by. Times of the first period, ps.
#[derive(Clone, Debug)]
pub(crate) struct Passage {
    pub stream: u32,
    pub port: u32,
    pub class: u8,
    pub period: i64,
    pub margin: i64,
    /// When the first frame is in the queue, and the last one.
    pub comes: i64,
    pub complete: i64,
    /// So much earlier than planned it may come, because frames that it waited behind were missing.
    pub comes_early: i64,
    /// So much earlier than planned its first frame may start.
    pub early: i64,
    /// It waits for its gate, which is closed from when it comes.
    pub held: bool,
    /// A copy of it may be eliminated on the way.
    pub copies: bool,
    /// First bits out and last bits out, frame by frame.
    pub frames: Vec<(i64, i64)>,
    /// When the next frame of anybody can start.
    pub ends: i64,
}

impl Passage {
    pub fn starts(&self) -> i64 {
        self.frames.first().map_or(self.comes, |frame| frame.0)
    }

    pub fn waits(&self) -> bool {
        self.starts() > self.comes
    }

    /// It waits at an open gate: for those ahead of it in the queue.
    pub fn follows(&self) -> bool {
        self.waits() && !self.held
    }
}

/// What a frame shows at an entry: copies may have a priority of their own. IEEE 802.1CB-2017, 6.6.
pub(crate) fn priority(stream: &Stream, entry: usize) -> u8 {
    let Some(own) = stream.redundancy.as_deref() else { return stream.pcp };
    let copy = own.copies.get(entry).is_some_and(|copy| *copy > 0);
    match own.recovery.as_ref().map(|recovery| &recovery.identification) {
        Some(Identification::Active(rewritten)) if copy => rewritten.pcp,
        _ => stream.pcp,
    }
}
