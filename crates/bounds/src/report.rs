//! The results of the analysis, as data.

use crate::reason::Reason;
use serde::Serialize;

/// The format of [`Bounds`] as JSON.
pub const FORMAT: &str = "tsnbench-bounds/1";

/// The bounds of a whole Plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bounds {
    /// `tsnbench-bounds/1`.
    pub format: &'static str,
    /// The Plan's content hash, if it has one.
    pub plan: Option<String>,
    /// The greatest difference of clocks that these bounds rely on, ns; none if they rely on no promise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clocks_within_ns: Option<u64>,
    /// Every flow and listener, in the Plan's order.
    pub flows: Vec<FlowBounds>,
    /// Every port that a flow crosses, in the Plan's order.
    pub ports: Vec<PortBounds>,
}

impl Bounds {
    /// These bounds without any upper bound, for the given reason.
    pub(crate) fn without(mut self, why: &Reason) -> Self {
        let why = || Some(why.clone());
        for flow in &mut self.flows {
            (flow.upper_ns, flow.upper_ps, flow.release_upper_ps) = (None, None, None);
            (flow.reason, flow.release_reason) = (why(), why());
            flow.loss_reason = why();
            flow.most_arrivals = None;
            flow.survives.iter_mut().for_each(|survival| survival.reason = why());
            for hop in &mut flow.hops {
                (hop.upper_ps, hop.reason) = (None, why());
            }
        }
        for class in self.ports.iter_mut().flat_map(|port| &mut port.classes) {
            (class.backlog_octets, class.backlog_frames, class.reason) = (None, None, why());
            class.credit_bits = None;
        }
        self
    }

    /// All reasons for no bound.
    pub(crate) fn reasons_mut(&mut self) -> impl Iterator<Item = &mut Reason> {
        let classes = self.ports.iter_mut().flat_map(|port| &mut port.classes).map(|class| &mut class.reason);
        self.flows.iter_mut().flat_map(FlowBounds::reasons_mut).chain(classes).flatten()
    }
}

/// One flow to one of its listeners.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FlowBounds {
    /// The flow's name.
    pub stream: String,
    /// The scenario stream that it belongs to.
    pub group: String,
    /// The listener's node.
    pub listener: String,
    /// Highest delay between the stamps of the Plan's taps, in ns as they show it; none without a bound.
    pub upper_ns: Option<i64>,
    /// Lowest delay between the same stamps, in ns as they show it.
    pub lower_ns: i64,
    /// Highest delay between the same points of the frame, in ps.
    pub upper_ps: Option<i64>,
    /// Lowest delay between the same points of the frame, in ps.
    pub lower_ps: i64,
    /// Highest delay from the release (including the wait in the talker's own port) to the last bit, in ps.
    pub release_upper_ps: Option<i64>,
    /// Lowest delay from the release to the last bit, in ps.
    pub release_lower_ps: i64,
    /// The longest time from the last bit until the program of a listener that is a host with software has the frame,
    /// in ps; the delays end before.
    #[serde(skip_serializing_if = "is_zero")]
    pub program_ps: i64,
    /// Why `upper_ns` is none.
    pub reason: Option<Reason>,
    /// Why `release_upper_ps` is none.
    pub release_reason: Option<Reason>,
    /// Why a frame may be dropped on its way, however few frames wait there: none without faults, filters, shared
    /// memory and frames that are too long.
    pub drop_reason: Option<Reason>,
    /// Why a frame may be lost on its way; none where every queue has room for it, whatever happens, so that it
    /// arrives if it does so in time (`release_upper_ps`). Of a stream with several paths: why no copy may arrive.
    pub loss_reason: Option<Reason>,
    /// How often the same frame may arrive at most; none for a stream with one path, or if a fault duplicates frames.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most_arrivals: Option<u32>,
    /// The failures that the stream has to survive, one kind after the other; empty without this requirement.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub survives: Vec<Survival>,
    /// The bounds port by port.
    pub hops: Vec<HopBounds>,
}

impl FlowBounds {
    fn reasons_mut(&mut self) -> impl Iterator<Item = &mut Option<Reason>> {
        let Self { reason, release_reason, drop_reason, loss_reason, survives, hops, .. } = self;
        let hops = hops.iter_mut().map(|hop| &mut hop.reason);
        let survives = survives.iter_mut().map(|own| &mut own.reason);
        [reason, release_reason, drop_reason, loss_reason].into_iter().chain(survives).chain(hops)
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(ps: &i64) -> bool {
    *ps == 0
}

/// Whether any few links and nodes may fail, at any time, without the loss of a frame.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Survival {
    /// How many of them fail at once.
    pub failures: u32,
    /// Which of them lose frames, and why; none if no frame is lost.
    pub reason: Option<Reason>,
    /// Whether no path is left without them.
    pub carried: bool,
}

/// One flow at one port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HopBounds {
    /// The port's name.
    pub port: String,
    /// The flow's traffic class there.
    pub class: u8,
    /// Greatest delay from the queue to the last bit at the other end, in ps.
    pub upper_ps: Option<i64>,
    /// Least delay from the queue to the last bit at the other end, in ps.
    pub lower_ps: i64,
    /// Why `upper_ps` is none.
    pub reason: Option<Reason>,
}

/// The queues of one port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PortBounds {
    /// The port's name.
    pub port: String,
    /// Classes that flows use, lowest first.
    pub classes: Vec<ClassBounds>,
}

/// One queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClassBounds {
    /// The traffic class.
    pub class: u8,
    /// Most octets (destination address to FCS) that ever wait; the queue's own limit if that is lower.
    pub backlog_octets: Option<u64>,
    /// Most frames that ever wait.
    pub backlog_frames: Option<u64>,
    /// Why the analysis has no bound.
    pub reason: Option<Reason>,
    /// The highest credit that its shaper can gather, in bit: with a `hiCredit` of that, no credit is ever lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credit_bits: Option<u64>,
    /// Why a frame may wait for the longest time of its queue; none if no frame does, or if there is no such time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exceeded: Option<Reason>,
}
