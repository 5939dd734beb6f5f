//! Faults: their kinds, places and times.
//!
//! Loss in bursts: Gilbert 1960, Elliott 1963.

use serde::{Deserialize, Serialize};

/// One fault. It lasts from `from_ns` on, until just before `until_ns`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Fault {
    /// A link is cut in both directions: frames on the wire and frames sent into it are lost.
    LinkDown {
        /// A port at one of its ends.
        port: u32,
        /// ns.
        from_ns: u64,
        /// ns.
        until_ns: u64,
    },
    /// Frames sent from a port are lost by chance.
    Loss {
        /// The port that sends.
        port: u32,
        /// ns.
        from_ns: u64,
        /// ns.
        until_ns: u64,
        /// The model of loss.
        model: LossModel,
    },
    /// A talker sends more than its pattern: one additional data unit every `every_ns`.
    Babble {
        /// Index into [`crate::Plan::streams`].
        stream: u32,
        /// ns.
        from_ns: u64,
        /// ns.
        until_ns: u64,
        /// Interval of additional data units, ns.
        every_ns: u64,
    },
    /// A node is down: its links are cut, its frames are lost, its talkers are silent. Its recovery functions
    /// restart.
    NodeDown {
        /// The node.
        node: u32,
        /// ns.
        from_ns: u64,
        /// ns.
        until_ns: u64,
    },
    /// Frames sent from a port arrive later than the cable's delay.
    Delay {
        /// The port that sends.
        port: u32,
        /// ns.
        from_ns: u64,
        /// ns.
        until_ns: u64,
        /// Least additional delay, ns.
        least_ns: u64,
        /// Greatest additional delay, ns; the draw is uniform.
        most_ns: u64,
        /// Share of the frames that is delayed, in parts per million.
        share_ppm: u32,
        /// Whether no frame overtakes another one: later frames then wait, too.
        keeps_order: bool,
    },
    /// Frames sent from a port arrive twice.
    Duplicate {
        /// The port that sends.
        port: u32,
        /// ns.
        from_ns: u64,
        /// ns.
        until_ns: u64,
        /// Share of the frames, in parts per million.
        share_ppm: u32,
        /// Delay of the second frame after the first, ns.
        after_ns: u64,
    },
    /// A port uses another gate control list than its own.
    Schedule {
        /// The port.
        port: u32,
        /// ns.
        from_ns: u64,
        /// ns.
        until_ns: u64,
        /// The list; none for gates that are all open.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gates: Option<Box<crate::Gates>>,
    },
}

/// The model of random loss. Shares in parts per million.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LossModel {
    /// Each frame is lost independently.
    Bernoulli {
        /// Share of the frames that is lost.
        loss_ppm: u32,
    },
    /// A good and a bad state; before every frame the state may change. It begins in the good state.
    GilbertElliott {
        /// Probability of the change from good to bad.
        to_bad_ppm: u32,
        /// Probability of the change from bad to good.
        to_good_ppm: u32,
        /// Share lost in the good state.
        loss_good_ppm: u32,
        /// Share lost in the bad state.
        loss_bad_ppm: u32,
    },
    /// Independent bit errors; the receiver drops a frame with one or more between destination address and FCS.
    BitErrors {
        /// Errors per 10^15 bits: 1e-9 is 1 000 000.
        per_petabit: u64,
    },
}

impl Fault {
    /// Begin and end of the fault.
    #[must_use]
    pub fn span_ns(&self) -> (u64, u64) {
        match self {
            Self::LinkDown { from_ns, until_ns, .. }
            | Self::Loss { from_ns, until_ns, .. }
            | Self::Babble { from_ns, until_ns, .. }
            | Self::NodeDown { from_ns, until_ns, .. }
            | Self::Delay { from_ns, until_ns, .. }
            | Self::Duplicate { from_ns, until_ns, .. }
            | Self::Schedule { from_ns, until_ns, .. } => (*from_ns, *until_ns),
        }
    }

    /// The kind, as the Plan's JSON names it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::LinkDown { .. } => "link-down",
            Self::Loss { .. } => "loss",
            Self::Babble { .. } => "babble",
            Self::NodeDown { .. } => "node-down",
            Self::Delay { .. } => "delay",
            Self::Duplicate { .. } => "duplicate",
            Self::Schedule { .. } => "schedule",
        }
    }

    /// Whether the fault only removes frames, so that worst-case bounds of arriving frames still hold.
    #[must_use]
    pub fn only_takes(&self) -> bool {
        matches!(self, Self::LinkDown { .. } | Self::Loss { .. } | Self::NodeDown { .. })
    }
}
