//! The mechanisms of a plan.

use tsn_plan::{Algorithm, ChildQdisc, ClockFault, Delay, Fault, Pattern, Plan, Size, TaprioMode};

/// The names of the mechanisms, in the order of [`used`].
pub const MECHANISMS: [&str; 49] = [
    "gates",
    "list changes",
    "hold",
    "no guard",
    "pre-emption",
    "server",
    "transmit buffer",
    "cbs",
    "preemptable cbs",
    "queue limits",
    "max sdu",
    "longest wait",
    "cut-through",
    "spread",
    "shared buffer",
    "learning",
    "flooding",
    "multicast",
    "frer vector",
    "frer match",
    "failover",
    "filters",
    "stream gates",
    "meters",
    "ats",
    "ipv",
    "regeneration",
    "link down",
    "loss",
    "babble",
    "node down",
    "delay",
    "duplicate",
    "wrong schedule",
    "clocks",
    "gptp",
    "1588 e2e",
    "1588 p2p",
    "bmca",
    "clock faults",
    "host",
    "etf",
    "kernel cbs",
    "taprio software",
    "txtime assist",
    "trace",
    "token bucket",
    "saturating",
    "answers",
];

/// Whether a plan uses each of the mechanisms.
#[rustfmt::skip]
pub fn used(plan: &Plan) -> [bool; 49] {
    let port = |is: &dyn Fn(&tsn_plan::Port) -> bool| plan.ports.iter().any(is);
    let gated = |is: &dyn Fn(&tsn_plan::Gates) -> bool| port(&|port| port.gates.as_ref().is_some_and(is));
    let class = |is: &dyn Fn(&tsn_plan::Class) -> bool| port(&|port| port.classes.iter().any(is));
    let node = |is: &dyn Fn(&tsn_plan::Node) -> bool| plan.nodes.iter().any(is);
    let stream = |is: &dyn Fn(&tsn_plan::Stream) -> bool| plan.streams.iter().any(is);
    let recovers = |is: &dyn Fn(&Algorithm) -> bool| stream(&|one| {
        one.redundancy.as_ref().and_then(|own| own.recovery.as_ref()).is_some_and(|own| is(&own.algorithm))
    });
    let police = |is: &dyn Fn(&tsn_plan::Policing) -> bool| plan.policing.iter().any(is);
    let filter = |is: &dyn Fn(&tsn_plan::StreamFilter) -> bool| police(&|own| own.filters.iter().any(is));
    let fault = |is: &dyn Fn(&Fault) -> bool| plan.faults.iter().any(is);
    let gptp = |is: &dyn Fn(&tsn_plan::Gptp) -> bool| {
        plan.clocks.as_ref().and_then(|clocks| clocks.gptp.as_ref()).is_some_and(is)
    };
    let delay = |kind: Delay| gptp(&|own| own.ieee_1588.as_ref().is_some_and(|own| own.delay == kind));
    let child = |is: &dyn Fn(&ChildQdisc) -> bool| port(&|port| {
        port.qdisc.as_ref().is_some_and(|own| own.children.iter().any(is))
    });
    let taprio = |mode: TaprioMode| port(&|port| {
        port.qdisc.as_ref().and_then(|own| own.taprio.as_ref()).is_some_and(|own| own.mode == mode)
    });
    let stepped = |faults: &[ClockFault]| !faults.is_empty();
    [
        gated(&|_| true),
        gated(&|gates| !gates.changes.is_empty()),
        gated(&|gates| gates.holds()),
        gated(&|gates| gates.unguarded),
        port(&|port| port.preemption.is_some()),
        port(&|port| port.server.is_some()),
        port(&|port| port.transmit_buffer.is_some()),
        class(&|class| class.cbs.is_some()),
        port(&|port| port.preemption.as_ref().is_some_and(|own| {
            (0..).zip(&port.classes).any(|(n, class)| class.cbs.is_some() && own.express >> n & 1 == 0)
        })),
        class(&|class| class.limit_frames.is_some()),
        class(&|class| class.max_sdu_octets.is_some()),
        class(&|class| class.longest_wait_ns.is_some()),
        node(&|node| node.cut_through_octets.is_some()),
        node(&|node| node.further.is_some()),
        node(&|node| node.buffer.is_some()),
        node(&|node| node.learning.is_some()),
        stream(&|one| !one.flood.is_empty()),
        stream(&|one| one.listeners.len() > 1),
        recovers(&|one| matches!(one, Algorithm::Vector { .. })),
        recovers(&|one| matches!(one, Algorithm::Match)),
        stream(&|one| one.redundancy.as_ref().is_some_and(|own| !own.active.is_empty())),
        filter(&|_| true),
        filter(&|one| one.gate.is_some()),
        filter(&|one| one.meter.is_some()),
        filter(&|one| one.scheduler.is_some()),
        police(&|own| own.filters.iter().any(|one| {
            one.gate.is_some_and(|gate| own.gates[gate as usize].entries.iter().any(|entry| entry.ipv.is_some()))
        })),
        police(&|own| !own.regeneration.is_empty()),
        fault(&|one| matches!(one, Fault::LinkDown { .. })),
        fault(&|one| matches!(one, Fault::Loss { .. })),
        fault(&|one| matches!(one, Fault::Babble { .. })),
        fault(&|one| matches!(one, Fault::NodeDown { .. })),
        fault(&|one| matches!(one, Fault::Delay { .. })),
        fault(&|one| matches!(one, Fault::Duplicate { .. })),
        fault(&|one| matches!(one, Fault::Schedule { .. })),
        plan.clocks.is_some(),
        gptp(&|own| own.ieee_1588.is_none()),
        delay(Delay::EndToEnd),
        delay(Delay::PeerToPeer),
        gptp(&|own| own.bmca.is_some()),
        plan.clocks.as_ref().is_some_and(|own| stepped(&own.faults)),
        node(&|node| node.host.is_some()),
        child(&|one| matches!(one, ChildQdisc::Etf { .. })),
        child(&|one| matches!(one, ChildQdisc::Cbs { .. })),
        taprio(TaprioMode::Software),
        taprio(TaprioMode::TxtimeAssist),
        stream(&|one| matches!(one.pattern, Pattern::Trace { .. }) || matches!(one.size, Size::List { .. })),
        stream(&|one| matches!(one.pattern, Pattern::TokenBucket { .. })),
        stream(&|one| matches!(one.pattern, Pattern::Saturating { .. })),
        stream(&|one| one.answers.is_some()),
    ]
}
