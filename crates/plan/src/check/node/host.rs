//! Checks of hosts, sockets and queueing disciplines.

use crate::check::{Check, ensure, time};
use crate::{ChildQdisc, Distribution, Fault, Host, NodeKind, Pattern, Plan, Qdisc, TaprioMode};

/// Longest latency that a host may have: a second.
const LONGEST_LATENCY_NS: u64 = 1_000_000_000;
/// Most bins of one histogram.
const MOST_BINS: usize = 1 << 20;
/// Most octets that a table of sizes adds to a frame (`struct tc_sizespec`, a signed 16-bit number).
const MOST_OVERHEAD: u32 = 32_767;
/// Largest slope in kbit/s and credit in octets.
const LARGEST: i64 = 1 << 40;

impl Plan {
    pub(crate) fn check_hosts(&self) -> Check {
        for (number, node) in self.nodes.iter().enumerate() {
            let Some(host) = &node.host else { continue };
            let path = |field: &str| format!("nodes[{number}].host{field}");
            ensure(node.kind != NodeKind::Bridge, || path(""), || "the node is a bridge".into())?;
            ensure(
                node.cut_through_octets.is_none(),
                || path(""),
                || "software stores every frame: no cut-through".into(),
            )?;
            check_host(host, path)?;
        }
        for (number, port) in self.ports.iter().enumerate() {
            let path = |field: &str| format!("ports[{number}].{field}");
            let host = self.nodes.get(port.node as usize).is_some_and(|node| node.host.is_some());
            let Some(qdisc) = &port.qdisc else { continue };
            ensure(host, || path("qdisc"), || "its node is no host with software".into())?;
            ensure(
                qdisc.children.len() == port.classes.len(),
                || path("qdisc.children"),
                || format!("{} for {} classes", qdisc.children.len(), port.classes.len()),
            )?;
            ensure(
                qdisc.taprio.is_none() || port.gates.is_none(),
                || path("qdisc.taprio"),
                || "the hardware has gates of its own".into(),
            )?;
            for (class, child) in qdisc.children.iter().enumerate() {
                check_child(child, &|field| path(&format!("qdisc.children[{class}].{field}")))?;
                ensure(
                    !matches!(child, ChildQdisc::Cbs { .. }) || port.classes[class].cbs.is_none(),
                    || path(&format!("qdisc.children[{class}]")),
                    || "the hardware has a credit-based shaper of its own".into(),
                )?;
            }
            check_taprio(qdisc, path)?;
        }
        self.check_wrong_lists()?;
        self.check_sockets()
    }

    /// A wrong list belongs to the hardware, which has none if the kernel controls the gates.
    fn check_wrong_lists(&self) -> Check {
        for (number, fault) in self.faults.iter().enumerate() {
            let Fault::Schedule { port, .. } = fault else { continue };
            let qdisc = self.ports.get(*port as usize).and_then(|port| port.qdisc.as_ref());
            ensure(
                qdisc.is_none_or(|qdisc| qdisc.taprio.is_none()),
                || format!("faults[{number}].port"),
                || "the kernel keeps its gates: a wrong list there is not modelled".into(),
            )?;
        }
        Ok(())
    }

    fn check_sockets(&self) -> Check {
        for (number, stream) in self.streams.iter().enumerate() {
            let path = |field: &str| format!("streams[{number}].{field}");
            let saturating = matches!(stream.pattern, Pattern::Saturating { .. });
            if let Some(socket) = &stream.socket {
                let host = self.nodes.get(stream.talker as usize).is_some_and(|node| node.host.is_some());
                ensure(host, || path("socket"), || "its talker is no host with software".into())?;
                ensure(!saturating, || path("socket"), || "a saturating talker has no timer".into())?;
                time(socket.advance_ns, || path("socket.advance_ns"))?;
            }
            // A saturating talker keeps frames in the hardware's queue: functions that delay frames before it have no
            // effect.
            let priorities = if saturating { self.priorities(stream) } else { Vec::new() };
            for (hop, pcp) in stream.route.iter().zip(priorities).filter(|(hop, _)| hop.parent.is_none()) {
                let port = &self.ports[hop.port as usize];
                let class = usize::from(port.pcp_to_class[usize::from(pcp & 7)]);
                let child = port.qdisc.as_ref().and_then(|qdisc| qdisc.children.get(class));
                let taprio = port.qdisc.as_ref().and_then(|qdisc| qdisc.taprio.as_ref());
                let held = taprio.is_some_and(|taprio| taprio.mode == TaprioMode::Software)
                    || child.is_some_and(|child| !matches!(child, ChildQdisc::Pfifo { .. }));
                ensure(
                    !held,
                    || path("pattern"),
                    || {
                        "a saturating talker behind a queueing discipline that holds frames is not modelled"
                            .into()
                    },
                )?;
            }
        }
        Ok(())
    }
}

fn check_host(host: &Host, path: impl Fn(&str) -> String) -> Check {
    let Host { wakeup, send, qdisc, driver, tx, kernel_rx, app_rx, timer, prepare, turn, finish, processor } =
        host;
    let all = [
        (wakeup, "wakeup"),
        (send, "send"),
        (qdisc, "qdisc"),
        (driver, "driver"),
        (tx, "tx"),
        (kernel_rx, "kernel_rx"),
        (app_rx, "app_rx"),
        (timer, "timer"),
        (prepare, "prepare"),
        (turn, "turn"),
        (finish, "finish"),
    ];
    for (of, name) in [(turn, "turn"), (finish, "finish")] {
        ensure(
            of.is_none() || processor.is_some(),
            || path(&format!(".{name}")),
            || "a processor that is shared has this time, and the node has none".into(),
        )?;
    }
    for (distribution, name) in all {
        if let Some(distribution) = distribution {
            check_distribution(distribution, || path(&format!(".{name}")))?;
        }
    }
    Ok(())
}

fn check_distribution(distribution: &Distribution, path: impl Fn() -> String) -> Check {
    let limit =
        |ns: u64| ensure(ns <= LONGEST_LATENCY_NS, &path, || format!("{ns} ns is more than a second"));
    match distribution {
        Distribution::Constant { ns } => limit(*ns),
        Distribution::Uniform { from_ns, to_ns } => {
            ensure(from_ns <= to_ns, &path, || format!("from {from_ns} ns to {to_ns} ns"))?;
            limit(*to_ns)
        }
        Distribution::Histogram { ns, counts, width_ns } => {
            ensure(ns.len() == counts.len(), &path, || {
                format!("{} values for {} counts", ns.len(), counts.len())
            })?;
            ensure((1..=MOST_BINS).contains(&ns.len()), &path, || format!("{} bins", ns.len()))?;
            ensure(ns.windows(2).all(|pair| pair[0] < pair[1]), &path, || "values do not ascend".into())?;
            let total: u128 = counts.iter().map(|count| u128::from(*count)).sum();
            ensure((1..=1 << 53).contains(&total), &path, || format!("{total} counts in all"))?;
            limit(*width_ns)?;
            limit(ns.last().copied().unwrap_or(0))
        }
    }
}

fn check_child(child: &ChildQdisc, path: &dyn Fn(&str) -> String) -> Check {
    match child {
        ChildQdisc::Pfifo { limit_frames } => {
            ensure(*limit_frames > 0, || path("limit_frames"), || "must be more than 0".into())
        }
        ChildQdisc::Etf { delta_ns, .. } => ensure(
            *delta_ns <= LONGEST_LATENCY_NS,
            || path("delta_ns"),
            || format!("{delta_ns} ns is more than a second"),
        ),
        ChildQdisc::Cbs {
            idleslope, sendslope, hicredit, locredit, limit_frames, overhead_octets, ..
        } => {
            ensure(
                *overhead_octets <= MOST_OVERHEAD,
                || path("overhead_octets"),
                || format!("{overhead_octets} octets are more than {MOST_OVERHEAD}"),
            )?;
            ensure(
                (1..=LARGEST).contains(idleslope)
                    && (-LARGEST..0).contains(sendslope)
                    && (0..=LARGEST).contains(hicredit)
                    && (-LARGEST..=0).contains(locredit),
                || path("idleslope"),
                || "slopes or credits have the wrong sign or are out of range".into(),
            )?;
            ensure(*limit_frames > 0, || path("limit_frames"), || "must be more than 0".into())
        }
    }
}

fn check_taprio(qdisc: &Qdisc, path: impl Fn(&str) -> String) -> Check {
    let Some(taprio) = &qdisc.taprio else { return Ok(()) };
    let total: u128 = taprio.entries.iter().map(|entry| u128::from(entry.interval_ns)).sum();
    time(taprio.cycle_ns, || path("qdisc.taprio.cycle_ns"))?;
    time(taprio.base_time_ns.unsigned_abs(), || path("qdisc.taprio.base_time_ns"))?;
    ensure(
        taprio.cycle_ns > 0 && total == u128::from(taprio.cycle_ns),
        || path("qdisc.taprio.cycle_ns"),
        || format!("the entries last {total} ns, the cycle {} ns", taprio.cycle_ns),
    )?;
    ensure(
        taprio.entries.iter().all(|entry| entry.interval_ns > 0),
        || path("qdisc.taprio.entries"),
        || "an interval must be more than 0".into(),
    )?;
    ensure(
        taprio.entries.iter().all(|entry| entry.mac.is_none()),
        || path("qdisc.taprio.entries"),
        || "the kernel neither holds nor releases the MAC".into(),
    )?;
    ensure(
        taprio.txtime_delay_ns <= LONGEST_LATENCY_NS,
        || path("qdisc.taprio.txtime_delay_ns"),
        || "more than a second".into(),
    )?;
    let assists = taprio.mode == TaprioMode::TxtimeAssist;
    for (class, child) in qdisc.children.iter().enumerate() {
        // A window in software depends on its child: only frames that are handed over within it are sent.
        ensure(
            assists || matches!(child, ChildQdisc::Pfifo { .. }),
            || path(&format!("qdisc.children[{class}]")),
            || "under taprio in software only pfifo is modelled".into(),
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::check::broken::{refuses, with};
    use serde_json::json;

    const PFIFO: [u32; 8] = [1_000; 8];

    #[test]
    fn hosts_are_checked() {
        let holds = with(&[
            ("/nodes/0/kind", json!("host")),
            ("/nodes/0/host", json!({"wakeup": {"kind": "histogram", "ns": [1, 2], "counts": [1, 1]}})),
            (
                "/ports/0/qdisc",
                json!({"children": PFIFO.map(|limit| json!({"kind": "pfifo", "limit_frames": limit}))}),
            ),
            ("/streams/0/socket", json!({"advance_ns": 5})),
        ]);
        refuses(
            &holds,
            &[
                ("/nodes/0/kind", json!("bridge"), "nodes[0].host: the node is a bridge"),
                (
                    "/nodes/0/cut_through_octets",
                    json!(64),
                    "nodes[0].host: software stores every frame: no cut-through",
                ),
                (
                    "/nodes/0/host/send",
                    json!({"kind": "constant", "ns": 1_000_000_001}),
                    "nodes[0].host.send: 1000000001 ns is more than a second",
                ),
                (
                    "/nodes/0/host/send",
                    json!({"kind": "uniform", "from_ns": 2, "to_ns": 1}),
                    "nodes[0].host.send: from 2 ns to 1 ns",
                ),
                ("/nodes/0/host/wakeup/counts", json!([1]), "nodes[0].host.wakeup: 2 values for 1 counts"),
                ("/nodes/0/host/wakeup/counts", json!([0, 0]), "nodes[0].host.wakeup: 0 counts in all"),
                ("/nodes/0/host/wakeup/ns", json!([2, 1]), "nodes[0].host.wakeup: values do not ascend"),
                (
                    "/ports/4/qdisc",
                    json!({"children": []}),
                    "ports[4].qdisc: its node is no host with software",
                ),
                ("/ports/0/qdisc/children", json!([]), "ports[0].qdisc.children: 0 for 8 classes"),
                (
                    "/ports/0/qdisc/children/2/limit_frames",
                    json!(0),
                    "ports[0].qdisc.children[2].limit_frames: must be more than 0",
                ),
                (
                    "/ports/0/qdisc/children/2",
                    json!({"kind": "etf", "delta_ns": 1_000_000_001}),
                    "ports[0].qdisc.children[2].delta_ns: 1000000001 ns is more than a second",
                ),
                (
                    "/ports/0/qdisc/children/2",
                    json!({"kind": "cbs", "idleslope": 1, "sendslope": 0, "hicredit": 0, "locredit": 0, "limit_frames": 5}),
                    "ports[0].qdisc.children[2].idleslope: slopes or credits have the wrong sign or are out of range",
                ),
                (
                    "/ports/0/qdisc/taprio",
                    json!({"mode": "software", "base_time_ns": 0, "cycle_ns": 4, "entries": [{"open": 1, "interval_ns": 3}]}),
                    "ports[0].qdisc.taprio.cycle_ns: the entries last 3 ns, the cycle 4 ns",
                ),
                (
                    "/ports/0/qdisc/taprio",
                    json!({"mode": "software", "base_time_ns": 0, "cycle_ns": 3, "entries": [{"open": 1, "interval_ns": 3, "mac": "hold"}]}),
                    "ports[0].qdisc.taprio.entries: the kernel neither holds nor releases the MAC",
                ),
                (
                    "/streams/0/socket/advance_ns",
                    json!(864_000_000_000_001_u64),
                    "streams[0].socket.advance_ns: 864000000000001 ns is more than ten days",
                ),
                (
                    "/streams/0/pattern",
                    json!({"kind": "saturating", "backlog": 1}),
                    "streams[0].socket: a saturating talker has no timer",
                ),
            ],
        );
    }
}
