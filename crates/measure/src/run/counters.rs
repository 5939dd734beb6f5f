//! The counters of a simulation, for frames that taps cannot observe: frames that never left, frames still under way.

use crate::Error;
use crate::pair::Path;
use crate::summarise::PathInfo;
use serde::Deserialize;
use std::collections::{HashMap, HashSet};
use std::path::Path as FilePath;
use tsn_capture::file::read_regular;
use tsn_plan::{Plan, Stream};

/// The part of a run's counters that measures need.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Counters {
    #[serde(default)]
    interrupted: bool,
    #[serde(default)]
    streams: Vec<StreamCounters>,
}

#[derive(Debug, Deserialize)]
struct StreamCounters {
    name: String,
    #[serde(default)]
    released: u64,
    #[serde(default)]
    dropped_at_talker: u64,
    #[serde(default)]
    dropped_in_network: u64,
    #[serde(default)]
    lost_to_faults: u64,
    #[serde(default)]
    in_network_at_end: u64,
}

impl Counters {
    /// Reads the run's counters, if it has any.
    pub(super) fn read(path: &FilePath) -> Result<Option<Self>, Error> {
        match read_regular(path, super::MAX_TEXT_OCTETS) {
            Ok(text) => serde_json::from_str(&text)
                .map(Some)
                .map_err(|error| Error::Json { what: path.display().to_string(), error }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::File { path: path.to_owned(), error }),
        }
    }

    /// Numbers after the last frame that left show no gap, but a drop at the talker is counted. A frame that was sent
    /// to one listener, did not arrive and was not dropped was still under way at the end. `left`: whether the first
    /// tap observes frames only after they have left the talker's queues.
    pub(super) fn explain(
        &self,
        paths: &mut [(PathInfo, Path)],
        plan: &Plan,
        left: bool,
        warnings: &mut Vec<String>,
    ) {
        if self.interrupted {
            warnings.push("the run was interrupted: it measures a shorter time than planned".into());
        }
        let mut listeners: HashMap<String, u32> = HashMap::new();
        for (info, _) in paths.iter() {
            *listeners.entry(info.stream.clone()).or_default() += 1;
        }
        let starts = |stream: &Stream| stream.route.iter().filter(|hop| hop.parent.is_none()).count() as u64;
        let starts: HashMap<&str, u64> =
            plan.streams.iter().map(|stream| (stream.name.as_str(), starts(stream))).collect();
        let redundant = plan.streams.iter().filter(|stream| stream.redundancy.is_some());
        let redundant: HashSet<&str> = redundant.map(|stream| stream.name.as_str()).collect();
        let counted: HashMap<&str, &StreamCounters> =
            self.streams.iter().map(|stream| (stream.name.as_str(), stream)).collect();
        for (info, path) in paths {
            let Some(counted) = counted.get(info.stream.as_str()) else { continue };
            if left {
                // Of these numbers no frame left, and no later one shows a gap. Drops count once for each port that the
                // talker sends by.
                let behind_last = counted.released.saturating_sub(path.next());
                let starts = starts.get(info.stream.as_str()).copied().unwrap_or(1).max(1);
                path.statistics.never_sent += behind_last.min(counted.dropped_at_talker / starts);
            }
            if info.rx_tap.is_some() && listeners.get(&info.stream) == Some(&1) {
                let early = if left { 0 } else { counted.dropped_at_talker };
                let gone =
                    counted.dropped_in_network.saturating_add(counted.lost_to_faults).saturating_add(early);
                // With redundancy, a frame that is lost in one member stream may arrive in another one. So the lost
                // frames are not subtracted here: the simulator counts the frames under way.
                info.in_network_at_end = if redundant.contains(info.stream.as_str()) {
                    path.statistics.lost.min(counted.in_network_at_end)
                } else {
                    path.statistics.lost.saturating_sub(gone)
                };
            }
        }
    }
}
