//! Linux end stations: the latencies of software at each stage of a frame's path, sockets, queueing disciplines.
//!
//! OCORA Fig. 9; tc-mqprio(8), tc-taprio(8), tc-etf(8), tc-cbs(8).

use super::cbs::CbsFollows;
use crate::GateEntry;
use crate::omitted::is_default;
use serde::{Deserialize, Serialize};

/// The latencies of one node's software. Each is named after the stage at its end; an absent one is zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// From the instant of a talker's timer until its thread runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wakeup: Option<Distribution>,
    /// From the running thread to its call of `send`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send: Option<Distribution>,
    /// From `send` to the queueing discipline; for forwarded frames, from the kernel to the queueing discipline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qdisc: Option<Distribution>,
    /// From the queueing discipline's decision to the driver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<Distribution>,
    /// From the driver to the queue of the hardware.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx: Option<Distribution>,
    /// From the hardware's reception of the last bit to the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_rx: Option<Distribution>,
    /// From the kernel to the listener's program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app_rx: Option<Distribution>,
    /// Delay of a queueing discipline's timer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timer: Option<Distribution>,
    /// From `qdisc` until a talker's thread has made its next frame ready. Then it sleeps, or calls `send` again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepare: Option<Distribution>,
    /// On a shared processor: from the end of the thread of another node until this node's thread runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<Distribution>,
    /// On a shared processor: from the driver's reception of a frame until other work goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<Distribution>,
    /// The processor on which the node's software runs, by number; nodes may share one, as the nodes of an emulated
    /// lab do. Absent: every thread, and the kernel at every port, has a processor of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor: Option<u32>,
}

/// A distribution from which a latency is drawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Distribution {
    /// Always the same.
    Constant {
        /// ns.
        ns: u64,
    },
    /// Every picosecond in `[from_ns, to_ns]` equally likely.
    Uniform {
        /// ns.
        from_ns: u64,
        /// ns.
        to_ns: u64,
    },
    /// A measured table: bin `k` contains `counts[k]` values; within a bin all values are equally likely.
    Histogram {
        /// The begin of each bin, ns, ascending.
        ns: Vec<u64>,
        /// Number of values in each bin.
        counts: Vec<u64>,
        /// Width of each bin, ns; 0: the bins are single values.
        #[serde(default, skip_serializing_if = "is_default")]
        width_ns: u64,
    },
}

/// A talker's thread and socket on a host.
///
/// Its timer is set for the instants of the stream's pattern; the intended sending time is `advance_ns` later.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Socket {
    /// Time from the timer to the intended sending time, ns (Farzaneh's Delta).
    pub advance_ns: u64,
    /// `SO_TXTIME`: each frame carries its intended sending time.
    #[serde(default, skip_serializing_if = "is_default")]
    pub txtime: bool,
    /// `SOF_TXTIME_DEADLINE_MODE`: the sending time is a deadline.
    #[serde(default, skip_serializing_if = "is_default")]
    pub deadline: bool,
    /// The socket's clock is not `CLOCK_TAI`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub other_clock: bool,
}

/// The queueing disciplines of a host's port: a root that maps priorities to classes, and one child per class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Qdisc {
    /// The root is `taprio` and does its work in software; otherwise it is `mqprio`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taprio: Option<Taprio>,
    /// By traffic class.
    pub children: Vec<ChildQdisc>,
}

/// `taprio` in software.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Taprio {
    /// `flags 0x0` or `0x1`.
    pub mode: TaprioMode,
    /// Least delay from now to a frame's launch time, ns (`txtime-delay`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub txtime_delay_ns: u64,
    /// The begin of a cycle, ns; before it, all gates are open.
    pub base_time_ns: i64,
    /// Sum of all intervals, ns.
    pub cycle_ns: u64,
    /// The schedule.
    pub entries: Vec<GateEntry>,
}

/// The mode of `taprio`.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TaprioMode {
    /// The kernel's timer opens and closes gates; frames that pass a gate go to the hardware at once.
    Software,
    /// Every frame gets a launch time within a window of its class.
    TxtimeAssist,
}

/// The queueing discipline of one class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ChildQdisc {
    /// First in, first out.
    Pfifo {
        /// Most frames that wait.
        limit_frames: u32,
    },
    /// Earliest transmission time first.
    Etf {
        /// How long before its transmission time a frame is handed on, ns.
        delta_ns: u64,
        /// Frames are sent as soon as possible; the transmission time is a deadline.
        #[serde(default, skip_serializing_if = "is_default")]
        deadline: bool,
        /// The hardware holds each frame until its transmission time.
        #[serde(default, skip_serializing_if = "is_default")]
        offload: bool,
        /// Frames of sockets without `SO_TXTIME` are accepted, too.
        #[serde(default, skip_serializing_if = "is_default")]
        skip_sock_check: bool,
    },
    /// The credit-based shaper of the kernel.
    Cbs {
        /// kbit/s.
        idleslope: i64,
        /// kbit/s, negative.
        sendslope: i64,
        /// Octets.
        hicredit: i64,
        /// Octets, negative.
        locredit: i64,
        /// Most frames that wait.
        limit_frames: u32,
        /// Octets that count for each frame in addition to those from its address to its data
        /// (`tc-stab(8)`, `overhead`).
        #[serde(default, skip_serializing_if = "is_default")]
        overhead_octets: u32,
        /// What would follow, where the scenario gives other values.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        follows: Option<CbsFollows>,
    },
}
