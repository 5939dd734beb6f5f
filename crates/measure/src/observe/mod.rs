//! Captures and logs of a run to its file of observations.

pub mod captures;
pub mod logs;

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The captures of one run, and how their clock goes with the Plan's time.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Captures {
    /// The Plan's zero on the captures' clock.
    pub epoch_ns: i64,
    /// How many ns of the captures' clock pass for one of the Plan.
    pub dilate: i64,
    /// Number of a tap, and its capture.
    pub files: Vec<(u16, PathBuf)>,
    /// What live talkers and listeners sighted, whose taps are the Plan's: for taps without a capture.
    #[serde(default)]
    pub logs: Vec<PathBuf>,
    /// Numbers of taps that no tool here can sight, and why; over what the logs say.
    #[serde(default)]
    pub missing: Vec<(u16, String)>,
}

impl Captures {
    /// A stamp in the Plan's time, moved by so much.
    pub(crate) fn plan_ns(&self, t_ns: i64, moved_ns: i128) -> Option<i64> {
        let real = i128::from(t_ns) - i128::from(self.epoch_ns);
        i64::try_from(real.div_euclid(i128::from(self.dilate.max(1))) + moved_ns).ok()
    }
}

/// How many frames the captures and logs of a run hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FrameCounts {
    /// Frames by tap, then by stream of the Plan.
    pub frames: Vec<Vec<u64>>,
    /// Frames that are not of the Plan.
    pub foreign: u64,
}
