//! What a Plan has that never repeats, how long its hyperperiod is, and what still lies ahead of it.

use tsn_plan::{Fault, MeasureFrom, Pattern, Plan, Size, Stream, duration};

/// Least common multiple of what a Plan does again and again, in ps; or why it cannot repeat.
pub(super) fn hyperperiod(plan: &Plan) -> Result<i64, String> {
    if let Some(reason) = obstacle(plan) {
        return Err(reason);
    }
    let streams = plan.streams.iter().filter_map(|stream| match stream.pattern {
        Pattern::Periodic { period_ns, .. } => Some(period_ns),
        _ => None,
    });
    let gates = plan.ports.iter().filter_map(|port| port.gates.as_ref());
    let cycles = gates.flat_map(|gates| gates.changes.iter().map(|one| one.cycle_ns).chain([gates.cycle_ns]));
    let stream_gates = plan.policing.iter().flat_map(|one| &one.gates).map(|gate| gate.cycle_ns);
    let ticks = plan.taps.iter().map(|tap| u64::from(tap.granularity_ns));
    let recoveries = plan.streams.iter().filter_map(|stream| stream.redundancy.as_ref()?.recovery.as_ref());
    let tests =
        recoveries.filter_map(|one| one.latent.as_ref()).flat_map(|one| [one.period_ns, one.reset_ns]);
    let mut all = streams.chain(cycles).chain(stream_gates).chain(ticks).chain(tests).filter(|one| *one > 0);
    let ns = all.try_fold(1_u64, |sum, one| (sum / common_divisor(sum, one)).checked_mul(one));
    let most = plan.duration_ns;
    match ns.filter(|ns| *ns < most) {
        Some(ns) => Ok(duration(ns).ps()),
        None => Err("its hyperperiod is longer than the run".into()),
    }
}

fn common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { common_divisor(other, one % other) }
}

/// The first part of a Plan that has random or lasting events, or whose state is not compared.
fn obstacle(plan: &Plan) -> Option<String> {
    if plan.clocks.is_some() {
        return Some("its nodes have clocks of their own".into());
    }
    if let Some(fault) = plan.faults.first() {
        return Some(format!("it has the fault {}", Fault::kind(fault)));
    }
    let node = |node: &tsn_plan::Node| {
        let what = if node.host.is_some() {
            "has the latencies of its software"
        } else if node.further.is_some() {
            "has a processing time that varies"
        } else if node.learning.is_some() {
            "learns addresses"
        } else {
            return None;
        };
        Some(format!("node {:?} {what}", node.name))
    };
    let port = |port: &tsn_plan::Port| {
        let what = if port.preemption.is_some() {
            "pre-empts frames"
        } else if port.server.is_some() {
            "has a rate-latency server"
        } else if port.transmit_buffer.is_some() {
            "has a transmit buffer"
        } else if port.qdisc.is_some() {
            "has queueing disciplines"
        } else if port.classes.iter().any(|class| class.longest_wait_ns.is_some()) {
            "drops frames after a longest time"
        } else {
            return None;
        };
        Some(format!("port {:?} {what}, whose state is not compared", port.name))
    };
    plan.streams
        .iter()
        .find_map(stream_obstacle)
        .or_else(|| plan.nodes.iter().find_map(node))
        .or_else(|| plan.ports.iter().find_map(port))
}

fn stream_obstacle(stream: &Stream) -> Option<String> {
    let what = match &stream.pattern {
        _ if stream.answers.is_some() => "answers another stream",
        Pattern::Periodic { jitter_ns: 1.., .. } => "has random jitter",
        Pattern::Periodic { .. } => match &stream.size {
            Size::Units { octets, .. } if octets.len() > 1 => "has random sizes",
            _ if !stream.flood.is_empty() => "is flooded",
            _ if stream.redundancy.as_ref().is_some_and(|own| !own.active.is_empty()) => "has a standby path",
            _ if stream.socket.is_some() => "has a socket of its own",
            _ => return None,
        },
        Pattern::Poisson { .. } => "has random gaps",
        Pattern::Saturating { .. } => "saturates its port",
        Pattern::Trace { .. } => "follows a recording",
        Pattern::TokenBucket { .. } => "follows a token bucket",
    };
    Some(format!("stream {:?} {what}", stream.name))
}

/// The last instant in ps at which something happens that does not repeat: a stream stops before the end, a gate
/// control list comes into force, frames begin to count.
pub(super) fn ahead(plan: &Plan) -> i64 {
    let stops = plan.streams.iter().map(|stream| stream.stop_ns).filter(|stop| *stop < plan.duration_ns);
    let begins = plan.streams.iter().map(|stream| stream.start_ns);
    let counted = match plan.measure_from {
        Some(MeasureFrom::At { ns }) => ns,
        _ => 0,
    };
    let lists = plan.ports.iter().filter_map(|port| port.gates.as_ref()).flat_map(|gates| {
        let last = tsn_plan::in_force(gates).0.last().map_or(0, |last| last.from_ns);
        gates.changes.iter().map(|change| change.at_ns).chain([last]).max()
    });
    let lists = lists.map(|at| u64::try_from(at).unwrap_or(0));
    let last = stops.chain(begins).chain(lists).chain([counted]).max().unwrap_or(0);
    duration(last).ps()
}
