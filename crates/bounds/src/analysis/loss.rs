//! Whether a frame of a flow may be lost at one port of its path: in a full queue, in a queue with a longest time, in a
//! filter or by a fault.
//!
//! IEEE 802.1Q-2022, 8.6.7 (queues), 8.6.5 (filters and meters), 8.6.8.4 (a frame that fits no window).

use crate::model::flow_hop::FlowHop;
use crate::model::gate_clock::GateClock;
use crate::model::member_streams;
use crate::model::openings::{Openings, covered};
use crate::model::sizes::{AROUND_SDU, Sizes, until_last_bit};
use crate::model::software;
use crate::reason::Reason;
use crate::report::ClassBounds;
use tsn_plan::{Fault, Gates, Plan, Stream};

/// Whether a fault may drop frames which leave by a port, or on the link behind it; `outages`: links and nodes that are
/// down count, too.
fn taken(plan: &Plan, port: u32, outages: bool) -> bool {
    let (own, peer) = (&plan.ports[port as usize], plan.ports[port as usize].peer);
    let node_of = |port: u32| plan.ports[port as usize].node;
    plan.faults.iter().any(|fault| match fault {
        Fault::LinkDown { port: cut, .. } => outages && [port, peer].contains(cut),
        Fault::NodeDown { node, .. } => outages && [own.node, node_of(peer)].contains(node),
        Fault::Loss { port: by, .. } => *by == port,
        // These drop nothing; a queue that they fill has no bound, or their frames are counted in it.
        Fault::Schedule { .. } | Fault::Babble { .. } | Fault::Delay { .. } | Fault::Duplicate { .. } => {
            false
        }
    })
}

/// Whether a filter may drop frames of a stream that arrive at the other end of a hop's port.
pub(crate) fn filtered(plan: &Plan, hop: &FlowHop, largest: u32) -> bool {
    let ingress = plan.ports[hop.port].peer;
    let node = plan.ports[ingress as usize].node;
    let arrives_with = plan.regenerated(ingress, hop.pcp);
    plan.policing.iter().filter(|policing| policing.node == node).any(|policing| {
        policing.matching(ingress, hop.stream as u32, arrives_with).is_some_and(|filter| {
            let filter = &policing.filters[filter];
            // A longer frame of another stream may block the filter.
            let exceeds = |most: u32| filter.block_oversize || largest > most.saturating_add(AROUND_SDU);
            // A gate that is always open, and passes any number of octets, only chooses queues.
            let gate = filter.gate.and_then(|gate| policing.gates.get(gate as usize));
            let mut entries = gate.into_iter().flat_map(|gate| &gate.entries);
            filter.max_sdu_octets.is_some_and(exceeds)
                || entries.any(|entry| !entry.open || entry.octets_max.is_some())
                || filter.meter.is_some()
                || filter.scheduler.is_some()
        })
    })
}

/// A reason why a frame may fit no window of gates that change, that hold frames, or that frames may overrun; none for
/// other gates, whose windows the flow's sizes tell.
fn never_starts(plan: &Plan, hop: &FlowHop, largest: u32, queue: Option<&ClassBounds>) -> Option<Reason> {
    let port = &plan.ports[hop.port];
    let wrong = |fault: &Fault| matches!(fault, Fault::Schedule { port, .. } if *port as usize == hop.port);
    let wrong = plan.faults.iter().any(wrong);
    let changes = port.gates.is_some() && (wrong || covered(port).is_none());
    let holds = port.gates.as_ref().is_some_and(|gates| gates.holds() || gates.unguarded);
    let clock = GateClock::of(plan, port.node);
    let needs = |unguarded: bool| {
        let needs = if unguarded { 1 } else { until_last_bit(largest, port) };
        clock.map_or(needs, |clock| clock.room(needs).0)
    };
    if !(changes || holds || wrong) {
        // A port drops a frame that fits no window as its clock runs then.
        let openings = Openings::of(port.gates.as_ref(), hop.class);
        let fits = openings.is_some_and(|own| own.longest().is_none_or(|longest| longest >= needs(false)));
        return clock.filter(|_| !fits).map(|_| Reason::FastClock);
    }
    if let Some(gates) = port.gates.as_ref().filter(|_| changes) {
        // A port accepts frames for which its own list has a window, now or later.
        let last = gates.lists().last().map(|last| Gates {
            cycle_ns: last.cycle_ns,
            entries: last.entries.to_vec(),
            ..Gates::default()
        });
        let openings = last.and_then(|last| Openings::of(Some(&last), hop.class));
        let needs = needs(gates.unguarded);
        let fits = |openings: Openings| openings.longest().is_none_or(|longest| longest >= needs);
        if gates.holds() {
            return Some(Reason::Changes);
        }
        if !openings.is_some_and(fits) {
            return Some(Reason::Dropped);
        }
    }
    queue.and_then(|queue| queue.reason.clone())
}

/// What counts as a reason for a loss, beside all that drops frames in any case.
#[derive(Copy, Clone)]
pub(crate) struct Causes {
    /// Links and nodes of the Plan that are down.
    pub outages: bool,
    /// Queues that may be full, or in which frames may wait for too long.
    pub queues: bool,
}

/// A reason why one port may drop frames of a flow; `queue`: the bounds of the flow's queue there.
pub(crate) fn at(
    plan: &Plan,
    stream: &Stream,
    place: usize,
    hop: &FlowHop,
    queue: Option<&ClassBounds>,
    causes: Causes,
) -> Option<Reason> {
    dropped(plan, stream, place, hop, queue, causes.outages)
        .or_else(|| full(plan, hop, queue.filter(|_| causes.queues)))
}

/// A reason why one port may drop frames of a flow, however few frames wait.
fn dropped(
    plan: &Plan,
    stream: &Stream,
    place: usize,
    hop: &FlowHop,
    queue: Option<&ClassBounds>,
    outages: bool,
) -> Option<Reason> {
    let port = &plan.ports[hop.port];
    if taken(plan, hop.port as u32, outages) {
        return Some(Reason::Taken);
    }
    if let Some(reason) = software::dropped(port, hop.class) {
        return Some(reason);
    }
    let class = &port.classes[usize::from(hop.class)];
    let largest = Sizes::of(&stream.size, member_streams::tag(stream, place)).largest;
    if let Some(reason) = never_starts(plan, hop, largest, queue) {
        return Some(reason);
    }
    if class.max_sdu_octets.is_some_and(|most| largest > most.saturating_add(AROUND_SDU)) {
        return Some(Reason::OverMaxSdu);
    }
    if filtered(plan, hop, largest) {
        return Some(Reason::Filters);
    }
    if hop.sizes.is_none_or(|fitting| fitting.largest < largest) {
        return Some(Reason::Dropped);
    }
    plan.nodes[port.node as usize].buffer.as_ref().map(|_| Reason::Buffer)
}

/// A reason why a flow's queue at one port may be full, or why its frames may wait there for too long; `queue`: the
/// bounds of this queue.
fn full(plan: &Plan, hop: &FlowHop, queue: Option<&ClassBounds>) -> Option<Reason> {
    let class = &plan.ports[hop.port].classes[usize::from(hop.class)];
    if class.longest_wait_ns.is_some()
        && let Some(reason) = queue.and_then(|queue| queue.exceeded.clone())
    {
        return Some(reason);
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
