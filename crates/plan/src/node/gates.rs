//! Gate control lists: the first one, and those that replace it during the run.
//!
//! IEEE 802.1Q-2022, 8.6.8.4, 8.6.9 and 12.29.

use crate::omitted::is_default;
use serde::{Deserialize, Serialize};

/// The gates of one port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gates {
    /// The begin of a cycle, in ns (`AdminBaseTime`).
    pub base_time_ns: i64,
    /// Sum of all intervals, in ns.
    pub cycle_ns: u64,
    /// The list.
    pub entries: Vec<GateEntry>,
    /// Bit n: frames of class n may meet one frame that began before another list was replaced by this one, where that
    /// had more gates open. For bounds: nothing begins so in a run.
    #[serde(default, skip_serializing_if = "is_default")]
    pub replaced: u8,
    /// The gates that are open before the base time (`AdminGateStates`); without it, cycles extend to before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial: Option<u8>,
    /// Greatest extension of the last cycle, instead of a cycle that a change would cut, in ns
    /// (`AdminCycleTimeExtension`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub cycle_extension_ns: u64,
    /// A frame may start whenever its gate is open, and still be on the wire when the gate closes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unguarded: bool,
    /// Lists that replace this one, in the order of their requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<GateChange>,
}

/// A list that replaces the previous one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateChange {
    /// When the change is requested (`ConfigChange`), on the clock of the port's node, in ns.
    pub at_ns: i64,
    /// As in [`Gates`].
    pub base_time_ns: i64,
    /// As in [`Gates`].
    pub cycle_ns: u64,
    /// As in [`Gates`].
    pub entries: Vec<GateEntry>,
    /// As in [`Gates`].
    #[serde(default, skip_serializing_if = "is_default")]
    pub cycle_extension_ns: u64,
    /// Idle slopes while the list is in force, if they differ from the class's own (`operIdleSlope`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub idle_slopes: Vec<IdleSlope>,
}

/// The idle slope of one class.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdleSlope {
    /// The traffic class.
    pub class: u8,
    /// bit/s.
    pub bps: i64,
}

/// One entry of a gate control list.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateEntry {
    /// Bit n set: the gate of traffic class n is open.
    pub open: u8,
    /// Duration of the entry, in ns.
    pub interval_ns: u64,
    /// The operation on preemptable frames; none for `SetGateStates`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mac: Option<MacOperation>,
}

/// The MAC operation of a gate entry. IEEE 802.1Q-2022, 8.6.8.4; IEEE 802.3-2022, 99.4.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MacOperation {
    /// `Set-And-Hold-MAC`: preemptable frames are held from here on.
    Hold,
    /// `Set-And-Release-MAC`: preemptable frames are released.
    Release,
}

impl Gates {
    /// Every list, the first one first: base time, cycle, extension, entries.
    pub fn lists(&self) -> impl Iterator<Item = GateList<'_>> {
        let first = GateList {
            base_time_ns: self.base_time_ns,
            cycle_ns: self.cycle_ns,
            cycle_extension_ns: self.cycle_extension_ns,
            entries: &self.entries,
        };
        std::iter::once(first).chain(self.changes.iter().map(|change| GateList {
            base_time_ns: change.base_time_ns,
            cycle_ns: change.cycle_ns,
            cycle_extension_ns: change.cycle_extension_ns,
            entries: &change.entries,
        }))
    }

    /// Whether a list holds preemptable frames.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.lists().any(|list| list.entries.iter().any(|entry| entry.mac == Some(MacOperation::Hold)))
    }
}

/// One of a port's lists.
#[derive(Copy, Clone, Debug)]
#[allow(missing_docs)]
pub struct GateList<'a> {
    pub base_time_ns: i64,
    pub cycle_ns: u64,
    pub cycle_extension_ns: u64,
    pub entries: &'a [GateEntry],
}
