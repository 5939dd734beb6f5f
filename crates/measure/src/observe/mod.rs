//! Captures and logs of a run to its file of observations.

pub mod captures;
pub mod logs;

use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use tsn_plan::{Plan, Point, Stage, Tap};

/// The captures of one run, and how their clock goes with the Plan's time.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Captures {
    /// The Plan's zero on the captures' clock.
    pub epoch_ns: i64,
    /// How many ns of the captures' clock pass for one of the Plan.
    pub dilate: i64,
    /// The Plan's zero on TAI, by which logs and network cards stamp; where it is not there, captures are on TAI.
    #[serde(default)]
    pub tai_epoch_ns: Option<i64>,
    /// Number of a tap, and its capture.
    pub files: Vec<(u16, PathBuf)>,
    /// Numbers of taps whose captures a network card has stamped.
    #[serde(default)]
    pub hardware: Vec<u16>,
    /// What live talkers and listeners sighted, whose taps are the Plan's: for taps without a capture.
    #[serde(default)]
    pub logs: Vec<PathBuf>,
    /// Numbers of taps that no tool here can sight, and why; over what the logs say.
    #[serde(default)]
    pub missing: Vec<(u16, String)>,
}

impl Captures {
    /// A stamp of a capture in the Plan's time, moved by so much.
    pub(crate) fn plan_ns(&self, t_ns: i64, moved_ns: i128) -> Option<i64> {
        self.since(self.epoch_ns, t_ns, moved_ns)
    }

    /// A stamp on TAI in the Plan's time, moved by so much.
    pub(crate) fn plan_ns_of_tai(&self, t_ns: i64, moved_ns: i128) -> Option<i64> {
        self.since(self.tai_epoch_ns.unwrap_or(self.epoch_ns), t_ns, moved_ns)
    }

    fn since(&self, epoch_ns: i64, t_ns: i64, moved_ns: i128) -> Option<i64> {
        let real = i128::from(t_ns) - i128::from(epoch_ns);
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

/// Of the wire at a tap: what arrives came at the peer's rate.
pub(crate) fn rate_bps(plan: &Plan, tap: &Tap) -> i128 {
    let port = plan.ports.get(tap.port as usize);
    let sender = port.and_then(|port| match tap.stage {
        Stage::Rx => plan.ports.get(port.peer as usize),
        _ => Some(port),
    });
    sender.map_or(1, |port| i128::from(port.rate_bps.max(1)))
}

/// Octets from the point that network cards stamp to a tap's own. IEEE 802.1AS-2020, 11.3.9.
pub(crate) fn from_first_octet(point: Point, octets: u32) -> i128 {
    match point {
        Point::Start => 0,
        Point::End => i128::from(octets),
    }
}
