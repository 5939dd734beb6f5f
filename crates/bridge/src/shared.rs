//! Memory that the queues of several ports share.
//!
//! Dynamic thresholds: Choudhury & Hahne 1998.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tsn_units::Octets;

/// One memory; clones share it. It is atomic only so that a run may move to another thread.
#[derive(Clone, Debug)]
pub struct SharedBuffer(Arc<State>);

#[derive(Debug)]
struct State {
    octets: u64,
    alpha_permille: Option<u64>,
    used: AtomicU64,
    most: AtomicU64,
    dropped_frames: AtomicU64,
    dropped_octets: AtomicU64,
}

/// The counters of a shared memory.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct BufferCounters {
    /// Greatest number of octets in it.
    pub most_octets: u64,
    /// Frames without room here, although their own queue had some.
    pub dropped_frames: u64,
    /// Octets of these frames.
    pub dropped_octets: u64,
}

impl SharedBuffer {
    /// An empty memory.
    #[must_use]
    pub fn new(buffer: &tsn_plan::Buffer) -> Self {
        Self(Arc::new(State {
            octets: buffer.octets,
            alpha_permille: buffer.alpha_permille.map(u64::from),
            used: AtomicU64::new(0),
            most: AtomicU64::new(0),
            dropped_frames: AtomicU64::new(0),
            dropped_octets: AtomicU64::new(0),
        }))
    }

    /// Whether a frame has room for a queue that already contains `own` octets.
    #[must_use]
    pub fn has_room(&self, own: u64, frame: Octets) -> bool {
        let free = self.0.octets.saturating_sub(self.0.used.load(Relaxed));
        let frame = u64::from(frame.0);
        let within = |alpha: u64| u128::from(own + frame) * 1_000 <= u128::from(free) * u128::from(alpha);
        frame <= free && self.0.alpha_permille.is_none_or(within)
    }

    pub(crate) fn allocate(&self, octets: u64) {
        let used = self.0.used.load(Relaxed) + octets;
        self.0.used.store(used, Relaxed);
        self.0.most.fetch_max(used, Relaxed);
    }

    pub(crate) fn free(&self, octets: u64) {
        let used = self.0.used.load(Relaxed);
        self.0.used.store(used.saturating_sub(octets), Relaxed);
    }

    pub(crate) fn count_drop(&self, frame: Octets) {
        self.0.dropped_frames.fetch_add(1, Relaxed);
        self.0.dropped_octets.fetch_add(u64::from(frame.0), Relaxed);
    }

    /// The counters so far.
    #[must_use]
    pub fn counters(&self) -> BufferCounters {
        BufferCounters {
            most_octets: self.0.most.load(Relaxed),
            dropped_frames: self.0.dropped_frames.load(Relaxed),
            dropped_octets: self.0.dropped_octets.load(Relaxed),
        }
    }
}
