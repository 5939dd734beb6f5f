//! Captures and logs of a run to its file of observations.

pub mod captures;
pub mod logs;

use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use tsn_plan::{Plan, Point, Stage, Tap};

/// The captures of one run, and the relation of their clock to the Plan's time.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Captures {
    /// The Plan's zero on the captures' clock.
    pub epoch_ns: i64,
    /// Dilation: ns of the captures' clock per ns of the Plan.
    pub dilate: i64,
    /// The Plan's zero on TAI, the clock of logs and network cards; without it, captures are on TAI.
    #[serde(default)]
    pub tai_epoch_ns: Option<i64>,
    /// Numbers of taps with their captures.
    pub files: Vec<(u16, PathBuf)>,
    /// Numbers of taps whose captures have timestamps of a network card.
    #[serde(default)]
    pub hardware: Vec<u16>,
    /// The logs of live talkers and listeners at the Plan's taps, for taps without a capture.
    #[serde(default)]
    pub logs: Vec<PathBuf>,
    /// Numbers of taps that no tool here can observe, with the reason; it replaces the reason in the logs.
    #[serde(default)]
    pub missing: Vec<(u16, String)>,
}

impl Captures {
    /// A timestamp of a capture in the Plan's time, moved by `moved_ns`.
    pub(crate) fn plan_ns(&self, t_ns: i64, moved_ns: i128) -> Option<i64> {
        self.since(self.epoch_ns, t_ns, moved_ns)
    }

    /// A timestamp on TAI in the Plan's time, moved by `moved_ns`.
    pub(crate) fn plan_ns_of_tai(&self, t_ns: i64, moved_ns: i128) -> Option<i64> {
        self.since(self.tai_epoch_ns.unwrap_or(self.epoch_ns), t_ns, moved_ns)
    }

    fn since(&self, epoch_ns: i64, t_ns: i64, moved_ns: i128) -> Option<i64> {
        let real = i128::from(t_ns) - i128::from(epoch_ns);
        i64::try_from(real.div_euclid(i128::from(self.dilate.max(1))) + moved_ns).ok()
    }
}

/// Number of frames in the captures and logs of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FrameCounts {
    /// Frames by tap, then by stream of the Plan.
    pub frames: Vec<Vec<u64>>,
    /// Frames that do not belong to the Plan.
    pub foreign: u64,
}

/// The bit rate of the wire at a tap: arriving frames have the peer's rate.
pub(crate) fn rate_bps(plan: &Plan, tap: &Tap) -> i128 {
    let port = plan.ports.get(tap.port as usize);
    let sender = port.and_then(|port| match tap.stage {
        Stage::Rx => plan.ports.get(port.peer as usize),
        _ => Some(port),
    });
    sender.map_or(1, |port| i128::from(port.rate_bps.max(1)))
}

/// Octets from the timestamp point of network cards to the tap's own point. IEEE 802.1AS-2020, 11.3.9.
pub(crate) fn from_first_octet(point: Point, octets: u32) -> i128 {
    match point {
        Point::Start => 0,
        Point::End => i128::from(octets),
    }
}
