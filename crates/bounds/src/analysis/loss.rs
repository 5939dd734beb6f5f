//! Whether a frame of a flow may be lost on its path: in a full queue, a filter or by a fault.
//!
//! IEEE 802.1Q-2022, 8.6.7 (queues), 8.6.5 (filters and meters), 8.6.8.4 (a frame that fits no window).

use crate::model::flow_hop::FlowHop;
use crate::model::member_streams;
use crate::model::openings::covered;
use crate::model::sizes::Sizes;
use crate::reason::Reason;
use crate::report::ClassBounds;
use tsn_plan::{Fault, Plan, Stream};

/// Octets of a frame that do not belong to its service data unit: header, VLAN tag and FCS.
const AROUND_SDU: u32 = 22;

/// A part of the Plan, at any place, that may drop frames of a flow.
pub(crate) fn anywhere(plan: &Plan, stream: &Stream) -> Option<Reason> {
    // A babbling talker drops nothing; its frames are counted in every queue.
    if plan.faults.iter().any(|fault| !matches!(fault, Fault::Babble { .. })) {
        return Some(Reason::Taken);
    }
    if !plan.policing.is_empty() {
        return Some(Reason::Filters);
    }
    stream.redundancy.as_ref().map(|_| Reason::Copies)
}

/// A reason why one port may drop frames of a flow; `queue`: the bounds of the flow's queue there.
pub(crate) fn at(
    plan: &Plan,
    stream: &Stream,
    place: usize,
    hop: &FlowHop,
    queue: Option<&ClassBounds>,
) -> Option<Reason> {
    let port = &plan.ports[hop.port];
    let class = &port.classes[usize::from(hop.class)];
    // If the bounds do not cover the port's gates, a gate may never open for a waiting frame.
    if port.gates.is_some() && covered(port).is_none() {
        return Some(Reason::Gates);
    }
    let largest = Sizes::of(&stream.size, member_streams::tag(stream, place)).largest;
    if hop.sizes.is_none_or(|fitting| fitting.largest < largest) {
        return Some(Reason::Dropped);
    }
    if class.max_sdu_octets.is_some_and(|most| largest > most.saturating_add(AROUND_SDU)) {
        return Some(Reason::OverMaxSdu);
    }
    if plan.nodes[port.node as usize].buffer.is_some() {
        return Some(Reason::Buffer);
    }
    let limits = [class.limit_frames.map(u64::from), class.limit_octets];
    if limits == [None, None] {
        return None;
    }
    let queue = queue?;
    if let Some(reason) = &queue.reason {
        return Some(reason.clone());
    }
    // A backlog bound that is equal to the queue's limit may be too small: the limit may have cut it off.
    let most = [queue.backlog_frames, queue.backlog_octets];
    let full = most
        .iter()
        .zip(&limits)
        .any(|(most, limit)| limit.is_some_and(|limit| most.is_none_or(|most| most >= limit)));
    full.then_some(Reason::Overflow)
}
