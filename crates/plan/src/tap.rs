//! Taps, where frames are observed: their stages, and the point of a frame that a timestamp refers to.

use serde::{Deserialize, Serialize};

/// A place where frames are observed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tap {
    /// The name in observations: `zgw1 -> zgw2 tx`.
    pub name: String,
    /// The port: index into [`crate::Plan::ports`].
    pub port: u32,
    /// The stage that is observed.
    pub stage: Stage,
    /// The point of the frame that the timestamp refers to.
    pub point: Point,
    /// Ticks of the timestamp, in ns: 1, or 8 for an I210.
    pub granularity_ns: u32,
}

/// A stage on a frame's path (OCORA Fig. 9).
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// The instant for which the talker's timer is set. This stage and all others except `send`, `tx` and `rx` exist
    /// only at hosts.
    IntervalStart,
    /// The talker's thread runs.
    Wakeup,
    /// The talker hands the frame to its port's queue; on a host, to its socket.
    Send,
    /// The frame is handed to the queueing discipline (`SOF_TIMESTAMPING_TX_SCHED`).
    Qdisc,
    /// The frame is handed to the driver (`SOF_TIMESTAMPING_TX_SOFTWARE`), where a capture on the sender observes it.
    Driver,
    /// The frame leaves the port.
    Tx,
    /// The frame arrives at the port.
    Rx,
    /// The kernel has the frame (`SOF_TIMESTAMPING_RX_SOFTWARE`).
    KernelRx,
    /// The listener's program has the frame.
    AppRx,
}

impl Stage {
    /// All of them, in the order in which a frame passes.
    pub const ALL: [Self; 9] = [
        Self::IntervalStart,
        Self::Wakeup,
        Self::Send,
        Self::Qdisc,
        Self::Driver,
        Self::Tx,
        Self::Rx,
        Self::KernelRx,
        Self::AppRx,
    ];

    /// The name in the Plan's JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::IntervalStart => "interval-start",
            Self::Wakeup => "wakeup",
            Self::Send => "send",
            Self::Qdisc => "qdisc",
            Self::Driver => "driver",
            Self::Tx => "tx",
            Self::Rx => "rx",
            Self::KernelRx => "kernel-rx",
            Self::AppRx => "app-rx",
        }
    }

    /// Whether the stage is on the path into a port, not out of it.
    #[must_use]
    pub const fn is_inbound(self) -> bool {
        matches!(self, Self::Rx | Self::KernelRx | Self::AppRx)
    }
}

/// The point of the frame that a `tx` or `rx` timestamp refers to.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Point {
    /// The message timestamp point: the first bit after the start frame delimiter. Hardware timestamps refer to it.
    /// IEEE 802.3-2022, 90.7.
    Start,
    /// The last bit of the FCS, after which a listener can use the frame.
    End,
}
