//! Faults: what goes wrong, where, from when to when.
//!
//! Loss in bursts: Gilbert 1960, Elliott 1963.

use serde::{Deserialize, Serialize};

/// One fault. It lasts from `from_ns` on, until just before `until_ns`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Fault {
    /// A link is cut in both directions: what is on the wire then is lost, and what is sent into it.
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
        /// How.
        model: LossModel,
    },
    /// A talker sends more than its pattern: one more data unit every `every_ns`.
    Babble {
        /// Index into [`crate::Plan::streams`].
        stream: u32,
        /// ns.
        from_ns: u64,
        /// ns.
        until_ns: u64,
        /// ns.
        every_ns: u64,
    },
    /// A node is down: its links are cut, what it holds is lost, its talkers are silent. Its recovery functions
    /// begin anew.
    NodeDown {
        /// The node.
        node: u32,
        /// ns.
        from_ns: u64,
        /// ns.
        until_ns: u64,
    },
    /// Frames sent from a port arrive later than the cable lets them.
    Delay {
        /// The port that sends.
        port: u32,
        /// ns.
        from_ns: u64,
        /// ns.
        until_ns: u64,
        /// Uniform from here, ns.
        least_ns: u64,
        /// To here, ns.
        most_ns: u64,
        /// Share of the frames that is held back, in parts per million.
        share_ppm: u32,
        /// Whether no frame overtakes another one: what comes behind waits, too.
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
        /// How long after the first one the second one arrives, ns.
        after_ns: u64,
    },
    /// A port obeys another gate control list than its own.
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

/// How frames are lost by chance. Shares in parts per million.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LossModel {
    /// Each frame on its own.
    Bernoulli {
        /// Share of the frames that is lost.
        loss_ppm: u32,
    },
    /// A good and a bad state; before every frame the state may change. It begins good.
    GilbertElliott {
        /// Chance to go from good to bad.
        to_bad_ppm: u32,
        /// Chance to go from bad to good.
        to_good_ppm: u32,
        /// Share lost in the good state.
        loss_good_ppm: u32,
        /// Share lost in the bad state.
        loss_bad_ppm: u32,
    },
    /// Independent bit errors; a frame with one or more between destination address and FCS is dropped by who
    /// receives it.
    BitErrors {
        /// Errors per 10^15 bits: 1e-9 is 1 000 000.
        per_petabit: u64,
    },
}

impl Fault {
    /// From when, and until when it lasts.
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

    /// As the Plan calls it.
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

    /// Whether it only takes frames, so that worst-case bounds of those that arrive still hold.
    #[must_use]
    pub fn only_takes(&self) -> bool {
        matches!(self, Self::LinkDown { .. } | Self::Loss { .. } | Self::NodeDown { .. })
    }
}
