//! Releases from a recording.

use tsn_plan::duration;
use tsn_units::{Duration, Instant, Local};

/// A list of gaps, which is repeated.
#[derive(Debug)]
pub(crate) struct Trace {
    gaps: Vec<Duration>,
    cycle: Duration,
    /// The begin of this pass.
    pass: Instant<Local>,
    /// Number of passes after this one.
    passes: u32,
    /// The last release, or the begin of the pass.
    last: Instant<Local>,
    place: usize,
}

fn later(from: Instant<Local>, by: Duration) -> Instant<Local> {
    Instant::from_ps(from.ps().saturating_add(by.ps()))
}

impl Trace {
    pub fn new(start: Instant<Local>, gaps_ns: &[u64], cycle_ns: u64, passes: u32) -> Self {
        let gaps = gaps_ns.iter().map(|gap| duration(*gap)).collect();
        let passes = passes.saturating_sub(1);
        Self { gaps, cycle: duration(cycle_ns), pass: start, passes, last: start, place: 0 }
    }

    /// The next release; [`Instant::MAX`] when there is none.
    pub fn next(&mut self) -> Instant<Local> {
        if self.place == self.gaps.len() && self.passes > 0 {
            self.passes -= 1;
            self.place = 0;
            self.pass = later(self.pass, self.cycle);
            self.last = self.pass;
        }
        let Some(gap) = self.gaps.get(self.place) else { return Instant::MAX };
        self.place += 1;
        self.last = later(self.last, *gap);
        self.last
    }
}
