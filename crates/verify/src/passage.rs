//! A stream's frames at one egress port.

use smallvec::SmallVec;
use tsn_plan::{Identification, Stream};

/// The frames of a stream at one egress port, for one of the possible paths. Times of the first period, ps.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Passage {
    pub stream: u32,
    pub port: u32,
    pub class: u8,
    pub period: i64,
    pub margin: i64,
    /// Arrival of the first frame in the queue, and of the last one.
    pub comes: i64,
    pub complete: i64,
    /// How much earlier than planned the first frame may arrive, because frames that it waited behind were missing.
    pub comes_early: i64,
    /// How much earlier than planned the first frame may start.
    pub early: i64,
    /// The frames wait for their gate, which is closed when they arrive.
    pub held: bool,
    /// The frames belong to member streams, so that some may be eliminated on the path.
    pub copies: bool,
    /// First bits out and last bits out, frame by frame.
    pub frames: SmallVec<[(i64, i64); 1]>,
    /// Octets of all frames, destination address to FCS.
    pub octets: u64,
    /// Earliest start of any next frame.
    pub ends: i64,
}

impl Passage {
    pub fn starts(&self) -> i64 {
        self.frames.first().map_or(self.comes, |frame| frame.0)
    }

    pub fn waits(&self) -> bool {
        self.starts() > self.comes
    }

    /// The frames wait at an open gate, behind others in the queue.
    pub fn follows(&self) -> bool {
        self.waits() && !self.held
    }
}

/// The priority of a frame at an entry of its route: member streams may have priorities of their own. IEEE
/// 802.1CB-2017, 6.6.
pub(crate) fn priority(stream: &Stream, entry: usize) -> u8 {
    let Some(own) = stream.redundancy.as_deref() else { return stream.pcp };
    let copy = own.copies.get(entry).is_some_and(|copy| *copy > 0);
    match own.recovery.as_ref().map(|recovery| &recovery.identification) {
        Some(Identification::Active(rewritten)) if copy => rewritten.pcp,
        _ => stream.pcp,
    }
}
