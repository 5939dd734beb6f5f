//! Checks of ports, their classes and their shapers.

use crate::check::{Check, ensure, index, time};
use crate::{Cbs, Plan, Port};

/// Limit of the longest time in a queue.
const MOST_WAIT_NS: u64 = 10_000_000_000;

impl Plan {
    pub(crate) fn check_port(&self, number: usize, port: &Port) -> Check {
        let path = |field: &str| format!("ports[{number}].{field}");
        index(port.node, self.nodes.len(), || path("node"))?;
        index(port.peer, self.ports.len(), || path("peer"))?;
        ensure(
            self.ports[port.peer as usize].peer as usize == number && port.peer as usize != number,
            || path("peer"),
            || "the peer's peer is another port".into(),
        )?;
        ensure(
            (1_000_000..=1_000_000_000_000).contains(&port.rate_bps),
            || path("rate_bps"),
            || format!("{} bit/s is not between 1 Mbit/s and 1 Tbit/s", port.rate_bps),
        )?;
        time(port.propagation_ps / 1_000, || path("propagation_ps"))?;
        let classes = port.classes.len();
        ensure((1..=8).contains(&classes), || path("classes"), || format!("{classes} classes, not 1 to 8"))?;
        for (pcp, class) in port.pcp_to_class.iter().enumerate() {
            index(u32::from(*class), classes, || path(&format!("pcp_to_class[{pcp}]")))?;
        }
        for (class, cbs) in port.classes.iter().enumerate().filter_map(|(n, c)| Some((n, c.cbs.as_ref()?))) {
            let Cbs { idle_slope_bps, send_slope_bps, hi_credit_bits, lo_credit_bits, .. } = *cbs;
            ensure(
                idle_slope_bps > 0
                    && send_slope_bps < 0
                    && hi_credit_bits >= 0
                    && lo_credit_bits <= 0
                    && idle_slope_bps <= 1_000_000_000_000
                    && send_slope_bps >= -1_000_000_000_000
                    && hi_credit_bits <= 1 << 40
                    && lo_credit_bits >= -(1 << 40),
                || path(&format!("classes[{class}].cbs")),
                || "slopes or credits have the wrong sign or are out of range".into(),
            )?;
        }
        for (class, wait) in
            port.classes.iter().enumerate().filter_map(|(n, own)| Some((n, own.longest_wait_ns?)))
        {
            ensure(
                (1..=MOST_WAIT_NS).contains(&wait),
                || path(&format!("classes[{class}].longest_wait_ns")),
                || format!("{wait} ns is not between 1 ns and 10 s"),
            )?;
        }
        check_server(port, path)?;
        check_transmit_buffer(port, path)?;
        self.check_gates(number, port)
    }
}

/// A server serves one queue, and nothing else delays its frames.
fn check_server(port: &Port, path: impl Fn(&str) -> String) -> Check {
    let Some(server) = &port.server else { return Ok(()) };
    ensure(
        (1_000..=port.rate_bps).contains(&server.rate_bps),
        || path("server.rate_bps"),
        || format!("{} bit/s is not between 1 kbit/s and the rate of the port", server.rate_bps),
    )?;
    ensure(
        server.latency_ns <= 1_000_000_000,
        || path("server.latency_ns"),
        || format!("{} ns is more than 1 s", server.latency_ns),
    )?;
    let alone = port.classes.len() == 1
        && port.classes[0].cbs.is_none()
        && port.classes[0].longest_wait_ns.is_none()
        && port.gates.is_none()
        && port.preemption.is_none()
        && port.transmit_buffer.is_none()
        && port.qdisc.is_none();
    let problem = "a server has one class, without shaper, longest wait, gates, pre-emption, transmit buffer or software";
    ensure(alone, || path("server"), || problem.into())
}

/// Frames are selected whole, and in hardware.
fn check_transmit_buffer(port: &Port, path: impl Fn(&str) -> String) -> Check {
    let Some(frames) = port.transmit_buffer else { return Ok(()) };
    ensure(
        (2..=1_000).contains(&frames),
        || path("transmit_buffer"),
        || format!("{frames} frames, not 2 to 1000: 1 is a port without such a buffer"),
    )?;
    let problem = "no transmit buffer beside pre-emption or software";
    ensure(port.preemption.is_none() && port.qdisc.is_none(), || path("transmit_buffer"), || problem.into())
}

#[cfg(test)]
mod tests {
    use crate::check::broken::{plan, refuses};
    use serde_json::json;

    #[test]
    fn ports_are_checked() {
        let linux = json!({"idleslope": 1, "sendslope": -1, "hicredit": 1, "locredit": -1});
        let holds = plan();
        refuses(
            &holds,
            &[
                ("/ports/4/node", json!(4), "ports[4].node: 4 is not the index of one of 4"),
                ("/ports/4/peer", json!(8), "ports[4].peer: 8 is not the index of one of 8"),
                ("/ports/4/peer", json!(6), "ports[4].peer: the peer's peer is another port"),
                ("/ports/4/peer", json!(4), "ports[4].peer: the peer's peer is another port"),
                (
                    "/ports/4/rate_bps",
                    json!(999_999),
                    "ports[4].rate_bps: 999999 bit/s is not between 1 Mbit/s and 1 Tbit/s",
                ),
                (
                    "/ports/4/propagation_ps",
                    json!(864_000_000_000_001_000_u64),
                    "ports[4].propagation_ps: 864000000000001 ns is more than ten days",
                ),
                ("/ports/4/classes", json!([]), "ports[4].classes: 0 classes, not 1 to 8"),
                (
                    "/ports/4/pcp_to_class/3",
                    json!(8),
                    "ports[4].pcp_to_class[3]: 8 is not the index of one of 8",
                ),
                (
                    "/ports/4/server",
                    json!({"rate_bps": 1_000_000, "latency_ns": 0}),
                    "ports[4].server: a server has one class, without shaper, longest wait, gates, pre-emption, transmit buffer or software",
                ),
                (
                    "/ports/4/server",
                    json!({"rate_bps": 999, "latency_ns": 0}),
                    "ports[4].server.rate_bps: 999 bit/s is not between 1 kbit/s and the rate of the port",
                ),
                (
                    "/ports/4/server",
                    json!({"rate_bps": 1_000_000, "latency_ns": 1_000_000_001_u64}),
                    "ports[4].server.latency_ns: 1000000001 ns is more than 1 s",
                ),
                (
                    "/ports/4/transmit_buffer",
                    json!(1),
                    "ports[4].transmit_buffer: 1 frames, not 2 to 1000: 1 is a port without such a buffer",
                ),
                (
                    "/ports/4/classes/5/longest_wait_ns",
                    json!(0),
                    "ports[4].classes[5].longest_wait_ns: 0 ns is not between 1 ns and 10 s",
                ),
                (
                    "/ports/4/classes/5/longest_wait_ns",
                    json!(10_000_000_001_u64),
                    "ports[4].classes[5].longest_wait_ns: 10000000001 ns is not between 1 ns and 10 s",
                ),
                (
                    "/ports/4/classes/5/cbs",
                    json!({"idle_slope_bps": 0, "send_slope_bps": -1, "hi_credit_bits": 0, "lo_credit_bits": 0, "linux": linux}),
                    "ports[4].classes[5].cbs: slopes or credits have the wrong sign or are out of range",
                ),
                (
                    "/ports/4/classes/5/cbs",
                    json!({"idle_slope_bps": 1, "send_slope_bps": -1, "hi_credit_bits": 1_u64 << 41, "lo_credit_bits": 0, "linux": linux}),
                    "ports[4].classes[5].cbs: slopes or credits have the wrong sign or are out of range",
                ),
            ],
        );
    }
}
